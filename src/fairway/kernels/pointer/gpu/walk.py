"""The decoding kernel: a few tours of one instance, from the depot to the last stop."""

import triton
import triton.language as tl

from fairway.kernels.pointer.gpu.facts import LOG2E, facts_of, inverse, power, squashed, weighed
from fairway.kernels.pointer.gpu.masks import (
    CAP,
    EARLIEST,
    INCREMENT,
    LATEST,
    LINES,
    TRAVEL,
    all_ahead,
    bound_by_twos,
    bound_drafts,
    bound_one_step,
    without,
)

NONE, ZERO_STEP, ONE_STEP, DRAFTS, LEARNED, PAIRS = (tl.constexpr(mask) for mask in range(6))
GREEDY, SAMPLE, FORCED = (tl.constexpr(choice) for choice in range(3))
WITHIN = tl.constexpr(1 - 1e-5)
NOT_QUITE_ZERO = tl.constexpr(1e-30)
"""What stands for a zero grade of an allowed candidate: zero means not allowed."""


@triton.jit
def scored(
    score, said, drift, node, resource, hidden, at, real, answers, softmaxes, SAVE: tl.constexpr,
    D: tl.constexpr, H: tl.constexpr, W: tl.constexpr, EXACT: tl.constexpr,
):  # fmt: skip
    """What the heads add to the scores of all nodes, before clipping, for tours at their nodes and resources.

    `hidden` is minus infinity for nodes that the heads do not see, and else zero. Where it is wanted, the answer of
    each head and the logarithm of its sum, to base 2, are stored for the gradient.
    """
    HD: tl.constexpr = D // H
    column = tl.arange(0, W)
    for h in range(H):
        d = h * HD + tl.arange(0, HD)
        query = tl.load(said + node[:, None] * D + d[None, :])
        key = tl.load(said + 2 * W * D + d[:, None] * W + column[None, :])
        match = resource[:, None] * tl.load(drift + h * W + column)[None, :] + hidden
        match = tl.dot(query, key, match, input_precision=EXACT)
        top = tl.max(match, axis=1) * LOG2E
        weight = power(match * LOG2E - top[:, None])
        total = tl.sum(weight, axis=1)
        value = tl.load(said + W * D + column[:, None] * D + d[None, :])
        answer = tl.dot(weight.to(value.dtype), value, input_precision=EXACT)
        low = (answer * (1 / total)[:, None]).to(value.dtype)
        aim = tl.load(said + 3 * W * D + d[:, None] * W + column[None, :])
        score = tl.dot(low, aim, score, input_precision=EXACT)
        if SAVE:
            tl.store(answers + at[:, None] * D + d[None, :], low, mask=real[:, None])
            tl.store(softmaxes + at * H + h, top + tl.log2(total), mask=real)
    return score


@triton.jit
def chosen(likely, total, noise, forced, CHOICE: tl.constexpr, W: tl.constexpr):
    """A node for each tour: the likeliest, the one that the noise falls on, or the one given."""
    if CHOICE == FORCED:
        action = forced
    elif CHOICE == GREEDY:
        action = tl.argmax(likely, axis=1)
    else:
        # Sums of rounded numbers may end a little below their total, which the noise must not pass.
        reached = tl.cumsum(likely, axis=1) > (noise * total * WITHIN)[:, None]
        column = tl.arange(0, W)[None, :]
        action = tl.min(tl.where(reached & (likely > 0), column, W - 1), axis=1)
    return action


