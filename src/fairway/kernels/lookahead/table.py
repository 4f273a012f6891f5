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
    """The constraints of a batch as matrices, and how late one may be anywhere and still reach anything else."""

    increment: Float[Tensor, "B N N"]
    earliest: Float[Tensor, "B N"]
    shortest: Float[Tensor, "B N N"]
    """The least rise of the resource between two nodes, by way of any others."""
    latest: Float[Tensor, "B N"]
    """Of the instance, or narrowed to what tours can keep where a rule asks for pairs."""
    cutoff: Float[Tensor, "B N N"]
    """The highest resource at row i from which column k can still be served in time; infinite for k = i.

    Over ways that may lead through other nodes, so that it bounds every tour. The column of the depot is the return.
    Its columns are contiguous in memory, since the kernels take one column for all candidates at once.
    """
    pairs: Pairs | None = None


def table(batch: Batch, rule: MaskRule | None = None) -> Table:
    """The constraints of a batch as matrices, with all that a rule asks for."""
    increment = batch.increment(*every_pair(batch))
    latest = batch.latest.clone()
    if batch.by_set:
        latest[:, 0] = torch.inf  # no draft is checked at the depot
    shortest = closed(increment) if needs_closing(batch) else increment
    if rule is None or not rule.pairs:
        return Table(
            increment.contiguous(), batch.earliest, shortest, latest, _cutoffs(latest, shortest)
        )
    lowest, latest = narrowed(batch.earliest, latest, shortest, batch.initial, rule.tolerance)
    cutoff = _cutoffs(latest, shortest)
    bound = pairs(lowest, latest, shortest, cutoff, rule.tolerance)
    return Table(increment.contiguous(), batch.earliest, shortest, latest, cutoff, bound)


def _cutoffs(
    latest: Float[Tensor, "B N"], shortest: Float[Tensor, "B N N"]
) -> Float[Tensor, "B N N"]:
    cutoff = latest[:, None, :] - shortest
    cutoff.diagonal(dim1=-2, dim2=-1).fill_(torch.inf)
    return cutoff.mT.contiguous().mT


def needs_closing(batch: Batch) -> bool:
    """Whether a way through other nodes may be shorter: distances and demands are never, given matrices may be."""
    return not batch.by_set and batch.geometry.matrix is not None


def closed(increment: Float[Tensor, "B N N"]) -> Float[Tensor, "B N N"]:
    """The least rise of the resource between any two nodes, by way of any others (Floyd and Warshall)."""
    shortest = increment.clone()
    for k in range(increment.shape[-1]):
        shortest = torch.minimum(shortest, shortest[:, :, k, None] + shortest[:, k, None, :])
    return shortest


def depot_column(unvisited: Bool[Tensor, "B P N"]) -> Bool[Tensor, "B P N"]:
    """The nodes still to reach: those unvisited, and the depot at the end of the tour."""
    to_reach = unvisited.clone()
    to_reach[..., 0] = True
    return to_reach
