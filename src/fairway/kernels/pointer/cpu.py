"""Whole rollouts of a pointer on a CPU, compiled: look, score, choose and go on, for all tours step by step.

The same choices as step by step in torch but for the order in which float32 sums are made. One core is used, and
Python's lock is let go of.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Int, UInt
from torch import Tensor

from fairway.kernels.compiling import njit
from fairway.kernels.lookahead.config import TOLERANCE, MaskConfig
from fairway.kernels.lookahead.cpu import Answer, Asked, Rows, Stand, asked_by, first_step, rows_of
from fairway.kernels.lookahead.due_dates import due_date_order
from fairway.kernels.lookahead.table import table
from fairway.kernels.pointer import Pointer
from fairway.kernels.pointer.reference import FAR, LARGEST, WITHIN
from fairway.kernels.pointer.track import in_order
from fairway.problems.batch import Batch, every_pair
from fairway.problems.problem import start

STEPS = 16
"""Between two pauses: about ten milliseconds at 2,000 nodes."""

Said = tuple[
    Float[np.ndarray, "B N D"],
    Float[np.ndarray, "B N D"],
    Float[np.ndarray, "B N D"],
    Float[np.ndarray, "B N D"],
    Float[np.ndarray, "B H N"],
    Float[np.ndarray, "B N"],
    np.float32,
]
"""Query, key, value, aim, drift, bias and clip of a pointer."""
Known = tuple[
    Float[np.ndarray, "F 4"],
    Float[np.ndarray, " F"],
    Float[np.ndarray, " F"],
    Float[np.ndarray, "B N N"],
    Float[np.ndarray, "B N N"],
    Float[np.ndarray, "B N"],
    Float[np.ndarray, " B"],
]
"""The network of the facts, of no size where there is none; travel, increment, latest and unit, of which facts are
made."""
Ports = tuple[UInt[np.ndarray, "B N"], Float[np.ndarray, "B N"], Float[np.ndarray, "B N"]]
"""Ports by draft, and their demands and drafts in that order."""
Room = tuple[
    Float[np.ndarray, "H N"],
    Float[np.ndarray, " D"],
    Float[np.ndarray, " N"],
    Bool[np.ndarray, " N"],
]
"""For weights, answers, scores and candidates of one step of one tour."""


@dataclass(frozen=True, slots=True, eq=False)
class Walked:
    """P finished tours of each instance."""

    tours: Int[Tensor, "B P M"]
    resources: Float[Tensor, "B P M"]
    """With which each stop is served."""
    dead_ends: Int[Tensor, "B P"]


def reaches(batch: Batch, pointer: Pointer, guard: MaskConfig) -> bool:
    """Whether all of this is compiled: not masks that look two steps ahead, end early, or ask a head."""
    two_steps = guard.kind == "ahead" and guard.rule.steps == 2
    plain = guard.kind != "learned" and guard.until is None and not two_steps
    single = all(t.dtype == torch.float32 for t in (batch.latest, pointer.query, pointer.bias))
    return plain and single and pointer.clip is not None


def decode(
    batch: Batch,
    pointer: Pointer,
    guard: MaskConfig,
    noise: Float[Tensor, "B P M"] | None,
    pause: Callable[[float], None] | None = None,
) -> Walked:
    """One greedy tour per instance, or, sampled by the noise (uniform in [0, 1)), as many as it has rows.

    The pause is called every few steps with the part of them that is done.
    """
    tours = 1 if noise is None else noise.shape[1]
    begun, known = start(batch, tours), table(batch, guard.rule)
    rows, order = rows_of(known), in_order(known, guard).to(torch.uint32)
    stand = (begun.node.numpy(), begun.resource.contiguous().numpy(), begun.unvisited.numpy())
    ports = _ports(batch, rows, guard)
    drawn = np.empty((0, 0, 0), np.float32) if noise is None else _array(noise)
    laid_out = (
        rows,
        _asked(rows, guard),
        ports,
        stand,
        (_said(pointer), _known(batch, pointer, rows)),
        (drawn, _array(order)),
    )
    steps, found = batch.latest.shape[1] - 1, []
    for first in range(0, steps, max(steps, 1) if pause is None else STEPS):
        if pause is not None:
            pause(first / steps)
        last = steps if pause is None else min(first + STEPS, steps)
        found.append(tuple(map(torch.from_numpy, _walk(*laid_out, (first, last)))))
    stops, resources, dead = zip(*found, strict=True)
    return Walked(torch.cat(stops, -1), torch.cat(resources, -1), torch.stack(dead).sum(0))


def _asked(rows: Rows, guard: MaskConfig) -> Asked:
    """What the rule asks, or nothing where the mask is another one."""
    asked = asked_by(rows, guard.rule)
    if guard.kind == "ahead":
        return asked
    return asked._replace(cap=np.full_like(rows.latest, np.inf), onward=False)


def _ports(batch: Batch, rows: Rows, guard: MaskConfig) -> Ports:
    """Nothing where the mask is not the exact one for drafts."""
    if guard.kind != "exact":
        none = np.empty((0, rows.latest.shape[1]), np.float32)
        return none.astype(np.uint32), none, none
    assert batch.by_set, "the exact mask is for what follows from the stops visited"
    sorted_ = due_date_order(batch)
    return _array(sorted_.order.to(torch.uint32)), _array(sorted_.demand), _array(sorted_.draft)


def _said(pointer: Pointer) -> Said:
    assert pointer.clip is not None, "the loops clip"
    fields = (pointer.query, pointer.key, pointer.value, pointer.aim, pointer.drift, pointer.bias)
    query, key, value, aim, drift, bias = map(_array, fields)
    return query, key, value, aim, drift, bias, np.float32(pointer.clip)


def _known(batch: Batch, pointer: Pointer, rows: Rows) -> Known:
    facts, none = pointer.facts, np.empty(0, np.float32)
    latest, unit = _array(batch.latest), _array(batch.unit)
    if facts is None:
        return none.reshape(0, 4), none, none, rows.increment, rows.increment, latest, unit
    inner, shift, outer = map(_array, (facts.inner, facts.shift, facts.outer))
    travel = _array(batch.travel(*every_pair(batch)))
    return inner, shift, outer, travel, rows.increment, latest, unit


def _array(tensor: Tensor) -> np.ndarray:
    return tensor.detach().contiguous().numpy()


@njit(cache=True, nogil=True)
def _walk(
    rows: Rows,
    asked: Asked,
    ports: Ports,
    stand: Stand,
    policy: tuple[Said, Known],
    seed: tuple[Float[np.ndarray, "B P M"], UInt[np.ndarray, "B N"]],
    which: tuple[int, int],
) -> tuple[Int[np.ndarray, "B P S"], Float[np.ndarray, "B P S"], Int[np.ndarray, "B P"]]:
    """Some steps of all tours of all instances: their stops, the resources there, and how many left nothing allowed."""
    first, last = which
    node, now, unvisited = stand
    said, known = policy
    noise, order = seed
    instances, tours, nodes = unvisited.shape
    shape = (instances, tours, nodes)
    answer = (np.empty(shape, np.float32), np.empty(shape, np.float32), np.empty(shape, np.bool_))
    resource, _, allowed = answer
    front = np.zeros((instances, tours), np.intp)
    stops = np.empty((instances, tours, last - first), np.int64)
    resources = np.empty((instances, tours, last - first), np.float32)
    dead = np.zeros((instances, tours), np.int64)
    heads, depth = said[4].shape[1], said[0].shape[2]
    room = (
        np.empty((heads, nodes), np.float32),
        np.empty(depth, np.float32),
        np.empty(nodes, np.float32),
        np.empty(nodes, np.bool_),
    )
    for at in range(first, last):
        first_step(rows, asked, stand, front, answer)
        for b in range(instances):
            for p in range(tours):
                if len(ports[0]):
                    _float(ports, (b, p), now[b, p], unvisited, answer)
                dead[b, p] += _gather(allowed[b, p], unvisited[b, p], room[3])
                here, since = node[b, p], now[b, p]
                _score(said, b, here, since, room)
                if len(known[0]):
                    _weigh(known, (b, p, here), since, answer, room)
                _clip(said[6], room)
                draw = noise[b, p, at] if noise.shape[0] else np.float32(-1)
                next_ = _choose(draw, order[b], room)
                node[b, p], now[b, p] = next_, resource[b, p, next_]
                unvisited[b, p, next_] = False
                stops[b, p, at - first], resources[b, p, at - first] = next_, resource[b, p, next_]
    return stops, resources, dead


@njit(cache=True, nogil=True)
def _gather(
    allowed: Bool[np.ndarray, " N"],
    unvisited: Bool[np.ndarray, " N"],
    candidates: Bool[np.ndarray, " N"],
) -> bool:
    """Write down the candidates: what is allowed, or all that is left; and say whether that was a dead end."""
    some = False
    for j in range(len(candidates)):
        candidates[j] = allowed[j]
        some |= allowed[j]
    if not some:
        candidates[:] = unvisited
    return not some


@njit(cache=True, nogil=True)
def _float(
    ports: Ports,
    tour: tuple[int, int],
    load: float,
    unvisited: Bool[np.ndarray, "B P N"],
    answer: Answer,
) -> None:
    """The exact mask: a port is allowed iff it floats there and the rest can be served in the order of drafts."""
    order, demand, draft = ports
    b, p = tour
    resource, bound, allowed = answer
    nodes = order.shape[1]
    after, least = np.empty(nodes + 1, np.float32), np.float32(np.inf)
    total = load
    room = np.empty(nodes, np.float32)
    for r in range(nodes):
        left = unvisited[b, p, order[b, r]]
        total += demand[b, r] if left else np.float32(0)
        room[r] = draft[b, r] - total if left else np.float32(np.inf)
    after[nodes] = np.inf
    for r in range(nodes - 1, -1, -1):
        after[r] = min(after[r + 1], room[r])
    for r in range(nodes):
        port = order[b, r]
        there = load + demand[b, r]
        slack = min(least - demand[b, r], after[r + 1], draft[b, r] - there)
        resource[b, p, port] = there
        bound[b, p, port] = there + slack
        allowed[b, p, port] = unvisited[b, p, port] & (slack >= -TOLERANCE)
        least = min(least, room[r])


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})
def _score(said: Said, b: int, here: int, resource: float, room: Room) -> None:
    """What the heads answer, and how well every candidate matches it."""
    query, key, value, aim, drift, bias, _ = said
    weights, answer, score, candidates = room
    heads, nodes = weights.shape
    width = len(answer)
    depth = width // heads
    for h in range(heads):
        begin = h * depth
        most = np.float32(-np.inf)
        for j in range(nodes):
            if candidates[j]:
                match = resource * drift[b, h, j]
                for d in range(begin, begin + depth):
                    match += query[b, here, d] * key[b, j, d]
                weights[h, j] = match
                most = max(most, match)
        total = np.float32(0)
        for d in range(begin, begin + depth):
            answer[d] = 0
        for j in range(nodes):
            if candidates[j]:
                weight = np.exp(weights[h, j] - most)
                total += weight
                for d in range(begin, begin + depth):
                    answer[d] += weight * value[b, j, d]
        for d in range(begin, begin + depth):
            answer[d] /= total
    for j in range(nodes):
        if candidates[j]:
            match = bias[b, j]
            for d in range(width):
                match += answer[d] * aim[b, j, d]
            score[j] = match


@njit(cache=True, nogil=True)
def _weigh(
    known: Known, where: tuple[int, int, int], since: float, answer: Answer, room: Room
) -> None:
    """Add what the facts of each candidate are worth."""
    inner, shift, outer, travel, increment, latest, unit = known
    b, p, here = where
    resource, bound, _ = answer
    _, _, score, candidates = room
    for j in range(len(score)):
        if candidates[j]:
            there = resource[b, p, j]
            way = travel[b, here, j]
            wait = _squashed((there - (since + increment[b, here, j])) / unit[b])
            own = _squashed((latest[b, j] - there) / unit[b])
            ahead = _squashed((bound[b, p, j] - there) / unit[b])
            for f in range(len(outer)):
                hidden = shift[f] + inner[f, 0] * way + inner[f, 1] * wait
                hidden += inner[f, 2] * own + inner[f, 3] * ahead
                score[j] += outer[f] * max(hidden, np.float32(0))


@njit(cache=True, nogil=True)
def _squashed(slack: np.float32) -> np.float32:
    slack = min(max(slack, np.float32(-LARGEST)), np.float32(LARGEST))
    return slack / (np.float32(1) + abs(slack) / np.float32(FAR))


@njit(cache=True, nogil=True)
def _clip(clip: np.float32, room: Room) -> None:
    _, _, score, candidates = room
    for j in range(len(score)):
        score[j] = clip * np.tanh(score[j]) if candidates[j] else np.float32(-np.inf)


@njit(cache=True, nogil=True)
def _choose(draw: float, order: UInt[np.ndarray, " N"], room: Room) -> np.intp:
    """The best candidate, the lowest number on ties; or the one on whose share of one the draw falls."""
    weights, _, score, candidates = room
    best = np.argmax(score)
    if draw < 0:
        return best
    likely, total = weights[0], np.float32(0)
    for j in range(len(score)):
        likely[j] = np.exp(score[j] - score[best]) if candidates[j] else np.float32(0)
        total += likely[j]
    reached = np.float32(0)
    for j in order:
        reached += likely[j]
        if candidates[j] and reached > draw * total * np.float32(WITHIN):
            return np.intp(j)
    return best
