"""Proofs under an order alone, held against brute force: from either end, in layers cut short, in any unit."""

import math

import numpy as np
import pytest
from tours import best

from fairway.kernels.general.relaxation import quick_model, relaxed_of
from fairway.kernels.general.tour_model import tour_model_of
from fairway.kernels.labels.run import Limits
from fairway.kernels.ordering import run as running
from fairway.kernels.ordering.order_model import order_model_of
from fairway.problems.instance import Instance
from fairway.search import ordered
from fairway.search.ordered import both_ways

KINDS = ("whole", "fractions", "large", "gaps")


def drawn(rng, kind, stops):
    """An instance with nothing but an order, or pairs, around a random tour."""
    cost = rng.integers(0, 30, (stops + 1, stops + 1)).astype(float)
    if kind == "fractions":
        cost = rng.random(cost.shape)
    if kind == "large":
        cost = np.rint(cost * 10.0**10) + rng.integers(0, 9, cost.shape)
    if kind == "gaps":
        cost[rng.random(cost.shape) < 0.4] = math.inf
    np.fill_diagonal(cost, 0.0)
    tour = 1 + rng.permutation(stops)
    ordered_pairs = [(int(a), int(b)) for at, a in enumerate(tour) for b in tour[at + 1 :]]
    before = [pair for pair in ordered_pairs if rng.random() < rng.choice([0.1, 0.4])]
    end = [0, None, int(tour[-1])][rng.integers(3)]
    travel = np.where(np.isinf(cost), math.inf, 1.0)
    return Instance(travel, cost=cost, before=before, end=end)


def models(instance):
    """What the search works on, with what every tour costs."""
    tour = tour_model_of(instance, "cost")
    relaxed = relaxed_of(tour)
    return order_model_of(quick_model(relaxed, math.inf), tour.no_way)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seldom", [1, 8])
def test_both_ends_find_what_brute_force_finds(rng, monkeypatch, kind, seldom):
    """Whether an assignment is made in every layer or hardly ever."""
    monkeypatch.setattr(running, "SELDOM", seldom)
    monkeypatch.setattr(running, "SPARED", 2.0 if seldom > 1 else 0.0)
    monkeypatch.setattr(ordered, "WIDTHS", (1 << 20,))
    found = 0
    for _ in range(12):
        instance = drawn(rng, kind, int(rng.integers(2, 7)))
        expected = best(instance, "cost", "price")
        for outcome in both_ways(
            models(instance), lambda w, _: Limits(w, math.inf, 1 << 20, math.inf)
        ):
            assert outcome.open == math.inf
            assert (outcome.tour is None) == (expected is None)
            if expected is not None:
                found += 1
                assert outcome.cost == pytest.approx(float(expected[0]), rel=1e-12)
    assert found


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_lost_costs_no_less_than_is_said(rng, monkeypatch, kind):
    """With layers of a set or two, room for few labels, and no time: never above the best tour, or that is found."""
    monkeypatch.setattr(ordered, "WIDTHS", (1, 2, 3))
    for memory in (0, 1 << 20):
        for _ in range(12):
            instance = drawn(rng, kind, int(rng.integers(3, 7)))
            expected = best(instance, "cost", "price")
            least = math.inf if expected is None else float(expected[0])
            upper = least + float(rng.choice([-1.0, 1.0, math.inf]))
            for seconds in (math.inf, -math.inf):
                for outcome in both_ways(
                    models(instance), lambda w, _, u=upper, s=seconds, m=memory: Limits(w, u, m, s)
                ):
                    known = min(outcome.open, outcome.cost)
                    assert known <= least * (1 + 1e-12) + 1e-9 or least >= upper
                    assert outcome.cost >= least * (1 - 1e-12) - 1e-9
