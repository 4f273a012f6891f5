"""The judge of many tours says what the judge says of each."""

from dataclasses import fields, replace

import numpy as np
import pytest

import fairway
from fairway.errors import InvalidRequest
from fairway.judge.many import solutions_of, verify_many
from fairway.problems.sets import InstanceSet, Locations


def drawn(kind, count=60):
    rng = np.random.default_rng(3)
    points = rng.integers(0, 20, (count, 7, 2)).astype(float)
    match kind:
        case "euclidean":
            where = Locations(points + rng.random((count, 7, 2)))
        case "matrix":
            where = Locations(matrix=rng.random((count, 7, 7)) * 20)
        case _:
            where = Locations(matrix=rng.integers(0, 20, (count, 7, 7)).astype(float))
    opens = np.floor(rng.random((count, 7)) * 40)
    closes = opens + np.floor(rng.random((count, 7)) * 60)
    closes[:, 0] = 90
    service = np.floor(rng.random((count, 7)) * 3)
    return InstanceSet(where, opens=opens, closes=closes, service=service)


@pytest.mark.parametrize("kind", ["euclidean", "matrix", "whole"])
def test_it_agrees_with_the_judge_to_the_last_bit(kind):
    instances = drawn(kind)
    rng = np.random.default_rng(4)
    orders = rng.permuted(np.tile(np.arange(1, 7), (len(instances), 1)), axis=1)
    deadlines = 1 + np.argsort(instances.closes[:, 1:], axis=1)
    judged = set()
    for tours in (orders, deadlines):
        accepted, cost, makespan = verify_many(instances, tours)
        for number, tour in enumerate(tours):
            verdict = fairway.verify(instances[number], tour)
            assert accepted[number] == isinstance(verdict, fairway.Solution)
            assert (cost[number], makespan[number]) == (verdict.cost, verdict.makespan)
            judged.add(bool(accepted[number]))
    assert judged == {True, False}


@pytest.mark.parametrize("kind", ["euclidean", "matrix", "whole"])
def test_its_solutions_are_the_judges_to_the_last_bit(kind):
    instances = drawn(kind)
    instances = replace(instances, closes=instances.closes + np.array([0.0] + 6 * [40.0]))
    tours = 1 + np.argsort(instances.closes[:, 1:], axis=1)
    found = solutions_of(instances, tours)
    assert {solution is None for solution in found} == {True, False}
    for instance, tour, solution in zip(instances, tours, found, strict=True):
        verdict = fairway.verify(instance, tour)
        if not isinstance(verdict, fairway.Solution):
            assert solution is None
            continue
        for name in (each.name for each in fields(verdict) if each.name != "schedule"):
            assert getattr(solution, name) == getattr(verdict, name), name
        assert list(solution.schedule) == list(verdict.schedule)


def test_a_solution_within_the_tolerance_says_how_late_it_is():
    matrix = np.array([[[0.0, 5.5], [5.5, 0.0]]])
    instances = InstanceSet(Locations(matrix=matrix), closes=np.array([[99.0, 5.5 - 9e-7]]))
    (solution,) = solutions_of(instances, np.array([[1]]))
    verdict = fairway.verify(instances[0], [1])
    assert 0 < solution.lateness == verdict.lateness
    assert solution.schedule[0] == verdict.schedule[0]


@pytest.mark.parametrize("load", ["growing", "shrinking"])
@pytest.mark.parametrize("whole", [True, False])
def test_loads_are_judged_alike(load, whole):
    rng, count = np.random.default_rng(6), 60
    demand = rng.integers(0, 5, (count, 7)) + (0.0 if whole else 0.1)
    demand[:, 0] = 0.0
    draft = rng.integers(2, 40, (count, 7)) + (0.0 if whole else 0.1)
    where = Locations(rng.random((count, 7, 2)))
    instances = InstanceSet(where, demand=demand, draft=draft, load=load)
    order = 1 + np.argsort(instances.draft[:, 1:], axis=1)
    judged = set()
    for tours in (order, order[:, ::-1]):
        accepted, cost, makespan = verify_many(instances, tours)
        for number, solution in enumerate(solutions_of(instances, tours)):
            verdict = fairway.verify(instances[number], tours[number])
            assert accepted[number] == isinstance(verdict, fairway.Solution)
            assert (cost[number], makespan[number]) == (verdict.cost, verdict.makespan)
            assert (solution is not None) == accepted[number]
            if solution is not None:
                assert list(solution.schedule) == list(verdict.schedule)
            judged.add(bool(accepted[number]))
    assert judged == {True, False}


@pytest.mark.parametrize("late", [0.0, 0.9e-6, 1.1e-6, 1.0])
@pytest.mark.parametrize("whole", [True, False])
def test_its_tolerance_is_the_judges(late, whole):
    leg = 5.0 if whole else 5.5
    closes = np.array([[99.0, leg - late]])
    matrix = np.array([[[0.0, leg], [leg, 0.0]]])
    instances = InstanceSet(Locations(matrix=matrix), opens=0.0, closes=closes)
    verdict = fairway.verify(instances[0], [1])
    found = verify_many(instances, np.array([[1]]))
    assert found.accepted[0] == isinstance(verdict, fairway.Solution)


def test_what_is_no_tour_is_refused():
    instances = drawn("euclidean", 3)
    tours = np.array([[1, 2, 3, 4, 5, 5], [0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 9]])
    assert not verify_many(instances, tours).accepted.any()


def test_both_at_once_and_wrong_shapes_are_not_for_it():
    where = Locations(np.random.default_rng(1).random((1, 5, 2)))
    drafts = InstanceSet(where, opens=0.0, closes=9.0, demand=0.0, draft=9.0)
    with pytest.raises(InvalidRequest, match="time windows"):
        verify_many(drafts, np.array([[1, 2, 3, 4]]))
    with pytest.raises(InvalidRequest, match=r"expected \(3, 6\)"):
        verify_many(drawn("euclidean", 3), np.array([[1, 2, 3, 4, 5, 6]]))
