"""The look-ahead in Triton: the masks of all tours of a step in two launches, two more for the second step.

Each row of the table is sorted once, and beside each rank stands the set of the columns up to it,
as bits. The least entry that is still open is then where the first of these sets meets the set of
what is left: a binary search, seven probes for a hundred nodes, and no two candidates have anything
to tell each other.
"""

from dataclasses import dataclass

import torch
import triton
import triton.language as tl
from jaxtyping import Float, Int
from torch import Tensor

from fairway.kernels.lookahead.rule import Outlook, Rule
from fairway.kernels.lookahead.table import Table
from fairway.problems.problem import State

WORD = 64
BLOCK = 256
"""Candidates in one program."""


@dataclass(frozen=True, slots=True, eq=False)
class Ranks:
    """A table with its rows in order: everything the kernels read, laid out for them."""

    known: Table
    order: Int[Tensor, "B N N"]
    """The columns of each row, least entry first; the infinite diagonal is last."""
    ranked: Float[Tensor, "B N N"]
    seen: Int[Tensor, "B N N W"]
    """The columns up to each rank, a bit each."""
    lead_by_column: Float[Tensor, "B N N"]
    home: Float[Tensor, "B N"]
    """The highest level at a node that keeps its own limit and the return."""


def ranks(known: Table) -> Ranks:
    """Sort the rows of a table."""
    assert known.latest.dtype == torch.float32, "the kernels compute in float32"
    ranked, order = known.latest.contiguous().sort(dim=-1, stable=True)
    words = -(-order.shape[-1] // WORD)
    word = torch.arange(words, device=order.device)
    bit = torch.ones_like(order) << (order % WORD)
    seen = torch.where((order // WORD)[..., None] == word, bit[..., None], 0).cumsum(dim=-2)
    return Ranks(
        known,
        order.to(torch.int32),
        ranked,
        seen,
        known.lead.mT.contiguous(),
        torch.minimum(known.limit, known.latest[:, :, 0]).contiguous(),
    )


def ranks_size(nodes: int) -> int:
    """The bytes of one instance's ranks, nearly all of them sets."""
    return nodes * nodes * (16 + 8 * -(-nodes // WORD))


def lookahead(prepared: Ranks, state: State, rule: Rule) -> Outlook:
    """What the rule says of every candidate, for one step or two."""
    assert rule.steps > 0, "without a step ahead there is nothing to search"
    known, unvisited = prepared.known, state.unvisited.contiguous()
    instances, tours, nodes = unvisited.shape
    words = prepared.seen.shape[-1]
    left = torch.empty(instances, tours, words, dtype=torch.int64, device=unvisited.device)
    _packed[(instances * tours, words)](unvisited, left, nodes, words, WORD)
    level = torch.empty(unvisited.shape, device=unvisited.device)
    bound, allowed = torch.empty_like(level), torch.empty_like(unvisited)
    grid = (instances, triton.cdiv(tours * nodes, BLOCK))
    sizes = (tours, nodes, words, nodes.bit_length(), rule.own, BLOCK)
    facts = (known.lead, known.floor, prepared.home, prepared.ranked, prepared.seen)
    at = (state.node.contiguous(), state.level.contiguous(), left, unvisited)
    _one_step[grid](*facts, *at, level, bound, allowed, rule.tolerance, *sizes)
    if rule.steps == 2:
        pair = torch.empty(*unvisited.shape, 2, device=level.device)
        least_at = torch.empty_like(level, dtype=torch.int32)
        rows = (prepared.home, prepared.ranked, prepared.order, prepared.seen)
        _two_least[grid](*rows, left, unvisited, pair, least_at, *sizes)
        after = (prepared.lead_by_column, known.floor, level, unvisited)
        _goes_on[grid](*after, pair, least_at, allowed, rule.tolerance, tours, nodes, BLOCK)
    return Outlook(level, bound, allowed)


@triton.jit
def _packed(unvisited, left, N, W, WORD: tl.constexpr):
    """The nodes left of one tour as bits, one word of them."""
    tour, word = tl.program_id(0).to(tl.int64), tl.program_id(1)
    bit = tl.arange(0, WORD)
    node = word * WORD + bit
    is_left = tl.load(unvisited + tour * N + node, mask=node < N, other=0) != 0
    tl.store(
        left + tour * W + word, tl.sum(tl.where(is_left, tl.full((WORD,), 1, tl.int64) << bit, 0))
    )


@triton.jit
def _meets(seen, at, left, tour, first, second, W: tl.constexpr):
    """Whether the sets at `at` hold anything of what is left; its first two words are at hand."""
    meets = (tl.load(seen + at) & first) != 0
    if W > 1:
        meets = meets | ((tl.load(seen + at + 1) & second) != 0)
    for word in tl.static_range(2, W):
        meets = meets | ((tl.load(seen + at + word) & tl.load(left + tour * W + word)) != 0)
    return meets


@triton.jit
def _one_step(
    lead, floor, home, ranked, seen, node, at_level, left, unvisited, level_out, bound_out, allowed_out,
    tolerance, P, N, W: tl.constexpr, PROBES: tl.constexpr, OWN: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """The level and the bound of a block of candidates, and whether they pass."""
    b = tl.program_id(0).to(tl.int64)
    cell = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = cell < P * N
    cell = tl.where(inside, cell, 0)
    tour, i = b * P + cell // N, cell % N
    row = b * N + i
    first = tl.load(left + tour * W)
    second = first
    if W > 1:
        second = tl.load(left + tour * W + 1)
    if OWN:
        first = first | 1
    low, high = tl.zeros((BLOCK,), tl.int32), tl.full((BLOCK,), 0, tl.int32) + N - 1
    for _ in tl.static_range(PROBES):
        middle = (low + high) // 2
        meets = _meets(seen, (row * N + middle) * W, left, tour, first, second, W)
        high = tl.where(meets, middle, high)
        low = tl.where(meets, low, tl.minimum(middle + 1, high))
    bound = tl.load(ranked + row * N + low)
    if OWN:
        bound = tl.minimum(bound, tl.load(home + row))
    rise = tl.load(lead + (b * N + tl.load(node + tour)) * N + i)
    level = tl.maximum(tl.load(at_level + tour) + rise, tl.load(floor + row))
    out = tour * N + i
    is_left = tl.load(unvisited + out) != 0
    tl.store(level_out + out, level, mask=inside)
    tl.store(bound_out + out, bound, mask=inside)
    tl.store(allowed_out + out, is_left & (level <= bound + tolerance), mask=inside)


@triton.jit
def _two_least(
    home, ranked, order, seen, left, unvisited, pair_out, least_at_out,
    P, N, W: tl.constexpr, PROBES: tl.constexpr, OWN: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Of each row the two least entries among the nodes left, and the column of the least.

    Rows of nodes that are not left get minus infinity, so that nobody goes there.
    """
    b = tl.program_id(0).to(tl.int64)
    cell = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = cell < P * N
    cell = tl.where(inside, cell, 0)
    tour, j = b * P + cell // N, cell % N
    row = b * N + j
    first = tl.load(left + tour * W)
    second = first
    if W > 1:
        second = tl.load(left + tour * W + 1)
    low, high = tl.zeros((BLOCK,), tl.int32), tl.full((BLOCK,), 0, tl.int32) + N - 1
    for _ in tl.static_range(PROBES):
        middle = (low + high) // 2
        meets = _meets(seen, (row * N + middle) * W, left, tour, first, second, W)
        high = tl.where(meets, middle, high)
        low = tl.where(meets, low, tl.minimum(middle + 1, high))
    least, least_at = tl.load(ranked + row * N + low), tl.load(order + row * N + low)
    # The next rank at which a set holds something left besides what the first one holds.
    up_to = (row * N + low) * W
    low, high = tl.minimum(low + 1, N - 1), tl.full((BLOCK,), 0, tl.int32) + N - 1
    for _ in tl.static_range(PROBES):
        middle = (low + high) // 2
        at = (row * N + middle) * W
        meets = ((tl.load(seen + at) ^ tl.load(seen + up_to)) & first) != 0
        for word in tl.static_range(1, W):
            more = tl.load(seen + at + word) ^ tl.load(seen + up_to + word)
            meets = meets | ((more & tl.load(left + tour * W + word)) != 0)
        high = tl.where(meets, middle, high)
        low = tl.where(meets, low, tl.minimum(middle + 1, high))
    next_least = tl.load(ranked + row * N + low)
    if OWN:
        back = tl.load(home + row)
        least, next_least = tl.minimum(least, back), tl.minimum(next_least, back)
    out = tour * N + j
    is_left = tl.load(unvisited + out) != 0
    tl.store(pair_out + 2 * out, tl.where(is_left, least, -float("inf")), mask=inside)
    tl.store(pair_out + 2 * out + 1, tl.where(is_left, next_least, -float("inf")), mask=inside)
    tl.store(least_at_out + out, least_at, mask=inside)


@triton.jit
def _goes_on(
    lead, floor, level_in, unvisited, pair, least_at, allowed_out, tolerance, P, N, BLOCK: tl.constexpr,
):  # fmt: skip
    """Take away the candidates that nothing can follow, unless they are the last."""
    b = tl.program_id(0).to(tl.int64)
    cell = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = cell < P * N
    cell = tl.where(inside, cell, 0)
    tour, i = b * P + cell // N, cell % N
    level = tl.load(level_in + tour * N + i)
    follows = tl.zeros((BLOCK,), tl.int1)
    others = tl.zeros((BLOCK,), tl.int1)
    for j in range(N):
        at = tour * N + j
        here = tl.load(least_at + at) == i
        bound = tl.load(pair + 2 * at + here.to(tl.int32))
        after = tl.maximum(level + tl.load(lead + (b * N + j) * N + i), tl.load(floor + b * N + j))
        other = (bound != -float("inf")) & (i != j)
        others = others | other
        follows = follows | (other & (after <= bound + tolerance))
    out = tour * N + i
    passes = tl.load(allowed_out + out) != 0
    tl.store(allowed_out + out, passes & (follows | (others == 0)), mask=inside)
