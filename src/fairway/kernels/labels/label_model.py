"""What labels are extended by: an instance with its stops renumbered so that what binds first comes first.

A partial tour stands at a stop with so much of a *resource*: the time at which service starts there, or the load. The
model says how it grows from stop to stop, what it may be, and which stops cannot come next. Whatever it forbids is part
of no tour that the judge accepts.
"""

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, UInt

from fairway import clock
from fairway.kernels.compiling import bare
from fairway.kernels.labels.bits import holds
from fairway.kernels.preprocessing import Preprocessed
from fairway.kernels.preprocessing.network import network, reach
from fairway.problems.model import HOME, START, Model, Resource, without_return

Matrix = Float[np.ndarray, "N N"]
Vector = Float[np.ndarray, " N"]
Bits = UInt[np.ndarray, "N W"]

PATHS = 1 << 24
"""Paths that are tried between two looks at the clock: a few milliseconds."""


class LabelModel(NamedTuple):
    """Arrays over the renumbered nodes: the depot is 0, and stops are in the order in which they can bind."""

    node: Int[np.ndarray, " N"]
    """The instance's own numbers."""
    price: Matrix
    """What a leg costs; for the makespan, by how much it delays at least."""
    rise: Matrix
    """The resource grows by this on a leg, after the stay."""
    stay: Vector
    opens: Vector
    closes: Vector
    latest: Matrix
    """With more than this at the row, the column cannot be served any more.

    Column 0 is the return; on the diagonal stands the row's own limit.
    """
    low: Vector
    """The least entry of each column of `latest` for stops, own limits apart, never falling."""
    after: Bits
    """The stops that may come straight after the row."""
    needs: Bits
    """The stops that come before the row."""
    every: UInt[np.ndarray, " W"]
    """All stops that must be visited."""
    prize: Vector
    """The price of leaving a stop out; infinite where it must be visited."""
    allowance: float
    """What the judge forgives."""
    spare: float
    """The allowance, and room for sums that are taken in another order than the judge's."""
    by_set: bool
    """Whether the resource follows from the stops visited, as a load does."""
    makespan: bool
    """Whether the resource at the end is minimised, not the sum of prices."""


class Limits(NamedTuple):
    """What is known to be impossible, by the model's own numbers."""

    latest: Matrix
    arcs: Bool[np.ndarray, "N N"]
    before: Bool[np.ndarray, "N N"]
    """Whether the row comes before the column: is visited, and earlier, where the column is visited."""


def label_model_of(
    model: Model,
    *,
    makespan: bool = False,
    pruned: Preprocessed | None = None,
    paths: Matrix | None = None,
) -> LabelModel:
    """The labelling model: from shortest paths alone, or as strict as preprocessing allows."""
    resource = model.resource
    if resource.by_set:
        limits = _set_limits(resource)
    elif pruned is None:
        paths = shortest_paths(resource) if paths is None else paths
        assert paths is not None, "without a deadline there is time for all paths"
        limits = _quick_limits(resource, paths)
    else:
        limits = _pruned_limits(model, pruned)
    limits = _stated(limits, model)
    price = without_return(model.cost)
    prize = np.full(len(price), np.inf) if model.prize is None else model.prize[:HOME]
    found = _numbered(
        limits, price, prize, (resource.allowance, resource.allowance + resource.guard)
    )
    rise = found.price
    if model.cost is not resource.rise:
        rise = np.ascontiguousarray(without_return(resource.rise)[np.ix_(found.node, found.node)])
    closes = resource.latest[:HOME].copy()
    closes[START] = resource.latest[HOME]
    stay = resource.stay[found.node]
    return found._replace(
        price=rise + stay[:, None] if makespan else found.price,
        rise=rise,
        stay=stay,
        opens=resource.earliest[found.node],
        closes=closes[found.node],
        by_set=resource.by_set,
        makespan=makespan,
    )


