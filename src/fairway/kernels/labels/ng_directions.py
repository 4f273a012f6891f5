"""The two directions in which ng-paths are found, and room for them."""

import numpy as np
from jaxtyping import Float, UInt

from fairway.kernels.compiling import bare
from fairway.kernels.labels.bits import holds
from fairway.kernels.labels.label_model import LabelModel, packed, unpacked
from fairway.kernels.labels.ng_sweep import (
    BUCKETS,
    COARSER,
    Cells,
    Champions,
    Direction,
    Gaps,
    Groups,
    Labels,
)
from fairway.kernels.labels.relaxed import _positions, place

ROUNDING = 1e-9
"""Of the widest window, by how much sums of the resource may be off."""
BY_SET_WIDEST, GROUPS = 16, 2048
"""The most undominated labels of a cell where stops are counted, and groups of a stop where they are not."""


def latest(model: LabelModel) -> Float[np.ndarray, " N"]:
    """The highest resource at which each stop can be served and the depot still be reached."""
    return np.minimum(model.latest.diagonal(), model.latest[:, 0])


def no_gaps(nodes: int) -> Gaps:
    """Where each stop has one window."""
    return Gaps(np.zeros(nodes + 1, np.int64), np.zeros((0, 2)))


def directions(model: LabelModel, cells: int, gaps: Gaps) -> tuple[Direction, Direction]:
    """From the depot and, with resources of which the sign is turned, towards it."""
    guard, last = model.spare - model.allowance, latest(model)
    rise, needs = model.rise + model.stay[:, None], unpacked(model.needs)
    legs = model.after[None].copy()
    if cells > 1:
        legs = np.zeros((cells, *model.after.shape), np.uint64)
        place(legs, model.after, *_positions(model))
    back = np.zeros_like(legs)
    turn(legs, back)
    limit, opens = last.copy(), -last
    limit[0], opens[0] = model.closes[0] + model.spare, -(model.closes[0] + model.spare + 2 * guard)
    falls, nothing = np.ascontiguousarray(rise.T) - guard, model.needs[None, :0]
    if cells == 1:  # times never turn round, to the last bit: the bucket at hand is never behind
        np.maximum(falls, 0.0, out=falls)
    bars = packed(needs.T.copy())
    # A gap is a little shorter than it is, since sums may be off: what falls into none bounds all the same.
    shut = gaps.span + np.array([guard, 0.0])
    outward = Direction(
        *(model.price.copy(), rise, model.opens.copy(), limit, legs, bars, nothing),
        gaps._replace(span=shut),
    )
    homeward = Direction(
        np.ascontiguousarray(model.price.T),
        falls,
        opens,
        -model.opens,
        back,
        model.needs.copy(),
        nothing,
        gaps._replace(span=np.ascontiguousarray(-shut[:, ::-1])),
    )
    return _with_ahead(outward), _with_ahead(homeward)


def _with_ahead(way: Direction) -> Direction:
    """The same with the stops that are worth remembering, from each and by coarse bucket."""
    lowest, buckets = scale(way)
    last = np.minimum((_worth_until(way) - lowest) * buckets, BUCKETS - 1.0)
    last += ROUNDING * BUCKETS
    ahead = np.empty((len(last), BUCKETS >> COARSER, way.bars.shape[1]), np.uint64)
    buckets_begin = np.arange(0, BUCKETS, 1 << COARSER)
    for here, worth in enumerate(last):
        ahead[here] = packed(worth >= buckets_begin[:, None])
    ahead[:, 0] = ~np.uint64(0)  # in which are those below the lowest, too
    return way._replace(ahead=ahead)


def _worth_until(way: Direction) -> Float[np.ndarray, "N N"]:
    """The highest resource at the row with which a path may still come to the column, or to a stop that bars it."""
    legs = unpacked(np.bitwise_or.reduce(way.legs, axis=0))
    rise = np.where(legs, way.rise, np.inf)
    np.fill_diagonal(rise, 0.0)
    for via in range(1, len(rise)):
        np.minimum(rise, rise[:, via, None] + rise[via], out=rise)
    until = np.minimum(way.limit, _ends(way)[1]) - rise
    worth, barred = until.copy(), unpacked(way.bars)
    for later in np.flatnonzero(barred.any(1)):
        held = barred[later]
        worth[:, held] = np.maximum(worth[:, held], until[:, later, None])
    return worth


def _ends(way: Direction) -> tuple[float, float]:
    """The lowest and the highest resource, where finite; else nothing and all that the stops add up to."""
    lowest, highest = float(way.opens[0]), float(way.limit[1:].max())
    most = float(way.rise.sum()) / len(way.rise)
    return (lowest if np.isfinite(lowest) else -most), (highest if np.isfinite(highest) else most)


def scale(way: Direction) -> tuple[float, float]:
    """The lowest resource, and buckets per unit."""
    lowest, highest = _ends(way)
    return lowest, (BUCKETS - 1) / max(highest - lowest, 1e-300)


def room(
    model: LabelModel, cells: int, most: int
) -> tuple[Labels, tuple[Cells, Groups, Champions]]:
    """Space for so many labels and what they are compared by."""
    nodes, words = model.needs.shape
    labels = Labels(
        *(np.empty(most), np.empty(most), np.empty((most, words), np.uint64)),
        *(np.empty(most, np.int32), np.empty(most, np.int16), np.empty(most, np.int16)),
        *(np.empty(most, np.int32), np.empty(most, dtype=bool)),
    )
    shape = (cells, nodes, BY_SET_WIDEST if cells > 1 else 0)
    sides = Cells(
        *(np.zeros((cells, nodes), np.int32), np.empty(shape), np.empty(shape)),
        *(np.empty((*shape, words), np.uint64), np.empty(shape, np.int32)),
    )
    most_groups, chained = (0, 0) if cells > 1 else (GROUPS, most)
    groups = Groups(
        *(np.zeros(nodes, np.int32), np.empty((nodes, most_groups, words), np.uint64)),
        *(np.empty((nodes, most_groups)), np.empty((nodes, most_groups))),
        *(np.empty((nodes, most_groups), np.int32), np.empty(chained, np.int32)),
    )
    champions = Champions(
        np.zeros((cells, 2, nodes)),
        np.zeros((cells, words, nodes), np.uint64),
        np.ones(nodes, np.uint64),
    )
    return labels, (sides, groups, champions)


@bare
def turn(legs: UInt[np.ndarray, "M N W"], back: UInt[np.ndarray, "M N W"]) -> None:
    """Write down the same legs in the other direction; every stop that can be reached last begins there."""
    rows, nodes, _ = legs.shape
    for row in range(rows):
        for here in range(nodes):
            for stop in range(1, nodes):
                if holds(legs[row, here], stop):
                    if here > 0:
                        other = 0 if rows == 1 else rows - 1 - row
                        back[other, stop, here >> 6] |= np.uint64(1) << np.uint64(here & 63)
                    if row >= rows - 2:
                        back[0, 0, stop >> 6] |= np.uint64(1) << np.uint64(stop & 63)


@bare
def keep_turned(legs: UInt[np.ndarray, "M N W"], back: UInt[np.ndarray, "M N W"]) -> None:
    """Leave out the legs between stops that the other direction has not."""
    rows, nodes, _ = legs.shape
    for row in range(rows):
        other = 0 if rows == 1 else rows - 1 - row
        for here in range(1, nodes):
            for stop in range(1, nodes):
                if not holds(back[other, stop], here):
                    legs[row, here, stop >> 6] &= ~(np.uint64(1) << np.uint64(stop & 63))
