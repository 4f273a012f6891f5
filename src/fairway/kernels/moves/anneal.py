"""Rounds of the search: ruin a tour and rebuild it, descend from what has changed, and keep the result or go back."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int, UInt

from fairway.kernels.compiling import ZERO, bare, inner
from fairway.kernels.moves.descent import TIE, Aim, Queue, descend, push
from fairway.kernels.moves.rng import Random, uniform
from fairway.kernels.moves.ruin import rebuild
from fairway.kernels.moves.search_model import SearchModel
from fairway.kernels.moves.site import InsertionBuffer, insertion_buffer
from fairway.kernels.moves.swap import copy
from fairway.kernels.moves.tour_state import TourState, refresh

WITHOUT_END = 2**62
"""More nodes than any descent takes."""


class Memory(NamedTuple):
    """The tour to go back to and the best of all, how good they are, room for the next one and the random numbers.

    `changed` holds the first and last position that an unfinished round has changed; no round is open where it is -1.
    """

    kept: UInt[np.ndarray, " V"]
    best: UInt[np.ndarray, " V"]
    weights: Float[np.ndarray, " 2"]
    site: InsertionBuffer
    random: Random
    changed: Int[np.ndarray, " 2"]


def memory_of(state: TourState, aim: Aim, random: Random) -> Memory:
    """All that there is so far is this tour."""
    node, site = state.node, insertion_buffer(len(state.node))
    weights, changed = np.full(2, weight(state, aim)), np.full(2, -1)
    return Memory(node.copy(), node.copy(), weights, site, random, changed)


@bare
def weight(state: TourState, aim: Aim) -> float:
    """How good a tour is, less is better: its cost, or its last resource with the cost as a tie-breaker."""
    last = len(state.node) - 1
    return state.start[last] + TIE * state.length[0, last] if aim[1] else state.length[0, last]


@bare
def anneal(
    model: SearchModel,
    state: TourState,
    queue: Queue,
    memory: Memory,
    temperature: float,
    aim: Aim,
    pace: tuple[int, int],
) -> int:
    """So many rounds from the kept tour, which the state must hold, or on from an open round; how many are left.

    A new tour may be worse than the kept one by about the temperature. The queue is empty, but for an open round. The
    pace is how many rounds, and how many nodes one takes before it is left open, so that a clock can be heard.
    """
    (rounds, most), end, changed = pace, len(state.node) - 1, memory.changed
    least, random = aim[0], memory.random
    if changed[0] < 0:
        refresh(model, state, ZERO, end)  # sums that are only ever shifted drift away, bit by bit
    for done in range(rounds):
        first, last = changed[0], changed[1]
        if first < 0:
            first, last = _renew(model, state, queue, memory.site, random)
        begin, finish = descend(model, state, queue, aim, most)
        first, last = min(first, begin), max(last, finish)
        if queue.ends[1] > 0:
            changed[0], changed[1] = first, last
            return rounds - done
        changed[0] = -1
        new = weight(state, aim)
        if new - memory.weights[0] <= -temperature * np.log(1.0 - uniform(random)):
            copy(state.node, memory.kept, first, last)
            memory.weights[0] = new
            if new < memory.weights[1] - least:
                copy(state.node, memory.best, ZERO, end)
                memory.weights[1] = new
        elif first <= last:
            copy(memory.kept, state.node, first, last)
            refresh(model, state, first, last)
    return 0


@inner
def _renew(
    model: SearchModel, state: TourState, queue: Queue, site: InsertionBuffer, random: Random
) -> tuple[int, int]:
    """Put a rebuilt tour in the place of the current one; the first and last position changed."""
    count = rebuild(model, state, site, random)
    first, last = len(state.node), ZERO
    if count > 0:
        for at in range(len(state.node)):
            if state.node[at] != site.node[at]:
                first, last = min(first, at), at
    if first <= last:
        _push_changed(state, queue, site, first, last)
        copy(site.node, state.node, first, last)
        refresh(model, state, first, last)
    return first, last


@inner
def _push_changed(
    state: TourState, queue: Queue, site: InsertionBuffer, first: int, last: int
) -> None:
    """Put the nodes into the queue that have other neighbours in the tour than before."""
    old, new = state.node, site.node
    for at in range(first - 1, last + 2):
        node = new[at]
        was = state.place[node]
        arrives = at > 0 and old[was - 1] != new[at - 1]
        leaves = at < len(new) - 1 and old[was + 1] != new[at + 1]
        if arrives or leaves:
            push(queue, node)
