"""What the facts of candidates add to their scores, and the gradient of the small network that says so.

Powers of two and reciprocals are one instruction each: exact ones spend several more on what never matters here.
"""

import os

import triton
import triton.language as tl

from fairway.kernels.pointer.gpu.masks import EARLIEST, INCREMENT, LATEST, LINES, TRAVEL

FAR = tl.constexpr(4.0)
LOG2E = tl.constexpr(1.4426950408889634)


@triton.jit
def _power_at_once(x):
    """Two to the power of x; nothing below 2^-126."""
    return tl.inline_asm_elementwise(
        "ex2.approx.ftz.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1
    )


@triton.jit
def _inverse_at_once(x):
    """One by x."""
    return tl.inline_asm_elementwise(
        "rcp.approx.ftz.f32 $0, $1;", "=f,f", [x], dtype=tl.float32, is_pure=True, pack=1
    )


@triton.jit
def _power_interpreted(x):
    """The same where there is no GPU to give the instruction to."""
    return tl.exp2(x)


@triton.jit
def _inverse_interpreted(x):
    """Likewise."""
    return 1 / x


_INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
power = _power_interpreted if _INTERPRETED else _power_at_once
inverse = _inverse_interpreted if _INTERPRETED else _inverse_at_once


@triton.jit
def squashed(slack, per_unit):
    """Near zero the slack itself, in units; far from zero ever less of it, and never more than FAR."""
    far = tl.minimum(tl.maximum(slack * per_unit, -1e6), 1e6)
    return far * inverse(1.0 + tl.abs(far) * (1 / FAR))


@triton.jit
def facts_of(node, resource, ahead, lines, squares, per_unit, W: tl.constexpr):
    """Way, wait, own slack and the look-ahead's slack (given, squashed), of all nodes, where tours stand."""
    column = tl.arange(0, W)
    edge = node[:, None] * W + column[None, :]
    way = tl.load(squares + TRAVEL * W * W + edge)
    arrival = resource[:, None] + tl.load(squares + INCREMENT * W * W + edge)
    served = tl.maximum(arrival, tl.load(lines + EARLIEST * W + column)[None, :])
    own = squashed(tl.load(lines + LATEST * W + column)[None, :] - served, per_unit)
    return way, squashed(served - arrival, per_unit), own, ahead


@triton.jit
def weighed(way, wait, own, ahead, inner, shift, outer, F: tl.constexpr):
    """What the facts add to the scores."""
    added = tl.zeros(way.shape, tl.float32)
    for u in range(F):
        row = inner + u * 4
        hidden = way * tl.load(row) + wait * tl.load(row + 1) + own * tl.load(row + 2)
        hidden += ahead * tl.load(row + 3) + tl.load(shift + u)
        added += tl.maximum(hidden, 0.0) * tl.load(outer + u)
    return added


@triton.jit
def facts_gradient(
    inner, shift, outer, lines, squares, starts, tours, resources, slacks, grades, weight, out,
    P, M, W: tl.constexpr, F: tl.constexpr, Q: tl.constexpr, SHARE: tl.constexpr,
):  # fmt: skip
    """The gradient of the network's weights over one share of the steps of one instance: F rows of six."""
    share, b = tl.program_id(0), tl.program_id(1).to(tl.int64)
    lines += b * LINES * W
    squares += b * 3 * W * W
    per_unit = 1 / tl.load(starts + b * 2 + 1)
    column = tl.arange(0, W)
    one = tl.arange(0, F)
    nought = tl.zeros((F,), tl.float32)
    d_way, d_wait, d_own, d_ahead = nought, nought, nought, nought
    d_shift, d_outer = nought, nought
    for first in range(share * Q, P * M, SHARE * Q):
        step = first + tl.arange(0, Q)
        real = step < P * M
        at = b * P * M + step
        node = tl.load(tours + at - P, mask=real & (step >= P), other=0)
        resource = tl.load(resources + at, mask=real, other=0.0)
        scale = tl.load(weight + b * P + step % P, mask=real, other=0.0)
        cell = at[:, None] * W + column[None, :]
        grade = (
            tl.load(grades + cell, mask=real[:, None], other=0.0).to(tl.float32) * scale[:, None]
        )
        ahead = tl.load(slacks + cell, mask=real[:, None], other=0.0).to(tl.float32)
        way, wait, own, ahead = facts_of(node, resource, ahead, lines, squares, per_unit, W)
        for u in range(F):
            row = inner + u * 4
            hidden = way * tl.load(row) + wait * tl.load(row + 1) + own * tl.load(row + 2)
            hidden += ahead * tl.load(row + 3) + tl.load(shift + u)
            here = one == u
            d_outer += tl.where(here, tl.sum(grade * tl.maximum(hidden, 0.0)), 0.0)
            back = tl.where(hidden > 0, grade, 0.0) * tl.load(outer + u)
            d_way += tl.where(here, tl.sum(back * way), 0.0)
            d_wait += tl.where(here, tl.sum(back * wait), 0.0)
            d_own += tl.where(here, tl.sum(back * own), 0.0)
            d_ahead += tl.where(here, tl.sum(back * ahead), 0.0)
            d_shift += tl.where(here, tl.sum(back), 0.0)
    row = out + ((b * SHARE + share) * F + one) * 6
    tl.store(row, d_way)
    tl.store(row + 1, d_wait)
    tl.store(row + 2, d_own)
    tl.store(row + 3, d_ahead)
    tl.store(row + 4, d_shift)
    tl.store(row + 5, d_outer)
