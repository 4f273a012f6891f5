"""What the look-ahead allows a few tours at one step, inside the kernel that decodes them."""

import triton
import triton.language as tl

EARLIEST, LATEST, CAP, DEMAND, LEAST, MOST = (tl.constexpr(line) for line in range(6))
LINES = tl.constexpr(6)
INCREMENT, TRAVEL, CUTOFF = (tl.constexpr(square) for square in range(3))


@triton.jit
def all_ahead(M, T: tl.constexpr, W: tl.constexpr):
    """The ranks from 1 to M as bits, for each tour: words of 64 ranks."""
    WORDS: tl.constexpr = (W + 63) // 64
    inside = tl.minimum(tl.maximum(M + 1 - 64 * tl.arange(0, WORDS), 0), 64).to(tl.int64)
    # Two shifts, since a shift by all 64 bits is undefined.
    words = (tl.full((WORDS,), -1, tl.int64) << (inside // 2)) << (inside - inside // 2)
    words = tl.where(tl.arange(0, WORDS) == 0, ~words & -2, ~words)
    return tl.zeros((T, WORDS), tl.int64) + words[None, :]


@triton.jit
def without(left, rank, W: tl.constexpr):
    """The same bits but for one rank of each tour."""
    word = tl.arange(0, (W + 63) // 64)[None, :]
    bit = tl.full(rank.shape, 1, tl.int64) << (rank % 64).to(tl.int64)
    return tl.where(word == (rank // 64)[:, None], left & ~bit[:, None], left)


@triton.jit
def first_rank(left, W: tl.constexpr):
    """The first rank whose bit is set; W where none is. A lone bit is a power of two, whose exponent is its place."""
    alone = tl.abs((left & -left).to(tl.float32)).to(tl.int32, bitcast=True)
    place = (alone >> 23) - 127 + 64 * tl.arange(0, (W + 63) // 64)[None, :]
    return tl.min(tl.where(left == 0, W, place), axis=1)


@triton.jit
def bound_one_step(left, lines, squares, W: tl.constexpr):
    """The highest resource of each unvisited node from which all others are still reached; nothing sensible elsewhere.

    Nodes are ranked by the least resource from which anything reaches them. The first two unvisited ranks bound every
    candidate, one of them by the other; what no candidate needs to be below that is not looked at.
    """
    column = tl.arange(0, W)
    cutoff = squares + CUTOFF * W * W + column[None, :]
    first = first_rank(left, W)
    left = without(left, first, W)
    second = first_rank(left, W)
    left = without(left, second, W)
    bound = tl.minimum(
        tl.load(lines + CAP * W + column)[None, :], tl.load(cutoff + first[:, None] * W)
    )
    last = (second == W)[:, None]
    bound = tl.minimum(bound, tl.load(cutoff + second[:, None] * W, mask=~last, other=float("inf")))
    top = tl.load(lines + MOST * W + first)
    top = tl.maximum(top, tl.load(lines + MOST * W + tl.minimum(second, W - 1)))
    rank = first_rank(left, W)
    least = tl.load(lines + LEAST * W + rank, mask=rank < W, other=float("inf"))
    while tl.max((least < top).to(tl.int32), axis=0) > 0:
        here = tl.load(cutoff + rank[:, None] * W, mask=(rank < W)[:, None], other=float("inf"))
        bound = tl.minimum(bound, here)
        left = without(left, rank, W)
        rank = first_rank(left, W)
        least = tl.load(lines + LEAST * W + rank, mask=rank < W, other=float("inf"))
    return bound


@triton.jit
def has(left, rank, W: tl.constexpr):
    """Whether the bit of one rank is set, for each tour: one or zero."""
    word = tl.arange(0, (W + 63) // 64)[None, :]
    mine = tl.sum(tl.where(word == rank // 64, left, 0), axis=1)
    return ((mine >> (rank % 64).to(tl.int64)) & 1).to(tl.int32)


@triton.jit
def bound_by_twos(bound, left, shut, front, pairs, sooner, squares, Q, W: tl.constexpr):
    """The same lowered to what pairs of unvisited nodes ask for, and how many pairs at the front are over.

    Pairs are in the order of the least that they ask for, so that late ones cannot lower anything.
    """
    cutoff = squares + CUTOFF * W * W + tl.arange(0, W)
    top = tl.max(tl.max(tl.where(shut == 0, bound, -float("inf")), axis=1), axis=0)
    over = 1
    q = front
    while tl.load(sooner + 2 * Q + q, mask=q < Q, other=float("inf")) < top:
        one, other = tl.load(pairs + q), tl.load(pairs + Q + q)
        both = has(left, one, W) & has(left, other, W)
        over = tl.where(tl.max(both, axis=0) > 0, 0, over)
        first = tl.load(cutoff + one * W) - tl.load(sooner + q)
        second = tl.load(cutoff + other * W) - tl.load(sooner + Q + q)
        asked = tl.maximum(first, second)[None, :]
        bound = tl.where(both[:, None] > 0, tl.minimum(bound, asked), bound)
        front += over
        q += 1
    return bound, front


@triton.jit
def _but_last(least_before, last, least_before_next, last_next):
    """For runs of numbers joined end to end: the least but for the last one, and the last one."""
    return tl.minimum(tl.minimum(least_before, last), least_before_next), last_next


@triton.jit
def bound_drafts(shut, resource, lines, W: tl.constexpr):
    """The highest load of each unvisited port with which all others can still be served, ports ranked by draft."""
    column = tl.arange(0, W)
    unvisited = shut == 0
    demand = tl.load(lines + DEMAND * W + column)[None, :]
    draft = tl.load(lines + LATEST * W + column)[None, :]
    load = resource[:, None] + tl.cumsum(tl.where(unvisited, demand, 0.0), axis=1)
    room = tl.where(unvisited, draft - load, float("inf"))
    nothing = tl.full(room.shape, float("inf"), tl.float32)
    before, _ = tl.associative_scan((nothing, room), 1, _but_last)
    after, _ = tl.associative_scan((nothing, room), 1, _but_last, reverse=True)
    served = resource[:, None] + demand
    spare = tl.minimum(tl.minimum(before - demand, after), draft - served)
    return served + spare
