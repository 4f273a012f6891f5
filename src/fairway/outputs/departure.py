"""How late a tour may leave without any difference to how it ends."""

import math

from fairway.judge import Solution
from fairway.judge.timetable import Course, courses, departures, stops_of
from fairway.problems.instance import Instance


def latest_departure(instance: Instance, solution: Solution) -> float:
    """The latest departure with which the same tour ends no later, and is late at no higher price."""
    end = () if instance.end is None else (instance.end,)
    stops = stops_of(instance, (0, *solution.tour, *end))
    if not stops:
        return solution.departure
    latest, price = solution.departure, _price(instance, solution)
    for first, last in departures(instance, free=True):
        low = max(first, solution.departure)
        options = courses(stops, instance.breaks, (low, last), 0.0) if low <= last else []
        unchanged = (_until(instance, option, solution.makespan, price) for option in options)
        latest = max([latest, *(each for each in unchanged if each is not None)])
    return latest


def _price(instance: Instance, solution: Solution) -> float:
    """Of all lateness, the return's included."""
    nodes, late = solution.schedule.node.tolist(), solution.schedule.late.tolist()
    prices = [float(instance.late[node]) for node in nodes]
    if instance.end == 0:
        nodes, prices = [*nodes, 0], [*prices, float(instance.late[0])]
        closes = max(close for _, close in instance.windows.get(0, ((0.0, instance.closes[0]),)))
        late.append(max(0.0, solution.makespan - float(closes)))
    return sum(p * each for p, each in zip(prices, late, strict=True) if each > 0 and p < math.inf)


def _until(instance: Instance, course: Course, makespan: float, price: float) -> float | None:
    """The latest departure of a course that keeps the end and the price, or None."""
    slack = 1e-9 * max(1.0, abs(makespan))
    due = [b[1] for number, b in enumerate(instance.breaks) if number not in course.taken]
    if course.at > makespan + slack:
        return None
    high = min([course.high, makespan - course.ahead, *(last - course.ahead for last in due)])
    marks = {high, course.low}
    for _, closes, ahead, at in course.late:
        marks |= {closes - ahead, at - ahead}
    allowed = price + 1e-9 * max(1.0, price)
    kept = [d for d in marks if course.low <= d <= high and course.lateness(d) <= allowed]
    return max(kept, default=None)
