"""The two directions in which ng-paths are found, and room for them."""

import numpy as np
from jaxtyping import Bool, Float, UInt

from fairway.kernels.compiling import bare
from fairway.kernels.labels.bits import holds
from fairway.kernels.labels.label_model import LabelModel, packed, unpacked
from fairway.kernels.labels.ng_tours import Cells, Direction, Labels
from fairway.kernels.labels.relaxed import _positions, place

BUCKETS = 4096
"""By resource, in which labels wait."""
WIDEST, BY_SET_WIDEST = 2048, 16
"""The most undominated labels of a cell."""


def latest(model: LabelModel) -> Float[np.ndarray, " N"]:
    """The highest resource at which each stop can be served and the depot still be reached."""
    return np.minimum(model.latest.diagonal(), model.latest[:, 0])


def directions(model: LabelModel, cells: int) -> tuple[Direction, Direction]:
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
    falls, nothing = np.ascontiguousarray(rise.T) - guard, np.zeros_like(model.needs)
    if cells == 1:  # times never turn round, to the last bit: the bucket at hand is never behind
        np.maximum(falls, 0.0, out=falls)
    bars = packed(needs.T.copy())
    outward = Direction(model.price.copy(), rise, model.opens.copy(), limit, legs, bars, nothing)
    homeward = Direction(
        np.ascontiguousarray(model.price.T),
        falls,
        opens,
        -model.opens,
        back,
        model.needs.copy(),
        nothing,
    )
    return _with_ahead(outward), _with_ahead(homeward)


def _with_ahead(way: Direction) -> Direction:
    """The same with the stops that are still ahead, by bucket."""
    if len(way.legs) > 1:
        return way._replace(ahead=np.full((len(way.legs), way.legs.shape[2]), ~np.uint64(0)))
    lowest, buckets = scale(way)
    last = np.clip(((way.limit - lowest) * buckets).astype(np.int64), 0, BUCKETS - 1)
    can: Bool[np.ndarray, "B N"] = last[None] >= np.arange(BUCKETS)[:, None]
    return way._replace(ahead=packed(can))


def scale(way: Direction) -> tuple[float, float]:
    """The lowest resource, and buckets per unit."""
    if len(way.legs) > 1:
        return 0.0, 0.0
    lowest, highest = float(way.opens[0]), float(way.limit[1:].max())
    return lowest, (BUCKETS - 1) / max(highest - lowest, 1e-300)


def room(model: LabelModel, cells: int, most: int) -> tuple[Labels, Cells]:
    """Space for so many labels and what they are compared by."""
    nodes, words = model.needs.shape
    widest = BY_SET_WIDEST if cells > 1 else WIDEST
    labels = Labels(
        *(np.empty(most), np.empty(most), np.empty((most, words), np.uint64)),
        *(np.empty(most, np.int32), np.empty(most, np.int16), np.empty(most, np.int16)),
        *(np.empty(most, np.int32), np.empty(most, dtype=bool)),
    )
    shape = (cells, nodes, widest)
    return labels, Cells(
        *(np.zeros((cells, nodes), np.int32), np.zeros((cells, nodes), np.int32)),
        *(np.empty(shape), np.empty(shape), np.empty((*shape, words), np.uint64)),
        np.empty(shape, np.int32),
    )


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
