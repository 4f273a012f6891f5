"""Windows as narrow as orders make them: what cannot come after a node comes before it, and leaves time for it."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

ROUNDS = 16
"""How often orders narrow windows and windows give orders. Bounds are sound after any round; more find little."""


def narrowed(
    floor: Float[Tensor, "B N"],
    limit: Float[Tensor, "B N"],
    way: Float[Tensor, "B N N"],
    outset: Float[Tensor, " B"],
    tolerance: float,
) -> tuple[Float[Tensor, "B N"], Float[Tensor, "B N"]]:
    """The lowest and the highest level with which any tour that keeps all limits serves each node."""
    margin = rounding(limit)
    lowest = torch.maximum(floor, outset[:, None] + way[:, 0] - margin)
    lowest[:, 0] = outset
    highest = torch.minimum(limit, limit[:, :1] - way[:, :, 0] + margin)
    highest[:, 0] = limit[:, 0]
    stops = torch.ones_like(limit, dtype=torch.bool)
    stops[:, 0] = False
    return settled(lowest, highest, way, stops, tolerance)


def settled(
    lowest: Float[Tensor, "B N"],
    highest: Float[Tensor, "B N"],
    way: Float[Tensor, "B N N"],
    among: Bool[Tensor, "B N"],
    tolerance: float,
) -> tuple[Float[Tensor, "B N"], Float[Tensor, "B N"]]:
    """Bounds narrowed by the orders among some nodes; every sum is rounded outwards."""
    margin = rounding(highest)
    both = among[:, :, None] & among[:, None, :]
    both.diagonal(dim1=-2, dim2=-1).fill_(value=False)
    back, allowance = torch.where(both, way.mT, -torch.inf), tolerance + margin
    if way.is_cuda and way.dtype == torch.float32:
        from fairway.kernels.lookahead.gpu import orders

        if way.shape[1] <= orders.MOST_NODES:
            return orders.settled(lowest, highest, way, back, margin, allowance, ROUNDS)
    for _ in range(ROUNDS):
        # The row comes before the column, after which it would be late.
        before = lowest[:, None, :] + back > (highest + allowance)[:, :, None]
        after = torch.where(before, lowest[:, :, None] + way, -torch.inf).amax(1)
        ahead = torch.where(before, highest[:, None, :] - way, torch.inf).amin(2)
        lowest = torch.maximum(lowest, after - margin)
        highest = torch.minimum(highest, ahead + margin)
    return lowest, highest


def rounding(limit: Float[Tensor, "B N"]) -> Float[Tensor, "B 1"]:
    """By how much a sum may err in the precision of the limits."""
    largest = torch.where(limit.isfinite(), limit.abs(), 0.0).amax(1, keepdim=True)
    return 2 * torch.finfo(limit.dtype).eps * largest
