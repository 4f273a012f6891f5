"""The memory of a search: how many labels it has room for, more room, and a layer that is cut to its width."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from fairway.kernels.labels import layers
from fairway.kernels.labels.label_model import LabelModel
from fairway.kernels.labels.layers import History, Layer, Search
from fairway.kernels.ranking import least

FIRST = 128
"""Labels for which there is room at first."""

Rank = Callable[[LabelModel, Layer, Float[np.ndarray, " L"]], Float[np.ndarray, " L"]]
"""Ranks labels of a layer, whose bounds are given; the least are kept."""


@dataclass(frozen=True, slots=True)
class Room:
    """How much of a layer there may be, and which labels are kept of one that is too wide."""

    width: int
    """Labels that are extended."""
    most: int
    """Rows that the memory has room for."""
    crowd: int
    """Rows, above which a layer is cut to its width before it is complete."""
    rank: Rank

    def made(self, search: Search) -> Search:
        """The same with more room in the next layer, which is larger or cut, and to be linked before it is filled."""
        if len(following(search).last) < self.crowd:
            return roomier(search, self.crowd)
        self.cut(search)
        return search

    def cut(self, search: Search) -> None:
        """Keep the best labels of the next layer, as many as it may have, and note the least bound of the others."""
        layer, stops = following(search), int(search.counters[layers.LAYER]) + 1
        layers.compact(layer, search.counters)
        count = int(search.counters[layers.NEXT])
        if count > self.width:
            bounds = layers.lower_bounds(search.bound, layer, stops, 0, count)
            ranks = self.rank(search.model, Layer(*(column[:count] for column in layer)), bounds)
            kept = least(ranks, self.width)
            lost = float(bounds[~kept].min(initial=np.inf))
            search.figures[layers.DROPPED] = min(search.figures[layers.DROPPED], lost)
            layers.keep(layer, search.counters, kept)


def room_of(nodes: int, width: int, memory: int, rank: Rank) -> Room:
    """As much as is asked for and fits into the memory."""
    most, width = _most(nodes, memory), min(width, widest(nodes, memory))
    return Room(width, most, min(most, 4 * width + 2 * nodes), rank)


def widest(nodes: int, memory: int) -> int:
    """The most labels that can be kept of a layer."""
    return _most(nodes, memory) // 2


def _most(nodes: int, memory: int) -> int:
    """Rows of a layer: a sixth of the memory is left to the history, the rest to two layers, their table and ranks."""
    words = (nodes + 63) // 64
    row = 2 * (8 * words + 36) + 32
    return max(memory * 5 // 6 // row, 2 * (FIRST + nodes))


def reserve(labels: int) -> float:
    """Seconds that the next pause may be off: to cut a layer, to move it, or to take the bounds of all labels."""
    return 2e-7 * labels


def table_size(labels: int) -> int:
    """A power of two, at most half of it taken."""
    return 1 << (2 * labels - 1).bit_length()


def following(search: Search) -> Layer:
    """The layer that is being filled."""
    return search.layers[1 - int(search.counters[layers.LAYER]) % 2]


def roomier(search: Search, most: int) -> Search:
    """The same with a larger next layer, not linked."""
    crowded, count = following(search), int(search.counters[layers.NEXT])
    rows = min(4 * len(crowded.last), most)
    wide = layers.room(rows, crowded.visited.shape[1])
    for old, new in zip(crowded, wide, strict=True):
        new[:count] = old[:count]
    return filling(search, wide)


def linked(search: Search) -> Search:
    """The same with a table of all labels of the next layer."""
    layer, slots = following(search), search.slots
    if len(slots) < table_size(len(layer.last)):
        slots = np.empty(table_size(len(layer.last)), np.int32)
    layers.relink(layer, int(search.counters[layers.NEXT]), slots)
    return search._replace(slots=slots)


def filling(search: Search, layer: Layer) -> Search:
    """The same with another layer to fill."""
    even, odd = search.layers
    pair = (even, layer) if search.counters[layers.LAYER] % 2 == 0 else (layer, odd)
    return search._replace(layers=pair)


def longer(search: Search, most: int) -> Search:
    """The same with room for more history."""
    history, used = search.history, int(search.counters[layers.USED])
    need = used + int(search.counters[layers.NEXT])
    rows = min(max(4 * len(history.parent), need), most)
    parent, last = np.empty(rows, np.int32), np.empty(rows, np.int16)
    parent[:used], last[:used] = history.parent[:used], history.last[:used]
    return search._replace(history=History(parent, last, history.begins))
