"""The references that ship: tours of our own solver, packed small, with a flag for those that are proved optimal.

A tour is kept as how far each stop stands from its place in the order of limits, which is little where limits bind and
compresses to a few bytes. Costs are not kept at all: the judge works them out again when the tours are read.
"""

import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Int

from fairway.atomic import write_bytes
from fairway.problems.sets import InstanceSet

FOLDER = Path(__file__).with_name("references")


@dataclass(frozen=True, slots=True, eq=False)
class Shipped:
    """The tours of the first instances of a bed."""

    tour: Int[np.ndarray, "K M"]
    proved: Bool[np.ndarray, " K"]
    """Whether it is proved that no tour is better."""
    made_by: str
    """The version of Fairway and the command."""


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
    np.savez_compressed(
        content,
        shift=shift.astype(small),
        proved=shipped.proved,
        made_by=np.array(shipped.made_by),
    )
    write_bytes(path, content.getvalue())


def _by_limit(instances: InstanceSet) -> Int[np.ndarray, "B M"]:
    """All stops in the order of the middles of their windows, or of their drafts."""
    limit = instances.draft
    if limit is None:
        assert instances.opens is not None, "there are windows"
        assert instances.closes is not None
        limit = instances.opens + instances.closes
    return 1 + np.argsort(limit[:, 1:], axis=1, kind="stable")
