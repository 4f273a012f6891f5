"""The reference is itself held against cases worked out by hand, a clock that ticks, and all tours."""

import collections
import functools
import itertools
import math
from dataclasses import replace
from operator import itemgetter

import numpy as np
import pytest
from tours import best, drawn, judged

from fairway.problems.instance import Instance

OBJECTIVES = ("cost", "makespan", "duration")


def line(*places, **asked):
    """Nodes on a line, the depot at 0; travel is their distance."""
    at = np.array([0, *places])
    return Instance(np.abs(at[:, None] - at), **asked)


def value(instance, stops, objective="cost"):
    tour = judged(instance, stops, objective)
    return tour and tour.value


# Cost, ways and ends


def test_a_tour_returns_to_the_depot():
    """0 to 3 to 5 and back: 3 + 2 + 5."""
    tour = judged(line(3, 5), (1, 2))
    assert (tour.value, tour.cost, tour.makespan, tour.duration) == (10, 10, 10, 10)
    assert (tour.starts, tour.departure, tour.unserved, tour.lateness) == ((3, 5), 0, (), 0)


def test_cost_is_apart_from_time():
    """Legs 1, 7 and 4 cost 12; the times are still those of the line."""
    tour = judged(line(3, 5, cost=[[0, 1, 9], [9, 0, 7], [4, 9, 0]]), (1, 2))
    assert (tour.value, tour.cost, tour.makespan) == (12, 12, 10)
    assert value(line(3, 5, cost=[[0, 1, 9], [9, 0, 7], [4, 9, 0]]), (1, 2), "makespan") == 10


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("name", ["travel", "cost"])
def test_an_infinite_entry_is_no_way(name, objective):
    """From 1 to 2 there is no way, so that 2, 1 is the only order: 5 + 2 + 3 there and back."""
    legs = np.array([[0, 3, 5], [3, 0, math.inf], [5, 2, 0]])
    travel = {"travel": legs, "cost": np.where(legs < math.inf, legs, 2)}[name]
    instance = Instance(travel, cost=legs)
    assert judged(instance, (1, 2), objective) is None
    assert best(instance, objective) == (10, (2, 1))


def test_a_tour_ends_at_another_node_after_its_service():
    """The end at 5 opens at 9 and takes 2: 0 to 3 to 5 costs 5, over at 11."""
    instance = line(3, 5, end=2, opens=[0, 0, 9], closes=[1, 99, 99], service=[0, 0, 2])
    tour = judged(instance, (1,))
    assert (tour.cost, tour.makespan, tour.starts, tour.unserved) == (5, 11, (3, 9), ())
    assert judged(instance, (1, 2)) is None


def test_the_end_is_visited_whatever_its_prize():
    """The way to the end at 5 costs 5; where that closes at 4, a prize of 0 does not excuse it."""
    assert value(line(3, 5, end=2, prize=[0, 1, 2]), ()) == 6
    assert best(line(3, 5, end=2, prize=0, closes=[9, 9, 4])) is None


def test_an_open_tour_ends_with_its_last_service():
    """0 to 3 to 5 without a way back: cost 5, and with a service of 2 each over at 9."""
    tour = judged(line(3, 5, end=None, service=[0, 2, 2]), (1, 2))
    assert (tour.cost, tour.makespan) == (5, 9)


def test_the_depot_window_limits_only_the_departure_where_the_tour_does_not_return():
    """The depot closes at 1, the return would be at 10."""
    assert value(line(3, 5, closes=[1, 99, 99], end=None), (1, 2)) == 5
    assert judged(line(3, 5, closes=[1, 99, 99]), (1, 2)) is None


@pytest.mark.parametrize("end", [0, None])
def test_the_empty_tour_is_over_as_it_leaves(end):
    """It leaves at the opening, 4, plus a service of 2."""
    instance = line(3, end=end, opens=[4, 0], service=[2, 0], prize=7)
    tour = judged(instance, ())
    assert (tour.value, tour.cost, tour.makespan, tour.departure) == (7, 0, 6, 6)
    assert (tour.unserved, tour.starts) == ((1,), ())


