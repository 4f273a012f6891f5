import numpy as np
import pytest
import torch
from chance import sampler

from fairway.judge import Solution, verify
from fairway.kernels.lookahead import MaskRule, ahead, along, none
from fairway.problems.batch import to_batch
from fairway.problems.generate import generate
from fairway.problems.instance import TSPTW
from fairway.problems.sets import instance_set
from fairway.search.rollout import greedy, rollout


def evenly(state, mask):
    return torch.zeros_like(mask.resource)


@pytest.mark.parametrize("look", [none, ahead])
def test_tours_visit_everything_once_and_their_figures_are_the_judges(look):
    instances = generate("tsptw", n=15, hardness="hard", count=6, seed=1)
    batch = to_batch(instances, dtype=torch.float64)
    select = sampler(torch.Generator().manual_seed(3))
    built = rollout(batch, look=look(batch), score=evenly, select=select, tours=4)
    for b, instance in enumerate(instances):
        for p in range(4):
            tour = built.tours[b, p].tolist()
            assert sorted(tour) == list(range(1, 15))
            verdict = verify(instance, tour, tolerance=0)
            late = (
                []
                if isinstance(verdict, Solution)
                else [v.amount for v in verdict.violations if v.node]
            )
            assert 100 * float(built.length[b, p]) == pytest.approx(verdict.cost)
            assert 100 * float(built.excess[b, p]) == pytest.approx(sum(late), abs=1e-9)
            assert int(built.broken[b, p]) == len(late)
            if late:
                assert 100 * float(built.worst[b, p]) == pytest.approx(max(late))


def test_a_dead_end_falls_back_to_everything_unvisited_and_is_counted():
    """Both stops are late from the start, so nothing is ever allowed."""
    batch = to_batch(instance_set([TSPTW(np.ones((3, 3)), 0, [9, 0.5, 0.5])]))
    built = rollout(batch, look=ahead(batch), score=evenly, select=greedy)
    assert built.tours.tolist() == [[[1, 2]]]
    assert built.dead_ends.tolist() == [[2]]


def test_the_mask_is_obeyed():
    instances = generate("tsptw", n=10, hardness="hard", count=40, seed=2)
    batch = to_batch(instances)
    select = sampler(torch.Generator().manual_seed(3))
    free = rollout(batch, look=none(batch), score=evenly, select=select, tours=20)
    masked = rollout(batch, look=ahead(batch, MaskRule(2)), score=evenly, select=select, tours=20)
    assert (masked.broken == 0).float().mean() > 10 * (free.broken == 0).float().mean()


@pytest.mark.parametrize("rule", [MaskRule(1), MaskRule(2), MaskRule(1, own=False)], ids=str)
def test_a_look_ahead_that_keeps_its_place_builds_the_same_tours(rule):
    batch = to_batch(generate("tsptw", n=25, hardness="hard", count=10, seed=2))
    afresh, in_place = (
        rollout(
            batch,
            look=look,
            score=evenly,
            select=sampler(torch.Generator().manual_seed(5)),
            tours=7,
        )
        for look in (ahead(batch, rule), along(batch, 7, rule))
    )
    assert torch.equal(afresh.tours, in_place.tours)
    assert torch.equal(afresh.dead_ends, in_place.dead_ends)


def test_equal_generators_give_equal_tours():
    batch = to_batch(generate("tspdl", n=12, count=3, seed=1))
    one, same = (
        rollout(
            batch,
            look=ahead(batch),
            score=evenly,
            select=sampler(torch.Generator().manual_seed(5)),
            tours=7,
        )
        for _ in range(2)
    )
    assert torch.equal(one.tours, same.tours)
