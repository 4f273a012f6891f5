"""Named test sets: the ten published sets and a few of our own, the same bits on every machine.

They are drawn exactly as the authors' programs drew theirs, from the same streams.
"""

import hashlib
import io
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from fairway import atomic
from fairway.errors import CorruptBed, FairwayError, InvalidRequest
from fairway.folders import cache_folder
from fairway.given import is_word_of, shown
from fairway.problems.generate import (
    Arrays,
    Distribution,
    LoweredDrafts,
    RandomWindows,
    TourWindows,
    as_set,
    named_distribution,
    servable,
)
from fairway.problems.philox import CudaGenerator
from fairway.problems.sets import InstanceSet
from fairway.problems.table import PROBLEMS


@dataclass(frozen=True, slots=True)
class Bed:
    """What a bed is drawn from, and the SHA-256 of each float32 array it must come out as."""

    name: str
    problem: str
    nodes: int
    hardness: str
    count: int
    seed: int
    published: bool
    sha256: dict[str, str]
    eta: float | None = None

    @property
    def distribution(self) -> Distribution:
        """The distribution with the bed's own parameters."""
        if self.eta is not None:
            return TourWindows(eta=self.eta)
        return named_distribution(self.problem, self.hardness)


@cache
def beds() -> dict[str, Bed]:
    """All beds by name."""
    table = json.loads(Path(__file__).with_name("beds.json").read_text())
    return {row["name"]: Bed(**row) for row in table}


def load_bed(name: str) -> InstanceSet:
    """The instances of a named bed, from the cache or drawn anew, and in either case checked against its hashes.

    The cache is the folder `FAIRWAY_CACHE`, else `fairway` in the user's cache folder; it can be deleted at any time.
    """
    bed = bed_named(name)
    kept = cache_folder() / f"{name}.npz"
    arrays = _cached(kept)
    if arrays is None or not _matches(arrays, bed):
        arrays = draw_bed(bed)
        if not _matches(arrays, bed):
            raise CorruptBed(
                f"bed {name} was drawn with numpy {np.__version__}, and its bits are not the expected ones; "
                "install the versions in constraints.txt"
            )
        _keep(arrays, kept)
    return as_set(arrays, bed.name, PROBLEMS[bed.problem].scale)


def bed_named(name: str) -> Bed:
    """The bed of that name."""
    if not is_word_of(name, beds()):
        raise InvalidRequest(f"there is no bed {shown(name)}; expected one of {', '.join(beds())}")
    return beds()[name]


def draw_bed(bed: Bed) -> Arrays:
    """The arrays of a bed as float32, drawn from its stream."""
    size = bed.nodes, bed.count, bed.seed
    match bed.distribution:
        case RandomWindows() as distribution:
            arrays = _random_windows(distribution, *size)
        case TourWindows() as distribution:
            arrays = _tour_windows(distribution, *size)
        case LoweredDrafts() as distribution:
            arrays = _lowered_drafts(distribution, *size)
    return {name: array.astype(np.float32) for name, array in arrays.items()}


def digests(arrays: Arrays) -> dict[str, str]:
    """The SHA-256 of each array's bytes."""
    return {name: hashlib.sha256(array.tobytes()).hexdigest() for name, array in arrays.items()}


def _matches(arrays: Arrays, bed: Bed) -> bool:
    return digests(arrays) == bed.sha256


def _cached(path: Path) -> Arrays | None:
    """The arrays of a cached file; None where it is absent or damaged, which the hashes tell and drawing anew mends."""
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except Exception:
        return None


def _keep(arrays: Arrays, path: Path) -> None:
    """Cache the arrays; a cache that cannot be written costs the next load a second, and nothing else."""
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic.write_bytes(path, buffer.getvalue())
    except (OSError, FairwayError):
        return


def _random_windows(distribution: RandomWindows, n: int, count: int, seed: int) -> Arrays:
    """Easy and medium TSPTW, from numpy's legacy generator."""
    rng = np.random.RandomState(seed)
    coordinates = rng.uniform(size=(count, n, 2)) * distribution.side
    opens = rng.randint(np.zeros((count, n), int), np.full((count, n), distribution.tour_time(n)))
    rng.randint(0, n, (count, 1))  # drawn and never used, but it moves the stream on
    windows = distribution.windows(opens, rng.uniform(*distribution.width, (count, n)))
    return {"coordinates": coordinates, **windows}


def _tour_windows(distribution: TourWindows, n: int, count: int, seed: int) -> Arrays:
    """Hard TSPTW, from the CUDA stream, every sum rounded to float32 as it was there."""
    stream = CudaGenerator(seed)
    coordinates = (stream.uniform(count * n * 2) * np.float32(distribution.side)).reshape(
        count, n, 2
    )
    tours = 1 + stream.permutations(n - 1, count)
    shares = np.stack([stream.uniform(count) for _ in range(2 * (n - 1))], axis=1)
    windows = distribution.windows(coordinates, tours, shares[:, ::2], shares[:, 1::2])
    return {"coordinates": coordinates, **windows}


def _lowered_drafts(distribution: LoweredDrafts, n: int, count: int, seed: int) -> Arrays:
    """TSPDL: places and drafts from the CUDA stream, the lowered ports from numpy's legacy generator."""
    rng = np.random.RandomState(seed)
    stream = CudaGenerator(seed)
    coordinates = stream.uniform(count * n * 2).reshape(count, n, 2)
    lowered = distribution.lowered(n)
    ports = np.stack([1 + rng.choice(n - 1, size=lowered, replace=False) for _ in range(count)])
    loads = distribution.loads(n, ports, _accepted(stream, n, lowered, count))
    return {"coordinates": coordinates, **loads}


def _accepted(stream: CudaGenerator, n: int, lowered: int, count: int) -> np.ndarray:
    """The first `count` draws of the stream that leave a tour: each instance took the next one that did."""
    found: list[np.ndarray] = []
    while sum(map(len, found)) < count:
        drafts = stream.integers(1, n - 1, lowered, calls=8192)
        found.append(drafts[servable(drafts)])
    return np.concatenate(found)[:count]
