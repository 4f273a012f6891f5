"""Labels, layer by layer: all partial tours of so many stops that no other makes superfluous.

A label is a set of visited stops, the last of them, the resource there and the cost so far. Of two labels with the same
set and last stop, one that is neither lower nor cheaper is dominated: whatever completes it completes the other as
well, no later and no dearer, to the last bit, since sums and maxima in floating point never turn an order round.

The loops stop after a quantum of work, or for want of space, and go on where they stopped.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, Int16, Int32, UInt

from fairway.kernels.compiling import ZERO, bare, inner
from fairway.kernels.labels.bits import mixed
from fairway.kernels.labels.bound import Bound, completion
from fairway.kernels.labels.extension import floating, in_time
from fairway.kernels.labels.label_model import LabelModel

RUNNING, DONE, CROWDED, LONG, LAID = range(5)
"""What `advance` stopped for: its quantum, the end, a full layer, a full history, a complete layer that is too wide."""

LAYER, AT, COUNT, NEXT, USED, MADE, KEPT, WIDEST, BEST = range(9)
"""Marks: stops visited, label to extend, labels here, in the next layer, in the history; tallies; the best end."""

UPPER, DROPPED, FOUND = range(3)
"""Figures: what a tour must cost less than; the least bound of all labels that a full layer lost; the best cost."""


Label = tuple[int, float, float, float, int]
"""What a label is but for its set: last stop, resource, cost, `rest` and parent, see `Layer`."""


class Layer(NamedTuple):
    """Room for the labels of a layer, a row each."""

    visited: UInt[np.ndarray, "L W"]
    last: Int32[np.ndarray, " L"]
    """-1 where the label has been dominated."""
    resource: Float[np.ndarray, " L"]
    cost: Float[np.ndarray, " L"]
    rest: Float[np.ndarray, " L"]
    """The multipliers of all that is unvisited, see `Bound`."""
    parent: Int32[np.ndarray, " L"]
    chain: Int32[np.ndarray, " L"]
    """The next label of the same set and last stop, or -1."""


class History(NamedTuple):
    """Of all labels that were kept, what tours are read back from."""

    parent: Int32[np.ndarray, " H"]
    last: Int16[np.ndarray, " H"]
    begins: Int[np.ndarray, " N"]
    """Where each layer begins."""


class Search(NamedTuple):
    """A search at any moment; what grows is put back larger."""

    model: LabelModel
    bound: Bound
    layers: tuple[Layer, Layer]
    """Those with an even number of stops, and the others: one is extended into the other."""
    slots: Int32[np.ndarray, " S"]
    """A hash table of the next layer's sets and last stops: the first label of each, or -1."""
    history: History
    counters: Int[np.ndarray, " 9"]
    figures: Float[np.ndarray, " 3"]
    reached: Int[np.ndarray, " N"]
    """Where the label at hand can go on to, and at what resources."""
    resources: Float[np.ndarray, " N"]


def room(labels: int, words: int) -> Layer:
    """Space for so many labels."""
    floats = (np.empty(labels) for _ in range(3))
    links = (np.empty(labels, np.int32) for _ in range(2))
    return Layer(np.empty((labels, words), np.uint64), np.empty(labels, np.int32), *floats, *links)


@inner
def _empty(slots: Int32[np.ndarray, " S"]) -> None:
    # Plain loops here and below: numba takes seconds to compile an assignment to a slice.
    for slot in range(len(slots)):
        slots[slot] = -1


def begin(search: Search, upper: float) -> None:
    """Put down the one label of a tour that has not left the depot."""
    model, layer, counters, figures = (
        search.model,
        search.layers[0],
        search.counters,
        search.figures,
    )
    counters[:] = 0
    counters[COUNT], counters[BEST] = 1, -1
    figures[UPPER], figures[DROPPED], figures[FOUND] = upper, np.inf, np.inf
    layer.visited[0] = 0
    layer.last[0] = 0
    layer.resource[0] = model.opens[0]
    layer.cost[0] = model.opens[0] if model.makespan else 0.0
    layer.rest[0] = search.bound.multiplier.sum()
    search.slots[:] = -1


