"""`python -m benchmarks.solve [--beds ...] [--count N] [--seconds S ...]`: our solver beside those of others.

The same instances and seconds, one thread each, one after another in the same run: PyVRP (which has no draft limits)
and OR-Tools where they are installed, LKH-3 where it is found. OR-Tools alone starts from a feasible tour, made before
its clock runs: by itself it finds none for the beds with draft limits, and not for all with windows. Gaps are to the
published costs where the shared folder has them, else to the best of the run, and count where the judge accepts the
tour. A tour of ours that the judge refuses, or a bound of ours that a tour of anyone disproves, ends the run.
"""

import argparse
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

import fairway
from fairway.classical.external import lkh, ortools, pyvrp
from fairway.errors import SolverMissing
from fairway.evaluate.single import first_tour
from fairway.judge import Solution, verify
from fairway.problems.beds import beds, load_bed
from fairway.problems.instance import TSPTW, Instance

SHARED = Path(__file__).parents[2] / "shared"
COLUMNS = ("solver", "seconds given", "gap %", "no tour", "proved", "seconds taken")
OURS = "Fairway"


@dataclass(frozen=True)
class Case:
    """An instance, what it is compared with, and a feasible tour for those who need one."""

    instance: Instance
    reference: float
    seed: tuple[int, ...] | None


@dataclass(frozen=True)
class Answer:
    """What a solver came up with: the cost as the judge has it, infinite without a tour that it accepts."""

    cost: float
    seconds: float
    lower_bound: float = -math.inf
    proved: bool = False


Solver = Callable[[Case, float], Answer]


def ours(case: Case, seconds: float) -> Answer:
    """Our answer, which must stand before the judge."""
    result = fairway.solve(case.instance, seconds=seconds, workers=1)
    if result.tour is not None:
        judged = verify(case.instance, result.tour)
        if not isinstance(judged, Solution) or judged.cost != result.cost:
            raise SystemExit(f"{case.instance.name}: the judge does not confirm our tour")
    return Answer(result.cost, result.seconds, result.lower_bound, result.status == "optimal")


def others(solve: Callable[[Case, float], Sequence[int] | None]) -> Solver:
    """A solver whose tours are judged, and whose seconds are those of the clock on the wall."""

    def solver(case: Case, seconds: float) -> Answer:
        began = time.perf_counter()
        tour = solve(case, seconds)
        spent = time.perf_counter() - began
        judged = None if tour is None else verify(case.instance, tour)
        return Answer(judged.cost if isinstance(judged, Solution) else math.inf, spent)

    return solver


SOLVERS: dict[str, Solver] = {
    OURS: ours,
    "PyVRP": others(lambda case, seconds: pyvrp.solve(case.instance, seconds)),
    "OR-Tools (seeded)": others(
        lambda case, seconds: ortools.solve(case.instance, seconds, initial=case.seed)
    ),
    "LKH-3": others(lambda case, seconds: lkh.solve(case.instance, seconds)),
}


def present(console: Console) -> dict[str, Solver]:
    """The solvers there are; they are called once before any clock runs, and the others said to be missing."""
    tiny = Case(TSPTW([[0, 1, 2], [1, 0, 1], [2, 1, 0]], 0, 99), 4.0, (1, 2))
    found = {}
    for name, solver in SOLVERS.items():
        try:
            solver(tiny, 0.01)
        except SolverMissing as missing:
            console.print(f"left out: {missing}", highlight=False)
        else:
            found[name] = solver
    return found


def cases(bed: str, count: int) -> list[Case]:
    """The first instances of a bed without those whose published reference is no tour."""
    instances = list(islice(load_bed(bed), count))
    path = SHARED / "beds" / f"lkh-{bed}.npz"
    if not path.exists():
        return [Case(instance, math.nan, first_tour(instance)) for instance in instances]
    with np.load(path) as published:
        costs, refused = published["cost"].tolist(), published["infeasible"].tolist()
    return [
        Case(instance, cost, first_tour(instance))
        for instance, cost, none in zip(instances, costs, refused, strict=False)
        if not none
    ]


def check(case: Case, answers: Sequence[Answer]) -> None:
    """End the run where a bound of ours lies above a tour that the judge has accepted."""
    best, bound = min(a.cost for a in answers), max(a.lower_bound for a in answers)
    if bound > best + 1e-6 * abs(best):
        raise SystemExit(f"{case.instance.name}: our bound {bound} is above a tour of {best}")


def row(answers: Sequence[Answer], references: Sequence[float]) -> tuple[str, ...]:
    """The means of one solver at one budget."""
    pairs = zip(answers, references, strict=True)
    gaps = [100 * (a.cost / best - 1) for a, best in pairs if math.isfinite(a.cost)]
    gap = f"{round(float(np.mean(gaps)), 3) + 0.0:.3f}" if gaps else "-"  # no -0.000
    none = sum(math.isinf(a.cost) for a in answers)
    proved = sum(a.proved for a in answers)
    return gap, str(none), str(proved), f"{np.mean([a.seconds for a in answers]):.3f}"


def block(
    bed: str, solvers: dict[str, Solver], asked: argparse.Namespace, console: Console
) -> Table:
    """One bed: a row for each solver and budget."""
    drafts = bed.startswith("tspdl")
    runs = [(n, s) for s in asked.seconds for n in solvers if not (drafts and n == "PyVRP")]
    chosen = cases(bed, asked.count)
    answers: dict[tuple[str, float], list[Answer]] = {run: [] for run in runs}
    columns = (TextColumn(bed), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(bed, total=len(chosen) * len(runs))
        for case in chosen:
            for name, seconds in runs:
                answers[name, seconds].append(solvers[name](case, seconds))
                progress.advance(task)
            check(case, [answers[run][-1] for run in runs])
    best = [min(answers[run][i].cost for run in runs) for i in range(len(chosen))]
    published = not any(math.isnan(case.reference) for case in chosen)
    references = [case.reference for case in chosen] if published else best
    against = "published LKH-3" if published else "the best of this run"
    title = f"{bed}: {len(chosen)} of the first {asked.count} instances, gaps to {against}"
    table = Table(*COLUMNS, box=box.SIMPLE, title=title)
    for name, seconds in runs:
        table.add_row(name, f"{seconds:g}", *row(answers[name, seconds], references))
    return table


def main() -> None:
    """Print one block for each bed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.solve", description=__doc__)
    parser.add_argument(
        "--beds", nargs="+", metavar="BED", default=list(beds()), choices=list(beds())
    )
    parser.add_argument("--count", type=int, default=10, help="instances of each, the first ones")
    parser.add_argument("--seconds", type=float, nargs="+", default=[0.1, 1.0], help="an instance")
    asked = parser.parse_args()
    console = Console(width=110)
    solvers = present(console)
    for bed in asked.beds:
        console.print(block(bed, solvers, asked, console))


if __name__ == "__main__":
    main()