@triton.jit
def hidden_and_bound(
    frozen, drift, bias, node, resource, shut, left, front, served, lines, squares, pairs, sooner,
    tolerance, masked, N, Q,
    MASK: tl.constexpr, T: tl.constexpr, D: tl.constexpr, H: tl.constexpr, W: tl.constexpr,
    EXACT: tl.constexpr,
):  # fmt: skip
    """What the look-ahead hides, the highest resource with which it lets candidates pass, and the tours left with none.

    Hidden nodes have minus infinity and others zero, here and in `shut`, which hides the visited ones; `left` has the
    others as bits. So many pairs at the `front` are over.
    """
    column = tl.arange(0, W)
    bound = tl.full((T, W), float("inf"), tl.float32)
    hidden = shut
    if masked:
        if MASK == ZERO_STEP:
            bound = tl.zeros((T, W), tl.float32) + tl.load(lines + CAP * W + column)[None, :]
        elif MASK == ONE_STEP:
            bound = bound_one_step(left, lines, squares, W)
        elif MASK == PAIRS:
            bound = bound_one_step(left, lines, squares, W)
            bound, front = bound_by_twos(bound, left, shut, front, pairs, sooner, squares, Q, W)
        elif MASK == DRAFTS:
            bound = bound_drafts(shut, resource, lines, W)
        if MASK == LEARNED:
            padding = tl.where(column < N, 0.0, -float("inf"))[None, :]
            padding += tl.zeros((T, W), tl.float32)
            doom = tl.zeros((T, W), tl.float32) + tl.load(bias + column)[None, :]
            doom = scored(
                doom, frozen, drift, node, resource, padding, node, node, frozen, drift, False,
                D, H, W, EXACT,
            )  # fmt: skip
            hidden = tl.where(doom <= 0, shut, -float("inf"))
        else:
            hidden = tl.where(served <= bound + tolerance, shut, -float("inf"))
    dead = tl.max(hidden, axis=1) < 0
    return tl.where(dead[:, None], shut, hidden), bound, dead, front


@triton.jit
def first_scores(
    bias, node, resource, bound, served, lines, squares, per_unit, inner, shift, outer, slacks, cell, real,
    T: tl.constexpr, W: tl.constexpr, F: tl.constexpr, SAVE: tl.constexpr,
):  # fmt: skip
    """What scores start from: the bias of each node, and what the facts of the candidates add."""
    score = tl.zeros((T, W), tl.float32) + tl.load(bias + tl.arange(0, W))[None, :]
    if F > 0:
        ahead = squashed(bound - served, per_unit)
        way, wait, own, ahead = facts_of(node, resource, ahead, lines, squares, per_unit, W)
        score += weighed(way, wait, own, ahead, inner, shift, outer, F)
        if SAVE:
            tl.store(slacks + cell, ahead.to(slacks.dtype.element_ty), mask=real[:, None])
    return score


@triton.jit
def drawn(
    score, hidden, noise, tours, at, cell, real, clip, grades,
    CHOICE: tl.constexpr, W: tl.constexpr, SAVE: tl.constexpr,
):  # fmt: skip
    """What each tour goes on to, and the logarithm of how likely that was; stores how each score bears on it."""
    turn = 1 - 2 * inverse(power(score * (2 * LOG2E)) + 1)  # tanh, which does not overflow
    scaled = turn * (clip * LOG2E) + hidden
    likely = power(scaled - tl.max(scaled, axis=1)[:, None])
    total = tl.sum(likely, axis=1)
    where = tl.load(noise + at, mask=real, other=0.5)
    action = chosen(likely, total, where, tl.load(tours + at, mask=real, other=1), CHOICE, W)
    if CHOICE != FORCED:
        tl.store(tours + at, action, mask=real)
    taken = tl.arange(0, W)[None, :] == action[:, None]
    if SAVE:
        grade = tl.where(taken, 1.0, 0.0) - likely * (1 / total)[:, None]
        grade = grade * (clip - clip * turn * turn)
        grade = tl.where(hidden < 0, 0.0, tl.where(grade == 0, NOT_QUITE_ZERO, grade))
        tl.store(grades + cell, grade.to(grades.dtype.element_ty), mask=real[:, None])
    chance = tl.sum(tl.where(taken, likely, 0.0), axis=1) / total
    return action, taken, tl.log(tl.maximum(chance, NOT_QUITE_ZERO))


