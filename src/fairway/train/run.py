"""A run in progress: the network, its optimiser, and everything else that the next step depends on."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from fairway.policies.attention import Policy
from fairway.policies.heatmap import HeatmapNetwork
from fairway.train.config import ColonyConfig, TrainConfig
from fairway.train.gfacs import step as ants
from fairway.train.muon import Muon
from fairway.train.step import FIGURES

Config = TrainConfig | ColonyConfig
Network = TypeVar("Network", bound=nn.Module)


@dataclass(slots=True, eq=False)
class Run(Generic[Network]):
    """What a snapshot holds. It changes with every step; the config and the step decide what comes next."""

    config: Config
    policy: Network
    optimiser: torch.optim.Optimizer
    average: Network | None
    """The running average of the weights, which is what a finished run hands over."""
    baseline: Network | None
    """Whose greedy tours the policy is compared with (AM)."""
    frozen_head: Network | None
    """The network with the best PIP-D head so far."""
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
    def figures(self) -> tuple[str, ...]:
        """What a step of its kind reports, by name."""
        return figures_of(self.config)

    @property
    def instances(self) -> int:
        """Seen so far."""
        return self.step * self.config.batch

    @property
    def epoch(self) -> int:
        """The epoch of the next step by the instances seen, counted from 1."""
        return self.instances // self.config.epoch + 1

    @property
    def finished(self) -> Network:
        """The network to validate and to ship."""
        return self.policy if self.average is None else self.average

    @property
    def device(self) -> torch.device:
        """Where it is trained."""
        return self.moving.device

    @property
    def sums(self) -> dict[str, Tensor]:
        """The tensors that belong to no network, by name."""
        own = {} if isinstance(self.config, ColonyConfig) else {"moving": self.moving}
        return own | {"epoch_sums": self.epoch_sums}

    def modules(self) -> Iterator[tuple[str, Network]]:
        """The networks, by their names in snapshots."""
        for name, module in (
            ("policy", self.policy),
            ("average", self.average),
            ("baseline", self.baseline),
            ("oracle", self.frozen_head),
        ):
            if module is not None:
                yield name, module


def begin(config: Config, device: torch.device) -> Run[Any]:
    """A run at its first step; the seed decides the weights."""
    torch.manual_seed(config.seed)
    policy = network_of(config)

    def copy() -> nn.Module:
        other = network_of(config)
        other.load_state_dict(policy.state_dict())
        return other.to(device).requires_grad_(False).eval()

    averaged = isinstance(config, TrainConfig) and config.average > 0
    challenged = isinstance(config, TrainConfig) and config.baseline == "greedy"
    asked = (averaged, challenged, config.foresight is not None)
    average, baseline, frozen_head = (copy() if wanted else None for wanted in asked)
    policy = policy.to(device)
    optimiser = optimiser_of(config, policy)
    moving = torch.full((), torch.nan, device=device)
    sums = torch.zeros(len(figures_of(config)) + 1, device=device)
    return Run(config, policy, optimiser, average, baseline, frozen_head, moving, sums)


def figures_of(config: Config) -> tuple[str, ...]:
    """What a step reports, by name."""
    return ants.FIGURES if isinstance(config, ColonyConfig) else FIGURES


def network_of(config: Config) -> Policy | HeatmapNetwork:
    """A network with weights at random."""
    if isinstance(config, ColonyConfig):
        return HeatmapNetwork(config.policy)
    return Policy(config.policy)


def optimiser_of(config: Config, policy: nn.Module) -> torch.optim.Optimizer:
    """For policies Adam, weight decay as part of the gradient, as in the authors' code, or Muon; for colonies AdamW."""
    weights, decay = [*policy.parameters()], config.weight_decay
    if isinstance(config, ColonyConfig):
        return torch.optim.AdamW(weights, lr=config.rate[0], weight_decay=decay)
    kind = Muon if config.optimiser == "muon" else torch.optim.Adam
    fused = True if weights[0].is_cuda else None
    return kind(weights, lr=config.rate.peak, weight_decay=decay, fused=fused)
