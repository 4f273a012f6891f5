"""Labels under any constraints: beginnings of tours, stop by stop, of which no other makes one superfluous.

As in `kernels.labels.layers`, but a label is a whole state: of two with the same stops and breaks behind them and the
same last stop, one is dominated that is nowhere earlier, cheaper or freer in its departure. Load and order follow from
the stops visited. A tour may end after any number of stops.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int, Int32, UInt

from fairway.kernels.compiling import ZERO, bare, inner
from fairway.kernels.general.beginning import (
    AHEAD,
    AT,
    FREE,
    FREE_AT,
    HIGH,
    LOW,
    PRICE,
    SHORT,
    SPENT,
    TIGHT,
    begin,
    carried,
    rested,
    served,
)
from fairway.kernels.general.layers import History, Layer, compact, slot_of
from fairway.kernels.general.tour_model import (
    COST,
    DURATION,
    GROWING,
    MATES,
    PRIZE,
    SERVICE,
    TourModel,
)
from fairway.kernels.labels.bits import holds, lowest
from fairway.kernels.labels.bound import Bound, completion
from fairway.kernels.labels.label_model import LabelModel

RUNNING, DONE, CROWDED, LONG, LAID = range(5)
"""What `advance` stopped for: its quantum, the end, a full layer, a full history, a complete layer that is too wide."""

LAYER, TRY, COUNT, NEXT, USED, MADE, KEPT, WIDEST, BEST, ENDED = range(10)
"""Counters: stops and breaks behind the labels, label to extend, labels here, in the next layer, in the history;
tallies; the label with the best end, and the layer that it is of."""

UPPER, DROPPED, FOUND = range(3)
"""Figures: what a tour must be worth less than; the least bound of all labels that a full layer lost; the best value.
All of them without what every tour is worth."""

ONE = np.uint64(1)


class Search(NamedTuple):
    """A search at any moment; what grows is put back larger."""

    tour: TourModel
    model: LabelModel
    node: Int[np.ndarray, " N"]
    """The tour model's own numbers of the labelling model's nodes."""
    bound: Bound
    layers: tuple[Layer, Layer]
    """Those with an even number of stops and breaks, and the others: one is extended into the other."""
    slots: Int32[np.ndarray, " S"]
    """A hash table of the next layer's sets and keys: the first label of each, or -1."""
    history: History
    counters: Int[np.ndarray, " 10"]
    figures: Float[np.ndarray, " 3"]
    state: Float[np.ndarray, " S"]
    """Room for a state."""
    windows: int
    """Windows of a node that a label may choose between: one, but where the departure is free."""


@bare
def start(search: Search, departures: int, upper: float) -> None:
    """Put down the labels of tours that have not left the depot, one for each time they may leave in."""
    counters, figures, layer = search.counters, search.figures, search.layers[0]
    for counter in range(len(counters)):
        counters[counter] = 0
    counters[COUNT], counters[BEST] = departures, -1
    figures[UPPER], figures[DROPPED], figures[FOUND] = upper, np.inf, np.inf
    total = 0.0
    for node in range(len(search.node)):
        total += search.bound.multiplier[node]
    for label in range(departures):
        for word in range(layer.visited.shape[1]):
            layer.visited[label, word] = 0
        layer.key[label], layer.rest[label] = 0, total
        begin(search.tour, label, layer.state[label])
    for slot in range(len(search.slots)):
        search.slots[slot] = -1


@bare
def advance(search: Search, width: int, quantum: int) -> int:
    """Extend label after label and layer after layer, until so much work is done; says what it stopped for.

    A layer wider than `width` must be cut down before it is extended.
    """
    counters, nodes = search.counters, len(search.node)
    options = (nodes + len(search.tour.breaks)) * search.windows
    while quantum > 0:
        if counters[COUNT] == 0:
            return DONE
        here, there = search.layers
        if counters[LAYER] % 2 == 1:
            here, there = there, here
        if counters[TRY] == counters[COUNT]:
            counters[NEXT] = compact(there, counters[NEXT])
            if counters[NEXT] > width:
                return LAID
            if counters[USED] + counters[NEXT] > len(search.history.parent):
                return LONG
            _settle(search, there)
            quantum -= nodes + len(search.slots) // 32
            continue
        if counters[NEXT] + options > len(there.key):
            return CROWDED
        _end(search, here)
        quantum -= 4 + nodes * nodes // 64 + _extend(search, here, there)
        counters[TRY] += 1
    return RUNNING


