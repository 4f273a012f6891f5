"""Least-cost paths of a relaxed problem between the depot and every stop, in which stops may be visited again.

Paths are told apart by how many stops have been visited and by where they stand. Of those, a list is kept, the cheapest
first: a dearer one only where it is in time for more, or closed to fewer. In a list that would get too long the last
path stands for all that are left out: it is open to everything and never late.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int, Int16, Int32, UInt

from fairway.kernels.compiling import ZERO, bare, inner
from fairway.kernels.labels.bits import holds
from fairway.kernels.labels.label_model import LabelModel


class Paths(NamedTuple):
    """Lists for M numbers of stops and N nodes, one after the other."""

    begin: Int[np.ndarray, "M N"]
    end: Int[np.ndarray, "M N"]
    resource: Float[np.ndarray, " K"]
    """From the depot: the resource on arrival. To the depot: the highest that is in time."""
    cost: Float[np.ndarray, " K"]
    """What the legs cost, less the multipliers of their stops."""
    memory: UInt[np.ndarray, "K W"]
    """To the depot: the stops ahead in its ng-memory; a label that has visited one of them cannot take this path."""
    onward: Int32[np.ndarray, " K"]
    """The path that this one continues with."""
    stop: Int16[np.ndarray, " K"]
    """Where that one stands."""
    used: Int[np.ndarray, " 1"]


class Heap(NamedTuple):
    """Lists that are merged, the one with the cheapest next path on top."""

    key: Float[np.ndarray, " N"]
    stop: Int[np.ndarray, " N"]
    at: Int[np.ndarray, " N"]
    """The next path of each stop."""


class Relaxation(NamedTuple):
    """The relaxed problem, and room for its paths."""

    legs: UInt[np.ndarray, "M N W"]
    """After so many stops, where to go from the row; what is found to be no part of a better tour is taken out."""
    multiplier: Float[np.ndarray, " N"]
    """For each visit."""
    ng_memory: UInt[np.ndarray, "N W"]
    """The stops that each stop remembers: a path past it does not return to them as long as all on it do so."""
    forward: Paths
    """From the depot."""
    backward: Paths
    """To the depot."""
    heap: Heap
    upper: float
    """Tours that cost as much are of no interest."""
    fewest: int
    """Stops of a tour at least; those that may be left out are not counted."""


def room(nodes: int, words: int, paths: int) -> Paths:
    """Space for so many paths."""
    return Paths(
        np.zeros((nodes, nodes), np.int64),
        np.zeros((nodes, nodes), np.int64),
        np.empty(paths),
        np.empty(paths),
        np.empty((paths, words), np.uint64),
        np.empty(paths, np.int32),
        np.empty(paths, np.int16),
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
def _pop(paths: Paths, heap: Heap, size: int, end: int) -> int:
    """Go on to the next path of the list on top; says how many lists are left."""
    stop = heap.stop[0]
    at = heap.at[stop]
    heap.at[stop] = at + 1
    if at + 1 < end:
        heap.key[0] += paths.cost[at + 1] - paths.cost[at]
    else:
        size -= 1
        heap.key[0], heap.stop[0] = heap.key[size], heap.stop[size]
    _sink(heap, size, ZERO)
    return size


@inner
def _add(paths: Paths, resource: float, cost: float, stop: int, onward: int) -> int:
    """Write a path down; its memory is left to the caller."""
    new = paths.used[0]
    paths.resource[new], paths.cost[new] = resource, cost
    paths.stop[new], paths.onward[new] = stop, onward
    paths.used[0] = new + 1
    return new


@bare
def extend_forward(
    model: LabelModel, relaxation: Relaxation, count: int, most: int, quantum: int
) -> int:
    """Find the paths from the depot with so many stops and more, until so much work is done; says where to go on."""
    nodes = len(model.node)
    paths = relaxation.forward
    if count == 0:
        paths.used[0] = 0
    while count < nodes and quantum > 0:
        quantum -= nodes * nodes // 4 - 8 * paths.used[0]
        for here in range(nodes):
            paths.begin[count, here] = paths.used[0]
            if count == 0 and here == 0:
                _add(paths, model.opens[0], model.opens[0] if model.makespan else 0.0, 0, 0)
            elif here > 0 and count > 0:
                _extend_to(model, relaxation, count, here, most)
            paths.end[count, here] = paths.used[0]
        quantum -= 8 * paths.used[0]
        count += 1
    return count


@inner
def _extend_to(model: LabelModel, relaxation: Relaxation, count: int, here: int, most: int) -> None:
    """The paths from the depot to a stop, each earlier than all cheaper ones."""
    paths, heap, size, soonest = relaxation.forward, relaxation.heap, ZERO, np.inf
    limit = min(model.latest[here, here], model.latest[here, 0])
    for stop in range(len(model.node)):
        begin, end = paths.begin[count - 1, stop], paths.end[count - 1, stop]
        if begin < end and holds(relaxation.legs[count - 1, stop], here):
            resource = _arrival(model, paths.resource[end - 1], stop, here)
            if resource <= limit:
                soonest = min(soonest, resource)
                heap.key[size] = (
                    paths.cost[begin] + model.price[stop, here] - relaxation.multiplier[here]
                )
                heap.stop[size], heap.at[stop] = stop, begin
                size += 1
    for place in range(size // 2 - 1, -1, -1):
        _sink(heap, size, place)
    earliest, end = min(np.inf, np.nextafter(limit, np.inf)), paths.used[0] + most
    while size > 0 and earliest > soonest:
        stop, cost = heap.stop[0], heap.key[0]
        at = heap.at[stop]
        resource = _arrival(model, paths.resource[at], stop, here)
        if paths.used[0] == end:
            resource = soonest
        if resource < earliest:
            _add(paths, resource, cost, stop, at)
            earliest = resource
        size = _pop(paths, heap, size, paths.end[count - 1, stop])


@inner
def _arrival(model: LabelModel, resource: float, stop: int, here: int) -> float:
    return max(resource + model.stay[stop] + model.rise[stop, here], model.opens[here])


@inner
def _least_forward(paths: Paths, count: int, here: int, resource: float) -> float:
    """The cheapest path from the depot that arrives with so much of the resource at most."""
    low, high = paths.begin[count, here], paths.end[count, here]
    end = high
    while low < high:
        middle = (low + high) // 2
        if paths.resource[middle] <= resource:
            high = middle
        else:
            low = middle + 1
    return paths.cost[low] if low < end else np.inf


@bare
def extend_backward(
    model: LabelModel, relaxation: Relaxation, count: int, most: int, quantum: int
) -> int:
    """Find the paths to the depot after so many stops and fewer, until so much work is done; says where to go on."""
    nodes = len(model.node)
    paths = relaxation.backward
    if count == nodes - 1:
        paths.used[0] = 0
    while count >= 0 and quantum > 0:
        quantum -= nodes * nodes // 4 - 8 * paths.used[0]
        for here in range(nodes):
            paths.begin[count, here] = paths.used[0]
            if relaxation.forward.begin[count, here] < relaxation.forward.end[count, here]:
                if count == nodes - 1:
                    _last_leg(model, paths, here)
                else:
                    _extend_from(model, relaxation, count, here, most)
            elif here == 0 and count > relaxation.fewest:
                _arrive(model, paths)
            paths.end[count, here] = paths.used[0]
        quantum -= 8 * paths.used[0]
        count -= 1
    return count


@inner
def _last_leg(model: LabelModel, paths: Paths, here: int) -> None:
    resource = model.closes[0] + model.spare + 2 * (model.spare - model.allowance)
    resource = min(resource - model.stay[here] - model.rise[here, 0], model.latest[here, 0])
    new = _add(paths, min(resource, model.latest[here, here]), model.price[here, 0], 0, 0)
    for word in range(paths.memory.shape[1]):
        paths.memory[new, word] = 0


@inner
def _arrive(model: LabelModel, paths: Paths) -> None:
    """The end of a tour that leaves stops out, where it is arrived at in place of a next stop."""
    new = _add(paths, model.closes[0] + model.spare + model.spare - model.allowance, 0.0, 0, 0)
    for word in range(paths.memory.shape[1]):
        paths.memory[new, word] = 0


@inner
def _extend_from(
    model: LabelModel, relaxation: Relaxation, count: int, here: int, most: int
) -> None:
    """The paths to the depot from a stop that some path from the depot can be continued by, below the upper bound."""
    paths, forward, heap, size = relaxation.backward, relaxation.forward, relaxation.heap, ZERO
    legs = relaxation.legs[count, here]
    for stop in range(len(model.node)):
        begin, end = paths.begin[count + 1, stop], paths.end[count + 1, stop]
        if begin < end and holds(legs, stop):
            heap.key[size] = (
                paths.cost[begin] + model.price[here, stop] - relaxation.multiplier[stop]
            )
            heap.stop[size], heap.at[stop] = stop, begin
            size += 1
    for place in range(size // 2 - 1, -1, -1):
        _sink(heap, size, place)
    for word in range(len(legs)):
        legs[word] = 0
    own = min(model.latest[here, here], model.latest[here, 0])
    first, total = paths.used[0], _sum(relaxation.multiplier)
    dearest = relaxation.upper - total - forward.cost[forward.begin[count, here]]
    soonest = forward.resource[forward.end[count, here] - 1]
    while size > 0 and heap.key[0] < dearest:
        stop, cost = heap.stop[0], heap.key[0]
        at = heap.at[stop]
        resource = paths.resource[at] - model.stay[here] - model.rise[here, stop]
        resource = min(own, resource + model.spare - model.allowance)
        if (
            resource >= soonest
            and cost + _least_forward(forward, count, here, resource) + total < relaxation.upper
            and _remember(model, relaxation, at, here, stop)
        ):
            legs[stop >> 6] |= np.uint64(1) << np.uint64(stop & 63)
            if not _dominated(paths, first, resource):
                _add(paths, resource, cost, stop, at)
                if paths.used[0] > first + most:
                    _stand_in(paths, heap, size, own, legs)
                    break
        size = _pop(paths, heap, size, paths.end[count + 1, stop])


@inner
def _stand_in(
    paths: Paths, heap: Heap, size: int, resource: float, legs: UInt[np.ndarray, " W"]
) -> None:
    """Let the last path stand for all that are left; none of their legs is known to be useless."""
    last = paths.used[0] - 1
    paths.resource[last] = resource
    for word in range(len(legs)):
        paths.memory[last, word] = 0
    for place in range(size):
        stop = heap.stop[place]
        legs[stop >> 6] |= np.uint64(1) << np.uint64(stop & 63)


@inner
def _remember(model: LabelModel, relaxation: Relaxation, at: int, here: int, stop: int) -> bool:
    """Write the ng-memory of a path extended backwards to here into the next row; whether it may be extended."""
    memory, new = relaxation.backward.memory, relaxation.backward.used[0]
    if holds(memory[at], here):
        return False
    for word in range(memory.shape[1]):
        if memory[at, word] & model.needs[here, word] != 0:
            return False
        memory[new, word] = memory[at, word] & relaxation.ng_memory[here, word]
    if holds(relaxation.ng_memory[here], stop):
        memory[new, stop >> 6] |= np.uint64(1) << np.uint64(stop & 63)
    return True


@inner
def _dominated(paths: Paths, first: int, resource: float) -> bool:
    """Whether one of the cheaper paths is in time for as much as the next row, and open to as many."""
    new = paths.used[0]
    for other in range(first, new):
        if paths.resource[other] >= resource:
            open_to_all = True
            for word in range(paths.memory.shape[1]):
                open_to_all &= paths.memory[other, word] & ~paths.memory[new, word] == 0
            if open_to_all:
                return True
    return False
