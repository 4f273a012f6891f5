"""One search over sets from the start to the end, in memory that is there beforehand, up to a deadline."""

import math

import numpy as np
from jaxtyping import Int

from fairway import clock
from fairway.kernels.labels.run import Limits, Outcome
from fairway.kernels.ordering import layers
from fairway.kernels.ordering.layers import COUNT, SLOTS, USED, Labels, Layer, Search
from fairway.kernels.ordering.order_model import OrderModel
from fairway.kernels.ordering.payments import desk, payments

QUANTUM = 2_000_000
"""Work between two looks at the clock, in nanoseconds, about."""
SPARED, PRUNED = 0.03, 0.1
"""Where assignments prune a smaller part of the sets of a layer, they are made half as often; where more, twice."""
SELDOM = 8
"""At least in every layer of so many."""
UNEVEN = 6.0
"""Of the time and room that are left, what a layer may take: so many times as much as if all took the same."""
LABEL = 18
"""Bytes of a label."""

Sets = Int[np.ndarray, "..."]
"""Of a layer, by their places in it."""


def run(model: OrderModel, limits: Limits) -> Outcome:
    """The best tour below the upper bound; where width, time or room end, the sets of least bound are kept."""
    search = _started(model, limits)
    lost, widest, every, since = math.inf, 0, 1, 0
    for layer in range(len(model.units)):
        until = _quota(limits.until, len(model.units) - layer)
        every_set = np.arange(search.counters[COUNT])
        width = limits.width if clock.now() < limits.until else 0
        lost, order = _cut(search, _ranked(search, limits.upper, every_set), width, lost)
        since += 1
        if since >= every:
            weighed = _weighed(search, order, until)
            lost, order = _cut(search, order, weighed, lost)
            every, since = _pace(search, order, every), 0
            order = _ranked(search, limits.upper, order)
        widest = max(widest, len(order))
        lost, _ = _cut(search, order, _extended(search, order, until), lost)
        layers.turn(search)
        if search.counters[COUNT] == 0:
            break
    made, kept = int(search.counters[layers.MADE]), int(search.counters[layers.KEPT])
    cost = float(search.figures[layers.FOUND])
    return Outcome(layers.tour_of(search), cost, lost, made, kept, widest)


def _quota(until: float, left: int) -> float:
    """When a layer must be done with, of so many: some are much wider than others."""
    now = clock.now()
    return until if math.isinf(until) else now + max(until - now, 0.0) * min(UNEVEN / left, 0.5)


def _here(search: Search) -> Layer:
    return search.layers[int(search.counters[layers.LAYER]) % 2]


def _ranked(search: Search, upper: float, among: Sets) -> Sets:
    """Those of the sets that may lead to a better tour, those of least bound first."""
    bounds = _here(search).least
    among = among[bounds[among] < upper]
    return among[np.argsort(bounds[among], kind="stable")]


def _cut(search: Search, order: Sets, count: int, lost: float) -> tuple[float, Sets]:
    """So many sets, and the least bound of all that were lost so far."""
    if count >= len(order):
        return lost, order
    return min(lost, float(_here(search).least[order[count]])), order[:count]


def _started(model: OrderModel, limits: Limits) -> Search:
    """Half of the memory is for labels, the other for two layers; none of it is touched before it is needed."""
    nodes, words = model.needs.shape
    line = 2 * (8 * words + 24 + 10 * nodes) + 16
    sets = max(limits.memory // 2 // line, 2 * nodes)
    labels = max(limits.memory // 2 // LABEL, 2 * nodes * nodes)
    slots = max(SLOTS, 1 << (2 * sets - 1).bit_length())
    pair = [
        Layer(
            np.empty((sets, words), np.uint64),
            np.empty(sets, np.int32),
            np.empty(sets),
            np.empty(sets, np.int64),
            np.empty(sets, np.int32),
        )
        for _ in range(2)
    ]
    search = Search(
        model,
        (pair[0], pair[1]),
        (payments(sets, nodes), payments(sets, nodes)),
        Labels(
            np.empty(labels, np.int16),
            np.empty(labels, np.int32),
            np.empty(labels),
            np.empty(labels, np.int32),
        ),
        np.empty(slots, np.int32),
        desk(nodes),
        np.zeros(nodes, np.int64),
        np.zeros(11, np.int64),
        np.zeros(2),
    )
    layers.start(search, limits.upper)
    return search


def _weighed(search: Search, order: Sets, until: float) -> int:
    """Bound these sets of the layer at hand; says for how many there was time."""
    while layers.weigh(search, order, QUANTUM) != layers.DONE and clock.now() < until:
        pass
    return layers.settled(search)


def _pace(search: Search, order: Sets, every: int) -> int:
    """How many layers from now assignments are to be made again, after they were for these sets."""
    pruned = float(np.isinf(_here(search).least[order]).mean()) if len(order) else 0.0
    if pruned < SPARED:
        return min(2 * every, SELDOM)
    return max(every // 2, 1) if pruned > PRUNED else every


def _extended(search: Search, order: Sets, until: float) -> int:
    """Extend these sets; says for how many there was time and room."""
    counters = search.counters
    room = len(search.labels.last) - int(counters[USED])
    left = len(search.model.units) - int(counters[layers.LAYER])
    most = int(counters[USED]) + int(room * min(UNEVEN / left, 0.5))
    while layers.extend(search, order, most, QUANTUM) == layers.RUNNING:
        if clock.now() >= until:
            break
    return int(counters[layers.AT])
