import itertools
import math
from dataclasses import replace
from math import log

import numpy as np
import pytest
import torch

from fairway.judge import Solution, verify
from fairway.kernels.lookahead import AUTHORS, MaskConfig
from fairway.kernels.lookahead.reference import extended, passes
from fairway.kernels.lookahead.table import table
from fairway.policies.config import HeatmapConfig
from fairway.policies.heatmap import HeatmapNetwork
from fairway.problems.batch import each, instances_in
from fairway.problems.draw import draw
from fairway.problems.generate import DISTRIBUTIONS
from fairway.search.ants import cost_to_ants, explore, log_weights, outlook_of, replay_tours
from fairway.train.config import ColonyConfig, Foresight
from fairway.train.gfacs.step import (
    FIGURES,
    Colony,
    balance_loss,
    energy,
    head_loss,
    learn,
    searched,
    shared_energy,
)
from fairway.train.schedule import tempo_at

HEADED = ColonyConfig(
    "some", "tsptw", "hard", 8, policy=HeatmapConfig(layers=2, width=8, foresight=True),
    guard=MaskConfig("ahead", AUTHORS), ants=4, batch=2, foresight=Foresight(1, 3, 1, 1, tours=3),
)  # fmt: skip


def network(config=HEADED):
    torch.manual_seed(3)
    return HeatmapNetwork(config.policy)


def stepped(config, phase="exact", frozen_head=None, seed=0):
    net = network(config)
    generator = torch.Generator().manual_seed(seed)
    figures = learn(config, Colony(net, frozen_head), phase, tempo_at(config, 0.0), generator)
    return net, dict(zip(FIGURES, figures.tolist(), strict=True))


def test_the_heads_loss_is_taken_choice_by_choice_candidate_by_candidate():
    """Against loops: which candidates the rule dooms, what the head says of each, both classes weighing as much."""
    generator = torch.Generator().manual_seed(4)
    batch = draw(DISTRIBUTIONS["tsptw", "hard"], 8, 2, generator)
    net = network().eval()
    with torch.no_grad():
        heatmap = net(batch)
        noise = torch.rand(2, 4, 7, generator=generator)
        look = outlook_of(batch, HEADED.guard, 4)
        sampled = explore(batch, look, log_weights(heatmap.log_heuristic()), noise)
        loss, seen = head_loss(HEADED, net, heatmap, batch, sampled)
        forecast, known = net.forecast(heatmap, batch), table(batch)
        wrong, said = {True: [], False: []}, {True: 0, False: 0}
        for b in range(2):
            for p in range(3):
                path = [0, 0, *sampled.built.tours[b, p].tolist()]
                resource, left = batch.initial[b], list(range(1, 8))
                for before, here, there in zip(path[:-3], path[1:-2], path[2:-1], strict=True):
                    at = [torch.full((2, 1), value) for value in (before, here)]
                    scores = forecast(*at, torch.full((2, 1), float(resource)))[b, 0]
                    for j in left:
                        sound = passes(
                            known, b, j, extended(known, b, resource, here, j), left, AUTHORS
                        )
                        chance = scores[j].sigmoid()
                        wrong[sound].append(-(1 - chance if sound else chance).log())
                        said[sound] += int((scores[j] <= 0) == sound)
                    resource = extended(known, b, resource, here, there)
                    left = [j for j in left if j != there]
        expected = 0.5 * sum(torch.stack(part).mean() for part in wrong.values())
    assert float(loss) == pytest.approx(float(expected), rel=1e-4)
    counts = [said[False], len(wrong[False]), said[True], len(wrong[True])]
    assert seen.tolist() == counts
    assert min(counts[1], counts[3]) > 10


def test_a_step_reports_what_search_makes_of_the_tours():
    _, figures = stepped(replace(HEADED, nodes=15))
    assert figures["searched_cost"] < figures["cost"]
    assert figures["foresight_loss"] == 0


@pytest.mark.parametrize(
    ("phase", "learns"), [("exact", False), ("online", True), ("offline", False)]
)
def test_the_head_learns_online_and_never_otherwise(phase, learns):
    net, _ = stepped(HEADED, phase, frozen_head=network().eval())
    moved = [parameter.grad is not None for parameter in net.foresight.parameters()]
    assert all(moved) if learns else not any(moved)
    assert all(parameter.grad is not None for parameter in net.heuristic.parameters())


def test_the_heads_gradient_is_as_large_as_the_others_to_a_power_of_ten():
    """With the same tours and the other loss many times as large, it is as many times as large, in powers of ten."""
    config = replace(HEADED, nodes=15, hardness="medium")
    largest, totals = [], []
    for sharpness in (0.0, 500.0):
        net, figures = stepped(replace(config, sharpness=(sharpness, sharpness)), "online")
        largest.append(max(float(p.grad.abs().max()) for p in net.foresight.parameters()))
        totals.append((figures["loss"] + figures["searched_loss"]) / figures["foresight_loss"])
    powers = [10 ** math.floor(math.log10(total)) for total in totals]
    assert powers[1] >= 10 * powers[0]
    assert largest[1] / largest[0] == pytest.approx(powers[1] / powers[0], rel=1e-3)


