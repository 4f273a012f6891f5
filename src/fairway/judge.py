"""The judge: an instance and a tour give a Solution, or a Rejection that lists all that is wrong.

Plain float64 arithmetic over the instance's own numbers. It shares no code with anything that
proposes tours; the import contracts in pyproject.toml keep it so.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

import numpy as np
from jaxtyping import Float, Int

from fairway.errors import InvalidRequest, InvalidTour
from fairway.problems.tspdl import TSPDL
from fairway.problems.tsptw import TSPTW

TOLERANCE = 1e-6
"""How far, in the instance's own units, a limit may be passed before it counts; zero where all numbers are whole."""

Rule = Literal["missing", "repeated", "unknown", "late", "late return", "draft"]


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken rule: which, at which node, by how much (a count for missing and repeated stops), in words."""

    rule: Rule
    node: int
    amount: float
    why: str


@dataclass(frozen=True, slots=True)
class Visit:
    """One stop of a TSPTW tour; the service starts at `start`, which is `wait` after the arrival."""

    node: int
    arrival: float
    wait: float
    start: float
    departure: float


@dataclass(frozen=True, slots=True)
class Call:
    """One port of a TSPDL tour, with the load that must float there and the draft it must not exceed."""

    node: int
    load: float
    draft: float


@dataclass(frozen=True, slots=True, eq=False)
class TimeSchedule:
    """When each stop of a tour is reached, served and left, as columns; iterate or index it for rows."""

    node: Int[np.ndarray, " M"]
    arrival: Float[np.ndarray, " M"]
    wait: Float[np.ndarray, " M"]
    start: Float[np.ndarray, " M"]
    departure: Float[np.ndarray, " M"]

    def __len__(self) -> int:
        return len(self.node)

    def __getitem__(self, index: int) -> Visit:
        columns = (self.arrival, self.wait, self.start, self.departure)
        return Visit(int(self.node[index]), *(float(column[index]) for column in columns))

    def __iter__(self) -> Iterator[Visit]:
        return (self[index] for index in range(len(self)))


@dataclass(frozen=True, slots=True, eq=False)
class LoadSchedule:
    """How deep the ship lies at each port of a tour, as columns; iterate or index it for rows."""

    node: Int[np.ndarray, " M"]
    load: Float[np.ndarray, " M"]
    draft: Float[np.ndarray, " M"]

    def __len__(self) -> int:
        return len(self.node)

    def __getitem__(self, index: int) -> Call:
        return Call(int(self.node[index]), float(self.load[index]), float(self.draft[index]))

    def __iter__(self) -> Iterator[Call]:
        return (self[index] for index in range(len(self)))


Schedule = TimeSchedule | LoadSchedule


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """A tour that keeps every constraint; its cost is travel alone, its makespan when it is back at the depot."""

    tour: tuple[int, ...]
    cost: float
    makespan: float
    schedule: Schedule


@dataclass(frozen=True, slots=True, eq=False)
class Rejection:
    """A tour that was refused, and all the reasons; it has a cost and a schedule where it visits every stop once."""

    tour: tuple[int, ...]
    violations: tuple[Violation, ...]
    cost: float | None = None
    makespan: float | None = None
    schedule: Schedule | None = None


def verify(
    instance: TSPTW | TSPDL, tour: Sequence[Any] | np.ndarray, tolerance: float | None = None
) -> Solution | Rejection:
    """Judge a tour: the customers in order, depot 0 left out at both ends.

    Args:
        instance: The instance the tour claims to solve.
        tour: Node numbers, in the direction of the instance.
        tolerance: By how much a limit may be passed; by default `TOLERANCE`, or zero where the numbers are whole.
    """
    if not isinstance(instance, TSPTW | TSPDL):
        raise InvalidRequest("the judge takes one instance at a time; index a set to get one")
    stops = _node_numbers(tour)
    allowance = _allowance(instance, tolerance)
    if wrong := _not_a_tour(stops, instance):
        return Rejection(stops, wrong)
    circuit = np.array((0, *stops, 0))
    legs = instance.travel[circuit[:-1], circuit[1:]].tolist()
    cost = _total(legs)
    if isinstance(instance, TSPTW):
        schedule, makespan = _time_schedule(instance, stops, legs)
        violations = _lateness(instance, schedule, makespan, allowance)
    else:
        schedule, makespan = _load_schedule(instance, stops), cost
        violations = _overloads(instance, schedule, allowance)
    if violations:
        return Rejection(stops, violations, cost, makespan, schedule)
    return Solution(stops, cost, makespan, schedule)


def _node_numbers(tour: Sequence[Any] | np.ndarray) -> tuple[int, ...]:
    to_list = getattr(tour, "tolist", None)  # arrays and tensors
    try:
        values = list(tour if to_list is None else to_list())
    except TypeError as error:
        raise InvalidTour("a tour is a sequence of node numbers; this is not a sequence") from error
    if set(map(type, values)) == {int}:
        return tuple(values)
    for position, value in enumerate(values):
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            raise InvalidTour(
                f"position {position} of the tour is {value!r}; expected a whole node number"
            )
    return tuple(map(int, values))


def _allowance(instance: TSPTW | TSPDL, tolerance: float | None) -> float:
    if tolerance is None:
        return 0.0 if instance.integral else TOLERANCE
    if not isinstance(tolerance, Real) or not 0 <= tolerance < float("inf"):
        raise InvalidRequest(
            f"the tolerance is {tolerance!r}; expected a finite number, zero or more"
        )
    return tolerance


def _not_a_tour(stops: tuple[int, ...], instance: TSPTW | TSPDL) -> tuple[Violation, ...]:
    """The ways in which a sequence fails to name every customer exactly once."""
    seen, nodes = Counter(stops), instance.nodes
    violations = []
    for node, times in seen.items():
        if node == 0:
            why = "the depot 0 is left out of a tour at both ends, and not visited in between"
            violations.append(Violation("unknown", node, float(times), why))
        elif not 0 < node < nodes:
            why = f"there is no stop {node}; stops are numbered 1 to {nodes - 1}"
            violations.append(Violation("unknown", node, float(times), why))
        elif times > 1:
            why = f"stop {_label(instance, node)} is visited {times} times"
            violations.append(Violation("repeated", node, float(times - 1), why))
    missing = (node for node in range(1, nodes) if node not in seen)
    for node in missing:
        why = f"stop {_label(instance, node)} is never visited"
        violations.append(Violation("missing", node, 1.0, why))
    return tuple(violations)


def _label(instance: TSPTW | TSPDL, node: int) -> str:
    return str(node) if instance.names is None else f"{node} ({instance.names[node]})"


def _total(legs: list[float]) -> float:
    total = 0.0
    for leg in legs:
        total += leg
    return total


def _time_schedule(
    instance: TSPTW, stops: tuple[int, ...], legs: list[float]
) -> tuple[TimeSchedule, float]:
    """Leave the depot as it opens, wait where early, and go on even where late; also the time of the return."""
    opens, service = instance.opens.tolist(), instance.service.tolist()
    now = opens[0] + service[0]
    rows = []
    for node, leg in zip(stops, legs[:-1], strict=True):
        arrival = now + leg
        start = max(arrival, opens[node])
        now = start + service[node]
        rows.append((arrival, start - arrival, start, now))
    arrival, wait, start, departure = np.array(rows).T
    return TimeSchedule(np.array(stops), arrival, wait, start, departure), now + legs[-1]


def _lateness(
    instance: TSPTW, schedule: TimeSchedule, back: float, allowance: float
) -> tuple[Violation, ...]:
    violations = []
    closes = instance.closes.tolist()
    for node, start in zip(schedule.node.tolist(), schedule.start.tolist(), strict=True):
        late = start - closes[node]
        if late > allowance:
            why = (
                f"service at stop {_label(instance, node)} starts at {start:.8g}, "
                f"{late:.6g} after its window closes at {closes[node]:.8g}"
            )
            violations.append(Violation("late", node, late, why))
    late = back - closes[0]
    if late > allowance:
        why = f"the tour is back at the depot at {back:.8g}, {late:.6g} after it closes at {closes[0]:.8g}"
        violations.append(Violation("late return", 0, late, why))
    return tuple(violations)


def _load_schedule(instance: TSPDL, stops: tuple[int, ...]) -> LoadSchedule:
    """A growing load counts the port's own cargo; a shrinking one is what is still on board on arrival."""
    node = np.array(stops)
    if instance.load == "growing":
        load = np.cumsum(instance.demand[node])
    else:
        load = np.cumsum(instance.demand[node[::-1]])[::-1]
    return LoadSchedule(node, load, instance.draft[node])


def _overloads(instance: TSPDL, schedule: LoadSchedule, allowance: float) -> tuple[Violation, ...]:
    violations = []
    for call in schedule:
        over = call.load - call.draft
        if over > allowance:
            port = _label(instance, call.node)
            why = f"the load at port {port} is {call.load:.8g}, {over:.6g} over its draft of {call.draft:.8g}"
            violations.append(Violation("draft", call.node, over, why))
    return tuple(violations)
