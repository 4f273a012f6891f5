"""`python -m benchmarks.tours [--kinds ...] [--count N] [--seconds S ...] [--beside]`: tours under each constraint.

The published generator of instances with a hundred stops, and what the solver makes of them. A random tour visits all
stops; windows as wide as those of the medium distribution are placed around its starts, and one constraint is added so
that the tour keeps it too: it proves that the instance is feasible. `all` has every constraint at once.

Without `--beside` there is one row per kind: how many have a tour after each budget, the mean value, and the mean gap
to the longest budget, both over the instances that have a tour after every budget, and the mean gap that the solver
itself reports. With `--beside` there is one block
per kind: PyVRP, OR-Tools (also started from the random tour) and VROOM where they can state the problem, at equal time,
one after another on one core; gaps are to the best value of the run. A random tour or a tour of ours that the judge
refuses, or a bound of ours that a tour of anyone disproves, ends the run.
"""

import argparse
import math
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

import fairway
from benchmarks import beside
from fairway.errors import SolverMissing
from fairway.problems.distances import euclidean
from fairway.problems.generate import DISTRIBUTIONS, LoweredDrafts, RandomWindows

MEDIUM, DRAFTS = DISTRIBUTIONS["tsptw", "medium"], DISTRIBUTIONS["tspdl", "medium"]
assert isinstance(MEDIUM, RandomWindows)
assert isinstance(DRAFTS, LoweredDrafts)
PRECEDENCES = 20
"""Pairs of stops with an order."""
NEAR = 10
"""Most positions between the stops of such a pair: further apart, windows mostly order them."""
CARRIED = 20
"""Most positions between a pickup and its delivery."""
SWING = 20
"""How far the load of the random tour moves from that of its start before it is turned back."""
LUNCH = 0.05
"""Length of the break, as a share of the time that a random tour takes."""
OURS = "Fairway"

Fields = dict[str, Any]
"""What an instance is made of, by the names of its arguments."""


class Drawn(NamedTuple):
    """An instance, the random tour that keeps all its constraints, and what is minimised."""

    instance: fairway.Instance
    tour: tuple[int, ...]
    objective: str


@dataclass(frozen=True, slots=True)
class Ground:
    """What every kind starts from: places, a random tour, and windows around its starts.

    Nodes 1 to `stops` are the stops; where the tour ends at a node of its own, that is the last node. The tour is
    random, so that the first third of the numbers is a random third of the stops.
    """

    parts: tuple[str, ...]
    seed: int
    stops: int
    points: np.ndarray
    travel: np.ndarray
    tour: np.ndarray
    opens: np.ndarray
    closes: np.ndarray
    breaks: tuple[tuple[float, float, float], ...]

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return len(self.travel)

    def rng(self, part: str) -> np.random.Generator:
        """The random numbers of one constraint, which do not depend on what else is asked for."""
        return np.random.default_rng((self.seed, crc32(part.encode())))

    def per_node(self, absent: float, values: np.ndarray) -> np.ndarray:
        """A number for each node: these for the first stops, and a neutral one for the others."""
        filled = np.full(self.nodes, absent)
        filled[1 : 1 + len(values)] = values
        return filled


def around(rng: np.random.Generator, times: np.ndarray, tour_time: float) -> np.ndarray:
    """Windows as wide as those of the medium distribution, in whole numbers, each around a time: opens and closes."""
    width = tour_time * rng.uniform(*MEDIUM.width, len(times))
    early = rng.random(len(times))
    opens = np.maximum(np.floor(times - early * width), 0)
    return np.stack([opens, np.ceil(times + (1 - early) * width)])


