import itertools

import numpy as np
import pytest
from kernels.moves.cases import KINDS

from fairway.judge import verify
from fairway.kernels.one_tree import one_tree_bound
from fairway.problems.instance import TSPTW
from fairway.search.lower_bound import held_karp


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stops", [1, 2, 3, 6])
def test_no_order_at_all_is_below_the_bounds_even_if_it_breaks_the_limits(kind, stops, rng):
    for _ in range(5):
        instance, _ = KINDS[kind](rng, stops)
        judged = [verify(instance, order) for order in itertools.permutations(range(1, stops + 1))]
        cost = min(each.cost for each in judged)
        for upper in (np.inf, cost, 2 * cost):
            assert held_karp(instance, upper=upper) <= cost * (1 + 1e-12)
        if instance.timed:
            assert held_karp(instance, "makespan") <= min(each.makespan for each in judged) + 1e-9


def test_points_on_a_circle_are_bounded_by_their_tour():
    angle = np.linspace(0, 2 * np.pi, 12, endpoint=False)
    points = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    cost = np.linalg.norm(points[:, None] - points, axis=2)
    tour = 12 * cost[0, 1]
    assert one_tree_bound(cost, tour, 100) == pytest.approx(tour)


def test_points_in_the_plane_leave_a_gap_of_a_few_percent(rng):
    points = rng.random((8, 2))
    cost = np.linalg.norm(points[:, None] - points, axis=2)
    instance = TSPTW(cost, np.zeros(8), np.full(8, 99.0))
    best = min(verify(instance, order).cost for order in itertools.permutations(range(1, 8)))
    assert 0.95 * best < held_karp(instance, upper=best) <= best * (1 + 1e-12)


def test_a_bound_whose_time_is_up_is_still_a_bound(rng):
    instance, _ = KINDS["whole"](rng, 6)
    assert held_karp(instance, until=0.0) == 0.0
    assert one_tree_bound(instance.travel, 100.0, 50, until=0.0) == -np.inf
    assert held_karp(instance, "makespan", until=0.0) <= held_karp(instance, "makespan")


def test_looks_at_the_clock_change_no_bound(rng, monkeypatch):
    instance, _ = KINDS["whole"](rng, 12)
    whole = held_karp(instance)
    monkeypatch.setattr("fairway.search.lower_bound.PART", 1)
    monkeypatch.setattr("fairway.kernels.one_tree.PAIRS", 1)
    assert held_karp(instance) == whole
