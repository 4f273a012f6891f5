"""The smallest change of a single window, or of a single draft, that makes a tour possible."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

import numpy as np

from fairway import clock
from fairway.judge import TOLERANCE, Solution, verify
from fairway.problems.instance import Instance
from fairway.solver.explain.feasibility import decide, share
from fairway.solver.explain.numbers import Number, Spot, changed, condition
from fairway.solver.explain.trivial import subset

Window = Literal["opens", "closes"]
FINEST = 1e-9
"""To which part of the largest change one that is not whole is narrowed down."""
LONGEST_PROOF, STATED = 2.0, 1e-7
"""Seconds that a single question may take, and that it takes to state one on a busy machine, for each pair of nodes."""
PARTS = 4
"""Conflicts among which the time that is left is divided: advice on some of many is better than none on any."""


@dataclass(frozen=True, slots=True, eq=False)
class Repair:
    """One limit of one node, changed just so far that there is a tour."""

    node: int
    """The stop, or the number of the break."""
    limit: Number
    before: float
    after: float
    solution: Solution | None
    """A tour of the repaired instance, as the judge has it; where there are several conflicts, of the one with all of
    their repairs, or None where those were not found to be enough."""
    smallest: bool
    """Whether it is proved that no smaller change of a single limit would do."""
    window: int = 0
    """Which of several windows of the stop."""

    @property
    def change(self) -> float:
        """By how much the limit gives way."""
        return abs(self.after - self.before)

    @property
    def spot(self) -> Spot:
        """The number that changes."""
        return Spot(self.limit, self.node, self.window)

    def applied(self, instance: Instance) -> Instance:
        """The repaired instance."""
        return changed(instance, self.spot, self.after)

    def words(self, instance: Instance) -> str:
        """The repair as a condition."""
        return condition(
            instance, Spot(self.limit, self.node, self.window), self.before, self.after
        )


def repair_of(
    instance: Instance,
    stops: Iterable[int],
    until: float,
    limits: Sequence[Window] = ("closes", "opens"),
) -> Repair | None:
    """The smallest change of one limit of these stops, or of the depot's window, that repairs the whole instance.

    The stops must be ones that cannot be served together: then no change elsewhere could help.
    """
    if instance.laden:
        return _deeper(instance, stops, until)
    best, complete = None, True
    whole = instance.integral
    for limit, node in product(limits, (*stops, 0)):
        if _too_late(instance, until):
            complete = False
            break
        most = _furthest(instance, node, limit) if best is None else best.change
        found, sure = _least_shift(instance, node, limit, most, until, whole=whole)
        best, complete = found or best, complete and sure
    return None if best is None else replace(best, smallest=complete)


def repairs_of(
    instance: Instance, conflicts: Sequence[Sequence[int]], until: float
) -> list[Repair | None]:
    """A repair for each of several sets of stops that cannot be served together and have no stop in common.

    Each is the smallest with which its stops fit among all others that fit already; where there is none, or no time to
    look for it, the smallest with which they fit at least by themselves. A single repair of the depot's window may do
    for all: then it is given for each.
    """
    shared = repair_of(instance, (), share(1 / min(len(conflicts) + 1, PARTS), until))
    if shared is not None:
        return [shared] * len(conflicts)
    fitting = sorted(set(range(1, instance.nodes)).difference(*conflicts))
    mended, repairs, tour = instance, [], None
    for number, stops in enumerate(conflicts):
        end = share(1 / min(len(conflicts) - number, PARTS), until)
        among = sorted((*fitting, *stops))
        repair = _repair_among(mended, among, stops, share(0.5, end))
        if repair is None:
            repair = _repair_among(mended, sorted(stops), stops, end)
            repair = repair and replace(repair, solution=None)
        else:
            assert repair.solution is not None, "a repair is found by a tour"
            fitting, tour = among, [among[stop - 1] for stop in repair.solution.tour]
        mended = mended if repair is None else repair.applied(mended)
        repairs = with_another(repairs, repair)
    judged = verify(mended, tour) if tour is not None and len(tour) == instance.nodes - 1 else None
    solution = judged if isinstance(judged, Solution) else None
    return [repair and replace(repair, solution=solution) for repair in repairs]


def with_another(repairs: list[Repair | None], new: Repair | None) -> list[Repair | None]:
    """One repair more; a limit that was changed before is changed once, as far as both need it."""
    same = [new is not None and old is not None and old.spot == new.spot for old in repairs]
    if new is not None and any(same):
        first = repairs[same.index(True)]
        assert first is not None, "what is the same is a repair"
        new = replace(new, before=first.before, smallest=new.smallest and first.smallest)
    return [new if like else old for old, like in zip(repairs, same, strict=True)] + [new]


def _repair_among(
    instance: Instance, among: list[int], stops: Iterable[int], until: float
) -> Repair | None:
    """The smallest repair of these stops where only some of all stops are to be served."""
    part = None if _too_late(instance, until) else subset(instance, among, until)
    if part is None:
        return None
    repair = repair_of(part, [1 + among.index(stop) for stop in stops], until)
    return repair and replace(repair, node=(0, *among)[repair.node])


def _too_late(instance: Instance, until: float) -> bool:
    """Whether there is no time left to state another question."""
    return clock.now() + STATED * instance.nodes**2 > until


def _least_shift(
    instance: Instance, node: int, limit: Window, most: float, until: float, *, whole: bool
) -> tuple[Repair | None, bool]:
    """The least change below `most` of a limit that repairs, if any, and whether all this is proved."""
    finest = 1.0 if whole else max(FINEST * most, 10 * TOLERANCE)
    low, high, best, sure = 0.0, most, None, True
    change = high - finest
    while change > low:
        found, proved = _shifted(instance, node, limit, change, until)
        if found is not None:
            best, high = found, min(found.change, change)
        else:
            low, sure = change, sure and proved
        if best is None or high - low <= finest:
            break
        if _too_late(instance, until):
            return best, False
        change = (low + high) // 2 if whole else (low + high) / 2
    return best, sure


def _shifted(
    instance: Instance, node: int, limit: Window, change: float, until: float
) -> tuple[Repair | None, bool]:
    """What a tour found under so large a change really needs; else whether it is proved that there is none."""
    before = float(getattr(instance, limit)[node])
    after = before + change if limit == "closes" else before - change
    shifted = changed(instance, Spot(limit, node), after)
    decision = decide(shifted, min(until, clock.now() + LONGEST_PROOF))
    if decision.solution is None:
        return None, decision.impossible
    repair = Repair(node, limit, before, after, decision.solution, smallest=False)
    return _judged(instance, repair, decision.solution), True


def _judged(instance: Instance, repair: Repair, solution: Solution) -> Repair:
    """The repair with no larger a change than its tour needs, where the judge agrees."""
    if repair.limit == "opens":
        needed = _latest_start(instance, repair.node, solution)
    elif repair.node == 0:
        needed = solution.makespan
    else:
        needed = float(solution.schedule.start[solution.tour.index(repair.node)])
    tighter = replace(repair, after=needed)
    judged = verify(tighter.applied(instance), solution.tour)
    accepted = isinstance(judged, Solution) and tighter.change <= repair.change
    return replace(tighter, solution=judged) if accepted else repair


def _latest_start(instance: Instance, node: int, solution: Solution) -> float:
    """When service may start at the node at the latest for the rest of the tour to be in time."""
    latest, following = float(instance.closes[0]), 0
    for stop in (*solution.tour[::-1], 0):
        latest -= float(instance.service[stop] + instance.travel[stop, following])
        if stop == node:
            return latest
        latest, following = min(latest, float(instance.closes[stop])), stop
    raise AssertionError("a tour calls at every node")


def _furthest(instance: Instance, node: int, limit: Window) -> float:
    """A change with which the limit cannot bind any more."""
    longest = (instance.travel.max() + instance.service.max()) * instance.nodes
    if limit == "closes":
        return float(instance.opens.max() + longest - min(instance.opens[0], 0.0)) + 2
    if node == 0:
        return float(longest + np.ptp(instance.opens)) + 2
    return float(instance.opens[node] - instance.opens[0]) + 2


def _deeper(instance: Instance, ports: Iterable[int], until: float) -> Repair | None:
    """The port whose draft has to grow least: it is called at as early as the others allow."""
    drafts = {port: draft for port in ports if (draft := _draft_needed(instance, port)) is not None}
    if not drafts or clock.now() > until:
        return None
    port = min(drafts, key=lambda port: drafts[port] - instance.draft[port])
    before = float(instance.draft[port])
    repaired = changed(instance, Spot("draft", port), drafts[port])
    found = decide(repaired, until).solution
    return None if found is None else Repair(port, "draft", before, drafts[port], found, True)


def _draft_needed(instance: Instance, port: int) -> float | None:
    """The draft with which a port fits among the others in the order of their drafts; None where those do not fit."""
    others = np.delete(np.arange(1, instance.nodes), port - 1)
    others = others[np.argsort(instance.draft[others], kind="stable")]
    load = np.append(0.0, np.cumsum(instance.demand[others]))
    spare = instance.draft[others] - load[1:]
    if (spare < 0).any():
        return None
    # It may come before all those that can bear its cargo as well, as long as all after them can.
    cargo = float(instance.demand[port])
    tight = np.flatnonzero(spare < cargo)
    place = int(tight[-1]) + 1 if tight.size else 0
    return float(load[place]) + cargo