@triton.jit
def walk(
    said, drift, bias, frozen, frozen_drift, frozen_bias, inner, shift, outer,
    lines, squares, starts, pairs, sooner,
    noise, tours, resources, answers, softmaxes, grades, slacks, sums,
    P, M, Q, until, tolerance, clip,
    D: tl.constexpr, H: tl.constexpr, W: tl.constexpr, T: tl.constexpr, F: tl.constexpr,
    MASK: tl.constexpr, CHOICE: tl.constexpr, SAVE: tl.constexpr, EXACT: tl.constexpr,
):  # fmt: skip
    """T tours of one instance; `tours` is read where they are forced and written where they are chosen.

    What is kept of a step lies beside what other tours left at the same step, which the gradient takes together.
    """
    b = tl.program_id(1).to(tl.int64)
    said, drift, bias = said + b * 4 * W * D, drift + b * H * W, bias + b * W
    frozen, frozen_bias = frozen + b * 4 * W * D, frozen_bias + b * W
    frozen_drift += b * H * W
    lines, squares = lines + b * LINES * W, squares + b * 3 * W * W
    pairs, sooner = pairs + b * 2 * Q, sooner + b * 3 * Q
    p, column = tl.program_id(0) * T + tl.arange(0, T), tl.arange(0, W)
    real = p < P
    shut = tl.where((column > 0) & (column <= M), 0.0, -float("inf"))[None, :]
    shut += tl.zeros((T, W), tl.float32)
    left, front = all_ahead(M, T, W), 0
    nought = tl.zeros((T,), tl.float32)
    node, resource = tl.zeros((T,), tl.int32), nought + tl.load(starts + b * 2)
    likelihood, length, excess, worst = nought, nought, nought, nought - float("inf")
    broken, dead_ends = nought, nought
    for m in range(M):
        at = (b * M + m) * P + p
        cell = at[:, None] * W + column[None, :]
        tl.store(resources + at, resource, mask=real)
        legs = tl.load(squares + (INCREMENT * W + node[:, None]) * W + column[None, :])
        opens = tl.load(lines + EARLIEST * W + column)[None, :]
        served = tl.maximum(resource[:, None] + legs, opens)
        hidden, bound, dead, front = hidden_and_bound(
            frozen, frozen_drift, frozen_bias, node, resource, shut, left, front, served,
            lines, squares, pairs, sooner, tolerance, m < until, M + 1, Q, MASK, T, D, H, W, EXACT,
        )  # fmt: skip
        score = first_scores(
            bias, node, resource, bound, served, lines, squares, 1 / tl.load(starts + b * 2 + 1),
            inner, shift, outer, slacks, cell, real, T, W, F, SAVE,
        )  # fmt: skip
        score = scored(
            score, said, drift, node, resource, hidden, at, real, answers, softmaxes, SAVE,
            D, H, W, EXACT,
        )  # fmt: skip
        action, taken, likely = drawn(
            score, hidden, noise, tours, at, cell, real, clip, grades, CHOICE, W, SAVE
        )
        likelihood += likely
        arrival = resource + tl.load(squares + (INCREMENT * W + node) * W + action)
        resource = tl.maximum(arrival, tl.load(lines + EARLIEST * W + action))
        over = resource - tl.load(lines + LATEST * W + action)
        excess, worst = excess + tl.maximum(over, 0.0), tl.maximum(worst, over)
        broken, dead_ends = broken + (over > 0).to(tl.float32), dead_ends + dead.to(tl.float32)
        length += tl.load(squares + (TRAVEL * W + node) * W + action)
        node, shut = action, tl.where(taken, -float("inf"), shut)
        left = without(left, action, W)
    length += tl.load(squares + (TRAVEL * W + node) * W)
    keep(sums + (b * P + p) * 6, real, likelihood, length, excess, worst, broken, dead_ends)


@triton.jit
def keep(out, real, likelihood, length, excess, worst, broken, dead_ends):
    """Store what tours come to."""
    tl.store(out, likelihood, mask=real)
    tl.store(out + 1, length, mask=real)
    tl.store(out + 2, excess, mask=real)
    tl.store(out + 3, worst, mask=real)
    tl.store(out + 4, broken, mask=real)
    tl.store(out + 5, dead_ends, mask=real)
