"""The judge: an instance and a tour give a Solution, or a Rejection that lists all that is wrong.

Plain float64 arithmetic over the instance's own numbers. It shares no code with anything that
proposes tours; the import contracts in pyproject.toml keep it so.
"""

import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from fairway.errors import InvalidRequest, InvalidTour
from fairway.given import is_real, is_word_of, listed, shown
from fairway.judge import rules
from fairway.judge.timetable import (
    Row,
    Stop,
    best_departure,
    courses,
    departures,
    loosened,
    stops_of,
    walked,
)
from fairway.judge.verdict import Rejection as Rejection
from fairway.judge.verdict import Rule as Rule
from fairway.judge.verdict import Schedule as Schedule
from fairway.judge.verdict import Solution as Solution
from fairway.judge.verdict import Violation as Violation
from fairway.judge.verdict import Visit as Visit
from fairway.problems.instance import TOLERANCE, Instance

OBJECTIVES = ("cost", "travel", "makespan", "duration")
WITHIN = 0.999
"""Of the tolerance that a chosen departure may use up; the rest is for rounding."""


def verify(
    instance: Instance,
    tour: Sequence[Any] | np.ndarray,
    tolerance: float | None = None,
    *,
    objective: str = "cost",
) -> Solution | Rejection:
    """Judge a tour: the stops that are visited, in order, without the start and without the end.

    Args:
        instance: The instance the tour claims to solve.
        tour: Node numbers, in the direction of the instance.
        tolerance: By how much a limit may be passed; by default `TOLERANCE`, or zero where the numbers are whole.
        objective: What the value is to be: "cost", "makespan" or "duration". For the duration the tour leaves as late
            as is best, else as the depot opens.
    """
    if not isinstance(instance, Instance):
        raise InvalidRequest("the judge takes one instance at a time; index a set to get one")
    if not is_word_of(objective, OBJECTIVES):
        raise InvalidRequest(
            f"the objective is {shown(objective)}; expected cost, makespan or duration"
        )
    stops = _node_numbers(tour)
    for_time, for_load = _allowances(instance, tolerance)
    if wrong := rules.not_a_tour(instance, stops):
        return Rejection(stops, wrong)
    circuit = (0, *stops) if instance.end is None else (0, *stops, instance.end)
    if wrong := rules.impossible_legs(instance, circuit):
        return Rejection(stops, (*rules.wrong_order(instance, circuit), *wrong))
    nodes = np.array(circuit)
    cost = _total(instance.cost[nodes[:-1], nodes[1:]].tolist())
    visits = stops_of(instance, circuit)
    departure, rows, refused = _timetable(instance, visits, objective, for_time)
    makespan = rows[-1].departure if rows else departure
    schedule = _schedule(instance, circuit[1 : len(rows) + 1], rows)
    violations = (
        *rules.wrong_order(instance, circuit),
        *rules.lateness(instance, visits, rows, for_time),
        *refused,
        *rules.overloads(instance, circuit[1:], for_load),
    )
    if violations:
        return Rejection(stops, violations, cost, makespan, schedule, departure=departure)
    left_out = rules.unserved(instance, stops)
    duration = makespan - departure
    base = {"makespan": makespan, "duration": duration}.get(objective, cost)
    late = [row.late for row in rows]
    prices = _prices(instance, left_out, visits, late)
    return Solution(
        stops,
        cost,
        makespan,
        schedule,
        value=_total([base, *prices]),
        duration=duration,
        departure=departure,
        lateness=_total(late),
        unserved=left_out,
    )


def _prices(
    instance: Instance, left_out: Sequence[int], visits: Sequence[Stop], late: Sequence[float]
) -> list[float]:
    """What is paid for stops that are left out, and for lateness."""
    prices = [float(instance.prize[node]) for node in left_out]
    prices += [
        visit.price * each
        for visit, each in zip(visits, late, strict=True)
        if each > 0 and math.isfinite(visit.price)
    ]
    return prices


def _node_numbers(tour: Sequence[Any] | np.ndarray) -> tuple[int, ...]:
    to_list = getattr(tour, "tolist", None)  # arrays and tensors
    values = listed(tour if to_list is None else to_list())
    if values is None:
        raise InvalidTour("a tour is a sequence of node numbers; this is not a sequence")
    if set(map(type, values)) == {int}:
        return tuple(values)
    for position, value in enumerate(values):
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            raise InvalidTour(
                f"position {position} of the tour is {shown(value)}; expected a whole node number"
            )
    return tuple(map(int, values))


