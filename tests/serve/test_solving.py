"""News of a search, and what an interruption leaves."""

import json

import numpy as np
import pytest

import fairway
from fairway.serve import solving
from fairway.solver.request import Request


@pytest.fixture(scope="module")
def instance() -> fairway.Instance:
    points = 100 * np.random.default_rng(4).random((40, 2))
    travel = np.linalg.norm(points[:, None] - points, axis=-1)
    pairs = [(stop, stop + 1) for stop in range(1, 39, 2)]
    return fairway.Instance(travel, pairs=pairs, closes=1e4)


def test_watch_is_told_of_tours_that_the_judge_accepts_at_their_value(instance):
    told = []
    result = fairway.solve(instance, 1.0, policy=None, watch=told.append)
    tours = [known for known in told if known.tour is not None]
    assert tours
    for known in tours:
        assert fairway.verify(instance, known.tour).value == pytest.approx(known.cost)
        assert known.lower_bound <= known.cost
    assert tours[-1].cost == pytest.approx(result.value)
    bounds = [known.lower_bound for known in told]
    assert bounds == sorted(bounds)


def test_news_are_whole_plans_each_better_than_the_one_before(instance):
    told = []
    request = Request(1.0, policy=None)
    result = solving.solve_told(instance, request, None, lambda *news: told.append(news))
    plans = [json.loads(payload) for head, payload in told if head["kind"] == "improvement"]
    values = [plan["value"] for plan in plans]
    assert values == sorted(values, reverse=True)
    assert values[-1] >= result.value
    assert all(plan["steps"] for plan in plans)


def test_an_interruption_outside_of_the_search_leaves_the_best_so_far(instance, monkeypatch):
    whole = solving.solve_one

    def interrupted(*arguments):
        whole(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(solving, "solve_one", interrupted)
    result = solving.solve_told(instance, Request(0.3, policy=None), None, None)
    assert result.interrupted
    assert result.tour is not None
