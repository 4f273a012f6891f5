"""Tours at several temperatures, each of which must stay a tour of the value that is stored with it."""

import math
import time
from itertools import pairwise

import numpy as np
import pytest
from tours import drawn

import fairway
from fairway import clock
from fairway.judge import Solution, verify
from fairway.kernels.general.annealing import anneal
from fairway.kernels.general.state import BEST, KEPT, KEPT_OUT
from fairway.kernels.general.tour_model import tour_model_of
from fairway.search import general
from fairway.search.general import TourSearch, Wanted, improve_tours, prepared
from fairway.search.tempering import Ladder


def test_tours_that_change_places_keep_their_values_and_the_colder_one_is_better(rng):
    points = rng.random((30, 2))
    instance = fairway.Instance(np.linalg.norm(points[:, None] - points, axis=2))
    model, search, scale = prepared(tour_model_of(instance, "cost"), (), 0)
    anneal(model, search, scale, 20, 20)
    ladder, found = Ladder(search, [0.02 * scale, 0.2 * scale, 2.0 * scale], 0), [[], [], []]
    for visit in range(300):
        ladder.visit(model, search, 60)
        stops = tuple(search.kept[1 : search.sizes[0] - 1].tolist())
        verdict = verify(instance, stops)
        assert isinstance(verdict, Solution)
        assert search.values[KEPT] == pytest.approx(verdict.value)
        assert search.values[KEPT_OUT] == 0
        assert search.values[BEST] <= search.values[KEPT] + 1e-9
        found[visit % 3].append(verdict.value)
    cold, warm, hot = (np.mean(values[20:]) for values in found)
    assert cold < warm < hot


@pytest.mark.parametrize("objective", ["cost", "makespan", "duration"])
def test_tempering_claims_nothing_that_the_judge_refuses(rng, objective, monkeypatch):
    monkeypatch.setattr(general, "RUNG", 0.0)
    answers = 0
    for number in range(20):
        instance = drawn(rng, int(rng.integers(3, 8)))
        claims = []
        wanted = Wanted(objective, iterations=300, seed=number)
        last = improve_tours(instance, wanted, claims.append)
        assert last == improve_tours(instance, wanted, lambda _tour: None)
        verdicts = [verify(instance, tour, objective=objective) for tour in claims]
        assert all(isinstance(verdict, Solution) for verdict in verdicts)
        least = fairway.solve(instance, objective=objective).value
        answers += bool(verdicts) and math.isclose(verdicts[-1].value, least, abs_tol=1e-6)
    assert answers > 5


def test_a_search_that_is_left_and_taken_up_again_cools_down_once(rng, monkeypatch):
    """And the time in between is not counted, which would cool it down to less than a third at once."""
    temperatures, cool = [], general.anneal

    def noted(model, search, temperature, *rest):
        temperatures.append(temperature)
        cool(model, search, temperature, *rest)

    monkeypatch.setattr(general, "anneal", noted)
    monkeypatch.setattr(general, "RUNG", math.inf)
    points, found = rng.random((40, 2)), []
    instance = fairway.Instance(np.linalg.norm(points[:, None] - points, axis=2), before=[(1, 2)])
    search = TourSearch(instance, Wanted(seconds=0.4))
    for _ in range(4):
        search.go_on(clock.now() + 0.1, found.append)
        time.sleep(0.2)
    assert search.tour == found[-1]
    assert all(later <= earlier for earlier, later in pairwise(temperatures))
    assert max(earlier / later for earlier, later in pairwise(temperatures)) < 2.4
    assert temperatures[-1] / temperatures[0] == pytest.approx(general.COLD / general.HOT, rel=0.2)


def test_a_tour_whose_legs_cost_nothing_is_found():
    result = improve_tours(fairway.Instance(np.zeros((12, 12))), Wanted(iterations=20_000), print)
    assert sorted(result) == list(range(1, 12))
