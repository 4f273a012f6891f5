"""A plan: the rows of a tour as every output shows them, made once from an instance and what the judge says."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Float

from fairway.judge import Rejection, Solution
from fairway.outputs.departure import latest_departure
from fairway.outputs.rests import Leg, rests_on
from fairway.problems.instance import TOLERANCE, Instance
from fairway.problems.source import break_name

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


def has_times(instance: Instance) -> bool:
    """Whether times say something about its tours."""
    return instance.timed or bool(instance.breaks)


def name_of(instance: Instance, node: int) -> str:
    """What a node is called: its name, or its number."""
    return str(node) if instance.names is None else instance.names[node]


class _Visit(NamedTuple):
    """One stop of the schedule, or the return."""

    node: int
    arrival: float
    start: float
    departure: float
    late: float


class _Amounts(NamedTuple):
    """What a tour has come to: travel, cost and, where they are known, distance."""

    driven: float
    cost: float
    distance: float | None

    def after(self, leg: "_Amounts", share: float = 1.0) -> "_Amounts":
        """The same after a leg, or a share of it."""
        distance = None
        if self.distance is not None and leg.distance is not None:
            distance = self.distance + share * leg.distance
        return _Amounts(self.driven + share * leg.driven, self.cost + share * leg.cost, distance)


def _steps(instance: Instance, judged: Solution | Rejection) -> Iterator[Step]:
    departure, visits = judged.departure, _visits(instance, judged)
    assert departure is not None
    begins, (load, *loads) = departure - float(instance.service[0]), _loads(instance, judged)
    priced = _legs(instance, [0, *(visit.node for visit in visits)])
    so_far = _Amounts(0.0, 0.0, None if _distances(instance) is None else 0.0)
    yield Step("start", 0, name_of(instance, 0), begins, begins, departure, 0.0, load, *so_far)
    left = [departure, *(visit.departure for visit in visits)][: len(visits)]
    legs = [
        Leg(leaves, leg.driven, visit.arrival)
        for leaves, leg, visit in zip(left, priced, visits, strict=True)
    ]
    rests = rests_on(legs, instance.breaks)
    for visit, leg, taken, carried in zip(visits, priced, rests, loads, strict=True):
        for rest in taken:
            along = so_far.after(leg, rest.driven / leg.driven if leg.driven else 0.0)
            times = (rest.ready, rest.start, rest.end)
            called = break_name(instance.source, instance.breaks, rest.number) or "break"
            yield Step("break", None, called, *times, 0.0, load, *along, number=rest.number)
        node = visit.node
        so_far, load = so_far.after(leg), carried
        yield Step(
            "end" if node == instance.end else "stop",
            node,
            name_of(instance, node),
            visit.arrival,
            visit.start,
            visit.departure,
            visit.late,
            load,
            *so_far,
        )


def _legs(instance: Instance, circuit: Sequence[int]) -> list[_Amounts]:
    """What each leg of a circuit adds."""
    distances = _distances(instance)
    return [
        _Amounts(
            float(instance.travel[leg]),
            float(instance.cost[leg]),
            None if distances is None else float(distances[leg]),
        )
        for leg in pairwise(circuit)
    ]


def _distances(instance: Instance) -> Float[np.ndarray, "N N"] | None:
    source = instance.source
    return None if source is None else source.distances(instance.travel, instance.cost)


def _visits(instance: Instance, judged: Solution | Rejection) -> list[_Visit]:
    """The stops of the schedule, and the return."""
    schedule, back = judged.schedule, judged.makespan
    assert schedule is not None
    assert back is not None
    visits = [_Visit(v.node, v.arrival, v.start, v.departure, _late(v.late)) for v in schedule]
    if instance.end == 0:
        spans = instance.windows.get(0, ((0.0, float(instance.closes[0])),))
        visits.append(_Visit(0, back, back, back, _late(back - spans[-1][1])))
    return visits


def _late(amount: float) -> float:
    """Lateness within the judge's tolerance is none."""
    return amount if amount > TOLERANCE else 0.0


def _loads(instance: Instance, judged: Solution | Rejection) -> list[float]:
    """On leaving the depot, at each stop as the judge counts it, and on the return."""
    assert judged.schedule is not None
    along = judged.schedule.load.tolist()
    own = instance.demand[judged.schedule.node].tolist()
    loaded = float(instance.loaded[judged.schedule.node].sum())
    first = {
        "growing": 0.0,
        "shrinking": along[0] if along else 0.0,
        "signed": instance.aboard + loaded,
    }
    last = along[-1] if along else first[instance.load]
    if instance.load == "shrinking" and along:
        last -= own[-1]
    return [first[instance.load], *along, *([last] if instance.end == 0 else [])]
