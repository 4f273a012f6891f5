"""Spanning trees as lower bounds for tours: Held and Karp's, by ascent over prices of the nodes.

A tour is a spanning tree of all nodes but one, with two arcs at that one, in which every node has two neighbours. So
the cheapest such 1-tree costs no more, and stays a bound for any prices: each node's price on each of its arcs, and
twice the sum of all prices taken off. Prices rise where a tree has too many neighbours and fall where it has one.
"""

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from fairway import clock
from fairway.kernels.compiling import ZERO, bare, inner

PAIRS = 1 << 20
"""Pairs of nodes that are looked at between two looks at the clock: a millisecond or two."""


class Grove(NamedTuple):
    """Room for a tree and for the prices of nodes."""

    price: Float[np.ndarray, " N"]
    nearest: Float[np.ndarray, " N"]
    """What the cheapest arc from the tree costs; minus infinity for nodes that are in it."""
    parent: Int[np.ndarray, " N"]
    degree: Int[np.ndarray, " N"]


def one_tree_bound(
    cost: Float[np.ndarray, "N N"], upper: float, rounds: int, until: float = math.inf
) -> float:
    """A lower bound for tours of at least three nodes, travelled in either direction.

    Args:
        cost: Of travel, symmetric.
        upper: About what a good tour costs, which sets the length of the steps.
        rounds: Trees to make.
        until: When to stop, by `clock.now`; minus infinity is the bound where not even one tree was made.
    """
    nodes = len(cost)
    grove = Grove(
        np.zeros(nodes), np.zeros(nodes), np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    )
    cost, ascent = np.ascontiguousarray(cost), np.array([-np.inf, 1.0, 0.0])
    together = max(1, PAIRS // nodes**2)
    for made in range(0, rounds, together):
        some = min(together, rounds - made)
        if clock.now() >= until or not _ascend(cost, grove, ascent, float(upper), some):
            break
    return float(ascent[0])


@bare
def _ascend(
    cost: Float[np.ndarray, "N N"],
    grove: Grove,
    ascent: Float[np.ndarray, " 3"],
    upper: float,
    rounds: int,
) -> bool:
    """Go on with so many trees, and note the best bound; whether more could raise it.

    Steps are Polyak's, halved when a number of them has not helped.
    """
    best, stride, idle = ascent[0], ascent[1], ascent[2]
    for _ in range(rounds):
        bound = _one_tree(cost, grove)
        idle += 1
        if bound > best:
            best, idle = bound, 0.0
        elif idle >= 10:
            stride, idle = stride / 2, 0.0
        ascent[0], ascent[1], ascent[2] = best, stride, idle
        excess = ZERO
        for node in range(len(cost)):
            excess += (grove.degree[node] - 2) ** 2
        if excess == 0 or best >= upper:
            return False
        step = stride * (upper - bound) / excess
        for node in range(len(cost)):
            grove.price[node] += step * (grove.degree[node] - 2)
    return True


@inner
def _one_tree(cost: Float[np.ndarray, "N N"], grove: Grove) -> float:
    """Make the cheapest 1-tree at the prices as they are, by Prim's rule; what it costs, less the prices."""
    price, nearest, parent, degree = grove
    nodes, total = len(cost), 0.0
    for node in range(nodes):
        total -= 2 * price[node]
        degree[node] = 0
        nearest[node] = np.inf
    here = 1
    for _ in range(nodes - 2):
        nearest[here] = -np.inf
        there = 0
        for node in range(2, nodes):
            if nearest[node] > -np.inf:
                way = cost[here, node] + price[here] + price[node]
                if way < nearest[node]:
                    nearest[node], parent[node] = way, here
                if there == 0 or nearest[node] < nearest[there]:
                    there = node
        total += nearest[there]
        degree[there] += 1
        degree[parent[there]] += 1
        here = there
    first, second, one, other = np.inf, np.inf, 0, 0
    for node in range(1, nodes):
        way = cost[0, node] + price[0] + price[node]
        if way < first:
            second, other = first, one
            first, one = way, node
        elif way < second:
            second, other = way, node
    degree[0] = 2
    degree[one] += 1
    degree[other] += 1
    return total + first + second
