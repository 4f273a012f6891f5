"""The same distributions on the training device: whole batches at once, in normalised float32, with no loop."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Generator, Tensor

from fairway.problems.batch import Batch, Geometry, laden_batch, timed_batch
from fairway.problems.generate import Distribution, LoweredDrafts, RandomWindows, TourWindows


def draw(distribution: Distribution, n: int, count: int, generator: Generator) -> Batch:
    """Draw `count` instances of `n` nodes, on the device of the generator."""
    match distribution:
        case RandomWindows():
            return random_windows(distribution, n, count, generator)
        case TourWindows():
            return tour_windows(distribution, n, count, generator)
        case LoweredDrafts():
            return lowered_drafts(distribution, n, count, generator)


def random_windows(distribution: RandomWindows, n: int, count: int, generator: Generator) -> Batch:
    """Easy and medium TSPTW."""
    geometry = _ground(n, count, distribution.side, generator)
    low, high = distribution.width
    opens = torch.randint(
        distribution.tour_time(n), (count, n), generator=generator, device=generator.device
    ).float()
    windows = distribution.windows(opens, low + (high - low) * _uniform((count, n), generator))
    opens, closes = windows["opens"] / distribution.side, windows["closes"] / distribution.side
    return timed_batch(geometry, opens, closes, torch.zeros_like(opens))


def tour_windows(distribution: TourWindows, n: int, count: int, generator: Generator) -> Batch:
    """Hard TSPTW, summed in float64; rounding never closes a window before the hidden tour is there."""
    geometry = _ground(n, count, distribution.side, generator)
    assert geometry.coordinates is not None
    tours = 1 + _uniform((count, n - 1), generator).argsort(-1)
    path = torch.cat([torch.zeros_like(tours[:, :1]), tours], dim=-1)
    along = geometry.coordinates.double().gather(1, path[..., None].expand(-1, -1, 2))
    arrivals = along.diff(dim=1).square().sum(-1).sqrt().cumsum(-1)
    eta = distribution.eta / distribution.side
    early, late = (_uniform((count, n - 1), generator).double() for _ in range(2))
    rounded_up = torch.nextafter(arrivals.float(), torch.full_like(arrivals, torch.inf).float())
    opens = torch.zeros(count, n, device=generator.device)
    closes = torch.full(
        (count, n), distribution.depot_closes / distribution.side, device=generator.device
    )
    opens.scatter_(1, tours, (arrivals - eta + eta * early).float())
    closes.scatter_(1, tours, torch.maximum((arrivals + eta * late).float(), rounded_up))
    closes[:, 0] = closes[:, 0].maximum(closes[:, 1:].amax(-1) + 2)  # further than any way home
    return timed_batch(geometry, opens, closes, torch.zeros_like(opens))


def lowered_drafts(distribution: LoweredDrafts, n: int, count: int, generator: Generator) -> Batch:
    """TSPDL, with no rejection."""
    geometry = _ground(n, count, 1.0, generator)
    lowered = distribution.lowered(n)
    draft = torch.full((count, n), n - 1.0, device=generator.device)
    if lowered:
        ports = 1 + _uniform((count, n - 1), generator).argsort(-1)[:, :lowered]
        draft.scatter_(1, ports, servable_drafts(n - 2, lowered, count, generator).float())
    demand = torch.ones_like(draft)
    demand[:, 0] = 0
    return laden_batch(geometry, demand, draft)


def servable_drafts(
    spots: int, lowered: int, count: int, generator: Generator
) -> Int[Tensor, "B K"]:
    """Uniform among the rows of values 1..spots of which, for every v, at most v are v or less.

    Counted from the other end these rows are parking functions: drivers who each prefer one of
    `spots` places in a street and all find one further on. Pollak's argument draws them without
    rejection: let them park round a circle with one place more, choose one of the places left
    empty, and cut the circle there.
    """
    circle = spots + 1
    wishes = torch.randint(circle, (count, lowered), generator=generator, device=generator.device)
    empty = _left_empty(wishes, circle)
    chosen = _uniform((count, circle), generator).masked_fill(~empty, -1.0).argmax(-1, keepdim=True)
    return spots - (wishes - chosen - 1) % circle


def _left_empty(wishes: Int[Tensor, "B K"], circle: int) -> Bool[Tensor, "B S"]:
    """Which places of the circle stay empty when each driver takes the first free place from the wished one on.

    A place is empty iff the running surplus of wishes over places falls to a new low there; the
    first lap round the circle brings in the drivers who pass the seam.
    """
    wished = torch.zeros(wishes.shape[0], circle, dtype=torch.long, device=wishes.device)
    wished.scatter_add_(1, wishes, torch.ones_like(wishes))
    surplus = torch.cat([wished, wished], dim=-1).sub(1).cumsum(-1)
    lowest = surplus.cummin(-1).values
    return surplus[:, circle:] < lowest[:, circle - 1 : -1]


def _ground(n: int, count: int, side: float, generator: Generator) -> Geometry:
    scale = torch.full((count,), side, device=generator.device)
    return Geometry(_uniform((count, n, 2), generator), None, scale)


def _uniform(shape: tuple[int, ...], generator: Generator) -> Float[Tensor, "..."]:
    return torch.rand(shape, generator=generator, device=generator.device)
