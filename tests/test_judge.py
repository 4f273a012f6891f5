import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.errors import InvalidRequest, InvalidTour
from fairway.judge import TOLERANCE, Rejection, Solution, verify
from fairway.problems.instance import TSPDL, TSPTW, Instance


def rules(verdict):
    assert isinstance(verdict, Rejection)
    return [(violation.rule, violation.node, violation.amount) for violation in verdict.violations]


def test_a_feasible_tour_is_scheduled_to_the_minute(window_instance):
    """By hand: 2 at 2 (until 3), 1 at 4 (no wait, opens at 4, until 6), 3 at 8, back at 11."""
    verdict = verify(window_instance, [2, 1, 3])
    assert isinstance(verdict, Solution)
    assert verdict.tour == (2, 1, 3)
    assert verdict.cost == 2 + 1 + 2 + 3
    assert verdict.makespan == 11
    assert verdict.schedule.node.tolist() == [2, 1, 3]
    assert verdict.schedule.arrival.tolist() == [2, 4, 8]
    assert verdict.schedule.wait.tolist() == [0, 0, 0]
    assert verdict.schedule.departure.tolist() == [3, 6, 8]


def test_waiting_counts_in_time_and_not_in_cost(window_instance):
    """By hand: 1 reached at 1, opens at 4, left at 6; 2 at 7, left at 8; 3 at 9; back at 12."""
    verdict = verify(window_instance, [1, 2, 3])
    assert isinstance(verdict, Solution)
    assert verdict.schedule[0].wait == 3
    assert [visit.start for visit in verdict.schedule] == [4, 7, 9]
    assert (verdict.cost, verdict.makespan) == (6, 12)


def test_the_depot_is_left_when_it_opens(window_instance):
    later = replace(window_instance, opens=[3, 4, 0, 0])
    assert verify(later, [1, 2, 3]).schedule.arrival[0] == 4


def test_every_late_stop_and_the_late_return_are_listed(window_instance):
    tight = replace(window_instance, closes=[10, 9, 6, 8])
    verdict = verify(tight, [1, 2, 3])
    assert rules(verdict) == [("late", 2, 1), ("late", 3, 1), ("late return", 0, 2)]
    assert verdict.cost == 6
    assert "starts at 7, 1 after its window closes at 6" in verdict.violations[0].why


def test_what_is_not_a_tour_lists_each_missing_repeated_and_unknown_stop(window_instance):
    verdict = verify(window_instance, [1, 1, 7, 0, -2])
    assert rules(verdict) == [
        ("repeated", 1, 1),
        ("unknown", 7, 1),
        ("unknown", 0, 1),
        ("unknown", -2, 1),
        ("missing", 2, 1),
        ("missing", 3, 1),
    ]
    assert verdict.schedule is None
    assert verdict.cost is None


def test_an_id_in_place_of_a_number_is_said_to_be_one():
    named = TSPTW([[0, 1, 2], [1, 0, 1], [2, 1, 0]], 0, 9, names=["1000", "1001", "1002"])
    first, *_ = verify(named, [1001, 2]).violations
    assert "stops are numbered 1 to 2, and 1001 is the name of stop 1" in first.why


def test_an_empty_tour_misses_every_stop(window_instance):
    assert [rule for rule, _, _ in rules(verify(window_instance, []))] == ["missing"] * 3


@pytest.mark.parametrize("tour", [[1, 2, 2.5], ["1", "2", "3"], [True, 2, 3], [None], [[1, 2, 3]]])
def test_what_is_not_a_sequence_of_whole_numbers_is_refused_as_input(window_instance, tour):
    with pytest.raises(InvalidTour):
        verify(window_instance, tour)


def test_numpy_tours_are_taken(window_instance):
    assert isinstance(verify(window_instance, np.array([2, 1, 3], dtype=np.uint8)), Solution)


def test_a_growing_load_counts_the_ports_own_cargo(draft_instance):
    verdict = verify(draft_instance, [3, 2, 1])
    assert isinstance(verdict, Solution)
    assert [call.load for call in verdict.schedule] == [1, 3, 6]
    assert verdict.cost == verdict.makespan == 6
    assert rules(verify(draft_instance, [1, 2, 3])) == [("draft", 3, 5)]


def test_a_shrinking_load_is_what_is_on_board_on_arrival(draft_instance):
    delivery = replace(draft_instance, load="shrinking")
    verdict = verify(delivery, [1, 2, 3])
    assert isinstance(verdict, Solution)
    assert [call.load for call in verdict.schedule] == [6, 3, 1]
    assert rules(verify(delivery, [3, 2, 1])) == [("draft", 3, 5)]


def test_what_is_loaded_for_stops_counts_where_they_are_visited():
    """A stop that swaps 3 for 3 needs the room at the start, though the load stays the same there."""
    asked = {"demand": [0, 0, -2], "loaded": [0, 3, 2], "load": "signed", "prize": 1.0}
    instance = Instance(1.0 - np.eye(3), capacity=5, **asked)
    assert [stop.load for stop in verify(instance, [1, 2]).schedule] == [5, 3]
    assert [stop.load for stop in verify(instance, [1]).schedule] == [3]
    small = replace(instance, capacity=4.0, cost=None)
    assert rules(verify(small, [2, 1])) == [("capacity", 0, 1)]
    assert isinstance(verify(small, [1]), Solution)
    full = replace(instance, aboard=9.0, cost=None)  # as long as nothing more is loaded
    assert rules(verify(full, [1])) == [("capacity", 0, 7), ("capacity", 1, 7)]
    assert isinstance(verify(full, []), Solution)


