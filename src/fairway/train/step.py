"""One step of learning: draw instances, build tours, weigh them, and leave the gradient in the parameters."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Bool, Float, Int
from torch import Generator, Tensor

from fairway.kernels.lookahead import MaskConfig, ahead
from fairway.kernels.pointer.unmasked import open_scores
from fairway.policies.attention import Policy
from fairway.problems.batch import Batch, take
from fairway.problems.draw import draw
from fairway.problems.problem import State
from fairway.search.decode import Decoded, build, decode, states_along
from fairway.search.rollout import Rollout, violation_unit
from fairway.train.config import TrainConfig
from fairway.train.losses import (
    foresight_loss,
    infeasible,
    lagrangian,
    preference,
    reinforce,
    shared_baseline,
)
from fairway.train.processes import DistContext

Phase = Literal["exact", "warm", "online", "offline"]
"""The guard alone; the same with AM's baseline still warming up; the guard and a PIP-D head that learns from it; a
frozen copy of such a head as the guard."""

FORGETS = 0.2
"""The share of the newest batch in the baseline that AM warms up with."""

FIGURES = (
    "loss", "cost", "length", "excess", "broken", "dead_ends", "sol_infeasible", "inst_infeasible",
    "foresight_loss", "doomed_found", "doomed", "sound_found", "sound",
)  # fmt: skip
"""What a step reports: means over its tours, infeasible ones in percent; then what its PIP-D head said of how many
candidates."""


@dataclass(frozen=True, slots=True, eq=False)
class Networks:
    """Everything that a step reads or moves: the policy, whom it is compared with, and whose forecast it trusts."""

    policy: Policy
    encode: Callable[..., Float[Tensor, "B N D"]]
    """The policy's encoder, compiled or not."""
    moving: Float[Tensor, ""]
    """The exponential mean of what tours cost; NaN before the first batch."""
    baseline: Policy | None = None
    frozen_head: Policy | None = None


def learn(
    config: TrainConfig, networks: Networks, phase: Phase, generator: Generator, world: DistContext
) -> Float[Tensor, " F"]:
    """Add the gradient of one batch to the policy's, and return the figures.

    Every process draws the whole batch and keeps its share, so that a run does not depend on how many there are.
    """
    whole = draw(config.distribution, config.nodes, config.batch, generator)
    steps = (config.batch, config.tours, config.nodes - 1)
    noise = torch.rand(steps, generator=generator, device=generator.device)
    mine = slice(world.rank, None, world.size)
    batch, noise = take(whole, mine), noise[mine]
    with in_half(config, batch):
        nodes = networks.encode(*networks.policy.read(batch))
        pointer = networks.policy.point(nodes, batch)
        frozen_head = None
        if phase == "offline":
            assert networks.frozen_head is not None, "offline, a frozen head masks"
            with torch.no_grad():
                frozen_head = networks.frozen_head.foresee(
                    networks.frozen_head.encode(batch), batch
                )
    guard = MaskConfig("learned") if phase == "offline" else config.guard
    decoded = decode(batch, pointer, guard, noise, frozen_head, starts=config.starts)
    loss, cost = policy_loss(config, networks, phase, batch, decoded, world)
    head, seen = nodes.new_zeros(()), nodes.new_zeros(4)
    if phase == "online":
        head, seen = head_loss(config, networks.policy, nodes, batch, decoded, world)
    (loss + head).backward()
    told = (loss.detach(), cost.float().mean(), *tour_figures(decoded.rollout), head.detach())
    return torch.cat([torch.stack(told), seen])


def in_half(config: TrainConfig, batch: Batch) -> AbstractContextManager[object]:
    """Matrix products in bf16 where there is a GPU and the config does not forbid it."""
    if config.half and batch.latest.is_cuda:
        return torch.autocast("cuda", torch.bfloat16)
    return nullcontext()


def policy_loss(
    config: TrainConfig,
    networks: Networks,
    phase: Phase,
    batch: Batch,
    decoded: Decoded,
    world: DistContext,
) -> tuple[Float[Tensor, ""], Float[Tensor, "B P"]]:
    """The loss of the routing policy, and what its tours cost; without penalties only feasible tours count."""
    built = decoded.rollout
    cost = cost_of(config, batch, built)
    if config.preference:
        return preference(decoded.log_probability, cost.detach(), config.preference), cost
    plain = config.objective.penalty is None
    counts = ~infeasible(built) if plain else torch.ones_like(built.broken, dtype=torch.bool)
    if config.baseline == "shared":
        expected = shared_baseline(cost, counts)
    elif phase == "warm":
        expected = _warming(networks.moving, cost, world).expand(len(cost), 1)
    else:
        assert networks.baseline is not None, "a greedy baseline is a policy"
        expected = greedy_costs(config, networks.baseline, batch)
    advantage = torch.where(counts, cost - expected, 0.0)
    return reinforce(decoded.log_probability, advantage), cost


