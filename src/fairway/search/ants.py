"""Ants: tours sampled in proportion to pheromone times heuristic, and the pheromone that they leave for the next ones.

All ants of all instances go side by side, step by step, on any device. Pheromone and heuristic are looked up as one
row for each ant, so that a step holds nothing larger than ants times nodes.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from fairway.kernels.lookahead import Guard, Look, Outlook, none
from fairway.problems.batch import Batch, rows
from fairway.problems.problem import State
from fairway.search.decode import Noise, watch
from fairway.search.rollout import Rollout, Score, Select, inverse, rollout, violation_unit

DECAY = 0.9
"""The share of the pheromone that is left after an iteration."""

Doom = Callable[
    [Int[Tensor, "B S"], Int[Tensor, "B S"], Float[Tensor, "B S"]], Float[Tensor, "B S N"]
]
"""A PIP-D head: from the node before, the node and the level to scores that are positive for doomed candidates."""


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
    instances, nodes = batch.limit.shape
    return Pheromone(torch.ones(instances, nodes, nodes, device=batch.limit.device))


def log_weights(
    heuristic: Float[Tensor, "B N N"], pheromone: Pheromone | None = None, power: float = 1.0
) -> Float[Tensor, "B N N"]:
    """The logarithm of how strongly ants are drawn from row to column.

    Args:
        heuristic: Its logarithm.
        pheromone: What earlier ants left; as much everywhere by default.
        power: Of both, the inverse of the temperature.
    """
    if pheromone is not None:
        heuristic = heuristic + pheromone.amount.log()
    return power * heuristic


def cost_to_ants(batch: Batch, built: Rollout) -> Float[Tensor, "B P"]:
    """The Lagrangian cost: length, by how much limits are passed in the paper's units, and how many of them."""
    return built.length + built.excess / violation_unit(batch)[:, None] + built.broken


def construct(batch: Batch, look: Look, pull: Float[Tensor, "B N N"], noise: Noise) -> Rollout:
    """As many ants as the noise has rows, drawn as `log_weights` says, under a look-ahead."""
    return rollout(
        batch,
        look=look,
        score=_pulled(pull),
        select=inverse(noise, _as_numbered(batch)),
        tours=noise.shape[1],
    )


@dataclass(frozen=True, slots=True, eq=False)
class Trajectories:
    """Tours with all that their ants could have done instead. Every node is left once, so choices are kept by node."""

    built: Rollout
    levels: Float[Tensor, "B P M"]
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
def explore(batch: Batch, look: Look, pull: Float[Tensor, "B N N"], noise: Noise) -> Trajectories:
    """Forage, and keep what the ants could have done instead."""
    return _trodden(batch, look, _pulled(pull), inverse(noise, _as_numbered(batch)), noise.shape[1])


@torch.no_grad()
def replay_tours(batch: Batch, look: Look, tours: Int[Tensor, "B P M"]) -> Trajectories:
    """Go along given tours. A move of theirs counts as allowed whatever the look-ahead says."""
    return _trodden(batch, look, _indifferent, _along(tours), tours.shape[1])


def weigh(batch: Batch, tours: Int[Tensor, "B P M"]) -> Rollout:
    """How well given tours keep the limits, and nothing else of them."""
    return rollout(
        batch,
        look=none(batch),
        score=_indifferent,
        select=_along(tours),
        tours=tours.shape[1],
    )


def outlook_of(
    batch: Batch,
    guard: Guard,
    ants: int,
    near: Int[Tensor, "B N K"] | None = None,
    doom: Doom | None = None,
) -> Look:
    """The look-ahead of one rollout.

    Args:
        batch: The instances.
        guard: Which mask.
        ants: Of each instance.
        near: Neighbours of each node outside which candidates are not looked at, and so pass: the paper's sparse
            strategy, which saves nothing here, where a look at all of them costs no more.
        doom: What a learned guard asks.
    """
    if guard.kind == "learned":
        assert doom is not None, "a learned guard asks a head"
        look = _foretold(batch, doom)
    else:
        look = watch(batch, guard, ants)
    return look if near is None else _nearby(look, near)


def beyond(near: Int[Tensor, "B N K"]) -> Bool[Tensor, "B N N"]:
    """Which nodes are no neighbours of which."""
    instances, nodes, _ = near.shape
    far = torch.ones(instances, nodes, nodes, dtype=torch.bool, device=near.device)
    return far.scatter_(-1, near, False)


def _pulled(pull: Float[Tensor, "B N N"]) -> Score:
    return lambda state, outlook: pull[rows(state.node), state.node]


def _indifferent(state: State, outlook: Outlook) -> Float[Tensor, "B P N"]:
    return torch.zeros_like(outlook.level)


def _as_numbered(batch: Batch) -> Int[Tensor, "B N"]:
    instances, nodes = batch.limit.shape
    return torch.arange(nodes, device=batch.limit.device).expand(instances, nodes)


def _along(tours: Int[Tensor, "B P M"]) -> Select:
    steps: Iterator[Tensor] = iter(tours.unbind(-1))
    return lambda scores: next(steps)


def _trodden(batch: Batch, look: Look, score: Score, select: Select, ants: int) -> Trajectories:
    instances, nodes = batch.limit.shape
    device = batch.limit.device
    allowed = torch.zeros(instances, ants, nodes, nodes, dtype=torch.bool, device=device)
    levels = []

    def noted(state: State, outlook: Outlook) -> Float[Tensor, "B P N"]:
        here = state.node[..., None, None].expand(-1, -1, 1, nodes)
        allowed.scatter_(2, here, outlook.allowed[:, :, None])
        levels.append(state.level)
        return score(state, outlook)

    built = rollout(batch, look=look, score=noted, select=select, tours=ants)
    depot = torch.zeros_like(built.tours[..., :1])
    path = torch.cat([depot, built.tours], dim=-1)
    after = path.scatter(-1, path, torch.cat([built.tours, depot], dim=-1))
    allowed.scatter_(-1, after[..., None], True)
    return Trajectories(built, torch.stack(levels, dim=-1), allowed, after)


def _foretold(batch: Batch, doom: Doom) -> Look:
    """What a PIP-D head takes to be infeasible is not allowed. For one rollout: it remembers where ants came from."""
    free, before = none(batch), None

    def look(state: State) -> Outlook:
        nonlocal before
        outlook = free(state)
        came = state.node if before is None else before
        before = state.node
        doomed = doom(came, state.node, state.level) > 0
        return Outlook(outlook.level, outlook.bound, state.unvisited & ~doomed)

    return look


def _nearby(look: Look, near: Int[Tensor, "B N K"]) -> Look:
    """The same for candidates among the neighbours of where an ant stands; all others pass."""
    far = beyond(near)

    def some(state: State) -> Outlook:
        outlook = look(state)
        passing = far[rows(state.node), state.node]
        bound = torch.where(passing, torch.inf, outlook.bound)
        return Outlook(outlook.level, bound, outlook.allowed | (passing & state.unvisited))

    return some
