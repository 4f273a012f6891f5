import itertools
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels.moves.cases import KINDS, windows

from fairway.errors import InvalidRequest, InvalidTour
from fairway.judge import Rejection, Solution, verify
from fairway.problems.beds import load_bed
from fairway.problems.instance import TSPDL, TSPTW
from fairway.search import improve as search
from fairway.search.improve import improve


def worth(judged, objective):
    return judged.cost if objective == "travel" else judged.makespan


@given(
    kind=st.sampled_from(sorted(KINDS)),
    stops=st.integers(1, 15),
    seed=st.integers(0, 10_000),
    iterations=st.integers(0, 30),
    makespan=st.booleans(),
)
@settings(max_examples=60)
def test_a_feasible_plan_is_never_made_worse(kind, stops, seed, iterations, makespan):
    instance, tour = KINDS[kind](np.random.default_rng(seed), stops)
    objective = "makespan" if makespan and instance.timed else "travel"
    plan = verify(instance, tour)
    assert isinstance(plan, Solution)
    better = improve(instance, tour, iterations=iterations, seed=seed, objective=objective)
    judged = verify(instance, better.tour)
    assert isinstance(judged, Solution)
    assert better.feasible
    assert better.cost == pytest.approx(worth(judged, objective))
    assert worth(judged, objective) <= worth(plan, objective) + 1e-9


@pytest.mark.parametrize(("kind", "seed"), [("one way", 295), ("one way", 668), ("whole", 584)])
def test_what_is_late_while_a_stop_is_out_is_not_taken_for_a_tour(kind, seed):
    """Where ways through a stop are quicker than ways past it, taking it out makes others late."""
    for stops in range(3, 12):
        instance, tour = KINDS[kind](np.random.default_rng(seed), stops)
        better = improve(instance, tour, iterations=40, seed=seed)
        assert isinstance(verify(instance, better.tour), Solution)


@pytest.mark.parametrize("kind", KINDS)
def test_the_best_of_all_tours_is_found_where_they_can_be_counted(kind, rng):
    for _ in range(4):
        instance, tour = KINDS[kind](rng, 6)
        objectives = ("travel", "makespan") if instance.timed else ("travel",)
        verdicts = [verify(instance, order) for order in itertools.permutations(range(1, 7))]
        for objective in objectives:
            best = min(worth(v, objective) for v in verdicts if isinstance(v, Solution))
            for start in (tour, None):
                found = improve(instance, start, iterations=500, objective=objective)
                assert found.cost == pytest.approx(best)


@pytest.mark.parametrize("bed", ["tsptw50-medium", "tsptw50-hard", "tspdl50-hard"])
def test_the_same_seed_gives_the_same_answer_at_a_budget_of_iterations(bed):
    instance = load_bed(bed)[3]
    order = np.random.default_rng(1).permutation(instance.nodes - 1) + 1
    one, other = (improve(instance, order, iterations=250, seed=5) for _ in range(2))
    assert one == other
    assert one.feasible
    assert one.iterations == 250


def test_each_tour_that_is_reported_is_better_than_the_last_and_the_last_is_returned():
    instance, told = load_bed("tsptw50-easy")[0], []
    found = improve(instance, iterations=300, found=lambda *each: told.append(each))
    costs = [cost for _, cost in told]
    assert len(told) > 2
    assert all(later < sooner for sooner, later in itertools.pairwise(costs))
    assert told[-1] == (found.tour, found.cost)
    for tour, cost in told:
        assert verify(instance, tour).cost == pytest.approx(cost)


@pytest.mark.parametrize(
    "bed", ["tsptw50-hard", "tsptw100-hard", "tsptw100-medium", "tspdl50-hard"]
)
def test_a_feasible_tour_is_found_from_nothing_and_from_any_order(bed):
    instances = load_bed(bed)
    for index in range(8):
        instance = instances[index]
        order = 1 + np.random.default_rng(index).permutation(instance.nodes - 1)
        assert isinstance(verify(instance, order), Rejection)
        for start in (None, order):
            found = improve(instance, start, iterations=500)
            assert found.feasible
            assert isinstance(verify(instance, found.tour), Solution)


