"""Room for a tour under construction, into which stops are put one by one."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, UInt

from fairway.kernels.compiling import inner
from fairway.kernels.moves.search_model import SearchModel

BLINK = 0.01
"""How often a better place is overlooked, so that the same ruins do not always end alike."""


class InsertionBuffer(NamedTuple):
    """Room for a tour under construction: its first nodes by position, and the stops that are still out."""

    node: UInt[np.ndarray, " V"]
    leg: Float[np.ndarray, " V"]
    """The cost of the leg to each position."""
    start: Float[np.ndarray, " V"]
    """The resource at each position."""
    latest: Float[np.ndarray, " V"]
    """The highest resource at each position with which all that follows is in time."""
    out: UInt[np.ndarray, " V"]
    """The stops taken out, in the order in which they come back."""
    rank: Float[np.ndarray, " V"]
    missing: Bool[np.ndarray, " V"]
    """Whether a node is out; false for all before and after."""
    planned: Float[np.ndarray, " V"]
    """Of loads: what is on board behind each stop that is out, at the place that is kept for it."""
    after: Int[np.ndarray, " V"]
    """The position behind which that is; -1 once the stop is back."""
    turn: Int[np.ndarray, " V"]
    """Which of the stops that are out comes back when."""


def insertion_buffer(nodes: int) -> InsertionBuffer:
    """Room for tours over so many nodes, the depot counted twice."""
    node, out = np.zeros((2, nodes), np.uint32)
    leg, start, latest, rank, planned = np.zeros((5, nodes))
    after, turn = np.zeros((2, nodes), np.int64)
    missing = np.zeros(nodes, bool)
    return InsertionBuffer(node, leg, start, latest, out, rank, missing, planned, after, turn)


@inner
def insert_node(model: SearchModel, site: InsertionBuffer, stop: int, where: int) -> None:
    """Put the stop at a position that is free, with the legs to it and on."""
    node, leg = site.node, site.leg
    node[where] = stop
    leg[where] = model.cost[node[where - 1], stop]
    leg[where + 1] = model.cost[stop, node[where + 1]]
