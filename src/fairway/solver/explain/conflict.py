"""The stops that cannot be served together, as few as can be found, and all such sets that share no stop."""

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np
from jaxtyping import Bool

from fairway import clock
from fairway.judge import Rejection, verify
from fairway.problems.instance import Instance
from fairway.solver.explain.feasibility import decide, share
from fairway.solver.explain.relaxation import LONGEST_PROOF, repair_of
from fairway.solver.explain.trivial import (
    Conflict,
    Vector,
    hull,
    increments,
    label,
    lateness_forgiven,
    listed,
    obstacles,
    overload,
    quickest,
    subset,
)

MOST_ORDERED = 5
"""Stops of which every order is looked at; what more of them miss is searched for."""
NARROWING, FURTHER = 0.7, 0.3
"""Of the time that is left, what may go into narrowing down a set, and into the question whether there is another."""


def plain_conflicts(instance: Instance, until: float) -> Iterator[Conflict]:
    """Single stops, two stops or ports that are to blame, the smallest sets there are; no stop is in two of them."""
    singles = []
    for found in obstacles(instance):
        singles += found.stops
        yield found
        if clock.now() > until:
            return
    if instance.timed:
        for pair in colliding_pairs(instance, singles, until):
            yield Conflict(pair, missed_window(instance, pair, until))


def conflicts_of(instance: Instance, plain: Sequence[Conflict], until: float) -> list[Conflict]:
    """The plain conflicts of an instance that is known to have no tour, and those that a search finds besides.

    Stops of a set are left out one after the other as long as it can still be proved that the others collide; every set
    is proved to have no tour by itself.
    """
    found, stops = list(plain), _others(instance, plain)
    while not found or _impossible(instance, stops, share(FURTHER, until)):
        found.append(_narrowed_down(instance, stops, share(NARROWING, until)))
        stops = _others(instance, found)
    return found


def plain_reason(instance: Instance, until: float = math.inf) -> str:
    """Why there is no tour, in a sentence that is found by then by `clock.now`."""
    if instance.laden:
        passed = overload(instance, forgiven=0.0)
        assert passed is not None, "where every draft is kept in their order, there is a tour"
        return passed.why
    pair = next(colliding_pairs(instance, until=until), None)
    if pair is not None:
        return missed_window(instance, pair, until)
    return "a search over all orders found none that keeps every window; explain says which stops collide"


def colliding_pairs(
    instance: Instance, apart_from: Sequence[int] = (), until: float = math.inf
) -> Iterator[tuple[int, int]]:
    """Two stops of which neither can come first; no stop is in two pairs, nor is one of those given."""
    ways, end = increments(instance), instance.end or 0
    opens, last = hull(instance)
    limit = last + lateness_forgiven(instance)
    there, back = quickest(ways, 0, end)
    back = quickest(ways, end, end)[1] if end else back
    start = np.maximum(opens[0] + there, opens)
    with np.errstate(invalid="ignore"):  # where there is no end to the time and no way to it
        latest = limit if instance.end is None else np.minimum(limit, limit[end] - back)
    free = np.arange(instance.nodes) > 0
    free[[end, *apart_from]] = False
    ordered = np.zeros((instance.nodes, instance.nodes), dtype=bool)
    for pair in (*instance.before, *instance.pairs):
        ordered[pair] = True

    def collides(one: int, after: Vector, before: Vector) -> Bool[np.ndarray, " N"]:
        """With which others it does, given the times from it and to it."""
        first = np.maximum(start[one] + after, opens) <= latest
        second = np.maximum(start + before, opens[one]) <= latest[one]
        first &= (start[one] <= limit[one]) & ~ordered[:, one]
        second &= (start <= limit) & ~ordered[one]
        return free & ~first & ~second

    for one in range(1, instance.nodes - 1):
        free[one], here = False, free[one]
        if clock.now() > until:
            return
        # Ways round are never longer: who does not collide straight away never does.
        if here and collides(one, ways[0][one], ways[1][one]).any():
            others = np.flatnonzero(collides(one, *quickest(ways, one, end)))
            if others.size:
                free[others[0]] = False
                yield one, int(others[0])


def _impossible(instance: Instance, stops: Sequence[int], until: float) -> bool:
    """Whether it is proved in time that these stops cannot be served together."""
    end = min(until, clock.now() + LONGEST_PROOF)
    small = subset(instance, stops, end) if len(stops) and clock.now() < end else None
    return small is not None and decide(small, end).impossible


def _narrowed_down(instance: Instance, stops: Sequence[int], until: float) -> Conflict:
    """The smallest set found among stops that cannot be served together."""
    if instance.laden:
        # Where drafts are passed by so little that only a search could tell.
        passed = overload(instance, np.array(stops), forgiven=0.0)
        if passed is not None and _impossible(instance, passed.stops, until):
            return passed
        return Conflict(tuple(stops), "a search over all orders found none that keeps every limit")
    early = sorted(stops, key=lambda stop: instance.closes[stop])
    # What is left when early stops are left out first, and when late ones are.
    sets = [_narrowed(instance, order, until) for order in (early, early[::-1])]
    fewest = tuple(sorted(min(sets, key=len)))
    return Conflict(fewest, missed_window(instance, fewest, until))


def _narrowed(instance: Instance, stops: list[int], until: float) -> list[int]:
    """What is left when nothing more can be left out: first halves, then quarters, at last single stops."""
    size = len(stops) // 2
    while size > 0:
        at = 0
        while at < len(stops) and clock.now() < until:
            fewer = stops[:at] + stops[at + size :]
            if _impossible(instance, fewer, until):
                stops = fewer
            else:
                at += size
        size //= 2
    return stops


def _others(instance: Instance, conflicts: Sequence[Conflict]) -> list[int]:
    """The stops that are in none of them."""
    named = {stop for conflict in conflicts for stop in conflict.stops}
    return [stop for stop in range(1, instance.nodes) if stop not in named]


def missed_window(instance: Instance, stops: tuple[int, ...], until: float) -> str:
    """The window that is missed by least where all others of these stops are kept."""
    few = len(stops) <= MOST_ORDERED
    small = subset(instance, stops, math.inf if few else until)
    who = f"stops {listed(instance, stops, 'the depot')}"
    missed = None if small is None else (_of_all_orders(small) if few else _searched(small, until))
    if missed is None:
        why = ": in whichever order, more than one window is missed" if few else ""
        return f"{who} cannot be served together{why}"
    node = (0, *stops)[missed[0]]
    name = label(instance, node) if node else "the depot"
    return (
        f"{who}: {name} closes at {instance.time_text(instance.closes[node])} but cannot be reached before "
        f"{instance.time_text(missed[1])} if the others are to be in time"
    )


def _of_all_orders(small: Instance) -> tuple[int, float] | None:
    """Of the nodes that alone may be late, the one that is late by least, and when it is reached."""
    orders = itertools.permutations(range(1, small.nodes))
    broken = [
        verdict.violations
        for verdict in (verify(small, order) for order in orders)
        if isinstance(verdict, Rejection)
    ]
    single = [violations[0] for violations in broken if len(violations) == 1]
    if not single:
        return None
    least = min(single, key=lambda violation: violation.amount)
    return least.node, float(small.closes[least.node]) + least.amount


def _searched(small: Instance, until: float) -> tuple[int, float] | None:
    """The same, as far as it can be found out in the time."""
    repair = repair_of(small, range(1, small.nodes), until, ("closes",))
    return None if repair is None else (repair.node, repair.after)
