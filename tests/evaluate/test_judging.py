"""Many tours at once against the judge, one by one."""

from dataclasses import replace

import brute
import numpy as np
import pytest

from fairway.evaluate.judging import best_row, outcome_of, walked
from fairway.judge import Solution, verify


@pytest.mark.parametrize("draw", [brute.windows, brute.drafts])
def test_costs_and_limits_are_the_judges_to_the_last_bit(rng, draw):
    for _ in range(30):
        instance = draw(rng, 6)
        tours = np.array([1 + rng.permutation(instance.nodes - 1) for _ in range(20)])
        cost, over = walked(instance, tours)
        for row, tour in enumerate(tours):
            verdict = verify(instance, tour, tolerance=0)
            assert cost[row] == verdict.cost
            broken = over[row] > 0
            if isinstance(verdict, Solution):
                assert not broken.any()
            else:
                amounts = [violation.amount for violation in verdict.violations]
                assert over[row][broken].tolist() == amounts


@pytest.mark.parametrize("draw", [brute.windows, brute.drafts])
def test_an_outcome_counts_what_the_judge_accepts_at_each_tolerance(rng, draw):
    seen = 0
    for _ in range(40):
        instance = draw(rng, 5)
        tours = np.array([1 + rng.permutation(instance.nodes - 1) for _ in range(12)])
        loose = [verify(instance, tour, 5.0) for tour in tours]
        strict = [verify(instance, tour) for tour in tours]
        found = outcome_of(
            3, instance, tours, 5.0, 1e-6 * (not instance.integral),
            proved=True, keep_tour=True,
        )  # fmt: skip
        costs = [verdict.cost for verdict in loose if isinstance(verdict, Solution)]
        sure = [verdict.cost for verdict in strict if isinstance(verdict, Solution)]
        assert (found.index, found.tours, found.proved) == (3, 12, True)
        assert (found.accepted, found.strict) == (len(costs), len(sure))
        assert found.cost == min(costs, default=None)
        assert found.strict_cost == min(sure, default=None)
        assert sum(found.broken_at.values()) == 12 - len(costs)
        if costs:
            assert verify(instance, found.tour, 5.0).cost == min(costs)
        seen += len(costs) > 0 and len(costs) != len(sure)
    assert seen


def test_where_tours_break_is_counted_from_the_first_stop(window_instance):
    window_instance = replace(window_instance, closes=[20, 9, 4, 4])
    tours = np.array([[1, 2, 3], [3, 2, 1], [2, 1, 3], [3, 1, 2]])
    expected: dict[int, int] = {}
    for tour in tours.tolist():
        verdict = verify(window_instance, tour)
        if not isinstance(verdict, Solution):
            first = min(
                len(tour) if v.node == 0 else tour.index(v.node) for v in verdict.violations
            )
            expected[first + 1] = expected.get(first + 1, 0) + 1
    allowed = (0.0, 0.0)
    found = outcome_of(0, window_instance, tours, *allowed, proved=False, keep_tour=False)
    assert found.broken_at == expected == {2: 1, 3: 2}


def test_what_is_no_tour_is_never_accepted(window_instance):
    allowed = (99.0, 99.0)
    tours = np.array([[1, 1, 2], [0, 1, 2], [1, 2, 7], [2, 1, 3]])
    found = outcome_of(0, window_instance, tours, *allowed, proved=False, keep_tour=True)
    assert (found.tours, found.accepted, found.tour) == (4, 1, (2, 1, 3))
    assert found.broken_at == {}


def test_a_solver_without_a_tour_has_none_accepted(window_instance):
    none = np.zeros((0, 3), np.int64)
    found = outcome_of(0, window_instance, none, 0.0, 0.0, proved=False, keep_tour=True)
    assert (found.tours, found.accepted, found.cost, found.tour) == (0, 0, None, None)


def test_the_best_row_keeps_the_limits_if_any_does(window_instance):
    tours = np.array([[3, 2, 1], [1, 2, 3], [2, 1, 3]])
    chosen = best_row(window_instance, tours)
    costs = {tuple(t): verify(window_instance, t) for t in tours.tolist()}
    feasible = {t: v.cost for t, v in costs.items() if isinstance(v, Solution)}
    assert feasible[chosen] == min(feasible.values())
    assert best_row(window_instance, tours[:0]) is None
