"""Where labels go on a map: beside their stop, off the other stops and labels, and off the tour where there is a choice."""

import numpy as np
from jaxtyping import Float, Int

DISTANCES = (1.0, 2.2, 3.6)
DIRECTIONS = np.array(
    [(1, 0), (-1, 0), (0, 1), (0, -1), (0.75, 0.75), (-0.75, 0.75), (0.75, -0.75), (-0.75, -0.75)]
)

SAMPLES = 12_000
"""Points by which a tour is known to the placing of labels; more would cost time and change little."""


def place(
    spots: Float[np.ndarray, "N 2"],
    sizes: Float[np.ndarray, "N 2"],
    order: Int[np.ndarray, " N"],
    legs: Float[np.ndarray, "L 2 2"],
    reach: float,
) -> dict[int, Float[np.ndarray, " 2"]]:
    """The centre of each label that finds room, by node; the nodes first in `order` choose first.

    Args:
        spots: Where the stops are, in inches, like all lengths here.
        sizes: Width and height of each label.
        order: All nodes, the ones that matter most first.
        legs: The two ends of each leg of the tour.
        reach: How far from its stop a label begins.
    """
    ink = _along(legs)
    centres = np.empty((0, 2))
    halves = np.empty((0, 2))
    placed = {}
    for node in order.tolist():
        half = sizes[node] / 2
        options = _options(spots[node], half, reach)
        free = ~_hits(options, half, centres, halves).any(1) & (
            _hits(options, half, spots, reach * 0.6).sum(1) == 0
        )
        if not free.any():
            continue
        options = options[free]
        crossings = _hits(options, half, ink, 0.0).sum(1)
        best = options[int(crossings.argmin())]  # the first of equals, hence the nearest
        placed[node] = best
        centres, halves = np.vstack((centres, best)), np.vstack((halves, half))
    return placed


def _options(
    spot: Float[np.ndarray, " 2"], half: Float[np.ndarray, " 2"], reach: float
) -> Float[np.ndarray, "O 2"]:
    return np.concatenate([spot + DIRECTIONS * (half + reach * distance) for distance in DISTANCES])


def _hits(
    centres: Float[np.ndarray, "O 2"],
    half: Float[np.ndarray, " 2"],
    others: Float[np.ndarray, "M 2"],
    margin: Float[np.ndarray, "M 2"] | float,
) -> np.ndarray:
    """Which boxes (rows) touch which others (columns), whose own half sizes are `margin`."""
    return (np.abs(centres[:, None] - others[None]) < half + margin).all(-1)


def _along(legs: Float[np.ndarray, "L 2 2"]) -> Float[np.ndarray, "M 2"]:
    """Points strung evenly along each leg."""
    if not len(legs):
        return np.empty((0, 2))
    share = np.linspace(0.0, 1.0, max(3, min(60, SAMPLES // len(legs))))[:, None, None]
    return (legs[None, :, 0] * (1 - share) + legs[None, :, 1] * share).reshape(-1, 2)
