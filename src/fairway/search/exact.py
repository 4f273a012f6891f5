"""Exact search: the best tour with a proof, a proof that there is none, or an honest bound where time or memory ends.

Labels are extended layer by layer (`kernels.labels`). A search that keeps only so many labels of a layer is a beam; one
that never had to drop any is a proof. So a proof is sought by beams of growing width: each leaves a better tour, below
which the next can drop labels for good, and better bounds are made once cheap ones have failed.
"""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Int

from fairway import clock
from fairway.errors import InvalidRequest
from fairway.kernels.labels import run as label_run
from fairway.kernels.labels.bound import Bound, cheapest_legs
from fairway.kernels.labels.label_model import LabelModel, label_model_of, shortest_paths
from fairway.kernels.labels.ng_ascent import Ascent, suits
from fairway.kernels.labels.relaxed import Effort, affordable, ascended, height
from fairway.kernels.labels.run import Limits, by_bound, by_cost, run
from fairway.kernels.labels.space import Rank, widest
from fairway.kernels.preprocessing import preprocess
from fairway.problems.instance import Instance
from fairway.problems.model import MARGIN, START, Objective, is_makespan, model_of
from fairway.search.climbing import climb

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
    paths: int = 1
    """The longest list of paths home from a stop."""
    memory: int = 0
    """Stops that each stop remembers in it."""


STAGES = (
    Stage(256),
    Stage(8_192, sweeps=16, paths=2, memory=5),
    Stage(32_768, sweeps=10, paths=16, memory=8),
    Stage(1 << 17, sweeps=20, paths=64, memory=12),
    Stage(1 << 20, sweeps=30, paths=256, memory=16),
    Stage(1 << 31, sweeps=30, paths=1_024, memory=24),
)
BEAM = STAGES[1]
"""Whose bounds a beam has."""
RAISING = (
    Stage(0, sweeps=50, paths=2, memory=5),
    Stage(0, sweeps=25, paths=4, memory=6),
    Stage(0, sweeps=25, paths=8, memory=8),
    Stage(0, sweeps=25, paths=16, memory=10),
    Stage(0, sweeps=25, paths=32, memory=12),
    Stage(0, sweeps=25, paths=64, memory=16),
    Stage(0, sweeps=25, paths=256, memory=24),
)
"""How a bound is raised where no proof can be expected: lists twice as long, once multipliers fit the last ones."""
RANKS: dict[str, Rank] = {"bound": by_bound, "cost": by_cost}
LARGEST = 400
"""Nodes; preprocessing larger instances takes too long, and so do better bounds."""
LABELLING_SECONDS, PREPROCESSING_SECONDS = 4e-10, 2e-8
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
    threads: int = 1,
) -> Proof:
    """The best tour that costs less than `upper`, with a proof, as far as time and memory go.

    Args:
        instance: Any instance; travel need be neither symmetric nor metric.
        upper: The cost of a tour that is known, or infinite; only better ones are looked for.
        seconds: Of work, from now on.
        memory: Bytes that labels may take, about.
        objective: The least travel, or for time windows the earliest return.
        threads: That extend the labels of wide layers.
    """
    search = _Search(instance, objective, upper, memory, seconds, threads)
    if search.begun():
        for number, stage in enumerate(STAGES):
            if number > 0:
                search.sharpen(stage)
            search.run(stage.width)
            if search.ended or stage.width >= widest(instance.nodes, memory):
                break
    return search.proof()


def raise_bound(
    instance: Instance,
    *,
    upper: float,
    seconds: float,
    objective: Objective = "travel",
    gap: float = 0.0,
    threads: int = 1,
) -> Proof:
    """A bound as good as the time allows, and a proof where the bound comes near enough to `upper` for labels.

    Args:
        instance: Any instance; travel need be neither symmetric nor metric.
        upper: The cost of a tour that is known.
        seconds: Of work, from now on.
        objective: The least travel, or for time windows the earliest return.
        gap: Stop once `upper` is proved to be within this part of the best possible.
        threads: That extend the labels of wide layers.
    """
    search = _Search(instance, objective, upper, MEMORY, seconds, threads)
    if search.begun():
        search.sharpen(Stage(0))
        if not search.ended and search.climbs:
            climb(search, search.best / (1 + gap))
        else:
            _raise_by_lists(search)
    return search.proof()


