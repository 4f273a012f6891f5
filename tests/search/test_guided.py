"""The guided beam against brute force, against greedy tours and against a slow beam of its own."""

import math

import brute
import pytest
import torch

from fairway.judge import Solution, verify
from fairway.kernels.lookahead import MaskConfig, ahead
from fairway.problems.batch import to_batch
from fairway.problems.generate import generate
from fairway.problems.instance import TSPTW
from fairway.problems.problem import State, extend, start, step
from fairway.problems.sets import instance_set
from fairway.search.decode import watch
from fairway.search.guided import beam
from fairway.search.rollout import greedy, rollout


def some_score(batch, seed=1):
    """Scores of no meaning that depend on where a tour comes from and goes to."""
    instances, nodes = batch.latest.shape
    generator = torch.Generator().manual_seed(seed)
    table = 2 * torch.randn(instances, nodes, nodes, generator=generator, dtype=batch.latest.dtype)

    def score(state, mask):
        return table.gather(1, state.node[..., None].expand_as(mask.resource))

    return score


def evenly(state, mask):
    return torch.zeros_like(mask.resource)


@pytest.mark.parametrize("draw", [brute.windows, brute.drafts])
def test_a_beam_with_room_for_all_labels_is_exact(rng, draw):
    found = 0
    for _ in range(40):
        instance = draw(rng, 5)
        best = brute.solutions(instance)
        batch = to_batch(instance_set([instance]), dtype=torch.float64)
        tours = beam(batch, look=watch(batch, MaskConfig(), None), score=evenly, width=200)
        turn = -1 if getattr(instance, "load", None) == "shrinking" else 1
        judged = [verify(instance, tour[::turn]) for tour in tours[0].tolist()]
        costs = [verdict.cost for verdict in judged if isinstance(verdict, Solution)]
        assert bool(costs) == bool(best)
        if best:
            found += 1
            assert min(costs) == pytest.approx(min(solution.cost for solution in best))
    assert found > 5


@pytest.mark.parametrize("problem", ["tsptw", "tspdl"])
def test_a_beam_of_one_is_greedy(problem):
    instances = generate(problem, n=12, hardness="hard", count=20, seed=3)
    batch = to_batch(instances, dtype=torch.float64)
    narrow = beam(batch, look=ahead(batch), score=some_score(batch), width=1)
    rolled = rollout(batch, look=ahead(batch), score=some_score(batch), select=greedy)
    assert torch.equal(narrow, rolled.tours)


def slow_beam(batch, look, score, width):
    """One instance, a list of labels, and every rule of the beam spelled out."""
    labels = [(0.0, 0.0, [])]
    nodes = batch.latest.shape[1]
    for _ in range(nodes - 1):
        longer = []
        for likely, _, path in labels:
            state = start(batch)
            for node in path:
                state = step(batch, state, torch.tensor([[node]]))
            mask = look(state)
            scored = score(state, mask)[0, 0].masked_fill(~mask.allowed[0, 0], -math.inf)
            for node in torch.nonzero(mask.allowed[0, 0])[:, 0].tolist():
                chance = likely + float(scored[node] - scored.logsumexp(-1))
                longer.append((chance, node, path))
        longer = sorted(longer, key=lambda label: -label[0])[: 2 * width]
        made = []
        for chance, node, path in longer:
            resource, length, here = batch.initial[:, None], 0.0, torch.tensor([[0]])
            for following in [*path, node]:
                there = torch.tensor([[following]])
                resource = extend(batch, resource, here, there)
                length, here = length + float(batch.travel(here, there)), there
            made.append((chance, float(resource), length, [*path, node]))
        labels = []
        for one in made:
            rivals = [o for o in made if o is not one and o[3][-1] == one[3][-1]]
            rivals = [o for o in rivals if set(o[3]) == set(one[3])]
            if not any(o[1] <= one[1] and o[2] <= one[2] for o in rivals):
                labels.append((one[0], one[2], one[3]))
        labels = labels[:width]
    return [path for _, _, path in labels]


def test_it_keeps_the_likeliest_labels_that_are_not_dominated():
    instances = generate("tsptw", n=9, hardness="easy", count=8, seed=5)
    whole = to_batch(instances, dtype=torch.float64)
    tours, compared = beam(whole, look=ahead(whole), score=some_score(whole), width=4), 0
    for index in range(8):
        batch = to_batch(instances[index : index + 1], dtype=torch.float64)
        table = some_score(whole)

        def score(state, mask, index=index, table=table):
            spread = State(
                state.node.expand(8, 1),
                state.resource.expand(8, 1),
                state.unvisited.expand(8, 1, 9),
            )
            wide = type(mask)(
                *(part.expand(8, 1, 9) for part in (mask.resource, mask.bound, mask.allowed))
            )
            return table(spread, wide)[index : index + 1]

        expected = slow_beam(batch, ahead(batch), score, width=4)
        if expected:
            found = tours[index].tolist()
            assert found[: len(expected)] == expected
            assert all(tour == expected[0] for tour in found[len(expected) :])
            compared += 1
    assert compared > 3


def test_a_beam_without_any_way_out_still_ends_in_tours():
    batch = to_batch(instance_set([TSPTW([[0, 1, 1]] * 3, 0, [9, 0.5, 0.5])]))
    tours = beam(batch, look=ahead(batch), score=evenly, width=3)
    assert all(sorted(tour) == [1, 2] for tour in tours[0].tolist())
