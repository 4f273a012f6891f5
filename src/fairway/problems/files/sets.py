"""The check of a set that came from a file: every instance of it must be one that could stand alone."""

from typing import TypeVar

import numpy as np
from jaxtyping import Bool

from fairway.errors import InvalidInstance
from fairway.problems.checks import LARGEST
from fairway.problems.files.points import check_size
from fairway.problems.files.text import Unreadable
from fairway.problems.tspdl import TSPDLSet
from fairway.problems.tsptw import TSPTWSet

Set = TypeVar("Set", TSPTWSet, TSPDLSet)


def sound(item: Set) -> Set:
    """The set itself, or a sentence that names its first instance that is not valid.

    Only instances that look suspicious from the arrays are built, as building all of a bed would take as long as
    reading it.
    """
    count, nodes = item.places.shape
    if count < 1 or nodes < 2:
        raise Unreadable(
            f"holds {count} instances of {nodes} nodes; expected one or more, of two or more nodes"
        )
    check_size(nodes)
    for index in np.flatnonzero(_suspicious(item)).tolist():
        try:
            with np.errstate(all="ignore"):
                item[index]
        except InvalidInstance as error:
            raise Unreadable(f"instance {index}: {error}") from error
    return item


def _suspicious(item: TSPTWSet | TSPDLSet) -> Bool[np.ndarray, " B"]:
    places = [array for array in (item.places.coordinates, item.places.matrix) if array is not None]
    if isinstance(item, TSPTWSet):
        wrong = (item.opens > item.closes) | (item.service < 0)
        columns = [item.opens, item.closes, item.service]
    else:
        wrong = (item.demand < 0) | (item.draft < 0) | (item.demand[:, :1] != 0)
        columns = [item.demand, item.draft]
    suspicious = np.asarray(wrong.any(-1))
    for array in (*places, *columns):
        # Points this far apart may be too far for travel, which is left to the instance to say.
        sane = np.abs(array) <= LARGEST / 4
        suspicious |= ~sane.reshape(len(sane), -1).all(-1)
    if item.places.matrix is not None:
        suspicious |= (item.places.matrix < 0).any((-1, -2))
    return suspicious