def cost_of(config: TrainConfig, batch: Batch, built: Rollout) -> Float[Tensor, "B P"]:
    """What tours cost a policy: with the Lagrangian's penalties, or their length alone."""
    if config.objective.penalty is None:
        return built.length
    return lagrangian(built, violation_unit(batch), config.objective)


def _warming(
    moving: Float[Tensor, ""], cost: Float[Tensor, "B P"], world: DistContext
) -> Float[Tensor, ""]:
    """Move the exponential mean towards this batch, and return it."""
    mean = world.total(cost.mean()) / world.size
    moving.copy_(torch.where(moving.isnan(), mean, moving.lerp(mean, FORGETS)))
    return moving


@torch.no_grad()
def greedy_costs(config: TrainConfig, policy: Policy, batch: Batch) -> Float[Tensor, "B 1"]:
    """What a policy's greedy tours cost."""
    with in_half(config, batch):
        pointer = policy(batch)
    return cost_of(config, batch, build(batch, pointer, config.guard))


def head_loss(
    config: TrainConfig,
    policy: Policy,
    nodes: Float[Tensor, "B N D"],
    batch: Batch,
    decoded: Decoded,
    world: DistContext,
) -> tuple[Float[Tensor, ""], Float[Tensor, " 4"]]:
    """The PIP-D head's loss on every choice that was one, and how many candidates it judged rightly."""
    assert config.foresight is not None, "only PIP-D has a head"
    some = slice(config.foresight.tours)
    tours, resources = decoded.rollout.tours[:, some], decoded.resources[:, some]
    states, asked, unsafe = targets(batch, config.guard, tours, resources)
    with in_half(config, batch):
        foreseen = policy.foresee(nodes, batch)
    score = open_scores(foreseen, states.node, states.resource)
    score = score.view(*tours.shape, -1)[:, :, :-1]
    if config.policy.backbone == "am":  # whose authors balance all steps of a batch together
        score, unsafe, asked = (
            tensor.flatten(1, 2)[:, :, None] for tensor in (score, unsafe, asked)
        )
    counts = world.total(torch.stack([unsafe.sum((0, 1, 3)), (asked & ~unsafe).sum((0, 1, 3))]))
    # The mean over processes must be the sum over instances, whose weights are those of all processes.
    loss = world.size * foresight_loss(score, unsafe, asked, (counts[0], counts[1]))
    return loss, rightly_judged(score, unsafe, asked)


def targets(
    batch: Batch, guard: MaskConfig, tours: Int[Tensor, "B P M"], resources: Float[Tensor, "B P M"]
) -> tuple[State, Bool[Tensor, "B P C N"], Bool[Tensor, "B P C N"]]:
    """What a PIP-D head is asked along tours: states, and at all but the last, which candidates, which infeasible."""
    nodes = batch.latest.shape[1]
    states = states_along(tours, resources, nodes)
    allowed = ahead(batch, guard.rule)(states).allowed
    asked, allowed = (
        part.view(*tours.shape, nodes)[:, :, :-1] for part in (states.unvisited, allowed)
    )
    return states, asked, asked & ~allowed


@torch.no_grad()
def rightly_judged(
    score: Float[Tensor, "B P M N"], unsafe: Bool[Tensor, "B P M N"], asked: Bool[Tensor, "B P M N"]
) -> Float[Tensor, " 4"]:
    """How many infeasible candidates a head found, of how many; and how many feasible ones it let pass, of how many."""
    said, sound = score > 0, asked & ~unsafe
    parts = [unsafe & said, unsafe, sound & ~said, sound]
    return torch.stack([part.sum() for part in parts]).float()


def tour_figures(built: Rollout) -> list[Float[Tensor, ""]]:
    """From the length to the instances none of whose tours is feasible, as `FIGURES` has them."""
    fails = infeasible(built)
    means = [built.length, built.excess, built.broken, built.dead_ends]
    shares = [100.0 * share.float().mean() for share in (fails, fails.all(1))]
    return [*(mean.float().mean() for mean in means), *shares]