@bare
def advance(search: Search, width: int, quantum: int) -> int:
    """Extend label after label and layer after layer, until so much work is done; says what it stopped for.

    A layer wider than `width` must be cut down before it is extended.
    """
    counters, nodes = search.counters, len(search.model.node)
    while quantum > 0:
        if counters[COUNT] == 0 or counters[LAYER] == nodes - 1:
            return DONE
        here, there = search.layers
        if counters[LAYER] % 2 == 1:
            here, there = there, here
        if counters[AT] == counters[COUNT]:
            compact(there, counters)
            if counters[NEXT] > width:
                return LAID
            if counters[USED] + counters[NEXT] > len(search.history.parent):
                return LONG
            settle(search)
            quantum -= nodes + len(search.slots) // 32
            continue
        if counters[NEXT] + nodes > len(there.last):
            return CROWDED
        found = reachable(search, here)
        for place in range(found):
            _push(search, here, there, search.reached[place], search.resources[place])
        counters[AT] += 1
        quantum -= found + 1 + nodes * nodes // 64
    return RUNNING


@inner
def reachable(search: Search, here: Layer) -> int:
    """Write down where the label at hand can go on to, and at what resources; says how many stops these are."""
    at = search.counters[AT]
    label = here.visited[at], here.last[at], here.resource[at]
    found = (search.reached, search.resources)
    if search.model.by_set:
        return floating(search.model, *label, *found)
    return in_time(search.model, *label, *found)


@inner
def _push(search: Search, here: Layer, there: Layer, stop: int, resource: float) -> None:
    """Extend the label at hand to a stop, unless that is too dear or dominated."""
    at = search.counters[AT]
    label = extended(search, here, at, stop, resource)
    visit(search, here, there, at, stop)
    if promising(search, there, label):
        put(search, there, mixed(there.visited[search.counters[NEXT]], stop), label)


@inner
def extended(search: Search, here: Layer, at: int, stop: int, resource: float) -> Label:
    """A label at hand, extended to a stop."""
    cost = resource
    if not search.model.makespan:
        cost = here.cost[at] + search.model.price[here.last[at], stop]
    return stop, resource, cost, here.rest[at] - search.bound.multiplier[stop], at


@inner
def visit(search: Search, here: Layer, there: Layer, at: int, stop: int) -> None:
    """Write the set of a label at hand, and one more stop, into the next free row."""
    new = search.counters[NEXT]
    for word in range(there.visited.shape[1]):
        there.visited[new, word] = here.visited[at, word]
    there.visited[new, stop >> 6] |= np.uint64(1) << np.uint64(stop & 63)


@inner
def promising(search: Search, there: Layer, label: Label) -> bool:
    """Whether a label whose set is in the next free row may become a better tour."""
    stop, resource, cost, rest, _ = label
    counters = search.counters
    counters[MADE] += 1
    stops, visited = counters[LAYER] + 1, there.visited[counters[NEXT]]
    enough = search.figures[UPPER] - (cost + rest)
    return completion(search.bound, stops, stop, resource, visited, enough) < enough


@inner
def put(search: Search, there: Layer, key: int, label: Label) -> None:
    """Keep a label whose set is in the next free row, unless it is dominated, and none that it dominates."""
    stop, resource, cost, rest, parent = label
    counters = search.counters
    new = counters[NEXT]
    slot = _slot_of(there, new, stop, key, search.slots)
    head = search.slots[slot]
    taken, previous, other = np.int32(-1), np.int32(-1), head
    while other >= 0:
        if taken < 0 and there.resource[other] <= resource and there.cost[other] <= cost:
            return
        following = there.chain[other]
        if resource <= there.resource[other] and cost <= there.cost[other]:
            if taken < 0:  # the new label takes the place of the first that it dominates
                taken, previous = other, other
            else:
                there.last[other] = -1
                there.chain[previous] = following
        else:
            previous = other
        other = following
    if taken < 0:
        taken = np.int32(new)
        counters[NEXT] += 1
        there.last[taken] = stop
        there.chain[taken] = head
        search.slots[slot] = taken
    there.resource[taken], there.cost[taken], there.rest[taken] = resource, cost, rest
    there.parent[taken] = parent


@inner
def _slot_of(
    layer: Layer, label: int, last: int, key: int, slots: Int32[np.ndarray, " S"]
) -> np.uint64:
    """Where the table has this label's set and last stop, or has room for them."""
    mask = np.uint64(len(slots) - 1)
    words = layer.visited.shape[1]
    slot = key & mask
    while slots[slot] >= 0:
        head = slots[slot]
        same = layer.last[head] == last
        for word in range(words):
            same &= layer.visited[head, word] == layer.visited[label, word]
        if same:
            break
        slot = (slot + np.uint64(1)) & mask
    return slot


