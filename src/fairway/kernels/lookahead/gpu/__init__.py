"""The look-ahead in Triton: the masks of all tours of a step, one step ahead, in two launches.

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

from fairway.kernels.lookahead.config import Mask, MaskRule
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
    ranked: Float[Tensor, "B N N"]
    """By rank and row: the entries of each row, least first; the infinite diagonal is last."""
    seen: Int[Tensor, "B W N N"]
    """By word, rank and row: the columns up to each rank, a bit each."""
    home: Float[Tensor, "B N"]
    """The highest resource at a node that keeps its own limit and the return."""


def ranks(known: Table) -> Ranks:
    """Sort the rows of a table; rows lie side by side in memory, as the threads that search them do."""
    ranked, order = _in_order(known)
    words = -(-order.shape[-1] // WORD)
    bit = torch.ones_like(order) << (order % WORD)
    own_word = [torch.where(order // WORD == word, bit, 0).cumsum(dim=1) for word in range(words)]
    return Ranks(known, ranked, torch.stack(own_word, dim=1), _home(known))


def _in_order(known: Table) -> tuple[Float[Tensor, "B N N"], Int[Tensor, "B N N"]]:
    """By rank and row: the entries of each row in order, and their columns."""
    assert known.cutoff.dtype == torch.float32, "the kernels compute in float32"
    ranked, order = known.cutoff.mT.contiguous().sort(dim=1, stable=True)
    return ranked, order


def _home(known: Table) -> Float[Tensor, "B N"]:
    return torch.minimum(known.latest, known.cutoff[:, :, 0]).contiguous()


def ranks_size(nodes: int) -> int:
    """The bytes of one instance's ranks, nearly all of them sets."""
    return nodes * nodes * (4 + 8 * -(-nodes // WORD))


def lookahead(prepared: Ranks, state: State, rule: MaskRule) -> Mask:
    """What the rule says of every candidate."""
    assert rule.steps == 1, "the kernels look one step ahead"
    known, unvisited = prepared.known, state.unvisited.contiguous()
    instances, tours, nodes = unvisited.shape
    words = prepared.seen.shape[1]
    left = torch.empty(instances, tours, words, dtype=torch.int64, device=unvisited.device)
    packs = (triton.cdiv(instances * tours, TOURS), words)
    _packed[packs](unvisited, left, instances * tours, nodes, words, WORD, TOURS)
    resource = torch.empty(unvisited.shape, device=unvisited.device)
    bound, allowed = torch.empty_like(resource), torch.empty_like(unvisited)
    grid = (triton.cdiv(tours, TOURS), instances, triton.cdiv(nodes, LANES))
    sizes = (rule.tolerance, tours, nodes, words, nodes.bit_length(), rule.own, TOURS, LANES)
    facts = (known.increment, known.earliest, prepared.home, prepared.ranked, prepared.seen)
    at = (state.node.contiguous(), state.resource.contiguous(), left, unvisited)
    _one_step[grid](*facts, *at, resource, bound, allowed, *sizes)
    return Mask(resource, bound, allowed)


class Walk:
    """The look-ahead along a rollout of P tours per instance: every call is one step on from the call before.

    Where a tour stands at the depot, it begins anew.
    """

    def __init__(self, known: Table, tours: int, rule: MaskRule) -> None:
        assert rule.steps == 1, "the kernels look one step ahead"
        self._known, self._rule, self._home = known, rule, _home(known)
        self._ranked, order = _in_order(known)
        self._order = order.to(torch.int32)
        instances, nodes = known.latest.shape
        shape, device = (instances, tours, nodes), known.latest.device
        self._front = torch.zeros(shape, dtype=torch.int32, device=device)

    def __call__(self, state: State) -> Mask:
        """What the rule says of every candidate of the state reached."""
        unvisited = state.unvisited.contiguous()
        instances, tours, nodes = unvisited.shape
        resource = torch.empty(unvisited.shape, device=unvisited.device)
        bound, allowed = torch.empty_like(resource), torch.empty_like(unvisited)
        grid = (triton.cdiv(tours, TOURS), instances, triton.cdiv(nodes, LANES))
        facts = (self._known.increment, self._known.earliest, self._home, self._ranked, self._order)
        at = (state.node.contiguous(), state.resource.contiguous(), unvisited, self._front)
        sizes = (self._rule.tolerance, tours, nodes, self._rule.own, TOURS, LANES)
        _one_step_on[grid](*facts, *at, resource, bound, allowed, *sizes)
        return Mask(resource, bound, allowed)


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
    increment, earliest, home, ranked, seen, node, at_resource, left, unvisited, resource_out, bound_out, allowed_out,
    tolerance, P, N: tl.constexpr, W: tl.constexpr, PROBES: tl.constexpr, OWN: tl.constexpr,
    TOURS: tl.constexpr, LANES: tl.constexpr,
):  # fmt: skip
    """The resource and the bound of candidates, and whether they pass."""
    b = tl.program_id(1).to(tl.int64)
    i = tl.program_id(2) * LANES + tl.arange(0, LANES)
    inside = i < N
    i = tl.where(inside, i, 0)
    seen += b * N * N * W
    ranked += b * N * N
    lowest = tl.load(earliest + b * N + i)
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
        rise = tl.load(increment + (b * N + tl.load(node + tour)) * N + i)
        resource = tl.maximum(tl.load(at_resource + tour) + rise, lowest)
        out = tour * N + i
        is_left = tl.load(unvisited + out) != 0
        tl.store(resource_out + out, resource, mask=inside)
        tl.store(bound_out + out, bound, mask=inside)
        tl.store(allowed_out + out, is_left & (resource <= bound + tolerance), mask=inside)


@triton.jit
def _one_step_on(
    increment, earliest, home, ranked, order, node, at_resource, unvisited, front, resource_out, bound_out, allowed_out,
    tolerance, P, N: tl.constexpr, OWN: tl.constexpr, TOURS: tl.constexpr, LANES: tl.constexpr,
):  # fmt: skip
    """The same from the rank where each row of each tour stood, which only ever grows; the last is the row's own."""
    b = tl.program_id(1).to(tl.int64)
    i = tl.program_id(2) * LANES + tl.arange(0, LANES)
    inside = i < N
    i = tl.where(inside, i, 0)
    ranked += b * N * N
    order += b * N * N
    lowest = tl.load(earliest + b * N + i)
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
        rise = tl.load(increment + (b * N + here) * N + i)
        resource = tl.maximum(tl.load(at_resource + tour) + rise, lowest)
        is_left = tl.load(unvisited + out) != 0
        tl.store(resource_out + out, resource, mask=inside)
        tl.store(bound_out + out, bound, mask=inside)
        tl.store(allowed_out + out, is_left & (resource <= bound + tolerance), mask=inside)
