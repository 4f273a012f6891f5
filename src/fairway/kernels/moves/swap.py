"""The one move: two adjacent blocks of the tour change places, and each may be turned round.

With blocks A = [i..j] and B = [j+1..k] the tour reads ... B A ... afterwards. With B of one to three stops, or A,
that is or-opt; with both of any length, or-3opt; with A empty (j = i - 1) and B turned, 2-opt.
"""

import numpy as np
from jaxtyping import UInt

from fairway.kernels.compiling import ZERO, inner
from fairway.kernels.moves.search_model import SearchModel
from fairway.kernels.moves.tour_state import (
    BACKWARD,
    FORWARD,
    WAIT,
    TourState,
    across,
    peak,
    refresh,
)

Swap = tuple[int, int, int, int]
"""i, j, k and which blocks are turned: 0 none, 1 for A, 2 for B, 3 for both; 1 <= i <= j + 1 <= k < V - 1."""
PLAIN, TURN_A, TURN_B = ZERO, ZERO + 1, ZERO + 2


@inner
def change(model: SearchModel, state: TourState, i: int, j: int, k: int, turned: int) -> float:
    """What the swap adds to the cost of the tour."""
    if i < 1 or j < i - 1 or k <= j:
        return np.inf
    cost, node = model.cost, state.node
    left, right = node[i - 1], node[k + 1]
    head, tail = node[j + 1], node[k]
    total = -cost[left, node[i]] - cost[tail, right]
    if turned & TURN_B:
        head, tail = tail, head
        total += state.length[1, k] - state.length[1, j + 1]
        total -= state.length[0, k] - state.length[0, j + 1]
    if j < i:
        return total + cost[left, head] + cost[tail, right]
    begin, end = node[i], node[j]
    total -= cost[end, node[j + 1]]
    if turned & TURN_A:
        begin, end = end, begin
        total += state.length[1, j] - state.length[1, i] - state.length[0, j] + state.length[0, i]
    return total + cost[left, head] + cost[tail, begin] + cost[end, right]


@inner
def arrival(model: SearchModel, state: TourState, i: int, j: int, k: int, turned: int) -> float:
    """The resource on reaching what comes after the swapped blocks; infinite if something in them is late.

    The tour stays feasible where it is no higher than the latest there.
    """
    if i < 1 or j < i - 1 or k <= j:
        return np.inf
    increment, node = model.increment, state.node
    head, tail, direction = node[j + 1], node[k], FORWARD
    if turned & TURN_B:
        head, tail, direction = tail, head, BACKWARD
    resource = state.start[i - 1] + increment[node[i - 1], head]
    resource = across(model, state, direction, j + 1, k, resource)
    if j >= i and resource < np.inf:
        begin, end, direction = node[i], node[j], FORWARD
        if turned & TURN_A:
            begin, end, direction = end, begin, BACKWARD
        resource = across(model, state, direction, i, j, resource + increment[tail, begin])
        tail = end
    return resource + increment[tail, node[k + 1]]


@inner
def finish(model: SearchModel, state: TourState, at: int, resource: float) -> float:
    """The resource at the end of the tour if this position is reached with the resource given."""
    last = len(state.node) - 1
    waiting = peak(model, state, WAIT, at, last) + state.span[0, last]
    return max(resource + state.span[0, last] - state.span[0, at], waiting)


@inner
def rearrange(node: UInt[np.ndarray, " V"], i: int, j: int, k: int, turned: int) -> None:
    """Carry out the swap on the nodes alone."""
    if turned & TURN_A:
        _turn(node, i, j)
    if turned & TURN_B:
        _turn(node, j + 1, k)
    # Turned as a whole, and each block again.
    if j >= i:
        _turn(node, i, k)
        _turn(node, i, i + k - j - 1)
        _turn(node, i + k - j, k)


@inner
def move(node: UInt[np.ndarray, " V"], first: int, last: int, past: int) -> None:
    """Move the block [first..last] past a position outside it."""
    if past > last:
        rearrange(node, first, last, past, PLAIN)
    else:
        rearrange(node, past, first - 1, last, PLAIN)


@inner
def copy(
    source: UInt[np.ndarray, " V"], target: UInt[np.ndarray, " V"], first: int, last: int
) -> None:
    """Copy the nodes from the first to the last position: numba takes seconds to compile a slice."""
    for at in range(first, last + 1):
        target[at] = source[at]


@inner
def _turn(node: UInt[np.ndarray, " V"], i: int, j: int) -> None:
    while i < j:
        node[i], node[j] = node[j], node[i]
        i += 1
        j -= 1


@inner
def apply(model: SearchModel, state: TourState, i: int, j: int, k: int, turned: int) -> None:
    """Carry out the swap and bring the state up to date."""
    rearrange(state.node, i, j, k, turned)
    refresh(model, state, i, k)
