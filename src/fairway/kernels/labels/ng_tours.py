"""Least-cost ng-paths with exact resources, in either direction, below an upper bound.

A path may visit a stop again once one on its way since has forgotten it. Paths are told apart by the stop at which they
stand, and by how many stops they have where the resource does not tell: there, of two paths one that is neither lower,
nor cheaper, nor closed to fewer stops is dominated. They wait in buckets, by their resource or by their stops, until
all that can lead to them have been extended. Read from the end, a tour is one whose resource is negative and rises.
"""

import numpy as np

from fairway.kernels.compiling import bare, inner
from fairway.kernels.labels.bits import lowest
from fairway.kernels.labels.ng_cells import push_by_stops
from fairway.kernels.labels.ng_groups import push_by_memory
from fairway.kernels.labels.ng_sweep import (
    BEST,
    BUCKET,
    COARSER,
    LEAST,
    LOST,
    MOST,
    ONE,
    UPPER,
    USED,
    Sweep,
    challenge,
    place_of,
    reopened,
)


@bare
def begin(sweep: Sweep, upper: float) -> None:
    """Put down the path that has not left its depot."""
    labels, marks, figures, way = sweep.labels, sweep.marks, sweep.figures, sweep.way
    cells, nodes, words = way.legs.shape
    for cell in range(cells):
        for node in range(nodes):
            sweep.cells.count[cell, node] = sweep.groups.count[node] = 0
            sweep.champions.level[cell, 0, node] = np.inf
            for word in range(words):
                sweep.useful[cell, node, word] = 0
    for bucket in range(len(sweep.queue)):
        sweep.queue[bucket] = -1
    figures[LEAST], figures[UPPER] = np.inf, upper
    marks[USED], marks[BUCKET], marks[BEST], marks[LOST] = 1, 0, -1, 0
    labels.resource[0], labels.cost[0] = way.opens[0], 0.0
    labels.parent[0], labels.stop[0], labels.stops[0] = -1, 0, 0
    labels.waiting[0], labels.gone[0] = -1, False
    for word in range(words):
        labels.memory[0, word] = 0
    sweep.queue[0] = 0


@bare
def advance(sweep: Sweep, quantum: int) -> bool:
    """Extend paths bucket by bucket until so much work is done; whether there are any left, and room for more."""
    marks, nodes = sweep.marks, len(sweep.multiplier)
    while marks[BUCKET] < len(sweep.queue):
        label = sweep.queue[marks[BUCKET]]
        if label < 0:
            marks[BUCKET] += 1
            continue
        if quantum <= 0 or marks[USED] + nodes > marks[MOST]:
            return True
        sweep.queue[marks[BUCKET]] = sweep.labels.waiting[label]
        if not sweep.labels.gone[label]:
            quantum -= _extend(sweep, label)
        quantum -= 1
    return False


@inner
def _extend(sweep: Sweep, label: int) -> int:
    """Extend a path to all stops that it may go on to, and to the end; says how much work that was."""
    way, labels = sweep.way, sweep.labels
    here, row = labels.stop[label], min(labels.stops[label], len(way.legs) - 1)
    resource, cost, work = labels.resource[label], labels.cost[label], 0
    bounded = sweep.figures[UPPER] < np.inf
    if here > 0 and (len(way.legs) == 1 or labels.stops[label] == len(way.legs) - 1):
        total = cost + way.price[here, 0]
        in_time = max(resource + way.rise[here, 0], way.opens[0]) <= way.limit[0]
        if in_time and total < sweep.figures[LEAST]:
            sweep.figures[LEAST], sweep.marks[BEST] = total, label
    challenge(sweep, label, min(row + 1, len(way.legs) - 1))
    ahead = way.ahead[here, place_of(sweep, resource) >> COARSER]
    for word in range(way.legs.shape[2]):
        bits = way.legs[row, here, word] & ~labels.memory[label, word] & ahead[word]
        while bits != 0:
            stop = (word << 6) + np.int64(lowest(bits))
            bits &= bits - ONE
            work += 1
            known = not bounded or sweep.useful[row, here, word] >> np.uint64(stop & 63) & ONE != 0
            if known and sweep.champions.open[stop] == 0:
                continue
            there = max(resource + way.rise[here, stop], way.opens[stop])
            there = reopened(way.gaps, stop, there)
            if there > way.limit[stop]:
                continue
            dear = cost + sweep.price[here, stop]
            if bounded and _too_dear(sweep, row + 1, stop, there, dear):
                continue
            if _remember(sweep, label, stop, there):
                if bounded:
                    sweep.useful[row, here, stop >> 6] |= ONE << np.uint64(stop & 63)
                work += _push(sweep, label, stop, there, dear)
    return work


@inner
def _too_dear(sweep: Sweep, stops: int, stop: int, resource: float, cost: float) -> bool:
    """Whether no path of the other direction completes this one below the upper bound."""
    # Both have been rewarded for the stop at which they meet.
    stairs, upper = sweep.other, sweep.figures[UPPER] - cost - sweep.multiplier[stop]
    row = 0 if len(stairs.begin) == 1 else len(stairs.begin) - stops
    low, high = stairs.begin[row, stop], stairs.end[row, stop]
    end = high
    while low < high:
        middle = (low + high) // 2
        if stairs.resource[middle] <= -resource:
            high = middle
        else:
            low = middle + 1
    return low == end or stairs.cost[low] >= upper


@inner
def _remember(sweep: Sweep, label: int, stop: int, resource: float) -> bool:
    """Write what a path remembers at a stop into the scratch; whether it may go there."""
    way, memory, scratch = sweep.way, sweep.labels.memory, sweep.scratch
    ahead = way.ahead[stop, place_of(sweep, resource) >> COARSER]
    for word in range(len(scratch)):
        if memory[label, word] & way.bars[stop, word] != 0:
            return False
        scratch[word] = memory[label, word] & sweep.ng_memory[stop, word] & ahead[word]
        # What is not ahead makes no difference to which path dominates.
        sweep.closed[word] = scratch[word] | ~ahead[word]
    scratch[stop >> 6] |= ONE << np.uint64(stop & 63)
    sweep.closed[stop >> 6] |= ONE << np.uint64(stop & 63)
    return True


@inner
def _push(sweep: Sweep, parent: int, stop: int, resource: float, cost: float) -> int:
    """Write down the path whose memory is in the scratch, unless it is dominated; says how much work that was."""
    if len(sweep.way.legs) > 1:
        return push_by_stops(sweep, parent, stop, resource, cost)
    return push_by_memory(sweep, parent, stop, resource, cost)
