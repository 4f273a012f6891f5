"""`python -m benchmarks.proofs [--count N --step N --seconds S --threads N --alone] [NAMES...]`: proofs and bounds.

Each instance is solved with 1, 5 and the given seconds, by one thread unless more are asked for; beside it, in the same
run and with as many seconds, CP-SAT where OR-Tools is installed and didppy where that is (`pip install didppy`). A
bound above a tour of anyone, or two proofs that differ, end the run.
"""

import argparse
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from itertools import islice
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

import fairway
from benchmarks.exact import LIBRARIES, library
from fairway.problems.beds import beds, load_bed
from fairway.problems.instance import Instance

BOUNDS = (1.0, 5.0)
"""Seconds after which bounds are looked at, beside those at the end."""
GRAIN = 1_000_000
"""Parts of a unit that CP-SAT counts in where numbers are not whole."""
COLUMNS = ("what", "solver", "proved", "of", "median", "longest", "gap 1 s", "gap 5 s", "gap end")


@dataclass(frozen=True)
class Found:
    """What a solver makes of an instance in so many seconds."""

    value: float
    bound: float
    proved: bool
    seconds: float


Solver = Callable[[Instance, float], Found]


def ours(instance: Instance, seconds: float, threads: int = 1) -> Found:
    """Our own answer."""
    result = fairway.solve(instance, seconds=seconds, workers=threads)
    return Found(result.value, result.lower_bound, result.status == "optimal", result.seconds)


def cp_sat(instance: Instance, seconds: float) -> Found:
    """A circuit with times or loads along it; what is rounded is rounded so that its bound stays one of ours."""
    from ortools.sat.python import cp_model

    model, nodes = cp_model.CpModel(), instance.nodes
    whole = instance.integral and np.array_equal(instance.cost, np.rint(instance.cost))
    grain = 1 if whole else GRAIN
    cost = np.floor(instance.cost * grain).astype(np.int64)
    legs = [(i, j) for i in range(nodes) for j in range(nodes) if i != j]
    taken = {leg: model.new_bool_var("") for leg in legs}
    model.add_circuit([(i, j, taken[i, j]) for i, j in legs])
    if instance.timed:
        opens, closes = np.floor(instance.opens * grain), np.ceil(instance.closes * grain)
        growth = np.floor((instance.service[:, None] + instance.travel) * grain)
    else:
        opens, closes = instance.demand * grain, instance.draft * grain
        growth = np.tile(instance.demand * grain, (nodes, 1))
    last = int(closes[0]) if instance.timed else int(instance.demand.sum() * grain)
    level = [
        model.new_int_var(int(a), int(min(b, last)), "") for a, b in zip(opens, closes, strict=True)
    ]
    for (i, j), literal in taken.items():
        if j > 0:
            start = int(opens[0]) if i == 0 and instance.timed else (0 if i == 0 else level[i])
            model.add(level[j] >= start + int(growth[i, j])).only_enforce_if(literal)
        elif instance.timed:
            model.add(level[i] + int(growth[i, 0]) <= last).only_enforce_if(literal)
    model.minimize(sum(int(cost[leg]) * literal for leg, literal in taken.items()))
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds, solver.parameters.num_workers = seconds, 1
    began = time.perf_counter()
    status = solver.solve(model)
    spent = time.perf_counter() - began
    known = status in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    value = solver.objective_value / grain if known else math.inf
    return Found(value, solver.best_objective_bound / grain, status == cp_model.OPTIMAL, spent)


def didp(instance: Instance, seconds: float) -> Found:
    """Dynamic programming over the unvisited, the place and the time or load, by complete anytime beam search."""
    import didppy as dp

    model, nodes = dp.Model(float_cost=True), instance.nodes
    stop = model.add_object_type(number=nodes)
    unvisited = model.add_set_var(object_type=stop, target=range(1, nodes))
    place = model.add_element_var(object_type=stop, target=0)
    cost = model.add_float_table(instance.cost.tolist())
    least = model.add_float_table(
        np.where(np.eye(nodes) > 0, np.inf, instance.cost).min(0).tolist()
    )
    rise = np.tile(instance.demand, (nodes, 1))
    if instance.timed:
        rise = instance.service[:, None] + instance.travel
    growth = model.add_float_table(rise.tolist())
    start = float(instance.opens[0]) if instance.timed else 0.0
    level = model.add_float_resource_var(target=start, less_is_better=True)
    for j in range(1, nodes):
        there: Any = level + growth[place, j]
        if instance.timed:
            there = dp.max(there, float(instance.opens[j]))
        latest = float(instance.closes[j] if instance.timed else instance.draft[j]) + 1e-6
        model.add_transition(
            dp.Transition(
                name=str(j),
                cost=cost[place, j] + dp.FloatExpr.state_cost(),
                effects=[(unvisited, unvisited.remove(j)), (place, j), (level, there)],
                preconditions=[unvisited.contains(j), level + growth[place, j] <= latest],
            )
        )
    home = [unvisited.is_empty()]
    if instance.timed:
        home.append(level + growth[place, 0] <= float(instance.closes[0]) + 1e-6)
    model.add_base_case(home, cost=cost[place, 0])
    model.add_dual_bound(least[unvisited] + least[0])
    solver = dp.CABS(model, time_limit=seconds, quiet=True)
    found = solver.search()
    value = math.inf if found.cost is None else float(found.cost)
    bound = -math.inf if found.best_bound is None else float(found.best_bound)
    return Found(value, bound, bool(found.is_optimal), float(found.time))


