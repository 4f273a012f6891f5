"""A bound from a relaxed problem: least paths home that may visit stops again, and what keeps them from it.

Two things do. The multipliers of the visits move by subgradient ascent until the least path visits every stop about
once. And each stop remembers a few others: a path that passes one of them is not extended backwards to it as long as
all stops on it remember it (ng-paths, Baldacci, Mingozzi and Roberti 2011); who remembers whom follows from the cycles
of least paths.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Int, UInt

from fairway import clock
from fairway.kernels.compiling import bare
from fairway.kernels.labels.bits import holds
from fairway.kernels.labels.bound import Bound
from fairway.kernels.labels.label_model import LabelModel, unpacked
from fairway.kernels.labels.ng_paths import (
    Heap,
    Paths,
    Relaxation,
    extend_backward,
    extend_forward,
    room,
)

LEGS = 20_000_000
"""The most legs of one sweep."""
QUANTUM = 50_000
"""Work between two looks at the clock, a few milliseconds."""
PATIENCE = 6
"""After so many sweeps without a better bound the steps of the multipliers get shorter."""


@dataclass(frozen=True, slots=True)
class Effort:
    """What a bound may cost."""

    paths: int
    """The longest list of paths."""
    memory: int
    """Stops that each may remember."""
    sweeps: int
    until: float
    """By `clock.now`."""


def affordable(model: LabelModel, effort: Effort, memory: int) -> Effort | None:
    """As much of the effort as fits into memory, in bytes, and into the time of a sweep; None where nothing does."""
    legs, cells = extensions(model)
    nodes, words = model.needs.shape
    row = 2 * (22 + 8 * words) + 16 + 8 * words  # forward, backward, and those of the best bound
    paths = min(effort.paths, (memory - 8 * nodes * nodes * words) // row // max(cells, 1) - 1)
    return replace(effort, paths=paths) if legs <= LEGS and paths > 0 else None


def ascended(model: LabelModel, start: Bound, upper: float, effort: Effort) -> Bound:
    """The best bound found with so much effort.

    Subgradient steps towards the upper bound, the cost of a known tour or infinite; they get shorter where they no
    longer help.
    """
    relaxation = _relaxed(model, start, upper, effort)
    best, highest, pace, fruitless = start, -np.inf, 1.0, 0
    for _ in range(effort.sweeps):
        if not _swept(model, relaxation, effort):
            break
        least = _root(relaxation)
        if least > highest:
            fruitless = 0 if least > highest + 1e-4 * abs(highest) else fruitless
            highest, best = least, _bound(relaxation)
        if least == np.inf:
            break
        walk = best_path(relaxation.backward)
        off = 1.0 - np.bincount(walk, minlength=len(model.node))[1:]
        learned = learn(relaxation.ng_memory, walk, np.full(len(model.node), -1), effort.memory)
        fruitless += 1
        if fruitless == PATIENCE:
            pace, fruitless = 0.6 * pace, 0
        if off.any():
            goal = upper if upper < np.inf else 1.05 * highest
            relaxation.multiplier[1:] += pace * (goal - least) / (off @ off) * off
            np.minimum(relaxation.multiplier, model.prize, out=relaxation.multiplier)
        elif not learned:
            break
    return best


def _relaxed(model: LabelModel, start: Bound, upper: float, effort: Effort) -> Relaxation:
    (nodes, words), (_, cells) = model.needs.shape, extensions(model)
    paths = (effort.paths + 1) * cells + 1 + nodes
    lists = (room(nodes, 0, paths), room(nodes, words, paths))
    heap = Heap(np.empty(nodes), np.empty(nodes, np.int64), np.empty(nodes, np.int64))
    legs = np.zeros((nodes, nodes, words), np.uint64)
    place(legs, model.after, *_positions(model))
    fewest = int(np.isinf(model.prize[1:]).sum())
    if fewest < nodes - 1:
        legs[fewest : nodes - 1, :, 0] |= np.uint64(1)
    return Relaxation(
        legs, start.multiplier.copy(), start.ng_memory.copy(), *lists, heap, float(upper), fewest
    )


def _swept(model: LabelModel, relaxation: Relaxation, effort: Effort) -> bool:
    """Find all least paths under the present multipliers; whether there was time for it."""
    count, end = 0, len(model.node)
    while count < end:
        count = extend_forward(model, relaxation, count, effort.paths, QUANTUM)
        if clock.now() > effort.until:
            return False
    count -= 1
    while count >= 0:
        count = extend_backward(model, relaxation, count, effort.paths, QUANTUM)
        if clock.now() > effort.until:
            return False
    return True


def _root(relaxation: Relaxation) -> float:
    """The bound on the whole tour; infinite where none is below the upper bound."""
    backward = relaxation.backward
    if backward.begin[0, 0] == backward.end[0, 0]:
        return np.inf
    least = relaxation.forward.cost[0] + backward.cost[backward.begin[0, 0]]
    return float(least + relaxation.multiplier.sum())


def height(bound: Bound) -> float:
    """What no tour can cost less than, by a bound; infinite where it leaves none below its upper bound."""
    first, last = bound.begin[0, 0], bound.end[0, 0]
    least = bound.cost[first] if first < last else np.inf
    return float(least + bound.multiplier.sum())


def _bound(relaxation: Relaxation) -> Bound:
    """The bound that the paths home make, in room of its own."""
    backward, used = relaxation.backward, int(relaxation.backward.used[0])
    return Bound(
        relaxation.multiplier.copy(),
        backward.begin.copy(),
        backward.end.copy(),
        backward.resource[:used].copy(),
        backward.cost[:used].copy(),
        backward.memory[:used].copy(),
        relaxation.ng_memory.copy(),
    )


def extensions(model: LabelModel) -> tuple[int, int]:
    """How many legs a sweep looks at, those allowed at all places that they may have; and how many places there are."""
    first, final = _positions(model)
    early = np.maximum(first[:, None], first - 1)
    late = np.minimum(final[:, None], final - 1)
    legs = np.maximum(late - early + 1, 0)[unpacked(model.after)]
    return int(legs.sum()), int(np.maximum(final - first + 1, 0).sum())


def _positions(model: LabelModel) -> tuple[Int[np.ndarray, " N"], Int[np.ndarray, " N"]]:
    """How many stops come before each at least, itself counted, and how many are not after it."""
    needs, stops = unpacked(model.needs), len(model.node) - 1
    first, final = 1 + needs.sum(1), stops - needs[np.isinf(model.prize)].sum(0)
    if model.by_set:
        final = np.minimum(final, _afloat(model))
    first[0], final[0] = 0, 0
    return first, final


def _afloat(model: LabelModel) -> Int[np.ndarray, " N"]:
    """The last place in a tour that each may have: it is afloat for longest after the lightest cargoes."""
    demand = model.rise[0]
    order = 1 + np.argsort(demand[1:], kind="stable")
    rank = np.empty(len(demand), np.int64)
    rank[order], rank[0] = np.arange(len(order)), 0
    before = np.append(0.0, np.cumsum(demand[order]))
    # So many of the others first, the lightest: itself is left out of the sum.
    others = np.arange(len(order))
    lightest = np.where(others < rank[:, None] + 1, before[:-1], before[1:] - demand[:, None])
    afloat = lightest + demand[:, None] - model.closes[:, None] <= model.spare
    return np.maximum(afloat.sum(1), 1)


@bare
def place(
    legs: UInt[np.ndarray, "M N W"],
    after: UInt[np.ndarray, "N W"],
    first: Int[np.ndarray, " N"],
    final: Int[np.ndarray, " N"],
) -> None:
    """Write down the legs that are allowed, at all places that they may have."""
    nodes = len(first)
    for here in range(nodes):
        for stop in range(1, nodes):
            if holds(after[here], stop):
                begin = max(first[here], first[stop] - 1)
                for count in range(begin, min(final[here], final[stop] - 1) + 1):
                    legs[count, here, stop >> 6] |= np.uint64(1) << np.uint64(stop & 63)


def best_path(backward: Paths) -> Int[np.ndarray, " M"]:
    """The stops of the least path from the depot and back."""
    walk, at = [], backward.begin[0, 0]
    while backward.stop[at] > 0:
        walk.append(backward.stop[at])
        at = backward.onward[at]
    return np.array(walk, np.int64)


@bare
def learn(
    ng_memory: UInt[np.ndarray, "N W"],
    walk: Int[np.ndarray, " M"],
    latest: Int[np.ndarray, " N"],
    most: int,
) -> bool:
    """Let the stops on each cycle of the walk remember the one that closes it, as far as they can; whether any did."""
    learned = False
    for place in range(len(walk)):
        again = walk[place]
        for passed in range(latest[again] + 1, place if latest[again] >= 0 else 0):
            between, size = walk[passed], 0
            for stop in range(len(ng_memory)):
                size += holds(ng_memory[between], stop)
            if size < most and not holds(ng_memory[between], again):
                ng_memory[between, again >> 6] |= np.uint64(1) << np.uint64(again & 63)
                learned = True
        latest[again] = place
    return learned
