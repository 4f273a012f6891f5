"""A batch laid out for the decoding kernel: padded, and with the nodes in the order in which they bind."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from fairway.kernels.lookahead.config import MaskConfig
from fairway.kernels.lookahead.table import Table, table
from fairway.problems.batch import Batch, every_pair

MOST_NODES = 512
"""How many nodes a program of the kernel can hold."""
SMALLEST = 16
"""Nodes to which a batch is padded at least: what the tensor cores multiply."""


@dataclass(frozen=True, slots=True, eq=False)
class Track:
    """Tables by rank, W of them after padding; the depot has rank 0, and padding repeats it.

    The nodes are ranked by what they could bind at all (one step ahead) or by draft (the exact mask), so that the
    look-ahead of a tour reads its first few ranks still to visit, or runs over all of them in order.
    """

    order: Int[Tensor, "B W"]
    """The node of each rank."""
    rank: Int[Tensor, "B N"]
    lines: Float[Tensor, "B 6 W"]
    """Earliest, latest, cap, demand, least and most.

    The cap bounds a node whatever is left to visit: its own limit and the return, as far as the rule asks. The demand
    is by how much the resource rises on coming to a node, where that is the same from everywhere. The least and the
    most are those of all resources, anywhere else, from which the node can just be reached in time.
    """
    squares: Float[Tensor, "B 3 W W"]
    """Increment and travel, from row to column, and the highest resource at the column that reaches the row in time."""
    starts: Float[Tensor, "B 2"]
    """The initial resource, and the unit of slacks."""
    pairs: Int[Tensor, "B 2 Q"]
    """The ranks of two nodes that bind together; none of them where the rule does not ask."""
    sooner: Float[Tensor, "B 3 Q"]
    """By how much each of the two must be reached sooner, and the least that they ask of anything."""


def lay_out(batch: Batch, guard: MaskConfig) -> Track:
    """The tables of a batch for one guard."""
    known = table(batch, guard.rule)
    nodes = known.latest.shape[1]
    order, least = in_order(known, guard), known.cutoff.amin(1)
    cap = known.latest
    if guard.kind == "ahead" and guard.rule.steps == 1:
        home = torch.minimum(known.latest, known.cutoff[:, :, 0])
        cap = home if guard.rule.own else torch.full_like(home, torch.inf)
    padded = torch.nn.functional.pad(order, (0, width_for(nodes) - nodes))
    most = known.cutoff.masked_fill(known.cutoff.isposinf(), -torch.inf).amax(1)
    lines = torch.stack(
        [known.earliest, batch.latest, cap, known.increment[:, 0], least, most], dim=1
    )
    squares = torch.stack(
        [known.increment, batch.travel(*every_pair(batch)), known.cutoff.mT], dim=1
    )
    rank = order.argsort(dim=1)
    by_row = squares.take_along_dim(padded[:, None, :, None], 2)
    return Track(
        order=padded,
        rank=rank,
        lines=lines.take_along_dim(padded[:, None, :], 2),
        squares=by_row.take_along_dim(padded[:, None, None, :], 3),
        starts=torch.stack([batch.initial, batch.unit], dim=1),
        **_twos(known, rank),
    )


def _twos(known: Table, rank: Int[Tensor, "B N"]) -> dict[str, Tensor]:
    pairs = known.pairs
    if pairs is None:
        none = known.latest.new_empty(len(rank), 3, 0)
        return {"pairs": none[:, :2].int(), "sooner": none}
    ranks = rank[:, None].expand(-1, 2, -1).gather(2, pairs.nodes).int()
    return {"pairs": ranks, "sooner": torch.cat([pairs.sooner, pairs.least[:, None]], dim=1)}


def in_order(known: Table, guard: MaskConfig) -> Int[Tensor, "B N"]:
    """The nodes in the order in which they bind, the depot first."""
    binding = known.latest if guard.kind == "exact" else known.cutoff.amin(1)
    depot = torch.full_like(binding[:, :1], -torch.inf)
    return torch.cat([depot, binding[:, 1:]], dim=1).argsort(dim=1, stable=True)


def width_for(nodes: int) -> int:
    """The power of two to which a batch is padded."""
    return max(SMALLEST, 1 << (nodes - 1).bit_length())
