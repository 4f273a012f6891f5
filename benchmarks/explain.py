"""Explanations of 200 instances of which one window was shrunk: what is answered, whether it holds, how long it takes.

python -m benchmarks.explain [COUNT]

With --deadlines, whether explanations keep their seconds with four busy processes beside them: 0.1, 1 and 5 s, 50 to
2,000 nodes, instances of every hardness that have a tour, that have one conflict, and that have two.

python -m benchmarks.explain --deadlines [COUNT]

With --general, so many instances without a tour through each kind of constraint (`benchmarks/broken.py`): whether the
named stops alone are infeasible, as all their orders show; whether the words name what was broken; what would help.

python -m benchmarks.explain --general [COUNT] [KIND ...]
"""

import statistics
import sys
import time
from collections import Counter
from dataclasses import replace
from itertools import cycle, islice, product

import numpy as np

import fairway
from benchmarks.broken import KINDS as BROKEN
from benchmarks.broken import candidates
from benchmarks.deadlines import allowed, beside, spent
from fairway.judge import Solution
from fairway.search.exact import prove
from fairway.search.general import Wanted, enumerate_tours
from fairway.solver.explain.feasibility import decide
from fairway.solver.explain.trivial import subset

KINDS = [("tsptw", hardness) for hardness in ("easy", "medium", "hard")]
KINDS += [("tspdl", hardness) for hardness in ("medium", "hard")]
NODES, SECONDS, BUSY = (50, 100, 200, 500, 1_000, 2_000), (0.1, 1.0, 5.0), 4
MOST_ORDERED = 11
"""Nodes of which all orders are gone through."""
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


def deadlines(count):
    """So many runs of each budget, over all sizes, kinds and numbers of conflicts in turn."""
    rng = np.random.default_rng(0)
    for kind, hardness in KINDS:
        fairway.explain(fairway.generate(kind, n=20, hardness=hardness, seed=1)[0], 0.1)
    with beside(BUSY):
        for seconds in SECONDS:
            sizes = [nodes for nodes in NODES if nodes < 2_000 or seconds >= 1]
            late, worst, answers = 0, (0.0,), Counter()
            cases = islice(cycle(product((0, 1, 2), KINDS, sizes)), count)
            for number, (conflicts, (kind, hardness), nodes) in enumerate(cases):
                drawn = fairway.generate(kind, n=nodes, hardness=hardness, seed=number)[0]
                instance = broken(drawn, conflicts, rng) if conflicts else drawn
                said = f"{kind}, {hardness}, {nodes} nodes, {conflicts} conflicts, {seconds:g} s"
                over = -seconds + spent(
                    said,
                    seconds,
                    lambda: answers.update([fairway.explain(instance, seconds).status]),  # noqa: B023
                )
                late += over > allowed(seconds)
                worst = max(worst, (over, said))
            print(
                f"{seconds} s: {count} runs, {late} late, the worst by {worst}; {dict(answers)}",
                flush=True,
            )


def reproved(instance, stops):
    """Whether these stops alone, and what is asked of them, have no tour, as going through all their orders shows."""
    ends = [instance.end] if instance.end else []
    nodes = [0, *(stop for stop in stops if stop not in ends), *ends]
    if len(nodes) == 1:
        return not isinstance(fairway.verify(replace(instance, prize=0.0), ()), Solution)
    small = instance.restricted(nodes)
    if len(nodes) > MOST_ORDERED:
        return decide(small, time.monotonic() + 60).impossible
    found = enumerate_tours(small, Wanted(seconds=60))
    return found.complete and found.tour is None


def checked(instance, kind, said):
    """What is to be counted of an explanation."""
    yield said.status
    if said.status != "infeasible":
        return
    right = all(reproved(instance, conflict.stops) for conflict in said.conflicts)
    yield "re-proved" if said.conflicts and right else "NOT RE-PROVED"
    yield "named" if any(word in said.why for word in kind.words) else "not named"
    yield from ["several"] * (len(said.conflicts) > 1)
    found = said.repair or next((each for each in said.repairs if each and each.solution), None)
    if found is None:
        return
    mended = instance
    for repair in (said.repair,) if said.repair else said.repairs:
        mended = repair.applied(mended)
    accepted = isinstance(fairway.verify(mended, found.solution.tour), Solution)
    yield "repaired" if accepted else "NOT REPAIRED"
    yield from ["smallest"] * all(
        each.smallest for each in (said.repair and [said.repair]) or said.repairs
    )


def general(count):
    """So many instances of each kind, and what is said of them."""
    asked = [kind for kind in BROKEN if kind in sys.argv] or list(BROKEN)
    for name in asked:
        rng, kind = np.random.default_rng(len(name)), BROKEN[name]
        counts, seconds, sizes, number = Counter(), [], [], 0
        for instance in candidates(kind, rng):
            if decide(instance, time.monotonic() + 0.5).solution is not None:
                continue
            began = time.perf_counter()
            said = fairway.explain(instance, seconds=5)
            seconds.append(time.perf_counter() - began)
            counts.update(checked(instance, kind, said))
            sizes += [len(conflict.stops) for conflict in said.conflicts]
            if number == 0:
                print(f"  {said.why}\n  {said.advice}")
            number += 1
            if number == count:
                break
        told = ", ".join(f"{what} {times}" for what, times in counts.items())
        print(
            f"{name}: {told}; stops {statistics.median(sizes or [0])} (median), {max(sizes, default=0)} (most); "
            f"seconds {statistics.median(seconds):.2f} (median), {max(seconds):.2f} (most)",
            flush=True,
        )


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
    verbs = {"--deadlines": deadlines, "--general": general}
    verb = next((verbs[word] for word in sys.argv if word in verbs), main)
    verb(next((int(word) for word in sys.argv[1:] if word.isdigit()), 200))
