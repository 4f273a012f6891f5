"""Rounds of the search: ruin a tour and rebuild it, descend from what has changed, and keep the result or go back."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, UInt

from fairway.kernels.compiling import ZERO, bare, inner
from fairway.kernels.moves.chance import Random, uniform
from fairway.kernels.moves.descent import TIE, Aim, Queue, descend, push
from fairway.kernels.moves.form import Form
from fairway.kernels.moves.line import Line, refresh
from fairway.kernels.moves.ruin import Site, rebuild, site_for
from fairway.kernels.moves.swap import copy

WITHOUT_END = ZERO + 2**62


class Memory(NamedTuple):
    """The tour to go back to and the best of all, how good they are, room for the next one and the source of chance."""

    kept: UInt[np.ndarray, " V"]
    best: UInt[np.ndarray, " V"]
    weights: Float[np.ndarray, " 2"]
    site: Site
    random: Random


def memory_of(line: Line, aim: Aim, random: Random) -> Memory:
    """All that there is so far is this tour."""
    node, site = line.node, site_for(len(line.node))
    return Memory(node.copy(), node.copy(), np.full(2, weight(line, aim)), site, random)


@bare
def weight(line: Line, aim: Aim) -> float:
    """How good a tour is, less is better: its cost, or its last level with the cost as a tie-breaker."""
    last = len(line.node) - 1
    return line.start[last] + TIE * line.length[0, last] if aim[1] else line.length[0, last]


@bare
def anneal(
    form: Form, line: Line, queue: Queue, memory: Memory, heat: float, aim: Aim, rounds: int
) -> None:
    """So many rounds from the kept tour, which the line must be; the queue is empty, before and after.

    A new tour may be worse than the kept one by about the heat.
    """
    least, random, end = aim[0], memory.random, len(line.node) - 1
    refresh(form, line, ZERO, end)  # sums that are only ever shifted drift away, bit by bit
    for _ in range(rounds):
        first, last = _renew(form, line, queue, memory.site, random)
        begin, finish = descend(form, line, queue, aim, WITHOUT_END)
        first, last = min(first, begin), max(last, finish)
        new = weight(line, aim)
        if new - memory.weights[0] <= -heat * np.log(1.0 - uniform(random)):
            copy(line.node, memory.kept, first, last)
            memory.weights[0] = new
            if new < memory.weights[1] - least:
                copy(line.node, memory.best, ZERO, end)
                memory.weights[1] = new
        elif first <= last:
            copy(memory.kept, line.node, first, last)
            refresh(form, line, first, last)


@inner
def _renew(form: Form, line: Line, queue: Queue, site: Site, random: Random) -> tuple[int, int]:
    """Put a rebuilt tour in the line's place; the first and last position changed."""
    count = rebuild(form, line, site, random)
    first, last = len(line.node), ZERO
    if count > 0:
        for at in range(len(line.node)):
            if line.node[at] != site.node[at]:
                first, last = min(first, at), at
    if first <= last:
        _push_changed(line, queue, site, first, last)
        copy(site.node, line.node, first, last)
        refresh(form, line, first, last)
    return first, last


@inner
def _push_changed(line: Line, queue: Queue, site: Site, first: int, last: int) -> None:
    """Put the nodes into the queue that have other neighbours in the tour than before."""
    old, new = line.node, site.node
    for at in range(first - 1, last + 2):
        node = new[at]
        was = line.place[node]
        arrives = at > 0 and old[was - 1] != new[at - 1]
        leaves = at < len(new) - 1 and old[was + 1] != new[at + 1]
        if arrives or leaves:
            push(queue, node)
