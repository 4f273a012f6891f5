"""Windows narrowed by orders in one Triton launch: one program per instance, as many rounds as change something.

The same sums in the same order as the plain version, so that bounds are equal to the bit.
"""

import torch
import triton
import triton.language as tl
from jaxtyping import Float
from torch import Tensor

MOST_NODES = 1024
COLUMNS = 16
"""Taken together with all rows."""


def settled(
    lowest: Float[Tensor, "B N"],
    highest: Float[Tensor, "B N"],
    shortest: Float[Tensor, "B N N"],
    back: Float[Tensor, "B N N"],
    margin: Float[Tensor, "B 1"],
    allowance: Float[Tensor, "B 1"],
    rounds: int,
) -> tuple[Float[Tensor, "B N"], Float[Tensor, "B N"]]:
    """Bounds after so many rounds; `back` is the way from column to row, minus infinity where no order is asked for."""
    instances, nodes = lowest.shape
    now, after = torch.stack([lowest, highest], dim=1), lowest.new_empty(instances, 2, nodes)
    width = triton.next_power_of_2(nodes)
    parts = (shortest.contiguous(), back.contiguous(), margin.contiguous(), allowance.contiguous())
    _settle[(instances,)](
        now, after, *parts, nodes, rounds, width, min(COLUMNS, width), num_warps=4
    )
    return now[:, 0], now[:, 1]


@triton.jit
def _settle(
    now, after, shortest, back, margin, allowance, N, rounds, W: tl.constexpr, C: tl.constexpr
):  # fmt: skip
    """Bounds stand in `now`, lowest then highest; a round writes new ones to `after` and then takes them over."""
    b = tl.program_id(0).to(tl.int64)
    now, after = now + b * 2 * N, after + b * 2 * N
    shortest, back = shortest + b * N * N, back + b * N * N
    spare, allowed = tl.load(margin + b), tl.load(allowance + b)
    row = tl.arange(0, W)
    real = row < N
    left = rounds
    while left > 0:
        low = tl.load(now + row, mask=real, other=0.0)
        high = tl.load(now + N + row, mask=real, other=0.0)
        least = tl.full((W,), float("inf"), tl.float32)
        for first in range(0, N, C):
            column = first + tl.arange(0, C)
            there = column < N
            cell, inside = row[:, None] * N + column[None, :], real[:, None] & there[None, :]
            leg = tl.load(shortest + cell, mask=inside, other=0.0)
            home = tl.load(back + cell, mask=inside, other=-float("inf"))
            low_there = tl.load(now + column, mask=there, other=0.0)
            high_there = tl.load(now + N + column, mask=there, other=0.0)
            before = low_there[None, :] + home > (high + allowed)[:, None]
            ahead = tl.where(before, high_there[None, :] - leg, float("inf"))
            least = tl.minimum(least, tl.min(ahead, axis=1))
            reached = tl.where(before, low[:, None] + leg, -float("inf"))
            raised = tl.maximum(low_there, tl.max(reached, axis=0) - spare)
            tl.store(after + column, raised, mask=there)
        lowered = tl.minimum(high, least + spare)
        tl.debug_barrier()  # all have read what is now, and the new lowest resources are there to be read
        raised = tl.load(after + row, mask=real, other=0.0)
        changed = (raised != low) | (lowered != high)
        tl.store(now + row, raised, mask=real)
        tl.store(now + N + row, lowered, mask=real)
        tl.debug_barrier()
        left = tl.where(tl.max((changed & real).to(tl.int32), axis=0) > 0, left - 1, 0)
