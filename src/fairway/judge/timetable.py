"""When a tour is where: the best timetable of a given order of stops.

The order leaves two things open, where and when to take breaks and, where the duration counts, when to leave. Along a
tour every time is max(D + a, b) for a departure D: waiting sets b, and all else adds to both. A `Course` is a beginning
of the tour with such a pair, for all departures of an interval. It branches where a break may be taken, and where
several windows split the interval.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from fairway.problems.instance import Instance

Span = tuple[float, float]
FORBIDDEN = 1e6
"""The price of lateness that is not permitted, where the least late timetable is looked for."""


class Row(NamedTuple):
    """One stop: when it is reached, served and left, and how late that is."""

    arrival: float
    start: float
    departure: float
    late: float
    """By how much the start is after the last closing."""


@dataclass(frozen=True, slots=True)
class Course:
    """A beginning of the tour, for all departures from `low` to `high`."""

    low: float
    high: float
    ahead: float
    """The tour is ready to go on at max(D + ahead, at)."""
    at: float
    free: float = -math.inf
    """When the last break since then ends, for no departure before: the same, as `ahead`."""
    free_at: float = -math.inf
    taken: frozenset[int] = frozenset()
    late: tuple[tuple[float, float, float, float], ...] = ()
    """Of each stop with a price of lateness: the price, the closing, and its start as a pair."""
    rows: tuple[Row, ...] = ()
    """Where the departure is fixed."""
    open: bool = False
    """Whether `low` itself belongs to another course, which is no later then."""

    def lateness(self, departure: float) -> float:
        """The price of all that is late."""
        return sum(
            price * (max(departure + ahead, at) - closes)
            for price, closes, ahead, at in self.late
            if max(departure + ahead, at) > closes
        )

    def ready(self, departure: float) -> float:
        """When the tour goes on."""
        return max(departure + self.ahead, self.at)


class Stop(NamedTuple):
    """What the time at one stop must keep."""

    node: int
    travel: float
    """From the stop before."""
    service: float
    windows: tuple[Span, ...]
    price: float
    """Of a unit of lateness; infinite where there must be none."""
    latest: float
    """The last permitted start."""


def stops_of(instance: Instance, circuit: Sequence[int]) -> list[Stop]:
    """The stops of a tour from the first to the end, the return among them; the circuit begins with the depot."""
    here, there = np.array(circuit[:-1], np.int64), np.array(circuit[1:], np.int64)
    columns = (instance.service, instance.opens, instance.closes, instance.late, instance.latest)
    rows = zip(
        circuit[1:],
        instance.travel[here, there].tolist(),
        *(column[there].tolist() for column in columns),
        strict=True,
    )
    return [
        _stop(node, travel, service, instance.windows.get(node, ((opens, closes),)), (late, latest))
        for node, travel, service, opens, closes, late, latest in rows
    ]


def _stop(
    node: int, travel: float, service: float, windows: tuple[Span, ...], lateness: Span
) -> Stop:
    closes, (late, latest) = windows[-1][1], lateness
    last = latest if late < math.inf else closes
    if node == 0:  # nobody waits for the depot to open
        return Stop(node, travel, 0.0, ((-math.inf, closes),), late, last)
    return Stop(node, travel, service, windows, late, last)


def windows_of(instance: Instance, node: int) -> tuple[Span, ...]:
    """The windows of a node, one or several."""
    single = ((float(instance.opens[node]), float(instance.closes[node])),)
    return instance.windows.get(node, single)


def departures(instance: Instance, free: bool) -> list[Span]:
    """When the tour may leave: as the depot opens and has been served, or whenever it is open."""
    served = float(instance.service[0])
    windows = windows_of(instance, 0)
    if not free:
        return [(windows[0][0] + served,) * 2]
    return [(first + served, last + served) for first, last in windows]


def walked(stops: Sequence[Stop], departure: float, allowance: float) -> list[Row]:
    """The one timetable of a tour without breaks; it goes on even where it is late."""
    rows, now = [], departure
    for stop in stops:
        start = arrival = now + stop.travel
        for first, last in stop.windows:
            if arrival <= last + allowance:
                start = max(arrival, first)
                break
        now = start + stop.service
        rows.append(Row(arrival, start, now, max(start - stop.windows[-1][1], 0.0)))
    return rows


def loosened(stops: Sequence[Stop]) -> list[Stop]:
    """The same stops, at which any lateness is permitted, at a price."""
    return [stop._replace(price=min(stop.price, FORBIDDEN), latest=math.inf) for stop in stops]


def courses(
    stops: Sequence[Stop],
    breaks: Sequence[tuple[float, float, float]],
    leaving: Span,
    allowance: float,
) -> list[Course]:
    """All timetables worth comparing that keep every limit, for the departures of an interval."""
    low, high = leaving
    # A fixed departure is part of `at`, so that times are added up leg by leg as they are stated.
    begun = Course(low, high, -math.inf, low) if low == high else Course(low, high, 0.0, -math.inf)
    alive = [begun]
    for stop in stops:
        resting, newest = list(alive), alive
        while newest:  # with one break more before this stop, in any order
            orders: dict[frozenset[int], list[Course]] = {}
            for rested in (each for c in newest for each in _rests(c, breaks, allowance)):
                orders.setdefault(rested.taken, []).append(rested)
            newest = [each for alike in orders.values() for each in _worthwhile(alike)]
            resting += newest
        alive = _worthwhile([s for c in resting for s in _served(c, stop, allowance)])
    return [course for course in alive if _all_taken(course, breaks, allowance)]


def _rests(
    course: Course, breaks: Sequence[tuple[float, float, float]], allowance: float
) -> Iterator[Course]:
    """The course with one of the breaks that are not yet taken; of equal ones, with the first."""
    tried = set()
    for number, (first, last, length) in enumerate(breaks):
        if number in course.taken or breaks[number] in tried:
            continue
        tried.add(breaks[number])
        # It begins as soon as it may: in the same place later is never better.
        ahead = max(course.ahead, course.free)
        at = max(course.at, course.free_at, first)
        high = min(course.high, last + allowance - ahead)
        if at <= last + allowance and course.low <= high:
            yield replace(
                course,
                high=high,
                ahead=course.ahead + length,
                at=course.at + length,
                free=ahead + length,
                free_at=at + length,
                taken=course.taken | {number},
            )


def _served(course: Course, stop: Stop, allowance: float) -> Iterator[Course]:
    """The course after a stop, in each of the windows in which its service may start."""
    ahead = max(course.ahead + stop.travel, course.free)
    at = max(course.at + stop.travel, course.free_at)
    low = course.low
    for first, last in stop.windows:
        end = stop.latest if last == stop.windows[-1][1] else min(last, stop.latest)
        if at > end + allowance:
            continue
        high = min(course.high, end + allowance - ahead)
        if low <= high and first <= stop.latest + allowance:
            start = (ahead, max(at, first))
            split = course.open or low > course.low
            part = replace(course, low=low, high=high, open=split)
            yield _after(part, stop, (ahead, at), start)
        low = max(low, math.nextafter(end + allowance - ahead, math.inf))
        if low > course.high:
            return


def _after(course: Course, stop: Stop, arrival: Span, start: Span) -> Course:
    """The course once the stop has been served."""
    late, rows = course.late, course.rows
    closes = stop.windows[-1][1]
    if math.isfinite(stop.price):
        late = (*late, (stop.price, closes, *start))
    if course.low == course.high and course.ahead == -math.inf:
        row = Row(arrival[1], start[1], start[1] + stop.service, max(start[1] - closes, 0.0))
        rows = (*rows, row)
    return Course(
        course.low,
        course.high,
        start[0] + stop.service,
        start[1] + stop.service,
        taken=course.taken,
        late=late,
        rows=rows,
        open=course.open,
    )


def _worthwhile(alive: list[Course]) -> list[Course]:
    """Without those that are later than another with the same breaks, for no other departures, and no cheaper."""
    kept: list[Course] = []
    for course in sorted(alive, key=lambda c: (c.at, c.ahead, -len(c.taken))):
        if not any(_dominates(other, course) for other in kept):
            kept.append(course)
    return kept


def _dominates(one: Course, other: Course) -> bool:
    sooner = one.ahead <= other.ahead and one.at <= other.at
    sooner = sooner and one.free <= other.free and one.free_at <= other.free_at
    wider = one.low <= other.low and one.high >= other.high
    if not (sooner and wider and one.taken >= other.taken):
        return False
    if one.low == one.high:
        return one.lateness(one.low) <= other.lateness(other.low)
    return all(max(late[3], one.high + late[2]) <= late[1] for late in one.late)


def _all_taken(
    course: Course, breaks: Sequence[tuple[float, float, float]], allowance: float
) -> bool:
    """Whether no break is due any more; one is not due where the tour ends by its latest start."""
    due = [last for number, (_, last, _) in enumerate(breaks) if number not in course.taken]
    if not due:
        return True
    return max(course.low + course.ahead, course.at) <= min(due) + allowance


def best_departure(
    course: Course, breaks: Sequence[tuple[float, float, float]], allowance: float
) -> tuple[float, float] | None:
    """The least duration and price of lateness, and its departure, of equal ones the latest; None if there is none.

    Both are linear between the departures at which a wait ends or a lateness begins, so that one of those is best.
    Where there is no end to equally good ones, the first of them.
    """
    due = [last for number, (_, last, _) in enumerate(breaks) if number not in course.taken]
    high = min([course.high, *(last + allowance - course.ahead for last in due)])
    candidates = {course.at - course.ahead} | (set() if course.open else {course.low})
    for _, closes, ahead, at in course.late:
        candidates |= {closes - ahead, at - ahead}
    if math.isfinite(high):
        candidates.add(high)
    within = [each for each in candidates if course.low <= each <= high and each < math.inf]

    def value(departure: float) -> float:
        return course.ready(departure) - departure + course.lateness(departure)

    if not within:
        return None
    least = min(map(value, within))
    slack = 1e-12 * max(abs(least), 1.0)
    return least, max(each for each in within if value(each) <= least + slack)
