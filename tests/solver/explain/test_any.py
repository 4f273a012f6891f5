"""Explanations of instances with any constraints, against the slow reference of tours."""

import math
from dataclasses import replace

import numpy as np
import pytest
import sketches
import tours

import fairway
from fairway import Instance, clock
from fairway.judge import Solution, verify
from fairway.solver.explain import change
from fairway.solver.explain.feasibility import decide
from fairway.solver.explain.limits import Limit, limits_of, spots_of, without
from fairway.solver.explain.narrowing import plain_reason
from fairway.solver.explain.numbers import Spot, changed, reaches, scale_of, value_of
from fairway.solver.explain.plain import obstacles, required
from fairway.solver.explain.trivial import subset


def possible(instance):
    """Whether any tour keeps everything."""
    return tours.best(instance) is not None


def drawn(rng, count, stops, feasible):
    """Small instances with any of the constraints, with a tour or without."""
    found = []
    while len(found) < count:
        instance = sketches.drawn(rng, int(rng.integers(2, stops + 1)))
        if not instance.classic and possible(instance) == feasible:
            found.append(instance)
    return found


def inner(instance, stops):
    return [stop for stop in stops if stop != instance.end]


def alone(instance, stops):
    """Only these stops, and what is asked of them."""
    ends = [instance.end] if instance.end else []
    return instance.restricted([0, *inner(instance, stops), *ends])


@pytest.mark.parametrize("feasible", [True, False])
def test_it_is_decided_as_the_reference_has_it(rng, feasible):
    for instance in drawn(rng, 20, 5, feasible):
        decision = decide(instance, math.inf)
        assert decision.impossible == (not feasible)
        if feasible:
            assert isinstance(verify(instance, decision.solution.tour), Solution)


def test_some_stops_are_a_relaxation_of_all_of_them(rng):
    for instance in drawn(rng, 25, 5, feasible=True):
        stops = inner(instance, range(1, instance.nodes))
        some = [int(stop) for stop in rng.permutation(stops)[: rng.integers(1, len(stops) + 1)]]
        assert possible(subset(instance, some))


def test_an_instance_without_some_limits_is_a_relaxation(rng):
    for instance in drawn(rng, 30, 4, feasible=True):
        limits = limits_of(instance, range(1, instance.nodes))
        assert possible(without(instance, {each for each in limits if rng.random() < 0.5}))


def test_what_is_plain_is_true_of_the_named_stops_alone(rng):
    found = 0
    for instance in [*drawn(rng, 40, 4, feasible=False), *drawn(rng, 10, 4, feasible=True)]:
        for conflict in obstacles(instance):
            found += 1
            assert not possible(instance)
            assert not conflict.stops or not possible(alone(instance, conflict.stops))
    assert found > 15


def test_the_named_stops_collide_and_the_repair_is_accepted(rng):
    repaired = several = 0
    for instance in drawn(rng, 25, 5, feasible=False):
        said = fairway.explain(instance)
        assert said.status == "infeasible"
        assert said.attempt.violations
        assert all(
            not possible(alone(instance, each.stops)) for each in said.conflicts if each.stops
        )
        named = [stop for each in said.conflicts for stop in inner(instance, each.stops)]
        assert len(named) == len(set(named))
        several += len(said.conflicts) > 1
        mended = instance
        repairs = [said.repair] if said.repair else [each for each in said.repairs if each]
        for repair in repairs:
            mended = repair.applied(mended)
        if repairs and repairs[0].solution:
            repaired += 1
            assert isinstance(verify(mended, repairs[0].solution.tour), Solution)
    assert repaired > 5
    assert several > 0


def least_shares(instance):
    """How little of each number's scale must change for a tour, by brute force over all numbers that may."""
    every = limits_of(instance, required(instance))
    for spot in spots_of(instance, every):
        before = value_of(instance, spot)
        for far in reaches(instance, spot):
            low, high = 0, int(far - before)
            step = int(math.copysign(1, high))
            if not high or not possible(changed(instance, spot, before + high)):
                continue
            while abs(high - low) > 1:
                middle = (low + high) // 2 if step > 0 else -((-low - high) // 2)
                fits = possible(changed(instance, spot, before + middle))
                low, high = (low, middle) if fits else (middle, high)
            yield abs(high) / scale_of(instance, spot)


def test_the_repair_is_the_smallest_change_of_a_single_number(rng):
    repaired = 0
    for instance in drawn(rng, 30, 3, feasible=False):
        if not (instance.whole_times and instance.whole_loads):
            continue
        repair = fairway.explain(instance).repair
        best = min(least_shares(instance), default=math.inf)
        assert (repair is None) == math.isinf(best)
        if repair is not None:
            repaired += 1
            assert repair.smallest
            assert repair.change / scale_of(instance, repair.spot) == pytest.approx(best)
    assert repaired > 5


