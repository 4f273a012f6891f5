"""What is known on the way: nothing counts that the judge has not accepted."""

import math

import numpy as np
import pytest

from fairway.judge import verify
from fairway.problems.instance import Instance
from fairway.search.exact import Proof, Statistics
from fairway.solver.incumbent import Incumbent
from fairway.solver.request import Request

SPENT = Statistics(0, 0, 0, 0.0)
GOOD, BEST, LATE = (2, 1, 3), (3, 2, 1), (1, 3, 2)


@pytest.fixture
def incumbent(window_instance):
    return Incumbent(window_instance, Request(objective="makespan"))


def test_claims_are_judged_from_the_best_down(incumbent, window_instance):
    good, best = (verify(window_instance, tour).makespan for tour in (GOOD, BEST))
    assert best < good
    incumbent.claim(GOOD, good, "local search")
    incumbent.claim(BEST, best, "local search")
    incumbent.claim(LATE, best - 1, "exact search")
    assert incumbent.value == math.inf, "not judged yet"
    incumbent.settle()
    result = incumbent.result("", interrupted=False)
    assert (result.tour, result.makespan) == (BEST, best)
    assert [step.cost for step in result.trace] == [good, best]


def test_what_is_no_better_is_no_claim(incumbent):
    incumbent.offer(BEST, "plan")
    incumbent.offer(GOOD, "local search")
    incumbent.claim(BEST, incumbent.value, "local search")
    incumbent.settle()
    result = incumbent.result("", interrupted=True)
    assert (result.method, len(result.trace), result.interrupted) == ("plan", 1, True)


def test_a_late_tour_is_kept_until_there_is_a_good_one(incumbent):
    incumbent.offer(LATE, "plan")
    assert incumbent.start == LATE
    assert incumbent.result("why", interrupted=False).attempt.tour == LATE
    incumbent.offer(GOOD, "local search")
    assert incumbent.start == GOOD


@pytest.mark.parametrize(
    ("status", "tour", "expected"),
    [
        ("bounded", None, "optimal"),
        ("truncated", None, "feasible"),
        ("truncated", BEST, "optimal"),  # 9 where nothing is below 8.5, and all times are whole
        ("optimal", BEST, "optimal"),
        ("optimal", LATE, "feasible"),
    ],
)
def test_a_proof_counts_for_as_much_as_its_tour(incumbent, status, tour, expected):
    incumbent.offer(GOOD, "plan")
    incumbent.learn(Proof(status, tour, 9.0, 8.5, SPENT))
    result = incumbent.result("", interrupted=False)
    assert result.status == expected
    assert result.tour == (BEST if tour == BEST else GOOD)
    assert result.lower_bound == (result.value if expected == "optimal" else 8.5)
    assert result.gap == pytest.approx(result.value / result.lower_bound - 1)


@pytest.mark.parametrize(("short", "expected"), [(0.0, "optimal"), (0.5, "optimal"), (1.0, None)])
def test_a_bound_within_less_than_one_whole_unit_is_a_proof_also_where_the_tour_comes_later(
    incumbent, window_instance, short, expected
):
    best = verify(window_instance, BEST).makespan
    incumbent.offer(GOOD, "plan")
    incumbent.learn(Proof("truncated", None, math.inf, best - short, SPENT))
    assert incumbent.proved is None, "the first tour is worse than the bound by more"
    incumbent.offer(BEST, "local search")
    assert incumbent.proved == expected


def test_the_last_bound_counts_too():
    """All legs are alike, so that the bound that needs no search is what every tour costs."""
    incumbent = Incumbent(Instance(np.full((4, 4), 2.0), before=[(1, 2)]), Request())
    incumbent.offer((1, 2, 3), "plan")
    assert incumbent.proved is None
    result = incumbent.result("", interrupted=False)
    assert (result.status, result.lower_bound) == ("optimal", 8.0)


def test_with_fractions_or_fewest_stops_left_out_only_what_no_tour_can_beat_is_optimal():
    travel = np.full((4, 4), 2.5)
    optional = Instance(np.full((4, 4), 2.0), prize=[math.inf, 1.0, 1.0, 1.0])
    for instance, tour, lower, drop, expected in (
        (Instance(travel), (1, 2, 3), 9.5, "price", None),
        (Instance(travel), (1, 2, 3), 10.0, "price", "optimal"),
        (optional, (1, 2), 7.0, "price", "optimal"),
        (optional, (1, 2), 7.0, "fewest", None),
        (optional, (1, 2, 3), 8.0, "fewest", "optimal"),
    ):
        incumbent = Incumbent(instance, Request(drop=drop))
        incumbent.offer(tour, "plan")
        incumbent.learn(Proof("truncated", None, math.inf, lower, SPENT))
        assert incumbent.proved == expected
