"""Windows as narrow as orders make them: what cannot come after a node comes before it, and leaves time for it.

And what two nodes that are both still to visit say of every candidate.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

ROUNDS = 16
"""How often orders narrow windows and windows give orders. Bounds are sound after any round; more find little."""

PER_NODE = 2
"""Pairs kept for each node: twice as many as the published distributions have."""
NEVER = 1e30
"""Sooner than anything: infinity would make no number of the infinite entries of a table."""


def narrowed(
    earliest: Float[Tensor, "B N"],
    latest: Float[Tensor, "B N"],
    shortest: Float[Tensor, "B N N"],
    initial: Float[Tensor, " B"],
    tolerance: float,
) -> tuple[Float[Tensor, "B N"], Float[Tensor, "B N"]]:
    """The lowest and the highest resource with which any tour that keeps all limits serves each node."""
    margin = rounding(latest)
    lowest = torch.maximum(earliest, initial[:, None] + shortest[:, 0] - margin)
    lowest[:, 0] = initial
    highest = torch.minimum(latest, latest[:, :1] - shortest[:, :, 0] + margin)
    highest[:, 0] = latest[:, 0]
    stops = torch.ones_like(latest, dtype=torch.bool)
    stops[:, 0] = False
    return settled(lowest, highest, shortest, stops, tolerance)


def settled(
    lowest: Float[Tensor, "B N"],
    highest: Float[Tensor, "B N"],
    shortest: Float[Tensor, "B N N"],
    among: Bool[Tensor, "B N"],
    tolerance: float,
) -> tuple[Float[Tensor, "B N"], Float[Tensor, "B N"]]:
    """Bounds narrowed by the orders among some nodes; every sum is rounded outwards."""
    margin = rounding(highest)
    both = among[:, :, None] & among[:, None, :]
    both.diagonal(dim1=-2, dim2=-1).fill_(value=False)
    back, allowance = torch.where(both, shortest.mT, -torch.inf), tolerance + margin
    if shortest.is_cuda and shortest.dtype == torch.float32:
        from fairway.kernels.lookahead.gpu import orders

        if shortest.shape[1] <= orders.MOST_NODES:
            return orders.settled(lowest, highest, shortest, back, margin, allowance, ROUNDS)
    for _ in range(ROUNDS):
        # The row comes before the column, after which it would be late.
        before = lowest[:, None, :] + back > (highest + allowance)[:, :, None]
        after = torch.where(before, lowest[:, :, None] + shortest, -torch.inf).amax(1)
        ahead = torch.where(before, highest[:, None, :] - shortest, torch.inf).amin(2)
        lowest = torch.maximum(lowest, after - margin)
        highest = torch.minimum(highest, ahead + margin)
    return lowest, highest


def rounding(latest: Float[Tensor, "B N"]) -> Float[Tensor, "B 1"]:
    """By how much a sum may err in the precision of the limits."""
    largest = torch.where(latest.isfinite(), latest.abs(), 0.0).amax(1, keepdim=True)
    return 2 * torch.finfo(latest.dtype).eps * largest


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """The pairs that bind more than their nodes do, Q of them: whichever comes first must come sooner than its limit.

    A candidate is at most as high as lets one of the two be reached so much sooner. Where there are fewer, the depot
    stands in, which is never unvisited.
    """

    nodes: Int[Tensor, "B 2 Q"]
    sooner: Float[Tensor, "B 2 Q"]
    """By how much each node, where it comes before the other; NEVER where it cannot."""
    least: Float[Tensor, "B Q"]
    """No candidate is bound lower; the pairs are in this order."""


def pairs(
    lowest: Float[Tensor, "B N"],
    highest: Float[Tensor, "B N"],
    shortest: Float[Tensor, "B N N"],
    cutoff: Float[Tensor, "B N N"],
    tolerance: float,
) -> Pairs:
    """The pairs that ask for most, in the order in which they can bind."""
    margin = rounding(highest)[..., None]
    there = highest[:, None, :] - shortest
    sooner = (highest[:, :, None] - there - margin).clamp(min=0.0)
    reached = lowest[:, :, None] <= there + tolerance + margin
    sooner = torch.where(reached, sooner, NEVER)
    asked = torch.minimum(sooner, sooner.mT)
    asked = torch.where(_stops(highest), asked, 0.0).triu(1)
    count = highest.shape[1]
    bite, place = asked.flatten(1).topk(min(PER_NODE * count, count * count), sorted=False)
    one, other = place // count, place % count
    binds = bite > 0
    first, second = sooner.flatten(1).gather(1, place), sooner.mT.flatten(1).gather(1, place)
    low = cutoff.amin(1)
    least = torch.maximum(low.gather(1, one) - first, low.gather(1, other) - second)
    least, order = torch.where(binds, least, torch.inf).sort(dim=1)

    def in_order(*fields: Tensor) -> Tensor:
        return torch.stack([torch.where(binds, f, 0).gather(1, order) for f in fields], dim=1)

    return Pairs(in_order(one, other), in_order(first, second), least)


def _stops(highest: Float[Tensor, "B N"]) -> Bool[Tensor, "B N N"]:
    """The pairs without the depot, and without nodes that may come at any resource, which can come last."""
    bound = highest.isfinite()
    bound[:, 0] = False
    return bound[:, :, None] & bound[:, None, :]
