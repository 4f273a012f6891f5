"""Explanations of 200 instances of which one window was shrunk: what is answered, whether it holds, how long it takes.

python -m benchmarks.explain [COUNT]

With --deadlines, whether explanations keep their seconds with four busy processes beside them: 0.1, 1 and 5 s, 50 to
2,000 nodes, instances of every hardness that have a tour, that have one conflict, and that have two.

python -m benchmarks.explain --deadlines [COUNT]
"""

import statistics
import sys
import time
from collections import Counter
from dataclasses import replace
from itertools import cycle, islice, product
from multiprocessing import get_context

import numpy as np

import fairway
from fairway.judge import Solution
from fairway.search.exact import prove
from fairway.solver.explain.trivial import subset

KINDS = [("tsptw", hardness) for hardness in ("easy", "medium", "hard")]
KINDS += [("tspdl", hardness) for hardness in ("medium", "hard")]
NODES, SECONDS, BUSY = (50, 100, 200, 500, 1_000, 2_000), (0.1, 1.0, 5.0), 4
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


def broken(instance, conflicts, rng):
    """With so many conflicts: two stops of which neither can come first, or ports too shallow for their own cargo."""
    pairs = 1 + rng.permutation(instance.nodes - 1)[: 2 * conflicts].reshape(conflicts, 2)
    if instance.problem == "tspdl":
        draft = instance.draft.copy()
        draft[pairs[:, 0]] = 0.5 * instance.demand[pairs[:, 0]]
        return replace(instance, draft=draft)
    opens, closes = instance.opens.copy(), instance.closes.copy()
    for pair in pairs:
        start = max(instance.travel[0, stop] for stop in pair) + 1
        opens[pair], closes[pair] = start, start + 0.5 * instance.travel[pair[0], pair[1]]
    return replace(instance, opens=opens, closes=closes)


def spin():
    """Keep a core busy."""
    while True:
        pass


def deadlines(count):
    """So many runs of each budget, over all sizes, kinds and numbers of conflicts in turn."""
    rng, fork = np.random.default_rng(0), get_context("spawn")
    for kind, hardness in KINDS:
        fairway.explain(fairway.generate(kind, n=20, hardness=hardness, seed=1)[0], 0.1)
    busy = [fork.Process(target=spin, daemon=True) for _ in range(BUSY)]
    for process in busy:
        process.start()
    for seconds in SECONDS:
        sizes = [nodes for nodes in NODES if nodes < 2_000 or seconds >= 1]
        late, worst, answers = 0, (0.0,), Counter()
        cases = islice(cycle(product((0, 1, 2), KINDS, sizes)), count)
        for number, (conflicts, (kind, hardness), nodes) in enumerate(cases):
            drawn = fairway.generate(kind, n=nodes, hardness=hardness, seed=number)[0]
            instance = broken(drawn, conflicts, rng) if conflicts else drawn
            began = time.perf_counter()
            answers[fairway.explain(instance, seconds).status] += 1
            over = time.perf_counter() - began - seconds
            late += over > max(0.2, 0.1 * seconds)
            worst = max(worst, (over, kind, hardness, nodes, conflicts))
        print(
            f"{seconds} s: {count} runs, {late} late, the worst by {worst}; {dict(answers)}",
            flush=True,
        )
    for process in busy:
        process.terminate()


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
    asked = deadlines if "--deadlines" in sys.argv else main
    asked(next((int(word) for word in sys.argv[1:] if word.isdigit()), 200))
