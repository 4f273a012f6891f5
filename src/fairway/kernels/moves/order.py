"""Orders that limits suggest: by the limits themselves, and as near to a plan as loads allow."""

import math

import numpy as np
from jaxtyping import UInt

from fairway import clock
from fairway.kernels.moves.search_model import SearchModel


def by_deadline(model: SearchModel) -> UInt[np.ndarray, " V"]:
    """All stops in the order in which they close, the depot at both ends."""
    stops = 1 + np.lexsort((model.opens[1:-1], model.closes[1:-1]))
    return np.concatenate(([0], stops, [len(model.opens) - 1])).astype(np.uint32)


def deferred(
    model: SearchModel, node: UInt[np.ndarray, " V"], until: float = math.inf
) -> UInt[np.ndarray, " V"] | None:
    """The tour with each port put off as long as calling there would leave another one too deep; None if all fail.

    Only for loads, where the order of the limits is feasible if any order is (Jackson's rule): a port may come next if
    all that have to come before it in that order can still take its cargo on top. Where the time is up by
    `clock.now`, the others follow in that order.
    """
    demand = model.increment[0]
    left = by_deadline(model)[1:-1]
    spare = model.closes[left] - np.cumsum(demand[left])
    if spare.min() < 0:
        return None
    planned = np.argsort(node)[left]
    tour = node.copy()
    for at in range(1, len(node) - 1):
        if clock.now() >= until:
            tour[at:-1] = left
            break
        before = np.minimum.accumulate(np.append(np.inf, spare[:-1]))
        allowed = np.flatnonzero(before >= demand[left])
        chosen = allowed[planned[allowed].argmin()]
        tour[at] = left[chosen]
        spare[:chosen] -= demand[left[chosen]]
        left, spare, planned = (np.delete(each, chosen) for each in (left, spare, planned))
    return tour
