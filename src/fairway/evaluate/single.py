"""Solvers that take one instance at a time, shared out over workers that stay."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import numpy as np
from jaxtyping import Int

from fairway.classical.external import lkh, ortools, pyvrp
from fairway.classical.greedy import best_of_rules
from fairway.judge import Solution
from fairway.problems.instance import Instance
from fairway.scale.engine import Engine
from fairway.scale.spread import in_order
from fairway.search.exact import beam, prove
from fairway.search.improve import improve
from fairway.solver.request import Request
from fairway.solver.warmup import warm_up

Tour = tuple[int, ...]
FIRST_TRIES = (0, 1, 10, 100, 1_000, 10_000)
"""Iterations of local search after which a first tour is looked for."""
PAPERS_FIRST = "LOCAL_CHEAPEST_INSERTION"


@dataclass(frozen=True, slots=True, eq=False)
class Proposal:
    """The tours that a method proposes for one instance; none where it has found none."""

    tours: Int[np.ndarray, "K M"]
    proved: bool = False
    seconds: float | None = None
    """Of one core; None where instances are worked on side by side."""


Answer = tuple[Tour | None, bool]
"""The tour, if there is one, and whether it is proved that none is better."""

Single = partial[Answer]
"""A solver with its settings, for an instance and a tour to start from, or None."""

Shared = Callable[[Iterable[Instance], Sequence[Tour | None]], Iterator[Proposal]]
"""From instances, and a first tour for each, to what was found, in order as it comes."""


@contextmanager
def shared_out(solver: Single, engine: Engine) -> Iterator[Shared]:
    """The solver on many workers, each of which has called it once before any clock runs."""
    _prepare(solver)  # what is missing shows here, before workers are started
    with engine.opened() as executor:

        def solve(
            instances: Iterable[Instance], tours: Sequence[Tour | None]
        ) -> Iterator[Proposal]:
            pairs = zip(instances, tours, strict=True)
            return in_order(executor, (partial(_timed, solver, *pair) for pair in pairs))

        yield solve


def _prepare(solver: Single) -> None:
    """Import and compile what the solver needs, on an instance that takes it no time."""
    small = Instance([[0, 1, 2], [1, 0, 1], [2, 1, 0]], closes=99)
    warm_up([small], Request())
    quick = {"seconds": 0.01} if "seconds" in solver.keywords else {}
    partial(solver, **quick)(small, (1, 2))


_prepared: set[str] = set()


def _timed(solver: Single, instance: Instance, initial: Tour | None) -> Proposal:
    """What a worker does for one instance."""
    if (known := repr(solver)) not in _prepared:
        _prepare(solver)
        _prepared.add(known)
    began = time.perf_counter()
    tour, proved = solver(instance, initial)
    return proposed(tour, instance, proved, time.perf_counter() - began)


def proposed(tour: Tour | None, instance: Instance, proved: bool, seconds: float) -> Proposal:
    """What a solver found of one instance."""
    rows = [] if tour is None else [tour]
    return Proposal(np.array(rows, np.int64).reshape(-1, instance.nodes - 1), proved, seconds)


def by_pyvrp(instance: Instance, initial: Tour | None, *, seconds: float, seed: int) -> Answer:
    """PyVRP with one vehicle."""
    return pyvrp.solve(instance, seconds, seed, initial), False


def by_ortools(instance: Instance, initial: Tour | None, *, seconds: float, seed: int) -> Answer:
    """OR-Tools as the paper sets it: a first tour by local insertion, then guided local search."""
    return ortools.solve(instance, seconds, seed, initial, PAPERS_FIRST), False


def by_lkh(
    instance: Instance, initial: Tour | None, *, seconds: float, seed: int, trials: int
) -> Answer:
    """LKH-3, up to a time or so many trials."""
    return lkh.solve(instance, seconds, seed, initial, trials), False


def by_proof(instance: Instance, initial: Tour | None, *, seconds: float) -> Answer:
    """Our exact search by itself."""
    proof = prove(instance, seconds=seconds)
    return proof.tour, proof.status == "optimal"


def by_beam(instance: Instance, initial: Tour | None, *, width: int) -> Answer:
    """The labels of the exact search, as many as the beam is wide, by their bounds: no policy has a say."""
    proof = beam(instance, width)
    return proof.tour, proof.status == "optimal"


def by_local_search(
    instance: Instance, initial: Tour | None, *, seconds: float, seed: int
) -> Answer:
    """Our local search by itself."""
    return improve(instance, initial, seconds=seconds, seed=seed).tour, False


def first_tour(instance: Instance) -> Tour | None:
    """A feasible tour for those who need one: greedy under the look-ahead, or else by insertion."""
    if instance.timed and isinstance(made := best_of_rules(instance), Solution):
        return made.tour
    tries = (improve(instance, iterations=most) for most in FIRST_TRIES)
    return next((found.tour for found in tries if found.feasible), None)
