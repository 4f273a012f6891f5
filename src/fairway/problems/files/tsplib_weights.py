"""Travel out of what TSPLIB gives: weights in one of nine orders, or coordinates and a rule."""

from array import array
from collections.abc import Callable

import numpy as np
from jaxtyping import Float

from fairway.problems import checks
from fairway.problems.distances import Distances, euclidean
from fairway.problems.files.points import check_size, travel_between

EARTH = 6378.388
PI = 3.141592
"""The radius and the pi of the standard, which its published distances depend on."""


def _upper_row(nodes: int) -> tuple[np.ndarray, np.ndarray]:
    return np.triu_indices(nodes, 1)


def _lower_row(nodes: int) -> tuple[np.ndarray, np.ndarray]:
    return np.tril_indices(nodes, -1)


def _upper_diagonal_row(nodes: int) -> tuple[np.ndarray, np.ndarray]:
    return np.triu_indices(nodes)


def _lower_diagonal_row(nodes: int) -> tuple[np.ndarray, np.ndarray]:
    return np.tril_indices(nodes)


TRIANGLES: dict[str, Callable[[int], tuple[np.ndarray, np.ndarray]]] = {
    "UPPER_ROW": _upper_row,
    "LOWER_ROW": _lower_row,
    "UPPER_DIAG_ROW": _upper_diagonal_row,
    "LOWER_DIAG_ROW": _lower_diagonal_row,
    "UPPER_COL": _lower_row,
    "LOWER_COL": _upper_row,
    "UPPER_DIAG_COL": _lower_diagonal_row,
    "LOWER_DIAG_COL": _upper_diagonal_row,
}
"""Where the weights of a triangle go, in the order they are listed.

Down the columns of one triangle is along the rows of the other.
"""


def weights_in(shape: str, nodes: int) -> int:
    """How many weights a file with this EDGE_WEIGHT_FORMAT lists."""
    if shape == "FULL_MATRIX":
        return nodes * nodes
    return nodes * (nodes + 1) // 2 if "DIAG" in shape else nodes * (nodes - 1) // 2


def position(shape: str, nodes: int, row: int, column: int) -> int:
    """How many weights come before the one that a place in the matrix is filled with."""
    if shape == "FULL_MATRIX":
        return row * nodes + column
    rows, columns = TRIANGLES[shape](nodes)
    listed = (rows == row) & (columns == column) | (rows == column) & (columns == row)
    return int(np.flatnonzero(listed)[0])


def unfolded(weights: "array[float]", shape: str, nodes: int) -> Float[np.ndarray, "N N"]:
    """The matrix of weights listed in an EDGE_WEIGHT_FORMAT; a triangle is mirrored."""
    if shape == "FULL_MATRIX":
        return np.array(weights).reshape(nodes, nodes)
    rows, columns = TRIANGLES[shape](nodes)
    matrix = np.zeros((nodes, nodes))
    matrix[rows, columns] = matrix[columns, rows] = weights
    return matrix


def between(
    points: Float[np.ndarray, "N 2"], kind: str, distances: Distances | None
) -> Float[np.ndarray, "N N"]:
    """Travel under an EDGE_WEIGHT_TYPE; `distances` replaces the rounding of EUC_2D only."""
    check_size(len(points))
    checks.points(points, len(points))
    match kind:
        case "EUC_2D":
            return travel_between(points, distances or "nearest")
        case "CEIL_2D":
            return np.ceil(euclidean(points))
        case "FLOOR_2D":
            return travel_between(points, "floor")
        case "GEO":
            return _geographical(points)
        case _:
            raise AssertionError(f"{kind} is not among the kinds the reader lets through")


def _geographical(points: Float[np.ndarray, "N 2"]) -> Float[np.ndarray, "N N"]:
    """Kilometres between places in degrees.minutes, by the standard's own formula."""
    degrees = np.trunc(points)
    latitude, longitude = (PI * (degrees + 5.0 * (points - degrees) / 3.0) / 180.0).T
    q1 = np.cos(longitude[:, None] - longitude)
    q2 = np.cos(latitude[:, None] - latitude)
    q3 = np.cos(latitude[:, None] + latitude)
    cosine = 0.5 * ((1.0 + q1) * q2 - (1.0 - q1) * q3)
    return np.floor(EARTH * np.arccos(np.clip(cosine, -1.0, 1.0)) + 1.0)
