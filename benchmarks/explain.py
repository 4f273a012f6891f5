"""Explanations of 200 instances of which one window was shrunk: what is answered, whether it holds, how long it takes.

python -m benchmarks.explain [COUNT]
"""

import statistics
import sys
import time
from collections import Counter
from dataclasses import replace

import numpy as np

import fairway
from fairway.judge import Solution
from fairway.search.exact import prove
from fairway.solver.subset import subset

BEDS = ("tsptw50-hard", "tsptw100-hard", "tsptw50-medium", "tsptw50-easy")


def shrunk(instance, rng):
    """One window closed early for the tour that is known, though the depot could still reach the stop in time."""
    schedule = fairway.solve(instance, seconds=0.2).schedule
    visit = schedule[int(rng.integers(len(schedule)))]
    earliest = max(instance.opens[visit.node], instance.opens[0] + instance.travel[0, visit.node])
    closes = instance.closes.copy()
    closes[visit.node] = earliest + rng.random() * max(visit.start - earliest, 0.0)
    return replace(instance, closes=closes)


def holds(instance, explanation):
    """Whether the answer proves itself."""
    if explanation.status == "feasible":
        return isinstance(fairway.verify(instance, explanation.solution.tour), Solution)
    if explanation.status == "unknown":
        return False
    collide = prove(subset(instance, explanation.stops)).status == "infeasible"
    repair = explanation.repair
    mended = repair is None or isinstance(
        fairway.verify(repair.applied(instance), repair.solution.tour), Solution
    )
    return collide and mended


def main(count):
    rng = np.random.default_rng(0)
    for name in BEDS:
        bed, answers, seconds, sizes, repaired = fairway.load_bed(name), Counter(), [], [], 0
        for number in range(count // len(BEDS)):
            instance = shrunk(bed[number], rng)
            began = time.perf_counter()
            explanation = fairway.explain(instance)
            seconds.append(time.perf_counter() - began)
            answers[explanation.status, holds(instance, explanation)] += 1
            sizes += [len(explanation.stops)] if explanation.stops else []
            repaired += explanation.repair is not None
        said = ", ".join(
            f"{status} {'and proved' if sure else 'NOT PROVED'} {times}"
            for (status, sure), times in sorted(answers.items())
        )
        print(
            f"{name}: {said}; stops named {statistics.median(sizes or [0])} (median), "
            f"{max(sizes, default=0)} (most); repaired {repaired}; "
            f"seconds {statistics.median(seconds):.2f} (median), {max(seconds):.2f} (most)",
            flush=True,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
