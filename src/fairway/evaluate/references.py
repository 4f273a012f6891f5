"""Reference costs of a bed, every one of them backed by a tour that the judge accepts, or left out.

Those that ship are tours of our own solver. A tour is kept as how far each stop stands from its place in the order of
limits, which is little where limits bind and compresses to a few bytes. Costs are not kept at all: the judge works them
out again when the tours are read.
"""

import io
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Float, Int

from fairway.atomic import write_bytes
from fairway.errors import InvalidFile, InvalidRequest
from fairway.given import path_of
from fairway.judge import Solution, verify
from fairway.problems.beds import bed_named, load_bed
from fairway.problems.files import pickles
from fairway.problems.files.text import LARGEST_TEXT, Unreadable, bounded
from fairway.problems.sets import InstanceSet
from fairway.problems.table import PROBLEMS

FOLDER = Path(__file__).with_name("references")
PUBLISHED_TOLERANCE = 1e-3
"""What the authors' environment forgives, 1e-5 in normalised units, in the raw units of the beds with time windows."""


@dataclass(frozen=True, slots=True, eq=False)
class References:
    """Best known costs, one per instance; NaN where the source has no tour, or one that is not of its cost."""

    bed: str
    source: str
    cost: Float[np.ndarray, " B"]
    proved: Bool[np.ndarray, " B"]
    """Whether the cost is known to be optimal."""
    tour: Int[np.ndarray, "B M"]
    """In the direction of the bed's instances, also where the cost is NaN."""
    stated: Float[np.ndarray, " B"]
    """The lengths of all tours, infeasible ones among them, to which the paper counts gaps; NaN where there is none."""

    @property
    def refused(self) -> Int[np.ndarray, " R"]:
        """The instances whose reference the judge refuses, and which no gap may count."""
        return np.flatnonzero(np.isnan(self.cost))


@dataclass(frozen=True, slots=True, eq=False)
class Shipped:
    """The tours of the first instances of a bed, before anyone has judged them."""

    tour: Int[np.ndarray, "K M"]
    proved: Bool[np.ndarray, " K"]
    """Whether it is proved that no tour is better."""
    made_by: str
    """The version of Fairway and the command, or the name of a file."""


def load_references(
    bed: str, path: str | Path | None = None, tolerance: float = PUBLISHED_TOLERANCE
) -> References:
    """The references of a bed: those shipped with Fairway, or those in a file, all judged before use.

    Args:
        bed: The name of a bed.
        path: The authors' `lkh_*.pkl`, or an `.npz` with arrays `cost` and `tour` (one row per instance).
        tolerance: By how much a reference tour may pass a limit; LKH-3 rounded its input.
    """
    if path is None:
        return _judged(*_shipped(bed), None, tolerance)
    place = path_of(path)
    try:
        return _judged(load_bed(bed), *_stated(place), tolerance)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidFile(f"{place}: cannot be read ({reason})") from error
    except Unreadable as error:
        raise InvalidFile(f"{place}: {error.message}") from error


def read_shipped(instances: InstanceSet, path: Path) -> Shipped:
    """The tours in a file that `write_shipped` made for the same instances."""
    with np.load(path, allow_pickle=False) as file:
        shift, proved, made_by = file["shift"], file["proved"], str(file["made_by"])
    rank = shift.astype(np.int64) + np.arange(shift.shape[1])
    order = _by_limit(instances)[: len(rank)]
    return Shipped(np.take_along_axis(order, rank, axis=1), proved, made_by)


def write_shipped(instances: InstanceSet, path: Path, shipped: Shipped) -> None:
    """Keep tours of the first instances in a file, whole or not at all."""
    rank = np.argsort(_by_limit(instances), axis=1)[: len(shipped.tour)]
    shift = np.take_along_axis(rank, shipped.tour - 1, axis=1) - np.arange(rank.shape[1])
    small = np.int8 if rank.shape[1] <= np.iinfo(np.int8).max else np.int16
    content = io.BytesIO()
    made_by = np.array(shipped.made_by)
    np.savez_compressed(content, shift=shift.astype(small), proved=shipped.proved, made_by=made_by)
    write_bytes(path, content.getvalue())


def _shipped(bed: str) -> tuple[InstanceSet, Shipped]:
    path = FOLDER / f"{bed_named(bed).name}.npz"
    if not path.exists():
        raise InvalidRequest(f"no reference costs ship for bed {bed} yet; give a file of them")
    instances = load_bed(bed)
    shipped = read_shipped(instances, path)
    missing = len(instances) - len(shipped.tour)
    tour = np.pad(shipped.tour, ((0, missing), (0, 0)))
    return instances, replace(shipped, tour=tour, proved=np.pad(shipped.proved, (0, missing)))


def _stated(place: Path) -> tuple[Shipped, Float[np.ndarray, " B"]]:
    """The tours of a file, with the costs that it says they have."""
    content = bounded(place, LARGEST_TEXT)
    if pickles.recognises(content):
        cost, tour = pickles.published_references(content)
        return Shipped(tour, np.zeros(len(cost), bool), place.name), cost
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            assert sum(each.file_size for each in file.zip.infolist()) <= LARGEST_TEXT
            arrays = {name: file[name] for name in file.files}
        cost, tour = arrays["cost"].astype(np.float64), arrays["tour"].astype(np.int64)
        proved = arrays["proved"].astype(bool) if "proved" in arrays else np.zeros(cost.shape, bool)
    except Exception as error:  # numpy and zipfile fail in many ways on a damaged file
        raise Unreadable(
            "is no file of references; expected a .npz with arrays cost and tour"
        ) from error
    return Shipped(tour, proved, place.name), cost


def _judged(
    instances: InstanceSet,
    given: Shipped,
    stated: Float[np.ndarray, " B"] | None,
    tolerance: float,
) -> References:
    """The costs of tours as the judge has them, which must be those stated, if any are."""
    expected = (len(instances), instances.nodes - 1)
    costs = np.full(expected[0], np.nan) if stated is None else stated
    if given.tour.shape != expected or {costs.shape, given.proved.shape} != {expected[:1]}:
        raise Unreadable(
            f"holds {costs.shape} costs and {given.tour.shape} tours; bed {instances.name} has {expected}"
        )
    # Ours, which state no costs, always go the way of the instances.
    backwards = stated is not None and PROBLEMS[instances.problem].published_backwards
    tours = given.tour[:, ::-1] if backwards else given.tour
    lengths, good = np.full(len(instances), np.nan), np.zeros(len(instances), bool)
    for index in np.flatnonzero(tours.any(axis=1)).tolist():
        verdict = verify(instances[index], tours[index].tolist(), tolerance)
        lengths[index] = verdict.cost
        good[index] = isinstance(verdict, Solution) and (
            stated is None or np.isclose(verdict.cost, costs[index], rtol=1e-9)
        )
    valid = np.where(good, lengths, np.nan)
    return References(instances.name, given.made_by, valid, given.proved & good, tours, lengths)


def _by_limit(instances: InstanceSet) -> Int[np.ndarray, "B M"]:
    """All stops in the order of the middles of their windows, or of their drafts."""
    limit = instances.draft
    if limit is None:
        assert instances.opens is not None, "there are windows"
        assert instances.closes is not None
        limit = instances.opens + instances.closes
    return 1 + np.argsort(limit[:, 1:], axis=1, kind="stable")
