"""Proofs under any constraints, held against brute force, with every kind of bound and with layers cut short."""

import math
from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from tours import best, drawn

from fairway.judge import Solution, verify
from fairway.kernels.assignment import duals
from fairway.kernels.general.tour_model import tour_model_of
from fairway.problems.instance import Instance
from fairway.search import general_exact
from fairway.search.climbing import climb
from fairway.search.exact import MEMORY, Stage
from fairway.search.general_exact import least_general, provable, prove_general
from fairway.search.proving import RISING, Proving

NARROW = (
    Stage(1),
    Stage(2, sweeps=6, paths=1, memory=2),
    Stage(3, sweeps=6, paths=3, memory=3),
    Stage(1 << 20, sweeps=10, paths=8, memory=4),
)
"""Beams that lose labels at first, each with better bounds than the last."""


def cases(rng, count, most=7):
    """Instances with what is minimised and its least value, None where there is no tour."""
    for _ in range(count):
        instance = drawn(rng, int(rng.integers(2, most)))
        for objective in ("cost", "makespan", "duration"):
            if provable(instance, objective):
                expected = best(instance, objective, "price")
                yield instance, objective, None if expected is None else float(expected[0])


@pytest.mark.parametrize("stages", [general_exact.STAGES, NARROW])
def test_what_is_proved_is_what_brute_force_says(rng, monkeypatch, stages):
    monkeypatch.setattr(general_exact, "STAGES", stages)
    statuses = set()
    for instance, objective, least in cases(rng, 25):
        proof = prove_general(instance, objective=objective)
        statuses.add(proof.status)
        assert proof.status == ("infeasible" if least is None else "optimal")
        if least is not None:
            assert proof.cost == pytest.approx(least)
            verdict = verify(instance, proof.tour, objective=objective)
            assert isinstance(verdict, Solution)
            assert verdict.value == pytest.approx(least)
    assert statuses == {"optimal", "infeasible"}


def test_bounds_are_never_above_the_best_tour(rng, monkeypatch):
    """Neither the one at hand at once, nor those of beams that have lost labels."""
    for instance, objective, least in cases(rng, 25):
        known = math.inf if least is None else least + 1e-9
        assert least_general(instance, objective, math.inf) <= known
        for last in range(1, len(NARROW)):
            monkeypatch.setattr(general_exact, "STAGES", NARROW[:last])
            proof = prove_general(instance, objective=objective)
            assert proof.lower_bound <= known
            assert proof.cost >= (least or 0) - 2e-6  # what the judge forgives, at both ends


def test_a_tour_that_is_known_is_not_looked_for_again(rng):
    bounded = 0
    for instance, objective, least in cases(rng, 20):
        if least is not None:
            proof = prove_general(instance, objective=objective, upper=least)
            bounded += proof.status == "bounded"
            assert proof.tour is None
            assert proof.lower_bound == least
    assert bounded


def test_bounds_that_climb_prove_what_brute_force_says(rng):
    """With optional stops and several windows among the instances, from a tour that is not the best."""
    climbed, kinds = 0, Counter()
    for instance, objective, least in cases(rng, 120):
        if least is None:
            continue
        upper = least + 0.1 * abs(least) + 1.0
        search = Proving(tour_model_of(instance, objective), upper, MEMORY, 10.0)
        if not (search.begun() and search.climbs) or search.ended:
            continue
        climb(search, math.inf, RISING)
        proof = search.proof()
        assert (proof.status, proof.cost) == ("optimal", pytest.approx(least))
        assert proof.lower_bound <= least + 1e-9
        climbed += 1
        kinds["optional"] += bool(np.isfinite(instance.prize).any())
        kinds["several"] += search.gaps is not None
    assert climbed > 20
    assert min(kinds["optional"], kinds["several"]) > 5


def test_a_tour_without_stops_may_be_the_best_one():
    travel = np.full((3, 3), 9.0) - 9.0 * np.eye(3)
    instance = Instance(travel, opens=[0, 1, 1], closes=[40, 20, 20], prize=[0, 1, 2])
    search = Proving(tour_model_of(instance), 4.0, MEMORY, 10.0)
    assert search.begun()
    assert search.climbs
    climb(search, math.inf, RISING)
    assert (search.proof().status, search.proof().tour, search.proof().cost) == ("optimal", (), 3.0)


def held_karp(travel, before):
    """The least cost of an open tour that keeps an order, by the set of stops visited and the last of them."""
    stops = len(travel) - 1
    needs = [sum(1 << a - 1 for a, b in before if b == stop) for stop in range(1, stops + 1)]
    least = {(0, 0): 0.0}
    for _ in range(stops):
        longer = {}
        for (visited, last), cost in least.items():
            for stop in range(1, stops + 1):
                bit = 1 << stop - 1
                if not visited & bit and needs[stop - 1] & ~visited == 0:
                    key = (visited | bit, stop)
                    longer[key] = min(longer.get(key, math.inf), cost + travel[last, stop])
        least = longer
    return min(least.values())


def test_more_stops_than_all_orders_could_be_gone_through_are_proved(rng):
    for _ in range(3):
        travel = rng.integers(1, 100, (12, 12)).astype(float)
        before = [tuple(sorted((rng.choice(11, 2, replace=False) + 1).tolist())) for _ in range(6)]
        proof = prove_general(Instance(travel, before=before, end=None))
        assert (proof.status, proof.cost) == ("optimal", held_karp(travel, before))


def test_payments_of_an_assignment_add_up_to_the_best_one(rng):
    for _ in range(100):
        size = int(rng.integers(1, 6))
        cost = rng.integers(0, 20, (size, size)).astype(float)
        cost[rng.random((size, size)) < 0.25] = math.inf
        rows, columns = duals(cost)
        orders = permutations(range(size))
        least = min(sum(cost[i, order[i]] for i in range(size)) for order in orders)
        assert (rows[:, None] + columns <= cost + 1e-9).all()
        if math.isfinite(least):
            assert rows.sum() + columns.sum() == pytest.approx(least)
