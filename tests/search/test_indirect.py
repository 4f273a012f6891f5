"""Proofs by way of another instance, held against brute force."""

import math

import numpy as np
import pytest
from tours import best, drawn

from fairway.judge import Solution, verify
from fairway.problems.instance import Instance
from fairway.search.general_exact import provable
from fairway.search.indirect import bound_duration, prove_fewest

OBJECTIVES = ("cost", "makespan", "duration")


def optional(rng, most=7):
    """Instances with stops that may be left out, at equal, whole or other prices."""
    found = 0
    while True:
        instance = drawn(rng, int(rng.integers(2, most)))
        if np.isfinite(instance.prize[1:]).any():
            found += 1
            yield instance, OBJECTIVES[found % 3]


def test_fewest_stops_left_out_are_proved_as_brute_force_says(rng):
    seen = {"optimal": 0, "infeasible": 0, "none": 0, "bounded": 0}
    for _, (instance, objective) in zip(range(60), optional(rng), strict=False):
        if not provable(instance, objective):
            continue
        expected = best(instance, objective, "fewest")
        proof = prove_fewest(instance, None, objective=objective)
        seen["none" if proof is None else proof.status] += 1
        if proof is None:
            continue
        assert proof.status == ("infeasible" if expected is None else "optimal")
        if expected is None:
            continue
        assert proof.cost == pytest.approx(float(expected[0]))
        known = verify(instance, proof.tour, objective=objective)
        again = prove_fewest(instance, known, objective=objective)
        seen[again.status] += 1
        assert again.lower_bound == known.value
    assert min(seen.values()) > 0


def test_a_tour_that_leaves_out_more_is_bettered(rng):
    bettered = 0
    for _, (instance, objective) in zip(range(60), optional(rng), strict=False):
        known = verify(instance, (), objective=objective)
        if not isinstance(known, Solution) or not provable(instance, objective):
            continue
        proof = prove_fewest(instance, known, objective=objective)
        if proof is not None and proof.tour is not None:
            found = verify(instance, proof.tour, objective=objective)
            assert len(found.unserved) <= len(known.unserved)
            assert found.value == pytest.approx(float(best(instance, objective, "fewest")[0]))
            bettered += 1
    assert bettered


def test_durations_with_prices_of_lateness_are_bounded_and_proved_where_none_is_paid(rng):
    proved = late = 0
    while proved < 5 or late < 5:
        instance = drawn(rng, int(rng.integers(2, 6)))
        if not np.isfinite(instance.late).any():
            continue
        expected = best(instance, "duration", "price")
        proof = bound_duration(instance)
        least = math.inf if expected is None else float(expected[0])
        assert proof.lower_bound <= least + 1e-6
        assert (proof.status == "infeasible") is (expected is None)
        if proof.status == "optimal":
            assert proof.cost == pytest.approx(least)
            proved += 1
        late += proof.status == "truncated"
        if expected is not None:
            assert bound_duration(instance, upper=least).status in ("bounded", "truncated")


def test_last_permitted_starts_before_an_opening_do_not_end_the_bound():
    travel = 3.0 - 3.0 * np.eye(4)
    spans = {2: [(0.0, 3.0), (8.0, 9.0)]}
    latest = [0.0, 4.0, 7.0, 50.0]  # that of the depot says nothing: the tour ends elsewhere
    instance = Instance(
        travel, opens=[0, 5, 0, 0], closes=[9, 6, 6, 3], windows=spans, late=1.0, latest=latest,
        prize=5.0, end=3,
    )  # fmt: skip
    proof = bound_duration(instance)
    assert proof.lower_bound <= best(instance, "duration", "price")[0]
    assert proof.status == "truncated" or proof.cost == best(instance, "duration", "price")[0]


def test_prices_that_no_sum_can_hold_are_not_tried():
    travel = 1e9 * (1.5 - np.eye(4))
    instance = Instance(travel, prize=[math.inf, 1.25, 2.0, 3.0], closes=[math.inf, 1.0, 1.0, 1.0])
    known = verify(instance, ())
    assert prove_fewest(instance, known) is None