@inner
def _extend(search: Search, here: Layer, there: Layer) -> int:
    """Extend the label at hand to every stop and break that may come next; says how many there were."""
    model, nodes, at = search.model, len(search.node), search.counters[TRY]
    visited, last, taken = here.visited[at], here.key[at] % nodes, here.key[at] // nodes
    made = 0
    for word in range(len(visited)):
        bits = model.after[last, word] & ~visited[word]
        while bits != 0:
            stop = (word << 6) + np.int64(lowest(bits))
            bits &= bits - ONE
            kept = True
            for other in range(len(visited)):
                kept &= model.needs[stop, other] & ~visited[other] == 0
            if kept:
                for window in range(search.windows):
                    made += _visit(search, here, there, (stop, window))
    for number in range(len(search.tour.breaks)):
        if taken >> number & 1 == 0:
            new = there.state[search.counters[NEXT]]
            if rested(search.tour, here.state[at], new, number):
                for word in range(len(visited)):
                    there.visited[search.counters[NEXT], word] = visited[word]
                _push(search, here, there, last + nodes * (taken | 1 << number), here.rest[at])
                made += 1
    return made


@inner
def _visit(search: Search, here: Layer, there: Layer, choice: tuple[int, int]) -> int:
    """Extend the label at hand to a stop in one of its windows, or in any; whether that was possible."""
    tour, nodes, at = search.tour, len(search.node), search.counters[TRY]
    stop, last = choice[0], here.key[at] % nodes
    old, new = here.state[at], there.state[search.counters[NEXT]]
    node, window, found = search.node[stop], choice[1], False
    most = tour.first[node + 1] - tour.first[node]
    if search.windows == 1:  # the first window that is still open
        while not found and window < most:
            found = served(tour, old, new, (search.node[last], node, window))
            window += 1
    else:
        found = served(tour, old, new, (search.node[last], node, window))
    if not found or not carried(tour, old, new, node):
        return 0
    row = there.visited[search.counters[NEXT]]
    for word in range(len(row)):
        row[word] = here.visited[at, word]
    row[stop >> 6] |= ONE << np.uint64(stop & 63)
    if not _all_reachable(search.model, row, stop, _resource(search, stop, new)):
        return 0
    taken = here.key[at] // nodes
    _push(search, here, there, stop + nodes * taken, here.rest[at] - search.bound.multiplier[stop])
    return 1


@inner
def _resource(search: Search, stop: int, state: Float[np.ndarray, " S"]) -> float:
    """The earliest time at which a tour can have been served at the stop, breaks since then counted before it."""
    leaves = max(state[LOW] + state[AHEAD], state[AT])
    return leaves - search.tour.node[search.node[stop], SERVICE] if stop > 0 else leaves


@inner
def _ahead(search: Search, layer: Layer, label: int, stop: int, enough: float) -> float:
    """What completing a label costs at least, the multipliers of what is unvisited apart, or enough."""
    resource = _resource(search, stop, layer.state[label])
    resource = min(resource, search.model.latest[stop, stop])  # with a break it may seem later
    visited = layer.visited[label]
    return completion(search.bound, stops_of(visited), stop, resource, visited, enough)


@inner
def _all_reachable(model: LabelModel, visited: np.ndarray, stop: int, resource: float) -> bool:
    """Whether every unvisited stop that must be visited can still be, and the end."""
    latest = model.latest[stop]
    if resource > latest[0] or resource > latest[stop]:
        return False
    for word in range(len(visited)):
        bits = model.every[word] & ~visited[word]
        while bits != 0:
            other = (word << 6) + np.int64(lowest(bits))
            bits &= bits - ONE
            if model.low[other] >= resource:
                return True
            if resource > latest[other]:
                return False
    return True


@inner
def _spent(search: Search, stop: int, state: Float[np.ndarray, " S"]) -> float:
    """What a beginning is worth at least, up to the service of its last stop where time is what counts."""
    tour = search.tour
    if tour.objective == COST:
        return state[SPENT] + state[PRICE]
    service = tour.node[search.node[stop], SERVICE] if stop > 0 else 0.0
    if tour.objective == DURATION:
        return max(state[AHEAD], state[AT] - state[HIGH]) - service + state[PRICE]
    return state[AT] - tour.leaving[0, 0] - service + state[PRICE]


@inner
def _push(search: Search, here: Layer, there: Layer, key: int, rest: float) -> None:
    """Keep the label in the next free row, unless it is too dear or dominated."""
    counters = search.counters
    new, stop = counters[NEXT], key % len(search.node)
    state = there.state[new]
    counters[MADE] += 1
    enough = search.figures[UPPER] - (_spent(search, stop, state) + rest)
    if _ahead(search, there, new, stop, enough) >= enough:
        return
    slot = slot_of(there, new, key, search.slots)
    head = search.slots[slot]
    previous, label = np.int32(-1), head
    while label >= 0:
        if _dominates(search.tour, there.state[label], state):
            return
        following = there.chain[label]
        if _dominates(search.tour, state, there.state[label]):
            there.key[label] = -1
            if previous < 0:
                head = following
            else:
                there.chain[previous] = following
        else:
            previous = label
        label = following
    there.key[new], there.rest[new], there.parent[new] = key, rest, counters[TRY]
    there.chain[new] = head
    search.slots[slot] = new
    counters[NEXT] += 1


@bare
def stops_of(visited: UInt[np.ndarray, " W"]) -> int:
    """How many stops there are in a set."""
    count = ZERO
    for word in visited:
        bits = word
        while bits != 0:
            bits &= bits - ONE
            count += 1
    return count


