"""A plan: the rows of a tour as every output shows them, made once from an instance and what the judge says."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from jaxtyping import Float

from fairway.judge import Rejection, Solution
from fairway.outputs.departure import latest_departure
from fairway.outputs.rests import Leg, rests_on
from fairway.problems.instance import TOLERANCE, Instance

Kind = Literal["start", "stop", "break", "end"]


@dataclass(frozen=True, slots=True)
class Step:
    """One row of a plan: the start at the depot, a stop, a break, or the end where the tour has one."""

    kind: Kind
    node: int | None
    """None of a break, which may be anywhere on the way."""
    name: str
    arrival: float
    start: float
    """Of service, or of the break."""
    departure: float
    late: float
    load: float
    """As the judge counts it: with the stop's own where it grows, on arrival where it shrinks, else on leaving."""
    driven: float
    """Travel so far."""
    cost: float
    """So far; of a break, up to where it is taken."""
    distance: float | None
    """The same in the unit of the source, where distances are known."""
    number: int | None = None
    """Which of the instance's breaks it is."""

    @property
    def wait(self) -> float:
        """From the arrival to the start."""
        return self.start - self.arrival

    @property
    def service(self) -> float:
        """From the start to the departure."""
        return self.departure - self.start


@dataclass(frozen=True)
class Plan:
    """A tour in rows, with the stops that it leaves out."""

    instance: Instance
    judged: Solution | Rejection
    steps: tuple[Step, ...]

    @property
    def stops(self) -> list[Step]:
        """The stops alone, one that the tour ends at included."""
        return [step for step in self.steps if step.kind != "start" and step.node]

    @property
    def unserved(self) -> list[int]:
        """The stops that the tour leaves out."""
        instance = self.instance
        visited = {0, *self.judged.tour, instance.end}
        return [node for node in range(instance.nodes) if node not in visited]

    @property
    def departure(self) -> float:
        """When the tour leaves the depot."""
        return self.steps[0].departure

    @cached_property
    def latest_departure(self) -> float:
        """The latest departure that changes nothing about how the tour ends; of a refused tour, its own."""
        if isinstance(self.judged, Rejection):
            return self.departure
        return latest_departure(self.instance, self.judged)


def plan_of(instance: Instance, judged: Solution | Rejection) -> Plan:
    """The plan of a tour that the judge could follow to its end, feasible or not."""
    return Plan(instance, judged, tuple(_steps(instance, judged)))


def name_of(instance: Instance, node: int) -> str:
    """What a node is called: its name, or its number."""
    return str(node) if instance.names is None else instance.names[node]


def _steps(instance: Instance, judged: Solution | Rejection) -> Iterator[Step]:
    departure, rows = judged.departure, _visits(instance, judged)
    assert departure is not None
    matrices = _matrices(instance)
    begins, (load, *loads) = departure - float(instance.service[0]), _loads(instance, judged)
    so_far = tuple(None if each is None else 0.0 for each in matrices)
    yield Step("start", 0, name_of(instance, 0), begins, begins, departure, 0.0, load, *so_far)
    places = [0, *(row[0] for row in rows)][: len(rows)]
    left = [departure, *(row[3] for row in rows)][: len(rows)]
    legs = [
        Leg(leaves, float(instance.travel[here, row[0]]), row[1])
        for here, leaves, row in zip(places, left, rows, strict=True)
    ]
    rests = rests_on(legs, instance.breaks)
    for here, row, leg, taken, carried in zip(places, rows, legs, rests, loads, strict=True):
        node, *visited = row
        for rest in taken:
            share = rest.driven / leg.travel if leg.travel else 0.0
            times = (rest.ready, rest.start, rest.end, 0.0)
            amounts = _on(so_far, matrices, here, node, share)
            yield Step("break", None, "break", *times, load, *amounts, rest.number)
        so_far, load = _on(so_far, matrices, here, node), carried
        kind: Kind = "end" if node == instance.end else "stop"
        yield Step(kind, node, name_of(instance, node), *visited, load, *so_far)


Matrices = tuple[Float[np.ndarray, "N N"] | None, ...]
"""Of travel, cost and, where they are known, distances."""
Amounts = tuple[float | None, ...]


def _matrices(instance: Instance) -> Matrices:
    source = instance.source
    known = None if source is None else source.distances(instance.travel, instance.cost)
    return instance.travel, instance.cost, known


def _on(so_far: Amounts, matrices: Matrices, here: int, there: int, share: float = 1.0) -> Amounts:
    """What has been driven, paid and covered after a leg, or a share of it."""
    return tuple(
        None if matrix is None else amount + share * float(matrix[here, there])
        for amount, matrix in zip(so_far, matrices, strict=True)
    )


Visit = tuple[int, float, float, float, float]
"""A node, the arrival there, start, departure and lateness."""


def _visits(instance: Instance, judged: Solution | Rejection) -> list[Visit]:
    """The stops of the schedule, and the return."""
    schedule, back = judged.schedule, judged.makespan
    assert schedule is not None
    assert back is not None
    rows = [(v.node, v.arrival, v.start, v.departure, _late(v.late)) for v in schedule]
    if instance.end == 0:
        spans = instance.windows.get(0, ((0.0, float(instance.closes[0])),))
        rows.append((0, back, back, back, _late(back - spans[-1][1])))
    return rows


def _late(amount: float) -> float:
    """Lateness within the judge's tolerance is none."""
    return amount if amount > TOLERANCE else 0.0


def _loads(instance: Instance, judged: Solution | Rejection) -> list[float]:
    """On leaving the depot, at each stop as the judge counts it, and on the return."""
    assert judged.schedule is not None
    along = judged.schedule.load.tolist()
    own = instance.demand[judged.schedule.node].tolist()
    first = {"growing": 0.0, "shrinking": along[0] if along else 0.0, "signed": instance.aboard}
    last = along[-1] if along else first[instance.load]
    if instance.load == "shrinking" and along:
        last -= own[-1]
    return [first[instance.load], *along, *([last] if instance.end == 0 else [])]
