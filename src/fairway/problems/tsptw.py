"""The travelling salesman with time windows: one instance, and a set of instances of one size."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, overload

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from fairway.errors import InvalidInstance
from fairway.problems import checks
from fairway.problems.places import (
    Places,
    check_members,
    gathered,
    member_labels,
    out_of_range,
    per_node,
)


@dataclass(frozen=True, slots=True, eq=False, init=False)
class TSPTW:
    """One TSPTW in the units of its source: serve every stop inside its window, on the shortest tour.

    Node 0 is the depot: the tour leaves it when it opens and must be back before it closes. Who
    arrives early waits; service must start, not end, inside the window. Waiting and service take
    time but cost nothing.
    """

    problem: ClassVar[str] = "tsptw"

    travel: Float[np.ndarray, "N N"]
    """Time, and cost, from row to column; need be neither symmetric nor metric."""
    opens: Float[np.ndarray, " N"]
    closes: Float[np.ndarray, " N"]
    service: Float[np.ndarray, " N"]
    coordinates: Float[np.ndarray, "N 2"] | None
    """For pictures and features only; travel is what counts."""
    names: tuple[str, ...] | None
    name: str

    def __init__(
        self,
        travel: ArrayLike,
        opens: ArrayLike,
        closes: ArrayLike,
        service: ArrayLike = 0.0,
        coordinates: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        name: str = "",
    ) -> None:
        square = checks.matrix(travel)
        nodes = len(square)
        checked = {
            "travel": square,
            "opens": checks.vector(opens, "opens", nodes),
            "closes": checks.vector(closes, "closes", nodes),
            "service": checks.vector(service, "service", nodes, non_negative=True),
            "coordinates": checks.points(coordinates, nodes),
            "names": checks.stop_names(names, nodes),
            "name": checks.title(name),
        }
        for field_name, value in checked.items():
            object.__setattr__(self, field_name, value)
        if (wrong := np.flatnonzero(self.opens > self.closes)).size:
            stop = int(wrong[0])
            raise InvalidInstance(
                f"the window of node {stop} closes at {self.closes[stop]:g} before it opens at {self.opens[stop]:g}; "
                "expected open <= close",
                "closes",
                (stop,),
            )

    @property
    def nodes(self) -> int:
        """How many nodes there are, the depot included."""
        return len(self.travel)

    @property
    def integral(self) -> bool:
        """Whether all times are whole numbers, so that a schedule is exact."""
        return checks.is_integral(self.travel, self.opens, self.closes, self.service)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is unusual about this instance, in sentences."""
        return (*self.unit_notes, *checks.travel_notes(self.travel))

    @property
    def unit_notes(self) -> tuple[str, ...]:
        """Those of the notes that say that units do not fit, which are quick to have."""
        return checks.unit_notes(self.coordinates, self.travel, self.opens, self.closes)


@dataclass(frozen=True, slots=True, eq=False, init=False)
class TSPTWSet:
    """TSPTW instances of one size as arrays; indexing gives a `TSPTW`, slicing a smaller set."""

    problem: ClassVar[str] = "tsptw"

    places: Places
    opens: Float[np.ndarray, "B N"]
    closes: Float[np.ndarray, "B N"]
    service: Float[np.ndarray, "B N"]
    name: str
    scale: float | None
    """Raw units in one normalised unit; None leaves it to each instance's own extent."""
    labels: tuple[str, ...]
    """What each instance is called; by default the set's name and a number."""

    def __init__(
        self,
        places: Places,
        opens: ArrayLike,
        closes: ArrayLike,
        service: ArrayLike = 0.0,
        name: str = "",
        scale: float | None = None,
        labels: Sequence[str] | None = None,
    ) -> None:
        checked = {
            "places": places,
            "opens": per_node(opens, "opens", places.shape),
            "closes": per_node(closes, "closes", places.shape),
            "service": per_node(service, "service", places.shape),
            "name": checks.title(name),
            "scale": scale,
            "labels": member_labels(labels, name, len(places)),
        }
        for field_name, value in checked.items():
            object.__setattr__(self, field_name, value)
        wrong = (self.opens > self.closes) | (self.service < 0)
        check_members(self, places, wrong | out_of_range(self.opens, self.closes, self.service))

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, index: int) -> TSPTW: ...
    @overload
    def __getitem__(self, index: slice) -> "TSPTWSet": ...
    def __getitem__(self, index: int | slice) -> "TSPTW | TSPTWSet":
        if isinstance(index, slice):
            return replace(
                self,
                places=self.places[index],
                opens=self.opens[index],
                closes=self.closes[index],
                service=self.service[index],
                labels=self.labels[index],
            )
        number = range(len(self))[index]
        return TSPTW(
            self.places.travel(number),
            self.opens[number],
            self.closes[number],
            self.service[number],
            coordinates=self.places.points(number),
            name=self.labels[number],
        )

    def __iter__(self) -> Iterator[TSPTW]:
        return (self[index] for index in range(len(self)))

    @property
    def nodes(self) -> int:
        """How many nodes each instance has, the depot included."""
        return self.places.shape[1]


def tsptw_set(instances: Sequence[TSPTW], name: str = "") -> TSPTWSet:
    """A set of the given instances, which must have the same number of nodes."""
    return TSPTWSet(
        gathered([i.travel for i in instances], [i.coordinates for i in instances]),
        np.stack([i.opens for i in instances]),
        np.stack([i.closes for i in instances]),
        np.stack([i.service for i in instances]),
        name=name,
        labels=[i.name or f"{name}-{number}" for number, i in enumerate(instances)],
    )
