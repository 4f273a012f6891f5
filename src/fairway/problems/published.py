"""The published test sets, drawn again exactly as their authors' programs drew them."""

import numpy as np
from jaxtyping import Float32

from fairway.problems.generate import LoweredDrafts, RandomWindows, TourWindows, servable
from fairway.problems.philox import CudaGenerator

Arrays = dict[str, Float32[np.ndarray, "B N ..."]]


def random_windows(law: RandomWindows, n: int, count: int, seed: int) -> Arrays:
    """Easy and medium TSPTW, from numpy's legacy generator."""
    rng = np.random.RandomState(seed)
    tour_time = law.tour_time(n)
    coordinates = rng.uniform(size=(count, n, 2)) * law.side
    opens = rng.randint(np.zeros((count, n), int), np.full((count, n), tour_time))
    rng.randint(0, n, (count, 1))  # drawn and never used, but it moves the stream on
    widths = np.around(tour_time * rng.uniform(*law.width, (count, n)))
    opens[:, 0], widths[:, 0] = 0, 2 * tour_time
    closes = np.minimum(opens + widths, 2 * tour_time)
    return _single_precision({"coordinates": coordinates, "opens": opens, "closes": closes})


def tour_windows(law: TourWindows, n: int, count: int, seed: int) -> Arrays:
    """Hard TSPTW, from the CUDA stream, every sum rounded to float32 as it was there."""
    single = np.float32
    stream = CudaGenerator(seed)
    coordinates = (stream.uniform(count * n * 2) * single(law.side)).reshape(count, n, 2)
    tours = 1 + stream.permutations(n - 1, count)
    opens = np.zeros((count, n), single)
    closes = np.zeros((count, n), single)
    closes[:, 0] = law.depot_closes
    row = np.arange(count)
    here, arrival = coordinates[:, 0], np.zeros(count, single)
    for stop in tours.T:
        there = coordinates[row, stop]
        apart = np.square(here - there)
        arrival = arrival + np.sqrt(apart[:, 0] + apart[:, 1])
        early, late = stream.uniform(count), stream.uniform(count)
        opens[row, stop] = early * single(law.eta) + (arrival - single(law.eta))
        closes[row, stop] = late * single(law.eta) + arrival
        here = there
    return {"coordinates": coordinates, "opens": opens, "closes": closes}


def lowered_drafts(law: LoweredDrafts, n: int, count: int, seed: int) -> Arrays:
    """TSPDL: places and drafts from the CUDA stream, the lowered ports from numpy's legacy generator."""
    rng = np.random.RandomState(seed)
    stream = CudaGenerator(seed)
    coordinates = stream.uniform(count * n * 2).reshape(count, n, 2)
    lowered = law.lowered(n)
    ports = np.stack([1 + rng.choice(n - 1, size=lowered, replace=False) for _ in range(count)])
    draft = np.full((count, n), n - 1.0)
    draft[np.arange(count)[:, None], ports] = _accepted(stream, n, lowered, count)
    demand = np.ones((count, n))
    demand[:, 0] = 0
    return _single_precision({"coordinates": coordinates, "demand": demand, "draft": draft})


def _accepted(stream: CudaGenerator, n: int, lowered: int, count: int) -> np.ndarray:
    """The first `count` draws of the stream that leave a tour: each instance took the next one that did."""
    found: list[np.ndarray] = []
    while sum(map(len, found)) < count:
        drafts = stream.integers(1, n - 1, lowered, calls=8192)
        found.append(drafts[servable(drafts)])
    return np.concatenate(found)[:count]


def _single_precision(arrays: dict[str, np.ndarray]) -> Arrays:
    return {name: array.astype(np.float32) for name, array in arrays.items()}
