"""What stands in the way of any tour and can be seen without a search, whatever is asked for: each in a sentence."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np

from fairway.judge import TOLERANCE
from fairway.problems.instance import Instance
from fairway.solver.explain.trivial import (
    Conflict,
    hull,
    increments,
    label,
    lateness_forgiven,
    listed,
    overload,
    quickest,
)


def required(instance: Instance) -> tuple[int, ...]:
    """The stops that every tour serves: those without a prize, the end, and all that these need."""
    before = (*instance.before, *instance.pairs)
    needs = {(second, first) for first, second in before} | set(instance.pairs)
    waiting = np.flatnonzero(np.isinf(instance.prize[1:])) + 1
    waiting = [*waiting.tolist(), *([instance.end] if instance.end else [])]
    served: set[int] = set()
    while waiting:
        node = waiting.pop()
        if node not in served:
            served.add(node)
            waiting += [needed for stop, needed in needs if stop == node]
    return tuple(sorted(served))


def obstacles(instance: Instance) -> Iterator[Conflict]:
    """All that can be seen in this way; no stop is in two of them."""
    named: set[int] = set()
    must = required(instance)
    for rule in (_hopeless_start, _order, _reach, _loads):
        for seen in rule(instance, must):
            found = with_needs(instance, seen)
            if not named & set(found.stops):
                named.update(found.stops)
                yield found
            if alone(instance, found):
                return


def alone(instance: Instance, conflict: Conflict) -> bool:
    """Whether a conflict has no stops but the end, so that it is in all others."""
    return set(conflict.stops) <= {instance.end}


def with_needs(instance: Instance, found: Conflict) -> Conflict:
    """The same with the stops for which others that could be left out are needed."""
    stops, why = set(found.stops), found.why
    needing = [(a, b) for a, b in (*instance.before, *instance.pairs)]
    needing += [(b, a) for a, b in instance.pairs]
    for stop in found.stops:
        came, waiting = {stop: stop}, [stop]
        for node in waiting:
            if node == instance.end or np.isinf(instance.prize[node]):
                if node not in stops:
                    why += (
                        f"; stop {label(instance, stop)} is needed for stop {label(instance, node)}"
                    )
                stops.update(_back(came, node))
                break
            new = [other for needed, other in needing if needed == node and other not in came]
            came.update(dict.fromkeys(new, node))
            waiting += new
    return Conflict(tuple(sorted(stops)), why)


def _back(came: dict[int, int], node: int) -> list[int]:
    """From a node back to where a walk began, given from where each was come to."""
    trail = [node]
    while came[trail[-1]] != trail[-1]:
        trail.append(came[trail[-1]])
    return trail


def _hopeless_start(instance: Instance, _must: tuple[int, ...]) -> Iterator[Conflict]:
    """What no tour keeps, not even one without stops."""
    opens, last = hull(instance)
    told = instance.time_text
    leaves, forgiven = float(opens[0] + instance.service[0]), lateness_forgiven(instance)
    for first, latest, length in instance.breaks:
        if latest + forgiven < leaves:
            why = (
                f"the break of {instance.duration_text(length)} that must start between {told(first)} and "
                f"{told(latest)} cannot be taken: the tour leaves at {told(leaves)}"
            )
            yield Conflict((), why)
    if instance.end == 0 and leaves > last[0] + forgiven:
        yield Conflict(
            (),
            f"the depot closes at {told(last[0])}, before the tour leaves at {told(leaves)}",
        )


def _order(instance: Instance, must: tuple[int, ...]) -> Iterator[Conflict]:
    """Stops that would have to come before themselves, or after the end."""
    for first, second in (*instance.before, *instance.pairs):
        if instance.end and first == instance.end and second in must:
            one, other = label(instance, first), label(instance, second)
            why = f"stop {other} must come after stop {one}, where the tour ends"
            yield Conflict((second,), why)
    for circle in _circles(instance, must):
        steps = [
            f"{label(instance, node)} before {label(instance, after)}" for node, after in circle
        ]
        nodes = tuple(sorted(node for node, _ in circle))
        why = f"the order of stops {listed(instance, nodes)} is a circle: {', '.join(steps)}"
        yield Conflict(nodes, why)


def _circles(instance: Instance, must: tuple[int, ...]) -> Iterator[list[tuple[int, int]]]:
    """Shortest circles of the order, as pairs, that share no stop; the shortest through each stop is looked at."""
    followers = {node: set() for node in must}
    for first, second in (*instance.before, *instance.pairs):
        if first in followers and second in followers:
            followers[first].add(second)
    for start in must:
        came, waiting = {start: start}, [start]
        for node in waiting:
            closed = start in followers[node]
            new = [] if closed else sorted(followers[node] - came.keys())
            came.update(dict.fromkeys(new, node))
            waiting += new
            if closed:
                trail = _back(came, node)
                circle = [*pairwise(trail[::-1]), (node, start)]
                for stop in trail:
                    followers[stop] = set()
                yield circle
                break


def _reach(instance: Instance, must: tuple[int, ...]) -> Iterator[Conflict]:
    """Stops that are not reached in time, or from which the end is not."""
    (opens, last), forgiven = hull(instance), lateness_forgiven(instance)
    ways, end, told = increments(instance), instance.end or 0, instance.time_text
    there, back = quickest(ways, 0, end)
    back = quickest(ways, end, end)[1] if end else back
    if instance.end is None:
        back = np.zeros(instance.nodes)
    arrival = opens[0] + there
    start = np.maximum(arrival, opens)
    home = "the depot" if end == 0 else f"stop {label(instance, end)}, where the tour ends,"
    for stop in sorted(must, key=lambda stop: stop != instance.end):
        name = label(instance, stop) + ", where the tour ends," * (stop == instance.end)
        limit = "closes at" if np.isinf(instance.late[stop]) else "may be served until"
        why = ""
        if np.isinf(there[stop]):
            why = f"there is no way from the depot to stop {name}, nor by way of other stops"
        elif arrival[stop] > last[stop] + forgiven:
            why = f"stop {name} {limit} {told(last[stop])} but cannot be reached before {told(arrival[stop])}"
        elif opens[stop] > last[stop] + forgiven:
            why = f"stop {name} may be served until {told(last[stop])} but opens at {told(opens[stop])}"
        elif np.isinf(back[stop]):
            why = f"there is no way from stop {name} to {home} nor by way of other stops"
        elif instance.end is not None and start[stop] + back[stop] > last[end] + forgiven:
            why = (
                f"{home} closes at {told(last[end])} but cannot be reached before {told(start[stop] + back[stop])} "
                f"from stop {name}, where service starts at {told(start[stop])} at the earliest"
            )
        if why:
            yield Conflict((stop,), why)


def _loads(instance: Instance, must: tuple[int, ...]) -> Iterator[Conflict]:
    """Cargo that is too much for a draft or the capacity, one stop's or that of several together."""
    if not instance.laden:
        return iter(())
    forgiven = 0.0 if instance.whole_loads else TOLERANCE * (1 + 1e-6)
    rules = _signed_loads if instance.load == "signed" else _overloads
    return rules(instance, must, forgiven)


