"""What a search for ng-paths consists of: a direction, labels, and how they are compared."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, Int16, Int32, UInt

from fairway.kernels.compiling import inner

USED, BUCKET, BEST, MOST, LOST, WIDEST, RIVALS = range(7)
"""Marks: labels written down, the bucket at hand, the best end, labels for which there is room, whether a cell was too
small, how many labels a cell may have, and how many that remember other stops drop one that is dearer and higher."""
LEAST, UPPER, LOWEST, SCALE = range(4)
"""Figures: what the best path costs; what it must cost less than; the lowest resource, and buckets per unit of it."""
BUCKETS, COARSER = 4096, 3
"""By resource, in which labels wait; and, as a power of two, how much coarser those are that tell what is ahead."""
ONE = np.uint64(1)


class Gaps(NamedTuple):
    """When each stop is shut between two of its windows; service that would begin within a gap begins at its end."""

    begin: Int[np.ndarray, " W"]
    """Where the gaps of each stop begin; N + 1 places."""
    span: Float[np.ndarray, "K 2"]


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
    ahead: UInt[np.ndarray, "N B W"]
    """From the row, by coarse bucket, the stops that are worth remembering: a path may still come to them."""
    gaps: Gaps


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
    resource: Float[np.ndarray, "M N C"]
    cost: Float[np.ndarray, "M N C"]
    memory: UInt[np.ndarray, "M N C W"]
    label: Int32[np.ndarray, "M N C"]


class Groups(NamedTuple):
    """The undominated labels of each stop by what they remember: within a group, ever higher and ever cheaper."""

    count: Int32[np.ndarray, " N"]
    memory: UInt[np.ndarray, "N G W"]
    cost: Float[np.ndarray, "N G"]
    """Of the last label, the cheapest; infinite without one."""
    resource: Float[np.ndarray, "N G"]
    """Of the last label, the highest."""
    last: Int32[np.ndarray, "N G"]
    before: Int32[np.ndarray, " L"]
    """The label before each in its group, or -1."""


class Champions(NamedTuple):
    """Of each cell the label that dominated last, which is tried first."""

    level: Float[np.ndarray, "M 2 N"]
    """Its cost, infinite without one, and its resource."""
    memory: UInt[np.ndarray, "M W N"]
    """What it remembers, its own stop apart."""
    open: UInt[np.ndarray, " N"]
    """Of each stop, whether the path at hand can come to it undominated by the champion: then not zero."""


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
    price: Float[np.ndarray, "N N"]
    """Of legs, less the multiplier of the column."""
    ng_memory: UInt[np.ndarray, "N W"]
    labels: Labels
    cells: Cells
    """Where the resource does not tell paths apart."""
    groups: Groups
    """Where it does."""
    champions: Champions
    queue: Int32[np.ndarray, " B"]
    """A label that waits in each bucket, or -1."""
    marks: Int[np.ndarray, " 7"]
    figures: Float[np.ndarray, " 4"]
    other: Stairs
    """What completing a path costs at least."""
    useful: UInt[np.ndarray, "M N W"]
    """The legs of paths that may be completed below the upper bound, where there is one."""
    scratch: UInt[np.ndarray, " W"]
    """What the path at hand remembers."""
    closed: UInt[np.ndarray, " W"]
    """The same, and all that it cannot come to."""


@inner
def bucket_of(sweep: Sweep, resource: float, stops: int) -> int | np.int64:
    """Where a label waits."""
    return stops if len(sweep.way.legs) > 1 else place_of(sweep, resource)


@inner
def place_of(sweep: Sweep, resource: float) -> int | np.int64:
    """The bucket of a resource."""
    place = np.int64((resource - sweep.figures[LOWEST]) * sweep.figures[SCALE])
    return min(max(place, 0), BUCKETS - 1)


@inner
def reopened(gaps: Gaps, stop: int, resource: float) -> float:
    """When service can begin at a stop that is there and open from then on, but for its gaps."""
    for gap in range(gaps.begin[stop], gaps.begin[stop + 1]):
        if gaps.span[gap, 0] < resource < gaps.span[gap, 1]:
            return gaps.span[gap, 1]
    return resource


@inner
def within(memory: UInt[np.ndarray, " W"], other: UInt[np.ndarray, " W"]) -> bool:
    """Whether the other set has all of this one."""
    more = np.uint64(0)
    for word in range(len(memory)):
        more |= memory[word] & ~other[word]
    return more == 0


@inner
def closed_to(
    memory: UInt[np.ndarray, " W"], other: UInt[np.ndarray, " W"], ahead: UInt[np.ndarray, " W"]
) -> bool:
    """Whether the other set has all of this one that is ahead."""
    more = np.uint64(0)
    for word in range(len(memory)):
        more |= memory[word] & ~other[word] & ahead[word]
    return more == 0


@inner
def crown(sweep: Sweep, row: int, stop: int, label: int) -> None:
    """Have a label tried before all others of its cell."""
    champions, labels = sweep.champions, sweep.labels
    champions.level[row, 0, stop] = labels.cost[label]
    champions.level[row, 1, stop] = labels.resource[label]
    for word in range(labels.memory.shape[1]):
        champions.memory[row, word, stop] = labels.memory[label, word]
    champions.memory[row, stop >> 6, stop] &= ~(ONE << np.uint64(stop & 63))


@inner
def challenge(sweep: Sweep, label: int, row: int) -> None:
    """Find the stops to which a path can go on undominated by the champions there."""
    way, champions, labels = sweep.way, sweep.champions, sweep.labels
    here, resource, cost = labels.stop[label], labels.resource[label], labels.cost[label]
    rise, price, free = way.rise[here], sweep.price[here], champions.open
    best, lowest = champions.level[row, 0], champions.level[row, 1]
    # One loop after the other, without branches: processors do several stops at once.
    for stop in range(len(free)):
        there = resource + rise[stop]
        there = there if there > way.opens[stop] else way.opens[stop]
        beaten = (best[stop] <= cost + price[stop]) & (lowest[stop] <= there)
        free[stop] = np.uint64(0) if beaten else ONE
    for word in range(labels.memory.shape[1]):
        forgotten, held = ~labels.memory[label, word], champions.memory[row, word]
        for stop in range(len(free)):
            free[stop] |= held[stop] & forgotten


@inner
def write(
    sweep: Sweep, parent: int, stop: int, stops: int, resource: float, cost: float
) -> np.int64:
    """Write down a new label, and let it wait."""
    labels, new = sweep.labels, sweep.marks[USED]
    sweep.marks[USED] = new + 1
    labels.resource[new], labels.cost[new], labels.parent[new] = resource, cost, parent
    labels.stop[new], labels.stops[new], labels.gone[new] = stop, stops, False
    for word in range(len(sweep.scratch)):
        labels.memory[new, word] = sweep.scratch[word]
    bucket = bucket_of(sweep, resource, stops)
    labels.waiting[new] = sweep.queue[bucket]
    sweep.queue[bucket] = new
    return new
