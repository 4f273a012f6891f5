"""The look-ahead in Triton: the masks of all tours of a step in two launches, two more for the second step.

Each row of the table is sorted once, and beside each rank stands the set of the columns up to it,
as bits. The least entry that is still open is then where the first of these sets meets the set of
what is left: a binary search, seven probes for a hundred nodes, and no two candidates have anything
to tell each other. Along a rollout not even that is needed: what was visited stays visited, so each row
goes on from the rank where it stood, and a whole tour costs as much as its rows are long.
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
LANES = 128
"""Candidates of one program, a thread each."""
TOURS = 16
"""Tours that a program goes through, so that what it reads of its rows stays close by."""


@dataclass(frozen=True, slots=True, eq=False)
class Ranks:
    """A table with its rows in order: everything the kernels read, laid out for them."""

    known: Table
    order: Int[Tensor, "B N N"]
    """By rank and row: the columns of each row, least entry first; the infinite diagonal is last."""
    ranked: Float[Tensor, "B N N"]
    """By rank and row: the entries in that order."""
    seen: Int[Tensor, "B W N N"]
    """By word, rank and row: the columns up to each rank, a bit each."""
    lead_by_column: Float[Tensor, "B N N"]
    home: Float[Tensor, "B N"]
    """The highest level at a node that keeps its own limit and the return."""


def ranks(known: Table) -> Ranks:
    """Sort the rows of a table; rows lie side by side in memory, as the threads that search them do."""
    ranked, order = _in_order(known)
    words = -(-order.shape[-1] // WORD)
    bit = torch.ones_like(order) << (order % WORD)
    own_word = [torch.where(order // WORD == word, bit, 0).cumsum(dim=1) for word in range(words)]
    return Ranks(
        known,
        order.to(torch.int32),
        ranked,
        torch.stack(own_word, dim=1),
        known.lead.mT.contiguous(),
        _home(known),
    )


def _in_order(known: Table) -> tuple[Float[Tensor, "B N N"], Int[Tensor, "B N N"]]:
    """By rank and row: the entries of each row in order, and their columns."""
    assert known.latest.dtype == torch.float32, "the kernels compute in float32"
    ranked, order = known.latest.mT.contiguous().sort(dim=1, stable=True)
    return ranked, order


def _home(known: Table) -> Float[Tensor, "B N"]:
    return torch.minimum(known.limit, known.latest[:, :, 0]).contiguous()


def ranks_size(nodes: int) -> int:
    """The bytes of one instance's ranks, nearly all of them sets."""
    return nodes * nodes * (16 + 8 * -(-nodes // WORD))


def lookahead(prepared: Ranks, state: State, rule: Rule) -> Outlook:
    """What the rule says of every candidate, for one step or two."""
    assert rule.steps > 0, "without a step ahead there is nothing to search"
    known, unvisited = prepared.known, state.unvisited.contiguous()
    instances, tours, nodes = unvisited.shape
    words = prepared.seen.shape[1]
    left = torch.empty(instances, tours, words, dtype=torch.int64, device=unvisited.device)
    packs = (triton.cdiv(instances * tours, TOURS), words)
    _packed[packs](unvisited, left, instances * tours, nodes, words, WORD, TOURS)
    level = torch.empty(unvisited.shape, device=unvisited.device)
    bound, allowed = torch.empty_like(level), torch.empty_like(unvisited)
    grid = (triton.cdiv(tours, TOURS), instances, triton.cdiv(nodes, LANES))
    sizes = (rule.tolerance, tours, nodes, words, nodes.bit_length(), rule.own, TOURS, LANES)
    facts = (known.lead, known.floor, prepared.home, prepared.ranked, prepared.seen)
    at = (state.node.contiguous(), state.level.contiguous(), left, unvisited)
    _one_step[grid](*facts, *at, level, bound, allowed, *sizes)
    if rule.steps == 2:
        least = torch.empty_like(level)
        second, least_at = torch.empty_like(level), torch.empty_like(level, dtype=torch.int32)
        rows = (known.floor, prepared.home, prepared.ranked, prepared.order, prepared.seen)
        _two_least[grid](*rows, left, unvisited, least, second, least_at, *sizes)
        follows = (prepared.lead_by_column, level, least, second, least_at, left, allowed)
        _goes_on[grid](*follows, tours, nodes, words, TOURS, LANES)
    return Outlook(level, bound, allowed)


class Walk:
    """The look-ahead along a rollout of P tours an instance: every call is one step on from the call before.

    Where a tour stands at the depot, it begins anew.
    """

    def __init__(self, known: Table, tours: int, rule: Rule) -> None:
        assert rule.steps == 1, "the second step needs the second entry of each row too"
        self._known, self._rule, self._home = known, rule, _home(known)
        self._ranked, order = _in_order(known)
        self._order = order.to(torch.int32)
        instances, nodes = known.limit.shape
        shape, device = (instances, tours, nodes), known.limit.device
        self._front = torch.zeros(shape, dtype=torch.int32, device=device)

    def __call__(self, state: State) -> Outlook:
        """What the rule says of every candidate of the state reached."""
        unvisited = state.unvisited.contiguous()
        instances, tours, nodes = unvisited.shape
        level = torch.empty(unvisited.shape, device=unvisited.device)
        bound, allowed = torch.empty_like(level), torch.empty_like(unvisited)
        grid = (triton.cdiv(tours, TOURS), instances, triton.cdiv(nodes, LANES))
        facts = (self._known.lead, self._known.floor, self._home, self._ranked, self._order)
        at = (state.node.contiguous(), state.level.contiguous(), unvisited, self._front)
        sizes = (self._rule.tolerance, tours, nodes, self._rule.own, TOURS, LANES)
        _one_step_on[grid](*facts, *at, level, bound, allowed, *sizes)
        return Outlook(level, bound, allowed)


@triton.jit
def _packed(unvisited, left, T, N, W, WORD: tl.constexpr, TOURS: tl.constexpr):
    """The nodes left of a few tours as bits, one word of each."""
    tour = tl.program_id(0).to(tl.int64) * TOURS + tl.arange(0, TOURS)
    word = tl.program_id(1)
    bit = tl.arange(0, WORD).to(tl.int64)
    node = word * WORD + bit
    inside = (tour < T)[:, None] & (node < N)[None, :]
    is_left = tl.load(unvisited + tour[:, None] * N + node[None, :], mask=inside, other=0).to(
        tl.int64
    )
    tl.store(left + tour * W + word, tl.sum(is_left << bit[None, :], axis=1), mask=tour < T)


@triton.jit
def _one_step(
    lead, floor, home, ranked, seen, node, at_level, left, unvisited, level_out, bound_out, allowed_out,
    tolerance, P, N: tl.constexpr, W: tl.constexpr, PROBES: tl.constexpr, OWN: tl.constexpr,
    TOURS: tl.constexpr, LANES: tl.constexpr,
):  # fmt: skip
    """The level and the bound of candidates, and whether they pass."""
    b = tl.program_id(1).to(tl.int64)
    i = tl.program_id(2) * LANES + tl.arange(0, LANES)
    inside = i < N
    i = tl.where(inside, i, 0)
    seen += b * N * N * W
    ranked += b * N * N
    lowest = tl.load(floor + b * N + i)
    own = tl.load(home + b * N + i)
    for p in range(tl.program_id(0) * TOURS, tl.minimum(P, tl.program_id(0) * TOURS + TOURS)):
        tour = b * P + p
        first = tl.load(left + tour * W)
        if OWN:
            first = first | 1
        low, high = tl.zeros((LANES,), tl.int32), tl.zeros((LANES,), tl.int32) + (N - 1)
        for _ in tl.static_range(PROBES):
            middle = (low + high) // 2
            at = middle * N + i
            meets = (tl.load(seen + at) & first) != 0
            for word in tl.static_range(1, W):
                meets = meets | (
                    (tl.load(seen + word * N * N + at) & tl.load(left + tour * W + word)) != 0
                )
            high = tl.where(meets, middle, high)
            low = tl.where(meets, low, tl.minimum(middle + 1, high))
        bound = tl.load(ranked + low * N + i)
        if OWN:
            bound = tl.minimum(bound, own)
        rise = tl.load(lead + (b * N + tl.load(node + tour)) * N + i)
        level = tl.maximum(tl.load(at_level + tour) + rise, lowest)
        out = tour * N + i
        is_left = tl.load(unvisited + out) != 0
        tl.store(level_out + out, level, mask=inside)
        tl.store(bound_out + out, bound, mask=inside)
        tl.store(allowed_out + out, is_left & (level <= bound + tolerance), mask=inside)


@triton.jit
def _one_step_on(
    lead, floor, home, ranked, order, node, at_level, unvisited, front, level_out, bound_out, allowed_out,
    tolerance, P, N: tl.constexpr, OWN: tl.constexpr, TOURS: tl.constexpr, LANES: tl.constexpr,
):  # fmt: skip
    """The same from the rank where each row of each tour stood, which only ever grows; the last is the row's own."""
    b = tl.program_id(1).to(tl.int64)
    i = tl.program_id(2) * LANES + tl.arange(0, LANES)
    inside = i < N
    i = tl.where(inside, i, 0)
    ranked += b * N * N
    order += b * N * N
    lowest = tl.load(floor + b * N + i)
    own = tl.load(home + b * N + i)
    for p in range(tl.program_id(0) * TOURS, tl.minimum(P, tl.program_id(0) * TOURS + TOURS)):
        tour = b * P + p
        out = tour * N + i
        here = tl.load(node + tour)
        rank = tl.where(here == 0, 0, tl.load(front + out))  # at the depot a tour begins
        column = tl.load(order + rank * N + i)
        gone = (tl.load(unvisited + tour * N + column) == 0) & (rank < N - 1)
        while tl.max(gone.to(tl.int32), axis=0) > 0:
            rank = tl.where(gone, rank + 1, rank)
            column = tl.load(order + rank * N + i)
            gone = (tl.load(unvisited + tour * N + column) == 0) & (rank < N - 1)
        tl.store(front + out, rank, mask=inside)
        bound = tl.load(ranked + rank * N + i)
        if OWN:
            bound = tl.minimum(bound, own)
        rise = tl.load(lead + (b * N + here) * N + i)
        level = tl.maximum(tl.load(at_level + tour) + rise, lowest)
        is_left = tl.load(unvisited + out) != 0
        tl.store(level_out + out, level, mask=inside)
        tl.store(bound_out + out, bound, mask=inside)
        tl.store(allowed_out + out, is_left & (level <= bound + tolerance), mask=inside)


@triton.jit
def _two_least(
    floor, home, ranked, order, seen, left, unvisited, least_out, second_out, least_at_out,
    tolerance, P, N: tl.constexpr, W: tl.constexpr, PROBES: tl.constexpr, OWN: tl.constexpr,
    TOURS: tl.constexpr, LANES: tl.constexpr,
):  # fmt: skip
    """Of each row the two least entries among the nodes left, tolerance added, and the column of the least.

    Minus infinity, so that nobody goes there, for nodes that are not left or that open too late for it.
    """
    b = tl.program_id(1).to(tl.int64)
    j = tl.program_id(2) * LANES + tl.arange(0, LANES)
    inside = j < N
    j = tl.where(inside, j, 0)
    seen += b * N * N * W
    ranked += b * N * N
    order += b * N * N
    lowest, own = tl.load(floor + b * N + j), tl.load(home + b * N + j)
    for p in range(tl.program_id(0) * TOURS, tl.minimum(P, tl.program_id(0) * TOURS + TOURS)):
        tour = b * P + p
        low, high = tl.zeros((LANES,), tl.int32), tl.zeros((LANES,), tl.int32) + (N - 1)
        for _ in tl.static_range(PROBES):
            middle = (low + high) // 2
            at = middle * N + j
            meets = (tl.load(seen + at) & tl.load(left + tour * W)) != 0
            for word in tl.static_range(1, W):
                meets = meets | (
                    (tl.load(seen + word * N * N + at) & tl.load(left + tour * W + word)) != 0
                )
            high = tl.where(meets, middle, high)
            low = tl.where(meets, low, tl.minimum(middle + 1, high))
        least, least_at = tl.load(ranked + low * N + j), tl.load(order + low * N + j)
        up_to = low * N + j  # the first rank that holds something left, and all before it
        low, high = tl.minimum(low + 1, N - 1), tl.zeros((LANES,), tl.int32) + (N - 1)
        for _ in tl.static_range(PROBES):
            middle = (low + high) // 2
            at = middle * N + j
            more = tl.load(seen + at) ^ tl.load(seen + up_to)
            meets = (more & tl.load(left + tour * W)) != 0
            for word in tl.static_range(1, W):
                more = tl.load(seen + word * N * N + at) ^ tl.load(seen + word * N * N + up_to)
                meets = meets | ((more & tl.load(left + tour * W + word)) != 0)
            high = tl.where(meets, middle, high)
            low = tl.where(meets, low, tl.minimum(middle + 1, high))
        second = tl.load(ranked + low * N + j)
        if OWN:
            least, second = tl.minimum(least, own), tl.minimum(second, own)
        out = tour * N + j
        is_left = tl.load(unvisited + out) != 0
        least, second = least + tolerance, second + tolerance
        tl.store(
            least_out + out,
            tl.where(is_left & (lowest <= least), least, -float("inf")),
            mask=inside,
        )
        tl.store(
            second_out + out,
            tl.where(is_left & (lowest <= second), second, -float("inf")),
            mask=inside,
        )
        tl.store(least_at_out + out, least_at, mask=inside)


@triton.jit
def _goes_on(
    lead, level_in, least_in, second_in, least_at_in, left, allowed_out,
    P, N: tl.constexpr, W: tl.constexpr, TOURS: tl.constexpr, LANES: tl.constexpr,
):  # fmt: skip
    """Take away the candidates that nothing can follow, unless they are the last."""
    b = tl.program_id(1).to(tl.int64)
    i = tl.program_id(2) * LANES + tl.arange(0, LANES)
    inside = i < N
    i = tl.where(inside, i, 0)
    lead += b * N * N
    for p in range(tl.program_id(0) * TOURS, tl.minimum(P, tl.program_id(0) * TOURS + TOURS)):
        tour = b * P + p
        level = tl.load(level_in + tour * N + i)
        passes = tl.load(allowed_out + tour * N + i) != 0
        follows = tl.zeros((LANES,), tl.int1)
        for j in range(N):
            at = tour * N + j
            bound = tl.where(
                tl.load(least_at_in + at) == i, tl.load(second_in + at), tl.load(least_in + at)
            )
            after = level + tl.load(lead + j * N + i)
            follows = follows | ((after <= bound) & (i != j))
        others = (
            tl.load(left + tour * W + i // 64) & ~(tl.full((LANES,), 1, tl.int64) << (i % 64))
        ) != 0
        for word in tl.static_range(W):
            others = others | ((tl.load(left + tour * W + word) != 0) & (i // 64 != word))
        tl.store(allowed_out + tour * N + i, passes & (follows | (others == 0)), mask=inside)
