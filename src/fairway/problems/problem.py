"""What a construction is, for every problem at once: a resource that rises along the tour, under limits.

Axes, here and in the whole project: B instances, P parallel tours, N nodes (0 is the depot),
M stops of a tour, K neighbours, H heads, D width.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from fairway.problems.batch import Batch, rows

TOLERANCE = 1e-5
"""How far a resource may pass a limit, in normalised units: what float32 sums need and the paper's code grants."""


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """Where P unfinished tours of each instance stand."""

    node: Int[Tensor, "B P"]
    resource: Float[Tensor, "B P"]
    """Start of service or load on board at `node`."""
    unvisited: Bool[Tensor, "B P N"]


def extend(
    batch: Batch,
    resource: Float[Tensor, "B *S"],
    here: Int[Tensor, "B *S"],
    there: Int[Tensor, "B *S"],
) -> Float[Tensor, "B *S"]:
    """The resource on being served at `there`, coming straight from `here` at `resource`."""
    reached = torch.maximum(
        resource + batch.increment(here, there), batch.earliest[rows(there), there]
    )
    return reached if batch.side is None else opened(reached, batch.side.gaps[rows(there), there])


def opened(resource: Float[Tensor, "*S"], gaps: Float[Tensor, "*#S G 2"]) -> Float[Tensor, "*S"]:
    """The resource raised to the end of the gap between two windows in which it lies, if it does."""
    first, second = (bound.to(resource.dtype) for bound in gaps.unbind(-1))
    inside = (first + TOLERANCE < resource[..., None]) & (resource[..., None] < second)
    return torch.where(inside, second, resource[..., None]).amax(-1) if gaps.shape[-2] else resource


def start(batch: Batch, tours: int = 1) -> State:
    """All tours at the depot, everything else still to visit."""
    instances, nodes = batch.latest.shape
    device = batch.latest.device
    unvisited = torch.ones(instances, tours, nodes, dtype=torch.bool, device=device)
    unvisited[..., 0] = False
    return State(
        node=torch.zeros(instances, tours, dtype=torch.long, device=device),
        resource=batch.initial[:, None].expand(instances, tours),
        unvisited=unvisited,
    )


def step(batch: Batch, state: State, action: Int[Tensor, "B P"]) -> State:
    """Every tour goes on to its chosen node, whether the limit there is kept or not."""
    return State(
        node=action,
        resource=extend(batch, state.resource, state.node, action),
        unvisited=state.unvisited.scatter(-1, action[..., None], False),
    )