def _raise_by_lists(search: "_Search") -> None:
    """By lists of paths that forget what they have no room for."""
    for stage in RAISING:
        search.sharpen(stage, share=1.0)
        search.settle()
        if search.ended:
            break


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

    Those of least bound are kept, or the cheapest so far, fewer where memory asks for it; the rest is as for `prove`.
    """
    if width < 1:
        raise InvalidRequest(f"the beam has a width of {width}; expected one label or more")
    search = _Search(instance, objective, math.inf, memory, seconds)
    if search.begun():
        search.sharpen(BEAM)
        search.run(width, RANKS[rank])
    return search.proof()


def warm() -> None:
    """Compile all that a search needs, or load what has been compiled, so that no search is charged for it."""
    travel = 1.0 - np.eye(5)
    windows = model_of(Instance(travel, closes=9.0))
    drafts = model_of(Instance(travel, demand=[0, 1, 1, 1, 1], draft=9.0))
    label_models = [
        label_model_of(windows),
        label_model_of(drafts),
        label_model_of(windows, pruned=preprocess(windows)),
    ]
    for each in label_models:
        bound = ascended(each, cheapest_legs(each), math.inf, Effort(2, 2, 2, math.inf))
        label_run.warm(each, bound)
    ascent = Ascent(label_models[0], 99.0)
    ascent.climb(math.inf)
    ascent.bound(math.inf)


class _Search:
    """What is asked, what has been found out so far, and how the search looks at the instance."""

    label_model: LabelModel
    bound: Bound

    def __init__(
        self,
        instance: Instance,
        objective: str,
        upper: float,
        memory: int,
        seconds: float,
        threads: int = 1,
    ) -> None:
        self.makespan = is_makespan(instance, objective)
        self.upper, self.memory, self.threads = float(upper), memory, threads
        self.began = clock.now()
        enough = instance.nodes**3 * LABELLING_SECONDS <= seconds
        self.until = self.began + (seconds if enough else 0.0)
        self.model = model_of(instance)
        resource = self.model.resource
        self.whole = resource.guard == 0 if self.makespan else self.model.whole_costs
        """Whether every tour costs a whole number."""
        self.lower = float(resource.earliest[START]) if self.makespan else 0.0
        self.tour: Int[np.ndarray, " M"] | None = None
        self.cost = math.inf
        self.proved = False
        """There is nothing better than the tour, or than the upper bound that was given."""
        self.made = self.kept = self.widest = 0
        self.pruned = resource.by_set
        """Whether preprocessing has been done, or is of no use."""

    @property
    def ended(self) -> bool:
        """Whether there is nothing more to prove, or no more time."""
        return self.proved or clock.now() >= self.until

    @property
    def best(self) -> float:
        """What a tour must be better than."""
        return min(self.cost, self.upper)

    @property
    def below(self) -> float:
        """What a bound must stay under for a tour that is better: by a whole unit, or by more than rounding."""
        if math.isinf(self.best):
            return self.best
        rounding = MARGIN * max(abs(self.best), 1.0)
        whole = math.ceil(self.best) - 1 + min(rounding, 0.5)
        return whole if self.whole else self.best - rounding

    def begun(self) -> bool:
        """Whether there was time for the labelling model and the bounds that can be had at once."""
        resource = self.model.resource
        paths = None if resource.by_set or self.ended else shortest_paths(resource, self.until)
        if self.ended or (paths is None and not resource.by_set):
            return False
        self.label_model = label_model_of(self.model, makespan=self.makespan, paths=paths)
        self.bound = cheapest_legs(self.label_model)
        return True

    def sharpen(self, stage: Stage, share: float = SHARE) -> None:
        """Have tighter windows and better bounds, as far as there is time for them; no tour may be left."""
        if self.model.nodes > LARGEST:
            return
        if not self.pruned:
            self._prune()
        if self.proved or stage.sweeps == 0:
            return
        now = clock.now()
        deadline = now + share * (self.until - now)
        wanted = Effort(stage.paths, stage.memory, stage.sweeps, deadline)
        effort = affordable(self.label_model, wanted, self.memory // 4)
        if effort is not None:
            self.bound = ascended(self.label_model, self.bound, self.below, effort)

    def settle(self) -> None:
        """Take the bound for what it says of the whole tour."""
        least = height(self.bound) + (self.label_model.opens[0] if self.makespan else 0.0)
        self.lower = max(self.lower, min(least, self.best))
        self.proved = self.proved or least >= self.below

    gaps = None
    """Every stop has one window."""

    @property
    def goal(self) -> float:
        """What a bound would meet the best tour with."""
        return self.best

    @property
    def climbs(self) -> bool:
        """Whether paths with exact resources can bound it."""
        return self.model.nodes <= LARGEST and suits(self.label_model)

    def reach(self, least: float) -> None:
        """Take over a bound on the whole tour, less what sums may be off by."""
        safe = least - MARGIN * abs(least) if math.isfinite(least) else least
        self.lower = max(self.lower, min(safe, self.best))
        self.proved = self.proved or least >= self.below

    def _prune(self) -> None:
        """Go on with what preprocessing leaves, where there is time for it."""
        if self.model.nodes**3 * PREPROCESSING_SECONDS > self.until - clock.now():
            return
        deadline = math.ceil(self.best) - 1.0 if self.whole and self.best < math.inf else self.best
        model = self.model.home_by(deadline) if self.makespan else self.model
        pruned = preprocess(model, self.until)
        self.proved = pruned.infeasible is not None
        if not self.ended:
            self.label_model = label_model_of(model, makespan=self.makespan, pruned=pruned)
            self.bound = cheapest_legs(self.label_model)
            self.pruned = True

    def run(self, width: int, rank: Rank = by_bound, until: float = math.inf) -> None:
        """Search with so many labels of a layer."""
        if self.ended:
            return
        until = min(until, self.until)
        limits = Limits(width, self.below, self.memory, until, self.threads)
        outcome = run(self.label_model, self.bound, limits, rank)
        if outcome.tour is not None:
            self.tour, self.cost = outcome.tour, outcome.cost
        self.lower = max(self.lower, min(outcome.open, self.best))
        self.proved = outcome.open >= self.below
        self.made += outcome.made
        self.kept += outcome.kept
        self.widest = max(self.widest, outcome.widest)

    def proof(self) -> Proof:
        """What is known, in the instance's own direction, to the last bit of its cost."""
        tour, cost, model = self.tour, self.cost, self.model
        if tour is not None and model.turned:
            cost = model.total(tour)
        status: Status = "truncated"
        if self.proved:
            without = "infeasible" if math.isinf(self.upper) else "bounded"
            status = without if tour is None else "optimal"
        lower = min(cost, self.upper) if self.proved else self.lower
        spent = clock.now() - self.began
        statistics = Statistics(self.made, self.kept, self.widest, spent)
        stops = None if tour is None else model.outward(tour)
        return Proof(status, stops, float(cost), float(lower), statistics)
