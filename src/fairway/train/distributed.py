"""The processes that train together, and how their numbers become one; a single process has nobody to ask."""

from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor, nn

from fairway.errors import InvalidRequest


@dataclass(frozen=True, slots=True)
class DistContext:
    """How many processes there are, and which of them this is."""

    rank: int = 0
    size: int = 1

    def check_share(self, batch: int) -> None:
        """Refuse a batch that the processes cannot share evenly, since its gradient would not be theirs."""
        if batch % self.size:
            raise InvalidRequest(
                f"a batch of {batch} cannot be shared evenly by {self.size} processes; "
                f"choose a multiple of {self.size} with --batch"
            )

    def total(self, values: Tensor) -> Tensor:
        """The sum over all processes; gradients do not flow through it."""
        if self.size == 1:
            return values
        summed = values.detach().clone()
        dist.all_reduce(summed)
        return summed

    def latest(self, seconds: float) -> float:
        """The longest of all processes' times, so that they decide alike."""
        if self.size == 1:
            return seconds
        longest = torch.tensor(seconds, dtype=torch.float64)
        if dist.get_backend() == "nccl":
            longest = longest.cuda()
        dist.all_reduce(longest, dist.ReduceOp.MAX)
        return float(longest)

    def average_gradients(self, module: nn.Module) -> None:
        """Give every process the mean of all processes' gradients, in one message."""
        if self.size == 1:
            return
        gradients = [p.grad for p in module.parameters() if p.grad is not None]
        flat = torch.cat([gradient.flatten() for gradient in gradients])
        dist.all_reduce(flat)
        flat /= self.size
        parts = flat.split([gradient.numel() for gradient in gradients])
        for gradient, part in zip(gradients, parts, strict=True):
            gradient.copy_(part.view_as(gradient))


def here() -> DistContext:
    """The world that torchrun has set up, or this process alone."""
    if dist.is_available() and dist.is_initialized():
        return DistContext(dist.get_rank(), dist.get_world_size())
    return DistContext()
