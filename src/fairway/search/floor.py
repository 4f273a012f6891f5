"""A lower bound that is always to be had, in milliseconds, whatever the limits: no search, hence no proof."""

import math
import time
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from fairway.kernels.trees import tree_bound
from fairway.problems.instance import Instance

WORK = 4e6
"""Pairs of nodes that are looked at, about: a few milliseconds."""
MOST_ROUNDS, FEWEST_ROUNDS = 300, 10
PART = 1 << 17
"""Pairs of nodes between two looks at the clock."""


def least_travel(instance: Instance, upper: float, until: float = math.inf) -> float:
    """No tour travels less.

    Args:
        instance: Any instance.
        upper: The travel of a good tour; infinite if none is known.
        until: When to stop, on the monotonic clock: what is known by then is a bound, if only zero.
    """
    legs = _legs(instance, until)
    return 0.0 if legs is None else _least_travel(legs, upper, until)


def least_makespan(instance: Instance, until: float = math.inf) -> float:
    """No tour is back earlier: all must be travelled and served, and every stop must be left after it has opened."""
    working = instance.opens[0] + instance.service.sum()
    legs = _legs(instance, until)
    if legs is None:
        return float(working)
    left = instance.opens + instance.service + legs.leaving
    return float(max(working + _least_travel(legs, np.inf, until), left.max()))


@dataclass(frozen=True, slots=True, eq=False)
class _Legs:
    """The cheapest legs, none of them from a node to itself."""

    leaving: Float[np.ndarray, " N"]
    arriving: Float[np.ndarray, " N"]
    either_way: Float[np.ndarray, "N N"]
    """The cheaper direction of each leg."""


def _legs(instance: Instance, until: float) -> _Legs | None:
    """None where the time is up before all have been looked at."""
    travel, nodes = instance.travel, instance.nodes
    leaving, arriving = np.empty(nodes), np.full(nodes, np.inf)
    either_way = np.empty((nodes, nodes))
    rows = max(1, PART // nodes)
    for at in range(0, nodes, rows):
        if time.monotonic() >= until:
            return None
        part = slice(at, at + rows)
        np.minimum(travel[part], travel[:, part].T, out=either_way[part])
        legs = travel[part].copy()
        row = np.arange(len(legs))
        legs[row, at + row] = np.inf
        leaving[part] = legs.min(axis=1)
        np.minimum(arriving, legs.min(axis=0), out=arriving)
    return _Legs(leaving, arriving, either_way)


def _least_travel(legs: _Legs, upper: float, until: float) -> float:
    least, nodes = max(legs.arriving.sum(), legs.leaving.sum()), len(legs.leaving)
    if nodes < 3:  # too few for a tree and two arcs more
        return float(least)
    rounds = int(np.clip(WORK / nodes**2, FEWEST_ROUNDS, MOST_ROUNDS))
    aim = upper if np.isfinite(upper) else 1.3 * least
    return float(max(least, tree_bound(legs.either_way, aim, rounds, until)))
