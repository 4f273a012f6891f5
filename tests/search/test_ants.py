import itertools
from math import log

import pytest
import torch

from fairway.kernels.lookahead import AUTHORS, MaskConfig, MaskRule
from fairway.kernels.lookahead.reference import extended, passes
from fairway.kernels.lookahead.table import table
from fairway.kernels.pointer.reference import WITHIN
from fairway.problems.draw import draw
from fairway.problems.generate import DISTRIBUTIONS
from fairway.search.ants import (
    Pheromone,
    construct,
    cost_to_ants,
    explore,
    log_weights,
    outlook_of,
    replay_tours,
    untouched,
    weigh,
)
from fairway.search.rollout import violation_unit
from fairway.train.losses import Objective, lagrangian

UNGUARDED, PIP = MaskConfig("none"), MaskConfig("ahead", AUTHORS)


def world(problem="tsptw", nodes=9, count=2, ants=4, hardness="hard"):
    """A batch, a heuristic at random, and noise."""
    generator = torch.Generator().manual_seed(3)
    batch = draw(DISTRIBUTIONS[problem, hardness], nodes, count, generator)
    heuristic = torch.rand(count, nodes, nodes, generator=generator).log()
    return batch, heuristic, torch.rand(count, ants, nodes - 1, generator=generator)


def ant_by_ant(batch, weight, rule, noise):
    """The definition: one ant, one step, one candidate at a time; tours and their log-probabilities."""
    known = table(batch)
    tours, likely = [], []
    for b, p in itertools.product(range(noise.shape[0]), range(noise.shape[1])):
        here, resource, left, tour, logs = (
            0,
            batch.initial[b],
            list(range(1, weight.shape[1])),
            [],
            0.0,
        )
        while left:
            allowed = left
            if rule is not None:
                served = {j: extended(known, b, resource, here, j) for j in left}
                kept = [j for j in left if passes(known, b, j, served[j], left, rule)]
                allowed = kept or left
            total = sum(float(weight[b, here, j]) for j in allowed)
            mark, reached = float(noise[b, p, len(tour)]) * total * WITHIN, 0.0
            for j in allowed:
                reached += float(weight[b, here, j])
                if reached > mark:
                    break
            logs += log(float(weight[b, here, j]) / total)
            resource = extended(known, b, resource, here, j)
            here = j
            left = [k for k in left if k != j]
            tour.append(j)
        tours.append(tour)
        likely.append(logs)
    shape = noise.shape[:2]
    return torch.tensor(tours).view(*shape, -1), torch.tensor(likely).view(shape)


@pytest.mark.parametrize("problem", ["tsptw", "tspdl"])
@pytest.mark.parametrize("rule", [None, AUTHORS, MaskRule(1), MaskRule(2)], ids=str)
def test_all_ants_at_once_are_the_ants_one_by_one(problem, rule):
    batch, heuristic, noise = world(problem)
    pheromone = Pheromone(0.5 + torch.rand(2, 9, 9, generator=torch.Generator().manual_seed(1)))
    pull = log_weights(heuristic, pheromone, power=0.8)
    guard = UNGUARDED if rule is None else MaskConfig("ahead", rule)
    weight = (pheromone.amount * heuristic.exp()).double() ** 0.8
    tours, likely = ant_by_ant(batch, weight, rule, noise)
    assert torch.equal(construct(batch, outlook_of(batch, guard, 4), pull, noise).tours, tours)
    trodden = explore(batch, outlook_of(batch, guard, 4), pull, noise)
    assert torch.equal(trodden.built.tours, tours)
    assert torch.allclose(trodden.log_probability(pull), likely.float(), atol=1e-4)


def test_every_tour_is_sampled_as_often_as_its_probability_says():
    """Forty thousand ants over the six tours of three stops; five standard deviations."""
    batch, heuristic, _ = world(nodes=4, count=1)
    noise = torch.rand(1, 40_000, 3, generator=torch.Generator().manual_seed(5))
    trodden = explore(batch, outlook_of(batch, UNGUARDED, 40_000), heuristic, noise)
    code = (trodden.built.tours[0] * torch.tensor([100, 10, 1])).sum(-1)
    likely = trodden.log_probability(heuristic)[0].exp()
    seen = {int(value): float(likely[code == value][0]) for value in code.unique()}
    assert sum(seen.values()) == pytest.approx(1, abs=1e-5)
    for value, expected in seen.items():
        assert float((code == value).float().mean()) == pytest.approx(expected, abs=5 * 0.5 / 200)


