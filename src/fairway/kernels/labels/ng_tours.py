"""Least-cost ng-paths with exact resources, in either direction, below an upper bound.

A path may visit a stop again once one on its way since has forgotten it. Paths are told apart by the stop at which they
stand, and by how many stops they have where the resource does not tell: there, of two paths one that is neither lower,
nor cheaper, nor closed to fewer stops is dominated. They wait in buckets, by their resource or by their stops, until
all that can lead to them have been extended. Read from the end, a tour is one whose resource is negative and rises.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, Int16, Int32, UInt

from fairway.kernels.compiling import ZERO, bare, inner
from fairway.kernels.labels.bits import lowest

USED, BUCKET, BEST, MOST, LOST, WIDEST, RIVALS = range(7)
"""Marks: labels written down, the bucket at hand, the best end, labels for which there is room, whether a cell was too
small, how many labels a cell may have, and how many that remember other stops drop one that is dearer and higher."""
LEAST, UPPER, LOWEST, SCALE = range(4)
"""Figures: what the best path costs; what it must cost less than; the lowest resource, and buckets per unit of it."""
ONE = np.uint64(1)


class Direction(NamedTuple):
    """How paths are extended, from the depot or towards it."""

    price: Float[np.ndarray, "N N"]
    """Of a leg from the row to the column; column 0 is the end."""
    rise: Float[np.ndarray, "N N"]
    """The resource grows by this."""
    opens: Float[np.ndarray, " N"]
    limit: Float[np.ndarray, " N"]
    legs: UInt[np.ndarray, "M N W"]
    """After so many stops, where to go from the row; M = 1 where that makes no difference."""
    bars: UInt[np.ndarray, "N W"]
    """Stops that come after the row, if at all."""
    ahead: UInt[np.ndarray, "B W"]
    """By bucket, the stops that can still be visited."""


class Labels(NamedTuple):
    """Room for paths, a row each."""

    resource: Float[np.ndarray, " L"]
    cost: Float[np.ndarray, " L"]
    """Of the legs, less the multipliers of the stops."""
    memory: UInt[np.ndarray, "L W"]
    """The stops that are not forgotten, the last among them."""
    parent: Int32[np.ndarray, " L"]
    stop: Int16[np.ndarray, " L"]
    stops: Int16[np.ndarray, " L"]
    """Visits so far, where they are told apart."""
    waiting: Int32[np.ndarray, " L"]
    """The next label of the same bucket, or -1."""
    gone: Bool[np.ndarray, " L"]
    """Whether the label is dominated."""


class Cells(NamedTuple):
    """What the undominated labels of each cell are compared by, the cheapest first, side by side."""

    count: Int32[np.ndarray, "M N"]
    strong: Int32[np.ndarray, "M N"]
    """The place of the one that dominated last, which is tried first."""
    resource: Float[np.ndarray, "M N C"]
    cost: Float[np.ndarray, "M N C"]
    memory: UInt[np.ndarray, "M N C W"]
    label: Int32[np.ndarray, "M N C"]


class Stairs(NamedTuple):
    """The least costs of the paths of the other direction from each stop, by resource: ever dearer, ever lower."""

    begin: Int[np.ndarray, "M N"]
    end: Int[np.ndarray, "M N"]
    resource: Float[np.ndarray, " K"]
    cost: Float[np.ndarray, " K"]


class Sweep(NamedTuple):
    """All paths of one direction, as far as they have been found."""

    way: Direction
    multiplier: Float[np.ndarray, " N"]
    ng_memory: UInt[np.ndarray, "N W"]
    labels: Labels
    cells: Cells
    queue: Int32[np.ndarray, " B"]
    """A label that waits in each bucket, or -1."""
    marks: Int[np.ndarray, " 7"]
    figures: Float[np.ndarray, " 4"]
    other: Stairs
    """What completing a path costs at least."""
    useful: UInt[np.ndarray, "M N W"]
    """The legs of paths that may be completed below the upper bound, where there is one."""
    scratch: UInt[np.ndarray, " W"]


@bare
def begin(sweep: Sweep, upper: float) -> None:
    """Put down the path that has not left its depot."""
    labels, marks, figures, way = sweep.labels, sweep.marks, sweep.figures, sweep.way
    cells, nodes, words = way.legs.shape
    for cell in range(cells):
        for node in range(nodes):
            sweep.cells.count[cell, node] = sweep.cells.strong[cell, node] = 0
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
    for word in range(way.legs.shape[2]):
        bits = way.legs[row, here, word] & ~labels.memory[label, word]
        while bits != 0:
            stop = (word << 6) + np.int64(lowest(bits))
            bits &= bits - ONE
            work += 1
            there = max(resource + way.rise[here, stop], way.opens[stop])
            if there > way.limit[stop]:
                continue
            dear = cost + way.price[here, stop] - sweep.multiplier[stop]
            if bounded and _too_dear(sweep, row + 1, stop, there, dear):
                continue
            if _remember(sweep, label, stop, there, row + 1):
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
def _bucket_of(sweep: Sweep, resource: float, stops: int) -> int | np.int64:
    if len(sweep.way.legs) > 1:
        return stops
    place = np.int64((resource - sweep.figures[LOWEST]) * sweep.figures[SCALE])
    return min(max(place, 0), len(sweep.queue) - 1)


@inner
def _remember(sweep: Sweep, label: int, stop: int, resource: float, stops: int) -> bool:
    """Write what a path remembers at a stop into the scratch; whether it may go there."""
    way, memory, scratch = sweep.way, sweep.labels.memory, sweep.scratch
    bucket = _bucket_of(sweep, resource, stops)
    for word in range(len(scratch)):
        if memory[label, word] & way.bars[stop, word] != 0:
            return False
        scratch[word] = memory[label, word] & sweep.ng_memory[stop, word] & way.ahead[bucket, word]
    scratch[stop >> 6] |= ONE << np.uint64(stop & 63)
    return True


@inner
def _push(sweep: Sweep, parent: int, stop: int, resource: float, cost: float) -> int:
    """Write down the path whose memory is in the scratch, unless it is dominated; says how much work that was."""
    cells, scratch = sweep.cells, sweep.scratch
    stops = sweep.labels.stops[parent] + (1 if len(cells.count) > 1 else 0)
    row = min(stops, len(cells.count) - 1)
    count, most = cells.count[row, stop], sweep.marks[WIDEST]
    resources, costs, memory = (
        cells.resource[row, stop],
        cells.cost[row, stop],
        cells.memory[row, stop],
    )
    place = _rank(sweep, row, stop, resource, cost)
    if place < 0:
        return -place
    work = place
    if place == count:
        if count == most:
            return work + _merge(sweep, row, stop, parent, resource, cost)
    else:
        last = place
        for other in range(place, count):
            if resources[other] >= resource and _within(scratch, memory[other]):
                sweep.labels.gone[cells.label[row, stop, other]] = True
            else:
                if last < other:
                    _move(cells, row, stop, other, last)
                last += 1
        work += count - place
        count = last
        if count == most:
            count -= 1
            _lose(sweep, row, stop, count)
        for other in range(count, place, -1):
            _move(cells, row, stop, other - 1, other)
    cells.count[row, stop] = count + 1
    new = _write(sweep, parent, stop, stops, resource, cost)
    resources[place], costs[place], cells.label[row, stop, place] = resource, cost, new
    for word in range(len(scratch)):
        memory[place, word] = scratch[word]
    return work


@inner
def _rank(sweep: Sweep, row: int, stop: int, resource: float, cost: float) -> int:
    """The place of the path whose memory is in the scratch among those of its cell; below nothing if dominated."""
    cells, rivals, place = sweep.cells, sweep.marks[RIVALS], ZERO
    strong = cells.strong[row, stop]
    if (
        strong < cells.count[row, stop]
        and cells.cost[row, stop, strong] <= cost
        and cells.resource[row, stop, strong] <= resource
        and _within(cells.memory[row, stop, strong], sweep.scratch)
    ):
        return -1
    while place < cells.count[row, stop] and cells.cost[row, stop, place] <= cost:
        if cells.resource[row, stop, place] <= resource:
            rivals -= 1
            if rivals <= 0 or _within(cells.memory[row, stop, place], sweep.scratch):
                cells.strong[row, stop] = place
                return -1 - place
        place += 1
    return place


@inner
def _within(memory: UInt[np.ndarray, " W"], other: UInt[np.ndarray, " W"]) -> bool:
    """Whether the other set has all of this one."""
    more = np.uint64(0)
    for word in range(len(memory)):
        more |= memory[word] & ~other[word]
    return more == 0


@inner
def _move(cells: Cells, row: int, stop: int, source: int, target: int) -> None:
    cells.resource[row, stop, target] = cells.resource[row, stop, source]
    cells.cost[row, stop, target] = cells.cost[row, stop, source]
    cells.label[row, stop, target] = cells.label[row, stop, source]
    for word in range(cells.memory.shape[3]):
        cells.memory[row, stop, target, word] = cells.memory[row, stop, source, word]


@inner
def _write(
    sweep: Sweep, parent: int, stop: int, stops: int, resource: float, cost: float
) -> np.int64:
    """Write down a new label, and let it wait."""
    labels, new = sweep.labels, sweep.marks[USED]
    sweep.marks[USED] = new + 1
    labels.resource[new], labels.cost[new], labels.parent[new] = resource, cost, parent
    labels.stop[new], labels.stops[new], labels.gone[new] = stop, stops, False
    for word in range(len(sweep.scratch)):
        labels.memory[new, word] = sweep.scratch[word]
    bucket = _bucket_of(sweep, resource, stops)
    labels.waiting[new] = sweep.queue[bucket]
    sweep.queue[bucket] = new
    return new


@inner
def _merge(sweep: Sweep, row: int, stop: int, parent: int, resource: float, cost: float) -> int:
    """Let the dearest label of a full cell stand for a dearer path as well."""
    cells, labels = sweep.cells, sweep.labels
    if len(cells.count) == 1:
        sweep.marks[LOST] = 1
        return 1
    last = sweep.marks[WIDEST] - 1
    label = cells.label[row, stop, last]
    labels.resource[label] = min(labels.resource[label], resource)
    cells.resource[row, stop, last] = labels.resource[label]
    for word in range(len(sweep.scratch)):
        labels.memory[label, word] &= sweep.scratch[word]
        cells.memory[row, stop, last, word] = labels.memory[label, word]
    return 1


@inner
def _lose(sweep: Sweep, row: int, stop: int, place: int) -> None:
    """Let the last but one label of a full cell stand for the last one as well, which makes room."""
    cells, labels = sweep.cells, sweep.labels
    if len(cells.count) == 1:
        sweep.marks[LOST] = 1
        return
    label, lost = cells.label[row, stop, place - 1], cells.label[row, stop, place]
    labels.gone[lost] = True
    labels.resource[label] = min(labels.resource[label], labels.resource[lost])
    cells.resource[row, stop, place - 1] = labels.resource[label]
    for word in range(labels.memory.shape[1]):
        labels.memory[label, word] &= labels.memory[lost, word]
        cells.memory[row, stop, place - 1, word] = labels.memory[label, word]


@bare
def lay_stairs(sweep: Sweep, stairs: Stairs) -> None:
    """Write down the least costs of the paths found, whatever they remember."""
    cells, used = sweep.cells, 0
    for row in range(cells.count.shape[0]):
        for stop in range(cells.count.shape[1]):
            stairs.begin[row, stop] = used
            low = np.inf
            for place in range(cells.count[row, stop]):
                if cells.resource[row, stop, place] < low:
                    low = cells.resource[row, stop, place]
                    stairs.resource[used], stairs.cost[used] = low, cells.cost[row, stop, place]
                    used += 1
            stairs.end[row, stop] = used
