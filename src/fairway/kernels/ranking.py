"""The least of many numbers, equal ones by their place: numpy's own partitions differ between processors there."""

import numpy as np
from jaxtyping import Bool, Float, Int


def least(values: Float[np.ndarray, " K"], count: int) -> Bool[np.ndarray, " K"]:
    """Which are among so many least ones."""
    edge = np.partition(values, count - 1)[count - 1]
    kept = values < edge
    kept[np.flatnonzero(values == edge)[: count - int(kept.sum())]] = True
    return kept


def least_of_rows(values: Float[np.ndarray, "K V"], count: int) -> Int[np.ndarray, "K M"]:
    """The columns of so many least values of each row, least first; column 0 for each finite one that is missing."""
    rows, columns = values.shape
    count = min(count, columns)
    if count == 0:
        return np.zeros((rows, 0), np.int64)
    edge = np.partition(values, count - 1, axis=1)[:, count - 1 : count]
    row, column = np.nonzero((values <= edge) & (values < np.inf))
    order = np.lexsort((column, values[row, column], row))
    begin = np.searchsorted(row, np.arange(rows + 1))
    place = begin[:-1, None] + np.arange(count)
    known = place < begin[1:, None]
    if not column.size:
        return np.zeros((rows, count), np.int64)
    return np.where(known, column[order][np.minimum(place, len(order) - 1)], 0)
