"""An instance as policies can read it: a classic problem that has all its tours, and side constraints that it has not.

The classic problem is a relaxation. Its windows reach from the first opening of a stop to its last permitted start, and
are narrowed by the order of stops; where there are no such limits, its drafts are those of the instance, lowered by the
order. Every stop is visited, those that may be left out too. Breaks, costs and prices are for the judge and the search.
"""

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from jaxtyping import Bool, Float

from fairway.problems.checks import LARGEST
from fairway.problems.instance import Instance, Vector


@dataclass(frozen=True, slots=True, eq=False)
class SideConstraints:
    """What a tour must keep besides the classic problem, in its direction; neutral values where nothing is asked."""

    after: Bool[np.ndarray, "N N"]
    """Whether the row may be visited only after the column, also by way of others."""
    ways: Bool[np.ndarray, "N N"]
    """Whether there is a way from row to column."""
    gaps: Float[np.ndarray, "N G 2"]
    """Between the windows of a stop: no service starts after the first number and before the second."""
    demand: Vector
    low: Vector
    """The least demand of all stops visited before each."""
    high: Vector
    due: Vector
    """The most demand of all stops visited up to each, its own included, where demands are not negative."""


@dataclass(frozen=True, slots=True, eq=False)
class ClassicView:
    """A classic instance, and what else its tours must keep; None where that is nothing."""

    instance: Instance
    side: SideConstraints | None = None
    end: int | None = 0
    """The node at which a tour ends; visited last, and left out of what is listed."""


def nearest_problem(instance: Instance) -> str | None:
    """The classic problem as which an instance can be read; None where neither times are limited nor a one-way load."""
    if instance.classic:
        return instance.problem
    if np.isfinite(_last_starts(instance)[0 if instance.end == 0 else 1 :]).any():
        return "tsptw"
    limited = np.isfinite(_room(instance)[1:]).any()
    return "tspdl" if limited and instance.load != "signed" else None


def classic_view(instance: Instance) -> ClassicView:
    """The classic problem that is nearest to an instance, with its side constraints."""
    if instance.classic:
        return ClassicView(instance)
    problem = nearest_problem(instance)
    assert problem is not None, "there is such a problem"
    after = _order(instance)
    ways = np.isfinite(instance.travel) & np.isfinite(instance.cost)
    ways[:, 0] |= instance.end != 0
    if problem == "tsptw":
        side = _beside_windows(instance, after, ways)
        return ClassicView(_windows_alone(instance, after), _if_any(side), instance.end)
    backwards = instance.load == "shrinking"
    if backwards:
        after, ways = after.T, ways.T
    side = SideConstraints(after, ways, np.zeros((instance.nodes, 0, 2)), **_no_load(instance))
    return ClassicView(_drafts_alone(instance, after), _if_any(side), instance.end)


def _if_any(side: SideConstraints) -> SideConstraints | None:
    limits = np.isfinite([-side.low, side.high, side.due])
    asked = side.after.any() or not side.ways.all() or side.gaps.size or limits.any()
    return side if asked else None


def _windows_alone(instance: Instance, after: Bool[np.ndarray, "N N"]) -> Instance:
    """One window per stop, within which the order leaves time for all that comes before and after."""
    travel = _filled(instance)
    legs = instance.service[:, None] + travel
    opens = np.array([_spans(instance, node)[0][0] for node in range(instance.nodes)])
    closes = _last_starts(instance)
    finite = [values[np.isfinite(values)].max(initial=0.0) for values in (opens, closes)]
    ceiling = min(max(finite) + legs.max(axis=1).sum(), LARGEST / 2)
    home = closes[0] if instance.end == 0 else math.inf
    closes = np.minimum(closes, min(home, ceiling))
    closes[0] = min(home, 2 * ceiling)
    if after.any():
        shortest = legs if instance.is_euclidean else _closed(legs)
        opens = np.maximum(opens, np.where(after, opens + shortest.T, -np.inf).max(axis=1))
        closes = np.minimum(closes, np.where(after.T, closes - shortest, np.inf).min(axis=1))
    return Instance(
        travel,
        service=instance.service,
        opens=np.minimum(opens, LARGEST),
        closes=np.clip(closes, opens, LARGEST),  # where they cross, no tour visits all stops
        coordinates=instance.coordinates,
        name=instance.name,
    )


