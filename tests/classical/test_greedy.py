import numpy as np
import pytest

from fairway.classical.greedy import RULES, best_of_rules, nearest, soonest, tightest
from fairway.judge import Rejection, Solution, verify
from fairway.kernels.lookahead import ahead, none
from fairway.problems.batch import to_batch
from fairway.problems.generate import generate
from fairway.problems.instance import TSPDL, TSPTW
from fairway.problems.sets import instance_set
from fairway.search.rollout import greedy, rollout


def tours_by(rule, batch, look=none):
    return rollout(batch, look=look(batch), score=rule(batch), select=greedy).tours[:, 0]


def test_greedy_l_goes_to_the_nearest():
    instances = generate("tsptw", n=12, count=5, seed=1)
    for instance, tour in zip(instances, tours_by(nearest, to_batch(instances)), strict=True):
        here, left = 0, set(range(1, 12))
        for there in tour.tolist():
            shortest = min(instance.travel[here, k] for k in left)
            assert instance.travel[here, there] == pytest.approx(shortest)
            here = there
            left.remove(there)


def test_greedy_c_goes_by_limit_with_the_lowest_number_on_ties():
    instance = TSPDL(np.ones((5, 5)), [0, 1, 1, 1, 1], [4, 3, 1, 3, 2])
    assert tours_by(tightest, to_batch(instance_set([instance]))).tolist() == [[2, 4, 1, 3]]


def test_the_soonest_rule_serves_what_can_start_first():
    instance = TSPTW(np.ones((4, 4)), [0, 5, 0, 3], 99)
    assert tours_by(soonest, to_batch(instance_set([instance]))).tolist() == [[2, 3, 1]]


def test_the_best_accepted_tour_is_returned():
    for instance in generate("tsptw", n=10, hardness="easy", count=5, seed=1):
        best = best_of_rules(instance)
        assert isinstance(best, Solution)
        batch = to_batch(instance_set([instance]))
        verdicts = [
            verify(instance, tours_by(rule, batch, ahead)[0].tolist()) for rule in RULES.values()
        ]
        assert best.cost == min(v.cost for v in verdicts if isinstance(v, Solution))


def test_draft_limits_are_never_failed():
    for instance in generate("tspdl", n=40, count=10, seed=3):
        assert isinstance(best_of_rules(instance), Solution)


def test_shrinking_drafts_are_sailed_in_their_own_direction():
    for instance in generate("tspdl", n=15, count=5, seed=3):
        there, back = best_of_rules(instance), best_of_rules(instance.reversed())
        assert isinstance(there, Solution)
        assert isinstance(back, Solution)
        assert there.tour == back.tour[::-1]


def test_what_cannot_be_served_is_refused_by_the_judge():
    impossible = TSPTW([[0, 5], [5, 0]], 0, [99, 1])
    assert isinstance(best_of_rules(impossible), Rejection)
