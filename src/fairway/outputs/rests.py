"""Where on a tour its breaks are taken: the judge's schedule has them as part of the way to a stop."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

Break = tuple[float, float, float]
"""Earliest start, latest start, length."""
SLACK = 1e-11
"""How much two sums of the same times may differ, as a share of them."""


class Leg(NamedTuple):
    """The way to a stop: when the tour leaves for it, how long it drives, and when it is there, breaks included."""

    leaves: float
    travel: float
    arrival: float


class Rest(NamedTuple):
    """One break: which, when the tour is ready for it, when it begins and ends, and how much of the leg is driven."""

    number: int
    ready: float
    start: float
    end: float
    driven: float


def rests_on(legs: Sequence[Leg], breaks: Sequence[Break]) -> list[list[Rest]]:
    """The breaks on each leg, in order; those that are not due are on none."""
    found = _placed(legs, breaks, frozenset())
    assert found is not None, "the arrivals of a schedule are explained by its breaks"
    return found


def _placed(
    legs: Sequence[Leg], breaks: Sequence[Break], taken: frozenset[int]
) -> list[list[Rest]] | None:
    """The first assignment by which every leg ends when it does, or None."""
    quick = next((at for at, leg in enumerate(legs) if not _on_time(leg, leg.arrival)), len(legs))
    free: list[list[Rest]] = [[] for _ in legs[:quick]]
    if quick == len(legs):
        return free
    leg, later = legs[quick], legs[quick + 1 :]
    for rests in _sequences(leg, breaks, taken):
        rest = _placed(later, breaks, taken | {each.number for each in rests})
        if rest is not None:
            return [*free, rests, *rest]
    return None


def _sequences(
    leg: Leg, breaks: Sequence[Break], taken: frozenset[int], rests: tuple[Rest, ...] = ()
) -> Iterator[list[Rest]]:
    """All orders of breaks after which the leg ends when it does."""
    now = rests[-1].end if rests else leg.leaves
    driven = rests[-1].driven if rests else 0.0
    if rests and _near(now + leg.travel - driven, leg.arrival):
        yield list(rests)
        return
    for number, (first, last, length) in enumerate(breaks):
        start = max(now, first)
        if number in taken or start + length > leg.arrival + _slack(leg.arrival):
            continue
        if start > last + 1e-6:
            continue
        ahead = min(leg.travel - driven, start - now)
        rest = Rest(number, now + ahead, start, start + length, driven + ahead)
        yield from _sequences(leg, breaks, taken | {number}, (*rests, rest))


def _on_time(leg: Leg, arrival: float) -> bool:
    """Whether the leg takes no longer than its travel."""
    return _near(leg.leaves + leg.travel, arrival)


def _near(one: float, other: float) -> bool:
    return abs(one - other) <= _slack(other)


def _slack(value: float) -> float:
    return SLACK * max(abs(value), 1.0)
