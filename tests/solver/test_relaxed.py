"""Where no tour keeps everything there is a plan all the same, and it says what it gives up."""

import math
import time

import numpy as np
import pytest
from tours import drawn

import fairway
from fairway.errors import InvalidRequest
from fairway.judge import Solution, verify
from fairway.solver import general as solving

LINE = np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0)))


def test_as_few_stops_as_can_be_are_left_out():
    """Stops 3 and 4 close before they can be reached; without them all the others are served."""
    instance = fairway.Instance(LINE, closes=[99, 9, 9, 2, 3])
    result = fairway.solve(instance)
    assert result.status == "infeasible"
    assert result.tour is None
    plan = result.relaxed
    assert plan.solution.unserved == (3, 4)
    assert plan.given_up == ("stop 3 is left out", "stop 4 is left out")
    assert result.to_dict()["relaxed"]["unserved"] == [3, 4]


def test_or_it_is_as_little_late_as_can_be():
    instance = fairway.Instance(LINE, closes=[5, 9, 9, 2, 9])
    plan = fairway.solve(instance, relax="late").relaxed
    assert plan.solution.lateness == 4.0  # stop 3 by 1, the return by 3
    assert plan.given_up == ("stop 3 is served 1 late", "the return is 3 late")
    assert plan.solution.unserved == ()


def test_where_nothing_leads_to_the_end_the_plan_ends_at_its_last_stop():
    travel = LINE.copy()
    travel[:, 4] = math.inf
    plan = fairway.solve(fairway.Instance(travel, end=4)).relaxed
    assert plan.solution.tour == (1, 2, 3)
    said = ("stop 4 is left out", "the tour ends at its last stop, not at stop 4")
    assert plan.given_up == said


def test_none_is_offered_where_none_is_asked_for_or_there_is_a_tour():
    assert (
        fairway.solve(fairway.Instance(LINE, closes=[99, 9, 9, 2, 9]), relax="none").relaxed is None
    )
    assert fairway.solve(fairway.Instance(LINE)).relaxed is None


@pytest.mark.parametrize("how", ["drop", "late"])
def test_plans_are_judged_by_what_was_relaxed_and_give_up_no_more_than_they_say(rng, how):
    offered = 0
    for _ in range(40):
        instance = drawn(rng, int(rng.integers(2, 7)))
        result = fairway.solve(instance, relax=how)
        if result.relaxed is None:
            continue
        offered += 1
        plan = result.relaxed
        assert isinstance(verify(plan.instance, plan.solution.tour), Solution)
        lost = [stop for stop in plan.solution.unserved if math.isinf(instance.prize[stop])]
        assert sum("left out" in words for words in plan.given_up) == len(lost)
        assert plan.given_up
    assert offered > (5 if how == "drop" else 0)


def test_a_tour_begins_as_it_is_told_to():
    instance = fairway.Instance(LINE)
    result = fairway.solve(instance, fixed=[3, 1])
    assert result.status == "optimal"
    assert result.tour[:2] == (3, 1)
    assert result.value == 12.0  # 3 and 2, then 1, 2 and 4 home
    assert fairway.solve(instance, fixed=[]).value == 8.0


def test_an_optional_stop_that_is_fixed_is_served_and_what_cannot_be_fixed_is_said():
    instance = fairway.Instance(LINE, prize=0.5)
    assert fairway.solve(instance, fixed=[2]).tour == (2, 1)  # on the way home
    for wrong in ([9], [1, 1], [0]):
        with pytest.raises(InvalidRequest, match="fixed is"):
            fairway.solve(instance, fixed=wrong)
    with pytest.raises(InvalidRequest, match="leave it out for a list"):
        fairway.solve([instance], fixed=[1])


def test_a_beginning_that_breaks_an_order_is_refused_with_what_comes_first():
    instance = fairway.Instance(1.0 - np.eye(5), before=[(1, 2)], pairs=[(3, 4)])
    for wrong, said in (([2], "stop 2, .* after 1; "), ([4, 3], "stop 4, .* after 3; ")):
        with pytest.raises(InvalidRequest, match=said):
            fairway.solve(instance, fixed=wrong)
    assert fairway.solve(instance, fixed=[1, 2]).tour[:2] == (1, 2)


@pytest.mark.parametrize("how", ["drop", "late"])
def test_there_is_a_plan_even_where_other_work_has_taken_all_the_time(how, monkeypatch):
    """The search ends long after the answer was due, as on a machine that ran something else meanwhile."""
    reason = solving.reason
    monkeypatch.setattr(solving, "reason", lambda *given: time.sleep(0.3) or reason(*given))
    circle = fairway.Instance(LINE, before=[(1, 2), (2, 1)])
    shut = fairway.Instance(LINE, closes=[99, 9, 9, 2, 3], capacity=9)
    for instance in (circle, shut):
        result = fairway.solve(instance, seconds=0.01, relax=how)
        assert result.relaxed is not None
        assert isinstance(verify(result.relaxed.instance, result.relaxed.solution.tour), Solution)