def ground(parts: tuple[str, ...], seed: int, stops: int) -> Ground:
    """Places, a tour and its windows; a break, if there is one, is taken on leaving a stop near the middle."""
    rng = np.random.default_rng(seed)
    nodes = stops + 1 + ("end" in parts)
    points = rng.random((nodes, 2)) * MEDIUM.side
    tour = 1 + rng.permutation(stops)
    travel, tour_time = euclidean(points), MEDIUM.tour_time(nodes)
    starts = np.cumsum(travel[np.append(0, tour[:-1]), tour])
    breaks = ()
    if "breaks" in parts:
        middle = stops // 2
        own = np.random.default_rng((seed, crc32(b"breaks")))
        (first,), (last,) = around(own, starts[[middle]], tour_time)
        length = round(LUNCH * tour_time)
        breaks = ((float(first), float(last), float(length)),)
        starts[middle + 1 :] += length
    opens, closes = np.zeros(nodes), np.full(nodes, 2.0 * tour_time)
    opens[tour], closes[tour] = around(rng, starts, tour_time)
    return Ground(parts, seed, stops, points, travel, tour, opens, closes, breaks)


def cost(on: Ground) -> Fields:
    """Each way costs between half and one and a half times its travel."""
    return {"cost": on.travel * on.rng("cost").uniform(0.5, 1.5, on.travel.shape)}


