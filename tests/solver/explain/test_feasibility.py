"""Whether there is a tour at all."""

import math

import brute
import pytest

import fairway
from fairway import clock
from fairway.judge import Solution, verify
from fairway.solver.explain.feasibility import breadth, decide


@pytest.mark.parametrize("draw", [brute.windows, brute.drafts])
def test_it_is_decided_as_brute_force_has_it(rng, draw):
    for _ in range(40):
        instance = draw(rng)
        decision = decide(instance, math.inf)
        assert decision.impossible == (not brute.solutions(instance))
        if decision.solution is not None:
            assert isinstance(verify(instance, decision.solution.tour), Solution)


def test_what_cannot_be_decided_in_time_is_left_open():
    decision = decide(brute.a_little_too_short(), clock.now() + 0.05)
    assert decision.open
    assert decision.attempt.violations


def test_breadth_tells_tight_windows_from_loose_ones():
    hard, medium, easy = (
        breadth(fairway.generate("tsptw", n=50, hardness=hardness, seed=1)[0])
        for hardness in ("hard", "medium", "easy")
    )
    assert hard < 3 < medium < 12 < easy
