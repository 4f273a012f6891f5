"""What labels are extended by: an instance with its stops renumbered so that what binds first comes first.

A partial tour stands at a stop with a *level*: the time at which service starts there, or the load. The law says how
the level rises from stop to stop, what it may be, and which stops cannot come next. Whatever it forbids is part of no
tour that the judge accepts.
"""

from typing import NamedTuple, no_type_check

import numpy as np
from jaxtyping import Bool, Float, Int, UInt
from numba import njit

from fairway.judge import TOLERANCE
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
    """The least entry of each column of `latest` for stops, never falling."""
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


def window_law(instance: TSPTW, *, makespan: bool, pruned: Pruned | None = None) -> Law:
    """The law of time windows: quickly from leads alone, or as strict as pruning allows."""
    allowance = allowance_of(instance)
    guard = rounding(instance, allowance)
    if pruned is None:
        ways = _quickest(instance.travel, instance.service, guard)
        limits = _limits(instance, ways, allowance, guard)
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


class Limits(NamedTuple):
    """What is known to be impossible, by the instance's own numbers."""

    latest: Matrix
    arcs: Bool[np.ndarray, "N N"]
    before: Bool[np.ndarray, "N N"]


def _numbered(limits: Limits, travel: Matrix, slack: tuple[float, float]) -> Law:
    """Renumber the nodes, and pack what may follow what into bits; levels are still to be filled in."""
    # A level does not decide what an order forbids.
    latest = np.where(limits.before.T, np.inf, limits.latest)
    others = latest[1:].copy()
    np.fill_diagonal(others[:, 1:], np.inf)
    low = others.min(axis=0)
    low[0] = -np.inf
    node = np.argsort(low, kind="stable")
    square = np.ix_(node, node)
    after, needs = (limits.arcs & ~limits.before.T)[square], limits.before.T[square]
    after[:, 0] = False
    every = np.arange(len(node)) > 0
    nothing = np.zeros(len(node))
    return Law(
        node,
        np.ascontiguousarray(travel[square]),
        *(np.empty((0, 0)), nothing, nothing, nothing),
        np.ascontiguousarray(latest[square]),
        low[node],
        *(_packed(after), _packed(needs), _packed(every[None])[0]),
        *slack,
        WINDOWS,
    )


def _packed(sets: Bool[np.ndarray, "K N"]) -> UInt[np.ndarray, "K W"]:
    """One bit a node, in words of 64."""
    whole = np.zeros((len(sets), (sets.shape[1] + 63) // 64 * 8), np.uint8)
    bits = np.packbits(sets, axis=1, bitorder="little")
    whole[:, : bits.shape[1]] = bits
    return whole.view("<u8").astype(np.uint64)


def _limits(instance: TSPTW, ways: Matrix, allowance: float, guard: float) -> Limits:
    """The latest levels over the quickest ways, and the arcs and orders that follow from pairs of windows."""
    opens, limit = instance.opens, instance.closes + allowance + guard
    latest = limit - ways
    first = np.maximum(opens, opens[0] + ways[0])[:, None]
    before = (first > latest).T
    before[0] = before[:, 0] = False
    np.fill_diagonal(before, val=False)
    lead = instance.service[:, None] + instance.travel
    arcs = first <= limit + guard - lead
    np.fill_diagonal(arcs, val=False)
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
    return Limits(latest, pruned.arcs, pruned.before | (latest == -np.inf).T)


@njit(cache=True, nogil=True)
@no_type_check
def _quickest(travel: Matrix, service: Vector, guard: float) -> Matrix:
    """The least lead between any two nodes by way of any others, never too long by rounding."""
    nodes = len(service)
    ways = np.empty((nodes, nodes))
    for i in range(nodes):
        for j in range(nodes):
            ways[i, j] = max(service[i] + travel[i, j] - guard, 0.0)
        ways[i, i] = 0.0
    for k in range(nodes):
        for i in range(nodes):
            begin = ways[i, k]
            for j in range(nodes):
                through = begin + ways[k, j]
                ways[i, j] = through if through < ways[i, j] else ways[i, j]
    return ways
