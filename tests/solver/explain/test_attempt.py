"""The least late order, against all orders."""

import itertools
import math

import brute
import pytest

from fairway.judge import Rejection, Solution, verify
from fairway.solver.explain import feasibility
from fairway.solver.explain.feasibility import least_late


def broken(verdict):
    return sum(each.amount for each in verdict.violations) if isinstance(verdict, Rejection) else 0


@pytest.mark.parametrize("draw", [brute.windows, brute.drafts])
def test_no_order_breaks_the_limits_less(rng, draw):
    late = 0
    for _ in range(60):
        instance = draw(rng)
        orders = itertools.permutations(range(1, instance.nodes))
        least = min(broken(verify(instance, order)) for order in orders)
        found = least_late(instance, math.inf)
        assert broken(found) == pytest.approx(least, abs=1e-5)
        assert isinstance(found, Solution) == (least == 0)
        late += least > 0
    assert late > 10


def test_it_starts_from_what_is_known(rng):
    instance = brute.windows(rng, 6)
    orders = itertools.permutations(range(1, 6))
    best = min(orders, key=lambda order: broken(verify(instance, order)))
    assert broken(least_late(instance, 0.0, [best])) == broken(verify(instance, best))


@pytest.mark.parametrize("draw", [brute.windows, brute.drafts])
def test_where_its_set_up_would_be_late_what_is_known_is_judged(rng, draw, monkeypatch):
    instance, known = draw(rng, 6), (3, 1, 5, 2, 4)
    name = "search_model_without_neighbours"
    monkeypatch.setattr(feasibility, name, lambda model, until: None)
    assert least_late(instance, math.inf, [known]).tour == known
    assert sorted(least_late(instance, math.inf).tour) == [1, 2, 3, 4, 5]


def test_without_time_the_order_of_deadlines_is_judged(rng):
    instance = brute.windows(rng, 6)
    order = sorted(range(1, 6), key=lambda stop: instance.closes[stop])
    assert least_late(instance, 0.0).tour == tuple(order)