def _stated(limits: Limits, model: Model) -> Limits:
    """The same with the order that is stated; where stops may be left out, what is inferred holds if both are visited.

    Then an order that windows force says nothing about who is visited, and only stops that must be have to be reached.
    """
    if model.before is None and model.prize is None:
        return limits
    latest, arcs, before = limits
    stated = np.zeros_like(before) if model.before is None else model.before[:HOME, :HOME].copy()
    stated[START] = stated[:, START] = False
    arcs = arcs & ~(before | stated).T
    if model.prize is not None:
        optional = np.isfinite(model.prize[:HOME])
        optional[START] = False
        before = before & ~optional[:, None]
        own = latest.diagonal().copy()
        latest = np.where(optional, np.inf, latest)
        np.fill_diagonal(latest, own)
    return Limits(latest, arcs, before | stated)


def _set_limits(resource: Resource) -> Limits:
    """Own limits alone: what a set may be followed by is asked when it is extended."""
    latest = resource.latest[:HOME].copy()
    latest[START] = resource.latest[HOME]
    arcs = ~np.eye(len(latest), dtype=bool)
    return Limits(np.tile(latest, (len(latest), 1)), arcs, np.zeros_like(arcs))


def _quick_limits(resource: Resource, paths: Matrix) -> Limits:
    """What follows from the shortest paths between any two nodes."""
    increment = without_return(resource.increment)
    limit = resource.latest[:HOME] + resource.allowance + resource.guard
    limit[START] = resource.latest[HOME] + resource.allowance + resource.guard
    limits = no_limits(len(limit))
    find_limits(increment, paths, resource.earliest, limit, resource.guard, limits)
    return limits


