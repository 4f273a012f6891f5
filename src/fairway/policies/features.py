"""What a policy reads of an instance: four numbers per node, all of order one."""

import torch
from jaxtyping import Float
from torch import Tensor

from fairway.kernels.pointer.reference import squashed
from fairway.problems.batch import Batch, every_pair


def features(batch: Batch) -> Float[Tensor, "B N 4"]:
    """Coordinates, and what is asked of the resource: the window, or the demand and the draft, by the horizon."""
    horizon = horizon_of(batch)[:, None]
    return torch.cat([places(batch), torch.stack([line / horizon for line in batch.asked], -1)], -1)


def relations(batch: Batch) -> Float[Tensor, "B N N 8"]:
    """What each node is to each other one, there and back: the way, and what windows or drafts leave of it.

    How far below its limit the second is reached from the first at its lowest resource, and at its limit; and how long
    one waits there even then. Where a slack is negative, the arc is not to be had.
    """
    here, there = every_pair(batch)
    increment, latest = batch.increment(here, there), batch.latest
    lowest = torch.maximum(batch.earliest, batch.initial[:, None] + increment[:, 0])
    early, late = lowest[:, :, None] + increment, latest[:, :, None] + increment
    slacks = [latest[:, None] - early, latest[:, None] - late, batch.earliest[:, None] - late]
    unit = batch.unit[:, None, None]
    one_way = [batch.travel(here, there), *(squashed(slack / unit) for slack in slacks)]
    return torch.stack([*one_way, *(part.mT for part in one_way)], dim=-1)


def horizon_of(batch: Batch) -> Float[Tensor, " B"]:
    """What resources are divided by; one where the instance has no extent in time at all."""
    return torch.where(batch.horizon > 0, batch.horizon, 1.0)


def places(batch: Batch) -> Float[Tensor, "B N 2"]:
    """Coordinates in the unit square: those given, or where travel alone would put the nodes on a map."""
    if batch.geometry.coordinates is not None:
        return batch.geometry.coordinates
    return _on_a_map(batch.travel(*every_pair(batch)))


def _on_a_map(travel: Float[Tensor, "B N N"]) -> Float[Tensor, "B N 2"]:
    """Classical scaling: the plane that keeps most of the distances, taken both ways where they differ."""
    squared = (0.5 * (travel + travel.mT)).square()
    centred = squared - squared.mean(-1, keepdim=True) - squared.mean(-2, keepdim=True)
    centred = -0.5 * (centred + squared.mean((-2, -1), keepdim=True))
    values, vectors = torch.linalg.eigh(centred.double())
    found = vectors[..., -2:] * values[..., None, -2:].clamp(min=0).sqrt()
    found = found - found.amin(1, keepdim=True)
    extent = found.amax((1, 2), keepdim=True)
    return (found / torch.where(extent > 0, extent, 1.0)).to(travel.dtype)
