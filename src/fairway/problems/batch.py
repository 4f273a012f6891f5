"""Sets of instances as float32 tensors in the paper's normalisation.

Apart from the instances because importing torch takes a second that reading, judging and drawing need not pay.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from fairway.errors import InvalidRequest
from fairway.given import shown
from fairway.problems.classic_view import ClassicView
from fairway.problems.instance import TSPDL, TSPTW, Instance
from fairway.problems.sets import InstanceSet, Locations, instance_set


@dataclass(frozen=True, slots=True, eq=False)
class Geometry:
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
        assert self.coordinates is not None, "a geometry has coordinates or matrices"
        apart = self.coordinates[rows(here), here] - self.coordinates[rows(there), there]
        return apart.square().sum(-1).sqrt()


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """Side constraints, as `classic_view` defines them: times normalised, loads raw and in float64."""

    after: Bool[Tensor, "B N N"]
    ways: Bool[Tensor, "B N N"]
    gaps: Float[Tensor, "B N G 2"]
    demand: Float[Tensor, "B N"]
    low: Float[Tensor, "B N"]
    high: Float[Tensor, "B N"]
    due: Float[Tensor, "B N"]


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """B instances of N nodes as tensors on one device, with the one resource that their tours accumulate.

    Going from i to j the resource rises by `increment`, and to `earliest` of j where it is still lower. It is the start
    of service, which waits for a window to open, or a growing load, kept in raw units so that whole loads stay exact:
    divided by the total demand, as in the paper, loads at their limit seem above it in float32.
    """

    geometry: Geometry
    earliest: Float[Tensor, "B N"]
    """The lowest resource with which each node can be served."""
    latest: Float[Tensor, "B N"]
    """The highest resource allowed at each node; a depot's closing is lowered to the latest return that can still
    occur, the paper's u_0."""
    stay: Float[Tensor, "B N"] | None = None
    """Service, where the resource is the time."""
    gain: Float[Tensor, "B N"] | None = None
    """Cargo, where the resource is the load."""
    side: Side | None = None
    """What is asked besides, where anything is."""

    @property
    def by_set(self) -> bool:
        """Whether the resource follows from the nodes visited, as a load does."""
        return self.gain is not None

    @property
    def initial(self) -> Float[Tensor, " B"]:
        """The resource with which a tour leaves the depot: as it opens, or empty."""
        return self.earliest[:, 0]

    @property
    def horizon(self) -> Float[Tensor, " B"]:
        """What policies divide a resource by: the latest return, or the total load if there is any."""
        if self.gain is None:
            return self.latest[:, 0]
        total = self.gain.sum(-1)
        return torch.where(total > 0, total, 1.0)

    @property
    def unit(self) -> Float[Tensor, " B"]:
        """What a slack is divided by where a policy reads it: about what one step adds to a resource.

        Times are in lengths of the unit square already.
        """
        if self.gain is None:
            return torch.ones_like(self.latest[:, 0])
        return self.horizon / (self.latest.shape[1] - 1)

    @property
    def asked(self) -> tuple[Float[Tensor, "B N"], Float[Tensor, "B N"]]:
        """What a policy reads of each node: its window, or its demand and its draft."""
        return self.earliest if self.gain is None else self.gain, self.latest

    def increment(
        self, here: Int[Tensor, "B *S"], there: Int[Tensor, "B *S"]
    ) -> Float[Tensor, "B *S"]:
        """By how much the resource rises on the way from one node straight to another."""
        if self.gain is not None:
            return self.gain[rows(there), there].expand(here.shape)
        assert self.stay is not None, "a resource is a time or a load"
        return self.stay[rows(here), here] + self.geometry.travel(here, there)

    def travel(
        self, here: Int[Tensor, "B *S"], there: Int[Tensor, "B *S"]
    ) -> Float[Tensor, "B *S"]:
        """The cost of going from one node straight to another, in normalised units."""
        return self.geometry.travel(here, there)


def timed_batch(
    geometry: Geometry,
    opens: Float[Tensor, "B N"],
    closes: Float[Tensor, "B N"],
    service: Float[Tensor, "B N"],
) -> Batch:
    """Time windows."""
    return Batch(geometry, opens, latest_return(closes, service, geometry), stay=service)


def laden_batch(
    geometry: Geometry, demand: Float[Tensor, "B N"], draft: Float[Tensor, "B N"]
) -> Batch:
    """Draft limits for a growing load."""
    return Batch(geometry, torch.zeros_like(demand), draft, gain=demand)


def take(batch: Batch, some: slice | Int[Tensor, " K"]) -> Batch:
    """Some instances of a batch."""
    return each(batch, lambda tensor: tensor[some])


def moved(batch: Batch, device: torch.device | str) -> Batch:
    """The same batch on another device."""
    return each(batch, lambda tensor: tensor.to(device))


def each(batch: Batch, change: Callable[[Tensor], Tensor]) -> Batch:
    """The batch with every tensor changed in the same way."""

    def changed(tensor: Tensor | None) -> Tensor | None:
        return None if tensor is None else change(tensor)

    geometry = batch.geometry
    part = Geometry(changed(geometry.coordinates), changed(geometry.matrix), change(geometry.scale))
    limits = change(batch.earliest), change(batch.latest)
    side = batch.side and Side(
        *(change(getattr(batch.side, column.name)) for column in fields(Side))
    )
    return Batch(part, *limits, changed(batch.stay), changed(batch.gain), side)


