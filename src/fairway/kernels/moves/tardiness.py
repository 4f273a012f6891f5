"""Towards the least total violation, where no tour keeps every limit: blocks of one to three stops move.

Here a late stop delays all that follows, as the judge has it, whereas `lateness` warps it back to its deadline: that
leads to feasible tours more quickly, but is no measure for what a driver would be late by.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from fairway.kernels.compiling import ZERO, bare, inner
from fairway.kernels.moves.chance import Random
from fairway.kernels.moves.lateness import LONGEST, NEXT, SETTLED, STRENGTH, shake
from fairway.kernels.moves.swap import copy, move

MOST = 4
"""Stops that the strongest shake moves at random."""
WORK = 3
"""Of the state, beside those of a late tour."""


class Limits(NamedTuple):
    """What a tour must keep: a window at each node, and a range for the sum of amounts up to each node."""

    lead: Float[np.ndarray, "N N"]
    opens: Float[np.ndarray, " N"]
    closes: Float[np.ndarray, " N"]
    amount: Float[np.ndarray, " N"]
    low: Float[np.ndarray, " N"]
    high: Float[np.ndarray, " N"]


class Tardy(NamedTuple):
    """A tour by position, the depot at both ends, and what is known of its beginnings."""

    node: Int[np.ndarray, " V"]
    kept: Int[np.ndarray, " V"]
    """The best tour so far."""
    heads: Float[np.ndarray, "V 3"]
    """At each position the start of service, the sum of amounts, and the violations up to it."""
    state: Int[np.ndarray, " 4"]
    """The next position to move from, how many were tried in vain, the strength of the last shake, the work done."""


def tardy_line(node: Int[np.ndarray, " V"]) -> Tardy:
    """Room for the search from this tour, which is copied."""
    return Tardy(node.copy(), node.copy(), np.empty((len(node), 3)), np.array([1, 0, 0, 0]))


@inner
def _on(
    limits: Limits, here: int, there: int, head: tuple[float, float, float]
) -> tuple[float, float, float]:
    """What is known at the next node."""
    level = max(head[0] + limits.lead[here, there], limits.opens[there])
    load = head[1] + limits.amount[there]
    late = max(level - limits.closes[there], 0.0)
    over = max(load - limits.high[there], limits.low[there] - load, 0.0)
    return level, load, head[2] + late + over


@bare
def look_over(limits: Limits, tardy: Tardy) -> float:
    """Work out all beginnings anew; the violations of the whole."""
    node, heads = tardy.node, tardy.heads
    head = (limits.opens[0], 0.0, 0.0)
    heads[0, 0], heads[0, 1], heads[0, 2] = head
    for at in range(1, len(node)):
        head = _on(limits, node[at - 1], node[at], head)
        heads[at, 0], heads[at, 1], heads[at, 2] = head
    tardy.state[WORK] += len(node)
    return head[2]


@inner
def _swapped(
    limits: Limits, tardy: Tardy, first: int, middle: int, last: int, least: float
) -> float:
    """The violations where [first..middle] and [middle+1..last] change places; `least` where they are no fewer."""
    node, heads = tardy.node, tardy.heads
    head = (heads[first - 1, 0], heads[first - 1, 1], heads[first - 1, 2])
    here, end, work = node[first - 1], len(node) - 1, 0
    for count in range(last - first + 1):
        at = middle + 1 + count
        there = node[at if at <= last else at - (last - first + 1)]
        head = _on(limits, here, there, head)
        here = there
        work += 1
        if head[2] >= least:
            break
    at = last + 1
    while head[2] < least and at <= end:
        head = _on(limits, here, node[at], head)
        here = node[at]
        work += 1
        if head[0] == heads[at, 0]:  # all that follows is as it was
            head = (head[0], head[1], head[2] + heads[end, 2] - heads[at, 2])
            break
        at += 1
    tardy.state[WORK] += work
    return min(head[2], least)


@inner
def _moved(limits: Limits, tardy: Tardy, first: int, total: float, end: int) -> float:
    """Move the blocks that begin at a position, the first one that helps, to where it helps most; the violations.

    Near places are looked at first, and no more of them once so much work has been done in all.
    """
    stops, enough = len(tardy.node) - 2, total * (1 - 1e-9)
    for last in range(first, min(first + LONGEST, stops + 1)):
        least, where = enough, 0
        for far in range(1, stops):
            if tardy.state[WORK] >= end:
                break
            if first - far >= 1:
                new = _swapped(limits, tardy, first - far, first - 1, last, least)
                if new < least:
                    least, where = new, first - far
            if last + far <= stops:
                new = _swapped(limits, tardy, first, last, last + far, least)
                if new < least:
                    least, where = new, last + far
        if where > 0:
            move(tardy.node, first, last, where)
            return look_over(limits, tardy)
    return total


@bare
def ease(limits: Limits, tardy: Tardy, random: Random, best: float, most: int) -> float:
    """Search on for so much work, from a tour that has been looked over; the least violations so far."""
    node, kept, state, stops = tardy.node, tardy.kept, tardy.state, len(tardy.node) - 2
    total, end = tardy.heads[stops + 1, 2], state[WORK] + most
    while best > 0 and state[WORK] < end:
        if state[SETTLED] >= stops:
            copy(kept, node, ZERO, stops + 1)
            shake(node, state, random, MOST)
            total = look_over(limits, tardy)
        first = state[NEXT]
        new = _moved(limits, tardy, first, total, end)
        state[SETTLED] = 0 if new < total else state[SETTLED] + 1
        total = new
        state[NEXT] = first + 1 if first < stops else 1
        if total < best:
            best, state[STRENGTH] = total, 0
            copy(node, kept, ZERO, stops + 1)
    return best
