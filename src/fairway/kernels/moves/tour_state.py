"""A tour laid out by position, with all that lets a move be judged in constant time.

A block of the tour, entered at some resource, is left at the resource plus its own span, or later where somewhere in it
one waits. With running sums s of the leads, waiting at k means to be at j by opens(k) + s(j) - s(k): the most of
opens - s over the block, whatever its beginning. Tables of maxima over powers of two answer that for any block, and
minima of closes - s how late it may be entered. Backwards, the sums run the other way.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int, UInt

from fairway.kernels.compiling import ZERO, bare, inner
from fairway.kernels.moves.search_model import SearchModel, needed_by, served_at

FORWARD, BACKWARD = ZERO, ZERO + 1
ROWS, WAIT, LATE = 4, ZERO, ZERO + 2
"""Rows of the peaks, forward; backward is the next."""


class TourState(NamedTuple):
    """A feasible tour by position, the depot at both ends; arrays that `refresh` keeps right in place."""

    node: UInt[np.ndarray, " V"]
    place: Int[np.ndarray, " V"]
    """The position of each node."""
    start: Float[np.ndarray, " V"]
    """The resource at each position."""
    latest: Float[np.ndarray, " V"]
    """The highest resource at each position with which all that follows is still in time."""
    span: Float[np.ndarray, "2 V"]
    """Running sums of the increments up to each position, forward and backward."""
    length: Float[np.ndarray, "2 V"]
    """Running sums of the costs; the last one forward is the cost of the tour."""
    peaks: Float[np.ndarray, "L W"]
    """Four numbers for each position, and their maxima over 2^l positions from each."""
    turn: Int[np.ndarray, " V"]
    """The first position from which the block up to each position may be travelled backwards at all."""


def tour_state_of(model: SearchModel, node: UInt[np.ndarray, " V"]) -> TourState:
    """Lay out a tour, the depot at both ends."""
    nodes = len(node)
    rows = int(model.power[nodes]) + 1
    state = TourState(
        node.copy(),
        np.empty(nodes, np.int64),
        np.empty(nodes),
        np.empty(nodes),
        np.zeros((2, nodes)),
        np.zeros((2, nodes)),
        np.empty((rows, ROWS * nodes)),
        np.zeros(nodes, np.int64),
    )
    refresh(model, state, 0, nodes - 1)
    return state


@bare
def refresh(model: SearchModel, state: TourState, first: int, last: int) -> None:
    """Bring the state up to date after the nodes at these positions, and no others, have changed."""
    node, nodes = state.node, len(state.node)
    for at in range(first, last + 1):
        state.place[node[at]] = at
    start, latest = state.start, state.latest
    if first == 0:
        start[0] = model.opens[0]
    for at in range(max(first, 1), nodes):
        resource = served_at(model, start[at - 1], node[at - 1], node[at])
        if at > last and resource == start[at]:
            break
        start[at] = resource
    if last >= nodes - 2:
        latest[nodes - 1] = model.closes[node[nodes - 1]]
    for at in range(min(last, nodes - 2), -1, -1):
        resource = needed_by(model, latest[at + 1], node[at], node[at + 1])
        if at < first and resource == latest[at]:
            break
        latest[at] = resource
    _add_up(model, state, first, last)
    _tabulate(model, state, first)
    _find_turns(model, state, first, last)


@inner
def _add_up(model: SearchModel, state: TourState, first: int, last: int) -> None:
    """The running sums: legs that have changed are looked up, and what lies beyond them is shifted."""
    nodes, node, span, length = len(state.node), state.node, state.span, state.length
    beyond = min(last + 1, nodes - 1)
    old = (span[0, beyond], span[1, beyond], length[0, beyond], length[1, beyond])
    for at in range(max(first, 1), beyond + 1):
        here, there = node[at - 1], node[at]
        span[0, at] = span[0, at - 1] + model.increment[here, there]
        span[1, at] = span[1, at - 1] + model.increment[there, here]
        length[0, at] = length[0, at - 1] + model.cost[here, there]
        length[1, at] = length[1, at - 1] + model.cost[there, here]
    _shift(span[0, beyond + 1 :], span[0, beyond] - old[0])
    _shift(span[1, beyond + 1 :], span[1, beyond] - old[1])
    _shift(length[0, beyond + 1 :], length[0, beyond] - old[2])
    _shift(length[1, beyond + 1 :], length[1, beyond] - old[3])


@inner
def _shift(sums: Float[np.ndarray, " M"], by: float) -> None:
    if by != 0:
        for at in range(len(sums)):
            sums[at] += by


@inner
def _tabulate(model: SearchModel, state: TourState, first: int) -> None:
    """Where one waits and where one is late, less the way there, and the maxima over all powers of two."""
    nodes, powers = len(state.node), len(state.peaks)
    row = state.peaks[0, ROWS * first :]
    for at in range(nodes - first):
        node = state.node[first + at]
        span, back = state.span[0, first + at], state.span[1, first + at]
        row[ROWS * at + WAIT] = model.opens[node] - span
        row[ROWS * at + LATE] = span - model.closes[node]
        row[ROWS * at + WAIT + 1] = model.opens[node] + back
        row[ROWS * at + LATE + 1] = -model.closes[node] - back
    for power in range(1, powers):
        half = ROWS << (power - 1)
        begin, end = max(0, ROWS * (first + 1) - 2 * half), ROWS * (nodes + 1) - 2 * half
        if begin < end:
            below = state.peaks[power - 1]
            ones, others = below[begin:end], below[begin + half : end + half]
            mosts = state.peaks[power, begin:end]
            for at in range(end - begin):
                mosts[at] = ones[at] if ones[at] > others[at] else others[at]


@inner
def _find_turns(model: SearchModel, state: TourState, first: int, last: int) -> None:
    """What waits at a later position and is then too late for an earlier one cannot be in one block backwards."""
    begin = state.turn[first - 1] if first > 0 else 0
    for at in range(first, len(state.node)):
        wait = state.peaks[0, ROWS * at + WAIT + 1]
        while begin < at and wait + peak(model, state, LATE + 1, begin, at - 1) > 0:
            begin += 1
        state.turn[at] = begin
        if at > last and begin > last + 1:
            break


@inner
def peak(model: SearchModel, state: TourState, row: int, i: int, j: int) -> float:
    """The most of a row over the positions i to j."""
    power = model.power[j - i + 1]
    one = state.peaks[power, ROWS * i + row]
    other = state.peaks[power, ROWS * (j + 1 - (1 << power)) + row]
    return one if one > other else other


@inner
def across(
    model: SearchModel, state: TourState, direction: int, i: int, j: int, resource: float
) -> float:
    """The resource at the end of the block from position i to j, entered with so much; infinite if late within."""
    span = state.span[direction]
    if direction == FORWARD:
        late, into, out = resource + peak(model, state, LATE, i, j), -span[i], span[j]
    else:
        late, into, out = resource + peak(model, state, LATE + 1, i, j), span[j], -span[i]
    if late + into > 0 or (direction == BACKWARD and state.turn[j] > i):
        return np.inf
    return max(resource + span[j] - span[i], peak(model, state, WAIT + direction, i, j) + out)
