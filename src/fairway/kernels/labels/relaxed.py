"""The relaxed problem behind a bound: least ways home that may repeat stops, and what keeps them from it.

Two things do. Prizes for visits are moved until the least way visits every stop about once. And each stop remembers a
few others: a way that passes one of them is not continued backwards to it as long as all stops on it remember it
(ng-paths, Baldacci, Mingozzi and Roberti 2011); who remembers whom follows from the cycles of least ways.
"""

import time
from dataclasses import dataclass, replace
from typing import NamedTuple, no_type_check

import numpy as np
from jaxtyping import Float, Int, Int16
from numba import njit

from fairway.kernels.labels.bits import holds
from fairway.kernels.labels.bound import Bound, step_of
from fairway.kernels.labels.law import DRAFTS, Law

SWEEP = 20_000_000
"""The most extensions of one sweep, which does not look at the clock."""
PATIENCE = 6
"""After so many sweeps without a better bound the steps of the prizes get shorter."""


class Relaxation(NamedTuple):
    """How levels and memories follow each other, and room for the least ways home."""

    hop: Int16[np.ndarray, "N N G"]
    """The step at the column, coming from a step at the row; -1 where that is not allowed."""
    turn: Int16[np.ndarray, "N N A"]
    """What the row remembers of a way that goes on to the column and what that remembers; -1 where that is the row."""
    first: Int[np.ndarray, " N"]
    """No tour visits the stop earlier than as its so-manieth."""
    final: Int[np.ndarray, " N"]
    """Nor later."""
    bound: Bound
    size: Int[np.ndarray, " N"]
    """How many stops each remembers."""


@dataclass(frozen=True, slots=True)
class Effort:
    """What a bound may cost."""

    steps: int
    """In which levels are told apart."""
    memory: int
    """Stops that each may remember."""
    sweeps: int
    until: float
    """By the monotonic clock."""


