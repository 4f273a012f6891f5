"""What is left of a plan in progress is worth, and allows, what the rest of the plan did."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from tours import drawn

import fairway
from fairway.errors import InvalidRequest
from fairway.judge import Solution, verify
from fairway.problems.source import Source


def interrupted(instance, solution, count):
    """The instance after so many stops of a plan, with the rest of the plan by the numbers that it has there."""
    tour = solution.tour
    visits = {visit.node: visit for visit in solution.schedule}
    time = visits[tour[count - 1]].departure if count else solution.departure
    rest = instance.resume(tour[:count], None, time)
    left = [node for node in range(1, instance.nodes) if node not in tour[:count]]
    left = [node for node in left if node != instance.end]
    place = {node: number for number, node in enumerate(left, 1)}
    return rest, tuple(place[node] for node in tour[count:])


def test_the_rest_of_a_plan_is_accepted_and_worth_what_it_was(rng):
    """Cost is additive: what has been spent and what is left make up the whole; breaks that are over may differ."""
    checked = 0
    while checked < 25:
        instance = drawn(rng, int(rng.integers(2, 8)))
        result = fairway.solve(instance, relax="none")
        if result.solution is None or instance.breaks:
            continue
        if not result.tour:
            continue
        count = int(rng.integers(len(result.tour)))
        rest, plan = interrupted(instance, result.solution, count)
        judged = verify(rest, plan)
        assert isinstance(judged, Solution), judged
        path = (0, *result.tour[:count])
        spent = sum(instance.cost[a, b] for a, b in pairwise(path))
        assert judged.cost + spent == pytest.approx(result.cost)
        assert judged.makespan == pytest.approx(result.makespan)
        replanned = fairway.solve(rest, initial=plan)
        assert replanned.value <= judged.value + 1e-9
        checked += 1


def test_what_is_on_board_must_be_delivered_and_counts():
    line = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))
    loads = {"demand": [0, 2, -2, 1], "load": "signed", "capacity": 2.0}
    instance = fairway.Instance(line, pairs=[(1, 2)], prize=0.0, names=list("DPQR"), **loads)
    rest = instance.resume([1], None, 5.0)
    assert rest.names == ("P", "Q", "R", "D")
    assert (rest.aboard, rest.end, rest.opens[0]) == (2.0, 3, 5.0)
    assert math.isinf(rest.prize[1])
    assert rest.prize[2] == 0.0
    assert isinstance(verify(rest, (2, 1)), fairway.Rejection)


def test_what_is_loaded_for_stops_that_are_left_is_still_on_board():
    asked = {"demand": [0, -2, -3, 1], "loaded": [0, 2, 3, 0], "load": "signed", "capacity": 5.0}
    instance = fairway.Instance(1.0 - np.eye(4), **asked)
    rest = instance.resume([1], None, 0.0)
    assert (rest.aboard, rest.loaded.tolist()) == (0.0, [0, 3, 0, 0])
    assert [stop.load for stop in verify(rest, (2, 1)).schedule] == [4.0, 1.0, 1.0]
    with pytest.raises(InvalidRequest, match="which is on board for those that are left"):
        instance.resume([1], None, 0.0, aboard=1.0)
    lent = fairway.Instance(1.0 - np.eye(3), demand=[0, -2, 0], loaded=[0, 0, 2], load="signed")
    with pytest.raises(InvalidRequest, match="taken off 2 of what is loaded for others"):
        lent.resume([1], None, 0.0)


def test_a_load_that_has_grown_is_what_is_on_board():
    instance = fairway.Instance(1.0 - np.eye(4), demand=[0, 3, 2, 1], draft=[9, 9, 5, 4])
    rest = instance.resume([1], None, 0.0)
    assert (rest.load, rest.aboard) == ("signed", 3.0)
    assert isinstance(verify(rest, (2, 1)), fairway.Rejection)  # 4 + 2 is too deep for stop 2
    assert rest.names == ("1", "2", "3", "0")


def test_a_vehicle_may_stand_anywhere_and_breaks_are_over_that_should_have_begun():
    breaks = [(0.0, 4.0, 1.0), (6.0, 9.0, 1.0)]
    instance = fairway.Instance(10 * (1.0 - np.eye(3)), breaks=breaks, end=None)
    rest = instance.resume([], 2, 5.0)
    assert rest.breaks == ((6.0, 9.0, 1.0),)
    assert rest.travel[0].tolist() == [0.0, 10.0, 0.0]
    assert rest.end is None


@pytest.mark.parametrize(
    ("visited", "at", "time", "says"),
    [
        ([9], None, 0.0, "there is no node 9"),
        ([1, 1], None, 0.0, "each stop once"),
        ([0], None, 0.0, "each stop once"),
        ([1], None, math.inf, "time is inf"),
    ],
)
def test_what_cannot_be_resumed_is_said(visited, at, time, says):
    with pytest.raises(InvalidRequest, match=says):
        fairway.Instance(1.0 - np.eye(3)).resume(visited, at, time)


def test_a_break_that_has_been_taken_is_not_taken_again():
    instance = fairway.Instance(
        np.ones((3, 3)), closes=900, breaks=[(720, 780, 30), (740, 800, 10), (5, 6, 1)]
    )
    source = Source(break_names=("Lunch", "Coffee", "Early"))
    rest = replace(instance, source=source).resume([1], None, 750, rested=[0])
    assert rest.breaks == ((740, 800, 10),)
    assert rest.source.break_names == ("Coffee",)
    with pytest.raises(InvalidRequest, match="there is no break 3"):
        instance.resume([1], None, 750, rested=[3])


def test_nothing_done_before_the_depot_opens_leaves_when_it_does():
    instance = fairway.Instance(np.ones((3, 3)), opens=[450, 0, 0], closes=900)
    assert instance.resume([], None, 420).opens[0] == 450
    assert instance.resume([], None, 460).opens[0] == 460
    assert instance.resume([1], None, 420).opens[0] == 420


def test_what_is_delivered_was_picked_up():
    instance = fairway.Instance(np.ones((3, 3)), demand=[0, 2, -2], load="signed", pairs=[(1, 2)])
    with pytest.raises(InvalidRequest, match="2 has been served and its pickup 1 has not"):
        instance.resume([2], None, 0.0)
