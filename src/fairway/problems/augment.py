"""The eight symmetries of the square: the same instance, seen in other ways."""

from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from fairway.problems.batch import Batch, each

SYMMETRIES = 8


def symmetries(batch: Batch) -> Batch:
    """Eight views of every instance, view after view; only coordinates change, so costs and limits are the same."""
    views = each(batch, lambda column: column.repeat(SYMMETRIES, *(1,) * (column.dim() - 1)))
    if batch.geometry.coordinates is None:
        return views
    return replace(
        views, geometry=replace(views.geometry, coordinates=turned(batch.geometry.coordinates))
    )


def turned(points: Float[Tensor, "B N 2"]) -> Float[Tensor, "B8 N 2"]:
    """Points of the unit square, reflected and turned in all eight ways; the first is as given."""
    x, y = points.unbind(-1)
    ways = [(a, b) for a in (x, 1 - x) for b in (y, 1 - y)]
    return torch.cat([torch.stack(way, -1) for way in [*ways, *((b, a) for a, b in ways)]])
