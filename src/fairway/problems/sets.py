"""Instances of one size and one problem as arrays, with travel made on demand: ten thousand of them stay small."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, overload

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.typing import ArrayLike

from fairway.errors import InvalidInstance
from fairway.given import is_real, listed, shown
from fairway.problems import checks
from fairway.problems.distances import euclidean
from fairway.problems.instance import Instance, Load

COLUMNS = {"tsptw": ("opens", "closes", "service"), "tspdl": ("demand", "draft")}
"""What a set of a classic problem holds for each node."""

Column = Float[np.ndarray, "B N"]


@dataclass(frozen=True, slots=True, eq=False)
class Locations:
    """Coordinates for B instances, or their travel matrices, or both; without matrices travel is Euclidean."""

    coordinates: Float[np.ndarray, "B N 2"] | None = None
    matrix: Float[np.ndarray, "B N N"] | None = None

    def __post_init__(self) -> None:
        if self.coordinates is None and self.matrix is None:
            raise InvalidInstance("a set needs coordinates or travel matrices; neither was given")
        for name, last in (("coordinates", "2"), ("matrix", "nodes")):
            if (given := getattr(self, name)) is None:
                continue
            array = _frozen(given, name)
            if array.ndim != 3 or array.shape[2] != (2 if last == "2" else array.shape[1]):
                raise InvalidInstance(
                    f"{name} has shape {array.shape}; expected instances x nodes x {last}"
                )
            object.__setattr__(self, name, array)
        nodes = self.shape[1]
        if not 2 <= nodes <= checks.MOST_NODES:
            raise InvalidInstance(
                f"the instances have {nodes} nodes; expected 2 to {checks.MOST_NODES}"
            )

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, span: slice) -> "Locations":
        return Locations(
            None if self.coordinates is None else self.coordinates[span],
            None if self.matrix is None else self.matrix[span],
        )

    def at(self, index: int) -> tuple[Float[np.ndarray, "N N"], Float[np.ndarray, "N 2"] | None]:
        """The travel matrix of one instance, and its coordinates where there are any."""
        points = None if self.coordinates is None else self.coordinates[index]
        if self.matrix is not None:
            return self.matrix[index], points
        assert points is not None
        return euclidean(points), points

    def legs(
        self, here: Int[np.ndarray, " B"], there: Int[np.ndarray, " B"]
    ) -> Float[np.ndarray, " B"]:
        """What one leg takes in each instance, to the last bit of its matrix."""
        each = np.arange(len(self))
        if self.matrix is not None:
            return self.matrix[each, here, there]
        assert self.coordinates is not None
        across, along = (self.coordinates[each, here] - self.coordinates[each, there]).T
        return np.sqrt(across * across + along * along)

    @property
    def shape(self) -> tuple[int, int]:
        """How many instances, of how many nodes each."""
        array = self.coordinates if self.coordinates is not None else self.matrix
        assert array is not None
        return array.shape[0], array.shape[1]


@dataclass(frozen=True, slots=True, eq=False, init=False)
class InstanceSet:
    """Instances of one size; indexing gives an `Instance`, slicing a smaller set. What is None is asked of none."""

    locations: Locations
    opens: Column | None
    closes: Column | None
    service: Column | None
    demand: Column | None
    draft: Column | None
    load: Load
    name: str
    scale: float | None
    """Raw units in one normalised unit; None leaves it to each instance's own extent."""
    labels: tuple[str, ...]
    """What each instance is called; by default the set's name and a number."""

    def __init__(  # noqa: PLR0913 - the names are the documentation
        self,
        locations: Locations,
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
        if not isinstance(locations, Locations):
            raise InvalidInstance(
                "a set is made of Locations, or by instance_set; this is something else"
            )
        if scale is not None and not (is_real(scale) and 0 < scale <= checks.LARGEST):
            raise InvalidInstance(f"scale is {shown(scale)}; expected a number above 0, or None")
        count, name = len(locations), checks.title(name)
        if labels is None:
            labels = [f"{name}-{number}" for number in range(count)]
        checked = {
            "locations": locations,
            "opens": _per_node(opens, "opens", locations.shape),
            "closes": _per_node(closes, "closes", locations.shape),
            "service": _per_node(service, "service", locations.shape),
            "demand": _per_node(demand, "demand", locations.shape),
            "draft": _per_node(draft, "draft", locations.shape),
            "load": checks.choice(load, "load", ("growing", "shrinking")),
            "name": name,
            "scale": scale,
            "labels": tuple(
                label if isinstance(label, str) else shown(label) for label in listed(labels) or ()
            ),
        }
        for field_name, value in checked.items():
            object.__setattr__(self, field_name, value)
        if len(self.labels) != count:
            raise InvalidInstance(
                f"{len(self.labels)} labels were given; expected {count}, one per instance"
            )
        self._check_members()

    def _check_members(self) -> None:
        """Refuse a set that holds an invalid instance, with that instance's own sentence.

        Only those that the arrays cast doubt on are built: building all of a bed takes as long as drawing it.
        """
        doubtful = np.zeros(len(self), bool)
        for name, column in self.columns.items():
            doubtful |= (~(np.abs(column) <= checks.LARGEST)).any(-1)
            if name not in ("opens", "closes"):
                doubtful |= (column < 0).any(-1)
        if self.opens is not None and self.closes is not None:
            doubtful |= (self.opens > self.closes).any(-1)
        if self.demand is not None:
            doubtful |= self.demand[:, 0] != 0
        for array in (self.locations.coordinates, self.locations.matrix):
            if array is not None:
                # Points this far out may or may not be too far apart, which is for the instance to say.
                doubtful |= ~(np.abs(array) <= checks.LARGEST / 4).all((-1, -2))
        if self.locations.matrix is not None:
            doubtful |= (self.locations.matrix < 0).any((-1, -2))
        for index in np.flatnonzero(doubtful).tolist():
            try:
                with np.errstate(all="ignore"):
                    checks.finite(self[index].travel, "travel")
            except InvalidInstance as error:
                raise InvalidInstance(f"instance {index}: {error}") from error

    @property
    def columns(self) -> dict[str, Column]:
        """What is given for each node, by name."""
        names = (name for columns in COLUMNS.values() for name in columns)
        return {name: each for name in names if (each := getattr(self, name)) is not None}

    def __len__(self) -> int:
        return len(self.locations)

    @overload
    def __getitem__(self, index: int) -> Instance: ...
    @overload
    def __getitem__(self, index: slice) -> "InstanceSet": ...
    def __getitem__(self, index: int | slice) -> "Instance | InstanceSet":
        part: dict[str, Any] = {name: column[index] for name, column in self.columns.items()}
        if isinstance(index, slice):
            return replace(self, locations=self.locations[index], labels=self.labels[index], **part)
        travel, points = self.locations.at(index)
        labelled = {"coordinates": points, "name": self.labels[index]}
        return Instance(travel, **part, load=self.load, **labelled)

    def __iter__(self) -> Iterator[Instance]:
        return (self[index] for index in range(len(self)))

    @property
    def nodes(self) -> int:
        """How many nodes each instance has, the depot included."""
        return self.locations.shape[1]

    @property
    def whole_times(self) -> Bool[np.ndarray, " B"]:
        """Whether all times of each instance are whole numbers, so that its schedule is exact."""
        whole = np.ones(len(self), bool)
        for column in (self.opens, self.closes, self.service):
            if column is not None:
                whole &= (column == np.rint(column)).all(-1)
        for index in np.flatnonzero(whole).tolist():
            whole[index] = checks.is_integral(self.locations.at(index)[0])
        return whole

    @property
    def timed(self) -> bool:
        """Whether time is asked about; so it is where nothing else is."""
        return not self.laden or not self.columns.keys().isdisjoint(COLUMNS["tsptw"])

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
    problems, loads = {i.problem for i in instances}, {i.load for i in instances}
    if len(problems) > 1 or "tour" in problems:
        raise InvalidInstance(
            "a set holds instances of one problem, with time windows alone or with draft limits alone"
        )
    if len(loads) > 1:
        raise InvalidInstance(
            "a set holds instances of one direction of load; these mix growing and shrinking ones"
        )
    checks.title(name)
    locations = _gathered(instances)
    columns: dict[str, Any] = {
        column: np.stack([getattr(i, column) for i in instances])
        for column in COLUMNS[problems.pop()]
    }
    return InstanceSet(
        locations,
        **columns,
        load=loads.pop(),
        name=name,
        labels=tuple(i.name or f"{name}-{number}" for number, i in enumerate(instances)),
    )


def arrays(record: InstanceSet | Locations) -> Iterator[tuple[str, np.ndarray]]:
    """All that is measured of instances, their places included, which are a record of their own."""
    for part in fields(record):
        value = getattr(record, part.name)
        if isinstance(value, np.ndarray):
            yield part.name, value
        elif isinstance(value, Locations):
            yield from arrays(value)


def joined(sets: Sequence[InstanceSet]) -> InstanceSet:
    """One set of all instances of several, which are drawn alike."""
    first = sets[0]
    points, matrix = (
        None
        if getattr(first.locations, name) is None
        else np.concatenate([getattr(each.locations, name) for each in sets])
        for name in ("coordinates", "matrix")
    )
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(each, name) for each in sets]) for name in first.columns
    }
    labels = tuple(label for each in sets for label in each.labels)
    return replace(first, locations=Locations(points, matrix), labels=labels, **columns)


