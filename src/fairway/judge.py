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
from fairway.problems.instance import TOLERANCE, Instance, check_supported

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
    """One stop of a tour: service starts at `start`, `wait` after the arrival, with this load under this draft."""

    node: int
    arrival: float
    wait: float
    start: float
    departure: float
    load: float
    draft: float


@dataclass(frozen=True, slots=True, eq=False)
class Schedule:
    """When each stop of a tour is reached, served and left, and with what load, as columns; iterate it for rows."""

    node: Int[np.ndarray, " M"]
    arrival: Float[np.ndarray, " M"]
    wait: Float[np.ndarray, " M"]
    start: Float[np.ndarray, " M"]
    departure: Float[np.ndarray, " M"]
    load: Float[np.ndarray, " M"]
    draft: Float[np.ndarray, " M"]

    def __len__(self) -> int:
        return len(self.node)

    def __getitem__(self, index: int) -> Visit:
        times = (self.arrival, self.wait, self.start, self.departure)
        columns = (*times, self.load, self.draft)
        return Visit(int(self.node[index]), *(float(column[index]) for column in columns))

    def __iter__(self) -> Iterator[Visit]:
        return (self[index] for index in range(len(self)))


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
    instance: Instance, tour: Sequence[Any] | np.ndarray, tolerance: float | None = None
) -> Solution | Rejection:
    """Judge a tour: the customers in order, depot 0 left out at both ends.

    Args:
        instance: The instance the tour claims to solve.
        tour: Node numbers, in the direction of the instance.
        tolerance: By how much a limit may be passed; by default `TOLERANCE`, or zero where the numbers are whole.
    """
    if not isinstance(instance, Instance):
        raise InvalidRequest("the judge takes one instance at a time; index a set to get one")
    check_supported(instance)
    stops = _node_numbers(tour)
    allowances = _allowances(instance, tolerance)
    if wrong := _not_a_tour(stops, instance):
        return Rejection(stops, wrong)
    circuit = np.array((0, *stops, 0))
    cost = _total(instance.cost[circuit[:-1], circuit[1:]].tolist())
    legs = instance.travel[circuit[:-1], circuit[1:]].tolist()
    schedule, makespan = _schedule(instance, stops, legs)
    late = _lateness(instance, schedule, makespan, allowances[0]) if instance.timed else ()
    violations = (*late, *_overloads(instance, schedule, allowances[1]))
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


def _allowances(instance: Instance, tolerance: float | None) -> tuple[float, float]:
    """How late, and by how much too heavy, a tour may be."""
    if tolerance is None:
        return (
            0.0 if not instance.timed or instance.whole_times else TOLERANCE,
            0.0 if not instance.laden or instance.whole_loads else TOLERANCE,
        )
    if not isinstance(tolerance, Real) or not 0 <= tolerance < float("inf"):
        raise InvalidRequest(
            f"the tolerance is {tolerance!r}; expected a finite number, zero or more"
        )
    return tolerance, tolerance


def _not_a_tour(stops: tuple[int, ...], instance: Instance) -> tuple[Violation, ...]:
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


def _label(instance: Instance, node: int) -> str:
    return str(node) if instance.names is None else f"{node} ({instance.names[node]})"


def _total(legs: list[float]) -> float:
    total = 0.0
    for leg in legs:
        total += leg
    return total


def _schedule(
    instance: Instance, stops: tuple[int, ...], legs: list[float]
) -> tuple[Schedule, float]:
    """Leave the depot as it opens, wait where early, and go on even where late; also the time of the return."""
    opens, service = instance.opens.tolist(), instance.service.tolist()
    now = opens[0] + service[0]
    rows = []
    for node, leg in zip(stops, legs[:-1], strict=True):
        arrival = now + leg
        start = max(arrival, opens[node])
        now = start + service[node]
        rows.append((arrival, start - arrival, start, now))
    node = np.array(stops)
    load, draft = _loads(instance, node), instance.draft[node]
    arrival, wait, start, departure = np.array(rows).T
    return Schedule(node, arrival, wait, start, departure, load, draft), now + legs[-1]


def _loads(instance: Instance, node: Int[np.ndarray, " M"]) -> Float[np.ndarray, " M"]:
    """A growing load counts the stop's own cargo; a shrinking one is what is still on board on arrival."""
    if instance.load == "growing":
        return np.cumsum(instance.demand[node])
    return np.cumsum(instance.demand[node[::-1]])[::-1]


def _lateness(
    instance: Instance, schedule: Schedule, back: float, allowance: float
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


def _overloads(instance: Instance, schedule: Schedule, allowance: float) -> tuple[Violation, ...]:
    violations = []
    for place in np.flatnonzero(schedule.load - schedule.draft > allowance).tolist():
        call = schedule[place]
        over = call.load - call.draft
        port = _label(instance, call.node)
        why = f"the load at port {port} is {call.load:.8g}, {over:.6g} over its draft of {call.draft:.8g}"
        violations.append(Violation("draft", call.node, over, why))
    return tuple(violations)
