"""A tour laid out as a line, with all that lets a move be judged in constant time.

A block of the tour, entered at some level, is left at the level plus its own span, or later where somewhere in it
one waits. With running sums s of the leads, waiting at k means to be at j by opens(k) + s(j) - s(k): the most of
opens - s over the block, whatever its beginning. Tables of maxima over powers of two answer that for any block, and
minima of closes - s how late it may be entered. Backwards, the sums run the other way.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int, UInt

from fairway.kernels.compiling import ZERO, bare, inner
from fairway.kernels.moves.search_model import SearchModel

FORWARD, BACKWARD = ZERO, ZERO + 1
ROWS, WAIT, LATE = 4, ZERO, ZERO + 2
"""Rows of the peaks, forward; backward is the next."""


class TourState(NamedTuple):
    """A feasible tour by position, the depot at both ends; arrays that `refresh` keeps right in place."""

    node: UInt[np.ndarray, " V"]
    place: Int[np.ndarray, " V"]
    """The position of each node."""
    start: Float[np.ndarray, " V"]
    """The level at each position."""
    latest: Float[np.ndarray, " V"]
    """The highest level at each position with which all that follows is still in time."""
    span: Float[np.ndarray, "2 V"]
    """Running sums of the leads up to each position, forward and backward."""
    length: Float[np.ndarray, "2 V"]
    """Running sums of the costs; the last one forward is the cost of the tour."""
    peaks: Float[np.ndarray, "L W"]
    """Four numbers for each position, and their maxima over 2^l positions from each."""
    turn: Int[np.ndarray, " V"]
    """The first position from which the block up to each position may be travelled backwards at all."""


def tour_state_of(form: SearchModel, node: UInt[np.ndarray, " V"]) -> TourState:
    """Lay out a tour, the depot at both ends."""
    nodes = len(node)
    levels = int(form.power[nodes]) + 1
    line = TourState(
        node.copy(),
        np.empty(nodes, np.int64),
        np.empty(nodes),
        np.empty(nodes),
        np.zeros((2, nodes)),
        np.zeros((2, nodes)),
        np.empty((levels, ROWS * nodes)),
        np.zeros(nodes, np.int64),
    )
    refresh(form, line, 0, nodes - 1)
    return line


@bare
def refresh(form: SearchModel, line: TourState, first: int, last: int) -> None:
    """Bring the line up to date after the nodes at these positions, and no others, have changed."""
    node, nodes = line.node, len(line.node)
    for at in range(first, last + 1):
        line.place[node[at]] = at
    start, latest = line.start, line.latest
    if first == 0:
        start[0] = form.opens[0]
    for at in range(max(first, 1), nodes):
        level = max(start[at - 1] + form.lead[node[at - 1], node[at]], form.opens[node[at]])
        if at > last and level == start[at]:
            break
        start[at] = level
    if last >= nodes - 2:
        latest[nodes - 1] = form.closes[node[nodes - 1]]
    for at in range(min(last, nodes - 2), -1, -1):
        level = min(latest[at + 1] - form.lead[node[at], node[at + 1]], form.closes[node[at]])
        if at < first and level == latest[at]:
            break
        latest[at] = level
    _add_up(form, line, first, last)
    _tabulate(form, line, first)
    _find_turns(form, line, first, last)


@inner
def _add_up(form: SearchModel, line: TourState, first: int, last: int) -> None:
    """The running sums: legs that have changed are looked up, and what lies beyond them is shifted."""
    nodes, node, span, length = len(line.node), line.node, line.span, line.length
    beyond = min(last + 1, nodes - 1)
    old = (span[0, beyond], span[1, beyond], length[0, beyond], length[1, beyond])
    for at in range(max(first, 1), beyond + 1):
        here, there = node[at - 1], node[at]
        span[0, at] = span[0, at - 1] + form.lead[here, there]
        span[1, at] = span[1, at - 1] + form.lead[there, here]
        length[0, at] = length[0, at - 1] + form.cost[here, there]
        length[1, at] = length[1, at - 1] + form.cost[there, here]
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
def _tabulate(form: SearchModel, line: TourState, first: int) -> None:
    """Where one waits and where one is late, less the way there, and the maxima over all powers of two."""
    nodes, levels = len(line.node), len(line.peaks)
    row = line.peaks[0, ROWS * first :]
    for at in range(nodes - first):
        node, span, back = line.node[first + at], line.span[0, first + at], line.span[1, first + at]
        row[ROWS * at + WAIT] = form.opens[node] - span
        row[ROWS * at + LATE] = span - form.closes[node]
        row[ROWS * at + WAIT + 1] = form.opens[node] + back
        row[ROWS * at + LATE + 1] = -form.closes[node] - back
    for level in range(1, levels):
        half = ROWS << (level - 1)
        begin, end = max(0, ROWS * (first + 1) - 2 * half), ROWS * (nodes + 1) - 2 * half
        if begin < end:
            below = line.peaks[level - 1]
            ones, others = below[begin:end], below[begin + half : end + half]
            mosts = line.peaks[level, begin:end]
            for at in range(end - begin):
                mosts[at] = ones[at] if ones[at] > others[at] else others[at]


@inner
def _find_turns(form: SearchModel, line: TourState, first: int, last: int) -> None:
    """What waits at a later position and is then too late for an earlier one cannot be in one block backwards."""
    begin = line.turn[first - 1] if first > 0 else 0
    for at in range(first, len(line.node)):
        wait = line.peaks[0, ROWS * at + WAIT + 1]
        while begin < at and wait + peak(form, line, LATE + 1, begin, at - 1) > 0:
            begin += 1
        line.turn[at] = begin
        if at > last and begin > last + 1:
            break


@inner
def peak(form: SearchModel, line: TourState, row: int, i: int, j: int) -> float:
    """The most of a row over the positions i to j."""
    level = form.power[j - i + 1]
    one = line.peaks[level, ROWS * i + row]
    other = line.peaks[level, ROWS * (j + 1 - (1 << level)) + row]
    return one if one > other else other


@inner
def across(form: SearchModel, line: TourState, way: int, i: int, j: int, level: float) -> float:
    """The level at the end of the block from position i to j, entered with this level; infinite if late within."""
    span = line.span[way]
    if way == FORWARD:
        late, into, out = level + peak(form, line, LATE, i, j), -span[i], span[j]
    else:
        late, into, out = level + peak(form, line, LATE + 1, i, j), span[j], -span[i]
    if late + into > 0 or (way == BACKWARD and line.turn[j] > i):
        return np.inf
    return max(level + span[j] - span[i], peak(form, line, WAIT + way, i, j) + out)
