"""A run in progress: the policy, its optimiser, and everything else that the next step depends on."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from fairway.policies.attention import Policy
from fairway.train.config import TrainConfig
from fairway.train.muon import Muon
from fairway.train.step import FIGURES


@dataclass(slots=True, eq=False)
class Run:
    """What a checkpoint holds. It changes with every step; the config and the step decide what comes next."""

    config: TrainConfig
    policy: Policy
    optimiser: torch.optim.Optimizer
    average: Policy | None
    """The running average of the weights, which is what a finished run hands over."""
    baseline: Policy | None
    """Whose greedy tours the policy is compared with (AM)."""
    oracle: Policy | None
    """The best PIP-D head so far, with the encoder it belongs to."""
    moving: Float[Tensor, ""]
    """The exponential mean of costs that AM's baseline warms up with; NaN before the first step."""
    epoch_sums: Float[Tensor, " F"]
    """The figures of the steps of this epoch, summed up, and last how many steps that are."""
    step: int = 0
    seconds: float = 0.0
    """Spent training, over all pieces of the run."""
    marks: dict[str, float] = field(default_factory=dict)
    """What schedules remember: the record of the PIP-D head, and when the greedy baseline was replaced."""

    @property
    def instances(self) -> int:
        """Seen so far."""
        return self.step * self.config.batch

    @property
    def epoch(self) -> int:
        """The epoch of the next step, counted from 1."""
        return self.instances // self.config.epoch + 1

    @property
    def finished(self) -> Policy:
        """The policy to validate and to ship."""
        return self.policy if self.average is None else self.average

    @property
    def device(self) -> torch.device:
        """Where it is trained."""
        return self.moving.device

    @property
    def sums(self) -> dict[str, Tensor]:
        """The tensors that belong to no network, by name."""
        return {"moving": self.moving, "epoch_sums": self.epoch_sums}

    def modules(self) -> Iterator[tuple[str, nn.Module]]:
        """The networks, by name."""
        named = {
            "policy": self.policy,
            "average": self.average,
            "baseline": self.baseline,
            "oracle": self.oracle,
        }
        return ((name, module) for name, module in named.items() if module is not None)


def begin(config: TrainConfig, device: torch.device) -> Run:
    """A run at its first step; the seed decides the weights."""
    torch.manual_seed(config.seed)
    policy = Policy(config.policy)

    def copy() -> Policy:
        other = Policy(config.policy)
        other.load_state_dict(policy.state_dict())
        return other.to(device).requires_grad_(False).eval()

    average = copy() if config.average else None
    baseline = copy() if config.baseline == "greedy" else None
    oracle = copy() if config.foresight is not None else None
    policy = policy.to(device)
    moving = torch.full((), torch.nan, device=device)
    sums = torch.zeros(len(FIGURES) + 1, device=device)
    optimiser = optimiser_of(config, policy)
    return Run(config, policy, optimiser, average, baseline, oracle, moving, sums)


def optimiser_of(config: TrainConfig, policy: Policy) -> torch.optim.Optimizer:
    """Adam, weight decay as part of the gradient, as in the authors' code; or Muon."""
    kwargs: dict[str, Any] = {"fused": True} if next(policy.parameters()).is_cuda else {}
    kind = Muon if config.optimiser == "muon" else torch.optim.Adam
    return kind(
        policy.parameters(), lr=config.rate.peak, weight_decay=config.weight_decay, **kwargs
    )
