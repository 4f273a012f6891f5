"""Where the nodes of a whole set lie, with travel made on demand so that ten thousand instances stay small."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from fairway.errors import InvalidInstance
from fairway.problems.distances import euclidean


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """Coordinates for B instances, or their travel matrices, or both; without matrices travel is Euclidean."""

    coordinates: Float[np.ndarray, "B N 2"] | None = None
    matrix: Float[np.ndarray, "B N N"] | None = None

    def __post_init__(self) -> None:
        if self.coordinates is None and self.matrix is None:
            raise InvalidInstance("a set needs coordinates or travel matrices; neither was given")
        for name in ("coordinates", "matrix"):
            if (array := getattr(self, name)) is not None:
                object.__setattr__(self, name, np.asarray(array, dtype=np.float64))

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, span: slice) -> "Places":
        return Places(
            None if self.coordinates is None else self.coordinates[span],
            None if self.matrix is None else self.matrix[span],
        )

    @property
    def shape(self) -> tuple[int, int]:
        """How many instances, of how many nodes each."""
        array = self.coordinates if self.coordinates is not None else self.matrix
        assert array is not None
        return array.shape[0], array.shape[1]

    def travel(self, span: int | slice) -> Float[np.ndarray, "*B N N"]:
        """The travel matrix of one instance, or those of a span of them."""
        if self.matrix is not None:
            return self.matrix[span]
        assert self.coordinates is not None
        return euclidean(self.coordinates[span])

    def points(self, index: int) -> Float[np.ndarray, "N 2"] | None:
        """The coordinates of one instance, where there are any."""
        return None if self.coordinates is None else self.coordinates[index]


def gathered(
    travels: Sequence[Float[np.ndarray, "N N"]],
    coordinates: Sequence[Float[np.ndarray, "N 2"] | None],
) -> Places:
    """The places of single instances; their matrices are dropped where coordinates give them back to the last bit."""
    if len({travel.shape for travel in travels}) != 1:
        raise InvalidInstance(
            "a set holds instances of one size; these differ in their number of nodes"
        )
    known = [points for points in coordinates if points is not None]
    points = np.stack(known) if len(known) == len(travels) else None
    if points is not None and all(
        np.array_equal(euclidean(p), t) for p, t in zip(points, travels, strict=True)
    ):
        return Places(points)
    return Places(points, np.stack(travels))


def per_node(values: ArrayLike, name: str, shape: tuple[int, int]) -> Float[np.ndarray, "B N"]:
    """One finite number for each node of each instance; a single number stands for all of them."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim == 0:
        array = np.broadcast_to(array, shape)
    if array.shape != shape:
        raise InvalidInstance(
            f"{name} has shape {array.shape}; expected {shape}, instances by nodes"
        )
    if not np.isfinite(array).all():
        raise InvalidInstance(f"{name} has a number that is not finite")
    return array