@pytest.mark.parametrize("stops", [(1,), (1, 1), (1, 2, 2), (0, 1, 2), (1, 3), (2, -1)])
def test_what_is_no_tour_of_the_stops_is_refused(stops):
    assert judged(line(3, 5), stops) is None


# Windows


def test_who_is_early_waits_and_who_is_late_is_refused():
    """Stop 1 at 3 opens at 8: service there at 8, at stop 2 at 10; if that closes at 9 it is missed."""
    assert judged(line(3, 5, opens=[0, 8, 0], closes=[99, 9, 10]), (1, 2)).starts == (8, 10)
    assert judged(line(3, 5, opens=[0, 8, 0], closes=[99, 9, 9]), (1, 2)) is None
    assert judged(line(3, 5, opens=[0, 8, 0], closes=[99, 9, 9]), (1, 2), tolerance=1).lateness == 0


@pytest.mark.parametrize(("place", "start"), [(1, 2), (3, 3), (4, 4), (5, 7), (8, 8), (9, None)])
def test_service_starts_in_the_first_window_still_open(place, start):
    """Of 2 to 4 and 7 to 8, for arrivals at each place."""
    tour = judged(line(place, windows={1: [(2, 4), (7, 8)]}), (1,))
    assert (tour and tour.starts) == (start if start is None else (start,))


def test_on_the_return_only_the_last_closing_counts_and_nobody_waits():
    """Back at 6, between the windows of the depot: no wait. Back at 14, after the last: refused."""
    windows = {0: [(0, 2), (9, 10)]}
    assert judged(line(3, windows=windows), (1,)).makespan == 6
    assert judged(line(7, windows=windows), (1,)) is None


def test_service_at_the_depot_delays_the_departure():
    """Opening 4 and service 2: away at 6, at the stop at 9, back at 12."""
    tour = judged(line(3, opens=[4, 0], service=[2, 0]), (1,))
    assert (tour.departure, tour.starts, tour.makespan, tour.duration) == (6, (9,), 12, 6)


# Lateness


def test_lateness_has_a_price_and_delays_what_follows():
    """Stop 1 closes at 1 and is served at 3, 2 late for 5 each: 10 + 10; stop 2 follows at 5, 1 late for 2."""
    tour = judged(line(3, 5, closes=[99, 1, 4], late=[math.inf, 5, 2]), (1, 2))
    assert (tour.value, tour.cost, tour.lateness, tour.starts) == (22, 10, 3, (3, 5))


def test_lateness_counts_from_the_last_closing():
    """Served on arrival at 6, 2 after the second of the windows 0 to 1 and 3 to 4; 12 + 2."""
    assert value(line(6, windows={1: [(0, 1), (3, 4)]}, late=1), (1,)) == 14


def test_a_start_after_the_last_permitted_is_refused():
    """Closing 1, served at 3: kept with latest 3, and not with 2."""
    assert value(line(3, closes=[99, 1], late=1, latest=[99, 3]), (1,)) == 8
    assert judged(line(3, closes=[99, 1], late=1, latest=[99, 2]), (1,)) is None


def test_the_last_permitted_start_means_nothing_where_windows_are_hard():
    """A stop open until 9 is served at 3, after latest 2."""
    assert value(line(3, closes=[99, 9], latest=[99, 2]), (1,)) == 6


def test_a_late_return_has_a_price_and_a_limit():
    """Back at 6, 2 after the depot closes, for 3 each: 6 + 6; not if 5 is the last permitted."""
    late = [3, math.inf]
    assert value(line(3, closes=[4, 99], late=late), (1,)) == 12
    assert judged(line(3, closes=[4, 99], late=late, latest=[5, 99]), (1,)) is None
    assert judged(line(3, closes=[4, 99]), (1,)) is None


# Order


