"""`solve` against brute force, the judge, and its promises about time, plans and seeds."""

import math
import time
from dataclasses import replace

import brute
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fairway
from fairway.errors import InvalidRequest, InvalidTour
from fairway.judge import Rejection, Solution, verify
from fairway.problems.model import check_objective
from fairway.search.exact import Proof, Statistics, prove
from fairway.search.improve import improve
from fairway.solver import single
from fairway.solver.incumbent import Incumbent
from fairway.solver.request import Request
from fairway.solver.warmup import warm_up

SEEDS = st.integers(0, 2**32 - 1)


def check(instance, result, objective="travel"):
    """The answer is what brute force has, and its parts agree with each other and with the judge."""
    best = brute.best_of_all(instance, objective)
    assert result.status == ("infeasible" if math.isinf(best) else "optimal")
    assert result.value == pytest.approx(best, rel=1e-9, abs=1e-9)
    if result.tour is None:
        assert result.reason
        assert result.lower_bound == math.inf
        return
    judged = verify(instance, result.tour)
    assert isinstance(judged, Solution)
    assert (judged.cost, judged.makespan) == (result.cost, result.makespan)
    assert result.lower_bound == result.value
    assert result.gap == 0
    assert result.trace[-1].cost == result.value
    assert result.trace[-1].method == result.method
    costs = [step.cost for step in result.trace]
    assert costs == sorted(set(costs), reverse=True)


@pytest.mark.parametrize("objective", ["travel", "makespan"])
@pytest.mark.parametrize("budget", [{"seconds": 5.0}, {"iterations": 50}], ids=str)
def test_windows_are_solved_as_brute_force_has_it(rng, objective, budget):
    counts = {"optimal": 0, "infeasible": 0}
    for _ in range(60):
        instance = brute.windows(rng)
        result = fairway.solve(instance, objective=objective, **budget)
        check(instance, result, objective)
        counts[result.status] += 1
    assert min(counts.values()) > 5, counts


@pytest.mark.parametrize("budget", [{"seconds": 5.0}, {"iterations": 50}], ids=str)
def test_drafts_are_solved_as_brute_force_has_it(rng, budget):
    counts = {"optimal": 0, "infeasible": 0}
    for _ in range(60):
        instance = brute.drafts(rng)
        result = fairway.solve(instance, **budget)
        check(instance, result)
        counts[result.status] += 1
    assert min(counts.values()) > 5, counts


@given(seed=SEEDS, seconds=st.sampled_from([0.0, 0.002, 0.02]))
def test_a_warm_start_never_gets_worse(seed, seconds):
    rng = np.random.default_rng(seed)
    problem, hardness = [("tsptw", "medium"), ("tsptw", "hard"), ("tspdl", "hard")][seed % 3]
    instance = fairway.generate(problem, n=15, hardness=hardness, seed=seed % 1000)[0]
    found = fairway.solve(instance, iterations=0)
    if found.tour is None:
        return
    plan = list(found.tour)
    one, other = rng.integers(0, len(plan), 2)
    plan[one], plan[other] = plan[other], plan[one]
    before = verify(instance, plan)
    after = fairway.solve(instance, seconds=seconds, initial=plan)
    if isinstance(before, Solution):
        assert after.tour is not None
        assert after.cost <= before.cost


def test_a_plan_that_cannot_be_beaten_is_handed_back_as_optimal(window_instance):
    best = fairway.solve(window_instance)
    again = fairway.solve(window_instance, initial=best.tour)
    assert (again.status, again.tour, again.method) == ("optimal", best.tour, "plan")


def test_a_plan_that_is_late_is_a_start_too(window_instance):
    assert isinstance(verify(window_instance, [1, 3, 2]), Rejection)
    assert fairway.solve(window_instance, initial=[1, 3, 2]).status == "optimal"


@pytest.mark.parametrize(
    ("plan", "sentence"),
    [
        ([1, 2], "stop 3 is never visited"),
        ([1, 2, 2], "visited 2 times"),
        ([1, 2, 9], "there is no stop 9"),
        ([1.5, 2, 3], "expected a whole node number"),
    ],
)
def test_a_plan_that_is_no_tour_gets_a_sentence(window_instance, plan, sentence):
    with pytest.raises(InvalidTour, match=sentence):
        fairway.solve(window_instance, initial=plan)


def test_what_cannot_be_asked_gets_a_sentence(window_instance):
    asked = [
        ({"seconds": -1}, "seconds is -1"),
        ({"seconds": math.nan}, "seconds is nan"),
        ({"iterations": -1}, "iterations is -1"),
        ({"seed": -1}, "seed is -1"),
    ]
    for options, sentence in asked:
        with pytest.raises(InvalidRequest, match=sentence):
            fairway.solve(window_instance, **options)
    with pytest.raises(InvalidRequest, match="objective is 'beauty'"):
        check_objective("beauty")
    with pytest.raises(InvalidRequest, match="this is a str"):
        Request().check("instance")


@pytest.mark.parametrize("bed", [("tsptw", "easy"), ("tsptw", "medium"), ("tspdl", "hard")])
def test_the_same_seed_and_iterations_give_the_same_answer(bed):
    instance = fairway.generate(bed[0], n=40, hardness=bed[1], seed=8)[0]
    one, other = (fairway.solve(instance, iterations=300, seed=3) for _ in range(2))
    assert (one.tour, one.status, one.lower_bound) == (other.tour, other.status, other.lower_bound)
    assert [step.cost for step in one.trace] == [step.cost for step in other.trace]


