"""Subsets are relaxations, whatever the travel matrix."""

import brute
import numpy as np

import fairway
from fairway.judge import Solution, verify
from fairway.solver.explain.trivial import increments, quickest, subset


def test_leaving_out_stops_never_makes_a_tour_late(rng):
    """Every tour of the whole, restricted to some stops, is a tour of their subset: travel need not be metric."""
    restrictions = 0
    for _ in range(60):
        instance = brute.windows(rng, 5)
        some = [int(stop) for stop in 1 + rng.permutation(4)[: rng.integers(1, 4)]]
        small = subset(instance, some)
        for solution in brute.solutions(instance):
            restrictions += 1
            restricted = [1 + some.index(stop) for stop in solution.tour if stop in some]
            assert isinstance(verify(small, restricted), Solution)
    assert restrictions > 50


def test_all_stops_are_the_instance_itself(rng):
    """Not a relaxation of it: a way through a stop that stays would serve it twice."""
    instance = brute.windows(rng, 6)
    whole = subset(instance, range(1, 6))
    assert np.allclose(whole.travel, instance.travel)
    assert np.array_equal(whole.closes, instance.closes)


def test_a_way_round_is_taken_with_its_service_and_without_its_waiting():
    travel = [[0, 9, 1], [9, 0, 9], [9, 1, 0]]
    instance = fairway.TSPTW(travel, [0, 0, 5], 99, service=[0, 0, 3], names=["d", "a", "b"])
    assert quickest(increments(instance), 0)[0][1] == quickest(increments(instance), 1)[1][0] == 5
    assert subset(instance, [1]).travel[0, 1] == 5
    assert subset(instance, [1]).names == ("d", "a")


def test_there_is_none_without_time_for_its_ways(window_instance):
    assert subset(window_instance, [1], until=0.0) is None


def test_ports_keep_their_direction(draft_instance):
    backwards = draft_instance.reversed()
    assert subset(backwards, [3, 1]).load == "shrinking"
    assert subset(backwards, [3, 1]).draft.tolist() == [6, 1, 6]
