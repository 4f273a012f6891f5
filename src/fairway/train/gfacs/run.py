"""A training of ants in progress: the network, its optimiser, and everything else that the next step depends on."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import torch
from jaxtyping import Float
from torch import Tensor, nn

from fairway.policies.heatmap import HeatmapNetwork
from fairway.train.gfacs.config import ColonyConfig
from fairway.train.gfacs.step import FIGURES


@dataclass(slots=True, eq=False)
class ColonyRun:
    """What a snapshot holds. It changes with every step; the config and the step decide what comes next."""

    config: ColonyConfig
    policy: HeatmapNetwork
    optimiser: torch.optim.Optimizer
    oracle: HeatmapNetwork | None
    """The network with the best PIP-D head so far."""
    epoch_sums: Float[Tensor, " F"]
    """The figures of the steps of this epoch, summed up, and last how many steps that are."""
    step: int = 0
    seconds: float = 0.0
    """Spent training, over all pieces of the run."""
    marks: dict[str, float] = field(default_factory=dict)
    """What the schedule of the PIP-D head remembers."""

    @property
    def instances(self) -> int:
        """Seen so far."""
        return self.step * self.config.batch

    @property
    def finished(self) -> HeatmapNetwork:
        """The network to validate and to ship."""
        return self.policy

    @property
    def device(self) -> torch.device:
        """Where it is trained."""
        return self.epoch_sums.device

    @property
    def sums(self) -> dict[str, Tensor]:
        """The tensors that belong to no network, by name."""
        return {"epoch_sums": self.epoch_sums}

    def modules(self) -> Iterator[tuple[str, nn.Module]]:
        """The networks, by name."""
        named = {"policy": self.policy, "oracle": self.oracle}
        return ((name, module) for name, module in named.items() if module is not None)


def found(config: ColonyConfig, device: torch.device) -> ColonyRun:
    """A run at its first step; the seed decides the weights."""
    torch.manual_seed(config.seed)
    policy = HeatmapNetwork(config.policy)
    oracle = None
    if config.foresight is not None:
        oracle = HeatmapNetwork(config.policy).to(device).requires_grad_(False).eval()
        oracle.load_state_dict(policy.state_dict())
    policy = policy.to(device)
    optimiser = torch.optim.AdamW(
        policy.parameters(), lr=config.rate[0], weight_decay=config.weight_decay
    )
    return ColonyRun(
        config, policy, optimiser, oracle, torch.zeros(len(FIGURES) + 1, device=device)
    )
