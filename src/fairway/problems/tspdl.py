"""The travelling salesman with draft limits: one instance, and a set of instances of one size."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, overload

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

Load = Literal["growing", "shrinking"]
"""Whether the ship collects along its tour (the paper) or leaves full and delivers (Rakke's files, LKH-3)."""


@dataclass(frozen=True, slots=True, eq=False, init=False)
class TSPDL:
    """One TSPDL in the units of its source: call at every port no deeper than its draft allows, on the shortest tour.

    A growing load counts the port's own cargo on top of what was collected before it; a shrinking
    load is what is still on board on arrival. The two are the same constraint read from the other
    end of the tour, and a tour is always given in the instance's own direction. Node 0 is the
    depot; its own draft is not checked, as in both sources.
    """

    problem: ClassVar[str] = "tspdl"

    travel: Float[np.ndarray, "N N"]
    """Cost from row to column; need be neither symmetric nor metric."""
    demand: Float[np.ndarray, " N"]
    draft: Float[np.ndarray, " N"]
    load: Load
    coordinates: Float[np.ndarray, "N 2"] | None
    """For pictures and features only; travel is what counts."""
    names: tuple[str, ...] | None
    name: str

    def __init__(
        self,
        travel: ArrayLike,
        demand: ArrayLike,
        draft: ArrayLike,
        load: str = "growing",
        coordinates: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        name: str = "",
    ) -> None:
        square = checks.matrix(travel)
        nodes = len(square)
        checked = {
            "travel": square,
            "demand": checks.vector(demand, "demand", nodes, non_negative=True),
            "draft": checks.vector(draft, "draft", nodes, non_negative=True),
            "load": _known(load),
            "coordinates": checks.points(coordinates, nodes),
            "names": checks.stop_names(names, nodes),
            "name": checks.title(name),
        }
        for field_name, value in checked.items():
            object.__setattr__(self, field_name, value)
        if self.demand[0] != 0:
            raise InvalidInstance(
                f"the depot has a demand of {self.demand[0]:g}; expected 0, cargo belongs to the ports",
                "demand",
                (0,),
            )

    @property
    def nodes(self) -> int:
        """How many nodes there are, the depot included."""
        return len(self.travel)

    @property
    def integral(self) -> bool:
        """Whether all loads are whole numbers, so that comparing them with drafts is exact."""
        return checks.is_integral(self.demand, self.draft)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is unusual about this instance, in sentences."""
        return checks.travel_notes(self.travel)

    def reversed(self) -> "TSPDL":
        """The same constraint with the load running the other way: every tour of it is a tour of this one backwards."""
        return replace(
            self, travel=self.travel.T, load="shrinking" if self.load == "growing" else "growing"
        )


@dataclass(frozen=True, slots=True, eq=False, init=False)
class TSPDLSet:
    """TSPDL instances of one size and one load direction; indexing gives a `TSPDL`, slicing a smaller set."""

    problem: ClassVar[str] = "tspdl"

    places: Places
    demand: Float[np.ndarray, "B N"]
    draft: Float[np.ndarray, "B N"]
    load: Load
    name: str
    scale: float | None
    """Raw units in one normalised unit; None leaves it to each instance's own extent."""
    labels: tuple[str, ...]
    """What each instance is called; by default the set's name and a number."""

    def __init__(
        self,
        places: Places,
        demand: ArrayLike,
        draft: ArrayLike,
        load: str = "growing",
        name: str = "",
        scale: float | None = None,
        labels: Sequence[str] | None = None,
    ) -> None:
        checked = {
            "places": places,
            "demand": per_node(demand, "demand", places.shape),
            "draft": per_node(draft, "draft", places.shape),
            "load": _known(load),
            "name": checks.title(name),
            "scale": scale,
            "labels": member_labels(labels, name, len(places)),
        }
        for field_name, value in checked.items():
            object.__setattr__(self, field_name, value)
        wrong = (self.demand < 0) | (self.draft < 0) | (self.demand[:, :1] != 0)
        check_members(self, places, wrong | out_of_range(self.demand, self.draft))

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, index: int) -> TSPDL: ...
    @overload
    def __getitem__(self, index: slice) -> "TSPDLSet": ...
    def __getitem__(self, index: int | slice) -> "TSPDL | TSPDLSet":
        if isinstance(index, slice):
            return replace(
                self,
                places=self.places[index],
                demand=self.demand[index],
                draft=self.draft[index],
                labels=self.labels[index],
            )
        number = range(len(self))[index]
        return TSPDL(
            self.places.travel(number),
            self.demand[number],
            self.draft[number],
            self.load,
            coordinates=self.places.points(number),
            name=self.labels[number],
        )

    def __iter__(self) -> Iterator[TSPDL]:
        return (self[index] for index in range(len(self)))

    @property
    def nodes(self) -> int:
        """How many nodes each instance has, the depot included."""
        return self.places.shape[1]


def tspdl_set(instances: Sequence[TSPDL], name: str = "") -> TSPDLSet:
    """A set of the given instances, which must agree in their number of nodes and in the direction of their load."""
    loads = {instance.load for instance in instances}
    if len(loads) != 1:
        raise InvalidInstance(
            "a set holds instances of one direction of load; these mix growing and shrinking ones"
        )
    return TSPDLSet(
        gathered([i.travel for i in instances], [i.coordinates for i in instances]),
        np.stack([i.demand for i in instances]),
        np.stack([i.draft for i in instances]),
        loads.pop(),
        name=name,
        labels=[i.name or f"{name}-{number}" for number, i in enumerate(instances)],
    )


def _known(load: str) -> Load:
    if load == "growing" or load == "shrinking":  # noqa: PLR1714 - spelled out, types narrow
        return load
    raise InvalidInstance(f"load is {load!r}; expected growing or shrinking")
