"""Instances of one size and one problem as arrays, so that ten thousand of them stay small."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import overload

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from fairway.errors import InvalidInstance
from fairway.problems import checks
from fairway.problems.instance import Instance, Load
from fairway.problems.places import (
    Places,
    check_members,
    gathered,
    member_labels,
    out_of_range,
    per_node,
)

COLUMNS = ("opens", "closes", "service", "demand", "draft")
"""What a set may hold for each node."""


@dataclass(frozen=True, slots=True, eq=False, init=False)
class InstanceSet:
    """Instances of one size; indexing gives an `Instance`, slicing a smaller set. What is None is asked of none."""

    places: Places
    opens: Float[np.ndarray, "B N"] | None
    closes: Float[np.ndarray, "B N"] | None
    service: Float[np.ndarray, "B N"] | None
    demand: Float[np.ndarray, "B N"] | None
    draft: Float[np.ndarray, "B N"] | None
    load: Load
    name: str
    scale: float | None
    """Raw units in one normalised unit; None leaves it to each instance's own extent."""
    labels: tuple[str, ...]
    """What each instance is called; by default the set's name and a number."""

    def __init__(  # noqa: PLR0913 - the names are the documentation
        self,
        places: Places,
        *,
        opens: ArrayLike | None = None,
        closes: ArrayLike | None = None,
        service: ArrayLike | None = None,
        demand: ArrayLike | None = None,
        draft: ArrayLike | None = None,
        load: str = "growing",
        name: str = "",
        scale: float | None = None,
        labels: Sequence[str] | None = None,
    ) -> None:
        given = zip(COLUMNS, (opens, closes, service, demand, draft), strict=True)
        columns = {
            column: None if values is None else per_node(values, column, places.shape)
            for column, values in given
        }
        checked = {
            "places": places,
            **columns,
            "load": checks.choice(load, "load", ("growing", "shrinking")),
            "name": checks.title(name),
            "scale": scale,
            "labels": member_labels(labels, name, len(places)),
        }
        for field_name, value in checked.items():
            object.__setattr__(self, field_name, value)
        check_members(self, places, self._doubtful())

    def _doubtful(self) -> np.ndarray:
        """Where an array casts doubt on an instance."""
        wrong = out_of_range(*(column for column in self.columns.values()))
        if self.opens is not None and self.closes is not None:
            wrong |= self.opens > self.closes
        for column in (self.service, self.demand, self.draft):
            if column is not None:
                wrong |= column < 0
        if self.demand is not None:
            wrong |= self.demand[:, :1] != 0
        return wrong

    @property
    def columns(self) -> dict[str, Float[np.ndarray, "B N"]]:
        """What is given for each node, by name."""
        return {name: each for name in COLUMNS if (each := getattr(self, name)) is not None}

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, index: int) -> Instance: ...
    @overload
    def __getitem__(self, index: slice) -> "InstanceSet": ...
    def __getitem__(self, index: int | slice) -> "Instance | InstanceSet":
        if isinstance(index, slice):
            part = {name: column[index] for name, column in self.columns.items()}
            return replace(self, places=self.places[index], labels=self.labels[index], **part)
        number = range(len(self))[index]
        return Instance(
            self.places.travel(number),
            **{name: column[number] for name, column in self.columns.items()},
            load=self.load,
            coordinates=self.places.points(number),
            name=self.labels[number],
        )

    def __iter__(self) -> Iterator[Instance]:
        return (self[index] for index in range(len(self)))

    @property
    def nodes(self) -> int:
        """How many nodes each instance has, the depot included."""
        return self.places.shape[1]

    @property
    def timed(self) -> bool:
        """Whether time is asked about; so it is where nothing else is."""
        columns = (self.opens, self.closes, self.service)
        return not self.laden or any(column is not None for column in columns)

    @property
    def laden(self) -> bool:
        """Whether the load is asked about."""
        return self.demand is not None or self.draft is not None

    @property
    def problem(self) -> str:
        """The problem of every instance."""
        if not self.laden:
            return "tsptw"
        return "tour" if self.timed else "tspdl"


def instance_set(instances: Sequence[Instance], name: str = "") -> InstanceSet:
    """A set of the given instances, which must agree in problem, size and direction of load."""
    if not isinstance(instances, Sequence) or not all(isinstance(i, Instance) for i in instances):
        raise InvalidInstance("a set is made of a list of instances; this is something else")
    if not instances:
        raise InvalidInstance("a set holds at least one instance; none was given")
    problems = {instance.problem for instance in instances}
    if len(problems) > 1 or "tour" in problems:
        raise InvalidInstance(
            "a set holds instances of one problem, with time windows alone or with draft limits alone"
        )
    loads = {instance.load for instance in instances}
    if len(loads) != 1:
        raise InvalidInstance(
            "a set holds instances of one direction of load; these mix growing and shrinking ones"
        )
    timed = problems == {"tsptw"}

    def stacked(column: str, *, stated: bool) -> Float[np.ndarray, "B N"] | None:
        return np.stack([getattr(i, column) for i in instances]) if stated else None

    return InstanceSet(
        gathered([i.travel for i in instances], [i.coordinates for i in instances]),
        opens=stacked("opens", stated=timed),
        closes=stacked("closes", stated=timed),
        service=stacked("service", stated=timed),
        demand=stacked("demand", stated=not timed),
        draft=stacked("draft", stated=not timed),
        load=loads.pop(),
        name=name,
        labels=[i.name or f"{name}-{number}" for number, i in enumerate(instances)],
    )
