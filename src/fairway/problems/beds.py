"""Named test beds: the ten published sets and a few of our own, the same bits on every machine."""

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
from fairway.problems.generate import Arrays, Law, TourWindows, as_set, named_law
from fairway.problems.published import draw_published
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
    def law(self) -> Law:
        """The law with the bed's own parameters."""
        if self.eta is not None:
            return TourWindows(eta=self.eta)
        return named_law(self.problem, self.hardness)


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
    if not isinstance(name, str) or name not in beds():
        raise InvalidRequest(f"there is no bed {name!r}; expected one of {', '.join(beds())}")
    return beds()[name]


def draw_bed(bed: Bed) -> Arrays:
    """The arrays of a bed as float32, drawn from its stream."""
    return draw_published(bed.law, bed.nodes, bed.count, bed.seed)


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
