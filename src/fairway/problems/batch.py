"""Sets of instances as float32 tensors in the paper's normalisation, each with its problem's law.

Apart from the instances because importing torch takes a second that reading, judging and drawing need not pay.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import overload

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from fairway.errors import InvalidRequest
from fairway.problems.places import Places
from fairway.problems.problem import rows
from fairway.problems.tspdl import TSPDLSet
from fairway.problems.tsptw import TSPTWSet


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """What a batch travels on: coordinates in the unit square, or travel matrices, or both, in normalised units."""

    coordinates: Float[Tensor, "B N 2"] | None
    matrix: Float[Tensor, "B N N"] | None
    """None where travel is the Euclidean distance, which is then computed for the pairs asked for."""
    scale: Float[Tensor, " B"]
    """Raw units in one normalised unit."""

    def travel(
        self, here: Int[Tensor, "B *S"], there: Int[Tensor, "B *S"]
    ) -> Float[Tensor, "B *S"]:
        """The way from one node straight to another."""
        if self.matrix is not None:
            return self.matrix[rows(here), here, there]
        assert self.coordinates is not None, "a ground has coordinates or matrices"
        apart = self.coordinates[rows(here), here] - self.coordinates[rows(there), there]
        return apart.square().sum(-1).sqrt()


@dataclass(frozen=True, slots=True, eq=False)
class TSPTWBatch:
    """Time windows: the level is the start of service, which waits for the window to open."""

    ground: Ground
    opens: Float[Tensor, "B N"]
    closes: Float[Tensor, "B N"]
    """The depot's is lowered to the latest return that can still occur, the paper's u_0."""
    service: Float[Tensor, "B N"]

    @property
    def floor(self) -> Float[Tensor, "B N"]:
        """Service waits for the window to open."""
        return self.opens

    @property
    def limit(self) -> Float[Tensor, "B N"]:
        """Service must start before the window closes."""
        return self.closes

    @property
    def outset(self) -> Float[Tensor, " B"]:
        """The tour leaves as the depot opens."""
        return self.opens[:, 0]

    @property
    def horizon(self) -> Float[Tensor, " B"]:
        """The latest return to the depot."""
        return self.closes[:, 0]

    @property
    def unit(self) -> Float[Tensor, " B"]:
        """Times are in lengths of the unit square already."""
        return torch.ones_like(self.closes[:, 0])

    def lead(self, here: Int[Tensor, "B *S"], there: Int[Tensor, "B *S"]) -> Float[Tensor, "B *S"]:
        """From the start of service at one node to the arrival at another."""
        return self.service[rows(here), here] + self.ground.travel(here, there)

    def travel(
        self, here: Int[Tensor, "B *S"], there: Int[Tensor, "B *S"]
    ) -> Float[Tensor, "B *S"]:
        """Travel time, in normalised units."""
        return self.ground.travel(here, there)


@dataclass(frozen=True, slots=True, eq=False)
class TSPDLBatch:
    """Draft limits in the growing direction: the level is the load, kept in raw units so that whole loads stay exact.

    The paper divides demands and drafts by the total demand; in float32 that makes loads at their limit seem above it.
    Here features divide by `horizon`, and the law does not.
    """

    ground: Ground
    demand: Float[Tensor, "B N"]
    draft: Float[Tensor, "B N"]

    @property
    def floor(self) -> Float[Tensor, "B N"]:
        """No port asks for a load."""
        return torch.zeros_like(self.demand)

    @property
    def limit(self) -> Float[Tensor, "B N"]:
        """The load, own cargo included, must not exceed the draft."""
        return self.draft

    @property
    def outset(self) -> Float[Tensor, " B"]:
        """The ship leaves the depot empty."""
        return torch.zeros_like(self.demand[:, 0])

    @property
    def horizon(self) -> Float[Tensor, " B"]:
        """The total demand, or 1 where there is none."""
        total = self.demand.sum(-1)
        return torch.where(total > 0, total, 1.0)

    @property
    def unit(self) -> Float[Tensor, " B"]:
        """The mean demand of a port."""
        return self.horizon / (self.demand.shape[1] - 1)

    def lead(self, here: Int[Tensor, "B *S"], there: Int[Tensor, "B *S"]) -> Float[Tensor, "B *S"]:
        """The port's own cargo, wherever the ship comes from."""
        return self.demand[rows(there), there].expand(here.shape)

    def travel(
        self, here: Int[Tensor, "B *S"], there: Int[Tensor, "B *S"]
    ) -> Float[Tensor, "B *S"]:
        """Travel cost, in normalised units."""
        return self.ground.travel(here, there)


def take(
    batch: TSPTWBatch | TSPDLBatch, some: slice | Int[Tensor, " K"]
) -> TSPTWBatch | TSPDLBatch:
    """Some instances of a batch."""
    return each(batch, lambda tensor: tensor[some])


