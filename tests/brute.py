"""Small instances of every kind, and the best of all their tours as the judge has it."""

import itertools
import math

import numpy as np

from fairway.judge import Solution, verify
from fairway.problems.instance import TSPDL, TSPTW
from fairway.search.improve import improve


def solutions(instance):
    """Every tour that the judge accepts."""
    orders = itertools.permutations(range(1, instance.nodes))
    verdicts = (verify(instance, order) for order in orders)
    return [verdict for verdict in verdicts if isinstance(verdict, Solution)]


def best_of_all(instance, objective="travel"):
    """The least travel or the earliest return; infinite where there is no tour."""
    worth = {"travel": lambda s: s.cost, "makespan": lambda s: s.makespan}[objective]
    return min(map(worth, solutions(instance)), default=math.inf)


def travel(rng, nodes):
    """Euclidean, or asymmetric and not metric, whole or not."""
    points = 100 * rng.random((nodes, 2))
    return [
        np.linalg.norm(points[:, None] - points, axis=-1),
        rng.integers(1, 30, (nodes, nodes)).astype(float),
        rng.integers(0, 300, (nodes, nodes)) / 10,
    ][rng.integers(3)]


def windows(rng, nodes=None):
    """Windows around one tour, some too early for it; with service times or without, whole or not."""
    nodes = nodes or int(rng.integers(2, 7))
    legs = travel(rng, nodes)
    fitted = np.rint if np.array_equal(legs, np.rint(legs)) else np.asarray
    service = fitted(legs.mean() * rng.random(nodes) * rng.choice([0, 1]))
    width = legs.mean() * rng.choice([0.2, 1, 3])
    early = width * rng.choice([0, 0.5])
    opens, closes = np.zeros((2, nodes))
    now, here = service[0], 0
    for stop in 1 + rng.permutation(nodes - 1):
        now += legs[here, stop]
        opens[stop] = fitted(now - width * rng.random())
        closes[stop] = max(opens[stop], fitted(now + width * rng.random() - early))
        now, here = max(now, opens[stop]) + service[stop], stop
    closes[0] = max(0.0, fitted(now + legs[here, 0] + width - early))
    return TSPTW(legs, opens, closes, service)


def drafts(rng, nodes=None):
    """Drafts around the loads of one tour, some too low; whole demands or not, growing or shrinking."""
    nodes = nodes or int(rng.integers(2, 7))
    demand = rng.integers(0, 5, nodes).astype(float) if rng.random() < 0.6 else rng.random(nodes)
    demand[0] = 0
    order = 1 + rng.permutation(nodes - 1)
    draft = np.zeros(nodes)
    draft[order] = demand[order].cumsum() + rng.choice([0, 1, 2]) * rng.integers(-1, 3, nodes - 1)
    load = ["growing", "shrinking"][rng.integers(2)]
    return TSPDL(travel(rng, nodes), demand, np.maximum(draft, 0), load)


def a_little_too_short():
    """An instance whose depot closes a little before anybody can be back: hard to prove, and impossible to do."""
    points = 100 * np.random.default_rng(1).random((60, 2))
    legs = np.linalg.norm(points[:, None] - points, axis=-1)
    best = improve(TSPTW(legs, 0.0, 1e4), seconds=0.3)
    closes = np.full(60, 1e4)
    closes[0] = 0.97 * best.cost
    return TSPTW(legs, 0.0, closes)
