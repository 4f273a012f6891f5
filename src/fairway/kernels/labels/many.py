"""Many small instances in one compiled call: of each the labelling model from shortest paths, and one narrow beam.

It is what `label_model_of` and `run` do first, to the last bit: without an upper bound no label is too dear, so that no
bounds are needed, and a beam that never has to drop a label is a proof. What it cannot decide is left to them.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from fairway.kernels.compiling import bare, inner, njit
from fairway.kernels.labels import layers
from fairway.kernels.labels.bound import cheapest_legs
from fairway.kernels.labels.label_model import (
    LabelModel,
    Limits,
    _go_through,
    arrange,
    drop_shortcuts,
    find_limits,
    find_lowest,
    label_model_of,
)
from fairway.kernels.labels.layers import History, Search, advance
from fairway.kernels.labels.space import table_size
from fairway.problems.instance import Instance
from fairway.problems.model import model_of

ENDLESS = 1 << 60
"""Work that no narrow beam comes to."""


class Windows(NamedTuple):
    """Instances of one size with time windows, and what the judge and float64 may be off by in each."""

    travel: Float[np.ndarray, "B N N"]
    opens: Float[np.ndarray, "B N"]
    closes: Float[np.ndarray, "B N"]
    service: Float[np.ndarray, "B N"]
    allowance: Float[np.ndarray, " B"]
    guard: Float[np.ndarray, " B"]


def room_for(nodes: int, width: int) -> Search:
    """Space for beams of that width over instances of that size, used again for each.

    With little to spare: a table that is filled anew for every layer had better be small.
    """
    sample = label_model_of(model_of(Instance(1.0 - np.eye(nodes), closes=float(nodes))))
    rows, words = width + nodes, (nodes + 63) // 64
    history = History(
        np.empty(width * nodes, np.int32), np.empty(width * nodes, np.int16), np.zeros(nodes, np.int64)
    )  # fmt: skip
    bound = cheapest_legs(sample)
    bound.multiplier[:] = 0.0
    bound.cost[:] = 0.0
    return Search(
        sample,
        bound,
        (layers.room(rows, words), layers.room(rows, words)),
        np.empty(table_size(rows), np.int32),
        history,
        np.zeros(9, np.int64),
        np.zeros(3),
        np.empty(nodes, np.int64),
        np.empty(nodes),
    )


@njit(cache=True, nogil=True)
def least_tours(
    room: Search,
    windows: Windows,
    width: int,
    numbers: Int[np.ndarray, " K"],
    tours: Int[np.ndarray, "B M"],
) -> None:
    """Write down the tours of least cost of the instances with these numbers, where a beam so narrow proves one."""
    for each in numbers:
        model = _model(room.model, windows, each)
        search = Search(
            model,
            room.bound,
            room.layers,
            room.slots,
            room.history,
            room.counters,
            room.figures,
            room.reached,
            room.resources,
        )
        _begin(search)
        stopped = advance(search, width, ENDLESS)
        if stopped == layers.DONE and search.counters[layers.BEST] >= 0:
            layers.read_back(search.history, model.node, search.counters[layers.BEST], tours[each])


@bare
def distances(points: Float[np.ndarray, "B N 2"], travel: Float[np.ndarray, "B N N"]) -> None:
    """Write down Euclidean distances, to the last bit those of `problems.distances`, into matrices that are kept."""
    for each in range(len(points)):
        for i in range(points.shape[1]):
            for j in range(points.shape[1]):
                across = points[each, i, 0] - points[each, j, 0]
                along = points[each, i, 1] - points[each, j, 1]
                travel[each, i, j] = np.sqrt(across * across + along * along)


@njit(nogil=True)
def _model(sample: LabelModel, windows: Windows, each: int) -> LabelModel:
    """The labelling model of one instance, from shortest paths alone."""
    travel, opens, closes = windows.travel[each], windows.opens[each], windows.closes[each]
    service, guard = windows.service[each], windows.guard[each]
    spare = windows.allowance[each] + guard
    nodes = len(opens)
    increment, paths = np.empty((nodes, nodes)), np.empty((nodes, nodes))
    for i in range(nodes):
        for j in range(nodes):
            increment[i, j] = service[i] + travel[i, j]
            paths[i, j] = max(increment[i, j] - guard, 0.0)
        paths[i, i] = 0.0
    _go_through(paths, np.empty((2, nodes)), 0, nodes)
    limit = closes + windows.allowance[each] + guard
    price, latest, low = np.empty((nodes, nodes)), np.empty((nodes, nodes)), np.empty(nodes)
    arcs, before = np.zeros((nodes, nodes), np.bool_), np.zeros((nodes, nodes), np.bool_)
    limits = Limits(np.empty((nodes, nodes)), arcs, before)
    find_limits(increment, paths, opens, limit, guard, limits)
    find_lowest(limits, low)
    node = np.argsort(low, kind="mergesort")
    after = np.zeros((nodes, (nodes + 63) // 64), np.uint64)
    needs = np.zeros_like(after)
    arrange(limits, travel, node, price, latest, after, needs)
    drop_shortcuts(after, needs, np.zeros_like(after))
    return LabelModel(
        node,
        price,
        price,
        service[node],
        opens[node],
        closes[node],
        latest,
        low[node],
        after,
        needs,
        sample.every,
        sample.prize,
        windows.allowance[each],
        spare,
        sample.by_set,
        sample.makespan,
    )


@inner
def _begin(search: Search) -> None:
    """Put down the one label of a tour that has not left the depot; no tour is known."""
    layer, counters, figures = search.layers[0], search.counters, search.figures
    for place in range(len(counters)):
        counters[place] = 0
    counters[layers.COUNT], counters[layers.BEST] = 1, -1
    figures[layers.UPPER], figures[layers.DROPPED] = np.inf, np.inf
    figures[layers.FOUND] = np.inf
    for word in range(layer.visited.shape[1]):
        layer.visited[0, word] = 0
    layer.last[0] = 0
    layer.resource[0] = search.model.opens[0]
    layer.cost[0] = 0.0
    layer.rest[0] = 0.0
    for slot in range(len(search.slots)):
        search.slots[slot] = -1
