"""What preprocessing works on: the nodes a tour passes in order, with the depot at both ends.

And how early any node can be served after any other, and how late before it, over all ways that are left.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, Shaped

from fairway.kernels.compiling import bare, inner
from fairway.problems.model import HOME, START, Model

Matrix, Vector = Float[np.ndarray, "V V"], Float[np.ndarray, " V"]
Marks = Bool[np.ndarray, "V V"]


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """Bounds that every tour the judge accepts keeps; rules narrow them and never widen them.

    V nodes as in a model: the depot as START, the stops, the depot as HOME.
    """

    increment: Matrix
    """From the start of service at the row to the arrival at the column, short by at most twice `guard`."""
    opens: Vector
    """No tour starts service earlier."""
    closes: Vector
    """No tour starts service later; the judge's tolerance is included."""
    before: Marks
    """Whether the row comes before the column in every tour."""
    arcs: Marks
    """Whether the column may come straight after the row."""
    guard: float
    """By how much float64 may err on one leg; zero for whole numbers."""
    idles: Vector | None
    """As in the resource."""


def network(model: Model) -> Network:
    """The bounds that an instance states itself."""
    resource = model.resource
    closes = resource.latest + resource.allowance + resource.guard
    closes[START] = resource.latest[START]  # the tour leaves by then, to the last bit
    before = np.zeros(resource.rise.shape, dtype=bool)
    if model.before is not None:
        before |= model.before
    before[START, 1:] = before[:-1, HOME] = True
    arcs = ~before.T & ~np.eye(len(closes), dtype=bool)
    arcs[START, HOME] = False
    # Shorter legs, so that sums taken in another order than the judge's never make a tour seem late.
    short = np.maximum(resource.increment - resource.guard, 0.0)
    opens, idles = resource.earliest.copy(), resource.idles
    return Network(short, opens, closes, before, arcs, resource.guard, idles)


@dataclass(frozen=True, slots=True, eq=False)
class Reach:
    """Times over every way that waits, keeps the windows, uses arcs that are left and respects `before`.

    A tour that passes i and later k is such a way from i to k, so its times lie within these bounds. Ways may
    lead through other nodes: a matrix that breaks the triangle inequality is no danger.
    """

    earliest: Matrix
    """The first start at the column after the row; infinite where the row cannot come before the column."""
    latest: Matrix
    """The last start at the row before the column; minus infinite where the row cannot come before the column."""


class Room(NamedTuple):
    """What a search from every node writes on."""

    starts: Matrix
    nexts: Int[np.ndarray, "V V"]
    degree: Int[np.ndarray, " V"]
    reached: Int[np.ndarray, " V"]


def reach(network: Network) -> Reach:
    """Search forward from every node, and backward in time from every node."""
    increment, opens, closes = network.increment, network.opens, network.closes
    before, arcs = network.before, network.arcs
    earliest = _first_starts(increment, opens, closes, before, arcs)
    backward = _first_starts(*map(_turned, (increment, -closes, -opens, before, arcs)))
    return Reach(earliest, -_turned(backward))


def _turned(array: Shaped[np.ndarray, "..."]) -> Shaped[np.ndarray, "..."]:
    """Read with time running backwards."""
    return np.ascontiguousarray(array.T)


def _first_starts(
    increment: Matrix, opens: Vector, closes: Vector, before: Marks, arcs: Marks
) -> Matrix:
    """The first start at the column after the row."""
    nodes = len(opens)
    starts, nexts = np.empty((nodes, nodes)), np.empty((nodes, nodes), np.int64)
    degree, reached = np.empty((2, nodes), np.int64)
    _find_starts(increment, opens, closes, before, arcs, Room(starts, nexts, degree, reached))
    return starts


@bare
def _find_starts(
    increment: Matrix, opens: Vector, closes: Vector, before: Marks, arcs: Marks, room: Room
) -> None:
    """Dijkstra from every node: who leaves later never arrives earlier, so that the first to be reached is settled."""
    starts, nexts, degree, reached = room
    _find_neighbours(arcs, nexts, degree)
    for source in range(len(opens)):
        start = starts[source]
        for node in range(len(opens)):
            start[node] = np.inf
        start[source] = opens[source]
        reached[0] = source
        waiting = 1
        while waiting > 0:
            place = 0
            for other in range(1, waiting):
                if start[reached[other]] < start[reached[place]]:
                    place = other
            here = reached[place]
            waiting -= 1
            reached[place] = reached[waiting]
            for place in range(degree[here]):
                there = nexts[here, place]
                time = max(start[here] + increment[here, there], opens[there])
                # What must come before the source is on no way from it.
                if time < start[there] and time <= closes[there] and not before[there, source]:
                    if start[there] == np.inf:
                        reached[waiting] = there
                        waiting += 1
                    start[there] = time


@inner
def _find_neighbours(
    arcs: Marks, nexts: Int[np.ndarray, "V V"], degree: Int[np.ndarray, " V"]
) -> None:
    """Write down the columns of each row's arcs, and how many there are."""
    for here in range(len(arcs)):
        degree[here] = 0
        for there in range(len(arcs)):
            if arcs[here, there]:
                nexts[here, degree[here]] = there
                degree[here] += 1
