"""Local search in batches, as it runs on a GPU: the same source here, and on the GPU where there is one."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from emulation import emulate

from fairway.judge import Solution, verify
from fairway.judge.many import verify_many
from fairway.kernels.moves.gpu import launch
from fairway.kernels.moves.gpu.reference import Walker, mixed
from fairway.problems.generate import generate
from fairway.problems.sets import Locations
from fairway.search.side_by_side import Effort, numbers_of, search, tours_in, weights

SETS = [
    ("tsptw", "easy", 30),
    ("tsptw", "medium", 66),
    ("tspdl", "hard", 30),
    ("tspdl", "medium", 66),
]


@pytest.mark.parametrize(("problem", "hardness", "nodes"), SETS)
def test_every_tour_is_accepted_by_the_judge_and_longer_searches_are_better(
    problem, hardness, nodes
):
    drawn = generate(problem, n=nodes, hardness=hardness, count=3, seed=1)
    costs = []
    for rounds in (1, 100):
        found = search(numbers_of(drawn, "cpu"), Effort(rounds=rounds, walkers=2), run=emulate)
        assert found.there.all()
        verdicts = [verify(each, tour) for each, tour in zip(drawn, found.tours, strict=True)]
        assert all(isinstance(verdict, Solution) for verdict in verdicts)
        costs.append(sum(verdict.cost for verdict in verdicts))
    assert costs[1] < costs[0]


def test_walkers_that_share_an_instance_are_repeatable_and_better_than_one():
    drawn = generate("tspdl", n=30, hardness="hard", count=3, seed=1)
    numbers = numbers_of(drawn, "cpu")
    one, many, again = (
        search(numbers, Effort(rounds=64, walkers=walkers), run=emulate) for walkers in (1, 8, 8)
    )
    assert np.array_equal(many.tours, again.tours)
    accepted, cost, _ = verify_many(drawn, many.tours)
    assert accepted.all()
    assert cost.sum() <= verify_many(drawn, one.tours).cost.sum()


@pytest.mark.parametrize(
    ("problem", "hardness", "nodes", "symmetric"),
    [*((*each, True) for each in SETS), *((*each, False) for each in SETS if each[2] == 30)],
)
def test_every_round_decides_as_the_definition_does(problem, hardness, nodes, symmetric):
    drawn = generate(problem, n=nodes, hardness=hardness, count=1, seed=3)
    numbers = numbers_of(drawn if symmetric else skewed(drawn), "cpu")
    assert numbers.variant.symmetric == symmetric
    found = search(numbers, Effort(rounds=1, walkers=1), run=emulate)
    tours = tours_in(numbers, found.tours)
    best, cost = tours.clone(), weights(numbers, tours)
    costs = cost[:, None].repeat(1, 3)
    span, heat, seed = (0, 400 // nodes), (0.5, 0.1), 7
    sizes = torch.tensor([1, 1, nodes + 1, 12, seed, 0, *span], dtype=torch.int32)
    facts = (numbers.to, numbers.back, numbers.own, numbers.closes, numbers.near)
    columns = (numbers.to, numbers.own, numbers.closes, numbers.near)
    same = (mixed(seed), tours[0].tolist(), int(cost[0]))
    walker = Walker(
        *(column[0].numpy() for column in columns),
        numbers.variant.by_set, symmetric, numbers.variant.slots, 12, *same,
    )  # fmt: skip
    walker.walk(span, heat)
    emulate(numbers.variant, "improve", 1, (*facts, tours, best, costs, sizes, torch.tensor(heat)))
    assert tours[0].tolist() == walker.tour
    assert best[0].tolist() == walker.best
    assert costs[0, :2].tolist() == [walker.cost(walker.tour), walker.cost(walker.best)]


def skewed(drawn):
    """The same with legs that are a little longer one way than the other, and still metric."""
    matrix = np.stack([each.travel for each in drawn])
    height = np.random.default_rng(5).random(drawn.nodes) * matrix.max() / 50
    return replace(
        drawn, locations=Locations(None, matrix + np.maximum(height - height[:, None], 0))
    )


@pytest.mark.cuda
@pytest.mark.parametrize(("problem", "hardness", "nodes"), SETS)
def test_a_gpu_decides_as_the_emulation_does(problem, hardness, nodes):
    drawn, effort = (
        generate(problem, n=nodes, hardness=hardness, count=5, seed=2),
        Effort(rounds=100, walkers=3),
    )
    here = search(numbers_of(drawn, "cpu"), effort, run=emulate)
    there = search(numbers_of(drawn, "cuda"), effort, run=launch)
    assert np.array_equal(here.tours, there.tours)
