"""Stretches of a tour in their best order: the best tour comes back where one stretch holds all that is wrong."""

import math

import pytest

import fairway
from fairway import clock
from fairway.judge import verify
from fairway.search.general_exact import prove_general
from fairway.search.stretches import arranged


@pytest.mark.parametrize("end", [0, None, 29])
def test_a_stretch_in_disorder_comes_back_in_its_best_order(rng, end):
    travel = rng.integers(1, 100, (30, 30)).astype(float)
    before = [(a, a + step) for a in range(1, 25) for step in (1, 3) if rng.random() < 0.7]
    instance = fairway.Instance(travel, before=before, end=end)
    best = prove_general(instance, seconds=20.0)
    assert best.status == "optimal"
    steps = list(best.tour)
    steps[5:15] = sorted(steps[5:15])  # keeps the order, in which numbers rise
    worse = verify(instance, tuple(steps)).value
    found = verify(instance, arranged(instance, tuple(steps), clock.now() + 20.0)).value
    assert best.cost == found < worse


def test_what_has_more_to_keep_than_an_order_or_no_time_stays_as_it_is(rng):
    travel = rng.integers(1, 100, (30, 30)).astype(float)
    tour = tuple(range(1, 30))
    for kept in ({"closes": 1e4}, {"prize": [math.inf, *[500.0] * 29]}):
        assert arranged(fairway.Instance(travel, **kept), tour, clock.now() + 1.0) == tour
    assert arranged(fairway.Instance(travel, before=[(1, 2)]), tour, clock.now()) == tour
