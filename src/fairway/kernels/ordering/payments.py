"""An assignment of what is still to come, for one set of stops visited: who is followed by whom, at least cost in all.

Rows are the stops that are left and, as row 0, whatever has been visited last; columns are the stops that are left and,
as column 0, the end. Rows and columns pay for legs, together no more than any leg costs. All is in whole units: nothing
is ever rounded.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Int, Int16, Int32, UInt

from fairway.kernels.compiling import ZERO, inner
from fairway.kernels.labels.bits import holds
from fairway.kernels.ordering.order_model import NONE, OrderModel


class Payments(NamedTuple):
    """What rows and columns pay, and which row each column belongs to, for one set in each line."""

    row: Int32[np.ndarray, "L N"]
    column: Int32[np.ndarray, "L N"]
    owner: Int16[np.ndarray, "L N"]
    """-1 where there is none."""


class Desk(NamedTuple):
    """What an assignment is worked out on."""

    row: Int[np.ndarray, " N"]
    column: Int[np.ndarray, " N"]
    owner: Int[np.ndarray, " N"]
    place: Int[np.ndarray, " N"]
    """The column of each row, -1 where it has none."""
    open: Int[np.ndarray, " N"]
    """The columns: the stops that are left, and last the end."""
    start: Int[np.ndarray, " N"]
    """Units of the cheapest beginning with each column as its next; NONE where it cannot be the next."""
    distance: Int[np.ndarray, " N"]
    came: Int[np.ndarray, " N"]
    scanned: Int[np.ndarray, " N"]
    """The columns in the order in which shortest paths reach them; those that none has reached yet come after them."""


def desk(nodes: int) -> Desk:
    """Room for one assignment."""
    return Desk(*(np.zeros(nodes, np.int64) for _ in range(9)))


def payments(sets: int, nodes: int) -> Payments:
    """Room for so many sets."""
    return Payments(
        np.empty((sets, nodes), np.int32),
        np.empty((sets, nodes), np.int32),
        np.empty((sets, nodes), np.int16),
    )


@inner
def available(model: OrderModel, visited: UInt[np.ndarray, " W"], stop: int) -> bool:
    """Whether all that comes before a stop has been visited."""
    kept = True
    for word in range(len(visited)):
        kept &= model.needs[stop, word] & ~visited[word] == 0
    return kept


@inner
def lay_out(desk: Desk, visited: UInt[np.ndarray, " W"]) -> int:
    """List the columns, and let go of rows that are no more; says how many stops are left."""
    left, nodes = ZERO, len(desk.row)
    for stop in range(1, nodes):
        desk.place[stop] = -1
        if not holds(visited, stop):
            desk.open[left] = stop
            left += 1
    desk.open[left], desk.place[0] = 0, -1
    for at in range(left + 1):
        column = desk.open[at]
        row = desk.owner[column]
        if row <= 0 or holds(visited, row):
            desk.owner[column] = -1
        else:
            desk.place[row] = column
    return left


@inner
def assigned(model: OrderModel, desk: Desk, left: int, limit: int) -> int:
    """The least units of all tours with these beginnings, or as much as the limit where that is reached.

    Afterwards payments are right for all rows; the beginnings' own is in row 0.
    """
    total = desk.column[0]
    for at in range(left):
        total += desk.row[desk.open[at]] + desk.column[desk.open[at]]
    least = NONE
    for at in range(left + 1):
        column = desk.open[at]
        if desk.start[column] < NONE:
            least = min(least, desk.start[column] - desk.column[column])
    if least >= NONE:
        return limit
    desk.row[0] = least
    total += least
    for at in range(left + 1):
        row = desk.open[at]
        if desk.place[row] < 0:
            if total >= limit:
                return limit
            total += _augment(model, desk, left, row, limit - total)
    return min(total, limit)


@inner
def _augment(model: OrderModel, desk: Desk, left: int, row: int, enough: int) -> int:
    """Give a row a column by the shortest path to a free one; what it has to pay more, or enough."""
    distance, scanned, count = desk.distance, desk.scanned, ZERO
    for at in range(left + 1):
        scanned[at] = desk.open[at]
        distance[desk.open[at]] = NONE
    here, base = row, ZERO
    while True:
        legs = desk.start if here == 0 else model.units[here]
        paid, nearest = base - desk.row[here], count
        least = NONE
        for at in range(count, left + 1):
            column = scanned[at]
            reached = legs[column] + paid - desk.column[column]
            if reached < distance[column]:
                distance[column], desk.came[column] = reached, here
            if distance[column] < least:
                least, nearest = distance[column], at
        if least >= enough:
            return enough
        column = scanned[nearest]
        scanned[nearest], scanned[count] = scanned[count], column
        count += 1
        base = least
        if desk.owner[column] < 0:
            break
        here = desk.owner[column]
    desk.row[row] += base
    for at in range(count - 1):
        passed = scanned[at]
        desk.row[desk.owner[passed]] += base - distance[passed]
        desk.column[passed] -= base - distance[passed]
    while True:
        came = desk.came[column]
        before = desk.place[came]
        desk.owner[column], desk.place[came] = came, column
        if came == row:
            return base
        column = before


@inner
def measure(model: OrderModel, desk: Desk, left: int, enough: int) -> None:
    """For each column, what it takes to free it instead of the one that row 0 has, up to enough; else NONE."""
    distance, scanned, count = desk.distance, desk.scanned, ZERO
    for at in range(left + 1):
        scanned[at] = desk.open[at]
        distance[desk.open[at]] = NONE
    distance[desk.place[0]] = 0
    while count <= left:
        least, nearest = NONE, count
        for at in range(count, left + 1):
            if distance[scanned[at]] < least:
                least, nearest = distance[scanned[at]], at
        if least >= enough:
            break
        column = scanned[nearest]
        scanned[nearest], scanned[count] = scanned[count], column
        count += 1
        for at in range(count, left + 1):
            other = scanned[at]
            row = desk.owner[other]
            reached = least + model.units[row, column] - desk.row[row] - desk.column[column]
            distance[other] = min(distance[other], reached)
    for at in range(count, left + 1):
        distance[scanned[at]] = NONE
