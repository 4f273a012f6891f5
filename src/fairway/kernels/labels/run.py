"""One search from the depot to the end, in memory that grows as it is needed, up to a deadline."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from fairway import clock
from fairway.kernels.labels import layers
from fairway.kernels.labels.bound import Bound
from fairway.kernels.labels.label_model import LabelModel
from fairway.kernels.labels.layers import History, Layer, Search
from fairway.kernels.labels.shared import Crew
from fairway.kernels.labels.space import FIRST, Rank, linked, longer, reserve, room_of, table_size

QUANTUM = 50_000
"""Work between two looks at the clock, ten milliseconds at most."""
STEP = 1
"""Enough to go on to the next layer."""


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What a run found."""

    tour: Int[np.ndarray, " M"] | None
    """The best tour below the upper bound, by the instance's own numbers."""
    cost: float
    open: float
    """No other tour below the upper bound costs less: infinite where no label was lost."""
    made: int
    kept: int
    widest: int


@dataclass(frozen=True, slots=True)
class Limits:
    """How far a run may go."""

    width: int
    upper: float
    """Tours that cost as much are of no interest."""
    memory: int
    """Bytes."""
    until: float
    """By `clock.now`."""
    threads: int = 1
    """That extend the labels of a wide layer."""


def by_bound(layer: Layer, bounds: Float[np.ndarray, " L"]) -> Float[np.ndarray, " L"]:
    """Those are best that may still become the best tours."""
    return bounds


def by_cost(layer: Layer, bounds: Float[np.ndarray, " L"]) -> Float[np.ndarray, " L"]:
    """Those are best that are cheapest so far."""
    return layer.cost


def run(model: LabelModel, bound: Bound, limits: Limits, rank: Rank = by_bound) -> Outcome:
    """Search until the end, the deadline, or the end of memory; of a layer too wide those are kept that rank least."""
    search = _started(model, bound, limits.upper)
    entries = max(limits.memory // 36, len(search.history.parent))
    room = room_of(len(model.node), limits.width, limits.memory, rank)
    with Crew(limits.threads, room) as crew:
        stopped = layers.advance(search, room.width, QUANTUM)
        while stopped != layers.DONE and clock.now() + _reserve(search) < limits.until:
            quantum = QUANTUM
            if stopped == layers.LAID:
                room.cut([search])
                quantum = STEP
            elif stopped == layers.CROWDED:
                search = linked(room.made(search))
            elif stopped == layers.LONG:
                if len(search.history.parent) == entries:
                    break
                search = longer(search, entries)
            elif crew.worthwhile(search):
                search, quantum = crew.filled(search, limits.until), STEP
            stopped = layers.advance(search, room.width, quantum)
    return _outcome(search, done=stopped == layers.DONE)


def warm(model: LabelModel, bound: Bound) -> None:
    """Compile all that a run needs, by one thread or several."""
    run(model, bound, Limits(1, np.inf, 1 << 20, np.inf))
    room = room_of(len(model.node), 1, 1 << 20, by_bound)
    with Crew(2, room) as crew:
        crew.filled(_started(model, bound, np.inf), np.inf)


def _reserve(search: Search) -> float:
    return reserve(int(search.counters[layers.COUNT] + search.counters[layers.NEXT]))


def _started(model: LabelModel, bound: Bound, upper: float) -> Search:
    words, nodes = model.needs.shape[1], len(model.node)
    first = FIRST + nodes
    history = History(
        np.empty(8 * first, np.int32), np.empty(8 * first, np.int16), np.zeros(nodes, np.int64)
    )
    slots = np.empty(table_size(first), np.int32)
    pair = (layers.room(first, words), layers.room(first, words))
    counters, figures = np.zeros(9, np.int64), np.zeros(3)
    scratch = (np.empty(nodes, np.int64), np.empty(nodes))
    search = Search(model, bound, pair, slots, history, counters, figures, *scratch)
    layers.begin(search, upper)
    return search


def _outcome(search: Search, *, done: bool) -> Outcome:
    counters, figures = search.counters, search.figures
    least = float(figures[layers.DROPPED])
    if not done:
        stops = int(counters[layers.LAYER])
        here, there = search.layers[stops % 2], search.layers[1 - stops % 2]
        ends = (
            (here, stops, int(counters[layers.AT]), int(counters[layers.COUNT])),
            (there, stops + 1, 0, int(counters[layers.NEXT])),
        )
        bounds = [layers.lower_bounds(search.bound, *end) for end in ends]
        least = min(least, *(float(found.min(initial=np.inf)) for found in bounds))
    tour = None
    if counters[layers.BEST] >= 0:
        tour = np.empty(len(search.model.node) - 1, np.int64)
        layers.read_back(search.history, search.model.node, int(counters[layers.BEST]), tour)
    return Outcome(
        tour, float(figures[layers.FOUND]), least, *map(int, counters[layers.MADE : layers.BEST])
    )
