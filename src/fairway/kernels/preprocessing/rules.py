"""The rules of preprocessing, one per function: what each takes away, no tour that the judge accepts has.

That holds by induction: where every such tour keeps the bounds of a network, it keeps those a rule returns. The
reach may be that of an earlier, wider network. Why each rule is sound is said in its docstring.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from fairway.kernels.compiling import bare
from fairway.kernels.preprocessing.network import Marks, Matrix, Network, Reach, Vector

Rule = Callable[[Network, Reach], Network]
REPEATS = 1_000
"""Of a rule that goes on while it finds something; a handful is usual."""


def infer_orders(network: Network, reach: Reach) -> Network:
    """What cannot come after a node comes before it, and what precedes a predecessor precedes.

    In a tour with a before b every third node k stands before a, between or after b; a is then started no earlier
    than after k, and no later than lets b be reached, and so on. Where all three places of some k fail, b comes first.
    """
    possible = np.empty_like(network.before)
    _find_orders(
        reach.earliest, reach.latest, _columns(reach.earliest), _columns(reach.latest), possible
    )
    before = network.before | ~possible.T
    np.fill_diagonal(before, val=False)
    if (before & before.T).any():
        return replace(network, before=before)  # a contradiction, plainest before it spreads
    _close(before)
    return replace(network, before=before)


def raise_openings(network: Network, reach: Reach) -> Network:
    """A node is started no earlier than it can be reached from any of its predecessors, the depot among them."""
    after = np.where(network.before, reach.earliest, -np.inf).max(axis=0)
    return replace(network, opens=np.maximum(network.opens, after))


def lower_closings(network: Network, reach: Reach) -> Network:
    """A node is started no later than lets all its successors be reached, the return among them."""
    ahead = np.where(network.before, reach.latest, np.inf).min(axis=1)
    return replace(network, closes=np.minimum(network.closes, ahead))


def lower_closings_by_arrival(network: Network, reach: Reach) -> Network:
    """A node is started as it opens or as the tour arrives, which is no later than from its last possible neighbour.

    The judge never idles in front of an open window, but for a break; a schedule that did could start later. What is
    lowered lowers its neighbours in turn, so the rule is repeated while it finds something, but not for as long as tiny
    legs could take.
    """
    opens = network.opens if network.idles is None else np.maximum(network.opens, network.idles)
    longest = network.increment + 2 * network.guard
    closes = network.closes
    for _ in range(REPEATS):
        arrival = np.where(network.arcs, closes[:, None] + longest, -np.inf).max(axis=0)
        lowered = np.minimum(closes, np.maximum(opens, arrival))
        if np.array_equal(lowered, closes):
            break
        closes = lowered
    return replace(network, closes=closes)


def drop_arcs(network: Network, reach: Reach) -> Network:
    """An arc is out if it is too late at its earliest, against an order, or leaves a third node no place.

    A third node k stands before i or after j. Before i fails if i, after k, is started too late for the arc; after j
    fails if j, straight after i, is started too late for k. This covers i before k before j, and with the ends of the
    network the first and last stops.
    """
    arcs = network.arcs & ~network.before.T
    _drop_impossible(
        network.increment,
        network.opens,
        network.closes,
        arcs,
        _columns(reach.earliest),
        reach.latest,
    )
    return replace(network, arcs=arcs)


def drop_rivals(network: Network, reach: Reach) -> Network:
    """Where a node has one arc left on a side, every tour uses it, and no other arc of the node at its other end."""
    arcs, before = network.arcs.copy(), network.before.copy()
    for ways in (arcs, arcs.T):
        for node in np.flatnonzero(ways.sum(axis=0) == 1):
            only = ways[
                :, node
            ].copy()  # empty where a rival before it took its arc: a contradiction
            ways[only] = False
            ways[only, node] = True
    before |= arcs & ((arcs.sum(axis=0) == 1) | (arcs.sum(axis=1, keepdims=True) == 1))
    return replace(network, arcs=arcs, before=before)


RULES: tuple[Rule, ...] = (
    raise_openings,
    lower_closings,
    infer_orders,
    lower_closings_by_arrival,
    drop_arcs,
    drop_rivals,
)


@bare
def _close(before: Marks) -> None:
    """Warshall's transitive closure, in place."""
    for node in range(len(before)):
        for earlier in range(len(before)):
            if before[earlier, node]:
                for later in range(len(before)):
                    before[earlier, later] |= before[node, later]


def _columns(array: Matrix) -> Matrix:
    """The columns as rows, to be read along."""
    return np.ascontiguousarray(array.T)


@bare
def _find_orders(
    earliest: Matrix, latest: Matrix, earliest_at: Matrix, latest_at: Matrix, possible: Marks
) -> None:
    """Whether the row can come before the column, every third node k having a place; k = a, b test the pair itself."""
    nodes = len(earliest)
    for a in range(nodes):
        for b in range(nodes):
            first, last = earliest[a, b], latest[a, b]
            placed = first < np.inf and last > -np.inf
            for k in range(nodes if placed else 0):
                placed &= (
                    (earliest_at[a, k] <= last)
                    | (earliest[a, k] <= latest_at[b, k])
                    | (first <= latest[b, k])
                )
            possible[a, b] = placed


@bare
def _drop_impossible(
    increment: Matrix,
    opens: Vector,
    closes: Vector,
    arcs: Marks,
    earliest_at: Matrix,
    latest: Matrix,
) -> None:
    """Keep the arcs that are in time and leave every third node a place."""
    nodes = len(opens)
    for i in range(nodes):
        for j in range(nodes):
            if arcs[i, j]:
                first = max(opens[j], opens[i] + increment[i, j])
                last = min(closes[i], closes[j] - increment[i, j])
                placed = first <= closes[j]
                for k in range(nodes if placed else 0):
                    placed &= (earliest_at[i, k] <= last) | (first <= latest[j, k])
                arcs[i, j] = placed