SOLVERS: dict[str, tuple[str, Solver]] = {
    "Fairway": ("fairway", ours),
    "CP-SAT": ("ortools", cp_sat),
    "didppy": ("didppy", didp),
}


def instances(name: str) -> Iterator[Instance]:
    """Of a test set, of a library family, of the hard distribution with another half-width, or round arrivals."""
    if name in beds():
        yield from load_bed(name)
    elif name.startswith("hard:"):
        nodes, width = map(int, name.split(":")[1:])
        law = fairway.TourWindows(eta=float(width))
        yield from fairway.generate("tsptw", n=nodes, hardness=law, count=20, seed=0)
    elif name.startswith("arrivals:"):
        stops, width = map(int, name.split(":")[1:])
        yield from (around_arrivals(stops, width, seed) for seed in range(20))
    else:
        yield from (case[0] for case in library(name, "travel"))


def around_arrivals(stops: int, width: int, seed: int) -> Instance:
    """As Dumas, Gendreau, Ohlmann and others drew them: windows round the arrivals of a tour by the second nearest."""
    rng = np.random.default_rng([stops, width, seed])
    place = rng.integers(0, 51, (stops + 1, 2))
    travel = np.floor(np.hypot(*(place[:, None] - place[None]).transpose(2, 0, 1)))
    for via in range(stops + 1):
        travel = np.minimum(travel, travel[:, via, None] + travel[via])
    left, here, now, opens, closes = {*range(1, stops + 1)}, 0, 0.0, *np.zeros((2, stops + 1))
    while left:
        near = sorted(left, key=lambda stop: travel[here, stop])[:2]
        now, here = now + travel[here, near[-1]], near[-1]
        left.remove(here)
        opens[here] = max(0, now - rng.integers(0, width // 2 + 1))
        closes[here] = now + rng.integers(0, width // 2 + 1)
    closes[0] = now + travel[here, 0] + width
    return Instance(travel, opens=opens, closes=closes)


def gap(found: Found) -> float:
    """In percent of the bound."""
    if found.proved:
        return 0.0
    known = math.isfinite(found.value) and found.bound > 0
    return 100 * (found.value / found.bound - 1) if known else math.inf


def rows(
    name: str, chosen: Sequence[Instance], seconds: float, solvers: dict[str, tuple[str, Solver]]
) -> Iterator[list[str]]:
    """One row for each solver there is."""
    best, proved = [math.inf] * len(chosen), [math.nan] * len(chosen)
    for solver, (module, solve) in solvers.items():
        if find_spec(module) is None:
            continue
        by_budget = [[solve(each, budget) for each in chosen] for budget in (*BOUNDS, seconds)]
        last = by_budget[-1]
        for number, found in enumerate(last):
            best[number] = min(best[number], found.value)
            slack = 1e-4 * abs(best[number])
            if found.bound > best[number] + slack:
                raise SystemExit(f"{name} {number}: {solver} has a bound above a tour")
            if found.proved and abs(proved[number] - found.value) > slack:
                raise SystemExit(f"{name} {number}: {solver} proves another value")
            proved[number] = found.value if found.proved else proved[number]
        times = [found.seconds for found in last if found.proved]
        pace = (f"{np.median(times):.2f} s", f"{max(times):.2f} s") if times else ("-", "-")
        gaps = [f"{np.mean([gap(found) for found in each]):.2f} %" for each in by_budget]
        yield [name, solver, str(len(times)), str(len(chosen)), *pace, *gaps]


def main() -> None:
    """Print one row for each family and solver."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.proofs", description=__doc__)
    known = [*beds(), *LIBRARIES, "hard:100:500", "hard:200:500", "hard:500:250"]
    known += ["arrivals:100:200", "arrivals:150:160", "arrivals:200:160"]
    parser.add_argument("names", nargs="*", metavar="NAMES", help=", ".join(known))
    parser.add_argument("--count", type=int, default=10, help="instances of each")
    parser.add_argument(
        "--step", type=int, default=1, help="take every Nth instance, from the first on"
    )
    parser.add_argument("--alone", action="store_true", help="no other solvers")
    parser.add_argument("--seconds", type=float, default=60.0, help="of one proof, at most")
    parser.add_argument("--threads", type=int, default=1, help="of our own proofs")
    asked = parser.parse_args()
    own = "fairway", partial(ours, threads=asked.threads)
    solvers = {"Fairway": own} if asked.alone else {**SOLVERS, "Fairway": own}
    on = "one core" if asked.threads == 1 else f"{asked.threads} threads"
    table = Table(*COLUMNS, box=box.SIMPLE, title=f"Proofs and bounds, {on}")
    for name in asked.names or known:
        chosen = list(islice(instances(name), 0, asked.count * asked.step, asked.step))
        for row in rows(name, chosen, asked.seconds, solvers):
            table.add_row(*row)
    Console(width=120, emoji=False).print(table)


if __name__ == "__main__":
    main()