@given(st.integers(0, 10**6))
def test_a_reversed_instance_accepts_exactly_the_reversed_tours(seed):
    rng = np.random.default_rng(seed)
    demand = np.array([0, *rng.integers(0, 4, 4)], float)
    instance = TSPDL(rng.integers(0, 9, (5, 5)), demand, rng.integers(0, 12, 5), name="any")
    for tour in itertools.permutations(range(1, 5)):
        there, back = verify(instance, tour), verify(instance.reversed(), tour[::-1])
        assert type(there) is type(back)
        assert there.cost == back.cost


def test_whole_numbers_get_no_tolerance_and_fractions_a_little():
    whole = TSPTW([[0, 1], [1, 0]], [0, 0], [2, 1])
    assert isinstance(verify(replace(whole, closes=[2, 0]), [1]), Rejection)
    for over, accepted in ((TOLERANCE / 2, True), (TOLERANCE * 2, False)):
        fraction = replace(whole, closes=[2, 1 - over])
        assert isinstance(verify(fraction, [1]), Solution) is accepted
        assert isinstance(verify(fraction, [1], tolerance=0), Rejection)
        assert isinstance(verify(fraction, [1], tolerance=1e-3), Solution)


@pytest.mark.parametrize("tolerance", [-1.0, float("nan"), float("inf")])
def test_a_senseless_tolerance_is_refused(window_instance, tolerance):
    with pytest.raises(InvalidRequest):
        verify(window_instance, [1, 2, 3], tolerance)


def test_many_breaks_at_once_are_judged_at_once():
    ways = 1.0 - np.eye(3)
    alike = Instance(ways, breaks=[(0, 1000, 1)] * 40)
    assert verify(alike, [1, 2]).makespan == 3, "none is due before the end"
    apart = Instance(ways, closes=30.0, breaks=[(0, 4 + k / 8, 1 + k / 16) for k in range(8)])
    assert isinstance(verify(apart, [1, 2]), Solution)


@given(st.integers(0, 10**6))
def test_agrees_with_the_definition_on_random_asymmetric_instances(seed):
    """The definition, written once more as directly as it can be said."""
    rng = np.random.default_rng(seed)
    nodes = int(rng.integers(2, 7))
    opens = rng.integers(0, 20, nodes)
    instance = TSPTW(
        rng.integers(0, 12, (nodes, nodes)),
        opens,
        opens + rng.integers(0, 30, nodes),
        rng.integers(0, 4, nodes),
    )
    tour = (1 + rng.permutation(nodes - 1)).tolist()
    now, here, cost, in_time = instance.opens[0] + instance.service[0], 0, 0.0, True
    for there in [*tour, 0]:
        now, cost = now + instance.travel[here, there], cost + instance.travel[here, there]
        if there:
            now = max(now, instance.opens[there])
        in_time = in_time and now <= instance.closes[there]
        now, here = now + (instance.service[there] if there else 0), there
    verdict = verify(instance, tour)
    assert isinstance(verdict, Solution) is bool(in_time)
    assert (verdict.cost, verdict.makespan) == (cost, now)


def test_only_the_judge_makes_solutions():
    from pathlib import Path

    import fairway

    sources = Path(fairway.__file__).parent.rglob("*.py")
    makers = {path.parent.name for path in sources if "return Solution(" in path.read_text()}
    assert makers == {"judge"}


def test_a_tour_is_no_worse_for_times_that_count_from_1970():
    """Seconds since 1970 leave little room for rounding: the latest departure must keep a break all the same."""
    for places in np.random.default_rng(5).random((40, 9, 2)) * 1000 / 3:
        verdicts = []
        for since in (0.0, 1600416000.0):
            instance = Instance(
                np.linalg.norm(places[:, None] - places[None], axis=2),
                opens=[since, *[0] * 8],
                closes=[since + 5300.0] * 9,
                service=[0, *[300] * 8],
                breaks=[(since + 2000.0, since + 2600.0, 300.0)],
            )
            verdicts.append(verify(instance, range(1, 9), objective="duration"))
        here, there = verdicts
        assert isinstance(here, Solution)
        assert isinstance(there, Solution)
        assert there.duration == pytest.approx(here.duration, abs=1e-4)


def test_a_stop_that_is_late_keeps_no_break_from_being_taken():
    line = np.abs(np.subtract.outer(np.arange(3.0), np.arange(3.0))) * 10
    instance = Instance(line, opens=[0, 0, 60], closes=[200, 5, 70], breaks=[(30, 40, 15)])
    told = verify(instance, (1, 2))
    assert [(each.rule, each.amount) for each in told.violations] == [("late", 5)]
    assert told.schedule.arrival.tolist() == [10, 45]  # with the break on the way
    both = replace(instance, breaks=[(30, 40, 15), (-9, -5, 3)])
    violations = verify(both, (1, 2)).violations
    assert [each.rule for each in violations] == ["late", "break"]
    assert "must start between -9 and -5 cannot be taken" in violations[1].why


def test_the_least_late_timetable_with_all_breaks_is_the_one_that_is_told():
    line = np.abs(np.subtract.outer(np.arange(3.0), np.arange(3.0))) * 10
    instance = Instance(line, closes=[200, 10, 22], breaks=[(0, 39, 15)])
    told = verify(instance, (1, 2))
    assert told.schedule.start.tolist() == [10, 20]  # the break is taken on the way back
    assert isinstance(told, Solution)
    shut = replace(instance, closes=[30, 10, 22])
    violations = verify(shut, (1, 2)).violations
    assert [(each.rule, each.amount) for each in violations] == [("late return", 25)]