def several_windows(on: Ground) -> Fields:
    """One or two more windows per stop at random times; a stop with a price of lateness keeps its single window."""
    rng, tour_time = on.rng("windows"), MEDIUM.tour_time(on.nodes)
    first = 1 + (on.stops // 2 if "soft" in on.parts else 0)
    windows = {}
    for stop in range(first, on.stops + 1):
        spans = [(float(on.opens[stop]), float(on.closes[stop]))]
        wanted = rng.integers(2, 4)
        while len(spans) < wanted:
            opens, closes = around(rng, rng.uniform(0, tour_time, 1), tour_time)[:, 0].tolist()
            if all(closes < other[0] or other[1] < opens for other in spans):
                spans.append((opens, closes))
        windows[stop] = sorted(spans)
    return {"windows": windows}


def order(on: Ground) -> Fields:
    """Precedences between stops that the tour visits one soon after the other; a stop may be in several."""
    rng = on.rng("order")
    found: set[tuple[int, int]] = set()
    while len(found) < min(PRECEDENCES, on.stops - 1):
        first = rng.integers(on.stops - 1)
        second = min(first + rng.integers(1, NEAR + 1), on.stops - 1)
        found.add((int(on.tour[first]), int(on.tour[second])))
    return {"before": sorted(found)}


def couples(stops: Sequence[int], rng: np.random.Generator) -> list[tuple[int, int]]:
    """Stops of a tour by twos, in its direction: the first with one of those soon after it."""
    left, found = list(stops), []
    while len(left) > 1:
        pickup = left.pop(0)
        found.append((pickup, left.pop(rng.integers(min(CARRIED, len(left))))))
    return found


def signed(on: Ground, every: float) -> Fields:
    """Signed loads and a capacity that the tour just keeps.

    The stops whose numbers `every` divides carry from a pickup to its delivery. The others take what is on board at the
    start, or bring something for its end.
    """
    rng = on.rng("loads")
    pairs = couples([stop for stop in on.tour.tolist() if stop % every == 0], rng)
    demand = np.zeros(on.nodes)
    demand[1 : on.stops + 1] = rng.integers(1, 10, on.stops)
    for pickup, delivery in pairs:
        demand[delivery] = -demand[pickup]
    paired, load = set(np.ravel(pairs).tolist()), 0.0
    for stop in on.tour.tolist():
        if stop not in paired:  # the load stays near that of the start, or any tour would keep it
            demand[stop] *= -np.sign(load) if abs(load) > SWING else rng.choice([-1, 1])
        load += demand[stop]
    alone = [stop for stop in on.tour.tolist() if stop not in paired]
    aboard = -float(demand[alone].clip(max=0).sum())
    capacity = max(aboard, float((aboard + np.cumsum(demand[on.tour])).max()))
    stated = {"demand": demand, "load": "signed", "aboard": aboard, "capacity": capacity}
    return stated | {"pairs": pairs}


def every_load(on: Ground) -> Fields:
    """Half of the stops in pairs, a capacity, and draft limits that hold on arrival and on leaving."""
    fields = signed(on, every=2)
    own = fields["demand"][on.tour]
    loads = fields["aboard"] + np.cumsum(own)
    return fields | lowered(on, np.maximum(loads, loads - own), fields["capacity"])


def lowered(on: Ground, loads: np.ndarray, most: float) -> Fields:
    """Drafts a little over the loads of the tour at as many stops as the medium distribution lowers."""
    slack = on.rng("drafts").uniform(0, MEDIUM.width[1], on.stops) * most
    limits = np.zeros(on.nodes)
    limits[on.tour] = np.floor(loads + slack)
    return {"draft": on.per_node(np.inf, limits[1 : 1 + DRAFTS.lowered(on.stops)])}


def drafts(on: Ground, load: str) -> Fields:
    """Draft limits under a load that grows, or shrinks, along the tour."""
    demand = np.zeros(on.nodes)
    demand[1 : on.stops + 1] = on.rng("demand").integers(1, 10, on.stops)
    along = demand[on.tour]
    loads = np.cumsum(along) if load == "growing" else np.cumsum(along[::-1])[::-1]
    return {"demand": demand, "load": load} | lowered(on, loads, along.sum())


def optional(on: Ground) -> Fields:
    """A third of the stops may be left out, at about the cost of the detour to them."""
    nearest = np.sort(on.travel[1:, 1:], axis=1)[: on.stops // 3, 1:6]
    prices = nearest.mean(axis=1) * on.rng("optional").uniform(0.5, 2.5, len(nearest))
    return {"prize": on.per_node(np.inf, np.round(prices, 2))}


def soft(on: Ground) -> Fields:
    """Half of the stops close earlier; until their windows would have closed, being late has a price."""
    rng, some = on.rng("soft"), slice(1, 1 + on.stops // 2)
    closes = on.closes.copy()
    opens, latest = on.opens[some], on.closes[some]
    closes[some] = np.ceil(opens + rng.random(len(opens)) * (latest - opens))
    prices = np.round(rng.uniform(0.1, 1.0, len(opens)), 2)
    return {
        "closes": closes,
        "late": on.per_node(np.inf, prices),
        "latest": on.per_node(np.inf, latest),
    }


def nothing(_: Ground) -> Fields:
    """Windows alone; breaks are part of the ground."""
    return {}


PARTS: dict[str, Callable[[Ground], Fields]] = {
    "plain": nothing,
    "cost": cost,
    "open": lambda _: {"end": None},
    "end": lambda on: {"end": on.nodes - 1},
    "windows": several_windows,
    "order": order,
    "pairs": partial(signed, every=1),
    "drafts": partial(drafts, load="growing"),
    "shrinking": partial(drafts, load="shrinking"),
    "capacity": partial(signed, every=math.inf),
    "optional": optional,
    "soft": soft,
    "breaks": nothing,
    "makespan": nothing,
    "duration": nothing,
}
"""What each constraint adds to an instance."""
ALL = ("cost", "end", "windows", "order", "optional", "soft", "breaks")
"""What `all` has besides loads of every sort; its tours end at a node of their own."""
KINDS = (*PARTS, "all")


def drawn(kind: str, seed: int, stops: int = 100) -> Drawn:
    """An instance of a kind with the random tour that keeps it; equal seeds give equal instances."""
    parts = ALL if kind == "all" else (kind,)
    on = ground(parts, seed, stops)
    fields: Fields = {"opens": on.opens, "closes": on.closes, "breaks": on.breaks}
    for part in parts:
        fields |= PARTS[part](on)
    if kind == "all":
        fields |= every_load(on)
    instance = fairway.Instance(
        on.travel, **fields, coordinates=on.points, name=f"{kind}-{stops}-{seed}"
    )
    objective = kind if kind in ("makespan", "duration") else "cost"
    return Drawn(instance, tuple(on.tour.tolist()), objective)


@dataclass(frozen=True)
class Answer:
    """What a solver came up with: the value as the judge has it, infinite without a tour that it accepts."""

    value: float
    seconds: float
    lower_bound: float = -math.inf


Solver = Callable[[Drawn, float], Answer]


def judged(case: Drawn, tour: Sequence[int] | None) -> float:
    """The value of a tour, infinite where there is none or the judge refuses it."""
    if tour is None:
        return math.inf
    verdict = fairway.verify(case.instance, tour, objective=case.objective)
    return verdict.value if isinstance(verdict, fairway.Solution) else math.inf


def ours(case: Drawn, seconds: float) -> Answer:
    """Our answer, which must stand before the judge."""
    result = fairway.solve(case.instance, seconds=seconds, workers=1, objective=case.objective)
    value = judged(case, result.tour)
    if result.status == "infeasible" or (result.tour is not None and value != result.value):
        raise SystemExit(f"{case.instance.name}: the judge does not confirm our answer")
    return Answer(value, result.seconds, result.lower_bound)


def others(solve: Callable[[Drawn, float], Sequence[int] | None]) -> Solver:
    """A solver whose tours are judged, and whose seconds are those of the clock on the wall."""

    def solver(case: Drawn, seconds: float) -> Answer:
        began = time.perf_counter()
        tour = solve(case, seconds)
        spent = time.perf_counter() - began
        return Answer(judged(case, tour), spent)

    return solver


SOLVERS: dict[str, Solver] = {
    OURS: ours,
    "PyVRP": others(lambda case, s: beside.pyvrp(case.instance, s, case.objective)),
    "OR-Tools": others(lambda case, s: beside.ortools(case.instance, s, case.objective)),
    "OR-Tools (seeded)": others(
        lambda case, s: beside.ortools(case.instance, s, case.objective, initial=case.tour)
    ),
    "VROOM": others(lambda case, s: beside.vroom(case.instance, s, case.objective)),
}


def can_state(solver: str, kind: str) -> bool:
    """Whether a solver knows all that a kind asks for."""
    return solver == OURS or kind not in beside.UNKNOWN[solver.removesuffix(" (seeded)")]


def present(console: Console) -> dict[str, Solver]:
    """The solvers there are; they are called once before any clock runs, and the others said to be missing."""
    found = {}
    for name, solver in SOLVERS.items():
        try:
            solver(drawn("plain", 0, 5), 0.01)
        except SolverMissing as missing:
            console.print(f"left out: {missing}", highlight=False)
        else:
            found[name] = solver
    return found


def cases(kind: str, count: int) -> list[Drawn]:
    """Instances of a kind; the judge must accept the random tour of each."""
    found = [drawn(kind, seed) for seed in range(count)]
    for case in found:
        if math.isinf(judged(case, case.tour)):
            raise SystemExit(f"{case.instance.name}: the judge refuses the random tour")
    return found


Run = tuple[str, float]
"""A solver and its seconds."""


def answered(
    kind: str, solvers: dict[str, Solver], asked: argparse.Namespace, console: Console
) -> dict[Run, list[Answer]]:
    """The answers of all who can state a kind, by solver and budget, instance after instance."""
    able = {name: solver for name, solver in solvers.items() if can_state(name, kind)}
    answers: dict[Run, list[Answer]] = {(n, s): [] for s in asked.seconds for n in able}
    chosen = cases(kind, asked.count)
    for solver in able.values():
        solver(drawn(kind, asked.count), 0.1)  # compiled, loaded and warm
    columns = (TextColumn(kind), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(kind, total=len(chosen) * len(answers))
        for case in chosen:
            for (name, seconds), found in answers.items():
                found.append(able[name](case, seconds))
                progress.advance(task)
            check(case, [found[-1] for found in answers.values()])
    return answers


def check(case: Drawn, answers: Sequence[Answer]) -> None:
    """End the run where a bound of ours lies above a tour that the judge has accepted."""
    best, bound = min(a.value for a in answers), max(a.lower_bound for a in answers)
    if bound > best + 1e-6 * abs(best):
        raise SystemExit(f"{case.instance.name}: our bound {bound} is above a tour of {best}")


def mean(values: np.ndarray) -> str:
    """The mean in print, or a dash where there is nothing."""
    return f"{values.mean() + 0.0:.3f}" if values.size else "-"


def budgets(asked: argparse.Namespace, console: Console) -> Table:
    """Our solver alone: one row per kind."""
    heads = [f"{seconds:g} s" for seconds in asked.seconds]
    table = Table(box=box.SIMPLE, title=f"{asked.count} instances of each kind")
    table.add_column("kind")
    for head in (
        *(f"tours in {head}" for head in heads),
        *(f"value at {head}" for head in heads),
        *(f"gap % at {head}" for head in heads[:-1]),
        *(f"reported at {head}" for head in heads),
    ):
        table.add_column(head, justify="right")
    for kind in asked.kinds:
        answers = answered(kind, {OURS: ours}, asked, console)
        values = np.array([[a.value for a in answers[OURS, s]] for s in asked.seconds])
        solved = np.isfinite(values)
        both = values[:, solved.all(axis=0)]
        table.add_row(
            kind,
            *(str(int(row.sum())) for row in solved),
            *(mean(row) for row in both),
            *(mean(100 * (row / both[-1] - 1)) for row in both[:-1]),
            *(mean(np.array([reported(a) for a in answers[OURS, s]])) for s in asked.seconds),
        )
    return table


def reported(answer: Answer) -> float:
    """By how much a tour could be improved at most, in percent of the bound; a thousand where there is none."""
    known = math.isfinite(answer.value) and answer.lower_bound > 0
    return min(100 * (answer.value / answer.lower_bound - 1), 1e3) if known else 1e3


def block(
    kind: str, solvers: dict[str, Solver], asked: argparse.Namespace, console: Console
) -> Table:
    """All solvers on one kind: a row for each solver and budget."""
    answers = answered(kind, solvers, asked, console)
    values = {run: np.array([a.value for a in found]) for run, found in answers.items()}
    best = np.min(list(values.values()), axis=0)
    title = f"{kind}: {asked.count} instances, gaps to the best of this run"
    table = Table("solver", box=box.SIMPLE, title=title)
    for head in ("seconds given", "gap %", "no tour", "seconds taken"):
        table.add_column(head, justify="right")
    for (name, seconds), found in values.items():
        there = np.isfinite(found)
        gaps = 100 * (found[there] / best[there] - 1)
        spent = np.array([a.seconds for a in answers[name, seconds]])
        table.add_row(name, f"{seconds:g}", mean(gaps), str(int((~there).sum())), mean(spent))
    return table


def statements() -> Table:
    """Which kinds each of the others can state, and what it lacks where it cannot."""
    table = Table("kind", *beside.UNKNOWN, box=box.SIMPLE, title="who can state what")
    for kind in KINDS:
        table.add_row(kind, *(lacks.get(kind, "yes") for lacks in beside.UNKNOWN.values()))
    return table


def main() -> None:
    """Print one table, or one block for each kind."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tours", description=__doc__)
    parser.add_argument("--kinds", nargs="+", metavar="KIND", default=list(KINDS), choices=KINDS)
    parser.add_argument("--count", type=int, default=100, help="instances of each kind")
    parser.add_argument("--seconds", type=float, nargs="+", default=[0.1, 1.0, 30.0])
    parser.add_argument("--beside", action="store_true", help="the solvers of others too")
    asked = parser.parse_args()
    console = Console(width=120)
    if not asked.beside:
        console.print(budgets(asked, console))
        return
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    console.print(statements())
    solvers = present(console)
    for kind in asked.kinds:
        console.print(block(kind, solvers, asked, console))


if __name__ == "__main__":
    main()
