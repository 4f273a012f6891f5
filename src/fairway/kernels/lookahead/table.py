"""What the look-ahead can know of a batch before any tour begins."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from fairway.kernels.lookahead.config import MaskRule
from fairway.kernels.lookahead.orders import Pairs, narrowed, pairs
from fairway.problems.batch import Batch, every_pair


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The law of a batch written out, and how late one may be anywhere and still reach anything else."""

    lead: Float[Tensor, "B N N"]
    floor: Float[Tensor, "B N"]
    way: Float[Tensor, "B N N"]
    """The least rise of the level between two nodes, by way of any others."""
    limit: Float[Tensor, "B N"]
    """Of the instance, or narrowed to what tours can keep where a rule asks for pairs."""
    latest: Float[Tensor, "B N N"]
    """The highest level at row i from which column k can still be served in time; infinite for k = i.

    Over ways that may lead through other nodes, so that it bounds every tour. The column of the depot is the return.
    Its columns are contiguous in memory, since the kernels take one column for all candidates at once.
    """
    pairs: Pairs | None = None


def table(batch: Batch, rule: MaskRule | None = None) -> Table:
    """Write out the law of a batch, with all that a rule asks for."""
    lead = batch.lead(*every_pair(batch))
    limit = batch.limit.clone()
    if batch.by_set:
        limit[:, 0] = torch.inf  # no draft is checked at the depot
    way = closed(lead) if needs_closing(batch) else lead
    if rule is None or not rule.pairs:
        return Table(lead.contiguous(), batch.floor, way, limit, _latest(limit, way))
    lowest, limit = narrowed(batch.floor, limit, way, batch.outset, rule.tolerance)
    latest = _latest(limit, way)
    bound = pairs(lowest, limit, way, latest, rule.tolerance)
    return Table(lead.contiguous(), batch.floor, way, limit, latest, bound)


def _latest(limit: Float[Tensor, "B N"], way: Float[Tensor, "B N N"]) -> Float[Tensor, "B N N"]:
    latest = limit[:, None, :] - way
    latest.diagonal(dim1=-2, dim2=-1).fill_(torch.inf)
    return latest.mT.contiguous().mT


def needs_closing(batch: Batch) -> bool:
    """Whether a way through other nodes may be shorter: distances and demands are never, given matrices may be."""
    return not batch.by_set and batch.geometry.matrix is not None


def closed(lead: Float[Tensor, "B N N"]) -> Float[Tensor, "B N N"]:
    """The least rise of the level between any two nodes, by way of any others (Floyd and Warshall)."""
    way = lead.clone()
    for k in range(lead.shape[-1]):
        way = torch.minimum(way, way[:, :, k, None] + way[:, k, None, :])
    return way


def depot_column(unvisited: Bool[Tensor, "B P N"]) -> Bool[Tensor, "B P N"]:
    """The nodes still to reach: those unvisited, and the depot at the end of the tour."""
    to_reach = unvisited.clone()
    to_reach[..., 0] = True
    return to_reach