def test_a_stop_follows_what_is_before_it():
    instance = line(3, 5, before=[(2, 1)])
    assert judged(instance, (1, 2)) is None
    assert value(instance, (2, 1)) == 10


def test_a_stop_is_left_out_where_what_is_before_it_is():
    """Without 2, stop 1 cannot be served either; 2 without 1 can."""
    instance = line(3, 5, before=[(2, 1)], prize=1)
    assert judged(instance, (1,)) is None
    assert judged(instance, (2,)).unserved == (1,)
    assert value(instance, ()) == 2


def test_a_pair_is_served_in_order_and_both_or_neither():
    instance = line(3, 5, pairs=[(2, 1)], prize=1)
    assert [value(instance, stops) for stops in [(1, 2), (1,), (2,)]] == [None, None, None]
    assert [value(instance, stops) for stops in [(2, 1), ()]] == [10, 2]


def test_what_follows_the_end_cannot_be_served():
    """With the end 2 before 1, stop 1 is left out for 4; where they are a pair, there is no tour."""
    assert best(line(3, 5, end=2, before=[(2, 1)], prize=4)) == (9, ())
    assert best(line(3, 5, end=2, before=[(2, 1)])) is None
    assert best(line(3, 5, end=2, pairs=[(2, 1)], prize=4)) is None


def test_what_is_before_the_end_must_be_served():
    assert best(line(3, 5, end=2, before=[(1, 2)], prize=0))[1] == (1,)
    assert judged(line(3, 5, end=2, before=[(1, 2)], prize=0), ()) is None


# Loads


def test_a_growing_load_counts_the_own_demand():
    """Demands 2 and 3: stop 1 sees 2 or 5, stop 2 sees 3 or 5; a draft of 4 at stop 1 makes it first."""
    instance = line(3, 5, demand=[0, 2, 3], draft=[0, 4, 9])
    assert value(instance, (1, 2)) == 10
    assert judged(instance, (2, 1)) is None
    assert best(line(3, 5, demand=[0, 2, 3], capacity=4)) is None


def test_a_shrinking_load_is_what_is_aboard_on_arrival():
    """Leaving with 5, the second stop sees its own demand alone: a draft of 4 at stop 1 makes it last."""
    instance = line(3, 5, demand=[0, 2, 3], draft=[0, 4, 9], load="shrinking")
    assert judged(instance, (1, 2)) is None
    assert value(instance, (2, 1)) == 10
    assert best(line(3, 5, demand=[0, 2, 3], capacity=4, load="shrinking")) is None


def test_a_ship_leaves_with_the_cargo_of_what_it_visits():
    """Without stop 2, stop 1 sees 2 alone, and 6 + 1 for leaving 2 out."""
    instance = line(3, 5, demand=[0, 2, 3], draft=4, load="shrinking", prize=1)
    assert value(instance, (1,)) == 7
    assert judged(instance, (1, 2)) is None


def test_the_end_has_its_load():
    """The end's 3 are aboard on arrival at stop 1, whose draft is 4; growing, the end sees 5."""
    loads = {"demand": [0, 2, 3], "end": 2}
    assert judged(line(3, 5, draft=[0, 4, 9], load="shrinking", **loads), (1,)) is None
    assert judged(line(3, 5, draft=[0, 9, 4], **loads), (1,)) is None
    assert value(line(3, 5, draft=[0, 4, 5], **loads), (1,)) == 5


def test_a_signed_load_stays_between_nothing_and_the_limits():
    """Stop 1 takes 3 aboard and stop 2 gives 4 away: with 1 aboard the load is 4 and 0, or -3 at once."""
    signed = {"demand": [0, 3, -4], "load": "signed", "aboard": 1}
    assert value(line(3, 5, capacity=4, **signed), (1, 2)) == 10
    assert judged(line(3, 5, capacity=4, **signed), (2, 1)) is None
    assert judged(line(3, 5, capacity=3, **signed), (1, 2)) is None
    assert judged(line(3, 5, draft=[0, 3, 9], **signed), (1, 2)) is None
    assert judged(line(3, 5, draft=[0, 4, 0], **signed), (1, 2)).value == 10


