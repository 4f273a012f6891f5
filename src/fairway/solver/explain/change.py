"""The smallest change of a single number that lets an instance with any constraints have a tour."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from fairway import clock
from fairway.judge import TOLERANCE, Solution, verify
from fairway.problems.instance import Instance
from fairway.solver.explain.feasibility import Decision, decide, share
from fairway.solver.explain.limits import spots_of
from fairway.solver.explain.narrowing import Named
from fairway.solver.explain.numbers import (
    LOADS,
    OF_BREAKS,
    Spot,
    changed,
    reaches,
    scale_of,
    value_of,
)
from fairway.solver.explain.relaxation import FINEST, Repair, with_another
from fairway.solver.explain.trivial import subset

LONGEST_PROOF, PART = 1.0, 0.2
"""Seconds that a single question may take, and of the time that is left the part."""
STEPS = 48
"""In which a number is changed that may ease one limit and tighten another."""
DIGITS = 6
"""Decimals of a number that is proposed, where the judge agrees."""


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """Some stops of an instance, or all, as an instance of their own."""

    instance: Instance
    place: dict[int, int]

    def shifted(self, spot: Spot, change: float) -> Instance:
        """With one number changed by so much."""
        here = self.here(spot)
        return changed(self.instance, here, value_of(self.instance, here) + change)

    def here(self, spot: Spot) -> Spot:
        """The same number in the stage."""
        return spot if spot.number in OF_BREAKS else replace(spot, at=self.place.get(spot.at, 0))

    def decided(self, spot: Spot, change: float, until: float) -> Decision:
        """Whether there is a tour then."""
        end = min(until, clock.now() + LONGEST_PROOF, share(PART, until))
        return decide(self.shifted(spot, change), end)


def stage_of(instance: Instance, stops: Collection[int] | None = None) -> Stage:
    """The stage of some stops, or of the whole instance."""
    if stops is None:
        return Stage(instance, {node: node for node in range(instance.nodes)})
    ends = [instance.end] if instance.end else []
    nodes = [0, *(stop for stop in stops if stop != instance.end), *ends]
    small = subset(instance, nodes[1 : len(nodes) - len(ends)]) if len(nodes) > 1 else instance
    assert small is not None, "there is no end to the time"
    return Stage(small, {node: at for at, node in enumerate(nodes)})


def least_repair(
    instance: Instance,
    named: Named,
    until: float,
    among: Sequence[int] | None = None,
    spots: Collection[Spot] | None = None,
) -> Repair | None:
    """The smallest change of one number that takes part in a conflict with which there is a tour.

    Changes of times and of loads are compared as parts of all the time and of all the cargo that there is.

    Args:
        instance: What is asked for.
        named: The conflict; no change of another number could end it.
        until: When to end, by `clock.now`.
        among: The stops to be served; all by default.
        spots: The numbers that may change; all that take part by default.
    """
    part = stage_of(instance, named.conflict.stops) if named.conflict.stops else stage_of(instance)
    whole, best, sure = stage_of(instance, among), None, True
    for spot in spots_of(instance, named.limits) if spots is None else spots:
        scale = scale_of(instance, spot)
        for far in reaches(instance, spot):
            most = far - value_of(instance, spot)
            if best is not None:
                most = math.copysign(min(abs(most), best[0] * scale), most)
            most = float(math.trunc(most)) if _whole(instance, spot) else most
            search = _stepped if spot.number == "aboard" else _least
            found, proved = search(part, whole, spot, most, until)
            sure = sure and proved
            if found is not None and (best is None or abs(found[0]) / scale < best[0]):
                best = abs(found[0]) / scale, spot, *found
    if best is None:
        return None
    _, spot, change, solution = best
    before = value_of(instance, spot)
    repairs = [
        Repair(spot.at, spot.number, before, after, solution, sure, spot.window)
        for after in (round(before + change, DIGITS), before + change)
    ]
    if among is not None:
        return replace(repairs[0], solution=None)
    for repair in repairs:
        judged = verify(repair.applied(instance), solution.tour)
        if isinstance(judged, Solution):
            return replace(repair, solution=judged)
    return None


def least_repairs(
    instance: Instance, conflicts: Sequence[Named], until: float
) -> list[Repair | None]:
    """A repair for each of several conflicts: the smallest with which its stops fit among those that fit already.

    A single change that ends them all is given for each.
    """
    first, *others = (spots_of(instance, each.limits) for each in conflicts)
    common = [spot for spot in first if all(spot in other for other in others)]
    shared = least_repair(instance, conflicts[0], share(0.4, until), spots=common)
    if shared is not None:
        return [shared] * len(conflicts)
    named = {stop for each in conflicts for stop in each.conflict.stops}
    fitting = [stop for stop in range(1, instance.nodes) if stop not in named]
    mended, repairs = instance, []
    for number, each in enumerate(conflicts):
        end = share(0.8 / (len(conflicts) - number), until)
        among = sorted((*fitting, *each.conflict.stops))
        repair = least_repair(mended, each, share(0.6, end), among)
        if repair is None:
            repair = least_repair(mended, each, end, each.conflict.stops)
        else:
            fitting = among
        mended = mended if repair is None else repair.applied(mended)
        repairs = with_another(repairs, repair)
    solution = decide(mended, until).solution if None not in repairs else None
    return [repair and replace(repair, solution=solution) for repair in repairs]


def _least(
    part: Stage, whole: Stage, spot: Spot, most: float, until: float
) -> tuple[tuple[float, Solution] | None, bool]:
    """The least change up to `most` with which the whole has a tour, and that tour; whether all this is proved.

    What a conflict needs by itself, which is soon known, is where the search begins.
    """
    finest = _finest(whole.instance, spot, most)
    if clock.now() > until:
        return None, False
    if abs(most) < finest:
        return None, True
    low, proved = _needed_by(part, spot, most, finest, until)
    if low is None:
        return None, proved
    for change in dict.fromkeys((low, most)):
        found = whole.decided(spot, change, until)
        if found.solution is not None:
            break
    if found.solution is None:
        return None, found.impossible
    high, solution = _tightened(whole, spot, change, found.solution), found.solution
    below = True
    while abs(high) > abs(low) + 1.5 * finest:
        if clock.now() > until:
            return (high, solution), False
        middle = high - math.copysign(finest, high) if below else _between(low, high, finest)
        found, below = whole.decided(spot, middle, until), not below
        if found.solution is None:
            low, proved = middle, proved and found.impossible
        else:
            high, solution = _tightened(whole, spot, middle, found.solution), found.solution
    return (high, solution), proved


def _stepped(
    part: Stage, whole: Stage, spot: Spot, most: float, until: float
) -> tuple[tuple[float, Solution] | None, bool]:
    """The same of a number of which more may not do where less does, step by step."""
    finest = _finest(whole.instance, spot, most)
    step = max(finest, abs(most) / STEPS)
    step = float(math.ceil(step)) if finest == 1.0 else step
    proved = step == finest == 1.0
    for count in range(1, int(abs(most) / step) + 1):
        if clock.now() > until:
            return None, False
        change = math.copysign(count * step, most)
        found = part.decided(spot, change, until)
        if found.solution is not None:
            found = whole.decided(spot, change, until)
        if found.solution is not None:
            return (_tightened(whole, spot, change, found.solution), found.solution), proved
        proved = proved and found.impossible
    return None, proved


def _needed_by(
    part: Stage, spot: Spot, most: float, finest: float, until: float
) -> tuple[float | None, bool]:
    """The least change with which some stops alone have a tour, if any, and whether that is proved."""
    found = part.decided(spot, most, until)
    if found.solution is None:
        return None, found.impossible
    low, high, proved = 0.0, _tightened(part, spot, most, found.solution), True
    below = True
    while abs(high - low) > 1.01 * finest and clock.now() < until:
        # Just below what a tour needs is mostly nothing; else the middle keeps the number of questions small.
        middle = high - math.copysign(finest, high) if below else _between(low, high, finest)
        found, below = part.decided(spot, middle, until), not below
        if found.solution is None:
            low, proved = middle, proved and found.impossible
        else:
            high = _tightened(part, spot, middle, found.solution)
    return high, proved and clock.now() < until


def _tightened(stage: Stage, spot: Spot, change: float, solution: Solution) -> float:
    """No larger a change than the tour needs, as the judge has it."""
    before = value_of(stage.instance, stage.here(spot))
    for stated in _stated(solution, stage.here(spot)):
        needed = stated - before
        if 0 < needed <= change and _kept(stage, spot, needed, solution):
            return needed
    finest = _finest(stage.instance, spot, change)
    low, high = 0.0, change
    while abs(high - low) > 1.01 * finest:
        middle = _between(low, high, finest)
        low, high = (low, middle) if _kept(stage, spot, middle, solution) else (middle, high)
    return high


def _stated(solution: Solution, spot: Spot) -> list[float]:
    """What the tour's schedule says that it needs of a number, where it does."""
    schedule = solution.schedule
    if spot.number == "capacity":
        return [float(schedule.load.max())] if len(schedule) else []
    if spot.number in ("closes", "latest", "draft"):
        column = schedule.load if spot.number == "draft" else schedule.start
        if spot.at == 0:
            return [solution.makespan]
        return column[schedule.node == spot.at].tolist()
    return []


def _kept(stage: Stage, spot: Spot, change: float, solution: Solution) -> bool:
    """Whether the judge accepts the tour after a change."""
    return isinstance(verify(stage.shifted(spot, change), solution.tour, 0.0), Solution)


def _between(low: float, high: float, finest: float) -> float:
    """The middle, whole where changes are and a whole number lies between."""
    middle = (low + high) / 2
    whole = float(math.trunc(middle))
    return whole if finest == 1.0 and whole not in (low, high) else middle


def _whole(instance: Instance, spot: Spot) -> bool:
    return instance.whole_loads if spot.number in LOADS else instance.whole_times


def _finest(instance: Instance, spot: Spot, most: float) -> float:
    """The difference between two changes that is not looked into."""
    return 1.0 if _whole(instance, spot) else max(FINEST * abs(most), 10 * TOLERANCE)
