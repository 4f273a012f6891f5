"""The rules a tour must keep, each with a sentence for where it is broken."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

import numpy as np

from fairway.judge.timetable import Row, Stop
from fairway.judge.verdict import Violation
from fairway.problems.instance import Instance


def not_a_tour(instance: Instance, stops: tuple[int, ...]) -> tuple[Violation, ...]:
    """The ways in which a sequence fails to visit every stop once, those that may be left out apart."""
    seen, nodes, end = Counter(stops), instance.nodes, instance.end
    names, violations = instance.names or (), []
    for node, times in seen.items():
        if node == 0:
            why = "the depot 0 is left out of a tour at both ends, and not visited in between"
            violations.append(Violation("unknown", node, float(times), why))
        elif not 0 < node < nodes:
            why = f"there is no stop {node}; stops are numbered 1 to {nodes - 1}"
            if str(node) in names:
                why += f", and {node} is the name of stop {names.index(str(node))}"
            violations.append(Violation("unknown", node, float(times), why))
        elif node == end:
            why = f"the tour ends at {label(instance, node)}, which is left out of it and not visited before"
            violations.append(Violation("unknown", node, float(times), why))
        elif times > 1:
            why = f"stop {label(instance, node)} is visited {times} times"
            violations.append(Violation("repeated", node, float(times - 1), why))
    for node in unserved(instance, stops):
        if math.isinf(instance.prize[node]):
            why = f"stop {label(instance, node)} is never visited"
            violations.append(Violation("missing", node, 1.0, why))
    return tuple(violations)


def unserved(instance: Instance, stops: tuple[int, ...]) -> tuple[int, ...]:
    """The stops that a tour leaves out."""
    visited = {0, *stops, instance.end}
    return tuple(node for node in range(instance.nodes) if node not in visited)


def label(instance: Instance, node: int) -> str:
    """A node by its number, and by its name where it has one."""
    return str(node) if instance.names is None else f"{node} ({instance.names[node]})"


def impossible_legs(instance: Instance, circuit: Sequence[int]) -> tuple[Violation, ...]:
    """Legs that nobody can travel."""
    nodes = np.array(circuit)
    legs = nodes[:-1], nodes[1:]
    if np.isfinite(instance.travel[legs]).all() and np.isfinite(instance.cost[legs]).all():
        return ()
    return tuple(
        Violation(
            "no way",
            there,
            1.0,
            f"there is no way from {label(instance, here)} to {label(instance, there)}",
        )
        for here, there in pairwise(circuit)
        if math.isinf(instance.travel[here, there]) or math.isinf(instance.cost[here, there])
    )


def wrong_order(instance: Instance, circuit: Sequence[int]) -> tuple[Violation, ...]:
    """Stops that come before, or without, another that they need."""
    place = {node: at for at, node in enumerate(circuit) if node != 0}
    found = [*_out_of_order(instance, place), *_torn_pairs(instance, place)]
    return tuple(found)


def _out_of_order(instance: Instance, place: dict[int, int]) -> Iterator[Violation]:
    for first, second in instance.before:
        if second in place and place.get(first, math.inf) > place[second]:
            one, other = label(instance, first), label(instance, second)
            how = "comes later" if first in place else "is left out"
            why = f"stop {other} may be visited only after stop {one}, which {how}"
            yield Violation("order", second, 1.0, why)


def _torn_pairs(instance: Instance, place: dict[int, int]) -> Iterator[Violation]:
    for pickup, delivery in instance.pairs:
        one, other = label(instance, pickup), label(instance, delivery)
        if (pickup in place) != (delivery in place):
            there, missing = (one, other) if pickup in place else (other, one)
            node = pickup if pickup in place else delivery
            why = f"stop {there} is visited and its partner {missing} is not; expected both or neither"
            yield Violation("pair", node, 1.0, why)
        elif pickup in place and place[pickup] > place[delivery]:
            why = f"the delivery at stop {other} comes before its pickup at stop {one}"
            yield Violation("pair", delivery, 1.0, why)


def lateness(
    instance: Instance, stops: Sequence[Stop], rows: Sequence[Row], allowance: float
) -> tuple[Violation, ...]:
    """Starts after the last moment that is permitted."""
    violations, told = [], instance.time_text
    for stop, row in zip(stops, rows, strict=True):
        node, closes = stop.node, stop.latest
        late = row.start - closes
        if late > allowance:
            soft = math.isfinite(stop.price)
            limit = "the last permitted start at" if soft else "its window closes at"
            starts, shut, by = told(row.start), told(closes), instance.duration_text(late)
            why = f"service at stop {label(instance, node)} starts at {starts}, {by} after {limit} {shut}"
            if node == 0:
                why = f"the tour is back at the depot at {starts}, {by} after it closes at {shut}"
            violations.append(Violation("late return" if node == 0 else "late", node, late, why))
    return tuple(violations)


def no_break(
    instance: Instance,
    rows: Sequence[Row],
    departure: float,
    breaks: Sequence[tuple[float, float, float]],
    allowance: float,
) -> tuple[Violation, ...]:
    """Those of the breaks that are due, of a tour in which they cannot be taken in time."""
    ends = rows[-1].departure if rows else departure
    return tuple(
        Violation(
            "break",
            0,
            ends - last,
            f"the break of {instance.duration_text(length)} that must start between {instance.time_text(first)} and "
            f"{instance.time_text(last)} cannot be taken between the stops of this tour",
        )
        for first, last, length in breaks
        if ends > last + allowance
    )


def loads(instance: Instance, nodes: Sequence[int]) -> list[float]:
    """The load at each stop: with its own cargo where it grows, on arrival where it shrinks, else on leaving."""
    demand = [float(instance.demand[node]) for node in nodes]
    if instance.load == "shrinking":
        return list(accumulate(reversed(demand)))[::-1]
    first = at_departure(instance, nodes)
    return list(accumulate(demand, initial=first))[1:] if first else list(accumulate(demand))


def at_departure(instance: Instance, nodes: Sequence[int]) -> float:
    """The load on leaving the depot for these stops."""
    if instance.load == "shrinking":
        return sum(float(instance.demand[node]) for node in nodes)
    if instance.load == "growing":
        return 0.0
    return instance.aboard + sum(float(instance.loaded[node]) for node in nodes)


def overloads(instance: Instance, nodes: Sequence[int], allowance: float) -> tuple[Violation, ...]:
    """Loads above a draft or the capacity, or below nothing."""
    if not instance.laden:
        return ()
    stops = [node for node in nodes if node != 0]
    violations = list(_overfilled(instance, stops, allowance))
    for node, load in zip(stops, loads(instance, stops), strict=True):
        if load - min(instance.draft[node], instance.capacity) > allowance:
            violations.append(_overload(instance, node, load))
        if instance.load == "signed" and -load > allowance:
            why = f"the load after stop {label(instance, node)} is {load:.8g}, below nothing"
            violations.append(Violation("empty", node, -load, why))
    return tuple(violations)


def _overfilled(instance: Instance, stops: Sequence[int], allowance: float) -> Iterator[Violation]:
    """More loaded for the stops than there is room for at the start."""
    first, capacity = at_departure(instance, stops), instance.capacity
    over = first - capacity
    if instance.load == "signed" and first - max(capacity, instance.aboard) > allowance:
        why = f"the load on leaving the depot is {first:.8g}, {over:.6g} over the capacity of {capacity:.8g}"
        yield Violation("capacity", 0, over, why)


def _overload(instance: Instance, node: int, load: float) -> Violation:
    draft, capacity = float(instance.draft[node]), instance.capacity
    if draft <= capacity:
        over = load - draft
        why = f"the load at port {label(instance, node)} is {load:.8g}, {over:.6g} over its draft of {draft:.8g}"
        return Violation("draft", node, over, why)
    over = load - capacity
    why = f"the load at stop {label(instance, node)} is {load:.8g}, {over:.6g} over the capacity of {capacity:.8g}"
    return Violation("capacity", node, over, why)