def test_what_is_loaded_for_a_stop_is_aboard_only_where_it_is_visited():
    """Each stop gets 3 and gives 2: the load is 6, 5 and 4 with both, 3 and 2 with one alone."""
    swaps = {"demand": [0, -1, -1], "loaded": [0, 3, 3], "load": "signed", "prize": 1}
    assert value(line(3, 5, capacity=6, **swaps), (1, 2)) == 10
    assert judged(line(3, 5, capacity=5, **swaps), (1, 2)) is None
    assert value(line(3, 5, capacity=3, **swaps), (1,)) == 7
    assert judged(line(3, 5, capacity=2, **swaps), (1,)) is None
    assert judged(line(3, 5, draft=[0, 4, 9], **swaps), (1, 2)) is None


# Stops left out


def test_the_cheapest_choice_of_stops_is_found():
    """Serving the stop at 5 costs 10 and at 9 costs 18: with prizes of 11 and 7, 10 + 7 is least."""
    assert best(line(5, 9, prize=[0, 11, 7])) == (17, (1,))
    assert best(line(5, 9, prize=[0, 11, math.inf])) == (18, (1, 2))


def test_the_fewest_are_left_out_first():
    """All can be served for 18; then with a closing at 9 only one, and stop 1 is the cheaper to leave out."""
    prize = [0, 2, 3]
    assert best(line(5, 9, prize=prize)) == (5, ())
    assert best(line(5, 9, prize=prize), drop="fewest") == (18, (1, 2))
    tight = line(-5, 9, prize=prize, closes=[99, 9, 9])
    assert best(tight, drop="fewest") == (20, (2,))


# Duration


def test_a_free_departure_saves_the_wait():
    """The stop at 3 is open 10 to 20: leaving at 7 to 17 takes 6. Leaving at 0 there is a wait of 7."""
    instance = line(3, opens=[0, 10], closes=[50, 20])
    tour = judged(instance, (1,), "duration")
    assert (tour.value, tour.duration, tour.departure, tour.makespan) == (6, 6, 17, 23)
    assert judged(instance, (1,)).duration == 13


def test_the_departure_shown_is_the_latest_best():
    """Stop 1 at 3 is open 10 to 11, stop 2 at 5 opens at 20: there is a wait of 7 at least; leaving at 8 has it."""
    instance = line(3, 5, opens=[0, 10, 20], closes=[50, 11, 30])
    tour = judged(instance, (1, 2), "duration")
    assert (tour.departure, tour.starts, tour.makespan, tour.value) == (8, (11, 20), 25, 17)


def test_without_an_end_of_the_best_the_earliest_of_them_is_shown():
    """The stop at 3 opens at 10 and nothing closes: from 7 on it is always 6."""
    assert judged(line(3, opens=[0, 10]), (1,), "duration").departure == 7
    assert judged(line(3, opens=[4, 0], service=[2, 0]), (1,), "duration").departure == 6


def test_the_departure_starts_inside_a_window_of_the_depot():
    """The stop at 3 is open 20 to 21. Leaving at 5, when the first closes, there is a wait; from 17 on none."""
    windows = {0: [(0, 5), (30, 40)], 1: [(20, 21)]}
    tour = judged(line(3, windows=windows), (1,), "duration")
    assert (tour.departure, tour.value) == (5, 18)
    windows = {0: [(0, 5), (16, 17), (30, 40)], 1: [(20, 21)]}
    assert judged(line(3, windows=windows), (1,), "duration").departure == 17


def test_service_at_the_depot_is_not_part_of_the_duration():
    """Service at the depot starts by 5 and takes 2: away at 7, wait at 3 until 20, back at 23."""
    instance = line(3, opens=[0, 20], closes=[5, 99], service=[2, 0], end=None)
    tour = judged(instance, (1,), "duration")
    assert (tour.departure, tour.duration, tour.makespan) == (7, 13, 20)