@pytest.mark.parametrize("guard", [UNGUARDED, PIP], ids=str)
def test_ants_that_are_retraced_had_the_same_choices(guard):
    batch, heuristic, noise = world()
    there = explore(batch, outlook_of(batch, guard, 4), heuristic, noise)
    back = replay_tours(batch, outlook_of(batch, guard, 4), there.built.tours)
    for name in ("resources", "allowed", "next"):
        assert torch.equal(getattr(there, name), getattr(back, name)), name
    assert torch.equal(there.built.length, back.built.length)


@pytest.mark.parametrize("problem", ["tsptw", "tspdl"])
def test_tours_weigh_what_they_weighed_when_they_were_built(problem):
    batch, heuristic, noise = world(problem)
    built = construct(batch, outlook_of(batch, UNGUARDED, 4), heuristic, noise)
    again = weigh(batch, built.tours)
    for name in ("tours", "length", "excess", "worst", "broken"):
        assert torch.equal(getattr(built, name), getattr(again, name)), name


def test_a_retraced_move_that_the_mask_forbids_still_has_a_probability():
    batch, heuristic, _ = world(nodes=12)
    tours = torch.arange(1, 12).expand(2, 1, 11)
    trodden = replay_tours(batch, outlook_of(batch, MaskConfig(), 1), tours)
    assert int(trodden.built.broken.sum()) > 0
    assert trodden.log_probability(heuristic).isfinite().all()


def test_the_gradient_of_a_log_probability_is_that_of_small_changes():
    batch, heuristic, noise = world(nodes=6)
    trodden = explore(batch, outlook_of(batch, PIP, 4), heuristic, noise)
    wide = heuristic.double().requires_grad_(True)
    assert torch.autograd.gradcheck(trodden.log_probability, (wide,))


def test_ants_leave_the_inverse_of_their_cost_on_both_directions_and_a_tenth_evaporates():
    batch, heuristic, noise = world()
    built = construct(batch, outlook_of(batch, PIP, 4), heuristic, noise)
    cost = cost_to_ants(batch, built)
    before = Pheromone(torch.rand(2, 9, 9))
    kept = before.amount.clone()
    expected = 0.9 * before.amount.double()
    for b, p in itertools.product(range(2), range(4)):
        stops = [0, *built.tours[b, p].tolist(), 0]
        for here, there in itertools.pairwise(stops):
            expected[b, here, there] += 1 / float(cost[b, p])
            expected[b, there, here] += 1 / float(cost[b, p])
    after = before.after(built.tours, cost)
    assert torch.allclose(after.amount, expected.float(), rtol=1e-5)
    assert torch.equal(before.amount, kept), "the value handed in stays as it was"


@pytest.mark.parametrize("problem", ["tsptw", "tspdl"])
def test_the_cost_is_the_papers_lagrangian(problem):
    batch, heuristic, noise = world(problem)
    built = construct(batch, outlook_of(batch, UNGUARDED, 4), heuristic, noise)
    expected = lagrangian(built, violation_unit(batch), Objective())
    assert torch.equal(cost_to_ants(batch, built), expected)
    assert int(built.broken.sum()) > 0


def test_outside_the_neighbours_nothing_is_masked_and_inside_all_is_as_before():
    batch, heuristic, noise = world(nodes=10)
    near = torch.arange(10).roll(1).expand(2, 10, 10)[..., 2:6]
    whole = explore(batch, outlook_of(batch, PIP, 4), heuristic, noise)
    sparse = replay_tours(batch, outlook_of(batch, PIP, 4, near), whole.built.tours)
    inside = torch.zeros(2, 10, 10, dtype=torch.bool).scatter(-1, near, True)[:, None]
    place = torch.zeros(2, 4, 10).scatter(
        -1, whole.built.tours, torch.arange(1.0, 10).expand(2, 4, 9)
    )
    left = place[:, :, None, :] > place[:, :, :, None]
    chosen = torch.zeros_like(left).scatter(-1, whole.next[..., None], True)
    free = left & ~inside & ~chosen
    assert sparse.allowed[free].all()
    assert not whole.allowed[free].all()
    open_rows = (whole.allowed & left & inside).any(-1, keepdim=True) & inside & ~chosen & left
    assert torch.equal(sparse.allowed[open_rows], whole.allowed[open_rows])


