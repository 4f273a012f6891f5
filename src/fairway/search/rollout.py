"""The one construction loop: greedy rules and learned policies, masked or not, all build their tours here."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from fairway.kernels.lookahead import MaskFn
from fairway.kernels.lookahead.config import Mask
from fairway.kernels.pointer.reference import WITHIN
from fairway.problems.batch import Batch, rows
from fairway.problems.problem import State, start, step

Score = Callable[[State, Mask], Float[Tensor, "B P N"]]
"""How good each candidate is: log-probabilities up to a constant, from a policy bound to its batch.

What the mask allows is what may be chosen: all unvisited nodes where the look-ahead left none.
"""
Select = Callable[[Float[Tensor, "B P N"]], Int[Tensor, "B P"]]
"""From log-probabilities up to a constant, minus infinity where a node is not allowed, to a choice for each tour."""

Pause = Callable[[float], None]
"""Called between two pieces of work with the part of it that is done; to end it, it raises."""


@dataclass(frozen=True, slots=True, eq=False)
class Rollout:
    """P finished tours of each instance, and how well they keep the limits."""

    tours: Int[Tensor, "B P M"]
    length: Float[Tensor, "B P"]
    """Of the closed tour, in normalised units."""
    excess: Float[Tensor, "B P"]
    """By how much all limits are passed together."""
    worst: Float[Tensor, "B P"]
    """By how much a limit is passed at most; not above zero where all are kept."""
    broken: Int[Tensor, "B P"]
    """How many limits are passed."""
    dead_ends: Int[Tensor, "B P"]
    """How many steps left nothing allowed and fell back to all unvisited nodes."""


def rollout(batch: Batch, *, look: MaskFn, score: Score, select: Select, tours: int = 1) -> Rollout:
    """Build `tours` tours of every instance, stop by stop.

    The number of steps is known, and nothing is read back between them, so that on a GPU the steps queue up.
    A tour without an allowed candidate goes on among all unvisited nodes, and the judge will refuse it.
    """
    state = start(batch, tours)
    actions, resources, dead = [], [], []
    for _ in range(batch.latest.shape[1] - 1):
        mask = look(state)
        dead.append(mask.dead)
        allowed = mask.allowed | (dead[-1][..., None] & state.unvisited)
        mask = Mask(mask.resource, mask.bound, allowed)
        action = select(torch.where(mask.allowed, score(state, mask), -torch.inf))
        state = step(batch, state, action)
        actions.append(action)
        resources.append(state.resource)
    dead_ends = torch.stack(dead, dim=-1).sum(-1)
    return weighed(batch, torch.stack(actions, dim=-1), torch.stack(resources, dim=-1), dead_ends)


def paused(look: MaskFn, batch: Batch, pause: Pause) -> MaskFn:
    """The same look-ahead, with a pause before each step of the one rollout or beam it is for."""
    steps = itertools.count()

    def after_a_pause(state: State) -> Mask:
        pause(next(steps) / batch.latest.shape[1])
        return look(state)

    return after_a_pause


def greedy(scores: Float[Tensor, "B P N"]) -> Int[Tensor, "B P"]:
    """The best candidate, the lowest number on ties."""
    return scores.argmax(-1)


def inverse(noise: Float[Tensor, "B P M"], order: Int[Tensor, "B N"]) -> Select:
    """Candidates in proportion to the exponential of their scores, each where its number of noise falls; one rollout.

    The order in which candidates share out the numbers is given, since equal noise must choose equal tours everywhere.
    """
    steps = iter(noise.unbind(-1))
    wide = order[:, None, :].expand(-1, noise.shape[1], -1)

    def sample(scores: Float[Tensor, "B P N"]) -> Int[Tensor, "B P"]:
        likely = (scores - scores.amax(-1, keepdim=True)).exp().gather(-1, wide)
        reached = likely.cumsum(-1) > (next(steps) * likely.sum(-1) * WITHIN)[..., None]
        rank = (reached & (likely > 0)).int().argmax(-1, keepdim=True)
        return wide.gather(-1, rank)[..., 0]

    return sample


def weighed(
    batch: Batch,
    stops: Int[Tensor, "B P M"],
    resources: Float[Tensor, "B P M"],
    dead_ends: Int[Tensor, "B P"],
) -> Rollout:
    """What tours amount to that reach their stops with such resources."""
    over = resources - batch.latest[rows(stops), stops]
    return Rollout(
        tours=stops,
        length=closed_length(batch, stops),
        excess=over.clamp(min=0).sum(-1),
        worst=over.amax(-1),
        broken=(over > 0).sum(-1),
        dead_ends=dead_ends,
    )


def closed_length(batch: Batch, stops: Int[Tensor, "B P M"]) -> Float[Tensor, "B P"]:
    """The length of tours from the depot back to the depot."""
    depot = torch.zeros_like(stops[..., :1])
    path = torch.cat([depot, stops, depot], dim=-1)
    return batch.travel(path[..., :-1], path[..., 1:]).sum(-1)


def violation_unit(batch: Batch) -> Float[Tensor, " B"]:
    """In which the paper measures how far limits are passed: normalised time, or shares of the total load."""
    return batch.horizon if batch.by_set else batch.unit