def test_lateness_is_weighed_against_the_departure():
    """Stop 1 at 3 closes at 3, stop 2 at 5 opens at 20: leaving d later saves d of 25 and costs d times the price."""
    asked = {"opens": [0, 0, 20], "closes": [99, 3, 99]}
    cheap = judged(line(3, 5, late=[math.inf, 0.5, math.inf], **asked), (1, 2), "duration")
    assert (cheap.departure, cheap.value, cheap.lateness) == (15, 10 + 7.5, 15)
    dear = judged(line(3, 5, late=[math.inf, 2, math.inf], **asked), (1, 2), "duration")
    assert (dear.departure, dear.value, dear.lateness) == (0, 25, 0)


def test_departures_of_fractions_are_exact():
    """Stop 1 at a third opens at 0.7 and the depot closes at 1.1: leaving at 0.7 less a third just meets it."""
    instance = line(1 / 3, opens=[0, 0.7], closes=[1.1, 0.7])
    tour = judged(instance, (1,), "duration", tolerance=0.0)
    assert tour.value == pytest.approx(2 / 3)
    assert tour.departure == pytest.approx(0.7 - 1 / 3)


def test_the_last_moment_that_is_forgiven_is_looked_at():
    """Leaving at 2, 1 after what the first window of stop 1 asks: on at 5, at stop 2 at 7 until 20, back at 25."""
    windows = {1: [(2, 4), (30, 31)], 2: [(20, 21)]}
    tour = judged(line(3, 5, windows=windows), (1, 2), "duration", tolerance=1)
    assert (tour.departure, tour.starts, tour.value) == (2, (5, 20), 23)


# What is forgiven


@pytest.mark.parametrize(
    "loads",
    [
        {"demand": [0, 0.1, 0.2]},
        {"demand": [0, 0.1, 0.2], "load": "shrinking"},
        {"demand": [0, -0.1, -0.2], "loaded": [0, 0.1, 0.2], "load": "signed"},
    ],
)
def test_a_load_that_only_rounding_makes_too_heavy_is_kept(loads):
    """In binary, 0.1 and 0.2 are more than 0.3, by less than a millionth."""
    instance = line(3, 5, capacity=0.3, **loads)
    assert best(instance) == (10, (1, 2))
    assert best(instance, tolerance=0.0) is None
    assert best(line(3, 5, capacity=0.29999, **loads)) is None


def test_a_start_that_only_rounding_makes_late_is_kept():
    """Away at 0.2 and at the stop 0.1 later, which in binary is after 0.3."""
    instance = line(0.1, service=[0.2, 0], closes=[9, 0.3])
    assert best(instance) == (0.2, (1,))
    assert best(instance, tolerance=0.0) is None
    assert best(replace(instance, closes=[9, 0.29999])) is None


# Breaks


def test_a_break_on_the_road_pauses_the_drive():
    """On the way to 3, between 1 and 2: at the stop at 3 + 4, back at 10."""
    tour = judged(line(3, breaks=[(1, 2, 4)]), (1,))
    assert (tour.cost, tour.starts, tour.makespan) == (6, (7,), 10)


def test_a_break_is_not_due_where_the_tour_ends_by_its_latest_start():
    """Back at 6: with a latest start of 6 none is taken, with 5 it is, on the way back."""
    assert judged(line(3, breaks=[(4, 6, 4)]), (1,)).makespan == 6
    assert judged(line(3, breaks=[(4, 5, 4)]), (1,)).makespan == 10


def test_a_break_fits_into_a_wait():
    """At the stop from 3 to its opening at 9; a break of 4 from 5 on ends with the wait, one of 6 makes it 11."""
    assert judged(line(3, opens=[0, 9], breaks=[(5, 8, 4)]), (1,)).starts == (9,)
    assert judged(line(3, opens=[0, 9], breaks=[(5, 8, 6)]), (1,)).starts == (11,)


