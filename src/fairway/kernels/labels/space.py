"""The memory of a search: how many labels it has room for, more room, and a layer that is cut to its width."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from fairway.kernels.labels import layers
from fairway.kernels.labels.layers import History, Layer, Search
from fairway.kernels.ranking import least

FIRST = 128
"""Labels for which there is room at first."""

Rank = Callable[[Layer, Float[np.ndarray, " L"]], Float[np.ndarray, " L"]]
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
        self.cut([search])
        return search

    def cut(self, parts: Sequence[Search], over: Callable[..., Iterable[Any]] = map) -> None:
        """Keep the best labels of the next layer, as many as it may have, and note the least bound of the others.

        The layer may be in parts, over which the work can be spread.
        """
        list(over(_compact, parts))
        if sum(int(part.counters[layers.NEXT]) for part in parts) <= self.width:
            return
        by_part = list(over(_lower_bounds, parts))
        ranks = [self.rank(*given) for given in zip(map(_labels, parts), by_part, strict=True)]
        bounds, kept = np.concatenate(by_part), least(np.concatenate(ranks), self.width)
        figures, lost = parts[0].figures, float(bounds[~kept].min(initial=np.inf))
        figures[layers.DROPPED] = min(figures[layers.DROPPED], lost)
        ends = np.cumsum([len(each) for each in by_part])
        list(over(_keep, parts, np.split(kept, ends[:-1])))


def _labels(part: Search) -> Layer:
    return Layer(*(column[: int(part.counters[layers.NEXT])] for column in following(part)))


def _compact(part: Search) -> None:
    layers.compact(following(part), part.counters)


def _lower_bounds(part: Search) -> Float[np.ndarray, " L"]:
    stops, count = int(part.counters[layers.LAYER]) + 1, int(part.counters[layers.NEXT])
    return layers.lower_bounds(part.bound, following(part), stops, 0, count)


def _keep(part: Search, kept: Bool[np.ndarray, " L"]) -> None:
    layers.keep(following(part), part.counters, kept)


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
    size = table_size(len(following(search).last))
    if len(search.slots) < size:
        search = search._replace(slots=np.empty(size, np.int32))
    relink(search)
    return search


def relink(search: Search) -> None:
    """Fill the table anew."""
    layers.relink(following(search), int(search.counters[layers.NEXT]), search.slots)


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
