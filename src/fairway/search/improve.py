"""Local search: a feasible tour from any tour or from none, then better ones until the budget is spent.

Rounds of `kernels.moves`, kept by the rule of simulated annealing with a temperature that falls to zero as the budget
ends. All is done in slices of a few milliseconds, between which a clock, a caller and an interrupt are heard.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import UInt

from fairway import clock
from fairway.errors import InvalidRequest
from fairway.kernels.moves.anneal import WITHOUT_END, anneal, memory_of
from fairway.kernels.moves.descent import descend, push, queue_for
from fairway.kernels.moves.order import by_deadline, deferred
from fairway.kernels.moves.rng import Random, seeded
from fairway.kernels.moves.ruin import inserted
from fairway.kernels.moves.search_model import (
    SearchModel,
    search_model_without_neighbours,
    with_neighbours,
)
from fairway.kernels.moves.time_warp import late_tour, lateness, repair_lateness
from fairway.kernels.moves.tour_state import tour_state_of
from fairway.problems.instance import Instance
from fairway.problems.model import MARGIN, Objective, is_makespan, model_of

Node = UInt[np.ndarray, " V"]
"""A tour as the kernels have it: by position, the depot at both ends, in the direction in which resources grow."""
Found = Callable[[tuple[int, ...], float], None]
"""Is told of every better tour and what it costs."""

SLICE, PART = 0.005, 0.05
"""Seconds of work between two looks at the clock, and of a small budget the part."""
ROUNDS = 64
"""Of a slice, where rounds are counted and not seconds."""
NODES = 32
"""Tried in the first descent between two looks at the clock; fewer of large ones for the makespan."""
MOVES = 100_000
"""Places that are looked at on the way to feasibility between two looks at the clock: a few milliseconds."""
ROUND_MOVES = 4_000_000
"""Rounds of the search between two looks at the clock, times the square of the nodes."""
FORM_SECONDS = 1e-8
"""What no search can do without takes for each pair of nodes."""
AT_ONCE = 0.005
"""Seconds that are not worth asking for."""
TEMPERATURE, TEMPERATURE_BY_SET = 5.0, 1.0
"""The temperature at the beginning, in mean legs of the first tour, as measured to be best for times and for loads."""


@dataclass(frozen=True, slots=True)
class Improved:
    """The best tour that was found."""

    tour: tuple[int, ...]
    feasible: bool
    """By the search's own reckoning; the judge has the last word."""
    cost: float
    """Of the objective; infinite where the tour is not feasible."""
    late: float
    """By how much limits are passed in all."""
    iterations: int


def improve(
    instance: Instance,
    tour: Sequence[Any] | np.ndarray | None = None,
    *,
    seconds: float = math.inf,
    iterations: int | None = None,
    seed: int = 0,
    objective: Objective = "travel",
    found: Found | None = None,
) -> Improved:
    """The best tour within a budget of seconds, of iterations, or of both.

    Args:
        instance: Any instance; travel need be neither symmetric nor metric.
        tour: Where to start; one that is not feasible is first made so. By default a tour is built.
        seconds: Of work, from now on.
        iterations: Rounds of the search; the same seed then gives the same answer.
        seed: Random seed.
        objective: The least travel, or for time windows the earliest return.
        found: Called with each better tour and its cost, between slices.
    """
    budget = _Budget(seconds, iterations)
    by_resource = is_makespan(instance, objective)
    if FORM_SECONDS * instance.nodes**2 > max(budget.until - clock.now(), AT_ONCE):
        return _unsearched(instance, tour)
    model, random = model_of(instance), seeded(seed)
    search_model = search_model_without_neighbours(model, max(budget.until, clock.now() + AT_ONCE))
    if search_model is None:
        return _unsearched(instance, tour)
    if tour is None:
        order = by_deadline(search_model)  # in which the cheapest insertions are made
        built = inserted(search_model, order, random, budget.until)
        node = order if built is None else built
    else:
        node = model.inward(tour)
    if search_model.by_set and lateness(search_model, node) > 0:
        repaired = deferred(search_model, node, budget.until)
        node = node if repaired is None else repaired
    node, late = _repaired(search_model, node, random, budget)
    if late > 0:
        return Improved(model.outward(node[1:-1]), False, math.inf, late, budget.done)
    cost = math.inf
    best, base_temperature = node, TEMPERATURE_BY_SET if search_model.by_set else TEMPERATURE
    for best in _ever_better(search_model, node, random, by_resource, base_temperature, budget):
        cost = _cost(search_model, best, by_resource)
        if found is not None:
            found(model.outward(best[1:-1]), cost)
    return Improved(model.outward(best[1:-1]), True, cost, 0.0, budget.done)


