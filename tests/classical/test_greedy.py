import numpy as np
import pytest
import torch

from fairway.classical.greedy import (
    RULES,
    best_of_rules,
    construct,
    nearest,
    one_step,
    tightest,
    unvisited,
)
from fairway.judge import Rejection, Solution, verify
from fairway.problems.batch import to_batch
from fairway.problems.generate import generate
from fairway.problems.instance import instance_set
from fairway.problems.problem import extend as law
from fairway.problems.problem import start, step
from fairway.problems.tspdl import TSPDL
from fairway.problems.tsptw import TSPTW


def test_greedy_l_goes_to_the_nearest():
    instances = generate("tsptw", n=12, count=5, seed=1)
    for instance, tour in zip(
        instances, construct(to_batch(instances), nearest, unvisited)[:, 0], strict=True
    ):
        here, left = 0, set(range(1, 12))
        for there in tour.tolist():
            assert instance.travel[here, there] == pytest.approx(
                min(instance.travel[here, k] for k in left)
            )
            here = there
            left.remove(there)


def test_greedy_c_goes_by_limit_with_the_lowest_number_on_ties():
    instance = TSPDL(np.ones((5, 5)), [0, 1, 1, 1, 1], [4, 3, 1, 3, 2])
    assert construct(to_batch(instance_set([instance])), tightest, unvisited).tolist() == [
        [[2, 4, 1, 3]]
    ]


@pytest.mark.parametrize(
    ("problem", "hardness"), [("tsptw", "medium"), ("tsptw", "hard"), ("tspdl", "hard")]
)
def test_one_step_is_the_definition(problem, hardness):
    """Along random walks, against the sentence: in time itself, and every other one in time right after it."""
    instances = generate(problem, n=9, hardness=hardness, count=6, seed=4)
    batch, rng = to_batch(instances), np.random.default_rng(0)
    state = start(batch)
    for _ in range(8):
        allowed = one_step(batch, state)
        for b in range(6):
            open_nodes = state.unvisited[b, 0].nonzero().flatten().tolist()
            for i in range(9):
                expected = i in open_nodes and _leaves_all(batch, state, b, i, open_nodes)
                assert bool(allowed[b, 0, i]) == expected
        choice = [rng.choice(state.unvisited[b, 0].nonzero().flatten()) for b in range(6)]
        state = step(batch, state, torch.tensor(np.array(choice))[:, None])


def _leaves_all(batch, state, b, i, open_nodes):
    def extend(level, here, there):
        index = [torch.full((6, 1), node) for node in (here, there)]
        return float(law(batch, torch.full((6, 1), level), *index)[b, 0])

    level = extend(float(state.level[b, 0]), int(state.node[b, 0]), i)
    limit = batch.limit[b].tolist()
    after = all(extend(level, i, k) <= limit[k] + 1e-5 for k in open_nodes if k != i)
    return level <= limit[i] + 1e-5 and after


def test_the_best_accepted_tour_is_returned():
    for instance in generate("tsptw", n=10, hardness="easy", count=5, seed=1):
        best = best_of_rules(instance)
        assert isinstance(best, Solution)
        batch = to_batch(instance_set([instance]))
        tours = (construct(batch, rule, one_step)[0, 0].tolist() for rule in RULES.values())
        verdicts = [verify(instance, tour) for tour in tours]
        assert best.cost == min(v.cost for v in verdicts if isinstance(v, Solution))


def test_shrinking_drafts_are_sailed_in_their_own_direction():
    for instance in generate("tspdl", n=15, count=5, seed=3):
        there, back = best_of_rules(instance), best_of_rules(instance.reversed())
        assert isinstance(there, Solution)
        assert isinstance(back, Solution)
        assert there.tour == back.tour[::-1]


def test_what_cannot_be_served_is_refused_by_the_judge():
    impossible = TSPTW([[0, 5], [5, 0]], 0, [99, 1])
    assert isinstance(best_of_rules(impossible), Rejection)