def _overloads(instance: Instance, must: tuple[int, ...], forgiven: float) -> Iterator[Conflict]:
    """Stops whose cargo together is more than any of them, or the vehicle, bears: the fewest, then of the rest."""
    capacity, ports = instance.capacity, np.array(must, np.int64)
    limited = replace(instance, draft=np.minimum(instance.draft, capacity))
    while ports.size and (found := overload(limited, ports, forgiven)) is not None:
        stops = list(found.stops)
        if (instance.draft[stops] > capacity).any():
            who = "stop" if len(stops) == 1 else "stops"
            have, all_of_it = ("has", "") if len(stops) == 1 else ("have", " together")
            why = (
                f"{who} {listed(instance, found.stops)} {have} {instance.demand[stops].sum():.8g} of cargo{all_of_it}, "
                f"more than the capacity of {capacity:.8g}"
            )
            found = Conflict(found.stops, why)
        yield found
        ports = np.setdiff1d(ports, stops)


def _signed_loads(instance: Instance, must: tuple[int, ...], forgiven: float) -> Iterator[Conflict]:
    """Stops that put on board, or take off, more than there may be; and what is left on board at the end."""
    room = np.minimum(instance.draft, instance.capacity)
    most = max(instance.capacity, instance.aboard)
    for stop in must:
        cargo, name = float(instance.demand[stop]), label(instance, stop)
        if cargo > room[stop] + forgiven:
            what = "its draft" if instance.draft[stop] <= instance.capacity else "the capacity"
            why = f"stop {name} puts {cargo:.8g} on board, more than {what} of {room[stop]:.8g}"
            yield Conflict((stop,), why)
        elif -cargo > most + forgiven:
            why = f"stop {name} takes {-cargo:.8g} off board, where there are never more than {most:.8g}"
            yield Conflict((stop,), why)
    yield from _loaded(instance, must, forgiven)
    yield from _left_on_board(instance, must, forgiven)


def _loaded(instance: Instance, must: tuple[int, ...], forgiven: float) -> Iterator[Conflict]:
    """Stops for which more is loaded at the depot than there is room for."""
    loaded, room = instance.loaded, max(instance.capacity - instance.aboard, 0.0)
    stops = tuple(stop for stop in must if loaded[stop])
    if loaded[list(stops)].sum() > room + forgiven + 1e-9 * loaded.sum() * bool(forgiven):
        who = f"stop{'s' * (len(stops) > 1)} {listed(instance, stops)}"
        why = f"{loaded[list(stops)].sum():.8g} are loaded for {who}, where there is room for {room:.8g}"
        yield Conflict(stops, why)


def _left_on_board(
    instance: Instance, must: tuple[int, ...], forgiven: float
) -> Iterator[Conflict]:
    """Where all stops together take off more than is put on, or leave more than the capacity."""
    demand = instance.demand + instance.loaded
    optional = np.setdiff1d(np.arange(1, instance.nodes), must)
    total = instance.aboard + demand[list(must)].sum()
    most = total + np.maximum(demand[optional], 0).sum()
    least = total + np.minimum(demand[optional], 0).sum()
    moved = tuple(stop for stop in must if demand[stop])
    slack = forgiven + 1e-9 * np.abs(demand).sum() * (not instance.whole_loads)
    if not moved:
        return
    who = f"with stop{'s' * (len(moved) > 1)} {listed(instance, moved)}"
    if most < -slack:
        why = f"{who} more is taken off than put on board: the load at the end is {most:.8g}, below nothing"
        yield Conflict(moved, why)
    if least > instance.capacity + slack:
        why = f"{who} the load at the end is {least:.8g}, more than the capacity of {instance.capacity:.8g}"
        yield Conflict(moved, why)