def _unsearched(instance: Instance, tour: Sequence[Any] | np.ndarray | None) -> Improved:
    """Where there is no time: what was given, or the stops in the order of their limits, neither of them looked at."""
    stops = by_limits(instance) if tour is None else tuple(np.asarray(tour).tolist())
    return Improved(stops, False, math.inf, math.inf, 0)


def by_limits(instance: Instance) -> tuple[int, ...]:
    """All stops in the order of their limits, in the direction of the instance."""
    limits = (instance.opens, instance.demand, instance.closes, instance.draft)
    stops = 1 + np.lexsort([column[1:] for column in limits])
    return tuple((stops[::-1] if instance.load == "shrinking" else stops).tolist())


class _Budget:
    """Seconds and iterations, what has been spent of them, and how much to do until the next look at the clock."""

    def __init__(self, seconds: float, iterations: int | None) -> None:
        if iterations is None and math.isinf(seconds):
            raise InvalidRequest("the search would never end; give it seconds or iterations")
        self._began = self._looked = clock.now()
        self._seconds, self._most = seconds, iterations
        self.until = self._began + seconds
        """When the seconds are over, by `clock.now`."""
        self._pace = 1
        self.done = 0

    @property
    def left(self) -> float:
        """The part that is left, from 1 to 0: of the iterations where they are counted, or else of the seconds."""
        timed = 1 - (clock.now() - self._began) / max(self._seconds, 1e-9)
        if timed <= 0 or self._most is None:
            return max(timed, 0.0)
        return 1 - self.done / self._most if self.done < self._most else 0.0

    def slice(self) -> int:
        """How many iterations to do now; they count as done."""
        if self._most is not None:
            rounds = min(ROUNDS, self._most - self.done)
        else:
            now = clock.now()
            least = min(SLICE, PART * self._seconds)
            wanted = self._pace * least / max(now - self._looked, 1e-6)
            self._pace = rounds = max(1, min(int(wanted), 4 * self._pace))
            self._looked = now
        self.done += rounds
        return rounds


def _repaired(
    search_model: SearchModel, node: Node, random: Random, budget: _Budget
) -> tuple[Node, float]:
    """The least late tour that can be had, and how late it is; an iteration is a try to move each stop."""
    state, late = late_tour(node), lateness(search_model, node)
    most = max(1, MOVES // len(node))
    while late > 0 and budget.left > 0:
        steps = budget.slice() * (len(node) - 2)
        while steps > 0 and late > 0 and clock.now() < budget.until:
            late = repair_lateness(search_model, state, random, min(steps, most))
            steps -= most
    return state.kept, late


def _ever_better(
    search_model: SearchModel,
    node: Node,
    random: Random,
    by_resource: bool,
    base_temperature: float,
    budget: _Budget,
) -> Iterator[Node]:
    """Tours that are each better than the last, the first of them the one given, until the budget is spent."""
    yield node
    whole = with_neighbours(search_model, budget.until) if budget.left > 0 else None
    if whole is None:
        return
    search_model = whole
    tour_state, queue = tour_state_of(search_model, node), queue_for(len(node))
    cost = tour_state.length[0, -1]
    aim = (MARGIN * max(cost, 1.0), by_resource)
    for each in node:
        push(queue, each)
    # For the makespan every place has to be looked at: a round of a large tour takes longer than a slice.
    some = min(NODES, max(1, MOVES // 25 // len(node))) if by_resource else NODES
    most = some if by_resource else WITHOUT_END
    while queue.ends[1] > 0 and budget.left > 0:
        descend(search_model, tour_state, queue, aim, some)
    if not np.array_equal(tour_state.node, node):
        yield tour_state.node.copy()
    memory = memory_of(tour_state, aim, random)
    while budget.left > 0 and len(node) > 3:
        temperature = base_temperature * cost / len(node) * budget.left**2
        best, rounds = memory.weights[1], budget.slice()
        while rounds > 0 and clock.now() < budget.until:
            few = min(rounds, max(1, ROUND_MOVES // len(node) ** 2))
            pace = (few, most)
            rounds += anneal(search_model, tour_state, queue, memory, temperature, aim, pace) - few
        if memory.weights[1] < best:
            yield memory.best.copy()


def _cost(search_model: SearchModel, node: Node, by_resource: bool) -> float:
    """What a feasible tour costs, leg by leg."""
    if not by_resource:
        return float(sum(search_model.cost[node[:-1], node[1:]].tolist()))
    resource = float(search_model.opens[0])
    for increment, opens in zip(
        search_model.increment[node[:-1], node[1:]].tolist(),
        search_model.opens[node[1:]].tolist(),
        strict=True,
    ):
        resource = max(resource + increment, opens)
    return resource
