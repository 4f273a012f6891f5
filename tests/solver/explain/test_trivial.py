"""What can be seen without a search is seen at once, and is true."""

import brute
import numpy as np
import pytest

import fairway
from fairway.solver.explain.trivial import obstacle, overload


def test_a_stop_that_closes_before_it_can_be_reached():
    instance = fairway.TSPTW([[0, 9, 9], [9, 0, 9], [9, 9, 0]], 0, [99, 8, 99])
    result = fairway.solve(instance, seconds=0)
    assert result.status == "infeasible"
    assert result.reason == "stop 1 closes at 8 but cannot be reached before 9"


def test_a_stop_from_which_the_depot_closes_too_early():
    instance = fairway.TSPTW([[0, 9], [9, 0]], [0, 95], 99)
    reason = fairway.solve(instance, seconds=0).reason
    assert "the depot closes at 99 but cannot be reached before 104 from stop 1" in reason


def test_a_way_round_counts_where_it_is_quicker():
    travel = np.array([[0, 9, 1], [9, 0, 9], [9, 1, 0]])
    assert obstacle(fairway.TSPTW(travel, 0, [99, 2, 99])) is None
    assert fairway.solve(fairway.TSPTW(travel, 0, [99, 2, 99])).tour == (2, 1)
    slow = fairway.TSPTW(travel, 0, [99, 2, 99], service=[0, 0, 1])
    assert "cannot be reached before 3" in obstacle(slow).why


def test_a_port_whose_draft_is_below_its_own_cargo():
    instance = fairway.TSPDL(np.ones((3, 3)), [0, 2, 5], [9, 9, 4], names=["home", "a", "b"])
    result = fairway.solve(instance, seconds=0)
    assert result.status == "infeasible"
    assert result.reason == "port 2 (b) has a draft of 4, below its own cargo of 5"


@pytest.mark.parametrize(("load", "end"), [("growing", "last"), ("shrinking", "first")])
def test_ports_that_are_too_much_together_are_as_few_as_can_be(load, end):
    instance = fairway.TSPDL(np.ones((5, 5)), [0, 1, 2, 3, 4], [0, 6, 6, 6, 10], load)
    conflict = overload(instance)
    assert conflict is None
    tighter = fairway.TSPDL(np.ones((5, 5)), [0, 1, 3, 3, 4], [0, 6, 5, 5, 11], load)
    assert overload(tighter).stops == (2, 3)
    assert f"where the {end} of them is called at" in overload(tighter).why


def test_drafts_are_decided_completely(rng):
    """There is an obstacle exactly where brute force finds no tour, and its ports have none among themselves."""
    found = 0
    for _ in range(150):
        instance = brute.drafts(rng)
        conflict = overload(instance)
        assert (conflict is None) == bool(brute.solutions(instance))
        found += conflict is not None
    assert 20 < found < 130


def test_windows_are_never_refused_that_can_be_kept(rng):
    refused = 0
    for _ in range(150):
        instance = brute.windows(rng)
        if obstacle(instance) is not None:
            refused += 1
            assert not brute.solutions(instance)
    assert refused > 10