def _gathered(instances: Sequence[Instance]) -> Locations:
    """Where single instances lie; their matrices are dropped where coordinates give them back to the last bit."""
    if len({i.nodes for i in instances}) != 1:
        raise InvalidInstance(
            "a set holds instances of one size; these differ in their number of nodes"
        )
    known = [i.coordinates for i in instances if i.coordinates is not None]
    points = np.stack(known) if len(known) == len(instances) else None
    if points is not None and all(i.is_euclidean for i in instances):
        return Locations(points)
    return Locations(points, np.stack([i.travel for i in instances]))


def _frozen(values: ArrayLike, name: str) -> Float[np.ndarray, "..."]:
    """A float64 array that nobody can change: a copy, unless it is one already."""
    array = checks.array_of(values, name)
    if array.flags.writeable or array.base is not None:
        array = array.copy()
        array.setflags(write=False)
    return array


def _per_node(values: ArrayLike | None, name: str, shape: tuple[int, int]) -> Column | None:
    """One number for each node of each instance; a single number stands for all of them."""
    if values is None:
        return None
    array = _frozen(values, name)
    if array.ndim == 0:
        array = np.broadcast_to(array, shape)
    if array.shape != shape:
        raise InvalidInstance(
            f"{name} has shape {array.shape}; expected {shape}, instances by nodes"
        )
    return array
