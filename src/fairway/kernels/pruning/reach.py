"""How early any node can be served after any other, and how late before it, over all ways that are left."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int, Shaped

from fairway.kernels.compiling import njit
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


def _turned(array: Shaped[np.ndarray, "..."]) -> Shaped[np.ndarray, "..."]:
    """Read with time running backwards."""
    return np.ascontiguousarray(array.T)


@njit(cache=True)
def _first_starts(
    lead: Float[np.ndarray, "V V"],
    opens: Float[np.ndarray, " V"],
    closes: Float[np.ndarray, " V"],
    before: Bool[np.ndarray, "V V"],
    arcs: Bool[np.ndarray, "V V"],
) -> Float[np.ndarray, "V V"]:
    """Dijkstra from every node: who leaves later never arrives earlier, so that the first to be reached is settled."""
    nodes = len(opens)
    starts = np.full((nodes, nodes), np.inf)
    nexts, degree = _neighbours(arcs)
    reached = np.empty(nodes, np.int64)
    for source in range(nodes):
        start = starts[source]
        start[source] = opens[source]
        reached[0] = source
        waiting = 1
        while waiting > 0:
            place = 0
            for other in range(1, waiting):
                if start[reached[other]] < start[reached[place]]:
                    place = other
            here = reached[place]
            waiting -= 1
            reached[place] = reached[waiting]
            for there in nexts[here, : degree[here]]:
                time = max(start[here] + lead[here, there], opens[there])
                # What must come before the source is on no way from it.
                if time < start[there] and time <= closes[there] and not before[there, source]:
                    if start[there] == np.inf:
                        reached[waiting] = there
                        waiting += 1
                    start[there] = time
    return starts


@njit(cache=True)
def _neighbours(
    arcs: Bool[np.ndarray, "V V"],
) -> tuple[Int[np.ndarray, "V V"], Int[np.ndarray, " V"]]:
    """The columns of each row's arcs, and how many there are."""
    nodes = len(arcs)
    nexts, degree = np.empty((nodes, nodes), np.int64), np.zeros(nodes, np.int64)
    for here in range(nodes):
        for there in range(nodes):
            if arcs[here, there]:
                nexts[here, degree[here]] = there
                degree[here] += 1
    return nexts, degree
