"""The judge for many tours at once: instances of one size with windows alone or drafts alone, one tour for each.

The same rules, tolerance and order of sums as `verify`, written once more over columns: what it accepts, and at what
cost, equals what `verify` says of each, to the last bit. It gives no reasons; a tour that is refused is for `verify`.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from fairway.errors import InvalidRequest
from fairway.judge.verdict import Schedule, Solution
from fairway.problems.instance import TOLERANCE
from fairway.problems.sets import InstanceSet


class Verdicts(NamedTuple):
    """What is said of each tour; figures of a refused one mean nothing."""

    accepted: Bool[np.ndarray, " B"]
    cost: Float[np.ndarray, " B"]
    makespan: Float[np.ndarray, " B"]


class _Walk(NamedTuple):
    """Tours followed stop by stop, all at once, with the depot again as the last stop."""

    tours: Int[np.ndarray, "B M"]
    """As given; of what is no tour, all stops by their numbers."""
    kept: Bool[np.ndarray, " B"]
    """Whether it is a tour, and in time."""
    cost: Float[np.ndarray, " B"]
    departure: Float[np.ndarray, " B"]
    arrival: Float[np.ndarray, "V B"]
    start: Float[np.ndarray, "V B"]
    left: Float[np.ndarray, "V B"]
    late: Float[np.ndarray, "V B"]


def verify_many(instances: InstanceSet, tours: Int[np.ndarray, "B M"]) -> Verdicts:
    """Judge one tour of each instance: all its stops in order, without the depot."""
    walk = _walked(instances, tours)
    accepted = walk.kept & np.isfinite(walk.cost)
    if instances.laden:
        accepted &= _afloat(instances, *_loads(instances, walk.tours))
    return Verdicts(accepted, walk.cost, walk.left[-1])


def solutions_of(instances: InstanceSet, tours: Int[np.ndarray, "B M"]) -> list[Solution | None]:
    """The tours that are accepted, with their schedules; None where one is refused."""
    walk = _walked(instances, tours)
    load, draft = _loads(instances, walk.tours)
    accepted = walk.kept & np.isfinite(walk.cost) & _afloat(instances, load, draft)
    lateness = np.zeros(len(instances))
    for late in walk.late:
        lateness += late
    columns = (walk.arrival, walk.start - walk.arrival, walk.start, walk.left, walk.late)
    times = np.stack(columns)[:, :-1].transpose(2, 0, 1)  # the return is no stop
    shown = np.concatenate((times, np.stack((load, draft), axis=1)), axis=1)
    ends = zip(walk.cost.tolist(), walk.left[-1].tolist(), walk.departure.tolist(), strict=True)
    rows = zip(accepted, walk.tours, shown, ends, lateness.tolist(), strict=True)
    return [
        _solution(tour, said, end, late) if good else None for good, tour, said, end, late in rows
    ]


def _solution(
    tour: Int[np.ndarray, " M"],
    columns: Float[np.ndarray, "T M"],
    ends: tuple[float, float, float],
    lateness: float,
) -> Solution:
    """A tour of all stops; what its schedule says of them, by columns, and cost, makespan and departure."""
    arrival, wait, start, left, late, load, draft = columns
    cost, makespan, departure = ends
    return Solution(
        tuple(tour.tolist()),
        cost,
        makespan,
        Schedule(tour, arrival, wait, start, left, load, draft, late),
        value=cost,
        duration=makespan - departure,
        departure=departure,
        lateness=lateness,
        unserved=(),
    )


def _walked(instances: InstanceSet, tours: Int[np.ndarray, "B M"]) -> _Walk:
    if instances.problem == "tour":
        raise InvalidRequest(
            "only sets with time windows or with drafts are judged together; verify one by one"
        )
    count, nodes = len(instances), instances.nodes
    if tours.shape != (count, nodes - 1):
        raise InvalidRequest(
            f"the tours have shape {tours.shape}; expected {(count, nodes - 1)}, one per instance"
        )
    kept = (np.sort(tours, axis=1) == np.arange(1, nodes)).all(axis=1)
    each, known = np.arange(count), np.where(kept[:, None], tours, np.arange(1, nodes))
    nothing = np.zeros((count, nodes))
    opens = nothing if instances.opens is None else instances.opens
    closes = np.full_like(nothing, np.inf) if instances.closes is None else instances.closes
    service = nothing if instances.service is None else instances.service
    allowance = np.where(instances.whole_times, 0.0, TOLERANCE)
    arrival, start, left, late = np.empty((4, nodes, count))
    departure = now = opens[:, 0] + service[:, 0]
    here, cost = np.zeros(count, np.int64), np.zeros(count)
    for at, there in enumerate((*known.T, np.zeros(count, np.int64))):
        leg = instances.locations.legs(here, there)
        last = closes[each, there]
        # Nobody waits for the depot to open, and nothing is served there at the end.
        stop = there != 0
        arrival[at] = now + leg
        waited = np.maximum(arrival[at], np.where(stop, opens[each, there], -np.inf))
        start[at] = np.where(arrival[at] <= last + allowance, waited, arrival[at])
        kept &= ~(start[at] - last > allowance)
        late[at] = np.maximum(start[at] - last, 0.0)
        cost += leg
        left[at] = now = start[at] + np.where(stop, service[each, there], 0.0)
        here = there
    return _Walk(known, kept, cost, departure, arrival, start, left, late)


def _loads(
    instances: InstanceSet, tours: Int[np.ndarray, "B M"]
) -> tuple[Float[np.ndarray, "B M"], Float[np.ndarray, "B M"]]:
    """The load at each stop of the tours, and the draft there."""
    demand, draft = _demand_and_draft(instances)
    turn = -1 if instances.load == "shrinking" else 1
    amounts = np.take_along_axis(demand, tours, axis=1)[:, ::turn]
    return amounts.cumsum(axis=1)[:, ::turn], np.take_along_axis(draft, tours, axis=1)


def _afloat(
    instances: InstanceSet, load: Float[np.ndarray, "B M"], draft: Float[np.ndarray, "B M"]
) -> Bool[np.ndarray, " B"]:
    """Whether no load is above a draft."""
    whole = [(each == np.rint(each)).all(axis=1) for each in _demand_and_draft(instances)]
    allowance = np.where(whole[0] & whole[1], 0.0, TOLERANCE)[:, None]
    return np.asarray((load - draft <= allowance).all(axis=1))


def _demand_and_draft(
    instances: InstanceSet,
) -> tuple[Float[np.ndarray, "B N"], Float[np.ndarray, "B N"]]:
    """Of every node; nothing, and no limit, where none are stated."""
    shape = (len(instances), instances.nodes)
    demand = np.zeros(shape) if instances.demand is None else instances.demand
    draft = np.full(shape, np.inf) if instances.draft is None else instances.draft
    return demand, draft
