"""Travel matrices from coordinates: in a plane under the four rules that published instances use, or on the earth."""

from functools import reduce
from typing import Literal, get_args

import numpy as np
from jaxtyping import Float

from fairway.errors import InvalidRequest
from fairway.given import is_word_of, shown

Distances = Literal["float", "floor", "nearest", "F"]
"""How Euclidean distances become travel: as they are, floored, rounded to nearest, or by rule F (relaxed once)."""

EARTH = 6371.0088
"""Kilometres of its mean radius."""

BLOCK = 64
"""Rows of a matrix that are added at a time."""

WHOLE, ROUNDED = 1.0, 1e-4
"""By how much rounding may bend a triangle: of whole numbers, and else of the longest leg."""


def euclidean(coordinates: Float[np.ndarray, "*B N 2"]) -> Float[np.ndarray, "*B N N"]:
    """Pairwise Euclidean distances in float64."""
    points = coordinates.astype(np.float64, copy=False)
    x, y = points[..., 0], points[..., 1]
    across, along = x[..., :, None] - x[..., None, :], y[..., :, None] - y[..., None, :]
    return np.sqrt(across * across + along * along)


def travel_matrix(
    coordinates: Float[np.ndarray, "N 2"], distances: str = "float"
) -> Float[np.ndarray, "N N"]:
    """Travel between all pairs of points under the chosen rule."""
    check_rule(distances)
    exact = euclidean(coordinates)
    match distances:
        case "float":
            return exact
        case "floor":
            return np.floor(exact)
        case "nearest":
            return np.floor(exact + 0.5)
        case _:
            return _relaxed_once(np.floor(exact))


def check_rule(distances: object) -> None:
    """Refuse what is none of the rules."""
    if not is_word_of(distances, rules := get_args(Distances)):
        raise InvalidRequest(
            f"distance rule {shown(distances)} is unknown; choose one of {', '.join(rules)}"
        )


def _relaxed_once(travel: Float[np.ndarray, "N N"]) -> Float[np.ndarray, "N N"]:
    """Rule F of the Dumas files: one in-place pass over (i, j), each relaxed over all k, in that order.

    It is not Floyd-Warshall, and what it leaves may still break the triangle inequality; the published optima belong to
    exactly this matrix.
    """
    # In the smallest whole numbers that hold every sum, many are compared at once.
    barred = int(2 * travel.max()) + 1
    relaxed = travel.astype(np.min_scalar_type(2 * barred))
    backwards = np.tril(np.full_like(relaxed, barred))
    for i in range(len(relaxed)):
        row, lowered = relaxed[i], _least_sums(relaxed[i], relaxed)
        # An entry that falls serves those after it in its row, some of which may fall in turn.
        while (fallen := np.flatnonzero(lowered < row)).size:
            row = lowered
            onwards = np.maximum(relaxed[fallen], backwards[fallen])
            lowered = np.minimum(row, _least_sums(row[fallen], onwards))
        relaxed[i] = row
    return relaxed.astype(np.float64)


def _least_sums(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The least of first[k] + second[k, j] over all k, for each j, in blocks that stay in the processor's cache."""
    starts = range(0, len(first), BLOCK)
    blocks = ((first[at : at + BLOCK, None] + second[at : at + BLOCK]).min(axis=0) for at in starts)
    return reduce(np.minimum, blocks)


def detour(travel: Float[np.ndarray, "N N"]) -> tuple[int, int, int] | None:
    """A triple (i, k, j) whose way through k is shorter than that from i to j, or None where there is none.

    What rounding may do to a matrix, as that of a router to whole seconds, does not count.
    """
    known = np.isfinite(travel)
    whole = np.array_equal(travel[known], np.rint(travel[known]))
    rounding = max(WHOLE if whole else 0.0, ROUNDED * float(travel[known].max()))
    limits = np.where(known, travel, 0.0) - rounding
    for k in range(len(travel)):
        shorter = travel[:, k, None] + travel[None, k, :] < limits
        if shorter.any():
            i, j = np.argwhere(shorter)[0].tolist()
            return i, k, j
    return None


def great_circle(points: Float[np.ndarray, "N 2"]) -> Float[np.ndarray, "N N"]:
    """Kilometres between places given as longitude and latitude in degrees, along the surface of a sphere."""
    longitude, latitude = np.radians(points).T
    level = np.cos(latitude)
    chord = np.zeros((len(points), len(points)))
    for axis in (level * np.cos(longitude), level * np.sin(longitude), np.sin(latitude)):
        chord += (axis[:, None] - axis) ** 2
    return 2 * EARTH * np.arcsin(np.minimum(np.sqrt(chord, out=chord) / 2, 1.0))
