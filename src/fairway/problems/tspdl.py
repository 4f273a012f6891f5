"""The travelling salesman with draft limits: one instance, and a set of instances of one size."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal, get_args, overload

import numpy as np
from jaxtyping import Float

from fairway.errors import InvalidInstance
from fairway.problems import checks
from fairway.problems.places import Places, gathered, per_node

if TYPE_CHECKING:
    import torch

    from fairway.problems.batch import TSPDLBatch

Load = Literal["growing", "shrinking"]
"""Whether the ship collects along its tour (the paper) or leaves full and delivers (Rakke's files, LKH-3)."""


@dataclass(frozen=True, slots=True, eq=False)
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
    load: Load = "growing"
    coordinates: Float[np.ndarray, "N 2"] | None = None
    """For pictures and features only; travel is what counts."""
    names: tuple[str, ...] | None = None
    name: str = ""

    def __post_init__(self) -> None:
        travel = checks.matrix(self.travel)
        nodes = len(travel)
        checked = {
            "travel": travel,
            "demand": checks.vector(self.demand, "demand", nodes, non_negative=True),
            "draft": checks.vector(self.draft, "draft", nodes, non_negative=True),
            "coordinates": checks.points(self.coordinates, nodes),
            "names": checks.stop_names(self.names, nodes),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        _check_load(self.load)
        if self.demand[0] != 0:
            raise InvalidInstance(
                f"the depot has a demand of {self.demand[0]:g}; expected 0, cargo belongs to the ports"
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


@dataclass(frozen=True, slots=True, eq=False)
class TSPDLSet:
    """TSPDL instances of one size and one load direction; indexing gives a `TSPDL`, slicing a smaller set."""

    problem: ClassVar[str] = "tspdl"

    places: Places
    demand: Float[np.ndarray, "B N"]
    draft: Float[np.ndarray, "B N"]
    load: Load = "growing"
    name: str = ""
    scale: float | None = None
    """Raw units in one normalised unit; None leaves it to each instance's own extent."""

    def __post_init__(self) -> None:
        _check_load(self.load)
        for name in ("demand", "draft"):
            object.__setattr__(self, name, per_node(getattr(self, name), name, self.places.shape))

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, index: int) -> TSPDL: ...
    @overload
    def __getitem__(self, index: slice) -> "TSPDLSet": ...
    def __getitem__(self, index: int | slice) -> "TSPDL | TSPDLSet":
        if isinstance(index, slice):
            return replace(
                self, places=self.places[index], demand=self.demand[index], draft=self.draft[index]
            )
        number = range(len(self))[index]
        return TSPDL(
            self.places.travel(number),
            self.demand[number],
            self.draft[number],
            self.load,
            coordinates=self.places.points(number),
            name=f"{self.name}-{number}",
        )

    def __iter__(self) -> Iterator[TSPDL]:
        return (self[index] for index in range(len(self)))

    @property
    def nodes(self) -> int:
        """How many nodes each instance has, the depot included."""
        return self.places.shape[1]

    def batch(self, device: "torch.device | str" = "cpu") -> "TSPDLBatch":
        """The set as float32 tensors in the paper's normalisation, in the growing direction."""
        from fairway.problems.batch import tspdl_batch

        return tspdl_batch(self, device)


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
    )


def _check_load(load: str) -> None:
    if load not in get_args(Load):
        raise InvalidInstance(f"load is {load!r}; expected one of {', '.join(get_args(Load))}")