@bare
def relink(layer: Layer, count: int, slots: Int32[np.ndarray, " S"]) -> None:
    """Fill the table anew."""
    _empty(slots)
    for label in range(count):
        if layer.last[label] >= 0:
            last = layer.last[label]
            slot = _slot_of(layer, label, last, mixed(layer.visited[label], last), slots)
            layer.chain[label] = slots[slot]
            slots[slot] = label


@inner
def _move(layer: Layer, source: int, target: int) -> None:
    for word in range(layer.visited.shape[1]):
        layer.visited[target, word] = layer.visited[source, word]
    layer.last[target], layer.parent[target] = layer.last[source], layer.parent[source]
    layer.resource[target], layer.cost[target] = layer.resource[source], layer.cost[source]
    layer.rest[target] = layer.rest[source]


@bare
def compact(layer: Layer, counters: Int[np.ndarray, " 9"]) -> None:
    """Close up the gaps that dominated labels left."""
    kept = ZERO
    for label in range(counters[NEXT]):
        if layer.last[label] >= 0:
            if kept < label:
                _move(layer, label, kept)
            kept += 1
    counters[NEXT] = kept


def lower_bounds(
    bound: Bound, layer: Layer, stops: int, begin: int, end: int
) -> Float[np.ndarray, " L"]:
    """What no tour from each of these labels can cost less than."""
    least = np.empty(end - begin)
    _lower_bounds(bound, layer, stops, begin, least)
    return least


@bare
def _lower_bounds(
    bound: Bound, layer: Layer, stops: int, begin: int, least: Float[np.ndarray, " L"]
) -> None:
    for place in range(len(least)):
        label = begin + place
        last, resource = layer.last[label], layer.resource[label]
        if last < 0:
            least[place] = np.inf  # dominated
            continue
        ahead = completion(bound, stops, last, resource, layer.visited[label], np.inf)
        least[place] = layer.cost[label] + layer.rest[label] + ahead


@bare
def keep(layer: Layer, counters: Int[np.ndarray, " 9"], kept: Bool[np.ndarray, " L"]) -> None:
    """Go on with these labels of the next layer alone."""
    for label in range(counters[NEXT]):
        if not kept[label]:
            layer.last[label] = -1
    compact(layer, counters)


@inner
def settle(search: Search) -> None:
    """The next layer is complete: write it down, and go on from it; at the last one, close the tours."""
    counters, history = search.counters, search.history
    even, odd = search.layers
    there = odd if counters[LAYER] % 2 == 0 else even
    used, count = counters[USED], counters[NEXT]
    for label in range(count):
        history.parent[used + label] = there.parent[label]
        history.last[used + label] = there.last[label]
    counters[LAYER] += 1
    history.begins[counters[LAYER]] = used
    counters[USED], counters[COUNT] = used + count, count
    counters[AT], counters[NEXT] = 0, 0
    counters[KEPT] += count
    counters[WIDEST] = max(counters[WIDEST], count)
    _empty(search.slots)
    if counters[LAYER] == len(search.model.node) - 1:
        _finish(search, there)


@inner
def _finish(search: Search, layer: Layer) -> None:
    """Go back to the depot from every label of the last layer that can, and remember the best."""
    model, counters, figures = search.model, search.counters, search.figures
    for label in range(counters[COUNT]):
        last = layer.last[label]
        back = (layer.resource[label] + model.stay[last]) + model.rise[last, 0]
        cost = back if model.makespan else layer.cost[label] + model.price[last, 0]
        # The rule of the judge, to the letter.
        if not back - model.closes[0] > model.allowance and cost < min(
            figures[FOUND], figures[UPPER]
        ):
            figures[FOUND], counters[BEST] = cost, label


@bare
def read_back(
    history: History, node: Int[np.ndarray, " N"], label: int, tour: Int[np.ndarray, " M"]
) -> None:
    """Write down the stops that lead to a label of the last layer, by the instance's own numbers."""
    for layer in range(len(tour), 0, -1):
        entry = history.begins[layer] + label
        tour[layer - 1] = node[history.last[entry]]
        label = history.parent[entry]
