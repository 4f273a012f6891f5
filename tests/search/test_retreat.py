import pytest
import torch

from fairway.judge import Solution, verify
from fairway.kernels.lookahead import ahead
from fairway.problems.batch import to_batch
from fairway.problems.generate import generate
from fairway.problems.instance import TSPTW
from fairway.problems.sets import instance_set
from fairway.search.retreat import retreating
from fairway.search.rollout import rollout
from fairway.search.select import greedy, sampler


def nearest(batch):
    def score(state, outlook):
        there = torch.arange(outlook.level.shape[-1]).expand_as(outlook.level)
        return -batch.travel(state.node[..., None].expand_as(there), there)

    return score


def sampled():
    return sampler(torch.Generator().manual_seed(1))


def failures(instances, tours):
    judged = [
        verify(instance, tour, tolerance=1e-3)
        for instance, tour in zip(instances, tours, strict=True)
    ]
    return sum(not isinstance(verdict, Solution) for verdict in judged)


@pytest.fixture
def trap():
    """From the depot stop 1 is nearest, but only stop 3 first leaves time for all."""
    points = [0.0, 1.0, 2.0, -3.0]
    travel = [[abs(a - b) for b in points] for a in points]
    return TSPTW(travel, 0, [99, 99, 99, 4])


def test_without_a_budget_it_is_a_rollout():
    batch = to_batch(generate("tsptw", n=12, hardness="hard", count=30, seed=4))
    found = retreating(batch, look=ahead(batch), score=nearest(batch), chance=sampled(), budget=0)
    rolled = rollout(batch, look=ahead(batch), score=nearest(batch), select=greedy)
    clear = (rolled.dead_ends == 0)[:, 0]
    assert torch.equal(found[clear], rolled.tours[clear])
    assert (found.sort(-1).values == torch.arange(1, 12)).all()


def test_a_budget_saves_tours_and_a_larger_one_more():
    instances = generate("tsptw", n=20, hardness="hard", count=150, seed=6)
    batch = to_batch(instances)
    lost = []
    for budget in (0, 20, 200):
        tours = retreating(
            batch, look=ahead(batch), score=nearest(batch), chance=sampled(), budget=budget
        )
        assert (tours.sort(-1).values == torch.arange(1, 20)).all()
        lost.append(failures(instances, tours[:, 0].tolist()))
    assert lost[0] > lost[1] > lost[2]
    assert lost[2] < lost[0] / 3


def test_it_goes_back_as_far_as_it_must_and_tries_nothing_twice(trap):
    """Masks are left out here, so that a dead end shows only where a stop is late already."""
    batch = to_batch(instance_set([trap]))
    seen = []

    def late_only(state):
        outlook = ahead(batch)(state)
        in_time = state.unvisited & (outlook.level <= batch.limit[:, None])
        seen.append((state.node.item(), int(state.unvisited.sum())))
        return type(outlook)(outlook.level, outlook.bound, in_time)

    tours = retreating(batch, look=late_only, score=nearest(batch), chance=sampled(), budget=20)
    assert isinstance(verify(trap, tours[0, 0].tolist()), Solution)
    assert seen[0] == (0, 3)
    assert seen.count((0, 3)) > 1


def test_an_instance_without_a_tour_ends_all_the_same():
    batch = to_batch(instance_set([TSPTW([[0, 1, 1]] * 3, 0, [9, 0.5, 0.5])]))
    tours = retreating(batch, look=ahead(batch), score=nearest(batch), chance=sampled(), budget=9)
    assert sorted(tours[0, 0].tolist()) == [1, 2]
