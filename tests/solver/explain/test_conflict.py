"""Pairs that collide, against their definition over all quickest ways."""

import brute
import numpy as np

import fairway
from fairway.solver.explain.conflict import colliding_pairs
from fairway.solver.explain.trivial import lateness_forgiven, subset


def apart(instance):
    """All pairs of stops of which neither can come first, each way between two nodes as quick as it can be."""
    increment = instance.service[:, None] + instance.travel
    for stop in range(1, instance.nodes):
        np.minimum(increment, increment[:, stop, None] + increment[stop], out=increment)
    np.fill_diagonal(increment, 0.0)
    limit = instance.closes + lateness_forgiven(instance)
    start = np.maximum(instance.opens[0] + increment[0], instance.opens)
    second = np.maximum(start[:, None] + increment, instance.opens)
    in_time = (start <= limit)[:, None] & (second <= limit) & (second + increment[:, 0] <= limit[0])
    return [tuple(pair) for pair in 1 + np.argwhere(np.triu(~(in_time | in_time.T)[1:, 1:], 1))]


def test_pairs_collide_exactly_where_neither_can_come_first(rng):
    found = 0
    for _ in range(200):
        instance = brute.windows(rng, 5)
        pairs, collide = list(colliding_pairs(instance)), apart(instance)
        assert pairs[:1] == collide[:1]
        assert set(pairs) <= set(collide)
        paired = {stop for pair in pairs for stop in pair}
        assert all(paired & set(pair) for pair in collide), "a pair that shares no stop is missing"
        assert all(not brute.solutions(subset(instance, pair)) for pair in pairs)
        found += bool(pairs)
    assert found > 20


def test_a_way_round_lets_a_pair_be_served():
    """Straight from 1 to 2 would be too long; by way of 3 it is not."""
    travel = np.full((4, 4), 10.0)
    travel[1, 2], travel[1, 3], travel[3, 2] = 90, 5, 5
    instance = fairway.TSPTW(travel, [0, 20, 30, 0], [200, 20, 30, 200])
    assert not list(colliding_pairs(instance))
    assert fairway.solve(instance).tour == (1, 3, 2)
