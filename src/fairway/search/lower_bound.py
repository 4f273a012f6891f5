"""A lower bound that is always to be had, in milliseconds, whatever the limits: no search, hence no proof."""

import math

import numpy as np

from fairway import clock
from fairway.kernels.one_tree import one_tree_bound
from fairway.problems.instance import Instance
from fairway.problems.model import Objective

WORK = 4e6
"""Pairs of nodes that are looked at, about: a few milliseconds."""
MOST_ROUNDS, FEWEST_ROUNDS = 300, 10
PART = 1 << 17
"""Pairs of nodes between two looks at the clock."""


def held_karp(
    instance: Instance,
    objective: Objective = "travel",
    upper: float = math.inf,
    until: float = math.inf,
) -> float:
    """No tour costs less that visits every stop and comes back: all must be travelled, and be left after it has opened.

    Args:
        instance: Any instance.
        objective: The least cost, or the earliest return.
        upper: The cost of a good tour; infinite if none is known.
        until: When to stop, by `clock.now`: what is known by then is a bound, if only zero.
    """
    makespan, nodes = objective == "makespan", instance.nodes
    travel = instance.travel if makespan else instance.cost
    working = float(instance.opens[0] + instance.service.sum()) if makespan else 0.0
    leaving, arriving = np.empty(nodes), np.full(nodes, np.inf)
    either_way = np.empty((nodes, nodes))  # the cheaper direction of each leg
    rows = max(1, PART // nodes)
    for at in range(0, nodes, rows):
        if clock.now() >= until:
            return working
        part = slice(at, at + rows)
        np.minimum(travel[part], travel[:, part].T, out=either_way[part])
        legs = travel[part].copy()
        row = np.arange(len(legs))
        legs[row, at + row] = np.inf
        leaving[part] = legs.min(axis=1)
        np.minimum(arriving, legs.min(axis=0), out=arriving)
    least = float(max(arriving.sum(), leaving.sum()))
    if nodes >= 3:  # fewer are too few for a tree and two arcs more
        rounds = int(np.clip(WORK / nodes**2, FEWEST_ROUNDS, MOST_ROUNDS))
        aim = 1.3 * least if makespan or math.isinf(upper) else upper
        least = max(least, one_tree_bound(either_way, aim, rounds, until))
    if not makespan:
        return least
    left = instance.opens + instance.service + leaving
    return float(max(working + least, left.max()))
