import itertools
from math import log

import pytest
import torch

from fairway.kernels.lookahead import AUTHORS, Guard
from fairway.policies.config import HeatmapConfig
from fairway.policies.heatmap import HeatmapNetwork
from fairway.problems.batch import each
from fairway.problems.draw import draw
from fairway.problems.generate import LAWS
from fairway.search.ants import cost_to_ants, drawn_to, explore, outlook_of, retrace
from fairway.train.gfacs.balance import balance_loss, energy, shared_energy


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
    batch = draw(LAWS[problem, "hard"], 7, 2, generator)
    noise = torch.rand(2, 3, 6, generator=generator)
    torch.manual_seed(1)
    network = HeatmapNetwork(HeatmapConfig(layers=2, width=4))
    for layer in network.layers:
        layer.node_norm = layer.edge_norm = torch.nn.Identity()
    guard = Guard("ahead", AUTHORS)
    with torch.no_grad():
        heuristic = network(batch).log_heuristic()
    sampled = explore(batch, outlook_of(batch, guard, 3), drawn_to(heuristic, power=0.8), noise)
    other = retrace(batch, outlook_of(batch, guard, 3), sampled.built.tours.flip(-1))
    cost = cost_to_ants(batch, sampled.built).double()
    wide, wide_batch = network.double(), each(batch, torch.Tensor.double)
    names = [name for name, _ in wide.named_parameters()]

    def loss(*weights):
        heatmap = torch.func.functional_call(
            wide, dict(zip(names, weights, strict=True)), (wide_batch,)
        )
        pull = heatmap.log_heuristic()
        first = sampled.log_probability(drawn_to(pull, power=0.8))
        return balance_loss(first, heatmap.log_z[:, 0], energy(cost), 5.0) + balance_loss(
            other.log_probability(pull), heatmap.log_z[:, 1], energy(cost), 5.0
        )

    weights = tuple(parameter.detach().requires_grad_(True) for parameter in wide.parameters())
    assert torch.autograd.gradcheck(loss, weights, fast_mode=True, atol=1e-4, rtol=1e-3)
