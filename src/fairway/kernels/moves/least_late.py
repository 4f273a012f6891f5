"""Towards the least total violation, where no tour keeps every limit: blocks of one to three stops move.

Here a late stop delays all that follows, as the judge has it, whereas `lateness` warps it back to its deadline: that
leads to feasible tours more quickly, but is no measure for what a driver would be late by.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int, UInt

from fairway.kernels.compiling import ZERO, bare, inner
from fairway.kernels.moves.rng import Random
from fairway.kernels.moves.search_model import SearchModel
from fairway.kernels.moves.swap import copy, move
from fairway.kernels.moves.time_warp import LONGEST, NEXT, SETTLED, STRENGTH, shake

MOST = 4
"""Stops that the strongest shake moves at random."""
WORK = 3
"""Of the state, beside those of a late tour."""


class Tardy(NamedTuple):
    """A tour by position, the depot at both ends, and what is known of its beginnings."""

    node: UInt[np.ndarray, " V"]
    kept: UInt[np.ndarray, " V"]
    """The best tour so far."""
    heads: Float[np.ndarray, "V 2"]
    """At each position the resource and the violations up to it."""
    state: Int[np.ndarray, " 4"]
    """The next position to move from, how many were tried in vain, the strength of the last shake, the work done."""


def tardy_tour(node: UInt[np.ndarray, " V"]) -> Tardy:
    """Room for the search from this tour, which is copied."""
    return Tardy(node.copy(), node.copy(), np.empty((len(node), 2)), np.array([1, 0, 0, 0]))


@inner
def _on(
    model: SearchModel, here: int, there: int, resource: float, late: float
) -> tuple[float, float]:
    """The resource at the next node and the violations so far."""
    resource = max(resource + model.increment[here, there], model.opens[there])
    return resource, late + max(resource - model.closes[there], 0.0)


@bare
def look_over(model: SearchModel, tardy: Tardy) -> float:
    """Work out all beginnings anew; the violations of the whole."""
    node, heads = tardy.node, tardy.heads
    resource, late = model.opens[0], 0.0
    heads[0, 0], heads[0, 1] = resource, late
    for at in range(1, len(node)):
        resource, late = _on(model, node[at - 1], node[at], resource, late)
        heads[at, 0], heads[at, 1] = resource, late
    tardy.state[WORK] += len(node)
    return late


@inner
def _swapped(
    model: SearchModel, tardy: Tardy, first: int, middle: int, last: int, least: float
) -> float:
    """The violations where [first..middle] and [middle+1..last] change places; `least` where they are no fewer."""
    node, heads = tardy.node, tardy.heads
    resource, late = heads[first - 1, 0], heads[first - 1, 1]
    here, end, work = node[first - 1], len(node) - 1, 0
    for count in range(last - first + 1):
        at = middle + 1 + count
        there = node[at if at <= last else at - (last - first + 1)]
        resource, late = _on(model, here, there, resource, late)
        here = there
        work += 1
        if late >= least:
            break
    at = last + 1
    while late < least and at <= end:
        resource, late = _on(model, here, node[at], resource, late)
        here = node[at]
        work += 1
        if resource == heads[at, 0]:  # all that follows is as it was
            late += heads[end, 1] - heads[at, 1]
            break
        at += 1
    tardy.state[WORK] += work
    return min(late, least)


@inner
def _moved(model: SearchModel, tardy: Tardy, first: int, total: float, end: int) -> float:
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
                new = _swapped(model, tardy, first - far, first - 1, last, least)
                if new < least:
                    least, where = new, first - far
            if last + far <= stops:
                new = _swapped(model, tardy, first, last, last + far, least)
                if new < least:
                    least, where = new, last + far
        if where > 0:
            move(tardy.node, first, last, where)
            return look_over(model, tardy)
    return total


@bare
def ease(model: SearchModel, tardy: Tardy, random: Random, best: float, most: int) -> float:
    """Search on for so much work, from a tour that has been looked over; the least violations so far."""
    node, kept, state, stops = tardy.node, tardy.kept, tardy.state, len(tardy.node) - 2
    total, end = tardy.heads[stops + 1, 1], state[WORK] + most
    while best > 0 and state[WORK] < end:
        if state[SETTLED] >= stops:
            copy(kept, node, ZERO, stops + 1)
            shake(node, state, random, MOST)
            total = look_over(model, tardy)
        first = state[NEXT]
        new = _moved(model, tardy, first, total, end)
        state[SETTLED] = 0 if new < total else state[SETTLED] + 1
        total = new
        state[NEXT] = first + 1 if first < stops else 1
        if total < best:
            best, state[STRENGTH] = total, 0
            copy(node, kept, ZERO, stops + 1)
    return best