def test_where_nothing_is_feasible_the_least_late_tour_is_returned():
    late = TSPTW(np.full((4, 4), 5.0), [0, 0, 0, 0], [100, 7, 7, 100])
    found = improve(late, [3, 2, 1], iterations=20)
    assert not found.feasible
    assert found.cost == np.inf
    assert found.late == sum(v.amount for v in verify(late, found.tour).violations) == 3
    heavy = TSPDL(np.ones((3, 3)), [0, 2, 2], [9, 3, 3])
    assert sorted(improve(heavy, seconds=0.05).tour) == [1, 2]


def test_no_time_at_all_returns_the_plan(rng):
    instance, tour = windows(rng, 10)
    for budget in ({"seconds": 0.0}, {"iterations": 0}):
        found = improve(instance, tour, **budget)
        assert found.feasible
        assert (found.tour, found.iterations) == (tour, 0)


@pytest.mark.parametrize("nodes", [2, 3, 4])
def test_the_smallest_instances_are_tours_as_they_are(nodes):
    instance = TSPTW(np.ones((nodes, nodes)), np.zeros(nodes), np.full(nodes, 50.0))
    assert improve(instance, iterations=5).cost == nodes


def test_a_thousand_stops_keep_to_the_clock(rng):
    instance, tour = windows(rng, 1000)
    improve(instance, tour, seconds=0.3)  # compiled code is loaded
    began = time.perf_counter()
    found = improve(instance, tour, seconds=0.3)
    assert time.perf_counter() - began < 1.5
    assert isinstance(verify(instance, found.tour), Solution)


def test_what_is_no_budget_no_tour_and_no_objective_is_refused(window_instance, draft_instance):
    with pytest.raises(InvalidRequest, match="seconds or iterations"):
        improve(window_instance, [3, 2, 1])
    for tour in ([1, 2], [1, 2, 2], [0, 1, 2], [[1, 2, 3]], ["a", "b", "c"]):
        with pytest.raises(InvalidTour, match="each of the stops"):
            improve(window_instance, tour, iterations=1)
    with pytest.raises(InvalidRequest, match="makespan"):
        improve(draft_instance, [3, 2, 1], iterations=1, objective="makespan")


@pytest.mark.parametrize("kind", KINDS)
def test_without_any_time_the_order_of_the_limits_is_handed_back_unsearched(kind, rng, monkeypatch):
    instance, tour = KINDS[kind](rng, 9)
    monkeypatch.setattr("fairway.search.improve.FORM_SECONDS", 1.0)
    hasty = improve(instance, seconds=0.0)
    assert (hasty.feasible, hasty.iterations) == (False, 0)
    judged = verify(instance, hasty.tour)
    assert judged.schedule is not None
    if instance.laden:
        assert isinstance(judged, Solution), (
            "whatever can be called at, can be in the order of drafts"
        )
    assert improve(instance, tour, seconds=0.0).tour == tuple(tour)


def test_a_set_up_that_would_be_late_hands_back_the_order_of_the_limits(rng, monkeypatch):
    instance, _ = KINDS["whole"](rng, 12)
    monkeypatch.setattr(search, "search_model_without_neighbours", lambda model, until: None)
    assert improve(instance, seconds=9.0).tour == search.by_limits(instance)


def test_a_search_with_half_its_set_up_done_hands_back_the_first_tour(rng, monkeypatch):
    """Neighbours are known to the descent alone: where the time ends before them, there is still a tour."""
    instance, _ = KINDS["whole"](rng, 12)
    monkeypatch.setattr("fairway.search.improve.with_neighbours", lambda form, until: None)
    assert isinstance(verify(instance, improve(instance, seconds=9.0).tour), Solution)


def test_the_clock_is_heard_within_a_round_and_changes_no_answer(rng, monkeypatch):
    """A round for the makespan of a large tour takes long: it stops after some nodes, and continues later."""
    instance, tour = KINDS["whole"](rng, 30)
    whole = improve(instance, tour, iterations=40, objective="makespan")
    left, anneal = [], search.anneal
    monkeypatch.setattr(search, "NODES", 1)
    monkeypatch.setattr(search, "anneal", lambda *given: left.append(anneal(*given)) or left[-1])
    assert improve(instance, tour, iterations=40, objective="makespan") == whole
    assert max(left) > 0
