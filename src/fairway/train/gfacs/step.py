"""One step of learning from ants: sample tours, search around them, and leave the gradient of both in the network.

Trajectory balance: tours should be sampled in proportion to exp(-sharpness x cost), whoever proposed them. A tour from
the depot in its direction is built in one way only, so that the probability of having built it so, given the tour, is
one. The authors' constant for it, log 2, is left to log Z, which takes it up.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor

from fairway.kernels.lookahead import MaskConfig, MaskFn
from fairway.kernels.moves.search_model import search_model_of
from fairway.policies.heatmap import Heatmap, HeatmapNetwork, neighbours
from fairway.problems.batch import Batch, instances_in, rows
from fairway.problems.draw import draw
from fairway.problems.model import model_of
from fairway.search.ants import (
    Trajectories,
    beyond,
    cost_to_ants,
    explore,
    log_weights,
    outlook_of,
    replay_tours,
)
from fairway.search.polish import polish, side_by_side
from fairway.train.config import ColonyConfig
from fairway.train.losses import foresight_loss
from fairway.train.recorded import Recordings
from fairway.train.schedule import Tempo
from fairway.train.step import Phase, rightly_judged, targets, tour_figures

FIGURES = (
    "loss", "cost", "length", "excess", "broken", "dead_ends", "sol_infeasible", "inst_infeasible",
    "searched_loss", "searched_cost",
    "foresight_loss", "doomed_found", "doomed", "sound_found", "sound",
)  # fmt: skip
"""What a step reports: means over its tours, those of the locally searched ones, and what the PIP-D head said."""


@dataclass(frozen=True, slots=True, eq=False)
class Colony:
    """Whom a step asks and moves."""

    policy: HeatmapNetwork
    frozen_head: HeatmapNetwork | None = None
    """Whose forecast masks offline."""
    workers: int = 1
    """Threads of the local search."""
    recordings: Recordings = field(default_factory=Recordings)
    """Of the rollouts, where the device has such."""


def learn(
    config: ColonyConfig, colony: Colony, phase: Phase, tempo: Tempo, generator: Generator
) -> Float[Tensor, " F"]:
    """Add the gradient of one batch to the network's, and return the figures."""
    batch = draw(config.distribution, config.nodes, config.batch, generator)
    shape = (config.batch, config.ants, config.nodes - 1)
    noise = torch.rand(shape, generator=generator, device=generator.device)
    heatmap = colony.policy(batch)
    heuristic = heatmap.log_heuristic()
    pull = log_weights(heuristic, power=tempo.power)
    walked = partial(_walked, config, colony, phase)
    sampled = walked(explore, batch, pull.detach(), noise)
    chance = int(torch.randint(2**31, (), generator=generator, device=generator.device))
    tours = searched(batch, sampled.built.tours.cpu().numpy(), chance, colony.workers)
    there = torch.from_numpy(tours).to(batch.latest.device)
    bettered = walked(replay_tours, batch, there)
    cost, better = (cost_to_ants(batch, each.built) for each in (sampled, bettered))
    energies = shared_energy(cost, better, tempo.credit)
    first = balance_loss(
        sampled.log_probability(pull), heatmap.log_z[:, 0], energies, tempo.sharpness
    )
    second = balance_loss(
        bettered.log_probability(heuristic), heatmap.log_z[:, 1], energy(better), tempo.sharpness
    )
    head, seen = cost.new_zeros(()), cost.new_zeros(4)
    if phase == "online":
        head, seen = head_loss(config, colony.policy, heatmap, batch, sampled)
    (first + second + head * _as_large(head, first + second)).backward()
    sampled_figures = (first.detach(), cost.mean(), *tour_figures(sampled.built))
    return torch.stack([*sampled_figures, second.detach(), better.mean(), head.detach(), *seen])


def searched(
    batch: Batch, tours: Int[np.ndarray, "B P M"], seed: int, workers: int
) -> Int[np.ndarray, "B P M"]:
    """What a local search makes of every tour, by so many threads."""
    models = map(model_of, instances_in(batch))
    search_models = side_by_side(search_model_of, list(models), workers)
    return polish(search_models, tours, seed=seed, workers=workers)


