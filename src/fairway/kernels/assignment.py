"""The assignment problem: each row gets a column of its own, at least cost in all."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from fairway.kernels.compiling import bare, inner

Vector = Float[np.ndarray, " N"]


def duals(cost: Float[np.ndarray, "N N"]) -> tuple[Vector, Vector]:
    """What each row and each column pays: together no more than any entry, and in all as much as the best assignment.

    Entries may be infinite. Where no assignment is finite the payments still stay below every entry.
    """
    size = len(cost)
    room = _Room(
        np.zeros(size),
        np.zeros(size),
        np.full(size, -1),
        np.empty(size),
        np.empty(size, np.int64),
        np.empty(size, dtype=bool),
    )
    _assign(np.ascontiguousarray(cost), room)
    return room.row, room.column


class _Room(NamedTuple):
    """What a search works on: the payments, and by column its row, its distance, where from, and whether it is done."""

    row: Vector
    column: Vector
    owner: Int[np.ndarray, " N"]
    least: Vector
    came: Int[np.ndarray, " N"]
    done: Bool[np.ndarray, " N"]


@bare
def _assign(cost: Float[np.ndarray, "N N"], room: _Room) -> None:
    """Give columns to rows one by one; a row that can have none goes without."""
    for new in range(len(cost)):
        last = _nearest(cost, room, new)
        if last < 0:
            continue
        distance = room.least[last]
        room.row[new] += distance
        for j in range(len(cost)):
            if room.done[j] and j != last:
                room.row[room.owner[j]] += distance - room.least[j]
                room.column[j] -= distance - room.least[j]
        while last >= 0:
            row, before = room.came[last], -1
            for j in range(len(cost)):
                before = j if room.owner[j] == row else before
            room.owner[last] = row
            last = before


@inner
def _nearest(cost: Float[np.ndarray, "N N"], room: _Room, here: int) -> int:
    """The free column at the end of the shortest path from a row by reduced costs, or -1."""
    for j in range(len(cost)):
        room.least[j], room.came[j], room.done[j] = np.inf, -1, False
    distance = 0.0
    while True:
        nearest = -1
        for j in range(len(cost)):
            if room.done[j]:
                continue
            reached = distance + cost[here, j] - room.row[here] - room.column[j]
            if reached < room.least[j]:
                room.least[j], room.came[j] = reached, here
            if room.least[j] < np.inf and (nearest < 0 or room.least[j] < room.least[nearest]):
                nearest = j
        if nearest < 0:
            return -1
        distance, room.done[nearest] = room.least[nearest], True
        if room.owner[nearest] < 0:
            return nearest
        here = room.owner[nearest]