def affordable(law: Law, effort: Effort, memory: int) -> Effort | None:
    """As much of the effort as fits into memory, in bytes, and into the time of a sweep; None where nothing does."""
    legs, nodes = extensions(law), len(law.node)
    effort = replace(effort, steps=1) if law.kind == DRAFTS else effort
    while True:
        states = effort.steps << effort.memory
        if legs * states <= SWEEP and 8 * nodes * nodes * states <= memory:
            return effort
        if effort.steps > 2 << effort.memory or (effort.memory == 0 and effort.steps > 1):
            effort = replace(effort, steps=effort.steps // 2)
        elif effort.memory > 0:
            effort = replace(effort, memory=effort.memory - 1)
        else:
            return None


def raised(law: Law, prize: Float[np.ndarray, " N"], target: float, effort: Effort) -> Bound:
    """The best bound found with so much effort.

    Subgradient steps towards a target, the cost of a known tour or infinite; they get shorter where they no longer
    help.
    """
    relaxation = relax(law, prize, effort.steps, effort.memory)
    moving = relaxation.bound.prize
    best, highest, pace, fruitless = moving.copy(), -np.inf, 1.0, 0
    for _ in range(effort.sweeps):
        began = time.monotonic()
        least = sweep(law, relaxation)
        if least > highest:
            fruitless = 0 if least > highest + 1e-4 * abs(highest) else fruitless
            highest, best = least, moving.copy()
        if least >= min(target, np.inf):
            break
        walk = way(law, relaxation)
        off = 1.0 - np.bincount(walk, minlength=len(moving))[1:]
        learned = learn(law, relaxation, walk)
        fruitless += 1
        if fruitless == PATIENCE:
            pace, fruitless = 0.6 * pace, 0
        if not (off.any() or learned) or 2 * time.monotonic() - began > effort.until:
            break
        goal = target if target < np.inf else 1.05 * highest
        if off.any():
            moving[1:] += pace * (goal - least) / (off @ off) * off
    moving[:] = best
    sweep(law, relaxation)
    allow_less(relaxation)
    return relaxation.bound


@njit(cache=True, nogil=True)
@no_type_check
def relax(law: Law, prize: Float[np.ndarray, " N"], steps: int, memory: int) -> Relaxation:
    """Lay out the relaxed problem with so many steps of a level, and nothing remembered yet."""
    nodes = len(law.node)
    origin, fineness = law.opens.copy(), np.zeros(nodes)
    for node in range(nodes):
        span = law.latest[node, node] - origin[node]
        if node > 0 and span > 0 and law.kind != DRAFTS:
            fineness[node] = steps / span
    least = np.full((nodes, nodes, steps, 1 << memory), np.inf)
    bound = Bound(prize.copy(), least, np.zeros((nodes, memory), np.int16), origin, fineness)
    hop = np.full((nodes, nodes, steps), -1, np.int16)
    for here in range(nodes):
        for stop in range(1, nodes):
            if holds(law.after[here], stop):
                _hops(law, bound, here, stop, hop[here, stop])
    first, final = _positions(law)
    turn = np.zeros((nodes, nodes, 1 << memory), np.int16)
    return Relaxation(hop, turn, first, final, bound, np.zeros(nodes, np.int64))


@njit(cache=True, nogil=True)
@no_type_check
def _hops(law: Law, bound: Bound, here: int, stop: int, hop: Int16[np.ndarray, " G"]) -> None:
    """From the least level of each step."""
    for step in range(len(hop) if here > 0 else 1):
        if law.kind == DRAFTS:
            hop[step] = 0
            continue
        level = bound.origin[here]
        if bound.fineness[here] > 0:
            level += step / bound.fineness[here]
        level = max(level + law.stay[here] + law.rise[here, stop], law.opens[stop])
        limit = min(law.latest[stop, stop], law.latest[stop, 0])
        if level <= limit + 2 * (law.spare - law.allowance):
            hop[step] = step_of(bound, stop, level)


@njit(cache=True, nogil=True)
@no_type_check
def _positions(law: Law) -> tuple[Int[np.ndarray, " N"], Int[np.ndarray, " N"]]:
    """How many stops come before each at least, itself counted, and how many are not after it."""
    nodes = len(law.node)
    first, final = np.ones(nodes, np.int64), np.full(nodes, nodes - 1)
    for stop in range(1, nodes):
        for other in range(1, nodes):
            if holds(law.needs[stop], other):
                first[stop] += 1
                final[other] -= 1
    for stop in range(1, nodes if law.kind == DRAFTS else 0):
        final[stop] = min(final[stop], _afloat(law, stop))
    first[0], final[0] = 0, 0
    return first, final


@njit(cache=True, nogil=True)
@no_type_check
def extensions(law: Law) -> int:
    """How many legs a sweep looks at, for each step and memory: those allowed, at all places that they may have."""
    first, final = _positions(law)
    legs = 0
    for here in range(len(first)):
        for stop in range(1, len(first)):
            if holds(law.after[here], stop):
                places = min(final[here], final[stop] - 1) - max(first[here], first[stop] - 1)
                legs += max(places + 1, 0)
    return legs


@njit(cache=True, nogil=True)
@no_type_check
def _afloat(law: Law, stop: int) -> int:
    """The last place in a tour that it may have: it is afloat for longest after the lightest cargoes."""
    demand = law.rise[0]
    load, counted = demand[stop], 1
    taken = np.zeros(len(demand), np.bool_)
    taken[0] = taken[stop] = True
    while counted < len(demand) - 1:
        lightest = -1
        for other in range(len(demand)):
            if not taken[other] and (lightest < 0 or demand[other] < demand[lightest]):
                lightest = other
        taken[lightest] = True
        load += demand[lightest]
        if load - law.closes[stop] > law.spare:
            break
        counted += 1
    return counted


@njit(cache=True, nogil=True)
@no_type_check
def sweep(law: Law, relaxation: Relaxation) -> float:
    """Find all least ways home under the present prizes; gives the bound on the whole tour."""
    bound, first, final = relaxation.bound, relaxation.first, relaxation.final
    stops, steps = len(law.node) - 1, relaxation.hop.shape[2]
    for count in range(stops, -1, -1):
        for here in range(stops + 1):
            if first[here] <= count <= final[here]:
                ways = bound.least[count, here]
                for step in range(steps):
                    for left in range(ways.shape[1]):
                        ways[step, left] = np.inf
                if count == stops:
                    _home(law, bound, here, ways)
                else:
                    _ways(law, relaxation, count, here, ways)
    total = bound.least[0, 0, 0, 0]
    for prize in bound.prize:
        total += prize
    return total


@njit(cache=True, nogil=True)
@no_type_check
def _home(law: Law, bound: Bound, here: int, ways: Float[np.ndarray, "G A"]) -> None:
    """The last leg."""
    for step in range(len(ways)):
        level = bound.origin[here]
        if bound.fineness[here] > 0:
            level += step / bound.fineness[here]
        limit = law.closes[0] + law.spare + 2 * (law.spare - law.allowance)
        if law.kind == DRAFTS or level + law.stay[here] + law.rise[here, 0] <= limit:
            ways[step, 0] = law.price[here, 0]


@njit(cache=True, nogil=True)
@no_type_check
def _ways(
    law: Law, relaxation: Relaxation, count: int, here: int, ways: Float[np.ndarray, "G A"]
) -> None:
    """The least ways home from a stop, for all that may come next."""
    bound = relaxation.bound
    for stop in range(1, len(law.node)):
        hop, turn = relaxation.hop[here, stop], relaxation.turn[here, stop]
        if hop[0] < 0 or not relaxation.first[stop] <= count + 1 <= relaxation.final[stop]:
            continue
        leg = law.price[here, stop] - bound.prize[stop]
        for step in range(len(hop)):
            if hop[step] < 0:
                break
            onward = bound.least[count + 1, stop, hop[step]]
            for left in range(1 << relaxation.size[stop]):
                to, length = turn[left], onward[left] + leg
                if to >= 0 and length < ways[step, to]:
                    ways[step, to] = length


@njit(cache=True, nogil=True)
@no_type_check
def way(law: Law, relaxation: Relaxation) -> Int[np.ndarray, " M"]:
    """The stops of the least way from the depot home."""
    bound, stops = relaxation.bound, len(law.node) - 1
    walk = np.zeros(stops, np.int64)
    here, step, left = 0, 0, 0
    for count in range(stops):
        least, onward, then = np.inf, 0, 0
        for stop in range(1, stops + 1):
            there = relaxation.hop[here, stop, step]
            if there < 0 or not relaxation.first[stop] <= count + 1 <= relaxation.final[stop]:
                continue
            for memory in range(1 << relaxation.size[stop]):
                if relaxation.turn[here, stop, memory] == left:
                    length = bound.least[count + 1, stop, there, memory]
                    length += law.price[here, stop] - bound.prize[stop]
                    if length < least:
                        least, onward, then = length, stop, memory
        here, step, left = onward, relaxation.hop[here, onward, step], then
        walk[count] = here
    return walk


@njit(cache=True, nogil=True)
@no_type_check
def learn(law: Law, relaxation: Relaxation, walk: Int[np.ndarray, " M"]) -> bool:
    """Let the stops on each cycle of the walk remember the one that closes it, as far as they can; whether any did."""
    near, size = relaxation.bound.near, relaxation.size
    learned = False
    latest = np.full(len(law.node), -1)
    for place in range(len(walk)):
        again = walk[place]
        for between in walk[latest[again] + 1 : place if latest[again] >= 0 else 0]:
            known = size[between] == near.shape[1]
            for bit in range(size[between]):
                known |= near[between, bit] == again
            if not known:
                near[between, size[between]] = again
                size[between] += 1
                learned = True
        latest[again] = place
    if learned:
        for here in range(len(size)):
            for stop in range(1, len(size)):
                if relaxation.hop[here, stop, 0] >= 0:
                    _turns(relaxation, here, stop)
    return learned


@njit(cache=True, nogil=True)
@no_type_check
def _turns(relaxation: Relaxation, here: int, stop: int) -> None:
    """What is remembered at a stop of a way that goes on to another."""
    near, size = relaxation.bound.near, relaxation.size
    own = np.int64(0)
    passed = np.zeros(size[stop], np.int64)
    for bit in range(size[here]):
        if near[here, bit] == stop:
            own = 1 << bit
        for other in range(size[stop]):
            if near[stop, other] == near[here, bit]:
                passed[other] = 1 << bit
    for other in range(size[stop]):
        if near[stop, other] == here:
            passed[other] = -1
    for left in range(1 << size[stop]):
        kept = own
        for other in range(size[stop]):
            if (left >> other) & 1 and kept >= 0:
                kept = -1 if passed[other] < 0 else kept | passed[other]
        relaxation.turn[here, stop, left] = kept


@njit(cache=True, nogil=True)
@no_type_check
def allow_less(relaxation: Relaxation) -> None:
    """Of all ways that visit some of the remembered stops that are left, the least."""
    least = relaxation.bound.least
    counts, nodes, steps, _ = least.shape
    for count in range(counts):
        for here in range(nodes):
            for step in range(steps):
                ways = least[count, here, step]
                for bit in range(relaxation.size[here]):
                    for left in range(1 << relaxation.size[here]):
                        if (left >> bit) & 1:
                            ways[left] = min(ways[left], ways[left ^ (1 << bit)])
