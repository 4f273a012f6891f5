"""Where labels go on a map: beside their stop, clear of other stops and labels, off the tour where they can be."""

import numpy as np
from jaxtyping import Bool, Float, Int

DISTANCES = (1.0, 2.2, 3.6)
DIRECTIONS = np.array(
    [(1, 0), (-1, 0), (0, 1), (0, -1), (0.75, 0.75), (-0.75, 0.75), (0.75, -0.75), (-0.75, -0.75)]
)

APART = np.repeat((0, 6, 14), len(DIRECTIONS))
"""How many points of the tour a label may cover rather than stand farther from its stop, by option."""

CROWDED = 400
"""With more nodes than this, a label that hides part of the tour is left out."""

SAMPLES = 12_000
"""Points by which a tour is known to the placing of labels; more would cost time and change little."""


def place(
    spots: Float[np.ndarray, "N 2"],
    sizes: Float[np.ndarray, "N 2"],
    order: Int[np.ndarray, " N"],
    legs: Float[np.ndarray, "L 2 2"],
    side: float,
    reach: float,
) -> dict[int, Float[np.ndarray, " 2"]]:
    """The centre of each label that finds room, by node; the nodes first in `order` choose first.

    Args:
        spots: Where the stops are, in inches from the lower left corner; all lengths here are inches.
        sizes: Width and height of each label.
        order: All nodes, the ones that matter most first.
        legs: The two ends of each leg of the tour.
        side: The map is a square of this side, which no label leaves.
        reach: How far from its stop a label begins.
    """
    ink = _along(legs)
    placed: dict[int, Float[np.ndarray, " 2"]] = {}
    for node in order.tolist():
        half, taken = sizes[node] / 2, list(placed)
        options = _options(spots[node], half, reach)
        free = ((options > half) & (options < side - half)).all(1)
        free &= ~_touch(options, half, spots, reach * 0.6).any(1)
        if taken:
            free &= ~_touch(options, half, np.array(list(placed.values())), sizes[taken] / 2).any(1)
        if free.any():
            crossings = _crossings(options[free], half, ink)
            best = int((crossings + APART[free]).argmin())
            if len(spots) <= CROWDED or crossings[best] == 0:
                placed[node] = options[free][best]
    return placed


def _options(
    spot: Float[np.ndarray, " 2"], half: Float[np.ndarray, " 2"], reach: float
) -> Float[np.ndarray, "O 2"]:
    return np.concatenate([spot + DIRECTIONS * (half + reach * distance) for distance in DISTANCES])


def _crossings(
    options: Float[np.ndarray, "O 2"], half: Float[np.ndarray, " 2"], ink: Float[np.ndarray, "M 2"]
) -> Int[np.ndarray, " O"]:
    """How much of the tour each option would cover; ink far from all of them is set aside first."""
    low, high = options.min(0) - half, options.max(0) + half
    near = ink[(ink[:, 0] > low[0]) & (ink[:, 0] < high[0])]
    near = near[(near[:, 1] > low[1]) & (near[:, 1] < high[1])]
    return _touch(options, half, near, 0.0).sum(1)


def _touch(
    centres: Float[np.ndarray, "O 2"],
    half: Float[np.ndarray, " 2"],
    others: Float[np.ndarray, "M 2"],
    margin: Float[np.ndarray, "M 2"] | float,
) -> Bool[np.ndarray, "O M"]:
    """Which boxes (rows) touch which others (columns), whose own half sizes are `margin`."""
    inside = np.abs(centres[:, None] - others[None]) < half + margin
    return inside[..., 0] & inside[..., 1]


def _along(legs: Float[np.ndarray, "L 2 2"]) -> Float[np.ndarray, "M 2"]:
    """Points strung evenly along each leg."""
    if not len(legs):
        return np.empty((0, 2))
    share = np.linspace(0.0, 1.0, max(3, min(60, SAMPLES // len(legs))))[:, None, None]
    return (legs[None, :, 0] * (1 - share) + legs[None, :, 1] * share).reshape(-1, 2)
