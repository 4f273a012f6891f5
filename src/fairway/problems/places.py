"""Where the nodes of a whole set lie, with travel made on demand so that ten thousand instances stay small."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float
from numpy.typing import ArrayLike

from fairway.errors import InvalidInstance
from fairway.problems import checks
from fairway.problems.distances import euclidean


@runtime_checkable
class Members(Protocol):
    """A set, as far as checking it goes: building a member raises where it is invalid."""

    def __getitem__(self, index: int) -> object: ...


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
                object.__setattr__(self, name, frozen(array))
        nodes = self.shape[1]
        if not 2 <= nodes <= checks.MOST_NODES:
            raise InvalidInstance(
                f"the instances have {nodes} nodes; expected 2 to {checks.MOST_NODES}"
            )

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

    def travel(self, index: int) -> Float[np.ndarray, "N N"]:
        """The travel matrix of one instance."""
        if self.matrix is not None:
            return self.matrix[index]
        assert self.coordinates is not None
        return euclidean(self.coordinates[index])

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


def check_members(members: Members, places: Places, wrong: Bool[np.ndarray, "B N"]) -> None:
    """Refuse a set that holds an invalid instance, with that instance's own sentence.

    Only those that the arrays cast doubt on are built: building all of a bed takes as long as drawing it.
    """
    doubtful = wrong.any(-1)
    for array in (places.coordinates, places.matrix):
        if array is not None:
            # Points this far out may or may not be too far apart, which is for the instance to say.
            sane = np.abs(array) <= checks.LARGEST / 4
            doubtful |= ~sane.all((-1, -2))
    if places.matrix is not None:
        doubtful |= (places.matrix < 0).any((-1, -2))
    for index in np.flatnonzero(doubtful).tolist():
        try:
            with np.errstate(all="ignore"):
                members[index]
        except InvalidInstance as error:
            raise InvalidInstance(f"instance {index}: {error}") from error


def out_of_range(*columns: Float[np.ndarray, "B N"]) -> Bool[np.ndarray, "B N"]:
    """Where any of the columns holds what no instance takes: NaN, infinities, numbers beyond reason."""
    return np.any([~(np.abs(column) <= checks.LARGEST) for column in columns], axis=0)


def frozen(values: ArrayLike) -> Float[np.ndarray, "..."]:
    """A float64 array that nobody can change: a copy, unless it is one already."""
    array = np.asarray(values, dtype=np.float64)
    if array.flags.writeable or array.base is not None:
        array = array.copy()
        array.setflags(write=False)
    return array


def member_labels(labels: Sequence[str] | None, name: str, count: int) -> tuple[str, ...]:
    """A label for each instance of a set."""
    if labels is None:
        return tuple(f"{name}-{number}" for number in range(count))
    if len(labels) != count:
        raise InvalidInstance(f"{len(labels)} labels were given; expected {count}, one an instance")
    return tuple(map(str, labels))


def per_node(values: ArrayLike, name: str, shape: tuple[int, int]) -> Float[np.ndarray, "B N"]:
    """One number for each node of each instance; a single number stands for all of them."""
    array = frozen(values)
    if array.ndim == 0:
        array = np.broadcast_to(array, shape)
    if array.shape != shape:
        raise InvalidInstance(
            f"{name} has shape {array.shape}; expected {shape}, instances by nodes"
        )
    return array
