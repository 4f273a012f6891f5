"""Sets of stops that may come first, layer by layer, and for each of them the cheapest beginnings of tours.

A label is a beginning: its set and its last stop. It comes from exactly one set, the one without that stop, so that no
label is ever found twice. Sets that cannot lead to a tour below the upper bound are left out, and so are labels.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int, Int16, Int32, UInt

from fairway.kernels.compiling import ZERO, bare, inner
from fairway.kernels.labels.bits import holds, mixed
from fairway.kernels.ordering.order_model import NONE, OrderModel
from fairway.kernels.ordering.payments import (
    Desk,
    Payments,
    assigned,
    available,
    lay_out,
    measure,
)

RUNNING, DONE, FULL = range(3)
"""What a loop stopped for: its quantum, the end of the layer, no more room."""
LAYER, AT, COUNT, NEXT, USED, MADE, KEPT, BEST, TABLE, POOL, PAID = range(11)
"""Counters: stops visited, the set at hand, sets here and in the next layer, labels; labels tried, sets kept; the label
of the best tour; slots in use of the table; the pool of payments in use, and lines of the other one."""
UPPER, FOUND = range(2)
"""Figures: what a tour must cost less than, and the best cost."""
SLOTS = 1 << 10
"""Of the table at first."""
ONE = np.uint64(1)


class Layer(NamedTuple):
    """Room for the sets of a layer."""

    visited: UInt[np.ndarray, "L W"]
    head: Int32[np.ndarray, " L"]
    """The first label of the set; -1 where none is left."""
    least: Float[np.ndarray, " L"]
    """What no tour that begins with the set can cost less than; infinite where that is too much."""
    paid: Int[np.ndarray, " L"]
    """Units that the rows and columns of all that is left pay together."""
    line: Int32[np.ndarray, " L"]
    """Of the pool of payments."""


class Labels(NamedTuple):
    """All labels of all layers."""

    last: Int16[np.ndarray, " K"]
    parent: Int32[np.ndarray, " K"]
    cost: Float[np.ndarray, " K"]
    chain: Int32[np.ndarray, " K"]
    """The next label of the same set, or -1."""


class Search(NamedTuple):
    """A search at any moment."""

    model: OrderModel
    layers: tuple[Layer, Layer]
    """Those with an even number of stops, and the others."""
    pools: tuple[Payments, Payments]
    labels: Labels
    slots: Int32[np.ndarray, " S"]
    """A hash table of the next layer's sets."""
    desk: Desk
    group: Int[np.ndarray, " N"]
    """Room for the labels of a set."""
    counters: Int[np.ndarray, " 11"]
    figures: Float[np.ndarray, " 2"]


@bare
def start(search: Search, upper: float) -> None:
    """Put down the empty set, with payments by rows alone."""
    counters, layer, pool = search.counters, search.layers[0], search.pools[0]
    units, nodes = search.model.units, len(search.model.units)
    for counter in range(len(counters)):
        counters[counter] = 0
    counters[COUNT], counters[USED], counters[BEST] = 1, 1, -1
    search.figures[UPPER], search.figures[FOUND] = upper, np.inf
    layer.paid[0] = 0
    for row in range(nodes):
        least = NONE
        for column in range(nodes):
            least = min(least, units[row, column])
        pool.row[0, row] = least if least < NONE else 0
        pool.column[0, row], pool.owner[0, row] = 0, -1
        layer.paid[0] += pool.row[0, row] if row > 0 else 0
    for word in range(layer.visited.shape[1]):
        layer.visited[0, word] = 0
    layer.head[0] = layer.line[0] = 0
    layer.least[0] = -np.inf
    labels = search.labels
    labels.last[0], labels.parent[0], labels.cost[0], labels.chain[0] = 0, -1, 0.0, -1
    _clear(search, SLOTS)


@inner
def _clear(search: Search, slots: int) -> None:
    search.counters[TABLE] = slots
    for slot in range(slots):
        search.slots[slot] = -1


@inner
def _gathered(search: Search, head: int) -> int:
    """Write down the labels of a set; says how many."""
    count, label = ZERO, head
    while label >= 0:
        search.group[count] = label
        count += 1
        label = np.int64(search.labels.chain[label])
    return count