def test_who_must_rest_idles_before_a_service_that_would_cover_the_break():
    """Service of 7 at 3: a break from 4 to 9 on is taken at 4, before it; one that may start at 10, after it."""
    assert judged(line(3, service=[0, 7], breaks=[(4, 9, 1)]), (1,)).starts == (5,)
    assert judged(line(3, service=[0, 7], breaks=[(3, 9, 1)]), (1,)).starts == (4,)
    assert judged(line(3, service=[0, 7], breaks=[(4, 10, 1)]), (1,)).makespan == 14


def test_a_break_is_not_taken_before_the_departure():
    """The depot opens at 5, the break must start by 4, and the tour does not end by then."""
    assert judged(line(3, opens=[5, 0], breaks=[(0, 4, 1)]), (1,)) is None


def test_a_break_that_misses_a_window_waits_for_the_next():
    """At the stop at 3, open 4 to 5 and from 12: the break starts before the service, and ends at 6 at best."""
    instance = line(3, windows={1: [(4, 5), (12, 20)]}, service=[0, 1], breaks=[(3, 4, 3)])
    assert judged(instance, (1,)).starts == (12,)


def test_breaks_are_taken_where_they_make_least_lateness():
    """Stop 1 at 3 closes at 3: taken after it, the break of 4 makes nobody late; the makespan is the same."""
    tour = judged(line(3, closes=[99, 3], late=1, breaks=[(0, 5, 4)]), (1,))
    assert (tour.value, tour.lateness, tour.starts, tour.makespan) == (6, 0, (3,), 10)


def test_two_breaks_are_taken_in_either_order():
    """The second must start by 1, so that the stop at 3 is not reached by 6: both on the way, there at 3 + 4 + 2."""
    tour = judged(line(3, breaks=[(2, 6, 2), (0, 1, 4)]), (1,))
    assert (tour.starts, tour.makespan) == ((9,), 12)
    assert judged(line(3, breaks=[(0, 2, 5), (0, 2, 5)]), (1,)) is None


def test_a_break_may_be_taken_late_in_a_wait_for_the_sake_of_another():
    """At the stop at 1 from 1 to its opening at 6, then a service of 9, and over. The second break starts at 8.

    Taken at once, the first ends at 4 and service covers the second. Taken at 5, it ends at 8, and the second follows.
    """
    breaks = [(1, 5, 3), (8, 8, 1)]
    instance = line(1, opens=[0, 6], service=[0, 9], breaks=breaks, end=None)
    assert judged(instance, (1,)).starts == (9,)


def test_a_departure_fits_a_break():
    """Stop at 3 with a service of 7, the break starts at 4: leaving at 1 it is on arrival, up to 4 on the road."""
    instance = line(3, closes=[20, 99], service=[0, 7], breaks=[(4, 4, 1)], end=None)
    tour = judged(instance, (1,), "duration")
    assert (tour.departure, tour.value) == (4, 11)
    assert judged(instance, (1,)).starts == (5,)


# All of it


