"""The sparse graph of a heatmap: from every node to the few stops that may well come next.

The paper's rule looks at limits alone. From a stop, the neighbours are those whose windows overlap its own most; where
windows do not overlap, the gap between them counts against them, so that the rule goes on beyond the last overlap. From
the depot they are the stops that open first. Draft limits have no windows, but an order: ports with like drafts are
served at like loads. So from a port the neighbours are those of the most similar draft, the nearer first on ties, and
from the depot those of the lowest. The authors' code adds as many by distance, which is the union. Here the second half
is taken from what the first has left, so that no edge stands twice; and nobody's neighbour is the depot, to which no
choice leads.
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from fairway.policies.config import Graph
from fairway.problems.batch import Batch, every_pair


def neighbours(batch: Batch, graph: Graph, share: int) -> Int[Tensor, "B N K"]:
    """The neighbours of every node, best first: by each rule one for so many nodes, and at least one."""
    nodes = batch.limit.shape[1]
    many = max(1, nodes // share)
    apart = batch.travel(*every_pair(batch))
    shut = torch.zeros_like(apart, dtype=torch.bool)
    shut[..., 0] = True
    shut.diagonal(dim1=-2, dim2=-1).fill_(True)
    by_limits = _best(_likeness(batch), apart, shut, min(many, nodes - 2))
    if graph == "limits":
        return by_limits
    taken = shut.scatter(-1, by_limits, True)
    by_distance = _best(-apart, apart, taken, min(many, nodes - 2 - by_limits.shape[-1]))
    return torch.cat([by_limits, by_distance], dim=-1)


def _likeness(batch: Batch) -> Float[Tensor, "B N N"]:
    """How well a column's limits go with being served after the row's."""
    if not batch.by_set:
        ends = torch.minimum(batch.limit[:, :, None], batch.limit[:, None, :])
        alike = ends - torch.maximum(batch.floor[:, :, None], batch.floor[:, None, :])
        first = -batch.floor
    else:
        alike = -(batch.limit[:, :, None] - batch.limit[:, None, :]).abs()
        first = -batch.limit
    return torch.cat([first[:, None, :], alike[:, 1:]], dim=1)


def _best(
    worth: Float[Tensor, "B N N"],
    apart: Float[Tensor, "B N N"],
    shut: Bool[Tensor, "B N N"],
    kept: int,
) -> Int[Tensor, "B N K"]:
    """The columns of most worth in each row, the nearer first on ties."""
    near = apart.argsort(dim=-1, stable=True)
    worth = worth.masked_fill(shut, -torch.inf).gather(-1, near)
    best = worth.argsort(dim=-1, descending=True, stable=True)
    return near.gather(-1, best)[..., :kept]
