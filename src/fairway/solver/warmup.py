"""What is made ready before it is needed: kernels, compiled once per machine, loaded once per process, and policies.

A search may do without: the clock of its budget stands still while it waits for a kernel. Policies take a network's
time, which is measured, and are always made ready first.
"""

import gc
import math
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Any, get_args

import numpy as np

from fairway.cores import cores
from fairway.kernels.compiling import hush
from fairway.problems.classic_view import classic_view
from fairway.problems.instance import Instance, Pairs
from fairway.problems.model import Objective
from fairway.problems.table import PROBLEMS
from fairway.search.exact import warm
from fairway.search.general import warm as warm_general
from fairway.search.general_exact import warm as warm_proofs
from fairway.search.improve import improve
from fairway.search.lower_bound import held_karp
from fairway.solver.explain.feasibility import least_late
from fairway.solver.explain.trivial import subset
from fairway.solver.narrow import warm as warm_sets
from fairway.solver.request import Request
from fairway.solver.warm_start import prepare
from fairway.weights import shipped

NODES = 14
"""Enough for an exact search to go through all that it does."""

WINDOWS = Instance(np.ones((2, 2)), closes=9)
GROWING = Instance(np.ones((2, 2)), demand=[0, 1], draft=9)

_warm: set[tuple[str, str, Objective]] = set()
"""Problems, the direction of their load and an objective, which decide what code is needed."""
_ready: set[tuple[str, str, Path]] = set()
"""The same of policies."""


def warm_up(instances: Iterable[Instance], request: Request) -> None:
    """Have everything compiled and loaded that solving such instances may need."""
    for instance in instances:
        ready_policies([instance], request)
        kind = instance.problem, instance.load, request.objective
        if kind in _warm:
            continue
        if request.plain(instance):
            _run_through(_sample(instance), request.objective)
        else:
            _run_through_general()
        _warm.add(kind)


def ready_policies(instances: Iterable[Instance], request: Request) -> None:
    """Have the policies loaded and tried out that are to propose tours for such instances."""
    for instance in instances:
        guide = request.guide(instance)
        if guide is not None and (kind := (instance.problem, instance.load, guide)) not in _ready:
            order = () if instance.classic else ((1, 2),)
            prepare(_sample(classic_view(instance).instance, order), guide)
            _ready.add(kind)


def warm_up_searches() -> None:
    """Have everything compiled and loaded that solving and explaining may need, but for policies."""
    _classic()
    for objective in get_args(Objective):
        warm_up([Instance(np.ones((2, 2)), prize=1.0)], Request(objective=objective))


def warm_up_all() -> None:
    """Have everything compiled and loaded in this process; policies where torch is there."""
    for part in PARTS:
        _warm_up_part(part)
    gc.collect()  # what compilers leave behind would be collected in the middle of the first answer


def compile_all() -> None:
    """Have everything compiled on this machine, by as many processes as there are cores."""
    with ProcessPoolExecutor(cores(), get_context("spawn"), initializer=hush) as pool:
        list(pool.map(_warm_up_part, PARTS))


def _classic() -> None:
    warm_up([WINDOWS, GROWING, GROWING.reversed()], Request())
    warm_up([WINDOWS], Request(objective="makespan"))


def _policies() -> None:
    if find_spec("torch") is not None:
        for instance in (WINDOWS, GROWING):
            card = shipped(PROBLEMS[instance.problem].policy)
            ready_policies([instance], Request(policy=card.resolve()))


PARTS: dict[str, Callable[[], None]] = {
    "classic": _classic,
    "general": warm_general,
    "proofs": warm_proofs,
    "sets": warm_sets,
    "policies": _policies,
}
"""What can be compiled at once, little of it twice, the longest first."""


def _warm_up_part(part: str) -> None:
    PARTS[part]()


def _run_through(sample: Instance, objective: Objective) -> None:
    """Every part of both searches, a start that is late included."""
    short = improve(sample, iterations=50, objective=objective)
    improve(sample, short.tour[::-1], iterations=10, objective=objective)
    held_karp(sample)
    least_late(sample, math.inf, [tuple(range(NODES - 1, 0, -1))], work=1_000)
    subset(sample, [1])
    warm()


def _run_through_general() -> None:
    """The same for any constraints."""
    warm()
    warm_general()
    warm_proofs()
    subset(Instance(1.0 - np.eye(3), closes=9.0), [1])


def _sample(instance: Instance, before: Pairs = ()) -> Instance:
    """A small instance of the same problem: half of its stops bind, the others leave many orders open."""
    random = np.random.default_rng(5)
    points = 100 * random.random((NODES, 2))
    travel = np.linalg.norm(points[:, None] - points, axis=-1)
    rank = np.arange(NODES)
    binding = rank % 2 == 1
    along = np.append(0.0, travel[rank[:-1], rank[1:]].cumsum())
    asked: dict[str, Any] = {"before": before}
    if instance.timed:
        asked["closes"] = np.where(binding, along + 30.0, 2 * along[-1])
    if instance.laden:
        asked["demand"], asked["draft"] = np.minimum(rank, 1), np.where(binding, rank, NODES)
    return Instance(travel, load=instance.load, **asked)
