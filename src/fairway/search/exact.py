"""Exact search: the best tour with a proof, a proof that there is none, or an honest bound where time or memory ends.

Labels are extended layer by layer (`kernels.labels`). A search that keeps only so many labels of a layer is a beam; one
that never had to drop any is a proof. So a proof is sought by beams of growing width: each leaves a better tour, below
which the next can drop labels for good, and better bounds are made once cheap ones have failed.
"""

import math
import time
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from jaxtyping import Int

from fairway.errors import InvalidRequest
from fairway.kernels.labels.bound import Bound, cheapest_legs
from fairway.kernels.labels.law import Law, law_of, quickest_ways
from fairway.kernels.labels.relaxed import Effort, affordable, raised
from fairway.kernels.labels.run import Limits, Outcome, Rank, by_bound, by_cost, run, widest
from fairway.kernels.pruning import prune
from fairway.problems.instance import Instance
from fairway.problems.model import MARGIN, START, Model, Objective, is_makespan, model_of

Status = Literal["optimal", "infeasible", "bounded", "truncated"]

MEMORY = 1 << 30
"""Bytes that labels may take by default."""


@dataclass(frozen=True, slots=True)
class Statistics:
    """What a search took."""

    made: int
    """Labels tried, those dominated or too dear included."""
    kept: int
    """Labels extended."""
    widest: int
    """The most labels of one layer."""
    seconds: float


@dataclass(frozen=True, slots=True, eq=False)
class Proof:
    """What was found, and what is proved.

    Optimal: no tour is better than this one. Infeasible: there is no tour at all. Bounded: none is better than the
    bound that was given. Truncated: time or memory ended; the tour, if there is one, is the best so far.
    """

    status: Status
    tour: tuple[int, ...] | None
    cost: float
    """Of the tour: its travel or its makespan; infinite without one."""
    lower_bound: float
    """No tour costs less; infinite where there is none."""
    statistics: Statistics


@dataclass(frozen=True, slots=True)
class Stage:
    """One beam on the way to a proof, and what is done for its bounds before it: without sweeps, nothing."""

    width: int
    sweeps: int = 0
    """Of the relaxed problem."""
    ways: int = 1
    """The longest list of ways home from a stop."""
    memory: int = 0
    """Stops that each stop remembers in it."""


STAGES = (
    Stage(256),
    Stage(8_192, sweeps=16, ways=2, memory=5),
    Stage(32_768, sweeps=10, ways=16, memory=8),
    Stage(1 << 17, sweeps=20, ways=64, memory=12),
    Stage(1 << 20, sweeps=30, ways=256, memory=16),
    Stage(1 << 31, sweeps=30, ways=1_024, memory=24),
)
BEAM = STAGES[1]
"""Whose bounds a beam has."""
RANKS: dict[str, Rank] = {"bound": by_bound, "cost": by_cost}
LARGEST = 400
"""Nodes; pruning larger instances takes too long, and so do better bounds."""
LAW_SECONDS, PRUNING_SECONDS = 4e-10, 2e-8
"""What they take, about, times the cube of the nodes: not begun where there is less time than that."""
SHARE = 0.3
"""Of the time that is left, what a better bound may take."""


def prove(
    instance: Instance,
    *,
    upper: float = math.inf,
    seconds: float = math.inf,
    memory: int = MEMORY,
    objective: Objective = "travel",
) -> Proof:
    """The best tour that costs less than `upper`, with a proof, as far as time and memory go.

    Args:
        instance: Any instance; travel need be neither symmetric nor metric.
        upper: The cost of a tour that is known, or infinite; only better ones are looked for.
        seconds: Of work, from now on.
        memory: Bytes that labels may take, about.
        objective: The least travel, or for time windows the earliest return.
    """
    task = _task(instance, objective, upper, memory, seconds)
    known = _Known(lower=_trivial(task))
    view = None if task.over else _first_view(task)
    if view is None:
        return _proof(task, known)
    for number, stage in enumerate(STAGES):
        sharper = view if number == 0 else _sharper(task, view, known, stage)
        if sharper is None:
            known = replace(known, proved=True)
        if sharper is None or task.over:
            break
        view, limits = sharper, _limits(task, known, stage.width)
        known = _learned(task, known, run(view.law, view.bound, limits))
        if known.proved or stage.width >= widest(instance.nodes, memory):
            break
    return _proof(task, known)


def beam(
    instance: Instance,
    width: int,
    *,
    rank: Literal["bound", "cost"] = "bound",
    seconds: float = math.inf,
    memory: int = MEMORY,
    objective: Objective = "travel",
) -> Proof:
    """The best tour of a search that keeps so many labels of a layer; a proof only where no label was lost.

    Args:
        instance: Any instance.
        width: Labels to keep of a layer, fewer where memory asks for it.
        rank: What is kept: the cheapest labels so far, or those of least bound.
        seconds: Of work, from now on.
        memory: Bytes that labels may take, about.
        objective: The least travel, or for time windows the earliest return.
    """
    if width < 1:
        raise InvalidRequest(f"the beam has a width of {width}; expected one label or more")
    task = _task(instance, objective, math.inf, memory, seconds)
    known = _Known(lower=_trivial(task))
    first = None if task.over else _first_view(task)
    if first is None:
        return _proof(task, known)
    view = _sharper(task, first, known, BEAM)
    if view is None:
        known = replace(known, proved=True)
    elif not task.over:
        outcome = run(view.law, view.bound, _limits(task, known, width), RANKS[rank])
        known = _learned(task, known, outcome)
    return _proof(task, known)


