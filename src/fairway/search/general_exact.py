"""Exact search under any constraints: the best tour with a proof, a proof that there is none, or an honest bound.

As in `search.exact`, by beams of growing width, each below the best tour so far and with better bounds than the last.
"""

import math

import numpy as np

from fairway import clock
from fairway.kernels.general.relaxation import quick_model, relaxed_of
from fairway.kernels.general.tour_model import tour_model_of
from fairway.kernels.labels.label_model import unpacked
from fairway.problems.instance import Instance
from fairway.search.departures import by_departure
from fairway.search.exact import LARGEST, MEMORY, STAGES, Proof, Stage
from fairway.search.general import least_value
from fairway.search.proving import Proving

LONGEST = 1_000
"""Nodes, where sets of stops are searched."""
SMALL, WIDER = 20, Stage(8_192)
"""Nodes up to which a wider beam is tried without better bounds, which take longer to compile than it takes."""


def provable(instance: Instance, objective: str) -> bool:
    """Whether labels can prove it: not where a free departure has to weigh lateness."""
    soft = bool((np.isfinite(instance.late) & (instance.late > 0)).any())
    return not (objective == "duration" and soft) and searchable(instance, objective)


def searchable(instance: Instance, objective: str) -> bool:
    """Whether it is small enough for exact search, which bears more nodes where an order is all that there is."""
    few = instance.nodes <= LARGEST
    return few or (instance.nodes <= LONGEST and ordered(instance, objective))


def ordered(instance: Instance, objective: str) -> bool:
    """Whether an order is all that a tour has to keep, and what its legs cost all that it is worth."""
    model = tour_model_of(instance, objective)
    relaxed = relaxed_of(model)
    return relaxed is not None and relaxed.exact and not model.timed


def prove_general(
    instance: Instance,
    *,
    objective: str = "cost",
    upper: float = math.inf,
    seconds: float = math.inf,
    memory: int = MEMORY,
) -> Proof:
    """The best tour that is worth less than `upper`, with a proof, as far as time and memory go.

    Args:
        instance: One that is `provable`.
        objective: What is minimised, prices of lateness and of stops left out included.
        upper: The value of a tour that is known, or infinite; only better ones are looked for.
        seconds: Of work, from now on.
        memory: Bytes that labels may take, about.
    """
    assert provable(instance, objective), "a free departure with prices of lateness has no labels"
    tour = tour_model_of(instance, objective)
    if objective == "duration" and instance.whole_times:
        return by_departure(instance, STAGES, upper=upper, seconds=seconds, memory=memory)
    search = Proving(tour, upper, memory, seconds)
    search.through(STAGES if instance.nodes > SMALL else (STAGES[0], WIDER, *STAGES[1:]))
    return search.proof()


def least_general(instance: Instance, objective: str, until: float) -> float:
    """No tour is worth less: what can be said in milliseconds, by then by `clock.now`."""
    simplest = least_value(instance, objective)
    search = Proving(tour_model_of(instance, objective), math.inf, MEMORY, until - clock.now())
    known = instance.nodes <= LARGEST and search.begun()
    return max(simplest, search.lower) if known else simplest


def choices(instance: Instance, objective: str, until: float) -> float:
    """How many stops can come straight after one on average: what a proof takes grows with it exponentially.

    Infinite where it is not known by then by `clock.now`.
    """
    relaxed = relaxed_of(tour_model_of(instance, objective))
    model = None if relaxed is None else quick_model(relaxed, until)
    if model is None:
        return 0.0 if relaxed is None else math.inf
    return float(unpacked(model.after).sum() / len(model.node))


def warm() -> None:
    """Compile all that a search needs, or load what has been compiled."""
    travel = 1.0 - np.eye(5)
    prove_general(Instance(travel, before=[(1, 2)]))
    ordered = Instance(travel, closes=9.0, before=[(1, 2)])
    optional = Instance(travel, closes=9.0, breaks=[(0.0, 9.0, 1.0)], prize=[0, 9, 9, 9, 9])
    for sample, objective in ((ordered, "cost"), (optional, "cost"), (optional, "duration")):
        search = Proving(tour_model_of(sample, objective), math.inf, 1 << 20, math.inf)
        assert search.begun(), "there is time, and something to search"
        search.sharpen(Stage(1, sweeps=2, paths=2, memory=2))
        search.run(1)