TEN = 10 * (1 - np.eye(4))


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (
            {"before": [(1, 2), (2, 3), (3, 1)]},
            "the order of stops 1, 2 and 3 is a circle: 1 before 2, 2 before 3, 3 before 1",
        ),
        ({"end": 3, "before": [(3, 1)]}, "stop 1 must come after stop 3, where the tour ends"),
        (
            {"before": [(1, 2)], "opens": [0, 50, 0, 0], "closes": [99, 60, 40, 99]},
            "stops 1 and 2 cannot be served together: stop 1 must come before stop 2, stop 1 opens at 50 and "
            "stop 2 closes at 40",
        ),
        (
            {"pairs": [(1, 2)], "opens": [0, 50, 0, 0], "closes": [99, 60, 40, 99]},
            "stops 1 and 2 cannot be served together: stop 1 is the pickup for stop 2, stop 1 opens at 50 and "
            "stop 2 closes at 40",
        ),
        (
            {"demand": [0, 2, 3, 4], "capacity": 8},
            "stops 1, 2 and 3 have 9 of cargo together, more than the capacity of 8",
        ),
        (
            {"demand": [0, 7, 0, -7], "capacity": 5, "load": "signed", "pairs": [(1, 3)]},
            "2 independent conflicts: (1) stop 1 puts 7 on board, more than the capacity of 5; "
            "(2) stop 3 takes 7 off board, where there are never more than 5",
        ),
        (
            {"demand": [0, 1, 0, -3], "capacity": 5, "load": "signed", "aboard": 1},
            "with stops 1 and 3 more is taken off than put on board: the load at the end is -1, below nothing",
        ),
        (
            {"demand": [0, -3, 0, 0], "loaded": [0, 3, 0, 4], "capacity": 5, "load": "signed"},
            "7 are loaded for stops 1 and 3, where there is room for 5",
        ),
        (
            {"late": [math.inf, 1, 1, 1], "latest": [math.inf, 9, 99, 99]},
            "stop 1 may be served until 9 but cannot be reached before 10",
        ),
        (
            {"closes": [65, 99, 99, 99], "breaks": [(0, 4, 30)]},
            "stops 1, 2 and 3 cannot be served together: the depot closes at 65 and a break of 30 must start between "
            "0 and 4",
        ),
        (
            {"windows": {1: [(0, 5), (30, 33)]}, "opens": [0, 0, 31, 0], "closes": [99, 0, 31, 99]},
            "stops 1 and 2 cannot be served together: stop 1 closes at 33, stop 2 opens at 31 and closes at 31 and "
            "stop 1 is closed between 5 and 30",
        ),
        (
            {"opens": [20, 0, 0, 0], "breaks": [(5, 15, 5)]},
            "the break of 5 that must start between 5 and 15 cannot be taken: the tour leaves at 20",
        ),
        (
            {"end": 3, "closes": [99, 99, 99, 15]},
            "2 independent conflicts: (1) stop 3, where the tour ends, closes at 15 but cannot be reached before 20 "
            "from stop 1, where service starts at 10 at the earliest; (2) stop 3, where the tour ends, closes at 15 "
            "but cannot be reached before 20 from stop 2, where service starts at 10 at the earliest",
        ),
        (
            {"prize": [0, 5, math.inf, 5], "closes": [99, 9, 99, 99], "before": [(1, 2)]},
            "stop 1 closes at 9 but cannot be reached before 10; stop 1 is needed for stop 2",
        ),
    ],
)  # fmt: skip
def test_it_names_the_constraint(asked, why):
    instance = Instance(TEN, **asked)
    assert fairway.explain(instance).why == why
    assert why.startswith(("2 independent", plain_reason(instance, clock.now() + 5)))


def test_closed_ways_are_named():
    ways = TEN.copy()
    ways[:, 1] = math.inf
    said = fairway.explain(Instance(TEN, cost=ways))
    assert said.why == "there is no way from the depot to stop 1, nor by way of other stops"
    assert said.repair is None
    ways = TEN.copy()
    ways[0, 1] = ways[0, 2] = ways[1, 2] = ways[3, 1] = math.inf
    both = Instance(ways, before=[(1, 2)])
    assert fairway.explain(both).status == "infeasible"


