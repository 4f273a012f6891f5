"""Travel matrices from coordinates, under the four rules that published instances use."""

from typing import Literal, get_args

import numpy as np
from jaxtyping import Float

from fairway.errors import InvalidRequest

Distances = Literal["float", "floor", "nearest", "F"]
"""How Euclidean distances become travel: as they are, floored, rounded to nearest, or by rule F (relaxed once)."""


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
    exact = euclidean(coordinates)
    match distances:
        case "float":
            return exact
        case "floor":
            return np.floor(exact)
        case "nearest":
            return np.floor(exact + 0.5)
        case "F":
            return _relaxed_once(np.floor(exact))
        case _:
            raise InvalidRequest(
                f"distance rule {distances!r} is unknown; choose one of {', '.join(get_args(Distances))}"
            )


def _relaxed_once(travel: Float[np.ndarray, "N N"]) -> Float[np.ndarray, "N N"]:
    """Rule F of the Dumas files: one in-place pass over (i, j), each relaxed over all k, in that order.

    It is not Floyd-Warshall, and what it leaves may still break the triangle inequality; the published optima belong to
    exactly this matrix.
    """
    relaxed = travel.copy()
    for i in range(len(relaxed)):
        for j in range(len(relaxed)):
            relaxed[i, j] = min(relaxed[i, j], (relaxed[i, :] + relaxed[:, j]).min())
    return relaxed


def detour(travel: Float[np.ndarray, "N N"]) -> tuple[int, int, int] | None:
    """A triple (i, k, j) whose way through k is shorter than i to j directly, or None where there is no such thing."""
    rounding = 1e-9 * max(1.0, float(travel.max()))
    for k in range(len(travel)):
        shorter = travel[:, k, None] + travel[None, k, :] < travel - rounding
        if shorter.any():
            i, j = np.argwhere(shorter)[0].tolist()
            return i, k, j
    return None
