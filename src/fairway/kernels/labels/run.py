"""One search from the depot to the end, in memory that grows as it is needed, up to a deadline."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from fairway import clock
from fairway.kernels.labels import layers
from fairway.kernels.labels.bound import Bound
from fairway.kernels.labels.label_model import LabelModel
from fairway.kernels.labels.layers import History, Layer, Search
from fairway.kernels.ranking import least

QUANTUM = 50_000
"""Work between two looks at the clock, about ten milliseconds."""
FIRST = 128
"""Labels for which there is room at first."""

Rank = Callable[[LabelModel, Layer, Float[np.ndarray, " L"]], Float[np.ndarray, " L"]]
"""Ranks labels of a layer, whose bounds are given; the least are kept."""


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


def by_bound(
    model: LabelModel, layer: Layer, bounds: Float[np.ndarray, " L"]
) -> Float[np.ndarray, " L"]:
    """Those are best that may still become the best tours."""
    return bounds


def by_cost(
    model: LabelModel, layer: Layer, bounds: Float[np.ndarray, " L"]
) -> Float[np.ndarray, " L"]:
    """Those are best that are cheapest so far."""
    return layer.cost


def run(model: LabelModel, bound: Bound, limits: Limits, rank: Rank = by_bound) -> Outcome:
    """Search until the end, the deadline, or the end of memory; of a layer too wide those are kept that rank least."""
    search = _started(model, bound, limits.upper)
    entries = max(limits.memory // 36, len(search.history.parent))
    most, width = (
        _most(len(model.node), limits.memory),
        min(limits.width, widest(len(model.node), limits.memory)),
    )
    crowd = min(most, 4 * width + 2 * len(model.node))
    stopped = layers.advance(search, width, QUANTUM)
    while stopped != layers.DONE and clock.now() + _reserve(search) < limits.until:
        if stopped == layers.LAID or (
            stopped == layers.CROWDED and len(_next(search).last) >= crowd
        ):
            _cut(search, width, rank)
            if stopped == layers.LAID:
                stopped = layers.advance(search, width, 1)  # enough to go on to the next layer
                continue
        elif stopped == layers.CROWDED:
            search = _roomier(search, crowd)
        elif stopped == layers.LONG:
            if len(search.history.parent) == entries:
                break
            search = _longer(search, entries)
        stopped = layers.advance(search, width, QUANTUM)
    return _outcome(search, done=stopped == layers.DONE)


def _reserve(search: Search) -> float:
    """Seconds that the next pause may be off: to cut a layer, to move it, or to take the bounds of all labels."""
    return 2e-7 * float(search.counters[layers.COUNT] + search.counters[layers.NEXT])


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


def widest(nodes: int, memory: int) -> int:
    """The most labels that can be kept of a layer."""
    return _most(nodes, memory) // 2


def _most(nodes: int, memory: int) -> int:
    """Rows of a layer: a sixth of the memory is left to the history, the rest to two layers, their table and ranks."""
    words = (nodes + 63) // 64
    row = 2 * (8 * words + 36) + 32
    return max(memory * 5 // 6 // row, 2 * (FIRST + nodes))


def table_size(labels: int) -> int:
    """A power of two, at most half of it taken."""
    return 1 << (2 * labels - 1).bit_length()


def _roomier(search: Search, most: int) -> Search:
    """The same with more room in the next layer."""
    place = 1 - int(search.counters[layers.LAYER]) % 2
    crowded, count = search.layers[place], int(search.counters[layers.NEXT])
    rows = min(4 * len(crowded.last), most)
    wide = layers.room(rows, crowded.visited.shape[1])
    for old, new in zip(crowded, wide, strict=True):
        new[:count] = old[:count]
    slots = search.slots
    if len(slots) < table_size(rows):
        slots = np.empty(table_size(rows), np.int32)
    layers.relink(wide, count, slots)
    pair = (wide, search.layers[1]) if place == 0 else (search.layers[0], wide)
    return search._replace(layers=pair, slots=slots)


def _longer(search: Search, most: int) -> Search:
    """The same with room for more history."""
    history, used = search.history, int(search.counters[layers.USED])
    need = used + int(search.counters[layers.NEXT])
    rows = min(max(4 * len(history.parent), need), most)
    parent, last = np.empty(rows, np.int32), np.empty(rows, np.int16)
    parent[:used], last[:used] = history.parent[:used], history.last[:used]
    return search._replace(history=History(parent, last, history.begins))


def _next(search: Search) -> Layer:
    """The layer that is being filled."""
    return search.layers[1 - int(search.counters[layers.LAYER]) % 2]


def _cut(search: Search, width: int, rank: Rank) -> None:
    """Keep the best labels of the next layer, as many as it may have, and note the least bound of the others."""
    layer, stops = _next(search), int(search.counters[layers.LAYER]) + 1
    layers.compact(layer, search.counters)
    count = int(search.counters[layers.NEXT])
    if count > width:
        bounds = layers.lower_bounds(search.bound, layer, stops, 0, count)
        ranks = rank(search.model, Layer(*(column[:count] for column in layer)), bounds)
        kept = least(ranks, width)
        lost = float(bounds[~kept].min(initial=np.inf))
        search.figures[layers.DROPPED] = min(search.figures[layers.DROPPED], lost)
        layers.keep(layer, search.counters, kept)
    layers.relink(layer, int(search.counters[layers.NEXT]), search.slots)


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