def _allowances(instance: Instance, tolerance: float | None) -> tuple[float, float]:
    """How late, and by how much too heavy, a tour may be."""
    if tolerance is None:
        return (
            0.0 if instance.whole_times else TOLERANCE,
            0.0 if instance.whole_loads else TOLERANCE,
        )
    if not is_real(tolerance) or not 0 <= tolerance <= sys.float_info.max:
        raise InvalidRequest(
            f"the tolerance is {shown(tolerance)}; expected a finite number, zero or more"
        )
    return tolerance, tolerance


def _total(legs: list[float]) -> float:
    total = 0.0
    for leg in legs:
        total += leg
    return total


def _timetable(
    instance: Instance, stops: Sequence[Stop], objective: str, allowance: float
) -> tuple[float, Sequence[Row], tuple[Violation, ...]]:
    """The best departure, the best timetable that leaves then, and what is wrong with its breaks."""
    first = departures(instance, free=False)[0][0]
    breaks, free = instance.breaks, objective == "duration"
    if not breaks and not free:
        return first, walked(stops, first, allowance), ()
    if free:
        first = _departure(instance, stops, _within(instance, stops, allowance))
    options = courses(stops, breaks, (first, first), allowance)
    if not options:
        return first, *_refused(instance, stops, first, allowance)
    timely = objective in ("makespan", "duration")
    best = min(
        options,
        key=lambda o: (o.lateness(first) + timely * o.ready(first), o.ready(first)),
    )
    return first, best.rows, ()


def _refused(
    instance: Instance, stops: Sequence[Stop], first: float, allowance: float
) -> tuple[Sequence[Row], tuple[Violation, ...]]:
    """The least late timetable that has every break, or one without breaks, and which of them cannot be taken."""
    loose, breaks, leaving = loosened(stops), instance.breaks, (first, first)
    if options := courses(loose, breaks, leaving, allowance):
        rows = min(options, key=lambda o: (o.lateness(first), o.ready(first))).rows
        if any(row.start - stop.latest > allowance for stop, row in zip(stops, rows, strict=True)):
            return rows, ()
    rows = walked(stops, first, allowance)
    alone = [rest for rest in breaks if not courses(loose, [rest], leaving, allowance)]
    return rows, rules.no_break(instance, rows, first, alone or breaks, allowance)


def _within(instance: Instance, stops: Sequence[Stop], allowance: float) -> float:
    """What a chosen departure may use of the allowance: the rest is for rounding, more of it where times are large."""
    if not allowance:
        return 0.0
    spans = [
        *departures(instance, free=True),
        *(window for stop in stops for window in stop.windows),
        *(rest[:2] for rest in instance.breaks),
    ]
    largest = max(
        (abs(time) for span in spans for time in span if math.isfinite(time)), default=0.0
    )
    sums = 2 * len(stops) + len(instance.breaks)
    return allowance * WITHIN - sums * math.ulp(largest)


def _departure(instance: Instance, stops: Sequence[Stop], allowance: float) -> float:
    """The latest of the departures with the least duration and lateness; the first one where none is in time."""
    breaks, spans = instance.breaks, departures(instance, free=True)
    options = [each for span in spans for each in courses(stops, breaks, span, allowance)]
    known = (best_departure(option, breaks, min(allowance, 0.0)) for option in options)
    found = [each for each in known if each is not None]
    if not found:
        return spans[0][0]
    least = min(value for value, _ in found)
    slack = 1e-12 * max(abs(least), 1.0)
    return max(departure for value, departure in found if value <= least + slack)


def _schedule(instance: Instance, nodes: Sequence[int], rows: Sequence[Row]) -> Schedule:
    """The stops as columns; the return is none of them."""
    shown = [(node, row) for node, row in zip(nodes, rows, strict=True) if node != 0]
    node = np.array([each for each, _ in shown], np.int64)
    columns = np.array([(r.arrival, r.start, r.departure, r.late) for _, r in shown]).reshape(-1, 4)
    arrival, start, departure, late = columns.T
    load = np.array(rules.loads(instance, node.tolist()))
    return Schedule(
        node, arrival, start - arrival, start, departure, load, instance.draft[node], late
    )
