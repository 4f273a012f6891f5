"""Least ways of a relaxed problem between the depot and every stop, in which stops may be visited again.

Ways are told apart by how many stops have been visited and by where they stand. Of those, a list is kept, the cheapest
first: a dearer one only where it is in time for more, or closed to fewer. In a list that would get too long the last
way stands for all that are left out: it is open to everything and never late.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int, Int16, Int32, UInt

from fairway.kernels.compiling import ZERO, bare, inner
from fairway.kernels.labels.bits import holds
from fairway.kernels.labels.label_model import LabelModel


class Ways(NamedTuple):
    """Lists for M numbers of stops and N nodes, one after the other."""

    begin: Int[np.ndarray, "M N"]
    end: Int[np.ndarray, "M N"]
    level: Float[np.ndarray, " K"]
    """From the depot: the level on arrival. Home: the highest level that is in time."""
    cost: Float[np.ndarray, " K"]
    """What the legs cost, less the prizes of their stops."""
    memory: UInt[np.ndarray, "K W"]
    """Home: the stops ahead that are remembered; who has visited one of them cannot go this way."""
    onward: Int32[np.ndarray, " K"]
    """The way that this one goes on with."""
    stop: Int16[np.ndarray, " K"]
    """Where that one stands."""
    used: Int[np.ndarray, " 1"]


class Heap(NamedTuple):
    """Lists that are merged, the one with the cheapest next way on top."""

    key: Float[np.ndarray, " N"]
    stop: Int[np.ndarray, " N"]
    at: Int[np.ndarray, " N"]
    """The next way of each stop."""


class Relaxation(NamedTuple):
    """The relaxed problem, and room for its ways."""

    legs: UInt[np.ndarray, "M N W"]
    """After so many stops, where to go from the row; what is found to be no part of a better tour is taken out."""
    multiplier: Float[np.ndarray, " N"]
    """For each visit."""
    ng_memory: UInt[np.ndarray, "N W"]
    """The stops that each stop remembers: a way past it does not return to them as long as all on it do so."""
    out: Ways
    """From the depot."""
    back: Ways
    """Home."""
    heap: Heap
    upper: float
    """Tours that cost as much are of no interest."""


def room(nodes: int, words: int, ways: int) -> Ways:
    """Space for so many ways."""
    return Ways(
        np.zeros((nodes, nodes), np.int64),
        np.zeros((nodes, nodes), np.int64),
        np.empty(ways),
        np.empty(ways),
        np.empty((ways, words), np.uint64),
        np.empty(ways, np.int32),
        np.empty(ways, np.int16),
        np.zeros(1, np.int64),
    )


@inner
def _sum(numbers: Float[np.ndarray, " N"]) -> float:
    total = 0.0
    for number in numbers:
        total += number
    return total


@inner
def _sink(heap: Heap, size: int, place: int) -> None:
    """Restore the order of the heap below a place."""
    key, stop = heap.key[place], heap.stop[place]
    while 2 * place + 1 < size:
        child = 2 * place + 1
        if child + 1 < size and heap.key[child + 1] < heap.key[child]:
            child += 1
        if heap.key[child] >= key:
            break
        heap.key[place], heap.stop[place] = heap.key[child], heap.stop[child]
        place = child
    heap.key[place], heap.stop[place] = key, stop


@inner
def _pop(ways: Ways, heap: Heap, size: int, end: int) -> int:
    """Go on to the next way of the list on top; says how many lists are left."""
    stop = heap.stop[0]
    at = heap.at[stop]
    heap.at[stop] = at + 1
    if at + 1 < end:
        heap.key[0] += ways.cost[at + 1] - ways.cost[at]
    else:
        size -= 1
        heap.key[0], heap.stop[0] = heap.key[size], heap.stop[size]
    _sink(heap, size, ZERO)
    return size


@inner
def _add(ways: Ways, level: float, cost: float, stop: int, onward: int) -> int:
    """Write a way down; its memory is left to the caller."""
    new = ways.used[0]
    ways.level[new], ways.cost[new] = level, cost
    ways.stop[new], ways.onward[new] = stop, onward
    ways.used[0] = new + 1
    return new


@bare
def go_out(law: LabelModel, relaxation: Relaxation, count: int, most: int, quantum: int) -> int:
    """Find the ways from the depot with so many stops and more, until so much work is done; says where to go on."""
    nodes = len(law.node)
    ways = relaxation.out
    if count == 0:
        ways.used[0] = 0
    while count < nodes and quantum > 0:
        quantum -= nodes * nodes // 4 - 8 * ways.used[0]
        for here in range(nodes):
            ways.begin[count, here] = ways.used[0]
            if count == 0 and here == 0:
                _add(ways, law.opens[0], law.opens[0] if law.makespan else 0.0, 0, 0)
            elif here > 0 and count > 0:
                _outward(law, relaxation, count, here, most)
            ways.end[count, here] = ways.used[0]
        quantum -= 8 * ways.used[0]
        count += 1
    return count


@inner
def _outward(law: LabelModel, relaxation: Relaxation, count: int, here: int, most: int) -> None:
    """The ways from the depot to a stop, each earlier than all cheaper ones."""
    ways, heap, size, soonest = relaxation.out, relaxation.heap, ZERO, np.inf
    limit = min(law.latest[here, here], law.latest[here, 0])
    for stop in range(len(law.node)):
        begin, end = ways.begin[count - 1, stop], ways.end[count - 1, stop]
        if begin < end and holds(relaxation.legs[count - 1, stop], here):
            level = _arrival(law, ways.level[end - 1], stop, here)
            if level <= limit:
                soonest = min(soonest, level)
                heap.key[size] = (
                    ways.cost[begin] + law.price[stop, here] - relaxation.multiplier[here]
                )
                heap.stop[size], heap.at[stop] = stop, begin
                size += 1
    for place in range(size // 2 - 1, -1, -1):
        _sink(heap, size, place)
    earliest, end = min(np.inf, np.nextafter(limit, np.inf)), ways.used[0] + most
    while size > 0 and earliest > soonest:
        stop, cost = heap.stop[0], heap.key[0]
        at = heap.at[stop]
        level = _arrival(law, ways.level[at], stop, here)
        if ways.used[0] == end:
            level = soonest
        if level < earliest:
            _add(ways, level, cost, stop, at)
            earliest = level
        size = _pop(ways, heap, size, ways.end[count - 1, stop])


@inner
def _arrival(law: LabelModel, level: float, stop: int, here: int) -> float:
    return max(level + law.stay[stop] + law.rise[stop, here], law.opens[here])


@inner
def _least_out(ways: Ways, count: int, here: int, level: float) -> float:
    """The cheapest way from the depot that arrives by a level."""
    low, high = ways.begin[count, here], ways.end[count, here]
    end = high
    while low < high:
        middle = (low + high) // 2
        if ways.level[middle] <= level:
            high = middle
        else:
            low = middle + 1
    return ways.cost[low] if low < end else np.inf


@bare
def go_back(law: LabelModel, relaxation: Relaxation, count: int, most: int, quantum: int) -> int:
    """Find the ways home after so many stops and fewer, until so much work is done; says where to go on."""
    nodes = len(law.node)
    ways = relaxation.back
    if count == nodes - 1:
        ways.used[0] = 0
    while count >= 0 and quantum > 0:
        quantum -= nodes * nodes // 4 - 8 * ways.used[0]
        for here in range(nodes):
            ways.begin[count, here] = ways.used[0]
            if relaxation.out.begin[count, here] < relaxation.out.end[count, here]:
                if count == nodes - 1:
                    _last_leg(law, ways, here)
                else:
                    _homeward(law, relaxation, count, here, most)
            ways.end[count, here] = ways.used[0]
        quantum -= 8 * ways.used[0]
        count -= 1
    return count


@inner
def _last_leg(law: LabelModel, ways: Ways, here: int) -> None:
    level = law.closes[0] + law.spare + 2 * (law.spare - law.allowance)
    level = min(level - law.stay[here] - law.rise[here, 0], law.latest[here, 0])
    new = _add(ways, min(level, law.latest[here, here]), law.price[here, 0], 0, 0)
    for word in range(ways.memory.shape[1]):
        ways.memory[new, word] = 0


@inner
def _homeward(law: LabelModel, relaxation: Relaxation, count: int, here: int, most: int) -> None:
    """The ways home from a stop that some way out can be continued by, below the upper bound."""
    ways, out, heap, size = relaxation.back, relaxation.out, relaxation.heap, ZERO
    legs = relaxation.legs[count, here]
    for stop in range(1, len(law.node)):
        begin, end = ways.begin[count + 1, stop], ways.end[count + 1, stop]
        if begin < end and holds(legs, stop):
            heap.key[size] = ways.cost[begin] + law.price[here, stop] - relaxation.multiplier[stop]
            heap.stop[size], heap.at[stop] = stop, begin
            size += 1
    for place in range(size // 2 - 1, -1, -1):
        _sink(heap, size, place)
    for word in range(len(legs)):
        legs[word] = 0
    own = min(law.latest[here, here], law.latest[here, 0])
    first, total = ways.used[0], _sum(relaxation.multiplier)
    dearest = relaxation.upper - total - out.cost[out.begin[count, here]]
    soonest = out.level[out.end[count, here] - 1]
    while size > 0 and heap.key[0] < dearest:
        stop, cost = heap.stop[0], heap.key[0]
        at = heap.at[stop]
        level = ways.level[at] - law.stay[here] - law.rise[here, stop]
        level = min(own, level + law.spare - law.allowance)
        if (
            level >= soonest
            and cost + _least_out(out, count, here, level) + total < relaxation.upper
            and _remember(law, relaxation, at, here, stop)
        ):
            legs[stop >> 6] |= np.uint64(1) << np.uint64(stop & 63)
            if not _dominated(ways, first, level):
                _add(ways, level, cost, stop, at)
                if ways.used[0] > first + most:
                    _stand_in(ways, heap, size, own, legs)
                    break
        size = _pop(ways, heap, size, ways.end[count + 1, stop])


@inner
def _stand_in(
    ways: Ways, heap: Heap, size: int, level: float, legs: UInt[np.ndarray, " W"]
) -> None:
    """Let the last way stand for all that are left; none of their legs is known to be useless."""
    last = ways.used[0] - 1
    ways.level[last] = level
    for word in range(len(legs)):
        ways.memory[last, word] = 0
    for place in range(size):
        stop = heap.stop[place]
        legs[stop >> 6] |= np.uint64(1) << np.uint64(stop & 63)


@inner
def _remember(law: LabelModel, relaxation: Relaxation, at: int, here: int, stop: int) -> bool:
    """Write what is remembered where a way goes on from here into the next row; whether it may go on."""
    memory, new = relaxation.back.memory, relaxation.back.used[0]
    if holds(memory[at], here):
        return False
    for word in range(memory.shape[1]):
        if memory[at, word] & law.needs[here, word] != 0:
            return False
        memory[new, word] = memory[at, word] & relaxation.ng_memory[here, word]
    if holds(relaxation.ng_memory[here], stop):
        memory[new, stop >> 6] |= np.uint64(1) << np.uint64(stop & 63)
    return True


@inner
def _dominated(ways: Ways, first: int, level: float) -> bool:
    """Whether one of the cheaper ways is in time for as much as the next row, and open to as many."""
    new = ways.used[0]
    for other in range(first, new):
        if ways.level[other] >= level:
            open_to_all = True
            for word in range(ways.memory.shape[1]):
                open_to_all &= ways.memory[other, word] & ~ways.memory[new, word] == 0
            if open_to_all:
                return True
    return False