def test_offline_without_a_frozen_head_is_our_own_mistake():
    with pytest.raises(AssertionError, match="frozen head"):
        stepped(HEADED, "offline")


@pytest.mark.parametrize("workers", [1, 3])
def test_the_search_keeps_the_limits_that_random_tours_break(workers):
    batch = draw(DISTRIBUTIONS["tsptw", "hard"], 8, 2, torch.Generator().manual_seed(3))
    random = np.random.default_rng(1)
    tours = np.array([[1 + random.permutation(7) for _ in range(3)] for _ in range(2)])
    before, after = (
        [
            isinstance(verify(instance, tour.tolist()), Solution)
            for instance, rows in zip(instances_in(batch), found_tours, strict=True)
            for tour in rows
        ]
        for found_tours in (tours, searched(batch, tours, 0, workers))
    )
    assert sum(before) < sum(after) == 6


def test_the_loss_is_the_formula_tour_by_tour():
    generator = torch.Generator().manual_seed(0)
    forward, cost = (torch.rand(3, 4, generator=generator) for _ in range(2))
    log_z = torch.rand(3, generator=generator)
    total = 0.0
    for b, p in itertools.product(range(3), range(4)):
        advantage = float(cost[b, p]) - sum(cost[b].tolist()) / 4
        total += (float(forward[b, p]) + float(log_z[b]) + 7.0 * advantage) ** 2
    found = balance_loss(forward, log_z, energy(cost), 7.0)
    assert float(found) == pytest.approx(total / 12, rel=1e-5)


def test_energies_are_mixed_by_credit():
    sampled, searched = torch.tensor([[1.0, 3.0]]), torch.tensor([[4.0, 0.0]])
    assert shared_energy(sampled, searched, 0.0).tolist() == [[-1.0, 1.0]]
    assert shared_energy(sampled, searched, 1.0).tolist() == [[2.0, -2.0]]
    assert shared_energy(sampled, searched, 0.75).tolist() == [[1.25, -1.25]]


def test_the_loss_vanishes_where_tours_are_sampled_as_they_deserve():
    """Three stops: the six tours' probabilities by their costs, and log Z their sum's logarithm."""
    cost = torch.tensor([[1.0, 1.2, 0.9, 2.0, 1.5, 1.1]])
    weight = -3.0 * energy(cost)
    log_z = weight.logsumexp(1)
    assert float(balance_loss(weight - log_z[:, None], log_z, energy(cost), 3.0)) < 1e-10
    uniform = torch.full((1, 6), -log(6))
    assert float(balance_loss(uniform, log_z, energy(cost), 3.0)) > 0.1


@pytest.mark.parametrize("problem", ["tsptw", "tspdl"])
def test_gradients_in_the_networks_weights_are_those_of_small_changes(problem):
    """Through the network, the ants' choices, log Z and the loss, tours and masks held fixed.

    In double precision, which the norms do not keep; they have tests of their own.
    """
    generator = torch.Generator().manual_seed(2)
    batch = draw(DISTRIBUTIONS[problem, "hard"], 7, 2, generator)
    noise = torch.rand(2, 3, 6, generator=generator)
    torch.manual_seed(1)
    network = HeatmapNetwork(HeatmapConfig(layers=2, width=4))
    for layer in network.layers:
        layer.node_norm = layer.edge_norm = torch.nn.Identity()
    guard = MaskConfig("ahead", AUTHORS)
    with torch.no_grad():
        heuristic = network(batch).log_heuristic()
    sampled = explore(batch, outlook_of(batch, guard, 3), log_weights(heuristic, power=0.8), noise)
    other = replay_tours(batch, outlook_of(batch, guard, 3), sampled.built.tours.flip(-1))
    cost = cost_to_ants(batch, sampled.built).double()
    wide, wide_batch = network.double(), each(batch, torch.Tensor.double)
    names = [name for name, _ in wide.named_parameters()]

    def loss(*weights):
        heatmap = torch.func.functional_call(
            wide, dict(zip(names, weights, strict=True)), (wide_batch,)
        )
        pull = heatmap.log_heuristic()
        first = sampled.log_probability(log_weights(pull, power=0.8))
        return balance_loss(first, heatmap.log_z[:, 0], energy(cost), 5.0) + balance_loss(
            other.log_probability(pull), heatmap.log_z[:, 1], energy(cost), 5.0
        )

    weights = tuple(parameter.detach().requires_grad_(True) for parameter in wide.parameters())
    assert torch.autograd.gradcheck(loss, weights, fast_mode=True, atol=1e-4, rtol=1e-3)
