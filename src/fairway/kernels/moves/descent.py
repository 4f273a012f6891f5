"""Descent to a tour that no swap which brings two neighbours together improves, starting from nodes in a queue.

Every swap worth making brings in some arc cheaper than the one it replaces at the same node. So for each node the
cheaper arcs to and from its neighbours are tried, and for each of them the swaps that create it: or-opt of one to
three stops from either side and in both directions, 2-opt, and or-3opt with a second arc that keeps the gain positive.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, UInt

from fairway.kernels.compiling import ZERO, bare, inner
from fairway.kernels.moves.search_model import NEIGHBOURS, SearchModel
from fairway.kernels.moves.swap import PLAIN, TURN_A, TURN_B, Swap, apply, arrival, change, finish
from fairway.kernels.moves.tour_state import TourState

LONGEST = 3
"""Stops that or-opt moves at a time; longer ones are left to or-3opt."""


TIE = 1e-6
"""What cost counts beside the last resource, where that is to be low."""

Aim = tuple[float, bool]
"""The least improvement that counts, and whether it is of the last resource instead of the cost."""


class Offers(NamedTuple):
    """Room for the swaps that would improve a tour, if they keep it feasible."""

    worth: Float[np.ndarray, " M"]
    """What each adds to the cost."""
    swap: Int[np.ndarray, "M 4"]
    count: Int[np.ndarray, " 1"]


class Queue(NamedTuple):
    """Nodes whose surroundings have changed, in turn; each stands in it once."""

    ring: UInt[np.ndarray, " V"]
    waiting: Bool[np.ndarray, " V"]
    ends: Int[np.ndarray, " 2"]
    """Where the next is taken, and how many there are."""
    offers: Offers


def queue_for(nodes: int) -> Queue:
    """An empty queue."""
    ring, waiting = np.zeros(nodes, np.uint32), np.zeros(nodes, bool)
    # Or-opt and 2-opt with every other position, or-3opt with pairs of neighbours.
    most = (4 * LONGEST - 1) * nodes + 2 * NEIGHBOURS**2
    offers = Offers(np.empty(most), np.empty((most, 4), np.int64), np.zeros(1, np.int64))
    return Queue(ring, waiting, np.zeros(2, np.int64), offers)


@bare
def push(queue: Queue, node: int) -> None:
    """Put a node at the end, unless it stands in the queue already."""
    if not queue.waiting[node]:
        queue.waiting[node] = True
        at = queue.ends[0] + queue.ends[1]
        queue.ring[at if at < len(queue.ring) else at - len(queue.ring)] = node
        queue.ends[1] += 1


@inner
def push_ends(queue: Queue, state: TourState, i: int, j: int, k: int) -> None:
    """Put the nodes at both sides of the three cuts of a swap into the queue."""
    for at in (i, j + 1, k + 1):
        push(queue, state.node[at - 1])
        push(queue, state.node[at])


@bare
def descend(
    model: SearchModel, state: TourState, queue: Queue, aim: Aim, most: int
) -> tuple[int, int]:
    """Improve the tour until the queue is empty; the first and last position changed.

    No more than `most` nodes are taken from the queue; a later call continues with the rest.
    """
    offers, (least, by_resource) = queue.offers, aim
    first, last = len(state.node), ZERO
    for _ in range(most):
        if queue.ends[1] == 0:
            break
        node = queue.ring[queue.ends[0]]
        queue.ends[0] = queue.ends[0] + 1 if queue.ends[0] + 1 < len(queue.ring) else 0
        queue.ends[1] -= 1
        queue.waiting[node] = False
        offer_all(model, state, offers, node, np.inf if by_resource else -least)
        found = _best_of(model, state, offers, aim)
        if found >= 0:
            i, j, k, turned = _read(offers, found)
            push_ends(queue, state, i, j, k)
            push(queue, node)
            apply(model, state, i, j, k, turned)
            first, last = min(first, i), max(last, k)
    return first, last


@inner
def _best_of(model: SearchModel, state: TourState, offers: Offers, aim: Aim) -> int:
    """Which of the offers is the best that keeps the tour feasible; -1 if none does."""
    least, by_resource = aim
    found, best, last = -1, -least, state.start[len(state.node) - 1]
    for number in range(offers.count[0]):
        worth = offers.worth[number]
        if by_resource or worth < best:
            i, j, k, turned = _read(offers, number)
            resource = arrival(model, state, i, j, k, turned)
            if resource <= state.latest[k + 1]:
                if by_resource:
                    worth = finish(model, state, k + 1, resource) - last + TIE * worth
                if worth < best:
                    found, best = number, worth
    return found


@inner
def _read(offers: Offers, number: int) -> Swap:
    swap = offers.swap[number]
    return swap[0], swap[1], swap[2], swap[3]


@inner
def _offer(offers: Offers, least: float, worth: float, swap: Swap) -> None:
    """Write down a swap that changes the cost by less than `least`."""
    if worth < least:
        count = offers.count[0]
        offers.worth[count] = worth
        row = offers.swap[count]
        row[0], row[1], row[2], row[3] = swap
        offers.count[0] = count + 1


@inner
def offer_all(
    model: SearchModel, state: TourState, offers: Offers, node: int, least: float
) -> None:
    """Write down the swaps at this node that change the cost by less than `least`, and no others."""
    at, end = state.place[node], len(state.node) - 2
    offers.count[0] = 0
    if 1 <= at <= end:
        # Blocks of one, two, three stops that begin here, and of two and three that end here.
        for block in range(2 * LONGEST - 1):
            first = at if block < LONGEST else at - (block - LONGEST + 1)
            last = at + block if block < LONGEST else at
            if first >= 1 and last <= end:
                _relocations(model, state, (first, last), offers, least)
        _reversals(model, state, at, offers, least)
    _exchanges(model, state, at, offers, least)


@inner
def _relocations(
    model: SearchModel, state: TourState, block: tuple[int, int], offers: Offers, least: float
) -> None:
    """A block of few stops to any place where it may be in time, either way round."""
    cost, cost_to, (first, last) = model.cost, model.cost_to, block
    node, start, length = state.node, state.start, state.length[0]
    head, tail, left, right = node[first], node[last], node[first - 1], node[last + 1]
    gain = cost[left, head] + cost[tail, right] - cost[left, right]
    if -gain >= least or first < 1 or last < first:
        return
    turning = np.inf  # a single stop is not turned
    if first < last:
        turning = state.length[1, last] - state.length[1, first] - length[last] + length[first]
    # To the right, until the block is late even though all before it gain what the first of them gains.
    resource = max(start[first - 1] + model.increment[left, right], model.opens[right])
    deadline = model.closes[head] + start[last + 1] - resource
    for at in range(last + 1, len(node) - 1):
        here, there = node[at], node[at + 1]
        if start[at] + model.increment_to[head, here] > deadline:
            break
        base = length[at] - length[at + 1] - gain
        worth = base + cost_to[head, here] + cost[tail, there]
        _offer(offers, least, worth, (first, last, at, PLAIN))
        worth = base + cost_to[tail, here] + cost[head, there] + turning
        _offer(offers, least, worth, (first, last, at, TURN_A))
    # To the left, until a stop that would come after the block must come before it.
    added = start[last] - start[first - 1]
    for at in range(first - 1, 0, -1):
        here, there = node[at - 1], node[at]
        reached = (
            start[at] + added if model.by_set else model.opens[tail] + model.increment[tail, there]
        )
        if reached > model.closes[there]:
            break
        base = length[at - 1] - length[at] - gain
        worth = base + cost_to[head, here] + cost[tail, there]
        _offer(offers, least, worth, (at, first - 1, last, PLAIN))
        worth = base + cost_to[tail, here] + cost[head, there] + turning
        _offer(offers, least, worth, (at, first - 1, last, TURN_B))


@inner
def _reversals(model: SearchModel, state: TourState, at: int, offers: Offers, least: float) -> None:
    """A block that begins or ends at this position travelled backwards."""
    cost, node, start, span = model.cost, state.node, state.start, state.span[1]
    length, backward = state.length[0], state.length[1]
    if at < 1:
        return
    here, left, right = node[at], node[at - 1], node[at + 1]
    for end in range(at + 1, len(node) - 1):
        there, beyond = node[end], node[end + 1]
        arrival = start[at - 1] + model.increment[left, there] + span[end] - span[at]
        if arrival > model.closes[here] or state.turn[end] > at:
            break
        worth = backward[end] - backward[at] + cost[left, there] + cost[here, beyond]
        worth -= length[end + 1] - length[at - 1]
        _offer(offers, least, worth, (at, at - 1, end, TURN_B))
    for begin in range(at - 1, max(1, state.turn[at]) - 1, -1):
        there, beyond = node[begin], node[begin - 1]
        worth = backward[at] - backward[begin] + model.cost_to[here, beyond]
        worth += model.cost_to[right, there]
        worth -= length[at + 1] - length[begin - 1]
        _offer(offers, least, worth, (begin, begin - 1, at, TURN_B))


@inner
def _exchanges(model: SearchModel, state: TourState, at: int, offers: Offers, least: float) -> None:
    """Or-3opt that replaces an arc at this position by a cheaper one, and then by a second that keeps the gain."""
    node, end = state.node[at], len(state.node) - 1
    if at < end:
        onward = model.cost[node, state.node[at + 1]]
        for other in model.after[node]:
            gain = onward - model.cost[node, other]
            if other == 0 or gain <= 0:
                break
            arc = (at, state.place[other])
            _after(model, state, arc, gain, offers, least)
    if at > 0:
        hither = model.cost[state.node[at - 1], node]
        for other in model.before[node]:
            gain = hither - model.cost_to[node, other]
            if other == end or gain <= 0:
                break
            arc = (state.place[other], at)
            _before(model, state, arc, gain, offers, least)


@inner
def _after(
    model: SearchModel,
    state: TourState,
    arc: tuple[int, int],
    gain: float,
    offers: Offers,
    least: float,
) -> None:
    """With the arc from p to q, and another from what stood before q to one of its neighbours."""
    p, q = arc
    stranded = state.node[q - 1]
    gain += model.cost[stranded, state.node[q]]
    for other in model.after[stranded]:
        if other == 0 or gain <= model.cost[stranded, other]:
            break
        at, i, j, k = state.place[other], ZERO, ZERO, ZERO
        if p < q and at > q:
            i, j, k = p + 1, q - 1, at - 1
        elif p < q and at <= p:
            i, j, k = at, p, q - 1
        elif q < at <= p:
            i, j, k = q, at - 1, p
        _offer(offers, least, change(model, state, i, j, k, PLAIN), (i, j, k, PLAIN))


@inner
def _before(
    model: SearchModel,
    state: TourState,
    arc: tuple[int, int],
    gain: float,
    offers: Offers,
    least: float,
) -> None:
    """With the arc from p to q, and another to what stood after p from one of its neighbours."""
    p, q = arc
    stranded = state.node[p + 1]
    gain += model.cost[state.node[p], stranded]
    for other in model.before[stranded]:
        if other == len(state.node) - 1 or gain <= model.cost_to[stranded, other]:
            break
        at, i, j, k = state.place[other], ZERO, ZERO, ZERO
        if p < q and at < p:
            i, j, k = at + 1, p, q - 1
        elif p < q and at >= q:
            i, j, k = p + 1, q - 1, at
        elif q <= at < p:
            i, j, k = q, at, p
        _offer(offers, least, change(model, state, i, j, k, PLAIN), (i, j, k, PLAIN))
