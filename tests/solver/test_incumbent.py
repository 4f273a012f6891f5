"""What is known on the way: nothing counts that the judge has not accepted."""

import math

import pytest

from fairway.judge import verify
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
        ("truncated", BEST, "feasible"),
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
