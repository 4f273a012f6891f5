"""Ants: tours sampled in proportion to pheromone times heuristic, and the pheromone that they leave for the next ones.

All ants of all instances go side by side, step by step, on any device. Pheromone and heuristic are looked up as one
row for each ant, so that a step holds nothing larger than ants times nodes.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from fairway.kernels.lookahead import Mask, MaskConfig, MaskFn, none
from fairway.problems.batch import Batch, rows
from fairway.problems.problem import State
from fairway.search.decode import Noise, foretold, relaxed, watch
from fairway.search.rollout import Rollout, Score, Select, inverse, rollout, violation_unit

DECAY = 0.9
"""The share of the pheromone that is left after an iteration."""

Doom = Callable[
    [Int[Tensor, "B S"], Int[Tensor, "B S"], Float[Tensor, "B S"]], Float[Tensor, "B S N"]
]
"""A PIP-D head: from the node before, the node and the resource to scores, positive for infeasible candidates."""


@dataclass(frozen=True, slots=True, eq=False)
class Pheromone:
    """What ants have left on the way from each node to each other; a new value after every iteration."""

    amount: Float[Tensor, "B N N"]

    def after(self, tours: Int[Tensor, "B P M"], cost: Float[Tensor, "B P"]) -> "Pheromone":
        """A part of it evaporates, and every ant leaves the inverse of its cost on both directions of its tour."""
        depot = torch.zeros_like(tours[..., :1])
        here, there = (torch.cat(ends, dim=-1) for ends in ((depot, tours), (tours, depot)))
        left = (1 / cost.double())[..., None].expand(here.shape)
        which = rows(here).expand(here.shape)
        # In float64 these are summed in a fixed order on every device, which float32 is not by several threads.
        amount = DECAY * self.amount.double()
        amount.index_put_((which, here, there), left, accumulate=True)
        amount.index_put_((which, there, here), left, accumulate=True)
        return Pheromone(amount.float())


def untouched(batch: Batch) -> Pheromone:
    """As much everywhere."""
    instances, nodes = batch.latest.shape
    return Pheromone(torch.ones(instances, nodes, nodes, device=batch.latest.device))


def log_weights(
    heuristic: Float[Tensor, "B N N"], pheromone: Pheromone | None = None, power: float = 1.0
) -> Float[Tensor, "B N N"]:
    """The logarithm of how strongly ants are drawn from row to column; the power is the inverse of the temperature."""
    if pheromone is not None:
        heuristic = heuristic + pheromone.amount.log()
    return power * heuristic


def cost_to_ants(batch: Batch, built: Rollout) -> Float[Tensor, "B P"]:
    """The Lagrangian cost: length, by how much limits are passed in the paper's units, and how many of them."""
    return built.length + built.excess / violation_unit(batch)[:, None] + built.broken


def construct(batch: Batch, look: MaskFn, pull: Float[Tensor, "B N N"], noise: Noise) -> Rollout:
    """As many ants as the noise has rows, drawn as `log_weights` says, under a look-ahead."""
    ants = noise.shape[1]
    return rollout(batch, look=look, score=_pulled(pull), select=_drawn(noise), tours=ants)


@dataclass(frozen=True, slots=True, eq=False)
class Trajectories:
    """Tours with all that their ants could have done instead. Every node is left once, so choices are kept by node."""

    built: Rollout
    resources: Float[Tensor, "B P M"]
    """With which each stop was chosen."""
    allowed: Bool[Tensor, "B P N N"]
    """From row to column; from the last stop only the way home, which is no choice."""
    next: Int[Tensor, "B P N"]
    """Where each node was left for."""

    def log_probability(self, pull: Float[Tensor, "B N N"]) -> Float[Tensor, "B P"]:
        """Of choosing these tours under such a pull; gradients flow into it."""
        chosen = pull[:, None].expand(self.allowed.shape).gather(-1, self.next[..., None])[..., 0]
        among = pull[:, None].masked_fill(~self.allowed, -torch.inf).logsumexp(-1)
        return (chosen - among).sum(-1)


