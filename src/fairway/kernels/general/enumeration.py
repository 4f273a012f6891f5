"""All orders of a few stops, depth first, with what cannot lead to a better tour cut off."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int, UInt

from fairway.kernels.compiling import bare, inner
from fairway.kernels.general.beginning import (
    AHEAD,
    AT,
    COLUMNS,
    HIGH,
    LOW,
    PRICE,
    SPENT,
    begin,
    carried,
    rested,
    served,
)  # fmt: skip
from fairway.kernels.general.tour_model import (
    BARRED,
    COST,
    DUE,
    DURATION,
    LATE,
    MAKESPAN,
    MATES,
    NEEDS,
    PRIZE,
    SERVICE,
    TAKEN_BY,
    TourModel,
)  # fmt: skip
from fairway.kernels.paths import shortest

REST = COLUMNS
"""Of a beginning, besides its state: what must still be spent at least."""
DEPTH, BEST, FOUND = range(3)

ONE = np.uint64(1)
ROUNDING, LAST_BITS = 1e-9, 1e-14
"""The part of a sum by which it may differ from the same numbers added up in another order, where a little more does no
harm, and where equal sums are to be told from others."""


class Walk(NamedTuple):
    """A search at any moment, a row for each stop of the tour at hand."""

    state: Float[np.ndarray, "M S"]
    node: Int[np.ndarray, " M"]
    real: Int[np.ndarray, " M"]
    """The last stop that is no break."""
    visited: UInt[np.ndarray, " M"]
    option: Int[np.ndarray, " M"]
    """What to try next: a node and one of its windows."""
    delays: Float[np.ndarray, "M 4"]
    """Of each stop with a price of lateness: the price, the closing, and its start as a pair."""
    delayed: Int[np.ndarray, " M"]
    least: Float[np.ndarray, " V"]
    """What coming to each node takes at least, or leaving it out."""
    best: Int[np.ndarray, " M"]
    value: Float[np.ndarray, " 3"]
    """Of the best: how many stops it leaves out and their price, where that counts first, and its value."""
    place: Int[np.ndarray, " 3"]
    """The depth, the length of the best, and the departure that is being tried."""
    most: int
    """Windows of a node, at most."""
    reach: Float[np.ndarray, "V V"]
    """The least time from one node to another, by way of any others."""
    last: Float[np.ndarray, " V"]
    """The last start at each node that must be visited, infinite at the others."""


def least_spent(model: TourModel) -> Float[np.ndarray, " V"]:
    """What coming to each node takes at least, or leaving it out."""
    cost, travel = model.legs
    legs = cost if model.objective == COST else travel + model.node[:, SERVICE]
    closed = np.eye(len(legs), dtype=bool) | (travel >= model.no_way)
    arriving = np.where(closed, np.inf, legs).min(axis=0)
    prize = model.node[:, PRIZE]
    least = np.where(model.node[:, BARRED] > 0, prize, np.minimum(arriving, prize))
    least[0], least[-1] = 0.0, arriving[-1]
    return least


def walk_of(model: TourModel, upper: float) -> Walk:
    """A search that has not begun; tours that are worth as much as `upper` are of no interest."""
    nodes, breaks = len(model.node), len(model.breaks)
    rows = nodes + breaks + 1
    needed = np.isinf(model.node[:, PRIZE]) & ~(model.node[:, BARRED] > 0)
    needed[0], needed[-1] = False, True
    travel, everywhere = model.legs[TAKEN_BY], np.ones(nodes, dtype=bool)
    return Walk(
        np.zeros((rows, COLUMNS + 1)),
        np.zeros(rows, np.int64),
        np.zeros(rows, np.int64),
        np.zeros(rows, np.uint64),
        np.zeros(rows, np.int64),
        np.zeros((rows, 4)),
        np.zeros(rows, np.int64),
        least_spent(model),
        np.zeros(rows, np.int64),
        np.array([np.inf, np.inf, upper]),
        np.array([-1, -1, 0]),
        int(np.diff(model.first).max()),
        np.array([shortest(travel, node, everywhere) for node in range(nodes)]),
        np.where(needed, model.windows[model.first[1:] - 1, 1], np.inf),
    )


@bare
def explore(model: TourModel, walk: Walk, fewest: bool, quantum: int) -> bool:
    """Go on for so many steps; whether there is anything left to try."""
    nodes, breaks = len(model.node), len(model.breaks)
    options = (nodes + breaks) * walk.most
    while quantum > 0:
        quantum -= 1
        depth = walk.place[DEPTH]
        if depth < 0:
            if walk.place[FOUND] == len(model.leaving):
                return False
            _depart(model, walk)
            _end(model, walk, fewest)
            continue
        option = walk.option[depth]
        if option == options:
            walk.place[DEPTH] = depth - 1
            continue
        walk.option[depth] = option + 1
        node, window = option // walk.most, option % walk.most
        if node == 0 or node == nodes - 1:
            continue
        if walk.visited[depth] >> np.uint64(node) & ONE != 0:
            continue
        if node >= nodes:
            entered = window == 0 and _rest(model, walk, node - nodes)
        else:
            entered = _visit(model, walk, node, window, fewest)
        if entered:
            new = depth + 1
            walk.node[new], walk.option[new] = node, 0
            walk.visited[new] = walk.visited[depth] | ONE << np.uint64(node)
            walk.real[new] = walk.real[depth] if node >= nodes else node
            walk.place[DEPTH] = new
            _end(model, walk, fewest)
    return True


@inner
def _depart(model: TourModel, walk: Walk) -> None:
    """Begin with the next departure."""
    begin(model, walk.place[FOUND], walk.state[0])
    walk.place[FOUND] += 1
    walk.place[DEPTH] = 0
    walk.node[0] = walk.real[0] = walk.option[0] = walk.delayed[0] = 0
    walk.visited[0] = 0
    walk.state[0, REST] = 0.0
    for node in range(1, len(model.node)):
        walk.state[0, REST] += walk.least[node]


@inner
def _rest(model: TourModel, walk: Walk, number: int) -> bool:
    """Take a break; whether that is in time."""
    depth = walk.place[DEPTH]
    walk.delayed[depth + 1] = walk.delayed[depth]
    walk.state[depth + 1, REST] = walk.state[depth, REST]
    return rested(model, walk.state[depth], walk.state[depth + 1], number)


@inner
def _visit(model: TourModel, walk: Walk, node: int, window: int, fewest: bool) -> bool:
    """Go on to a stop and serve it in one of its windows; whether that keeps every limit and may be better."""
    depth = walk.place[DEPTH]
    if model.node[node, BARRED] > 0 or not _in_order(model, walk, depth, node):
        return False
    if not _serve(model, walk, depth, node, window):
        return False
    old, new = walk.state[depth], walk.state[depth + 1]
    new[REST] = old[REST] - walk.least[node]
    if not fewest and _at_least(model, new) >= walk.value[2]:
        return False
    return carried(model, old, new, node) and _in_time(model, walk, node)


@inner
def _in_time(model: TourModel, walk: Walk, here: int) -> bool:
    """Whether breaks that are due and nodes that must be visited can still begin in time after a stop."""
    depth, nodes = walk.place[DEPTH], len(model.node)
    state, visited = walk.state[depth + 1], walk.visited[depth]
    ready = max(state[LOW] + state[AHEAD], state[AT])
    for number in range(len(model.breaks)):
        if visited >> np.uint64(nodes + number) & ONE == 0 and ready > model.breaks[number, 1]:
            return False
    for node in range(1, nodes):
        if node != here and visited >> np.uint64(node) & ONE == 0:
            arrival = ready + walk.reach[here, node]
            if arrival - ROUNDING * abs(arrival) > walk.last[node]:
                return False
    return True


@inner
def _in_order(model: TourModel, walk: Walk, depth: int, node: int) -> bool:
    """Whether all that must come before the node has been visited."""
    for at in range(model.begin[NEEDS, node], model.begin[NEEDS, node + 1]):
        if walk.visited[depth] >> np.uint64(model.linked[at]) & ONE == 0:
            return False
    return True


@inner
def _serve(model: TourModel, walk: Walk, depth: int, node: int, window: int) -> bool:
    """Work out the next row for a node in one of its windows; whether there is any departure for it."""
    new, service = walk.state[depth + 1], model.node[node, SERVICE]
    if not served(model, walk.state[depth], new, (walk.real[depth], node, window)):
        return False
    count = walk.delayed[depth]
    if model.node[node, LATE] > 0:
        row = walk.delays[count]
        row[0], row[1] = model.node[node, LATE], model.node[node, DUE]
        row[2], row[3] = new[AHEAD] - service, new[AT] - service
        count += 1
    walk.delayed[depth + 1] = count
    return True


@inner
def _at_least(model: TourModel, state: Float[np.ndarray, " S"]) -> float:
    """What no tour with this beginning can be worth less than, a little less for rounding."""
    if model.objective == DURATION:
        spent = state[AHEAD]
    elif model.objective == MAKESPAN:
        spent = state[AT]
    else:
        spent = state[SPENT]
    least = spent + state[PRICE] + state[REST]
    return least - ROUNDING * abs(least)


@inner
def _end(model: TourModel, walk: Walk, fewest: bool) -> None:
    """End the tour here, where that keeps every limit, and remember it if it is the best."""
    depth, end = walk.place[DEPTH], len(model.node) - 1
    visited = walk.visited[depth]
    left, price = 0, 0.0
    for node in range(1, end):
        if visited >> np.uint64(node) & ONE == 0 and model.node[node, PRIZE] > 0:
            if model.node[node, PRIZE] == np.inf:
                return
            left += 1
            price += model.node[node, PRIZE]
        elif visited >> np.uint64(node) & ONE == 0 and not model.node[node, BARRED] > 0:
            left += 1
        elif visited >> np.uint64(node) & ONE != 0:
            for at in range(model.begin[MATES, node], model.begin[MATES, node + 1]):
                mate = model.linked[at]
                if mate != end and visited >> np.uint64(mate) & ONE == 0:
                    return
    if not _in_order(model, walk, depth, end):
        return
    for window in range(model.first[end + 1] - model.first[end]):
        if _serve(model, walk, depth, end, window):
            state = walk.state[depth + 1]
            if carried(model, walk.state[depth], state, end):
                _remember(model, walk, (left if fewest else 0, price), fewest)


@inner
def _remember(model: TourModel, walk: Walk, out: tuple[int, float], fewest: bool) -> None:
    """Keep the tour at hand, if no better one is known."""
    depth, nodes = walk.place[DEPTH], len(model.node)
    state = walk.state[depth + 1]
    low, high = state[LOW], state[HIGH]
    for number in range(len(model.breaks)):
        if walk.visited[depth] >> np.uint64(nodes + number) & ONE == 0:
            last = model.breaks[number, 1]
            if max(low + state[AHEAD], state[AT]) > last:
                return
            high = min(high, last - state[AHEAD])
    value = out[1] + _least_value(model, walk, low, high)
    first = out[1] if fewest else 0.0
    known = walk.value
    better = value < known[2]
    if fewest:
        apart = LAST_BITS * abs(first)
        cheaper = first < known[1] - apart
        as_cheap = first <= known[1] + apart and value < known[2]
        better = out[0] < known[0] or (out[0] == known[0] and (cheaper or as_cheap))
    if better:
        known[0], known[1], known[2] = out[0], first, value
        walk.place[BEST] = depth
        for at in range(depth):
            walk.best[at] = walk.node[at + 1]


@inner
def _least_value(model: TourModel, walk: Walk, low: float, high: float) -> float:
    """Of the tour at hand, over all its departures, prizes apart: the best one is where a line bends."""
    depth = walk.place[DEPTH]
    state = walk.state[depth + 1]
    least = min(_value(model, walk, low), _value(model, walk, high) if high < np.inf else np.inf)
    if model.objective == DURATION:
        bend = state[AT] - state[AHEAD]
        if low <= bend <= high:
            least = min(least, _value(model, walk, bend))
        for number in range(walk.delayed[depth + 1]):
            for column in (1, 3):
                bend = walk.delays[number, column] - walk.delays[number, 2]
                if low <= bend <= high:
                    least = min(least, _value(model, walk, bend))
    return least


@inner
def _value(model: TourModel, walk: Walk, departure: float) -> float:
    depth = walk.place[DEPTH]
    state = walk.state[depth + 1]
    ready = max(departure + state[AHEAD], state[AT])
    value = state[SPENT]
    if model.objective == MAKESPAN:
        value = ready
    elif model.objective == DURATION:
        value = ready - departure
    for number in range(walk.delayed[depth + 1]):
        delay = walk.delays[number]
        value += delay[0] * max(max(departure + delay[2], delay[3]) - delay[1], 0.0)
    return value