def rows(index: Int[Tensor, "B *S"]) -> Int[Tensor, "B *ones"]:
    """The instance each index belongs to, shaped to broadcast against it."""
    instances = torch.arange(index.shape[0], device=index.device)
    return instances.view(-1, *(1,) * (index.dim() - 1))


def latest_return(
    closes: Float[Tensor, "B N"], service: Float[Tensor, "B N"], geometry: Geometry
) -> Float[Tensor, "B N"]:
    """The windows with the depot's closing lowered to the last moment at which a punctual tour can come back."""
    instances, nodes = closes.shape
    stops = torch.arange(1, nodes, device=closes.device).expand(instances, -1)
    back = closes[:, 1:] + service[:, 1:] + geometry.travel(stops, torch.zeros_like(stops))
    depot = torch.minimum(closes[:, 0], back.amax(-1))
    return torch.cat([depot[:, None], closes[:, 1:]], dim=-1)


def to_batch(
    instances: InstanceSet, device: torch.device | str = "cpu", dtype: torch.dtype = torch.float32
) -> Batch:
    """A set as tensors in the paper's normalisation; a load that shrinks is read from the other end, where it grows."""
    if not isinstance(instances, InstanceSet):
        raise InvalidRequest(
            f"a batch is made of a set, as instance_set makes them; this is a {type(instances).__name__}"
        )
    if not isinstance(dtype, torch.dtype) or not dtype.is_floating_point:
        raise InvalidRequest(f"dtype is {shown(dtype)}; expected one of torch's, of fractions")
    try:
        torch.empty(0, device=device)
    except (AssertionError, RuntimeError, TypeError, ValueError) as error:
        raise InvalidRequest(f"there is no device {shown(device)}; expected cpu or cuda") from error

    def place(array: np.ndarray) -> Tensor:
        return torch.tensor(array, dtype=dtype, device=device)

    problem, locations = instances.problem, instances.locations
    if problem == "tspdl" and instances.load == "shrinking" and locations.matrix is not None:
        locations = Locations(locations.coordinates, locations.matrix.swapaxes(-1, -2))
    geometry, scale = _ground(locations, instances.scale, place)
    match problem:
        case "tsptw":
            neutral = {"opens": 0.0, "closes": np.inf, "service": 0.0}
            columns = (neutral | instances.columns).values()
            times = (
                np.broadcast_to(column, locations.shape) / scale[:, None] for column in columns
            )
            return timed_batch(geometry, *map(place, times))
        case "tspdl":
            assert instances.demand is not None, "there are loads"
            assert instances.draft is not None
            return laden_batch(geometry, place(instances.demand), place(instances.draft))
        case _:
            raise InvalidRequest(
                "tensors are made of time windows alone or of draft limits alone; this set has both"
            )


def view_batch(view: ClassicView, device: torch.device | str = "cpu") -> Batch:
    """An instance as tensors, with its side constraints."""
    batch = to_batch(instance_set([view.instance]), device)
    if view.side is None:
        return batch
    columns = [torch.tensor(getattr(view.side, c.name))[None] for c in fields(Side)]
    side = Side(*(column.to(device) for column in columns))
    gaps = side.gaps.to(batch.latest) / batch.geometry.scale[:, None, None, None]
    return replace(batch, side=replace(side, gaps=gaps))


def forwards(instances: InstanceSet, tours: Int[np.ndarray, "B K M"]) -> Int[np.ndarray, "B K M"]:
    """Tours that were built as resources grow, in the direction of the instances."""
    return tours[..., ::-1] if instances.load == "shrinking" else tours


def instances_in(batch: Batch) -> list[Instance]:
    """The instances of a batch one by one, in the batch's own units; loads grow."""
    make = TSPTW if batch.gain is None else TSPDL
    last = batch.stay if batch.gain is None else None
    columns = (batch.travel(*every_pair(batch)), *batch.asked, *(() if last is None else (last,)))
    lists = (column.double().cpu().numpy() for column in columns)
    return [make(*line) for line in zip(*lists, strict=True)]


def every_pair(batch: Batch) -> tuple[Int[Tensor, "B N N"], Int[Tensor, "B N N"]]:
    """All pairs of nodes of each instance, from row to column."""
    instances, nodes = batch.latest.shape
    node = torch.arange(nodes, device=batch.latest.device).expand(instances, nodes, nodes)
    return node.mT, node


def _ground(
    locations: Locations, scale: float | None, place: Callable[[np.ndarray], Tensor]
) -> tuple[Geometry, Float[np.ndarray, " B"]]:
    """The ground on a device and the unit of its travel: the scale given, else each instance's own extent.

    Matrices may be in other units than the coordinates, which then fill the unit square by themselves.
    """
    points, matrix = locations.coordinates, locations.matrix
    if points is not None and scale is None:
        points = points - points.min(axis=1, keepdims=True)
    extent = np.ones(len(locations)) if points is None else _or_one(points.max(axis=(1, 2)))
    if scale is not None:
        unit = extent = np.full(len(locations), scale)
    elif matrix is not None:
        unit = _or_one(matrix.max(axis=(1, 2)) / np.sqrt(2))
    else:
        unit = extent
    geometry = Geometry(
        None if points is None else place(points / extent[:, None, None]),
        None if matrix is None else place(matrix / unit[:, None, None]),
        place(unit),
    )
    return geometry, unit


def _or_one(extent: Float[np.ndarray, " B"]) -> Float[np.ndarray, " B"]:
    return np.where(extent > 0, extent, 1.0)
