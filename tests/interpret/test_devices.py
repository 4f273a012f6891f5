"""What runs on a GPU besides the Triton kernels: the same tours as on a CPU, and no waiting between steps."""

import math
import warnings
from dataclasses import replace

import pytest
import torch

from fairway.inference.config import DecodeConfig
from fairway.inference.model import Model
from fairway.inference.proposals import propose
from fairway.kernels.lookahead import AUTHORS, PAIRS, MaskConfig
from fairway.policies.attention import Policy
from fairway.policies.config import POMO, HeatmapConfig
from fairway.policies.heatmap import HeatmapNetwork
from fairway.problems.batch import moved
from fairway.problems.draw import draw
from fairway.problems.generate import DISTRIBUTIONS, generate
from fairway.recipes import recipe_named
from fairway.search.ants import construct, cost_to_ants, log_weights, outlook_of, untouched
from fairway.train.gfacs.step import Colony, learn
from fairway.train.loop import Budget, train
from fairway.train.processes import DistContext
from fairway.train.recorded import Recordings
from fairway.train.run import begin
from fairway.train.schedule import tempo_at

pytestmark = pytest.mark.cuda
ALIKE = 0.9
"""The share of tours that must be equal; rounding may turn the choices of the others."""


def drawn(nodes, count=2):
    return draw(DISTRIBUTIONS["tsptw", "medium"], nodes, count, torch.Generator().manual_seed(4))


@pytest.mark.parametrize("nodes", [50, 200, 500])
def test_heatmaps_are_the_same(nodes):
    torch.manual_seed(1)
    network, batch = HeatmapNetwork(HeatmapConfig(layers=3)).eval(), drawn(nodes)
    with torch.no_grad():
        here = network(batch)
        there = network.cuda()(moved(batch, "cuda"))
    assert torch.equal(here.neighbours, there.neighbours.cpu())
    assert torch.allclose(here.glow, there.glow.cpu(), atol=1e-3)
    assert torch.allclose(here.log_z, there.log_z.cpu(), atol=1e-3)


@pytest.mark.parametrize(
    "guard", [MaskConfig("none"), MaskConfig("ahead", AUTHORS)], ids=["free", "masked"]
)
@pytest.mark.parametrize("nodes", [50, 200, 500])
def test_ants_go_the_same_ways_and_leave_the_same(nodes, guard):
    batch, generator = drawn(nodes), torch.Generator().manual_seed(9)
    pull = torch.randn(2, nodes, nodes, generator=generator)
    noise = torch.rand(2, 6, nodes - 1, generator=generator)
    left = []
    for device in ("cpu", "cuda"):
        there = moved(batch, device)
        look = outlook_of(there, guard, 6)
        built = construct(there, look, log_weights(pull.to(device)), noise.to(device))
        cost = cost_to_ants(there, built)
        left.append((built.tours.cpu(), untouched(there).after(built.tours, cost).amount.cpu()))
    (tours, amount), (others, other) = left
    same = (tours == others).all(-1)
    assert same.float().mean() >= ALIKE
    if same.all():
        assert torch.allclose(amount, other, rtol=1e-4)


def test_no_step_of_an_ant_waits_for_the_gpu():
    batch = moved(drawn(50), "cuda")
    pull, noise = torch.zeros(2, 50, 50, device="cuda"), torch.rand(2, 6, 49, device="cuda")
    guard = MaskConfig("ahead", AUTHORS)
    construct(batch, outlook_of(batch, guard, 6), pull, noise)  # kernels are compiled now
    look = outlook_of(batch, guard, 6)
    torch.cuda.synchronize()
    # The mode itself warns that it sees most waits and not all.
    with warnings.catch_warnings(action="ignore"):
        torch.cuda.set_sync_debug_mode("error")
    try:
        construct(batch, look, pull, noise)
    finally:
        torch.cuda.set_sync_debug_mode("default")


@pytest.mark.parametrize(
    "mode",
    [DecodeConfig(), DecodeConfig("beam", width=4), DecodeConfig("sample", samples=3)],
    ids=str,
)
@pytest.mark.parametrize("guard", [MaskConfig(), MaskConfig(rule=PAIRS)], ids=["one step", "pairs"])
def test_policies_propose_the_same_tours(mode, guard):
    """Under pairs greedy tours have backtracking, and an untrained policy needs them."""
    torch.manual_seed(5)
    policy = Policy(replace(POMO, layers=2, facts=8)).eval().requires_grad_(False)
    instances = generate("tsptw", n=40, hardness="hard", count=12, seed=3)
    here = propose(Model(policy, "small", "tsptw", guard, {}), instances, mode)
    there = propose(Model(policy.cuda(), "small", "tsptw", guard, {}), instances, mode)
    assert (here == there).all(-1).mean() >= ALIKE


@pytest.mark.parametrize("model", ["gfacs-star", "gfacs-star-pip", "gfacs-star-pip-d"])
def test_colonies_learn_on_a_gpu(model):
    config = replace(recipe_named(f"{model}-tsptw20-medium"), batch=2, epoch=2, epochs=4)
    run = begin(config, torch.device("cuda"))
    for record in train(run, Budget(), DistContext(), every=0):
        assert all(math.isfinite(figure) for figure in record.figures.values())
    assert run.step == 4


@pytest.mark.parametrize("phase", ["exact", "online", "offline"])
@pytest.mark.parametrize("variant", ["", "-sparse"])
def test_recorded_steps_are_those_that_just_run(phase, variant):
    """On batches that were not there when the rollouts were recorded."""
    config = replace(recipe_named(f"gfacs-star-pip-d{variant}-tsptw20-medium"), batch=2)
    generator, figures = torch.Generator("cuda"), []
    for recordings in (Recordings(), Running()):
        run = begin(config, torch.device("cuda"))
        colony = Colony(run.policy, run.frozen_head, recordings=recordings)
        for seed in (1, 2, 3):
            generator.manual_seed(seed)
            figures.append(learn(config, colony, phase, tempo_at(config, 0.0), generator))
    recorded, plain = figures[:3], figures[3:]
    assert not torch.equal(recorded[1], recorded[2])
    for one, other in zip(recorded, plain, strict=True):
        assert torch.allclose(one, other, rtol=1e-5)


class Running(Recordings):
    """Nothing is recorded."""

    def play(self, kind, work, batch, *given):
        return work(batch, *given)