def warm() -> None:
    """Compile all that a search needs, or load what has been compiled, so that no search is charged for it."""
    travel = 1.0 - np.eye(5)
    windows = model_of(Instance(travel, closes=9.0))
    drafts = model_of(Instance(travel, demand=[0, 1, 1, 1, 1], draft=9.0))
    laws = [law_of(windows), law_of(drafts), law_of(windows, pruned=prune(windows))]
    for law in laws:
        bound = raised(law, cheapest_legs(law), math.inf, Effort(2, 2, 2, math.inf))
        run(law, bound, Limits(1, math.inf, 1 << 20, math.inf))


@dataclass(frozen=True, slots=True, eq=False)
class _Task:
    """What is asked."""

    model: Model
    makespan: bool
    whole: bool
    """Whether every tour costs a whole number."""
    upper: float
    memory: int
    began: float
    until: float

    @property
    def over(self) -> bool:
        return time.monotonic() >= self.until


@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """What has been found out so far."""

    lower: float
    tour: Int[np.ndarray, " M"] | None = None
    cost: float = math.inf
    proved: bool = False
    """There is nothing better than the tour, or than the upper bound that was given."""
    made: int = 0
    kept: int = 0
    widest: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class _View:
    """How the search looks at the instance."""

    law: Law
    bound: Bound
    sharp: bool
    """Whether pruning has been tried."""


def _task(instance: Instance, objective: str, upper: float, memory: int, seconds: float) -> _Task:
    makespan = is_makespan(instance, objective)
    began = time.monotonic()
    until = began + seconds
    if instance.nodes**3 * LAW_SECONDS > seconds:
        until = began
    model = model_of(instance)
    whole = model.resource.guard == 0 if makespan else model.whole_costs
    return _Task(model, makespan, whole, float(upper), memory, began, until)


def _trivial(task: _Task) -> float:
    """No tour costs less than this, whatever the instance."""
    return float(task.model.resource.earliest[START]) if task.makespan else 0.0


def _first_view(task: _Task) -> _View | None:
    """What can be had at once; None where there was no time for it."""
    resource = task.model.resource
    ways = None if resource.by_set else quickest_ways(resource, task.until)
    if ways is None and not resource.by_set:
        return None
    law = law_of(task.model, makespan=task.makespan, ways=ways)
    return _View(law, cheapest_legs(law), sharp=law.by_set)


def _sharper(task: _Task, view: _View, known: _Known, stage: Stage) -> _View | None:
    """With tighter windows and better bounds, as far as there is time for them; None where no tour is left."""
    if task.model.nodes > LARGEST:
        return view
    best = min(known.cost, task.upper)
    tight = view if view.sharp else _pruned_view(task, view, best)
    if tight is None or stage.sweeps == 0:
        return tight
    now = time.monotonic()
    deadline = now + SHARE * (task.until - now)
    wanted = Effort(stage.ways, stage.memory, stage.sweeps, deadline)
    effort = affordable(tight.law, wanted, task.memory // 4)
    if effort is None:
        return tight
    return replace(tight, bound=raised(tight.law, tight.bound, _below(task, best), effort))


def _pruned_view(task: _Task, view: _View, best: float) -> _View | None:
    """What pruning leaves, where there is time for it."""
    if task.model.nodes**3 * PRUNING_SECONDS > task.until - time.monotonic():
        return view
    model = task.model.home_by(best) if task.makespan else task.model
    pruned = prune(model, task.until)
    if pruned.infeasible is not None:
        return None
    if task.over:
        return view
    law = law_of(model, makespan=task.makespan, pruned=pruned)
    return _View(law, cheapest_legs(law), sharp=True)


def _limits(task: _Task, known: _Known, width: int) -> Limits:
    return Limits(width, _below(task, min(known.cost, task.upper)), task.memory, task.until)


def _below(task: _Task, cost: float) -> float:
    """What a bound must stay under for a tour that is better: by a whole unit, or by more than rounding."""
    if math.isinf(cost):
        return cost
    rounding = MARGIN * max(abs(cost), 1.0)
    return math.ceil(cost) - 1 + min(rounding, 0.5) if task.whole else cost - rounding


def _learned(task: _Task, known: _Known, outcome: Outcome) -> _Known:
    """What a search adds to what was known before it."""
    tour, cost = known.tour, known.cost
    if outcome.tour is not None:
        tour, cost = outcome.tour, outcome.cost
    best = min(cost, task.upper)
    return _Known(
        lower=max(known.lower, min(outcome.open, best)),
        tour=tour,
        cost=cost,
        proved=outcome.open >= _below(task, best),
        made=known.made + outcome.made,
        kept=known.kept + outcome.kept,
        widest=max(known.widest, outcome.widest),
    )


def _proof(task: _Task, known: _Known) -> Proof:
    """In the instance's own direction, to the last bit of its cost."""
    tour, cost = known.tour, known.cost
    stops = None if tour is None else task.model.outward(tour)
    if tour is not None and task.model.turned:
        cost = task.model.total(tour)
    status: Status = "truncated"
    lower = known.lower
    if known.proved:
        status = "infeasible"
        if tour is not None:
            status = "optimal"
        elif not math.isinf(task.upper):
            status = "bounded"
        lower = min(cost, task.upper)
    spent = time.monotonic() - task.began
    statistics = Statistics(known.made, known.kept, known.widest, spent)
    return Proof(status, stops, float(cost), float(lower), statistics)
