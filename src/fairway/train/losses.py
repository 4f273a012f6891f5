"""What training minimises: pure functions of rollouts and their log-probabilities."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from fairway.kernels.lookahead.config import TOLERANCE
from fairway.search.rollout import Rollout


@dataclass(frozen=True, slots=True)
class Objective:
    """What a tour costs a policy."""

    penalty: float | None = 1.0
    """The Lagrangian multiplier of how far limits are passed; None for the plain objective, without penalties."""
    count: bool = True
    """Whether the number of limits passed is penalised too (the paper's J_IN)."""


def infeasible(rollout: Rollout) -> Bool[Tensor, "B P"]:
    """The tours that pass a limit by more than float32 sums may."""
    return rollout.worst > TOLERANCE


def lagrangian(
    rollout: Rollout, resource_unit: Float[Tensor, " B"], objective: Objective
) -> Float[Tensor, "B P"]:
    """Length + lambda (violation + number of limits passed), violations in the paper's units."""
    assert objective.penalty is not None, "a plain objective has no penalties"
    passed = rollout.excess / resource_unit[:, None]
    if objective.count:
        passed = passed + rollout.broken
    return rollout.length + objective.penalty * passed


def reinforce(
    log_probability: Float[Tensor, "B P"], advantage: Float[Tensor, "B P"]
) -> Float[Tensor, ""]:
    """Tours that cost more than was expected of them become less likely."""
    return (advantage.detach() * log_probability).mean()


def shared_baseline(
    cost: Float[Tensor, "B P"], counts: Bool[Tensor, "B P"]
) -> Float[Tensor, "B 1"]:
    """The mean cost of an instance's own tours (POMO), of those that count."""
    many = counts.sum(1, keepdim=True).clamp(min=1)
    return torch.where(counts, cost, 0.0).sum(1, keepdim=True) / many


def preference(
    log_probability: Float[Tensor, "B P"], cost: Float[Tensor, "B P"], sharpness: float
) -> Float[Tensor, ""]:
    """Of every two tours of an instance the cheaper one should be likelier, by how much does not matter.

    The odds that one is preferred are the power `sharpness` of how much likelier it is (Bradley and Terry). Tours that
    cost the same teach nothing.
    """
    ahead = log_probability[:, :, None] - log_probability[:, None, :]
    better = (cost[:, :, None] < cost[:, None, :]).float()
    missed = -torch.nn.functional.logsigmoid(sharpness * ahead) * better
    return (missed.sum((1, 2)) / better.sum((1, 2)).clamp(min=1)).mean() / sharpness


def foresight_loss(
    score: Float[Tensor, "B P M N"],
    unsafe: Bool[Tensor, "B P M N"],
    asked: Bool[Tensor, "B P M N"],
    counts: tuple[Int[Tensor, " M"], Int[Tensor, " M"]],
) -> Float[Tensor, ""]:
    """The PIP-D head's loss, its two classes balanced step by step over the whole batch.

    `counts` are the infeasible and the feasible candidates of each step, over all processes. A step at which all
    candidates are of one class teaches nothing and counts as zero.
    """
    bad, good = counts
    wrong = torch.nn.functional.binary_cross_entropy_with_logits(
        score.float(), unsafe.float(), reduction="none"
    )
    both = (bad > 0) & (good > 0)
    weight = 0.5 * torch.where(
        unsafe, (1 / bad.clamp(min=1))[:, None], (1 / good.clamp(min=1))[:, None]
    )
    weight = torch.where(asked & both[:, None], weight, 0.0)
    return (wrong * weight).sum() / len(bad)