@torch.no_grad()
def explore(batch: Batch, look: MaskFn, pull: Float[Tensor, "B N N"], noise: Noise) -> Trajectories:
    """Forage, and keep what the ants could have done instead."""
    return _trodden(batch, look, _pulled(pull), _drawn(noise), noise.shape[1])


@torch.no_grad()
def replay_tours(batch: Batch, look: MaskFn, tours: Int[Tensor, "B P M"]) -> Trajectories:
    """Go along given tours. A move of theirs counts as allowed whatever the look-ahead says."""
    return _trodden(batch, look, _indifferent, _along(tours), tours.shape[1])


def weigh(batch: Batch, tours: Int[Tensor, "B P M"]) -> Rollout:
    """How well given tours keep the limits, and nothing else of them."""
    ants = tours.shape[1]
    return rollout(batch, look=none(batch), score=_indifferent, select=_along(tours), tours=ants)


def outlook_of(
    batch: Batch,
    guard: MaskConfig,
    ants: int,
    near: Int[Tensor, "B N K"] | None = None,
    doom: Doom | None = None,
) -> MaskFn:
    """The look-ahead of one rollout; what a learned guard asks is `doom`.

    Where neighbours are given, candidates outside them are not looked at, and so pass: the paper's sparse strategy,
    which saves nothing here, where a look at all of them costs no more.
    """
    if guard.kind == "learned":
        assert doom is not None, "a learned guard asks a head"
        look = foretold(batch, _remembering(doom))
    else:
        look = watch(batch, guard, ants)
    if near is None:
        return look
    far = beyond(near)
    return relaxed(look, lambda state: far[rows(state.node), state.node])


def beyond(near: Int[Tensor, "B N K"]) -> Bool[Tensor, "B N N"]:
    """Which nodes are no neighbours of which."""
    instances, nodes, _ = near.shape
    far = torch.ones(instances, nodes, nodes, dtype=torch.bool, device=near.device)
    return far.scatter_(-1, near, False)


def _pulled(pull: Float[Tensor, "B N N"]) -> Score:
    return lambda state, mask: pull[rows(state.node), state.node]


def _indifferent(state: State, mask: Mask) -> Float[Tensor, "B P N"]:
    return torch.zeros_like(mask.resource)


def _drawn(noise: Noise) -> Select:
    """By chance, candidates in the order of their numbers."""
    nodes = noise.shape[-1] + 1
    return inverse(noise, torch.arange(nodes, device=noise.device).expand(len(noise), nodes))


def _along(tours: Int[Tensor, "B P M"]) -> Select:
    steps: Iterator[Tensor] = iter(tours.unbind(-1))
    return lambda scores: next(steps)


def _trodden(batch: Batch, look: MaskFn, score: Score, select: Select, ants: int) -> Trajectories:
    instances, nodes = batch.latest.shape
    device = batch.latest.device
    allowed = torch.zeros(instances, ants, nodes, nodes, dtype=torch.bool, device=device)
    resources = []

    def noted(state: State, mask: Mask) -> Float[Tensor, "B P N"]:
        here = state.node[..., None, None].expand(-1, -1, 1, nodes)
        allowed.scatter_(2, here, mask.allowed[:, :, None])
        resources.append(state.resource)
        return score(state, mask)

    built = rollout(batch, look=look, score=noted, select=select, tours=ants)
    depot = torch.zeros_like(built.tours[..., :1])
    path = torch.cat([depot, built.tours], dim=-1)
    after = path.scatter(-1, path, torch.cat([built.tours, depot], dim=-1))
    allowed.scatter_(-1, after[..., None], True)
    return Trajectories(built, torch.stack(resources, dim=-1), allowed, after)


def _remembering(doom: Doom) -> Callable[[State], Bool[Tensor, "B S N"]]:
    """What a PIP-D head takes to be infeasible. For one rollout: it remembers where ants came from."""
    before = None

    def infeasible(state: State) -> Bool[Tensor, "B S N"]:
        nonlocal before
        came = state.node if before is None else before
        before = state.node
        return doom(came, state.node, state.resource) > 0

    return infeasible
