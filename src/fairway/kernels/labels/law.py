"""What labels are extended by: an instance with its stops renumbered so that what binds first comes first.

A partial tour stands at a stop with a *level*: the time at which service starts there, or the load. The law says how
the level rises from stop to stop, what it may be, and which stops cannot come next. Whatever it forbids is part of no
tour that the judge accepts.
"""

import math
import time
from typing import NamedTuple, no_type_check

import numpy as np
from jaxtyping import Bool, Float, Int, UInt

from fairway.judge import TOLERANCE
from fairway.kernels.bare import bare
from fairway.kernels.compiling import njit
from fairway.kernels.labels.bits import holds
from fairway.kernels.pruning import Pruned
from fairway.kernels.pruning.network import HOME, START, allowance_of, network, rounding
from fairway.kernels.pruning.reach import reach
from fairway.problems.tspdl import TSPDL
from fairway.problems.tsptw import TSPTW

Matrix = Float[np.ndarray, "N N"]
Vector = Float[np.ndarray, " N"]
Bits = UInt[np.ndarray, "N W"]

WINDOWS, MAKESPAN, DRAFTS = 0, 1, 2
"""Windows by travel, windows by the time of the return, draft limits by travel."""
LEADS = 1 << 24
"""Ways that are tried between two looks at the clock: a few milliseconds."""


class Law(NamedTuple):
    """Arrays over the renumbered nodes: the depot is 0, and stops are in the order in which they can bind."""

    node: Int[np.ndarray, " N"]
    """The instance's own numbers."""
    price: Matrix
    """What a leg costs; for the makespan, by how much it delays at least."""
    rise: Matrix
    """The level goes up by this on a leg, after the stay."""
    stay: Vector
    opens: Vector
    closes: Vector
    latest: Matrix
    """With a higher level than this at the row, the column cannot be served any more.

    Column 0 is the return; on the diagonal stands the row's own limit.
    """
    low: Vector
    """The least entry of each column of `latest` for stops, own limits apart, never falling."""
    after: Bits
    """The stops that may come straight after the row."""
    needs: Bits
    """The stops that come before the row."""
    every: UInt[np.ndarray, " W"]
    """All stops."""
    allowance: float
    """What the judge forgives."""
    spare: float
    """The allowance, and room for sums that are taken in another order than the judge's."""
    kind: int


class Times(NamedTuple):
    """What the quickest ways follow from, by the instance's own numbers."""

    travel: Matrix
    service: Vector
    opens: Vector


class Limits(NamedTuple):
    """What is known to be impossible, by the instance's own numbers."""

    latest: Matrix
    arcs: Bool[np.ndarray, "N N"]
    before: Bool[np.ndarray, "N N"]


def window_law(
    instance: TSPTW, *, makespan: bool, pruned: Pruned | None = None, ways: Matrix | None = None
) -> Law:
    """The law of time windows: from the quickest ways alone, or as strict as pruning allows."""
    allowance = allowance_of(instance)
    guard = rounding(instance, allowance)
    if pruned is None:
        times = Times(instance.travel, instance.service, instance.opens)
        ways = quickest_ways(instance) if ways is None else ways
        assert ways is not None, "without a deadline there is time for all ways"
        limits = _limits(times, ways, instance.closes + allowance + guard, guard)
    else:
        limits = _pruned_limits(instance, pruned, allowance)
    law = _numbered(limits, instance.travel, (allowance, allowance + guard))
    law = law._replace(
        rise=law.price,
        stay=instance.service[law.node],
        opens=instance.opens[law.node],
        closes=instance.closes[law.node],
    )
    if makespan:
        law = law._replace(price=law.rise + law.stay[:, None], kind=MAKESPAN)
    return law


def draft_law(instance: TSPDL) -> Law:
    """The law of draft limits for a growing load; what a set may be followed by is asked when it is extended."""
    assert instance.load == "growing", "a shrinking load is read backwards"
    nodes, demand = instance.nodes, instance.demand
    allowance = 0.0 if instance.integral else TOLERANCE
    guard = 0.0 if instance.integral else 4 * nodes * np.finfo(np.float64).eps * demand.sum()
    draft = instance.draft.copy()
    draft[0] = np.inf  # the depot's is not checked
    arcs = ~np.eye(nodes, dtype=bool)
    limits = Limits(np.tile(draft, (nodes, 1)), arcs, np.zeros_like(arcs))
    law = _numbered(limits, instance.travel, (allowance, allowance + guard))
    rise = np.tile(demand[law.node], (nodes, 1))
    return law._replace(rise=rise, closes=draft[law.node], kind=DRAFTS)


def _numbered(limits: Limits, travel: Matrix, slack: tuple[float, float]) -> Law:
    """Renumber the nodes, and pack what may follow what into bits; levels are still to be filled in."""
    low = _lowest(limits)
    node = np.argsort(low, kind="stable")
    nothing = np.zeros(len(node))
    every = np.arange(len(node)) > 0
    price, latest, after, needs = _arranged(limits, travel, node)
    _drop_shortcuts(after, needs, np.zeros_like(after))
    return Law(
        node,
        price,
        *(np.empty((0, 0)), nothing, nothing, nothing),
        latest,
        low[node],
        *(after, needs, _packed(every[None])[0]),
        *slack,
        WINDOWS,
    )


