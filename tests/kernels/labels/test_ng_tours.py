"""Paths with exact resources against their definition, and the bounds they make against the best tour."""

import math

import numpy as np
import pytest
from odd import odd_drafts, odd_windows

from fairway import clock
from fairway.kernels.labels import ng_sweep, reference
from fairway.kernels.labels.label_model import label_model_of, unpacked
from fairway.kernels.labels.ng_ascent import Ascent, suits
from fairway.problems.generate import generate
from fairway.problems.instance import TSPDL, TSPTW, Instance
from fairway.problems.model import model_of
from fairway.search.exact import prove


def positive(rng, nodes, width):
    """Windows between which time always passes."""
    odd = odd_windows(rng, nodes, width)
    travel = odd.travel + 1.0
    np.fill_diagonal(travel, 0.0)
    return TSPTW(travel, odd.opens, odd.closes + 2 * nodes, odd.service)


def crowded(rng, nodes, width):
    """The same with stops that lie on one spot, and others a rounding apart."""
    instance = positive(rng, nodes, width)
    spot = np.array([0, 1, 1, 1, 2, 2, *range(3, nodes - 3)])
    travel = instance.travel[np.ix_(spot, spot)] + 1e-8 * rng.integers(0, 2, (nodes, nodes))
    np.fill_diagonal(travel, 0.0)
    return TSPTW(travel, instance.opens, instance.closes + 2 * nodes, 0.0)


KINDS = {
    "windows": lambda rng: positive(rng, 8, 40),
    "one spot": lambda rng: crowded(rng, 8, 40),
    "drafts": lambda rng: odd_drafts(rng, 8),
}


def test_the_least_path_is_that_of_the_definition(rng):
    for _ in range(12):
        instance = positive(rng, 5, 12)
        model = label_model_of(model_of(instance))
        # The definition knows nothing of orders and legs that follow from windows.
        model.after[:] = np.uint64(0b11110)
        model.needs[:] = 0
        ascent = Ascent(model, math.inf)
        ascent.multiplier[1:] = rng.integers(0, 20, 4)
        sweep = ascent._outward(math.inf)
        own = model.node.tolist()
        multiplier = [0.0] * 5
        ng_memory = [set() for _ in range(5)]
        for node, remembered in enumerate(unpacked(ascent.ng_memory)):
            multiplier[own[node]] = float(ascent.multiplier[node])
            ng_memory[own[node]] = {own[stop] for stop in np.flatnonzero(remembered)}
        best = reference.least_ng_path(instance, multiplier, ng_memory)
        assert sweep.figures[ng_sweep.LEAST] == best


def test_forgetting_what_no_path_can_come_to_changes_no_least_path(rng):
    for _ in range(20):
        ascent = Ascent(label_model_of(model_of(positive(rng, 10, 60))), math.inf)
        ascent.multiplier[1:] = rng.integers(0, 25, 9)
        least = ascent._outward(math.inf).figures[ng_sweep.LEAST]
        ascent.out.ahead[:] = ~np.uint64(0)
        assert ascent._outward(math.inf).figures[ng_sweep.LEAST] == least


def test_an_ascent_goes_on_after_a_pause_and_comes_to_an_end(rng):
    instance = positive(rng, 12, 60)
    best, model = prove(instance).cost, label_model_of(model_of(instance))
    ascent, heights = Ascent(model, 1.2 * best), []
    while ascent.climb(math.inf, clock.now() + 0.005):
        heights.append(ascent.height)
    assert heights == sorted(heights)
    assert 0 < ascent.height <= best + 1e-9


@pytest.mark.parametrize("kind", KINDS)
def test_bounds_rise_and_never_above_the_best_tour(rng, kind):
    reached = 0
    for _ in range(15):
        instance = KINDS[kind](rng)
        best = reference.best(instance)
        model = label_model_of(model_of(instance))
        assert suits(model)
        ascent = Ascent(model, best.cost + 0.5)
        ascent.climb(math.inf)
        assert 0 < ascent.height <= best.cost + 1e-9
        reached += ascent.height > 0.98 * best.cost
    assert reached > 5


def test_a_sweep_that_misses_labels_finds_no_cheaper_path_and_is_no_bound(rng):
    missed = 0
    for _ in range(12):
        ascent = Ascent(label_model_of(model_of(positive(rng, 12, 60))), math.inf)
        ascent.multiplier[1:] = rng.integers(0, 30, 11)
        least = ascent._least(ascent._outward(math.inf))
        quick = ascent._least(ascent._outward(math.inf, 1))
        assert quick >= least
        missed += quick > least
        ascent._hurry(1, 6, clock.now() + 1.0)
        assert ascent.height == -math.inf
    assert missed > 0


def least_home(bound, stops, last, resource, visited):
    """The least path home that is open to a label."""
    row = min(stops, len(bound.begin) - 1)
    paths = range(bound.begin[row, last], bound.end[row, last])
    taken = [p for p in paths if resource <= bound.resource[p] and not visited & bound.memory[p]]
    return min((float(bound.cost[p]) for p in taken), default=math.inf)


@pytest.mark.parametrize("kind", KINDS)
def test_every_beginning_of_the_best_tour_is_bounded_by_its_cost(rng, kind):
    for _ in range(15):
        instance = KINDS[kind](rng)
        best = reference.best(instance)
        model = label_model_of(model_of(instance))
        ascent = Ascent(model, best.cost + 0.5)
        ascent.climb(math.inf)
        bound, after = ascent.bound(math.inf), unpacked(ascent.narrowed())
        here, visited, rest = 0, np.zeros(1, np.uint64), float(bound.multiplier.sum())
        resource, cost = float(model.opens[0]), 0.0
        for count, stop in enumerate(best.tour, 1):
            there = model.node.tolist().index(stop)
            assert after[here, there]
            cost, rest = cost + model.price[here, there], rest - bound.multiplier[there]
            resource += model.stay[here] + model.rise[here, there]
            resource, here = max(resource, model.opens[there]), there
            visited[0] |= np.uint64(1) << np.uint64(there)
            ahead = least_home(bound, count, here, resource, visited)
            assert cost + rest + ahead <= best.cost + 1e-9


def test_a_bound_for_what_has_no_tour_below_the_upper_bound_is_infinite_or_reaches_it():
    instance = generate("tspdl", n=15, hardness="hard", count=1, seed=3)[0]
    best = prove(instance).cost
    ascent = Ascent(label_model_of(model_of(instance)), 0.9 * best)
    ascent.climb(clock.now() + 5.0)
    assert ascent.height >= 0.9 * best


def test_what_paths_cannot_bound_is_said_so():
    matrix = np.ones((4, 4)) - np.eye(4)
    assert suits(label_model_of(model_of(TSPTW(matrix, 0, 99))))
    assert suits(label_model_of(model_of(TSPTW(0 * matrix, 0, 99))))
    assert not suits(label_model_of(model_of(TSPTW(np.zeros((20, 20)), 0, 99))))
    assert not suits(label_model_of(model_of(Instance(matrix, closes=np.inf))))
    assert not suits(label_model_of(model_of(TSPTW(matrix, 0, 99)), makespan=True))
    assert suits(label_model_of(model_of(TSPDL(matrix, [0, 1, 1, 1], [3, 3, 3, 3]))))
