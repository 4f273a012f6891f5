"""Lists: in order, over processes, with plans, and the same answers however many work on them."""

import brute
import pytest

import fairway
from fairway.errors import InvalidRequest
from fairway.judge import Solution, verify
from fairway.problems.sets import instance_set
from fairway.solver import solving


def mixed(rng, count):
    return [(brute.windows, brute.drafts)[number % 2](rng) for number in range(count)]


def answers(results):
    return [(result.status, result.tour, result.method) for result in results]


def test_a_list_is_answered_in_order_whoever_does_the_work(rng):
    instances = mixed(rng, 24)
    alone = fairway.solve(instances, iterations=20, workers=1)
    shared = fairway.solve(instances, iterations=20, workers=2)
    assert answers(alone) == answers(shared)
    assert answers(alone) == answers(fairway.solve(i, iterations=20) for i in instances)
    assert [result.schedule is None for result in shared] == [r.tour is None for r in shared]


def test_a_set_is_a_list_too():
    instances = fairway.generate("tsptw", n=20, hardness="hard", count=40, seed=1)
    for workers in (1, 2):
        results = fairway.solve(instances, workers=workers)
        assert {result.status for result in results} == {"optimal"}
        for instance, result in zip(instances, results, strict=True):
            assert isinstance(verify(instance, result.tour), Solution)
    assert answers(results) == answers(fairway.solve(list(instances), workers=1))


@pytest.mark.parametrize(
    ("seconds", "asked", "started"), [(0.01, None, 0), (0.01, 2, 2), (9.0, None, 2)]
)
def test_processes_are_started_where_they_are_worth_it_or_asked_for(
    rng, monkeypatch, seconds, asked, started
):
    counts = []

    class Counted(solving.WorkerPool):
        def __init__(self, job, count):
            counts.append(count)
            super().__init__(job, count)

    monkeypatch.setattr(solving, "WorkerPool", Counted)
    monkeypatch.setattr(solving, "cores", lambda: 2)
    fairway.solve(mixed(rng, 2), seconds=seconds, workers=asked)
    assert counts == [started]


def test_each_instance_has_its_own_plan(window_instance, draft_instance):
    plans = [None, fairway.solve(draft_instance).tour]
    results = fairway.solve([window_instance, draft_instance], initial=plans, workers=1)
    assert [result.method == "plan" for result in results] == [False, True]
    with pytest.raises(InvalidRequest, match="1 initial plans were given for 2 instances"):
        fairway.solve([window_instance, draft_instance], initial=[None])


def test_no_instances_have_no_results():
    assert fairway.solve([]) == []


def test_what_is_no_crew_gets_a_sentence(window_instance):
    with pytest.raises(InvalidRequest, match="workers is 0"):
        fairway.solve([window_instance], workers=0)


def test_a_list_of_two_problems_has_one_objective(window_instance, draft_instance):
    results = fairway.solve([window_instance, draft_instance], objective="makespan")
    assert [result.value for result in results] == [result.makespan for result in results]


def test_a_set_of_two_directions_is_no_set(rng):
    growing = fairway.generate("tspdl", n=8, hardness="hard", count=2, seed=1)
    backwards = instance_set([instance.reversed() for instance in growing])
    one, other = (fairway.solve(some, iterations=50, workers=1) for some in (growing, backwards))
    assert [r.cost for r in one] == pytest.approx([r.cost for r in other])