def test_a_head_is_asked_with_where_ants_came_from_and_what_it_dooms_is_masked():
    batch, heuristic, noise = world()
    asked = []

    def doom(before, here, resource):
        asked.append((before, here))
        return torch.where(torch.arange(9) % 2 == 0, 1.0, -1.0).expand(2, 4, 9)

    look = outlook_of(batch, MaskConfig("learned"), 4, doom=doom)
    tours = construct(batch, look, heuristic, noise).tours
    assert (tours[..., :4] % 2 == 1).all(), "odd numbers first, and then all the rest at dead ends"
    path = torch.cat([torch.zeros(2, 4, 1, dtype=torch.long), tours], dim=-1)
    for number, (before, here) in enumerate(asked):
        assert torch.equal(here, path[..., number])
        assert torch.equal(before, path[..., max(number - 1, 0)])


def test_a_learned_guard_without_a_head_is_our_own_mistake():
    with pytest.raises(AssertionError, match="head"):
        outlook_of(world()[0], MaskConfig("learned"), 1)


def iterated(rounds):
    """A colony of four ants for some iterations: tours, costs and pheromone of each."""
    batch, heuristic, _ = world(nodes=7, count=1, hardness="medium")
    generator = torch.Generator().manual_seed(11)
    pheromone = untouched(batch)
    for _ in range(rounds):
        noise = torch.rand(1, 4, 6, generator=generator)
        pull = log_weights(heuristic, pheromone)
        built = construct(batch, outlook_of(batch, PIP, 4), pull, noise)
        pheromone = pheromone.after(built.tours, cost_to_ants(batch, built))
        yield built, pheromone


GOLDEN = [
    (
        [[1, 5, 4, 2, 6, 3], [1, 4, 5, 2, 3, 6], [1, 4, 5, 2, 3, 6], [1, 5, 4, 2, 6, 3]],
        [4.26485, 3.901318, 3.901318, 4.26485],
        54.44435,
    ),
    (
        [[1, 4, 5, 2, 3, 6], [1, 4, 5, 2, 6, 3], [1, 4, 5, 2, 3, 6], [1, 4, 5, 2, 6, 3]],
        [3.901318, 4.292245, 3.901318, 4.292245],
        59.31713,
    ),
    (
        [[1, 4, 5, 2, 3, 6], [1, 5, 4, 2, 6, 3], [1, 4, 5, 2, 6, 3], [1, 5, 4, 2, 6, 3]],
        [3.901318, 4.26485, 4.292245, 4.26485],
        63.82315,
    ),
]


def test_three_iterations_go_as_they_always_went():
    for (built, pheromone), (tours, length, total) in zip(iterated(3), GOLDEN, strict=True):
        assert built.tours[0].tolist() == tours
        assert built.length[0].tolist() == pytest.approx(length, rel=1e-5)
        assert float(pheromone.amount.sum()) == pytest.approx(total, rel=1e-5)


def test_pheromone_draws_ants_to_good_tours():
    """Without a heuristic, the mean cost of twenty ants falls over thirty iterations."""
    batch, _, _ = world(nodes=12, count=20, hardness="easy")
    generator = torch.Generator().manual_seed(1)
    pheromone, costs = untouched(batch), []
    for _ in range(30):
        noise = torch.rand(20, 20, 11, generator=generator)
        pull = log_weights(torch.zeros(20, 12, 12), pheromone)
        built = construct(batch, outlook_of(batch, UNGUARDED, 20), pull, noise)
        costs.append(float(cost_to_ants(batch, built).mean()))
        pheromone = pheromone.after(built.tours, cost_to_ants(batch, built))
    assert costs[-1] < 0.97 * costs[0]