@inner
def _limit(search: Search) -> int:
    """Units that are too many."""
    return int(min(np.ceil(search.figures[UPPER] / search.model.unit), NONE / 2))


@bare
def weigh(search: Search, order: Int[np.ndarray, " M"], quantum: int) -> int:
    """Bound these sets of the layer at hand by assignments, until so much work is done."""
    counters, nodes, limit = search.counters, len(search.model.units), _limit(search)
    layer = search.layers[counters[LAYER] % 2]
    while counters[AT] < len(order):
        if quantum <= 0:
            return RUNNING
        _weigh(search, layer, order[counters[AT]], limit)
        quantum -= 4 * nodes * nodes
        counters[AT] += 1
    return DONE


@inner
def _weigh(search: Search, layer: Layer, at: int, limit: int) -> None:
    """Bound a set, and leave out its labels that lead to no better tour."""
    model, desk, counters = search.model, search.desk, search.counters
    old, new = search.pools
    if counters[POOL] == 1:
        old, new = new, old
    line, visited = layer.line[at], layer.visited[at]
    for node in range(len(desk.row)):
        desk.row[node], desk.column[node] = old.row[line, node], old.column[line, node]
        desk.owner[node] = old.owner[line, node]
    left = lay_out(desk, visited)
    count = _gathered(search, layer.head[at])
    _begin(search, visited, left, count)
    total = assigned(model, desk, left, limit)
    if total >= limit:
        layer.least[at], layer.head[at] = np.inf, -1
        return
    layer.least[at] = max(layer.least[at], total * model.unit)
    layer.paid[at] = total - desk.row[0]
    if count > 1:
        measure(model, desk, left, limit - total)
        _sift(search, layer, at, left, limit, count)
    line = counters[PAID]
    layer.line[at] = line
    counters[PAID] += 1
    for node in range(len(desk.row)):
        new.row[line, node], new.column[line, node] = desk.row[node], desk.column[node]
        new.owner[line, node] = desk.owner[node]


@inner
def _begin(search: Search, visited: UInt[np.ndarray, " W"], left: int, count: int) -> None:
    """Work out what the cheapest beginning costs that goes on to each column."""
    model, desk, labels = search.model, search.desk, search.labels
    for at in range(left + 1):
        column, least = desk.open[at], NONE
        if available(model, visited, column) if column > 0 else left == 0:
            for place in range(count):
                label = search.group[place]
                begun = np.int64(np.floor(labels.cost[label] / model.unit))
                least = min(least, begun + model.units[labels.last[label], column])
        desk.start[column] = least


@inner
def _sift(search: Search, layer: Layer, at: int, left: int, limit: int, count: int) -> None:
    """Keep the labels of a set from which a better tour may come."""
    model, desk, labels = search.model, search.desk, search.labels
    layer.head[at] = -1
    for place in range(count):
        label, least = search.group[place], NONE
        for spot in range(left + 1):
            column = desk.open[spot]
            if desk.start[column] < NONE and desk.distance[column] < NONE:
                leg = model.units[labels.last[label], column] - desk.column[column]
                least = min(least, leg + desk.distance[column])
        begun = np.int64(np.floor(labels.cost[label] / model.unit))
        if begun + layer.paid[at] + least < limit:
            labels.chain[label] = layer.head[at]
            layer.head[at] = label


def settled(search: Search) -> int:
    """Go on with the payments of the sets that were bounded; says how many."""
    counters = search.counters
    done = int(counters[AT])
    counters[POOL], counters[PAID], counters[AT] = 1 - counters[POOL], 0, 0
    return done


@bare
def extend(search: Search, order: Int[np.ndarray, " M"], most: int, quantum: int) -> int:
    """Extend these sets of the layer at hand, until so much work is done or there are so many labels."""
    counters, nodes = search.counters, len(search.model.units)
    here, there = search.layers
    if counters[LAYER] % 2 == 1:
        here, there = there, here
    while counters[AT] < len(order):
        if quantum <= 0:
            return RUNNING
        if counters[NEXT] + nodes > len(there.head) or counters[USED] + nodes > most:
            return FULL
        if counters[LAYER] == nodes - 1:
            _close(search, here, order[counters[AT]])
        else:
            quantum -= 64 * _extend(search, here, there, order[counters[AT]])
        quantum -= 64 * nodes
        counters[AT] += 1
    return DONE