@pytest.mark.parametrize(
    ("asked", "advice"),
    [
        ({"demand": [0, 2, 3, 4], "capacity": 8}, "the capacity was 9 instead of 8"),
        (
            {"demand": [0, 1, 0, -3], "capacity": 5, "load": "signed", "aboard": 1},
            "the load at the start was 2 instead of 1",
        ),
        (
            {"demand": [0, -3, 0, 0], "loaded": [0, 3, 0, 4], "capacity": 5, "load": "signed"},
            "the capacity was 7 instead of 5",
        ),
        (
            {"late": [math.inf, 1, 1, 1], "latest": [math.inf, 9, 99, 99]},
            "stop 1 could be served until 10 instead of 9",
        ),
        (
            {"closes": [65, 99, 99, 99], "breaks": [(0, 4, 30)]},
            "the depot closed at 70 instead of 65",
        ),
        (
            {"opens": [20, 0, 0, 0], "breaks": [(5, 15, 5)]},
            "the break of 5 between 5 and 15 could start until 20 instead of 15",
        ),
        (
            {"windows": {1: [(0, 5), (30, 33)]}, "opens": [0, 0, 31, 0], "closes": [99, 0, 31, 99]},
            "the window of stop 1 from 0 to 5 closed at 10 instead of 5",
        ),
    ],
)
def test_the_smallest_change_is_told_in_words(asked, advice):
    said = fairway.explain(Instance(TEN, **asked))
    assert (
        said.advice == f"there would be a tour if {advice}, the smallest change of a single limit"
    )


def test_every_independent_conflict_has_its_own_change():
    travel = 10 * (1 - np.eye(6))
    closes = [999, 101, 105, 301, 305, 999]
    opens = [0, 100, 100, 300, 300, 0]
    instance = Instance(travel, opens=opens, closes=closes, before=[(1, 2), (3, 4)])
    said = fairway.explain(instance)
    assert [each.stops for each in said.conflicts] == [(1, 2), (3, 4)]
    first, second = said.repairs
    mended = second.applied(first.applied(instance))
    assert isinstance(verify(mended, first.solution.tour), Solution)


def test_a_conflict_that_no_number_ends_is_told_beside_one_that_has_its_change():
    """Stops 1 and 2 come before each other; stop 3 closes before it can be reached."""
    said = fairway.explain(Instance(TEN, closes=[99, 99, 99, 4], before=[(1, 2), (2, 1)]))
    circle = said.repairs.index(None)
    assert said.conflicts[circle].stops == (1, 2)
    assert "stop 3 closed at 10 instead of 4" in said.advice
    assert said.advice.endswith(f"; for ({circle + 1}) no change of one number was found")


def test_a_window_can_be_widened_as_far_as_the_next(rng):
    """Of fractions, one plus its difference to another is often a little beyond that."""
    for _ in range(50):
        ends = np.sort(100 * rng.random(6) ** 4).tolist()
        instance = Instance(TEN, windows={1: list(zip(ends[::2], ends[1::2], strict=True))})
        spots = [Spot(number, 1, window) for window in range(3) for number in ("opens", "closes")]
        for spot in spots:
            (far,), before = reaches(instance, spot), value_of(instance, spot)
            moved = changed(instance, spot, before + (far - before))
            assert value_of(moved, spot) == pytest.approx(far)


def test_what_stops_do_not_ask_is_not_blamed():
    """Stop 3 and its limits have nothing to do with it, and neither has the load."""
    instance = Instance(
        TEN, opens=[0, 50, 0, 0], closes=[99, 60, 40, 90], before=[(1, 2), (3, 2)],
        demand=[0, 1, 1, 1], draft=[9, 9, 9, 9], breaks=[(0, 99, 1)],
    )  # fmt: skip
    said = fairway.explain(instance)
    assert said.stops == (1, 2)
    assert all(word not in said.why for word in ("draft", "break", "stop 3", "depot"))
    assert Limit("before", 0) in limits_of(instance, (1, 2))
    assert Limit("before", 1) not in limits_of(instance, (1, 2))


def test_optional_stops_that_nobody_needs_are_in_no_conflict():
    instance = Instance(TEN, closes=[99, 5, 99, 99], prize=[0, 3, math.inf, math.inf])
    assert fairway.explain(instance).status == "feasible"
    assert required(instance) == (2, 3)
    assert required(replace(instance, before=[(1, 2)])) == (1, 2, 3)


def test_the_route_of_an_answer_ends_where_tours_end():
    for end, last in ((0, "> 0"), (3, "> 3"), (None, "")):
        said = str(fairway.explain(Instance(TEN, end=end, before=[(1, 2)])))
        assert said.splitlines()[-1].startswith("tour: 0 > ")
        assert said.endswith(last)


def test_a_change_of_whole_loads_that_may_be_no_whole_number_is_tightened_to_an_end():
    """As it may where changes of two numbers are compared as parts of different amounts."""
    instance = fairway.Instance(1.0 - np.eye(3), demand=[0, -2, 0], load="signed", capacity=9)
    stage, spot = change.stage_of(instance), Spot("aboard")
    found = stage.decided(spot, 2.5, math.inf).solution
    assert change._tightened(stage, spot, 2.5, found) == pytest.approx(2.0, abs=1)