def _drafts_alone(instance: Instance, after: Bool[np.ndarray, "N N"]) -> Instance:
    """Drafts within which the order leaves room for all that comes after."""
    due = np.minimum(_due(instance, after), instance.demand.sum())
    return Instance(
        _filled(instance),
        demand=instance.demand,
        draft=np.maximum(due, 0.0),
        load=instance.load,
        coordinates=instance.coordinates,
        name=instance.name,
    )


def _beside_windows(
    instance: Instance, after: Bool[np.ndarray, "N N"], ways: Bool[np.ndarray, "N N"]
) -> SideConstraints:
    between = [
        [(one[1], other[0]) for one, other in pairwise(_spans(instance, node))] if node else []
        for node in range(instance.nodes)
    ]
    gaps = np.full((instance.nodes, max(map(len, between)), 2), np.inf)
    for node, listed in enumerate(between):
        gaps[node, : len(listed)] = np.array(listed).reshape(-1, 2)
    loads, demand, room = _no_load(instance), instance.demand, _room(instance)
    match instance.load:
        case "growing":
            loads["due"] = _due(instance, after)
        case "shrinking":
            loads["low"] = demand.sum() - room
        case "signed" if instance.laden:
            held = instance.aboard + instance.loaded.sum() + demand
            loads |= {"low": -held, "high": room - held}
    return SideConstraints(after, ways, gaps, **loads)


def _no_load(instance: Instance) -> dict[str, Vector]:
    never = np.full(instance.nodes, np.inf)
    return {"demand": instance.demand, "low": -never, "high": never, "due": never}


def _due(instance: Instance, after: Bool[np.ndarray, "N N"]) -> Vector:
    """The most load with which each stop may be left so that all that must follow can be taken aboard."""
    room, follows = _room(instance), after.T.astype(float)
    between = (follows * instance.demand) @ (follows + np.eye(instance.nodes))
    return np.minimum(room, np.where(after.T, room - between, np.inf).min(axis=1))


def _room(instance: Instance) -> Vector:
    """The most load at each stop; the depot bears everything."""
    room = np.minimum(instance.draft, instance.capacity)
    room[0] = math.inf
    return room


def _spans(instance: Instance, node: int) -> tuple[tuple[float, float], ...]:
    single = (float(instance.opens[node]), float(instance.closes[node]))
    return instance.windows.get(node, (single,))


def _last_starts(instance: Instance) -> Vector:
    closes = np.array([_spans(instance, node)[-1][1] for node in range(instance.nodes)])
    return np.where(np.isfinite(instance.late), instance.latest, closes)


def _order(instance: Instance) -> Bool[np.ndarray, "N N"]:
    """Which rows come only after which columns; an end other than the depot comes after all other stops."""
    after = np.zeros((instance.nodes, instance.nodes), bool)
    for first, second in (*instance.before, *instance.pairs):
        after[second, first] = True
    if instance.end not in (None, 0):
        after[instance.end, 1:] = True
        after[instance.end, instance.end] = False
    for node in range(instance.nodes) if after.any() else ():
        after |= after[:, node, None] & after[node]
    return after


def _filled(instance: Instance) -> Float[np.ndarray, "N N"]:
    """Travel that is finite: where there is no way, the shortest detour, and none is longer than what has no detour."""
    travel = instance.travel
    if np.isfinite(travel).all():
        return travel
    detours = np.where(np.isfinite(travel), travel, _closed(travel))
    longest = detours[np.isfinite(detours)].max(initial=0.0)
    return np.minimum(detours, min(longest, LARGEST))


def _closed(legs: Float[np.ndarray, "N N"]) -> Float[np.ndarray, "N N"]:
    """Shortest paths (Floyd and Warshall)."""
    shortest = legs.copy()
    for node in range(len(legs)):
        np.minimum(shortest, shortest[:, node, None] + shortest[node], out=shortest)
    return shortest