def _numbered(
    limits: Limits, price: Matrix, prize: Vector, slack: tuple[float, float]
) -> LabelModel:
    """Renumber the nodes, and pack what may follow what into bits; the resource is still to be filled in."""
    low = np.empty(len(price))
    find_lowest(limits, low)
    node = np.argsort(low, kind="stable")
    nothing = np.zeros(len(node))
    every = (np.arange(len(node)) > 0) & np.isinf(prize[node])
    travel, price, latest = price, *np.empty((2, *price.shape))
    after, needs = np.zeros((2, len(node), (len(node) + 63) // 64), np.uint64)
    arrange(limits, travel, node, price, latest, after, needs)
    drop_shortcuts(after, needs, np.zeros_like(after))
    return LabelModel(
        node,
        price,
        *(np.empty((0, 0)), nothing, nothing, nothing),
        latest,
        low[node],
        *(after, needs, packed(every[None])[0], prize[node]),
        *slack,
        by_set=False,
        makespan=False,
    )


@bare
def find_lowest(limits: Limits, low: Vector) -> None:
    """Write down the least entry of each column of `latest`, less rows that an order or their limit makes needless."""
    nodes, latest = len(limits.latest), limits.latest
    for node in range(nodes):
        low[node] = np.inf if node > 0 else -np.inf
    for stop in range(1, nodes):
        for other in range(1, nodes):
            if not limits.before[other, stop] and latest[stop, other] < latest[stop, stop]:
                low[other] = min(low[other], latest[stop, other])


@bare
def arrange(
    limits: Limits,
    travel: Matrix,
    node: Int[np.ndarray, " N"],
    price: Matrix,
    latest: Matrix,
    after: Bits,
    needs: Bits,
) -> None:
    """Write down travel, latest values, what may follow each node and what comes before it, in the new order."""
    nodes = len(node)
    for row in range(nodes):
        here = node[row]
        for column in range(nodes):
            there = node[column]
            bit = np.uint64(1) << np.uint64(column & 63)
            price[row, column] = travel[here, there]
            # The resource does not decide what an order forbids.
            latest[row, column] = np.inf
            if limits.before[there, here]:
                needs[row, column >> 6] |= bit
            else:
                latest[row, column] = limits.latest[here, there]
                if column > 0 and limits.arcs[here, there]:
                    after[row, column >> 6] |= bit


@bare
def drop_shortcuts(after: Bits, needs: Bits, follows: Bits) -> None:
    """Nothing comes straight after a node if a third one must come between; all come after the depot."""
    nodes = len(after)
    for stop in range(1, nodes):
        bit = np.uint64(1) << np.uint64(stop & 63)
        follows[0, stop >> 6] |= bit
        for other in range(1, nodes):
            if holds(needs[stop], other):
                follows[other, stop >> 6] |= bit
    for here in range(nodes):
        for between in range(1, nodes):
            if holds(follows[here], between):
                for word in range(after.shape[1]):
                    after[here, word] &= ~follows[between, word]


def unpacked(sets: UInt[np.ndarray, "K W"]) -> Bool[np.ndarray, "K K"]:
    """Bits of sets of nodes, a row for each node, as booleans."""
    bits = np.unpackbits(sets.astype("<u8").view(np.uint8), axis=1, bitorder="little")
    return bits[:, : len(sets)].astype(bool)


def packed(sets: Bool[np.ndarray, "K N"]) -> UInt[np.ndarray, "K W"]:
    """One bit a node, in words of 64."""
    whole = np.zeros((len(sets), (sets.shape[1] + 63) // 64 * 8), np.uint8)
    bits = np.packbits(sets, axis=1, bitorder="little")
    whole[:, : bits.shape[1]] = bits
    return whole.view("<u8").astype(np.uint64)


def no_limits(nodes: int) -> Limits:
    """Room for limits."""
    arcs, before = np.zeros((2, nodes, nodes), np.bool_)
    return Limits(np.empty((nodes, nodes)), arcs, before)


@bare
def find_limits(
    increment: Matrix, paths: Matrix, opens: Vector, limit: Vector, guard: float, limits: Limits
) -> None:
    """Write down the latest values over the shortest paths, and the arcs and orders that follow from two windows."""
    latest, arcs, before = limits
    for i in range(len(limit)):
        first = max(opens[i], opens[0] + paths[0, i])
        for j in range(len(limit)):
            latest[i, j] = limit[j] - paths[i, j]
            if i != j:
                before[j, i] = i > 0 and j > 0 and first > latest[i, j]
                arcs[i, j] = first <= limit[j] + guard - increment[i, j]


def _pruned_limits(model: Model, pruned: Preprocessed) -> Limits:
    """The latest values over all paths that preprocessing left, its arcs and its orders."""
    bounds = network(model)
    closes = pruned.closes + model.resource.allowance + bounds.guard
    bounds.closes[1:] = np.minimum(bounds.closes[1:], np.append(closes[1:], closes[START]))
    bounds.opens[:HOME] = np.maximum(bounds.opens[:HOME], pruned.opens)
    bounds.before[:HOME, :HOME] |= pruned.before
    bounds.arcs[:HOME, :HOME] &= pruned.arcs
    bounds.arcs[:HOME, HOME] &= pruned.arcs[:, START]
    paths = reach(bounds).latest
    latest = without_return(paths)
    np.fill_diagonal(latest, bounds.closes[:HOME])
    return Limits(latest, pruned.arcs.copy(), pruned.before | (latest == -np.inf).T)


def shortest_paths(resource: Resource, until: float = math.inf) -> Matrix | None:
    """The least increment between any two nodes by way of any others, never too large by rounding.

    None where they are not known by that time by `clock.now`: this takes the cube of the nodes.
    """
    paths = np.maximum(without_return(resource.increment) - resource.guard, 0.0)
    np.fill_diagonal(paths, 0.0)
    nodes = len(paths)
    onward, together = np.empty((2, nodes)), max(2, PATHS // nodes**2 // 2 * 2)
    for first in range(0, nodes, together):
        if clock.now() >= until:
            return None
        _go_through(paths, onward, first, min(first + together, nodes))
    return paths


@bare
def _go_through(paths: Matrix, onward: Matrix, first: int, last: int) -> None:
    """Let paths lead through some of the nodes as well, two at a time: every row is read half as often.

    The second node's own row is brought up to date with the first before it is used, so that each sum is the one that
    node after node would give.
    """
    nodes = len(paths)
    for k in range(first, last, 2):
        pair = k + 1 < last
        back = paths[k + 1, k] if pair else np.inf
        for j in range(nodes):
            # Apart from the rows that are written, so that lanes go side by side.
            onward[0, j] = paths[k, j]
            onward[1, j] = min(paths[k + 1, j], back + paths[k, j]) if pair else np.inf
        for i in range(nodes):
            row, one = paths[i], paths[i, k]
            two = min(row[k + 1], one + onward[0, k + 1]) if pair else np.inf
            for j in range(nodes):
                row[j] = min(row[j], one + onward[0, j], two + onward[1, j])
