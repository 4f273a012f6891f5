"""What a swap is, by carrying it out and walking the whole tour again: all that is fast here must agree with this."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from jaxtyping import UInt

from fairway.kernels.moves.search_model import SearchModel
from fairway.kernels.moves.swap import TURN_A, TURN_B, Swap

Node = UInt[np.ndarray, " V"]


@dataclass(frozen=True, slots=True)
class Walk:
    """A tour gone through from the depot to the depot."""

    cost: float
    resources: tuple[float, ...]
    """At each position, the depot's own first; late or not, the tour goes on."""
    feasible: bool
    late: float
    """The time warp: by how much limits are passed in all, if after each one the tour goes on as if in time."""


def swapped(node: Node, swap: Swap) -> Node:
    """The tour with blocks A = [i..j] and B = [j+1..k] exchanged, each turned round if so marked."""
    i, j, k, turned = swap
    one, other = node[i : j + 1], node[j + 1 : k + 1]
    one = one[::-1] if turned & TURN_A else one
    other = other[::-1] if turned & TURN_B else other
    return np.concatenate((node[:i], other, one, node[k + 1 :]))


def walk(model: SearchModel, node: Node) -> Walk:
    """The cost and the resources of a tour, leg by leg."""
    cost, resource, warped, late, feasible = 0.0, model.opens[0], model.opens[0], 0.0, True
    resources = [float(resource)]
    for here, there in pairwise(node):
        cost += model.cost[here, there]
        resource = max(resource + model.increment[here, there], model.opens[there])
        warped = max(warped + model.increment[here, there], model.opens[there])
        feasible &= bool(resource <= model.closes[there])
        late += max(warped - model.closes[there], 0.0)
        warped = min(warped, model.closes[there])
        resources.append(float(resource))
    return Walk(float(cost), tuple(resources), feasible, float(late))


def swaps(nodes: int) -> list[Swap]:
    """Every swap of a tour over so many nodes, the depot counted twice; an empty A only with B turned."""
    stops = range(1, nodes - 1)
    blocks = [
        (i, j, k) for i in stops for j in range(i, nodes - 2) for k in range(j + 1, nodes - 1)
    ]
    turns = [(i, i - 1, k) for i in stops for k in range(i + 1, nodes - 1)]
    return [(*b, t) for b in blocks for t in range(4)] + [(*b, int(TURN_B)) for b in turns]
