"""The normal form of an instance, from which everything fast takes its numbers.

V = N + 1 nodes: the depot as 0, the stops, and the depot once more as V - 1, where the tour ends. What accumulates
along a tour is a resource: time, or the load. Going from i to j it grows by `stay[i]` and by `rise[i, j]`, is raised to
`earliest[j]` where it is lower, and must not pass `latest[j]`.

A load that shrinks grows when it is read from the other end, so that a model with such a load, and no time to keep, is
turned round. `outward` and `inward` are the one place where tours change their direction.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args
from weakref import WeakKeyDictionary

import numpy as np
from jaxtyping import Bool, Float, Integer, UInt

from fairway.errors import InvalidRequest, InvalidTour
from fairway.given import is_word_of, shown
from fairway.problems.checks import is_integral
from fairway.problems.instance import TOLERANCE, Instance, check_classic

Objective = Literal["cost", "travel", "makespan", "duration"]
"""What a search makes as little as it can; "travel" is another word for the cost."""
MARGIN = 1e-10
"""By which part of its cost a tour must be better than another to count: less is lost in rounding."""
WINDOWED = {"time windows", "a cost apart from travel", "an end of its own"}
"""What may be asked together with time as the one resource."""
START, HOME = 0, -1
"""The depot as the first and as the last node of a model."""


@dataclass(frozen=True, slots=True, eq=False)
class Resource:
    """What accumulates along a tour, and the limits it must keep."""

    stay: Float[np.ndarray, " V"]
    rise: Float[np.ndarray, "V V"]
    """What leads to the start or on from the end is never travelled, and zero."""
    earliest: Float[np.ndarray, " V"]
    latest: Float[np.ndarray, " V"]
    """Of the start: the initial amount; infinite where nothing is asked."""
    allowance: float
    """What the judge forgives."""
    guard: float
    """By how much float64 may err on one leg; zero for whole numbers."""
    ceiling: float
    """No tour ever has more."""
    by_set: bool
    """Whether the amount follows from the stops visited, in whatever order: so does a load, and time does not."""
    idles: Float[np.ndarray, " V"] | None = None
    """Up to when a tour that has arrived may wait: the last opening of several windows, infinite where breaks are due.

    None where it never waits beyond `earliest`.
    """

    @property
    def increment(self) -> Float[np.ndarray, "V V"]:
        """What is added from being served at the row to arriving at the column."""
        return self.stay[:, None] + self.rise if self.stay.any() else self.rise

    @property
    def limits(self) -> Float[np.ndarray, " V"]:
        """The latest amounts that matter: what nothing can pass would only cost precision."""
        return np.minimum(self.latest, self.ceiling)


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """An instance in its normal form."""

    cost: Float[np.ndarray, "V V"]
    time: Resource | None
    load: Resource | None
    turned: bool
    """Whether tours run against the direction of the instance."""
    before: Bool[np.ndarray, "V V"] | None = None
    """Whether the row comes before the column, and is visited where the column is; None where no order is stated."""
    prize: Float[np.ndarray, " V"] | None = None
    """The price of leaving a stop out, infinite where it must be served; None where all must be."""

    @property
    def resource(self) -> Resource:
        """The one resource there is."""
        found = self.load if self.time is None else self.time
        assert found is not None, "a model has a resource"
        return found

    @property
    def nodes(self) -> int:
        """How many nodes the instance has, the depot counted once."""
        return len(self.cost) - 1

    @property
    def whole_costs(self) -> bool:
        """Whether every tour costs a whole number."""
        return is_integral(self.cost)

    def inward(self, tour: Sequence[Any] | np.ndarray) -> UInt[np.ndarray, " V"]:
        """A tour of the instance as nodes of the model, the depot at both ends."""
        stops = np.asarray(tour)
        if not np.array_equal(np.sort(stops), np.arange(1, self.nodes)):
            raise InvalidTour(
                f"the tour to start from must visit each of the stops 1 to {self.nodes - 1} once"
            )
        inner = stops[::-1] if self.turned else stops
        return np.concatenate(([0], inner, [self.nodes])).astype(np.uint32)

    def outward(self, stops: Sequence[int] | Integer[np.ndarray, " M"]) -> tuple[int, ...]:
        """Stops in the order of the model as a tour of the instance."""
        listed = np.asarray(stops).tolist()
        return tuple(listed[::-1] if self.turned else listed)

    def total(self, stops: Integer[np.ndarray, " M"]) -> float:
        """What a tour in the order of the model costs, added up in the direction of the instance, as the judge does."""
        node = np.concatenate(([START], stops, [self.nodes]))
        legs = self.cost[node[:-1], node[1:]].tolist()
        return float(sum(legs[::-1] if self.turned else legs))

    def home_by(self, limit: float) -> "Model":
        """The same with an earlier end of the tour, where one is known to end by then."""
        latest = self.resource.latest.copy()
        latest[HOME] = max(min(latest[HOME], limit), self.resource.earliest[START])
        return replace(self, time=replace(self.resource, latest=latest))


_last: WeakKeyDictionary[Instance, Model] = WeakKeyDictionary()


def model_of(instance: Instance, tolerance: float | None = None) -> Model:
    """The normal form of an instance, for a judge that forgives so much: by default what it forgives by default.

    The last one is remembered as long as its instance lives: all parts of a search take it from here.
    """
    if tolerance is not None:
        return _built(instance, tolerance)
    model = _last.get(instance)
    if model is None:
        model = _built(instance, None)
        _last.clear()
        _last[instance] = model
    return model


def has_model(instance: Instance) -> bool:
    """Whether one resource says all that is asked: a classic problem, or windows with a cost or an open end besides."""
    windowed = instance.timed and WINDOWED.issuperset(instance.constraints)
    return instance.classic or (windowed and instance.end in (None, 0))


def is_makespan(instance: Instance, objective: str) -> bool:
    """Whether the earliest return is asked for, not the least cost; refused where it cannot be."""
    check_objective(objective)
    if objective == "makespan" and not instance.timed:
        raise InvalidRequest(
            "a makespan was asked of draft limits; expected an instance with time windows"
        )
    return objective == "makespan"


def check_objective(objective: object) -> None:
    """Refuse what is no objective."""
    if not is_word_of(objective, get_args(Objective)):
        raise InvalidRequest(
            f"the objective is {shown(objective)}; expected cost, makespan or duration"
        )


def _built(instance: Instance, tolerance: float | None) -> Model:
    if not has_model(instance):
        check_classic(instance, "this search serves")
    turned = instance.laden and instance.load == "shrinking"
    cost = with_return(instance.cost.T if turned else instance.cost)
    if instance.laden:
        return Model(cost, None, _load(instance, tolerance), turned)
    rise = cost if instance.cost is instance.travel else with_return(instance.travel)
    if instance.end is None:  # the way to the end is none, and it is never too late there
        cost[:, HOME] = rise[:, HOME] = 0.0
    return Model(cost, _time(instance, rise, tolerance), None, turned)


def _time(instance: Instance, rise: Float[np.ndarray, "V V"], tolerance: float | None) -> Resource:
    """The time at which service starts; the tour leaves as the depot opens, not later."""
    whole = instance.whole_times
    allowance = (0.0 if whole else TOLERANCE) if tolerance is None else tolerance
    stay = np.append(instance.service, 0.0)
    earliest = np.append(instance.opens, instance.opens[0])
    latest = np.append(instance.closes, np.inf if instance.end is None else instance.closes[0])
    latest[START] = earliest[START]
    ceiling = float(earliest.max() + (stay[:, None] + rise).max(axis=1).sum() + 1)
    guard = 0.0
    if not (whole and float(allowance).is_integer()):
        ends = np.where(np.isfinite(instance.closes), instance.closes, ceiling)
        largest = np.maximum(np.abs(instance.opens), np.abs(ends)).max() + allowance
        guard = float(16 * np.finfo(np.float64).eps * largest)
    return Resource(stay, rise, earliest, latest, allowance, guard, ceiling, by_set=False)


def _load(instance: Instance, tolerance: float | None) -> Resource:
    """The load on board; the depot's own draft is not checked."""
    demand, total = instance.demand, float(instance.demand.sum())
    whole = instance.whole_loads
    allowance = (0.0 if whole else TOLERANCE) if tolerance is None else tolerance
    guard = 0.0 if whole else float(4 * instance.nodes * np.finfo(np.float64).eps * total)
    rise = with_return(np.broadcast_to(demand, instance.travel.shape))
    latest = np.append(instance.draft, np.inf)
    latest[START] = 0.0
    nothing = np.zeros(len(latest))
    return Resource(nothing, rise, nothing, latest, allowance, guard, total, by_set=True)


def with_return(matrix: Float[np.ndarray, "N N"]) -> Float[np.ndarray, "V V"]:
    """The column of the depot moved to the end."""
    extended = np.zeros((len(matrix) + 1, len(matrix) + 1))
    extended[:-1, 1:-1], extended[:-1, -1] = matrix[:, 1:], matrix[:, 0]
    return extended


def without_return(
    extended: Float[np.ndarray, "V V"] | Bool[np.ndarray, "V V"],
) -> Float[np.ndarray, "N N"] | Bool[np.ndarray, "N N"]:
    """The column of the end moved back to the depot's: row 0 leaves the depot, column 0 returns to it."""
    matrix = extended[:-1, :-1].copy()
    matrix[:, 0] = extended[:-1, -1]
    return matrix
