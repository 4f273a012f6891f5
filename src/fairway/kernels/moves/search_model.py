"""What the moves work on: a model with lists of the nodes that are near each other."""

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, UInt

from fairway import clock
from fairway.kernels.compiling import inner
from fairway.kernels.ranking import least_of_rows
from fairway.problems.instance import TOLERANCE
from fairway.problems.model import START, Model

NEIGHBOURS = 8
"""Nodes to which a node is offered new arcs."""
SHARE = 0.9
"""Of the tolerance of the judge that tours may use up."""
AROUND = 40
"""Stops that are known to be around a stop."""
PART = 1 << 17
"""Pairs of nodes that are ranked at a time: they stay near the core, and the clock is heard every few milliseconds."""


class SearchModel(NamedTuple):
    """A model of V nodes, with the depot at both ends.

    On the way from i to j the resource grows by `increment[i, j]`, rises to `opens[j]` where it is lower, and must not
    pass `closes[j]`: the start of service, or the load of a ship that collects. A named tuple, as compiled code takes
    it.
    """

    cost: Float[np.ndarray, "V V"]
    increment: Float[np.ndarray, "V V"]
    cost_to: Float[np.ndarray, "V V"]
    """The cost transposed, so that what leads to a node lies side by side in memory, as what leads from it does."""
    increment_to: Float[np.ndarray, "V V"]
    opens: Float[np.ndarray, " V"]
    closes: Float[np.ndarray, " V"]
    """With most of the judge's tolerance; the rest is for sums taken in another order than the judge's."""
    after: UInt[np.ndarray, "V K"]
    """For each node the cheapest that may come straight after it, cheapest first; 0 where there are no more.

    Unsigned, as nodes are everywhere here: numba asks of every signed index whether it counts from the end.
    """
    before: UInt[np.ndarray, "V K"]
    """The same for straight before it, with V - 1 where there are no more."""
    near: UInt[np.ndarray, "V M"]
    """For each node the stops that are nearest there and back, nearest first."""
    power: Int[np.ndarray, " W"]
    """The exponent of the largest power of two that is not above the index."""
    by_set: bool
    """Whether the resource follows from the nodes passed, as a load does."""


def search_model_of(model: Model) -> SearchModel:
    """What the moves take of a model."""
    legs = search_model_without_neighbours(model)
    found = None if legs is None else with_neighbours(legs)
    assert found is not None, "without a deadline there is time for all of it"
    return found


def search_model_without_neighbours(model: Model, until: float = math.inf) -> SearchModel | None:
    """The same without neighbours, which take most of the time: enough to build a tour and to make it feasible.

    None where it is not known by that time by `clock.now`.
    """
    resource = model.resource
    opens = resource.earliest
    closes = resource.limits + (0.0 if resource.guard == 0 else SHARE * TOLERANCE)
    closes[START] = opens[START]
    power = np.zeros(len(opens) + 1, np.int64)
    power[1:] = np.log2(np.arange(1, len(power))).astype(np.int64)
    nobody = np.zeros((len(opens), 0), np.uint32)
    lists = (nobody, nobody, nobody)
    cost, increment = model.cost, resource.increment
    cost_to = _turned(cost, until)
    increment_to = cost_to if increment is cost else _turned(increment, until)
    if cost_to is None or increment_to is None:
        return None
    legs = (cost, increment, cost_to, increment_to)
    return SearchModel(*legs, opens, closes, *lists, power, resource.by_set)


def _turned(matrix: Float[np.ndarray, "V V"], until: float) -> Float[np.ndarray, "V V"] | None:
    """A matrix transposed in memory, in parts that stay near the core; None where the time is up before."""
    turned = np.empty(matrix.shape)
    rows = max(1, PART // len(matrix))
    for at in range(0, len(matrix), rows):
        if clock.now() >= until:
            return None
        turned[:, at : at + rows] = matrix[at : at + rows].T
    return turned


def with_neighbours(model: SearchModel, until: float = math.inf) -> SearchModel | None:
    """The model with all its neighbours; None where they are not known by that time by `clock.now`."""
    nodes, cost = len(model.opens), model.cost
    kept = min(NEIGHBOURS, nodes - 2)
    after, before = np.empty((2, nodes, kept), np.uint32)
    near = np.empty((nodes, min(AROUND, max(nodes - 3, 0))), np.uint32)
    parts = [slice(at, at + max(1, PART // nodes)) for at in range(0, nodes, max(1, PART // nodes))]
    allowed = np.empty(cost.shape, bool)
    for part in parts:
        leaves = np.maximum(model.opens[part], model.opens[0])
        np.less_equal(leaves[:, None] + model.increment[part], model.closes, out=allowed[part])
    np.fill_diagonal(allowed, val=False)
    allowed[:, 0] = allowed[-1] = allowed[0, -1] = False
    for part in parts:
        if clock.now() >= until:
            return None
        after[part] = _cheapest(cost[part], allowed[part], kept, 0)
        before[part] = _cheapest(cost[:, part].T, allowed[:, part].T, kept, nodes - 1)
        near[part] = _around(cost, part, near.shape[1])
    return model._replace(after=after, before=before, near=near)


def _cheapest(
    cost: Float[np.ndarray, "K V"], allowed: Bool[np.ndarray, "K V"], kept: int, none: int
) -> Int[np.ndarray, "K M"]:
    ranked = np.where(allowed, cost, np.inf)
    order = least_of_rows(ranked, kept)
    known = np.take_along_axis(ranked, order, axis=1) < np.inf
    return np.where(known, order, none)


def _around(cost: Float[np.ndarray, "V V"], part: slice, kept: int) -> Int[np.ndarray, "K M"]:
    both = cost[part] + cost[:, part].T
    rows = np.arange(len(both))
    both[rows, part.start + rows] = both[:, 0] = both[:, -1] = np.inf
    return least_of_rows(both, kept)


@inner
def served_at(model: SearchModel, resource: float, here: int, there: int) -> float:
    """The resource at a node that is reached straight from another."""
    return max(resource + model.increment[here, there], model.opens[there])


@inner
def needed_by(model: SearchModel, latest: float, here: int, there: int) -> float:
    """The highest resource at a node from which the next is reached with no more than its latest."""
    return min(latest - model.increment[here, there], model.closes[here])
