"""`python -m benchmarks.families [--family ...] [--seconds S] [--names ...]`: library instances of other problems.

Sequential ordering, pickup and delivery, orienteering with time windows, and the makespan and duration of the TSPTW
libraries, from the shared folder, each solved for the given seconds beside its best known value. The value of an
orienteering instance is the sum of the scores left out. First the stored tours are evaluated anew, by a few lines that
share nothing with the judge; one that is infeasible or has another value ends the run.
"""

import argparse
import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.progress import track
from rich.table import Table

import fairway
from fairway.problems.distances import euclidean

BENCH = Path(__file__).parents[2] / "shared" / "bench"
TSPTW = ("Dumas", "AFG", "SolomonPotvinBengio")
NO_ARC = 1_000_000
"""Stands for a missing arc in files of the sequential ordering problem."""
NEAR = 5e-4
"""By how much published values of instances with fractions may differ."""
COLUMNS = ("nodes", "value", "best known", "gap %", "status", "lower bound", "seconds")


@dataclass(frozen=True)
class Case:
    """An instance, what is minimised, its best known value, and a tour that has it where one is stored."""

    name: str
    instance: fairway.Instance
    objective: str
    best: float
    proven: bool
    tour: tuple[int, ...] | None


def numbers(text: str) -> list[float]:
    """All numbers of a text."""
    return [float(word) for word in text.split()]


def sop(path: Path) -> fairway.Instance:
    """A sequential ordering instance: a path from the first node to the last, with an order of the stops between."""
    size, *entries = numbers(path.read_text().split("EDGE_WEIGHT_SECTION")[1].split("EOF")[0])
    nodes = int(size)
    matrix = np.array(entries).reshape(nodes, nodes)
    later = np.argwhere(matrix == -1).tolist()
    inner = range(1, nodes - 1)  # the first node comes first, and the last one last, in any case
    before = [(a, b) for b, a in later if a in inner and b in inner]
    travel = np.where((matrix == -1) | (matrix == NO_ARC), np.inf, matrix)
    np.fill_diagonal(travel, 0)
    return fairway.Instance(travel, before=before, end=nodes - 1, name=path.stem)


def pdtsp(path: Path) -> fairway.Instance:
    """A pickup and delivery instance: pairs, no capacity, distances to the nearest whole number."""
    count, *lines = (line.split() for line in path.read_text().splitlines() if line.strip())
    rows = [[float(word) for word in line] for line in lines[: int(count[0])]]
    assert [row[0] for row in rows] == list(range(1, len(rows) + 1)), "nodes are numbered in order"
    points = np.array([row[1:3] for row in rows])
    pairs = [(node, int(row[4]) - 1) for node, row in enumerate(rows) if node and row[3] == 0]
    return fairway.Instance(
        np.floor(euclidean(points) + 0.5), pairs=pairs, coordinates=points, name=path.stem
    )


def optw(path: Path) -> fairway.Instance:
    """An orienteering instance: travel costs nothing, and a stop left out costs its score."""
    rows = [numbers(line) for line in path.read_text().splitlines()[2:] if line.strip()]
    assert [row[0] for row in rows] == list(range(len(rows))), "nodes are numbered in order"
    points = np.array([row[1:3] for row in rows])
    travel = np.floor(10 * euclidean(points)) / 10
    return fairway.Instance(
        travel,
        cost=np.zeros_like(travel),
        service=[row[3] for row in rows],
        opens=[row[-2] for row in rows],
        closes=[row[-1] for row in rows],
        prize=[math.inf, *(row[4] for row in rows[1:])],
        coordinates=points,
        name=path.stem,
    )


def stored(folder: Path, name: str = "best_known.json") -> dict[str, dict[str, Any]]:
    """What a folder says about its instances."""
    return json.loads((folder / name).read_text())


def sop_cases() -> Iterator[Case]:
    """Sequential ordering; a stored path has both ends, which a tour leaves out."""
    for name, known in stored(BENCH / "sop").items():
        tour = tuple(known["path"][1:-1]) if "path" in known else None
        instance = sop(BENCH / "sop" / f"{name}.sop")
        yield Case(name, instance, "cost", known["cost"], known["proven_optimal"], tour)


def pdtsp_cases() -> Iterator[Case]:
    """Pickup and delivery."""
    for name, known in stored(BENCH / "pdtsp").items():
        instance = pdtsp(BENCH / "pdtsp" / known["file"])
        proven = known["proven_optimal"]
        yield Case(name, instance, "cost", known["cost"], proven, tuple(known["tour"]))


def optw_cases() -> Iterator[Case]:
    """Orienteering with time windows."""
    for name, known in stored(BENCH / "optw").items():
        instance = optw(BENCH / "optw" / f"{name}.txt")
        best = float(instance.prize[1:].sum()) - known["score"]
        proven = known["proven_optimal"]
        yield Case(name, instance, "cost", best, proven, tuple(known["route"]))


