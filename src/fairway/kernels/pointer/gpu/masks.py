"""What the look-ahead allows a few tours at one step, inside the kernel that decodes them."""

import triton
import triton.language as tl

FLOOR, LIMIT, CAP, DEMAND, LEAST, MOST = (tl.constexpr(line) for line in range(6))
LINES = tl.constexpr(6)
LEAD, TRAVEL, LATEST = (tl.constexpr(square) for square in range(3))


@triton.jit
def _lowered(bound, ahead, squares, W: tl.constexpr):
    """The bounds under the first rank ahead, that rank, and what is ahead without it; W stands for no rank."""
    column = tl.arange(0, W)
    rank = tl.min(ahead, axis=1)
    row = squares + LATEST * W * W + rank[:, None] * W + column[None, :]
    latest = tl.load(row, mask=(rank < W)[:, None], other=float("inf"))
    return tl.minimum(bound, latest), rank, tl.where(ahead == rank[:, None], W, ahead)


@triton.jit
def bound_one_step(shut, lines, squares, W: tl.constexpr):
    """The highest level of each unvisited node from which all others are still reached; nothing sensible elsewhere.

    Nodes are ranked by the least level from which anything reaches them. The first two unvisited ranks bound every
    candidate, one of them by the other; what no candidate needs to be below that is not looked at.
    """
    column = tl.arange(0, W)
    bound = tl.zeros(shut.shape, tl.float32) + tl.load(lines + CAP * W + column)[None, :]
    ahead = tl.where(shut == 0, column[None, :], W)
    bound, first, ahead = _lowered(bound, ahead, squares, W)
    bound, second, ahead = _lowered(bound, ahead, squares, W)
    top = tl.load(lines + MOST * W + first)
    top = tl.maximum(top, tl.load(lines + MOST * W + tl.minimum(second, W - 1)))
    rank = tl.min(ahead, axis=1)
    least = tl.load(lines + LEAST * W + rank, mask=rank < W, other=float("inf"))
    while tl.max((least < top).to(tl.int32), axis=0) > 0:
        bound, rank, ahead = _lowered(bound, ahead, squares, W)
        rank = tl.min(ahead, axis=1)
        least = tl.load(lines + LEAST * W + rank, mask=rank < W, other=float("inf"))
    return bound


@triton.jit
def _but_last(least_before, last, least_before_next, last_next):
    """For runs of numbers joined end to end: the least but for the last one, and the last one."""
    return tl.minimum(tl.minimum(least_before, last), least_before_next), last_next


@triton.jit
def bound_drafts(shut, level, lines, W: tl.constexpr):
    """The highest load of each unvisited port with which all others can still be served, ports ranked by draft."""
    column = tl.arange(0, W)
    unvisited = shut == 0
    demand = tl.load(lines + DEMAND * W + column)[None, :]
    draft = tl.load(lines + LIMIT * W + column)[None, :]
    load = level[:, None] + tl.cumsum(tl.where(unvisited, demand, 0.0), axis=1)
    room = tl.where(unvisited, draft - load, float("inf"))
    nothing = tl.full(room.shape, float("inf"), tl.float32)
    before, _ = tl.associative_scan((nothing, room), 1, _but_last)
    after, _ = tl.associative_scan((nothing, room), 1, _but_last, reverse=True)
    served = level[:, None] + demand
    spare = tl.minimum(tl.minimum(before - demand, after), draft - served)
    return served + spare