@njit(cache=True, nogil=True)
@no_type_check
def _lowest(limits: Limits) -> Vector:
    """The least entry of each column of `latest`, but for rows that an order or their own limit makes needless."""
    nodes, latest = len(limits.latest), limits.latest
    low = np.full(nodes, np.inf)
    low[0] = -np.inf
    for stop in range(1, nodes):
        for other in range(1, nodes):
            if not limits.before[other, stop] and latest[stop, other] < latest[stop, stop]:
                low[other] = min(low[other], latest[stop, other])
    return low


@njit(cache=True, nogil=True)
@no_type_check
def _arranged(
    limits: Limits, travel: Matrix, node: Int[np.ndarray, " N"]
) -> tuple[Matrix, Matrix, Bits, Bits]:
    """Travel, latest levels, what may follow each node and what comes before it, in the new order."""
    nodes = len(node)
    price, latest = np.empty((nodes, nodes)), np.empty((nodes, nodes))
    after = np.zeros((nodes, (nodes + 63) // 64), np.uint64)
    needs = np.zeros_like(after)
    for row in range(nodes):
        here = node[row]
        for column in range(nodes):
            there = node[column]
            bit = np.uint64(1) << np.uint64(column & 63)
            price[row, column] = travel[here, there]
            # A level does not decide what an order forbids.
            latest[row, column] = np.inf
            if limits.before[there, here]:
                needs[row, column >> 6] |= bit
            else:
                latest[row, column] = limits.latest[here, there]
                if column > 0 and limits.arcs[here, there]:
                    after[row, column >> 6] |= bit
    return price, latest, after, needs


@bare
@no_type_check
def _drop_shortcuts(after: Bits, needs: Bits, follows: Bits) -> None:
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


def _packed(sets: Bool[np.ndarray, "K N"]) -> UInt[np.ndarray, "K W"]:
    """One bit a node, in words of 64."""
    whole = np.zeros((len(sets), (sets.shape[1] + 63) // 64 * 8), np.uint8)
    bits = np.packbits(sets, axis=1, bitorder="little")
    whole[:, : bits.shape[1]] = bits
    return whole.view("<u8").astype(np.uint64)


@njit(cache=True, nogil=True)
@no_type_check
def _limits(times: Times, ways: Matrix, limit: Vector, guard: float) -> Limits:
    """The latest levels over the quickest ways, and the arcs and orders that follow from pairs of windows."""
    nodes, opens = len(limit), times.opens
    latest = np.empty((nodes, nodes))
    arcs, before = np.zeros((nodes, nodes), np.bool_), np.zeros((nodes, nodes), np.bool_)
    for i in range(nodes):
        first = max(opens[i], opens[0] + ways[0, i])
        for j in range(nodes):
            latest[i, j] = limit[j] - ways[i, j]
            if i != j:
                before[j, i] = i > 0 and j > 0 and first > latest[i, j]
                arcs[i, j] = first <= limit[j] + guard - (times.service[i] + times.travel[i, j])
    return Limits(latest, arcs, before)


def _pruned_limits(instance: TSPTW, pruned: Pruned, allowance: float) -> Limits:
    """The latest levels over all ways that pruning left, its arcs and its orders."""
    bounds = network(instance, allowance)
    closes = pruned.closes + allowance + bounds.guard
    bounds.closes[1:] = np.minimum(bounds.closes[1:], np.append(closes[1:], closes[START]))
    bounds.opens[:HOME] = np.maximum(bounds.opens[:HOME], pruned.opens)
    bounds.before[:HOME, :HOME] |= pruned.before
    bounds.arcs[:HOME, :HOME] &= pruned.arcs
    bounds.arcs[:HOME, HOME] &= pruned.arcs[:, START]
    ways = reach(bounds).latest
    latest = ways[:HOME, :HOME].copy()
    latest[:, START] = ways[:HOME, HOME]
    np.fill_diagonal(latest, bounds.closes[:HOME])
    return Limits(latest, pruned.arcs.copy(), pruned.before | (latest == -np.inf).T)


def quickest_ways(instance: TSPTW, until: float = math.inf) -> Matrix | None:
    """The least lead between any two nodes by way of any others, never too long by rounding.

    None where they are not known by that time on the monotonic clock: this takes the cube of the nodes.
    """
    guard = rounding(instance, allowance_of(instance))
    ways = np.maximum(instance.service[:, None] + instance.travel - guard, 0.0)
    np.fill_diagonal(ways, 0.0)
    nodes = len(ways)
    onward, together = np.empty(nodes), max(1, LEADS // nodes**2)
    for first in range(0, nodes, together):
        if time.monotonic() >= until:
            return None
        _go_through(ways, onward, first, min(first + together, nodes))
    return ways


@bare
@no_type_check
def _go_through(ways: Matrix, onward: Vector, first: int, last: int) -> None:
    """Let ways lead through some of the nodes as well."""
    nodes = len(ways)
    for k in range(first, last):
        for j in range(nodes):
            onward[j] = ways[
                k, j
            ]  # apart from the rows that are written, so that lanes go side by side
        for i in range(nodes):
            begin, row = ways[i, k], ways[i]
            for j in range(nodes):
                row[j] = min(row[j], begin + onward[j])