@bare
def turn(search: Search) -> None:
    """The next layer is complete: go on from it."""
    counters = search.counters
    counters[LAYER] += 1
    counters[KEPT] += counters[NEXT]
    counters[COUNT], counters[NEXT], counters[AT] = counters[NEXT], 0, 0
    _clear(search, SLOTS)


@inner
def _extend(search: Search, here: Layer, there: Layer, at: int) -> int:
    """Extend a set to every stop that may come next; says how much work that was."""
    model, labels, counters = search.model, search.labels, search.counters
    pool = search.pools[counters[POOL]]
    visited, line, nodes = here.visited[at], here.line[at], len(model.units)
    count, made = _gathered(search, here.head[at]), ZERO
    for stop in range(1, nodes):
        if holds(visited, stop) or not available(model, visited, stop):
            continue
        cost, parent = np.inf, ZERO
        for place in range(count):
            label = search.group[place]
            reached = labels.cost[label] + model.price[labels.last[label], stop]
            if reached < cost:
                cost, parent = reached, label
        made += count
        counters[MADE] += 1
        bound = cost + (here.paid[at] - pool.column[line, stop]) * model.unit
        if bound >= search.figures[UPPER]:
            continue
        new = _found(search, here, there, (at, stop))
        there.least[new] = min(there.least[new], bound)
        label = counters[USED]
        labels.last[label], labels.parent[label], labels.cost[label] = stop, parent, cost
        labels.chain[label] = there.head[new]
        there.head[new] = label
        counters[USED] += 1
    return made


@inner
def _found(search: Search, here: Layer, there: Layer, step: tuple[int, int]) -> int:
    """The set of the next layer that a set and a stop make; a new one takes over the payments of the set."""
    counters, (at, stop) = search.counters, step
    new = counters[NEXT]
    row = there.visited[new]
    for word in range(len(row)):
        row[word] = here.visited[at, word]
    row[stop >> 6] |= ONE << np.uint64(stop & 63)
    if 2 * new >= counters[TABLE]:
        _clear(search, 2 * counters[TABLE])
        for old in range(new):
            search.slots[_slot_of(search, there, old)] = old
    slot = _slot_of(search, there, new)
    if search.slots[slot] >= 0:
        return int(search.slots[slot])
    search.slots[slot] = new
    pool, line = search.pools[counters[POOL]], here.line[at]
    there.head[new], there.line[new], there.least[new] = -1, line, np.inf
    there.paid[new] = here.paid[at] - pool.column[line, stop] - pool.row[line, stop]
    counters[NEXT] += 1
    return new


@inner
def _slot_of(search: Search, layer: Layer, at: int) -> int:
    """Where the table has this set, or has room for it."""
    mask = np.uint64(search.counters[TABLE] - 1)
    slot = mixed(layer.visited[at], ZERO) & mask
    while search.slots[slot] >= 0:
        other, same = search.slots[slot], True
        for word in range(layer.visited.shape[1]):
            same &= layer.visited[other, word] == layer.visited[at, word]
        if same:
            break
        slot = (slot + ONE) & mask
    return slot


@inner
def _close(search: Search, layer: Layer, at: int) -> None:
    """End the tours of a set that has every stop, and remember the best."""
    labels, figures = search.labels, search.figures
    for place in range(_gathered(search, layer.head[at])):
        label = search.group[place]
        cost = labels.cost[label] + search.model.price[labels.last[label], 0]
        if cost < min(figures[FOUND], figures[UPPER]):
            figures[FOUND], search.counters[BEST] = cost, label


def tour_of(search: Search) -> Int[np.ndarray, " M"] | None:
    """The stops of the best tour, by the instance's own numbers."""
    label, stops = int(search.counters[BEST]), []
    if label < 0:
        return None
    while label > 0:
        stops.append(int(search.labels.last[label]))
        label = int(search.labels.parent[label])
    return search.model.node[stops[::-1]]
