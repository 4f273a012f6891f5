"""`python -m benchmarks.small [--solved N] [--resumed N] [--relaxed N] [--first N] [--seed S]`: many small tours.

Random instances of two to eight stops over all combinations of constraints. Solved: status and value of `solve` under
every objective and both ways to drop equal brute force, its bound is never above, and random tours are judged alike; a
quarter of them are bent further, into what hardly anybody asks for (`tests/odd.py`). Resumed: plans that are
interrupted after any stop are planned anew, never worse than what was left of them. Relaxed: instances without a tour
have a plan within a second, whose claims the judge confirms.

Any mismatch is printed, and ends the run with exit code 1. An answer that is late is one, and is named so: beside other
work that says little. Each instance has random numbers of its own: `--solved 1 --first 4711` asks for one again.
"""

import argparse
import math
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
from rich.progress import track

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from odd import bent
from tours import best, drawn, judged

import fairway

OBJECTIVES = ("cost", "makespan", "duration")
MOST, BENT = 8, 0.25
"""Stops at most, and the part of the instances that are bent further."""
SOLVED, RELAXED = 0.6, 1.2
"""Seconds that an answer may take with a budget of 0.5 s, and of one second where no tour keeps everything."""
OPEN, SPENT = ("feasible", "unknown"), 0.45
"""Answers without a proof, for which all the time should have been spent."""


def close(one: float, other: float) -> bool:
    """Whether two values are the same, but for rounding."""
    return one == other or abs(one - other) <= 1e-6 * max(1.0, abs(one), abs(other))


def random_tour(rng, instance) -> tuple[int, ...]:
    """Most or all of the stops in any order."""
    stops = [node for node in range(1, instance.nodes) if node != instance.end]
    count = len(stops) if rng.random() < 0.7 else int(rng.integers(len(stops) + 1))
    return tuple(rng.permutation(stops)[:count].tolist())


def solved(rng, number: int) -> str | None:
    """What is wrong with the answer for one instance, if anything."""
    instance = drawn(rng, int(rng.integers(2, MOST + 1 if number % 10 == 0 else MOST)))
    instance = bent(rng, instance) if rng.random() < BENT else instance
    objective, drop = OBJECTIVES[number % 3], ("price", "fewest")[number // 3 % 2]
    expected = best(instance, objective, drop)
    result = fairway.solve(instance, seconds=0.5, objective=objective, drop=drop, relax="none")
    status = "infeasible" if expected is None else "optimal"
    if result.seconds > SOLVED or (result.status in OPEN and result.seconds > SPENT):
        return f"late, {result.status} after {result.seconds:.2f} s"
    if result.status != status:
        return f"{result.status} after {result.seconds:.2f} s, not {status}"
    if expected is not None and not close(result.value, float(expected[0])):
        return f"worth {result.value}, not {expected[0]}"
    if expected is not None and result.lower_bound > float(expected[0]) + 1e-6:
        return f"a bound of {result.lower_bound} above {expected[0]}"
    return judged_otherwise(instance, random_tour(rng, instance), objective)


def judged_otherwise(instance, tour, objective) -> str | None:
    """What the judge makes of a tour that the reference does not, if anything."""
    reference = judged(instance, tour, objective)
    found = fairway.verify(instance, tour, objective=objective)
    if isinstance(found, fairway.Solution) is (reference is None):
        return f"{tour} is judged otherwise"
    if reference is not None and not close(found.value, float(reference.value)):
        return f"{tour} is worth {reference.value}, not {found.value}"
    return None


def resumed(rng, number: int) -> str | None:
    """What is wrong with the rest of one plan, if anything; an instance without a plan counts as well."""
    instance = drawn(rng, int(rng.integers(2, MOST)))
    result = fairway.solve(instance, relax="none")
    if not result.tour:
        return None
    count = int(rng.integers(len(result.tour)))
    done, rest = result.tour[:count], result.tour[count:]
    visits = {visit.node: visit for visit in result.schedule}
    leaves = visits[done[-1]].departure if done else result.solution.departure
    if instance.aboard + (instance.demand + instance.loaded)[list(done)].sum() < 0:
        return None  # refused: what was taken off is loaded for stops that are still to come
    left = instance.resume(done, None, leaves)
    stops = [node for node in range(1, instance.nodes) if node not in done and node != instance.end]
    plan = tuple(stops.index(node) + 1 for node in rest)
    old = fairway.verify(left, plan)
    new = fairway.solve(left, initial=plan)
    if isinstance(old, fairway.Solution) and not new.value <= old.value + 1e-9:
        return f"replanned to {new.value}, which was {old.value}"
    if not instance.breaks and not isinstance(old, fairway.Solution):
        return f"the rest of the plan is refused: {old.violations}"
    return None


def relaxed(rng, number: int) -> str | None:
    """What is wrong with the plan for an instance without a tour, if anything."""
    result = None
    while result is None or result.tour is not None:
        instance = drawn(rng, int(rng.integers(2, 40)))
        result = fairway.solve(instance, seconds=1.0)
    if result.relaxed is None:
        return f"{result.status}, and no plan: {instance.constraints}"
    plan = result.relaxed
    verdict = fairway.verify(plan.instance, plan.solution.tour)
    if not isinstance(verdict, fairway.Solution):
        return "the plan is refused"
    lost = [stop for stop in verdict.unserved if math.isinf(instance.prize[stop])]
    said = [words for words in plan.given_up if "left out" in words]
    if len(said) != len(lost) or not plan.given_up or result.seconds > RELAXED:
        return f"gives up {lost} in {result.seconds:.2f} s, and says {plan.given_up}"
    return None


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    for check in (solved, resumed, relaxed):
        parser.add_argument(f"--{check.__name__}", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first instance")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    fairway.solve(fairway.Instance(1.0 - np.eye(3), prize=1.0))  # compiled before any clock runs
    wrong, late = Counter(), Counter()
    for check in (solved, resumed, relaxed):
        name, slowest = check.__name__, 0.0
        count, first = getattr(asked, name), asked.first
        numbers = range(first, first + count)
        for number in track(numbers, name, transient=True, disable=not sys.stderr.isatty()):
            began = time.perf_counter()
            fault = check(np.random.default_rng((asked.seed, number)), number)
            slowest = max(slowest, time.perf_counter() - began)
            if fault is not None:
                wrong[name] += 1
                late[name] += fault.startswith("late")
                print(f"{name} {number}: {fault}", flush=True)
        if count:
            print(
                f"{name}: {count} instances, {wrong[name]} mismatches, {late[name]} of them late; "
                f"slowest {slowest:.2f} s"
            )
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