@inner
def _dominates(
    tour: TourModel, one: Float[np.ndarray, " S"], other: Float[np.ndarray, " S"]
) -> bool:
    """Whether all that completes the other state completes this one as well, no later and no dearer."""
    spent, least = one[PRICE], other[PRICE]
    if tour.objective == COST:
        spent, least = spent + one[SPENT], least + other[SPENT]
    if spent > least or one[AT] > other[AT] or one[FREE_AT] > other[FREE_AT]:
        return False
    if tour.load != GROWING and (one[TIGHT] < other[TIGHT] or one[SHORT] > other[SHORT]):
        return False
    if tour.objective != DURATION:
        return True
    later = one[AHEAD] > other[AHEAD] or one[FREE] > other[FREE]
    return not later and one[LOW] <= other[LOW] and one[HIGH] >= other[HIGH]


@bare
def lower_bounds(search: Search, layer: Layer, first: int, least: Float[np.ndarray, " L"]) -> None:
    """What no tour from each of these labels can be worth less than."""
    nodes = len(search.node)
    for place in range(len(least)):
        label = first + place
        if layer.key[label] < 0:
            least[place] = np.inf
            continue
        stop = layer.key[label] % nodes
        spent = _spent(search, stop, layer.state[label]) + layer.rest[label]
        least[place] = spent + _ahead(search, layer, label, stop, np.inf)


@inner
def _settle(search: Search, there: Layer) -> None:
    """The next layer is complete: write it down, and go on from it."""
    counters, history = search.counters, search.history
    used, count = counters[USED], counters[NEXT]
    for label in range(count):
        history.parent[used + label] = there.parent[label]
        history.key[used + label] = there.key[label]
    counters[LAYER] += 1
    history.begins[counters[LAYER]] = used
    counters[USED], counters[COUNT] = used + count, count
    counters[TRY], counters[NEXT] = 0, 0
    counters[KEPT] += count
    counters[WIDEST] = max(counters[WIDEST], count)
    for slot in range(len(search.slots)):
        search.slots[slot] = -1


@inner
def _end(search: Search, layer: Layer) -> None:
    """End the tour of the label at hand, where that keeps every constraint, and remember it if it is the best."""
    tour, model, at = search.tour, search.model, search.counters[TRY]
    visited, nodes, end = layer.visited[at], len(search.node), len(search.tour.node) - 1
    for word in range(len(visited)):
        if model.every[word] & ~visited[word] != 0:
            return
    price = 0.0
    for stop in range(1, nodes):
        if not holds(visited, stop):
            price += tour.node[search.node[stop], PRIZE]
        elif not _with_mates(search, visited, search.node[stop]):
            return
    last, taken = search.node[layer.key[at] % nodes], layer.key[at] // nodes
    for window in range(tour.first[end + 1] - tour.first[end]):
        kept = served(tour, layer.state[at], search.state, (last, end, window))
        if kept and carried(tour, layer.state[at], search.state, end):
            value = price + _value(tour, search.state, taken)
            if value < min(search.figures[FOUND], search.figures[UPPER]):
                search.figures[FOUND] = value
                search.counters[BEST], search.counters[ENDED] = at, search.counters[LAYER]


@inner
def _with_mates(search: Search, visited: UInt[np.ndarray, " W"], node: int) -> bool:
    """Whether all that must be visited where a node is has been."""
    tour = search.tour
    for place in range(tour.begin[MATES, node], tour.begin[MATES, node + 1]):
        mate, found = tour.linked[place], False
        for stop in range(1, len(search.node)):
            if search.node[stop] == mate:
                found = holds(visited, stop)
        if not found and mate != len(tour.node) - 1:
            return False
    return True


@inner
def _value(tour: TourModel, state: Float[np.ndarray, " S"], taken: int) -> float:
    """What an ended tour is worth, prizes apart; infinite where a break is due that has not been taken."""
    high = state[HIGH]
    for number in range(len(tour.breaks)):
        if taken >> number & 1 == 0:
            if max(state[LOW] + state[AHEAD], state[AT]) > tour.breaks[number, 1]:
                return np.inf
            high = min(high, tour.breaks[number, 1] - state[AHEAD])
    if tour.objective == COST:
        return state[SPENT] + state[PRICE]
    if tour.objective == DURATION:
        return max(state[AHEAD], state[AT] - high)
    return state[AT] - tour.leaving[0, 0] + state[PRICE]


def tour_of(search: Search) -> tuple[int, ...]:
    """The best tour found, by the numbers of the tour model."""
    nodes, label, stops = len(search.node), int(search.counters[BEST]), []
    for layer in range(int(search.counters[ENDED]), 0, -1):
        entry = search.history.begins[layer] + label
        stop = int(search.node[search.history.key[entry] % nodes])
        if not stops or stops[-1] != stop:  # a break leaves the last stop what it was
            stops.append(stop)
        label = int(search.history.parent[entry])
    return tuple(stop for stop in reversed(stops) if stop > 0)
