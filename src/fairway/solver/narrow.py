"""Many instances with narrow windows at once: proved together, judged together, hardly any Python for each.

It is the first thing that `solve_one` tries, with the same answer; what it does not decide is left to `solve_one`.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from fairway import clock
from fairway.judge import Solution
from fairway.judge.many import solutions_of, verify_many
from fairway.kernels.labels.layers import Search
from fairway.kernels.labels.many import Windows, distances, least_tours, room_for
from fairway.problems.instance import TOLERANCE
from fairway.problems.model import Objective
from fairway.problems.sets import InstanceSet, Locations
from fairway.search.exact import STAGES
from fairway.solver.explain.feasibility import NARROW
from fairway.solver.request import Request
from fairway.solver.results import Improvement, Result

TOGETHER = 16
"""Instances whose matrices are made at a time: they stay near the core."""
LARGEST = 200
"""Nodes up to which a proof comes first, whether it is by the clock or not."""
PATIENCE = 0.1
"""Seconds below which the clock may end a first proof, and so must be looked at."""
WIDTH = STAGES[0].width
ROUNDING = 16 * np.finfo(np.float64).eps


class Proved(NamedTuple):
    """The instances of a set that were proved and judged, with their tours."""

    number: Int[np.ndarray, " K"]
    tour: Int[np.ndarray, "K M"]
    cost: Float[np.ndarray, " K"]
    makespan: Float[np.ndarray, " K"]
    seconds: float
    """Of work on each, on average."""


def suits(instances: InstanceSet, request: Request) -> bool:
    """Whether instances of a set may be proved together."""
    plain = request.objective in ("cost", "travel") and not request.fixed
    stated = instances.opens is not None and instances.closes is not None
    small = instances.nodes <= LARGEST and request.patience >= PATIENCE
    return plain and stated and not instances.laden and small


def proved_together(instances: InstanceSet) -> Proved:
    """The least tours of all instances that a narrow beam proves and the judge accepts."""
    began = clock.now()
    tours = _least(instances)
    accepted, cost, makespan = verify_many(instances, tours)
    number = np.flatnonzero(accepted)
    each = (clock.now() - began) / max(len(number), 1)
    return Proved(number, tours[number], cost[number], makespan[number], each)


def solved_together(instances: InstanceSet, objective: Objective) -> dict[int, Result]:
    """The same as answers, with their schedules, by the numbers of the instances."""
    began = clock.now()
    found = solutions_of(instances, _least(instances))
    known = {number: solution for number, solution in enumerate(found) if solution is not None}
    each = (clock.now() - began) / max(len(known), 1)
    return {number: _answer(solution, each, objective) for number, solution in known.items()}


def _answer(solution: Solution, seconds: float, objective: Objective) -> Result:
    cost, method = solution.cost, "exact search"
    trace = (Improvement(seconds, cost, method),)
    return Result("optimal", seconds, objective, cost, solution, method, trace)


def _least(instances: InstanceSet) -> Int[np.ndarray, "B M"]:
    """The least tours; rows of zeros where the beam proves none."""
    tours = np.zeros((len(instances), instances.nodes - 1), np.int64)
    for first in range(0, len(instances), TOGETHER):
        _prove(instances[first : first + TOGETHER], tours[first : first + TOGETHER])
    return tours


def _prove(some: InstanceSet, tours: Int[np.ndarray, "B M"]) -> None:
    """Write down the tours that are proved; rows of zeros are left of the others."""
    assert some.opens is not None and some.closes is not None  # noqa: PT018 - both or neither
    travel = _matrices(some)
    service = np.zeros_like(some.opens) if some.service is None else some.service
    likely = np.flatnonzero(_likely(travel, some.opens, some.closes, service))
    allowance = np.where(some.whole_times, 0.0, TOLERANCE)
    largest = np.maximum(np.abs(some.opens), np.abs(some.closes)).max(axis=1) + allowance
    guard = np.where(allowance > 0, ROUNDING * largest, 0.0)
    columns = (some.opens, some.closes, service, allowance, guard)
    windows = Windows(travel, *(each.copy() for each in columns))
    least_tours(_room(some.nodes), windows, WIDTH, likely, tours)


def _matrices(some: InstanceSet) -> Float[np.ndarray, "B N N"]:
    """The travel matrices, good until the next are asked for."""
    points, matrix = some.locations.coordinates, some.locations.matrix
    if matrix is not None or points is None:
        return np.array(matrix)
    travel = _kept(some.nodes)[: len(some)]
    distances(points.copy(), travel)
    return travel


def _likely(
    travel: Float[np.ndarray, "B N N"],
    opens: Float[np.ndarray, "B N"],
    closes: Float[np.ndarray, "B N"],
    service: Float[np.ndarray, "B N"],
) -> Bool[np.ndarray, " B"]:
    """Which instances `solve_one` would begin to prove at once: `breadth` and `obstacle` over columns."""
    stops = opens.shape[1] - 1
    gone = (closes[:, 1:, None] < opens[:, None, 1:]).sum(axis=(1, 2))
    breadth = (stops * (stops + 1) // 2 - gone) / stops
    arrival = opens[:, :1] + (service[:, :1] + travel[:, 0])
    home = np.maximum(arrival, opens) + (service + travel[:, :, 0])
    late = (arrival > closes) | (home > closes[:, :1])
    return (breadth <= NARROW) & ~late[:, 1:].any(axis=1) & np.isfinite(closes).all(axis=1)


@lru_cache(maxsize=4)
def _kept(nodes: int) -> Float[np.ndarray, "B N N"]:
    """Matrices that are written on again and again: new ones would take longer to be had than to be filled."""
    return np.empty((TOGETHER, nodes, nodes))


@lru_cache(maxsize=4)
def _room(nodes: int) -> Search:
    """Kept for the next set of that size."""
    return room_for(nodes, WIDTH)


def warm() -> None:
    """Compile all that this needs, or load what has been compiled."""
    points = Locations(np.array([[[0.0, 0.0], [0.3, 0.4], [1.0, 1.0]]]))
    assert len(proved_together(InstanceSet(points, opens=0.0, closes=9.0)).number) == 1
