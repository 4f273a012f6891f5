"""The normal form says of every tour what the judge says of it."""

import itertools
import weakref
from dataclasses import replace

import numpy as np
import pytest

from fairway.errors import InvalidTour
from fairway.judge import Solution, verify
from fairway.problems.instance import TSPDL, TSPTW, Instance
from fairway.problems.model import HOME, START, model_of, with_return, without_return

ORDERS = list(itertools.permutations(range(1, 5)))


def drawn(rng, problem, load="growing"):
    """Four stops in whole numbers, about half of whose tours are feasible."""
    travel = rng.integers(1, 9, (5, 5))
    if problem == "tsptw":
        opens = np.append(rng.integers(-2, 3), rng.integers(0, 12, 4))
        closes = opens + rng.integers(4, 30, 5)
        closes[0] += 30
        return TSPTW(travel, opens, closes, service=rng.integers(0, 4, 5))
    demand = np.append(0, rng.integers(0, 5, 4))
    return TSPDL(travel, demand, rng.integers(2, 14, 5), load)


def walked(model, node):
    """Whether a tour keeps the limits of a model, what it costs, and the level at its end."""
    resource, amount, kept = model.resource, model.resource.earliest[START], True
    for here, there in itertools.pairwise(node.tolist()):
        amount = amount + resource.stay[here] + resource.rise[here, there]
        amount = max(amount, resource.earliest[there])
        kept &= amount <= resource.latest[there]
        assert amount <= resource.ceiling
    return kept, model.total(node[1:-1]), amount


@pytest.mark.parametrize(
    ("problem", "load"), [("tsptw", "growing"), ("tspdl", "growing"), ("tspdl", "shrinking")]
)
def test_a_tour_keeps_a_model_where_the_judge_accepts_it(problem, load):
    rng = np.random.default_rng(5)
    accepted = 0
    for _ in range(60):
        instance = drawn(rng, problem, load)
        model = model_of(instance)
        for tour in ORDERS:
            verdict = verify(instance, tour)
            node = model.inward(tour)
            kept, cost, end = walked(model, node)
            assert kept == isinstance(verdict, Solution)
            assert cost == verdict.cost
            assert model.outward(node[1:-1]) == tour
            if problem == "tsptw":
                assert end == verdict.makespan
            accepted += kept
    assert 100 < accepted < 60 * len(ORDERS) - 100


def test_only_a_shrinking_load_is_turned_round():
    rng = np.random.default_rng(1)
    assert model_of(drawn(rng, "tspdl", "shrinking")).turned
    assert not model_of(drawn(rng, "tspdl")).turned
    assert not model_of(drawn(rng, "tsptw")).turned


def test_a_model_has_no_limits_where_none_are_stated():
    resource = model_of(Instance(np.ones((4, 4)))).resource
    assert np.isinf(resource.latest[1:]).all()
    assert np.isfinite(resource.limits).all()
    assert np.isfinite(resource.guard)


def test_whole_numbers_need_neither_tolerance_nor_guard():
    exact, rounded = TSPTW(np.ones((3, 3)), 0, 9), TSPTW(np.full((3, 3), 0.1), 0, 9)
    assert (model_of(exact).resource.allowance, model_of(exact).resource.guard) == (0.0, 0.0)
    assert model_of(rounded).resource.allowance > 0 < model_of(rounded).resource.guard


def test_an_earlier_end_never_makes_the_end_later():
    model = model_of(TSPTW(np.ones((3, 3)), [2, 0, 0], 9))
    assert [model.home_by(limit).resource.latest[HOME] for limit in (5, 99, 1)] == [5, 9, 2]


def test_the_column_of_the_return_is_moved_and_moved_back():
    matrix = np.arange(16.0).reshape(4, 4)
    assert np.array_equal(without_return(with_return(matrix)), matrix)


def test_what_is_no_tour_is_not_taken_in():
    model = model_of(TSPTW(np.ones((3, 3)), 0, 9))
    with pytest.raises(InvalidTour, match="each of the stops 1 to 2 once"):
        model.inward([1, 1])


def test_a_model_is_built_once_and_let_go_with_its_instance(rng):
    instance = drawn(rng, "tsptw")
    model = model_of(instance)
    assert model_of(instance) is model
    assert model_of(replace(instance)) is not model
    known = weakref.ref(model_of(instance).cost)
    del instance, model
    assert known() is None
