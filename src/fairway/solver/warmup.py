"""Kernels are compiled once a machine and loaded once a process, before any clock starts."""

import math
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

import numpy as np

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
from fairway.solver.request import Request
from fairway.solver.warm_start import prepare
from fairway.weights import shipped

Kind = tuple[str, str, Objective, Path | None]
"""A problem, the direction of its load, an objective and a policy: what decides which code is compiled or loaded."""
NODES = 14
"""Enough for an exact search to go through all that it does."""

_warm: set[Kind] = set()


def warm_up(instances: Iterable[Instance], request: Request) -> None:
    """Have everything compiled and loaded that solving such instances may need."""
    for instance in instances:
        guide = request.guide(instance)
        kind = instance.problem, getattr(instance, "load", ""), request.objective, guide
        if kind in _warm:
            continue
        if request.plain(instance):
            _run_through(_sample(instance), request.objective)
        else:
            _run_through_general()
        if guide is not None:
            order = () if instance.classic else ((1, 2),)
            prepare(_sample(classic_view(instance).instance, order), guide)
        _warm.add(kind)


def warm_up_all() -> None:
    """Have everything compiled that solving and explaining may need, policies included where torch is there."""
    tiny = np.ones((2, 2))
    windows = Instance(tiny, closes=9)
    growing = Instance(tiny, demand=[0, 1], draft=9)
    warm_up([windows, growing, growing.reversed()], Request())
    warm_up([windows], Request(objective="makespan"))
    warm_up([Instance(tiny, prize=1.0)], Request())
    if find_spec("torch") is not None:
        for instance in (windows, growing):
            card = shipped(PROBLEMS[instance.problem].policy)
            warm_up([instance], Request(policy=card.resolve()))


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
    if instance.laden:
        demand, draft = np.minimum(rank, 1), np.where(binding, rank, NODES)
        return Instance(travel, demand=demand, draft=draft, load=instance.load, before=before)
    along = travel[rank[:-1], rank[1:]].cumsum()
    horizon = 2 * along[-1]
    closes = np.where(binding, np.append(0.0, along) + 30.0, horizon)
    return Instance(travel, closes=closes, before=before)