def ticking(instance, stops, objective):
    """The least value by a clock that ticks in halves, at which anything permitted may be done; times are whole."""
    route = (0, *stops) if instance.end is None else (0, *stops, instance.end)
    cost = sum(instance.cost[leg] for leg in itertools.pairwise(route))
    missing = set(range(1, instance.nodes)).difference(route)
    if cost + sum(instance.travel[leg] for leg in itertools.pairwise(route)) == math.inf:
        return None

    def windows(node):
        return instance.windows.get(node, ((instance.opens[node], instance.closes[node]),))

    def late(node, time):
        """The price of being served then; None where that is refused."""
        over, price = max(0, time - windows(node)[-1][1]), instance.late[node]
        if over and (price == math.inf or time > instance.latest[node]):
            return None
        return over * price if over else 0

    @functools.cache
    def ends(at, time, drive, breaks):
        """All (makespan, price of lateness) from a moment on, on the way to a place of the route."""
        found = set()
        for k, (earliest, latest, length) in enumerate(breaks):
            if earliest <= time <= latest:
                found |= ends(at, time + length, drive, breaks[:k] + breaks[k + 1 :])
            if time < earliest and not drive and at < len(route):  # who stands may idle for a break
                found |= ends(at, earliest + length, 0, breaks[:k] + breaks[k + 1 :])
        if at == len(route):
            over = all(time <= latest for _, latest, _ in breaks)
            return {(time, 0)} if over else set()
        node = route[at]
        closed = node and not any(first <= time <= last for first, last in windows(node))
        if drive:
            return found | ends(at, time + 0.5, drive - 0.5, breaks)
        if closed and time < windows(node)[-1][0]:
            return found | ends(at, time + 0.5, 0, breaks)
        if (price := late(node, time)) is None:
            return found
        onward = instance.travel[node, route[at + 1]] if at + 1 < len(route) else 0
        leaves = time + (instance.service[node] if node else 0)
        return found | {(end, price + paid) for end, paid in ends(at + 1, leaves, onward, breaks)}

    begins = [
        float(half) / 2
        for half in range(2 * 120)
        if any(first <= half / 2 <= last for first, last in windows(0))
    ]
    least = math.inf
    for begin in begins if objective == "duration" else begins[:1]:
        departure = begin + instance.service[0]
        first = instance.travel[0, route[1]] if len(route) > 1 else 0
        for end, paid in ends(1, departure, first, instance.breaks):
            worth = {"cost": cost, "makespan": end, "duration": end - departure}[objective]
            least = min(least, worth + paid + sum(instance.prize[stop] for stop in missing))
    return None if least == math.inf else float(least)


def orders(instance):
    stops = [node for node in range(1, instance.nodes) if node != instance.end]
    counts = range(len(stops) + 1)
    return itertools.chain(*(itertools.permutations(stops, count) for count in counts))


def whole(instance):
    times = (instance.travel, instance.service, instance.opens, instance.breaks)
    return all(np.array_equal(np.rint(each), each) for each in times)


def timed(rng, stops):
    """An instance drawn in whole numbers, of which only what concerns time is left."""
    instance = next(filter(whole, (drawn(rng, stops) for _ in itertools.count())))
    free = dict.fromkeys(("demand", "loaded", "draft", "capacity"))
    return replace(instance, before=(), pairs=(), load="growing", prize=3, **free)


@pytest.mark.parametrize("seed", range(20))
def test_a_ticking_clock_finds_the_same_values(seed):
    instance = timed(np.random.default_rng(seed), 2 + seed % 3)
    for stops, objective in itertools.product(itertools.islice(orders(instance), 12), OBJECTIVES):
        assert value(instance, stops, objective) == ticking(instance, stops, objective)


@pytest.mark.parametrize("drop", ["price", "fewest"])
@pytest.mark.parametrize("seed", range(20))
def test_the_best_is_the_best_of_all_tours(seed, drop):
    instance = drawn(np.random.default_rng(seed), 4)
    for objective in OBJECTIVES:
        tours = [judged(instance, stops, objective) for stops in orders(instance)]
        ranks = [
            ((len(tour.unserved), sum(instance.prize[[*tour.unserved]])), tour.value)
            for tour in filter(None, tours)
        ]
        first = (
            min(ranks, default=None)
            if drop == "fewest"
            else min(ranks, key=itemgetter(1), default=None)
        )
        found = best(instance, objective, drop)
        assert (found and found[0]) == (first and first[1])
        assert not found or value(instance, found[1], objective) == found[0]


def test_drawn_instances_have_every_constraint_and_a_tour_often_and_not_always():
    rng = np.random.default_rng(0)
    instances = [drawn(rng, int(rng.integers(2, 6))) for _ in range(100)]
    asked = collections.Counter(itertools.chain(*(each.constraints for each in instances)))
    assert len(asked) == 13
    assert min(asked.values()) > 15
    assert 10 < sum(not np.isfinite([each.travel, each.cost]).all() for each in instances) < 40
    assert 50 < sum(best(each) is not None for each in instances) < 80
