"""Towards feasibility from any tour: blocks of one to three stops move where the tour is least late in total.

Where a tour is late it is warped back to the deadline, and that time warp is what is summed: it is zero for
feasible tours and for no others, and two parts of a tour have it in common with their whole but for the joint between
them (Nagata's time warp, by the concatenation of Vidal and others), so that a place is judged in constant time.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int, UInt

from fairway.kernels.compiling import ZERO, bare, inner
from fairway.kernels.moves.rng import Random, uniform
from fairway.kernels.moves.search_model import SearchModel
from fairway.kernels.moves.swap import copy, move

Tail = tuple[float, float]
"""All from some position on: the highest resource to enter it with at no more lateness than it has anyway, and that."""
NEXT, SETTLED, STRENGTH = 0, 1, 2
LONGEST = 3
"""Stops that move at a time."""
MOST = 8
"""Stops that the strongest shake moves at random, before the weakest has its turn again."""


class Late(NamedTuple):
    """A tour by position, and what is known of its beginnings and its ends."""

    node: UInt[np.ndarray, " V"]
    kept: UInt[np.ndarray, " V"]
    """The least late tour so far."""
    heads: Float[np.ndarray, "V 2"]
    """The resource at each position and the lateness up to it."""
    tails: Float[np.ndarray, "V 2"]
    """A `Tail` from each position on."""
    state: Int[np.ndarray, " 3"]
    """The next position to move from, how many have been tried in vain, and the strength of the last shake."""


def late_tour(node: UInt[np.ndarray, " V"]) -> Late:
    """Room for the search from this tour, which is copied."""
    heads, tails = np.empty((2, len(node), 2))
    return Late(node.copy(), node.copy(), heads, tails, np.array([1, 0, 0]))


@bare
def lateness(model: SearchModel, node: UInt[np.ndarray, " V"]) -> float:
    """The time warp of a tour; zero exactly where every resource keeps its limit."""
    resource, late = model.opens[0], 0.0
    for at in range(1, len(node)):
        resource, late = _on(model, node[at - 1], node[at], resource, late)
    return late


@inner
def _on(
    model: SearchModel, here: int, there: int, resource: float, late: float
) -> tuple[float, float]:
    """The resource at the next node and the lateness so far."""
    resource = max(resource + model.increment[here, there], model.opens[there])
    if resource > model.closes[there]:
        late += resource - model.closes[there]
        resource = model.closes[there]
    return resource, late


@inner
def _ahead(model: SearchModel, here: int, there: int, tail: Tail) -> Tail:
    """The tail from a node whose next one begins the tail given."""
    latest = tail[0] - model.increment[here, there]
    opens, closes = model.opens[here], model.closes[here]
    return max(min(latest, closes), opens), tail[1] + max(opens - latest, 0.0)


@inner
def _look_over(model: SearchModel, late: Late) -> float:
    """Work out beginnings and ends anew; the lateness of the whole."""
    node, last = late.node, len(late.node) - 1
    late.heads[0, 0], late.heads[0, 1] = model.opens[0], 0.0
    for at in range(1, last + 1):
        resource, total = _on(
            model, node[at - 1], node[at], late.heads[at - 1, 0], late.heads[at - 1, 1]
        )
        late.heads[at, 0], late.heads[at, 1] = resource, total
    tail = (model.closes[node[last]], 0.0)
    late.tails[last, 0], late.tails[last, 1] = tail
    for at in range(last - 1, -1, -1):
        tail = _ahead(model, node[at], node[at + 1], tail)
        late.tails[at, 0], late.tails[at, 1] = tail
    return late.heads[last, 1]


@inner
def _joined(
    model: SearchModel,
    late: Late,
    block: tuple[int, int],
    head: tuple[int, float, float],
    rest: int,
    tail: Tail,
) -> float:
    """The lateness of a beginning (last node, resource, lateness), a block of the tour, and a tail from `rest`."""
    before, resource, total = head
    for at in range(block[0], block[1] + 1):
        resource, total = _on(model, before, late.node[at], resource, total)
        before = late.node[at]
    return total + tail[1] + max(resource + model.increment[before, rest] - tail[0], 0.0)


@inner
def _best_place(model: SearchModel, late: Late, first: int, last: int, least: float) -> int:
    """How far to move a block so that the tour is least late: the last position it passes; 0 if not below `least`."""
    node, heads, tails, block, where = late.node, late.heads, late.tails, (first, last), 0
    # To the right, with a beginning that lacks the block and is extended stop by stop.
    before, resource, total = node[first - 1], heads[first - 1, 0], heads[first - 1, 1]
    for at in range(last + 1, len(node) - 1):
        resource, total = _on(model, before, node[at], resource, total)
        if total >= least:
            break
        before = node[at]
        tail = (tails[at + 1, 0], tails[at + 1, 1])
        new = _joined(model, late, block, (before, resource, total), node[at + 1], tail)
        if new < least:
            least, where = new, at
    # To the left, with an end that lacks it.
    rest, tail = node[last + 1], (tails[last + 1, 0], tails[last + 1, 1])
    for at in range(first - 1, 0, -1):
        tail = _ahead(model, node[at], rest, tail)
        if tail[1] >= least:
            break
        rest = node[at]
        head = (node[at - 1], heads[at - 1, 0], heads[at - 1, 1])
        new = _joined(model, late, block, head, rest, tail)
        if new < least:
            least, where = new, at
    return where


@bare
def repair_lateness(model: SearchModel, late: Late, random: Random, steps: int) -> float:
    """Search on for so many blocks to move; how late the least late tour so far is.

    Where no block of the tour makes it less late, it is shaken: from the least late tour, by ever more stops that move
    at random until that helps.
    """
    node, state, stops = late.node, late.state, len(late.node) - 2
    total, best = _look_over(model, late), lateness(model, late.kept)
    for _ in range(steps):
        if best <= 0:
            break
        if state[SETTLED] >= stops:
            if total <= best:
                copy(node, late.kept, ZERO, stops + 1)
            copy(late.kept, node, ZERO, stops + 1)
            shake(node, state, random, MOST)
            total = _look_over(model, late)
        first = state[NEXT]
        state[SETTLED] += 1
        for last in range(first, min(first + LONGEST, stops + 1)):
            where = _best_place(model, late, first, last, total * (1 - 1e-9))
            if where > 0:
                move(node, first, last, where)
                total, state[SETTLED] = _look_over(model, late), 0
                break
        state[NEXT] = first + 1 if first < stops else 1
        if total < best:
            best, state[STRENGTH] = total, 0
            copy(node, late.kept, ZERO, stops + 1)
    return best


@inner
def shake(
    node: UInt[np.ndarray, " V"], state: Int[np.ndarray, " S"], random: Random, most: int
) -> None:
    """Move a stop at random, and one more than the last time, up to a bound."""
    stops = len(node) - 2
    state[STRENGTH] = state[STRENGTH] % most + 1
    state[SETTLED] = 0
    for _ in range(state[STRENGTH]):
        first = 1 + int(uniform(random) * stops)
        other = 1 + int(uniform(random) * stops)
        if first != other:
            move(node, first, first, other)