@pytest.mark.parametrize("problem", ["tsptw", "tspdl"])
@pytest.mark.parametrize("nodes", [60, 300])
def test_a_deadline_is_kept_and_the_answer_honest(problem, nodes):
    """A quarter of a second more would be a fault; a twentieth is what is aimed at on a machine that is not busy."""
    instance = fairway.generate(problem, n=nodes, hardness="medium", seed=4)[0]
    fairway.solve(instance, seconds=0)
    for seconds in (0.0, 0.01, 0.3):
        began = time.monotonic()
        result = fairway.solve(instance, seconds=seconds)
        assert time.monotonic() - began < seconds + 0.25
        assert result.status in ("feasible", "unknown", "optimal")
        if result.tour is not None:
            assert isinstance(verify(instance, result.tour), Solution)
            assert 0 <= result.lower_bound <= result.cost


def test_a_proof_ends_the_search_early():
    instance = fairway.generate("tsptw", n=60, hardness="hard", seed=4)[0]
    result = fairway.solve(instance, seconds=60)
    assert result.status == "optimal"
    assert result.seconds < 5


def test_a_bound_is_raised_where_a_proof_that_was_expected_fails(monkeypatch):
    def nothing(_instance, **_options):
        return Proof("truncated", None, math.inf, 0.0, Statistics(0, 0, 0, 0.0))

    monkeypatch.setattr(single, "prove", nothing)
    instance = fairway.generate("tsptw", n=20, hardness="medium", count=1, seed=5)[0]
    assert single._provable(Incumbent(instance, Request(seconds=2.0)))
    assert fairway.solve(instance, seconds=2.0).status == "optimal"


def test_where_nothing_is_known_the_least_late_attempt_comes_with_its_violations():
    result = fairway.solve(brute.a_little_too_short(), seconds=0.05)
    assert result.status == "unknown"
    assert result.tour is None
    assert [violation.rule for violation in result.attempt.violations] == ["late return"]
    assert "the budget ended before a tour was found" in result.reason


def test_without_a_tour_there_is_a_least_late_order():
    """Where it is plain that there is none, and where a search has to prove it; also without a clock."""
    travel = [[0, 10, 10], [10, 0, 16], [10, 16, 0]]
    for instance, late in (
        (fairway.TSPTW(travel, 0, [900, 8, 540]), (1, 2)),
        (fairway.TSPTW(travel, [0, 530, 535], [900, 530, 540]), (2, 6)),
    ):
        for budget in ({"seconds": 0.1}, {"iterations": 10}):
            result = fairway.solve(instance, **budget)
            assert result.status == "infeasible"
            assert [(each.node, each.amount) for each in result.attempt.violations] == [late]


def test_every_improvement_is_watched():
    instance = fairway.generate("tsptw", n=50, hardness="easy", seed=1)[0]
    seen = []
    result = fairway.solve(instance, seconds=0.2, watch=seen.append)
    assert [step.cost for step in seen] == pytest.approx([step.cost for step in result.trace])


def test_a_tour_that_the_judge_refuses_is_never_reported(monkeypatch):
    """Even if both searches claim one."""
    instance = fairway.generate("tsptw", n=20, hardness="medium", seed=1)[0]
    wrong = tuple(range(1, 20))
    assert isinstance(verify(instance, wrong), Rejection)
    boasted = replace(improve(instance, iterations=1), tour=wrong, feasible=True, cost=1.0)
    claimed = replace(prove(instance, seconds=0.0), tour=wrong, cost=1.0, status="optimal")
    warm_up([instance], Request())
    monkeypatch.setattr(single, "improve", lambda *_, **__: boasted)
    monkeypatch.setattr(single, "prove", lambda *_, **__: claimed)
    result = fairway.solve(instance, seconds=0.05)
    assert result.status == "unknown"
    assert result.tour is None
    assert result.attempt.tour == wrong


def test_a_gap_ends_the_search_once_it_is_proved():
    instance = fairway.generate("tsptw", n=30, hardness="medium", count=1, seed=4)[0]
    best = fairway.solve(instance, seconds=20.0)
    assert best.status == "optimal"
    rough = fairway.solve(instance, seconds=20.0, gap=0.5)
    assert rough.seconds < 10
    assert rough.value <= 1.5 * rough.lower_bound
    assert rough.lower_bound <= best.value


@pytest.mark.parametrize("gap", [-0.1, float("nan"), float("inf"), "1%", True])
def test_a_gap_that_is_no_part_of_the_cost_is_refused(gap):
    instance = fairway.generate("tsptw", n=5, count=1)[0]
    with pytest.raises(InvalidRequest, match="gap"):
        fairway.solve(instance, gap=gap)


def test_one_instance_is_proved_by_as_many_threads_as_there_are_workers(monkeypatch):
    """By the clock, and alone: where an answer must be the same again, and in a list, each proof has one thread."""
    instance = fairway.generate("tsptw", n=30, hardness="medium", count=1, seed=1)[0]
    used = []
    for name in ("prove", "raise_bound"):
        whole = getattr(single, name)

        def heard(*given, whole=whole, **asked):
            used.append(asked["threads"])
            return whole(*given, **asked)

        monkeypatch.setattr(single, name, heard)
    monkeypatch.setattr("fairway.solver.solving.cores", lambda: 3)
    answers = []
    for workers, budget, threads in [
        (1, {"seconds": 5.0}, 1),
        (2, {"seconds": 5.0}, 2),
        (None, {"seconds": 5.0}, 3),
        (2, {"iterations": 5}, 1),
    ]:
        used.clear()
        answers.append(fairway.solve(instance, workers=workers, **budget).value)
        assert set(used) == {threads}
    assert answers == pytest.approx([answers[0]] * 4)
    used.clear()
    fairway.solve([instance, instance], seconds=0.2, workers=1)
    assert set(used) == {1}
