"""A lower bound that is always to be had, in milliseconds, whatever the limits: no search, hence no proof."""

import numpy as np
from jaxtyping import Float

from fairway.kernels.trees import tree_bound
from fairway.problems.instance import Instance
from fairway.problems.tsptw import TSPTW

WORK = 4e6
"""Pairs of nodes that are looked at, about: a few milliseconds."""
MOST_ROUNDS, FEWEST_ROUNDS = 300, 10


def least_travel(instance: Instance, upper: float) -> float:
    """No tour travels less.

    Args:
        instance: Any instance.
        upper: The travel of a good tour; infinite if none is known.
    """
    travel, legs = instance.travel, _legs(instance)
    least = max(legs.min(axis=0).sum(), legs.min(axis=1).sum())
    if instance.nodes < 3:  # too few for a tree and two arcs more
        return float(least)
    rounds = int(np.clip(WORK / instance.nodes**2, FEWEST_ROUNDS, MOST_ROUNDS))
    aim = upper if np.isfinite(upper) else 1.3 * least
    return float(max(least, tree_bound(np.minimum(travel, travel.T), aim, rounds)))


def least_makespan(instance: TSPTW) -> float:
    """No tour is back earlier: all must be travelled and served, and every stop must be left after it has opened."""
    working = instance.opens[0] + instance.service.sum() + least_travel(instance, np.inf)
    left = instance.opens + instance.service + _legs(instance).min(axis=1)
    return float(max(working, left.max()))


def _legs(instance: Instance) -> Float[np.ndarray, "N N"]:
    """Travel, and no way from a node to itself."""
    return instance.travel + np.where(np.eye(instance.nodes), np.inf, 0.0)
