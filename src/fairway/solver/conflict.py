"""The stops that cannot be served together, as few as can be found."""

import math
import time
from collections.abc import Sequence

import numpy as np

from fairway.problems.instance import Instance
from fairway.problems.tspdl import TSPDL
from fairway.problems.tsptw import TSPTW
from fairway.solver.decision import decide
from fairway.solver.obstacles import Conflict, lateness_forgiven, obstacle, overload
from fairway.solver.subset import quickest, subset
from fairway.solver.wording import missed_window

LONGEST_PROOF = 2.0
"""Seconds that one step of narrowing down may take."""
PAIR_SECONDS = 5e-9
"""What a colliding pair, and words for it, take on a busy machine, times the cube of the nodes."""


def conflict_of(instance: Instance, until: float) -> Conflict:
    """A smallest-found set of stops of an instance that is known to have no tour; the set has none by itself.

    Where a single stop, or two, or the ports' drafts are to blame, the set is the smallest there is. Else stops are
    left out one after the other as long as it can still be proved that the others collide.
    """
    plain = obstacle(instance)
    if plain is not None:
        return plain
    if isinstance(instance, TSPDL):
        return _by_a_hair(instance)
    stops = colliding_pair(instance) or _smallest_found(instance, until)
    return Conflict(stops, missed_window(instance, stops, until))


def plain_reason(instance: Instance, until: float = math.inf) -> str:
    """Why there is no tour, in a sentence that is found by then on the monotonic clock."""
    if isinstance(instance, TSPDL):
        return _by_a_hair(instance).why
    in_time = time.monotonic() + PAIR_SECONDS * instance.nodes**3 <= until
    pair = colliding_pair(instance) if in_time else None
    if pair is not None:
        return missed_window(instance, pair, until)
    return "a search over all orders found none that keeps every window; explain says which stops collide"


def _by_a_hair(instance: TSPDL) -> Conflict:
    """The ports to blame where drafts are passed by so little that only a search could tell."""
    passed = overload(instance, forgiven=0.0)
    assert passed is not None, "where every draft is kept in their order, there is a tour"
    return passed


def impossible(instance: Instance, stops: Sequence[int], seconds: float) -> bool:
    """Whether it is proved, in so many seconds, that these stops cannot be served together."""
    return decide(subset(instance, stops), time.monotonic() + seconds).impossible


def colliding_pair(instance: TSPTW) -> tuple[int, ...] | None:
    """Two stops of which neither can come first."""
    lead = quickest(instance, range(1, instance.nodes))
    forgiven = lateness_forgiven(instance)
    limit = instance.closes + forgiven
    start = np.maximum(instance.opens[0] + lead[0], instance.opens)
    second = np.maximum(start[:, None] + lead, instance.opens)
    in_time = (start <= limit)[:, None] & (second <= limit)
    in_time &= second + lead[:, 0] <= limit[0]
    apart = np.triu(~(in_time | in_time.T), 1)[1:, 1:]
    if not apart.any():
        return None
    one, other = np.argwhere(apart)[0] + 1
    return int(one), int(other)


def _smallest_found(instance: TSPTW, until: float) -> tuple[int, ...]:
    """The smaller of what is left when early stops are left out first, and when late ones are."""
    early = [1 + int(stop) for stop in np.argsort(instance.closes[1:], kind="stable")]
    sets = [_narrowed(instance, stops, until) for stops in (early, early[::-1])]
    return tuple(sorted(min(sets, key=len)))


def _narrowed(instance: TSPTW, stops: list[int], until: float) -> list[int]:
    """What is left when nothing more can be left out: first halves, then quarters, at last single stops."""
    size = len(stops) // 2
    while size > 0:
        at = 0
        while at < len(stops):
            fewer = stops[:at] + stops[at + size :]
            left = min(until - time.monotonic(), LONGEST_PROOF)
            if fewer and left > 0 and impossible(instance, fewer, left):
                stops = fewer
            else:
                at += size
        size //= 2
    return stops
