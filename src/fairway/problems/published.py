"""The published test sets, drawn again exactly as their authors' programs drew them."""

import numpy as np

from fairway.problems.generate import (
    Arrays,
    Law,
    LoweredDrafts,
    RandomWindows,
    TourWindows,
    servable,
)
from fairway.problems.philox import CudaGenerator


def draw_published(law: Law, n: int, count: int, seed: int) -> Arrays:
    """The float32 arrays of a published set, or of one that is drawn in the same way."""
    match law:
        case RandomWindows():
            arrays = _random_windows(law, n, count, seed)
        case TourWindows():
            arrays = _tour_windows(law, n, count, seed)
        case LoweredDrafts():
            arrays = _lowered_drafts(law, n, count, seed)
    return {name: array.astype(np.float32) for name, array in arrays.items()}


def _random_windows(law: RandomWindows, n: int, count: int, seed: int) -> Arrays:
    """Easy and medium TSPTW, from numpy's legacy generator."""
    rng = np.random.RandomState(seed)
    coordinates = rng.uniform(size=(count, n, 2)) * law.side
    opens = rng.randint(np.zeros((count, n), int), np.full((count, n), law.tour_time(n)))
    rng.randint(0, n, (count, 1))  # drawn and never used, but it moves the stream on
    windows = law.windows(opens, rng.uniform(*law.width, (count, n)))
    return {"coordinates": coordinates, **windows}


def _tour_windows(law: TourWindows, n: int, count: int, seed: int) -> Arrays:
    """Hard TSPTW, from the CUDA stream, every sum rounded to float32 as it was there."""
    stream = CudaGenerator(seed)
    coordinates = (stream.uniform(count * n * 2) * np.float32(law.side)).reshape(count, n, 2)
    tours = 1 + stream.permutations(n - 1, count)
    shares = np.stack([stream.uniform(count) for _ in range(2 * (n - 1))], axis=1)
    windows = law.windows(coordinates, tours, shares[:, ::2], shares[:, 1::2])
    return {"coordinates": coordinates, **windows}


def _lowered_drafts(law: LoweredDrafts, n: int, count: int, seed: int) -> Arrays:
    """TSPDL: places and drafts from the CUDA stream, the lowered ports from numpy's legacy generator."""
    rng = np.random.RandomState(seed)
    stream = CudaGenerator(seed)
    coordinates = stream.uniform(count * n * 2).reshape(count, n, 2)
    lowered = law.lowered(n)
    ports = np.stack([1 + rng.choice(n - 1, size=lowered, replace=False) for _ in range(count)])
    loads = law.loads(n, ports, _accepted(stream, n, lowered, count))
    return {"coordinates": coordinates, **loads}


def _accepted(stream: CudaGenerator, n: int, lowered: int, count: int) -> np.ndarray:
    """The first `count` draws of the stream that leave a tour: each instance took the next one that did."""
    found: list[np.ndarray] = []
    while sum(map(len, found)) < count:
        drafts = stream.integers(1, n - 1, lowered, calls=8192)
        found.append(drafts[servable(drafts)])
    return np.concatenate(found)[:count]
