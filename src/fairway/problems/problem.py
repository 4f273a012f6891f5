"""What a construction is, for every problem at once: a level that rises along the tour, under limits.

Axes, here and in the whole project: B instances, P parallel tours, N nodes (0 is the depot),
M stops of a tour, K neighbours, H heads, D width.
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


@runtime_checkable
class Batch(Protocol):
    """B instances of N nodes as tensors on one device, with the one law of their problem.

    The law: going from i to j raises the level by `lead`, and to `floor` of j where it is still lower.
    """

    @property
    def floor(self) -> Float[Tensor, "B N"]:
        """The lowest level with which each node can be served."""
        ...

    @property
    def limit(self) -> Float[Tensor, "B N"]:
        """The highest level allowed at each node."""
        ...

    @property
    def outset(self) -> Float[Tensor, " B"]:
        """The level with which a tour leaves the depot."""
        ...

    @property
    def horizon(self) -> Float[Tensor, " B"]:
        """What a level is divided by where a policy reads it."""
        ...

    @property
    def unit(self) -> Float[Tensor, " B"]:
        """What a slack is divided by where a policy reads it: about what one step adds to a level."""
        ...

    def lead(self, here: Int[Tensor, "B *S"], there: Int[Tensor, "B *S"]) -> Float[Tensor, "B *S"]:
        """By how much the level rises on the way from one node straight to another."""
        ...

    def travel(
        self, here: Int[Tensor, "B *S"], there: Int[Tensor, "B *S"]
    ) -> Float[Tensor, "B *S"]:
        """The cost of going from one node straight to another."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """Where P unfinished tours of each instance stand."""

    node: Int[Tensor, "B P"]
    level: Float[Tensor, "B P"]
    """Start of service (TSPTW) or load on board (TSPDL) at `node`."""
    unvisited: Bool[Tensor, "B P N"]


def rows(index: Int[Tensor, "B *S"]) -> Int[Tensor, "B *ones"]:
    """The instance each index belongs to, shaped to broadcast against it."""
    instances = torch.arange(index.shape[0], device=index.device)
    return instances.view(-1, *(1,) * (index.dim() - 1))


def extend(
    batch: Batch,
    level: Float[Tensor, "B *S"],
    here: Int[Tensor, "B *S"],
    there: Int[Tensor, "B *S"],
) -> Float[Tensor, "B *S"]:
    """The level on being served at `there`, coming straight from `here` at `level`."""
    return torch.maximum(level + batch.lead(here, there), batch.floor[rows(there), there])


def every_pair(batch: Batch) -> tuple[Int[Tensor, "B N N"], Int[Tensor, "B N N"]]:
    """All pairs of nodes of each instance, from row to column."""
    instances, nodes = batch.limit.shape
    node = torch.arange(nodes, device=batch.limit.device).expand(instances, nodes, nodes)
    return node.mT, node


def start(batch: Batch, tours: int = 1) -> State:
    """All tours at the depot, everything else still to visit."""
    instances, nodes = batch.limit.shape
    device = batch.limit.device
    unvisited = torch.ones(instances, tours, nodes, dtype=torch.bool, device=device)
    unvisited[..., 0] = False
    return State(
        node=torch.zeros(instances, tours, dtype=torch.long, device=device),
        level=batch.outset[:, None].expand(instances, tours),
        unvisited=unvisited,
    )


def step(batch: Batch, state: State, action: Int[Tensor, "B P"]) -> State:
    """Every tour goes on to its chosen node, whether the limit there is kept or not."""
    return State(
        node=action,
        level=extend(batch, state.level, state.node, action),
        unvisited=state.unvisited.scatter(-1, action[..., None], False),
    )
