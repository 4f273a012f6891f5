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
    levels: tuple[float, ...]
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


def walk(form: SearchModel, node: Node) -> Walk:
    """The cost and the levels of a tour, leg by leg."""
    cost, level, warped, late, feasible = 0.0, form.opens[0], form.opens[0], 0.0, True
    levels = [float(level)]
    for here, there in pairwise(node):
        cost += form.cost[here, there]
        level = max(level + form.lead[here, there], form.opens[there])
        warped = max(warped + form.lead[here, there], form.opens[there])
        feasible &= bool(level <= form.closes[there])
        late += max(warped - form.closes[there], 0.0)
        warped = min(warped, form.closes[there])
        levels.append(float(level))
    return Walk(float(cost), tuple(levels), feasible, float(late))


def swaps(nodes: int) -> list[Swap]:
    """Every swap of a tour over so many nodes, the depot counted twice; an empty A only with B turned."""
    stops = range(1, nodes - 1)
    blocks = [
        (i, j, k) for i in stops for j in range(i, nodes - 2) for k in range(j + 1, nodes - 1)
    ]
    turns = [(i, i - 1, k) for i in stops for k in range(i + 1, nodes - 1)]
    return [(*b, t) for b in blocks for t in range(4)] + [(*b, int(TURN_B)) for b in turns]
