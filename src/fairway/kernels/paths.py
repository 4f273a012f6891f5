"""Shortest paths from one node, in time that grows with the square of the nodes."""

import numpy as np
from jaxtyping import Bool, Float

from fairway.kernels.compiling import njit


@njit(cache=True, nogil=True)
def shortest(
    increment: Float[np.ndarray, "N N"], source: int, through: Bool[np.ndarray, " N"]
) -> Float[np.ndarray, " N"]:
    """The least sum of increments, none negative, from the source to every node through the given nodes (Dijkstra)."""
    nodes = len(increment)
    least, waiting = increment[source].copy(), through.copy()
    waiting[source] = False
    for _ in range(nodes):
        here, first = -1, np.inf
        for node in range(nodes):
            if waiting[node] and least[node] < first:
                here, first = node, least[node]
        if here < 0:
            break
        waiting[here] = False
        onward = increment[here]
        for node in range(nodes):
            least[node] = min(least[node], first + onward[node])
    least[source] = 0.0
    return least
