"""Instances that are proved together get the answers that each would get by itself."""

import numpy as np
import pytest

import fairway
from fairway.problems.sets import InstanceSet, Locations
from fairway.solver import narrow
from fairway.solver.explain.feasibility import NARROW, breadth
from fairway.solver.explain.trivial import obstacle
from fairway.solver.narrow import proved_together, suits
from fairway.solver.request import Request


def answers(instances):
    """What `solve` says of each instance, by number, where it is proved optimal."""
    found = fairway.solve(list(instances), seconds=0.5, workers=1)
    return {n: (r.tour, r.cost, r.makespan) for n, r in enumerate(found) if r.status == "optimal"}


def together(instances):
    proved = proved_together(instances)
    rows = zip(*(column.tolist() for column in proved[:4]), strict=True)
    return {number: (tuple(tour), cost, makespan) for number, tour, cost, makespan in rows}


@pytest.mark.parametrize("n", [2, 8, 30, 70])
def test_hard_instances_are_all_proved_with_the_answers_of_solve(n):
    instances = fairway.generate("tsptw", n=n, count=40, seed=n)
    assert together(instances) == answers(instances)
    assert len(together(instances)) == 40


def test_whole_numbers_asymmetry_and_service_make_no_difference():
    rng = np.random.default_rng(1)
    count, n = 60, 9
    matrix = rng.integers(1, 30, (count, n, n)).astype(float)
    order = np.tile(np.arange(n), (count, 1))
    along = matrix[np.arange(count)[:, None], order[:, :-1], order[:, 1:]].cumsum(axis=1)
    opens = np.maximum(np.pad(along, ((0, 0), (1, 0))) - rng.integers(0, 30, (count, n)), 0.0)
    closes = opens + rng.integers(5, 60, (count, n))
    closes[:, 0] = 500
    service = rng.integers(0, 3, (count, n)).astype(float)
    where = Locations(matrix=matrix)
    instances = InstanceSet(where, opens=opens, closes=closes, service=service)
    found, known = together(instances), answers(instances)
    assert len(found) > 20
    assert len(found) < count, "some have no tour, or wide windows, and are left to solve"
    assert found == {number: known[number] for number in found}


def test_what_solve_would_not_begin_to_prove_is_left_to_it():
    instances = fairway.generate("tsptw", n=12, hardness="medium", count=60, seed=5)
    travel = np.stack([each.travel for each in instances])
    columns = (instances.opens, instances.closes, np.array(instances.service))
    likely = narrow._likely(travel, *columns)
    for number, instance in enumerate(instances):
        late = obstacle(instance) is not None
        assert likely[number] == (breadth(instance) <= NARROW and not late)
    assert 0 < likely.sum() < 60


def test_other_questions_are_not_for_it():
    hard = fairway.generate("tsptw", n=5, count=2)
    assert suits(hard, Request())
    assert suits(hard, Request(iterations=10))
    assert not suits(hard, Request(objective="makespan"))
    assert not suits(hard, Request(seconds=0.01))
    assert not suits(fairway.generate("tspdl", n=5, count=2), Request())
    assert not suits(fairway.generate("tsptw", n=201, count=1), Request())


def test_a_beam_too_narrow_proves_nothing(monkeypatch):
    instances = fairway.generate("tsptw", n=30, count=4, seed=1)
    monkeypatch.setattr(narrow, "WIDTH", 1)
    narrow._room.cache_clear()
    assert together(instances) == {}
    narrow._room.cache_clear()