def moved(batch: TSPTWBatch | TSPDLBatch, device: torch.device | str) -> TSPTWBatch | TSPDLBatch:
    """The same batch on another device."""
    return each(batch, lambda tensor: tensor.to(device))


def each(
    batch: TSPTWBatch | TSPDLBatch, change: Callable[[Tensor], Tensor]
) -> TSPTWBatch | TSPDLBatch:
    """The batch with every tensor changed in the same way."""
    ground = batch.ground
    part = Ground(
        None if ground.coordinates is None else change(ground.coordinates),
        None if ground.matrix is None else change(ground.matrix),
        change(ground.scale),
    )
    if isinstance(batch, TSPTWBatch):
        return TSPTWBatch(part, change(batch.opens), change(batch.closes), change(batch.service))
    return TSPDLBatch(part, change(batch.demand), change(batch.draft))


def latest_return(
    closes: Float[Tensor, "B N"], service: Float[Tensor, "B N"], ground: Ground
) -> Float[Tensor, "B N"]:
    """The windows with the depot's closing lowered to the last moment at which a punctual tour can come back."""
    instances, nodes = closes.shape
    stops = torch.arange(1, nodes, device=closes.device).expand(instances, -1)
    back = closes[:, 1:] + service[:, 1:] + ground.travel(stops, torch.zeros_like(stops))
    depot = torch.minimum(closes[:, 0], back.amax(-1))
    return torch.cat([depot[:, None], closes[:, 1:]], dim=-1)


@overload
def to_batch(
    instances: TSPTWSet, device: torch.device | str = "cpu", dtype: torch.dtype = torch.float32
) -> TSPTWBatch: ...
@overload
def to_batch(
    instances: TSPDLSet, device: torch.device | str = "cpu", dtype: torch.dtype = torch.float32
) -> TSPDLBatch: ...
def to_batch(
    instances: TSPTWSet | TSPDLSet,
    device: torch.device | str = "cpu",
    dtype: torch.dtype = torch.float32,
) -> TSPTWBatch | TSPDLBatch:
    """A set as tensors in the paper's normalisation, draft limits in the growing direction."""

    def place(array: np.ndarray) -> Tensor:
        return torch.tensor(array, dtype=dtype, device=device)

    if isinstance(instances, TSPTWSet):
        return _tsptw_batch(instances, place)
    if isinstance(instances, TSPDLSet):
        return _tspdl_batch(instances, place)
    raise InvalidRequest(
        f"a batch is made of a set, as instance_set makes them; this is a {type(instances).__name__}"
    )


Placing = Callable[[np.ndarray], Tensor]
"""From numpy to the device and precision of a batch."""


def forwards(
    instances: TSPTWSet | TSPDLSet, tours: Int[np.ndarray, "B K M"]
) -> Int[np.ndarray, "B K M"]:
    """Tours that were built as levels grow, in the direction of the instances."""
    backwards = isinstance(instances, TSPDLSet) and instances.load == "shrinking"
    return tours[..., ::-1] if backwards else tours


def _tsptw_batch(instances: TSPTWSet, place: Placing) -> TSPTWBatch:
    """Coordinates, travel and times divided by the set's scale."""
    ground, scale = _ground(instances.places, instances.scale, place)
    opens, closes, service = (
        place(column / scale[:, None])
        for column in (instances.opens, instances.closes, instances.service)
    )
    return TSPTWBatch(ground, opens, latest_return(closes, service, ground), service)


def _tspdl_batch(instances: TSPDLSet, place: Placing) -> TSPDLBatch:
    """Coordinates and travel divided by the set's scale; a shrinking load is read from the other end."""
    places = instances.places
    if instances.load == "shrinking" and places.matrix is not None:
        places = Places(places.coordinates, places.matrix.swapaxes(-1, -2))
    ground, _ = _ground(places, instances.scale, place)
    return TSPDLBatch(ground, place(instances.demand), place(instances.draft))


def _ground(
    places: Places, scale: float | None, place: Placing
) -> tuple[Ground, Float[np.ndarray, " B"]]:
    """The ground on a device and the unit of its travel: the scale given, else each instance's own extent.

    Matrices may be in other units than the coordinates, which then fill the unit square by themselves.
    """
    points, matrix = places.coordinates, places.matrix
    if points is not None and scale is None:
        points = points - points.min(axis=1, keepdims=True)
    extent = np.ones(len(places)) if points is None else _or_one(points.max(axis=(1, 2)))
    if scale is not None:
        unit = extent = np.full(len(places), scale)
    elif matrix is not None:
        unit = _or_one(matrix.max(axis=(1, 2)) / np.sqrt(2))
    else:
        unit = extent
    ground = Ground(
        None if points is None else place(points / extent[:, None, None]),
        None if matrix is None else place(matrix / unit[:, None, None]),
        place(unit),
    )
    return ground, unit


def _or_one(extent: Float[np.ndarray, " B"]) -> Float[np.ndarray, " B"]:
    return np.where(extent > 0, extent, 1.0)
