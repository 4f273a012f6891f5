"""Normalisations over nodes: of each instance and channel, of the whole batch, or of each node."""

from typing import Literal

import torch
import torch.distributed as dist
from jaxtyping import Float
from torch import Tensor, nn

Normalisation = Literal["instance", "batch", "layer"]

EPSILON = 1e-5
"""Added to variances."""
MOMENTUM = 0.1
"""The share of the newest batch in the running statistics."""


class InstanceNorm(nn.Module):
    """Each channel of each instance to mean 0 and variance 1 over its nodes, in float32; no running statistics."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, nodes: Float[Tensor, "B N D"]) -> Float[Tensor, "B N D"]:
        """The nodes, normalised."""
        wide = nodes.float()
        mean = wide.mean(1, keepdim=True)
        variance = (wide - mean).square().mean(1, keepdim=True)
        normal = (wide - mean) * torch.rsqrt(variance + EPSILON)
        return normal * self.weight + self.bias


class BatchNorm(nn.Module):
    """Each channel over all nodes of the batch in training, and by the running statistics afterwards.

    With several processes the statistics are those of the global batch.
    """

    running_mean: Tensor
    running_var: Tensor

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))
        self.register_buffer("running_mean", torch.zeros(width))
        self.register_buffer("running_var", torch.ones(width))

    def forward(self, nodes: Float[Tensor, "B N D"]) -> Float[Tensor, "B N D"]:
        """The nodes, normalised."""
        wide = nodes.float().flatten(0, 1)
        if self.training and _in_company():
            return self._among_processes(wide).view(nodes.shape)
        kept, learnt = (self.running_mean, self.running_var), (self.weight, self.bias)
        normal = nn.functional.batch_norm(wide, *kept, *learnt, self.training, MOMENTUM, EPSILON)
        return normal.view(nodes.shape)

    def _among_processes(self, nodes: Float[Tensor, "M D"]) -> Float[Tensor, "M D"]:
        """In training with other processes, whose shares need not be of one size."""
        count = Total.apply(nodes.new_tensor(float(len(nodes))))
        mean = Total.apply(nodes.sum(0)) / count
        variance = Total.apply((nodes - mean).square().sum(0)) / count
        with torch.no_grad():
            self.running_mean.lerp_(mean, MOMENTUM)
            self.running_var.lerp_(variance * count / (count - 1), MOMENTUM)
        return (nodes - mean) * torch.rsqrt(variance + EPSILON) * self.weight + self.bias


class Total(torch.autograd.Function):
    """The sum over all processes, through which gradients flow: what one process adds is in everyone's total."""

    @staticmethod
    def forward(ctx: object, mine: Tensor) -> Tensor:
        """Add up everyone's."""
        total = mine.clone()
        dist.all_reduce(total)
        return total

    @staticmethod
    def backward(ctx: object, *gradients: Tensor) -> Tensor:
        """Add up what everyone makes of the total."""
        return Total.forward(ctx, *gradients)


def _in_company() -> bool:
    return dist.is_available() and dist.is_initialized() and dist.get_world_size() > 1


def norm(kind: Normalisation, width: int) -> nn.Module:
    """The normalisation of this name."""
    kinds = {"instance": InstanceNorm, "batch": BatchNorm, "layer": nn.LayerNorm}
    return kinds[kind](width)
