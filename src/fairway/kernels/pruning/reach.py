"""How early any node can be served after any other, and how late before it, over all ways that are left."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numba import njit

from fairway.kernels.pruning.network import Network


@dataclass(frozen=True, slots=True, eq=False)
class Reach:
    """Times over every way that waits, keeps the windows, uses arcs that are left and respects `before`.

    A tour that passes i and later k is such a way from i to k, so its times lie within these bounds. Ways may
    lead through other nodes: a matrix that breaks the triangle inequality is no danger.
    """

    earliest: Float[np.ndarray, "V V"]
    """The first start at the column after the row; infinite where the row cannot come before the column."""
    latest: Float[np.ndarray, "V V"]
    """The last start at the row before the column; minus infinite where the row cannot come before the column."""


def reach(network: Network) -> Reach:
    """Search forward from every node, and backward in time from every node."""
    lead, opens, closes = network.lead, network.opens, network.closes
    before, arcs = network.before, network.arcs
    earliest = _first_starts(lead, opens, closes, before, arcs)
    backward = _first_starts(*map(_turned, (lead, -closes, -opens, before, arcs)))
    return Reach(earliest, -_turned(backward))


def _turned(array: np.ndarray) -> np.ndarray:
    """Read with time running backwards."""
    return np.ascontiguousarray(array.T)


@njit(cache=True)
def _first_starts(
    lead: np.ndarray, opens: np.ndarray, closes: np.ndarray, before: np.ndarray, arcs: np.ndarray
) -> np.ndarray:
    """Dijkstra from every node; waiting keeps who is first first, so that settled nodes stay settled."""
    nodes = len(opens)
    starts = np.full((nodes, nodes), np.inf)
    unsettled = np.empty(nodes, np.int64)
    for source in range(nodes):
        start = starts[source]
        start[source] = opens[source]
        left = 0
        for node in range(nodes):
            if not before[node, source]:  # what must come before the source is on no way from it
                unsettled[left] = node
                left += 1
        while left > 0:
            place = 0
            for other in range(1, left):
                if start[unsettled[other]] < start[unsettled[place]]:
                    place = other
            here = unsettled[place]
            if start[here] == np.inf:
                break
            left -= 1
            unsettled[place] = unsettled[left]
            for other in range(left):
                there = unsettled[other]
                if arcs[here, there]:
                    time = max(start[here] + lead[here, there], opens[there])
                    if time <= closes[there] and time < start[there]:
                        start[there] = time
    return starts