def energy(cost: Float[Tensor, "B P"]) -> Float[Tensor, "B P"]:
    """What tours cost beyond the mean of their instance; no gradient flows."""
    return (cost - cost.mean(1, keepdim=True)).detach()


def shared_energy(
    sampled: Float[Tensor, "B P"], searched: Float[Tensor, "B P"], credit: float
) -> Float[Tensor, "B P"]:
    """The energy of tours as sampled, in part judged by what local search made of each."""
    return credit * energy(searched) + (1 - credit) * energy(sampled)


def balance_loss(
    log_forward: Float[Tensor, "B P"],
    log_z: Float[Tensor, " B"],
    energies: Float[Tensor, "B P"],
    sharpness: float,
) -> Float[Tensor, ""]:
    """By how much the flow into tours differs from what they deserve, squared, over all tours."""
    return (log_forward + log_z[:, None] + sharpness * energies).square().mean()


def _walked(
    config: ColonyConfig,
    colony: Colony,
    phase: Phase,
    way: Callable[..., Trajectories],
    batch: Batch,
    *given: Tensor,
) -> Trajectories:
    """Tours by `explore` or `replay_tours`, under what masks the ants; recorded where that is quicker."""

    def work(batch: Batch, *given: Tensor) -> Trajectories:
        return way(batch, _look(config, colony, phase, batch), *given)

    return colony.recordings.play((way, phase, config), work, batch, *given)


@torch.no_grad()
def _look(config: ColonyConfig, colony: Colony, phase: Phase, batch: Batch) -> MaskFn:
    """What masks the ants of one rollout."""
    graph = config.policy
    near = neighbours(batch, graph.graph, graph.share) if config.sparse else None
    if phase != "offline":
        return outlook_of(batch, config.guard, config.ants, near)
    assert colony.frozen_head is not None, "offline, a frozen head masks"
    doom = colony.frozen_head.forecast(colony.frozen_head(batch), batch)
    return outlook_of(batch, MaskConfig("learned"), config.ants, near, doom)


def head_loss(
    config: ColonyConfig,
    policy: HeatmapNetwork,
    heatmap: Heatmap,
    batch: Batch,
    sampled: Trajectories,
) -> tuple[Float[Tensor, ""], Float[Tensor, " 4"]]:
    """The PIP-D head's loss on every choice that was one, and how many candidates it judged rightly."""
    assert config.foresight is not None, "only PIP-D has a head"
    some = slice(config.foresight.tours)
    tours, resources = sampled.built.tours[:, some], sampled.resources[:, some]
    states, asked, unsafe = targets(batch, config.guard, tours, resources)
    if config.sparse:
        near = ~beyond(heatmap.neighbours)[rows(states.node), states.node]
        near = near.view(*tours.shape, -1)[:, :, :-1]
        asked, unsafe = asked & near, unsafe & near
    here = states.node.view(tours.shape)
    before = torch.cat([here[..., :1], here[..., :-1]], dim=-1).flatten(1)
    score = policy.forecast(heatmap, batch)(before, states.node, states.resource)
    # All steps of all ants are balanced together.
    score = score.view(*tours.shape, -1)[:, :, :-1]
    asked, unsafe, score = (part.flatten(1, 2)[:, :, None] for part in (asked, unsafe, score))
    counts = (unsafe.sum()[None], (asked & ~unsafe).sum()[None])
    return foresight_loss(score, unsafe, asked, counts), rightly_judged(score, unsafe, asked)


def _as_large(head: Float[Tensor, ""], balance: Float[Tensor, ""]) -> Float[Tensor, ""]:
    """The power of ten that brings the head's loss to the magnitude of the other, as in the authors' code."""
    ratio = balance.detach() / head.detach().clamp(min=1e-12)
    return torch.where(head.detach() > 0, 10 ** ratio.log10().floor(), 0.0)