def timed_cases(objective: str) -> Iterator[Case]:
    """The TSPTW libraries, by makespan or by duration."""
    for family in TSPTW:
        folder = BENCH / "tsptw" / family
        others = stored(folder)
        for name, known in stored(folder, "duration.json").items():
            if objective in known:
                instance = fairway.read(folder / f"{name}.txt")
                assert isinstance(instance, fairway.Instance)
                tour = (known | others[name]).get(f"{objective}_tour")
                yield Case(
                    name,
                    instance,
                    objective,
                    known[objective],
                    known[f"{objective}_proven"],
                    None if tour is None else tuple(tour),
                )


FAMILIES: dict[str, Callable[[], Iterator[Case]]] = {
    "sop": sop_cases,
    "pdtsp": pdtsp_cases,
    "optw": optw_cases,
    "makespan": lambda: timed_cases("makespan"),
    "duration": lambda: timed_cases("duration"),
}


def evaluated(case: Case) -> float:
    """The value of the stored tour by the plain rules of these families, infinite where it breaks one."""
    instance, tour = case.instance, case.tour
    assert tour is not None
    assert instance.end is not None
    left_out = set(range(1, instance.nodes)) - {instance.end} - set(tour)
    prizes = sum(float(instance.prize[stop]) for stop in left_out)
    valid = set(tour) <= set(range(1, instance.nodes)) - {instance.end}
    if not valid or len(set(tour)) < len(tour) or math.isinf(prizes):
        return math.inf
    route = (0, *tour, instance.end)
    in_order = all(tour.index(a) < tour.index(b) for a, b in (*instance.before, *instance.pairs))
    arrival, late, spare, legs = clock(instance, route)
    if late > 1e-9 or not in_order:
        return math.inf
    if case.objective == "makespan":
        return arrival
    if case.objective == "duration":
        return max(legs, arrival - spare - float(instance.opens[0]))
    return prizes + sum(float(instance.cost[a, b]) for a, b in pairwise(route))


def clock(instance: fairway.Instance, route: Sequence[int]) -> tuple[float, float, float, float]:
    """When a route ends, its greatest lateness, how much later it could leave, and its travel and service.

    Who leaves later waits less first: a node is reached later only by what exceeds the waiting before it.
    """
    now = float(instance.opens[0])
    legs = waited = late = 0.0
    spare = float(instance.closes[0]) - now
    for a, b in pairwise(route):
        step = float(instance.service[a] + instance.travel[a, b])
        legs += step
        start = now + step if b == 0 else max(now + step, float(instance.opens[b]))
        waited += start - now - step
        late = max(late, start - float(instance.closes[b]))
        spare = min(spare, float(instance.closes[b]) - start + waited)
        now = start
    return now, late, spare, legs


def check(cases: Sequence[Case]) -> int:
    """How many tours are stored, each of which must have the stated value."""
    with_tour = [case for case in cases if case.tour is not None]
    for case in with_tour:
        value = evaluated(case)
        if abs(value - case.best) > (NEAR if value != round(value) else 0):
            raise SystemExit(f"{case.name}: {case.objective} {value} where {case.best} is stated")
    return len(with_tour)


def row(case: Case, seconds: float) -> tuple[str, ...]:
    """What the solver makes of an instance; its answer must stand before the judge."""
    result = fairway.solve(case.instance, seconds=seconds, workers=1, objective=case.objective)
    value = math.inf
    if result.tour is not None:
        verdict = fairway.verify(case.instance, result.tour, objective=case.objective)
        if not isinstance(verdict, fairway.Solution) or verdict.value != result.value:
            raise SystemExit(f"{case.name}: the judge does not confirm our tour")
        value = verdict.value
    if result.lower_bound > case.best + NEAR:
        raise SystemExit(f"{case.name}: our bound {result.lower_bound} is above {case.best}")
    return (
        case.name,
        str(case.instance.nodes),
        f"{value:.8g}",
        f"{case.best:.8g}" + ("" if case.proven else " (not proven)"),
        f"{100 * (value / case.best - 1) + 0.0:.3f}",
        result.status,
        f"{result.lower_bound:.8g}",
        f"{result.seconds:.3f}",
    )


def main() -> None:
    """Print one table for each family."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.families", description=__doc__)
    parser.add_argument("--family", nargs="+", default=list(FAMILIES), choices=FAMILIES)
    parser.add_argument("--seconds", type=float, default=10.0, help="an instance")
    parser.add_argument("--names", nargs="+", help="these instances alone")
    asked = parser.parse_args()
    console = Console(width=110)
    for family in asked.family:
        cases = list(FAMILIES[family]())
        console.print(f"{family}: checked {check(cases)} tours", highlight=False)
        chosen = [case for case in cases if asked.names is None or case.name in asked.names]
        table = Table("name", box=box.SIMPLE, title=f"{family}, {asked.seconds:g} s per instance")
        for head in COLUMNS:
            table.add_column(head, justify="left" if head == "status" else "right")
        for case in track(chosen, description=family, console=console, transient=True):
            table.add_row(*row(case, asked.seconds))
        console.print(table)


if __name__ == "__main__":
    main()
