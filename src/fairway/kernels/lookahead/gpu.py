"""The look-ahead in Triton: all masks of a step in one launch, two more for the second step.

A program holds a tile of tours by candidates in registers and goes through the columns of the table, each of which
it reads once for all its tours.
"""

import torch
import triton
import triton.language as tl

from fairway.kernels.lookahead.rule import Outlook, Rule
from fairway.kernels.lookahead.table import Table
from fairway.problems.problem import State

TILE = 4096
"""Pairs of tour and candidate in one program: 32 registers for each of 128 threads."""
MOST_CANDIDATES = 128
"""Of a tile; more candidates go to more programs."""


def lookahead(known: Table, state: State, rule: Rule) -> Outlook:
    """What the rule says of every candidate; one or two steps, float32."""
    assert rule.steps > 0, "without a step ahead there is nothing to minimise over"
    assert known.latest.dtype == torch.float32, "the kernels compute in float32"
    unvisited = state.unvisited.contiguous()
    instances, tours, nodes = unvisited.shape
    level = torch.empty(unvisited.shape, device=unvisited.device)
    bound, allowed = torch.empty_like(level), torch.empty_like(unvisited)
    candidates = min(MOST_CANDIDATES, triton.next_power_of_2(nodes))
    at_a_time = min(TILE // candidates, triton.next_power_of_2(tours))
    grid = (instances, triton.cdiv(tours, at_a_time), triton.cdiv(nodes, candidates))
    sizes = (tours, nodes, rule.tolerance, rule.own, at_a_time, candidates)
    latest = known.latest.mT
    assert latest.is_contiguous(), "a table holds its columns together"
    facts = (known.floor.contiguous(), known.limit.contiguous(), latest)
    at = (state.node.contiguous(), state.level.contiguous(), unvisited)
    _one_step[grid](known.lead, *facts, *at, level, bound, allowed, *sizes)
    if rule.steps == 2:
        least = torch.empty(instances, nodes, tours, device=level.device)
        second, where = torch.empty_like(least), torch.empty_like(least, dtype=torch.int32)
        _two_least[grid](latest, unvisited, least, second, where, *sizes)
        by_column = known.lead.mT.contiguous()
        _goes_on[grid](by_column, *facts, unvisited, level, least, second, where, allowed, *sizes)
    return Outlook(level, bound, allowed)


@triton.jit
def _one_step(
    lead, floor, limit, latest, node, at_level, unvisited, level_out, bound_out, allowed_out,
    P, N, tolerance, OWN: tl.constexpr, TOURS: tl.constexpr, CANDIDATES: tl.constexpr,
):  # fmt: skip
    """The level and the bound of a tile of candidates, and whether they pass."""
    b = tl.program_id(0).to(tl.int64)
    p = tl.program_id(1) * TOURS + tl.arange(0, TOURS)
    i = tl.program_id(2) * CANDIDATES + tl.arange(0, CANDIDATES)
    tour = b * P + p
    bound = tl.full((TOURS, CANDIDATES), float("inf"), tl.float32)
    for k in range(N):
        column = tl.load(latest + (b * N + k) * N + i, mask=i < N, other=float("inf"))
        to_reach = tl.load(unvisited + tour * N + k, mask=p < P, other=0) != 0
        if OWN:
            to_reach = to_reach | (k == 0)
        closed = tl.where(to_reach, 0.0, float("inf"))
        bound = tl.minimum(bound, column[None, :] + closed[:, None])
    if OWN:
        own = tl.load(limit + b * N + i, mask=i < N, other=float("inf"))
        bound = tl.minimum(bound, own[None, :])
    here = tl.load(node + tour, mask=p < P, other=0)
    before = tl.load(at_level + tour, mask=p < P, other=0.0)
    inside = (p < P)[:, None] & (i < N)[None, :]
    rise = tl.load(lead + (b * N + here)[:, None] * N + i[None, :], mask=inside, other=0.0)
    lowest = tl.load(floor + b * N + i, mask=i < N, other=0.0)
    level = tl.maximum(before[:, None] + rise, lowest[None, :])
    cell = tour[:, None] * N + i[None, :]
    left = tl.load(unvisited + cell, mask=inside, other=0) != 0
    tl.store(level_out + cell, level, mask=inside)
    tl.store(bound_out + cell, bound, mask=inside)
    tl.store(allowed_out + cell, left & (level <= bound + tolerance), mask=inside)


@triton.jit
def _two_least(
    latest, unvisited, least_out, second_out, where_out,
    P, N, tolerance, OWN: tl.constexpr, TOURS: tl.constexpr, CANDIDATES: tl.constexpr,
):  # fmt: skip
    """Of each row the least entry among the nodes left, the second least, and the column of the least."""
    b = tl.program_id(0).to(tl.int64)
    p = tl.program_id(1) * TOURS + tl.arange(0, TOURS)
    j = tl.program_id(2) * CANDIDATES + tl.arange(0, CANDIDATES)
    tour = b * P + p
    least = tl.full((TOURS, CANDIDATES), float("inf"), tl.float32)
    second = tl.full((TOURS, CANDIDATES), float("inf"), tl.float32)
    where = tl.full((TOURS, CANDIDATES), -1, tl.int32)
    for k in range(N):
        column = tl.load(latest + (b * N + k) * N + j, mask=j < N, other=float("inf"))
        left = tl.load(unvisited + tour * N + k, mask=p < P, other=0) != 0
        entry = column[None, :] + tl.where(left, 0.0, float("inf"))[:, None]
        lower = entry < least
        second = tl.where(lower, least, tl.minimum(second, entry))
        where = tl.where(lower, k, where)
        least = tl.minimum(least, entry)
    inside = (p < P)[:, None] & (j < N)[None, :]
    cell = (b * N + j)[None, :] * P + p[:, None]
    tl.store(least_out + cell, least, mask=inside)
    tl.store(second_out + cell, second, mask=inside)
    tl.store(where_out + cell, where, mask=inside)


@triton.jit
def _goes_on(
    lead, floor, limit, latest, unvisited, level_in, least_in, second_in, where_in, allowed_out,
    P, N, tolerance, OWN: tl.constexpr, TOURS: tl.constexpr, CANDIDATES: tl.constexpr,
):  # fmt: skip
    """Take away the candidates that nothing can follow, unless they are the last."""
    b = tl.program_id(0).to(tl.int64)
    p = tl.program_id(1) * TOURS + tl.arange(0, TOURS)
    i = tl.program_id(2) * CANDIDATES + tl.arange(0, CANDIDATES)
    tour = b * P + p
    inside = (p < P)[:, None] & (i < N)[None, :]
    cell = tour[:, None] * N + i[None, :]
    level = tl.load(level_in + cell, mask=inside, other=float("inf"))
    follows = tl.zeros((TOURS, CANDIDATES), tl.int1)
    number_left = tl.zeros((TOURS,), tl.int32)
    for j in range(N):
        left = tl.load(unvisited + tour * N + j, mask=p < P, other=0) != 0
        number_left += left.to(tl.int32)
        rise = tl.load(lead + (b * N + j) * N + i, mask=i < N, other=float("inf"))
        after = tl.maximum(level + rise[None, :], tl.load(floor + b * N + j))
        row = (b * N + j) * P + p
        least = tl.load(least_in + row, mask=p < P, other=0.0)
        second = tl.load(second_in + row, mask=p < P, other=0.0)
        where = tl.load(where_in + row, mask=p < P, other=-1)
        bound = tl.where(where[:, None] == i[None, :], second[:, None], least[:, None])
        if OWN:
            back = tl.minimum(tl.load(limit + b * N + j), tl.load(latest + b * N * N + j))
            bound = tl.minimum(bound, back)
        follows = follows | ((after <= bound + tolerance) & left[:, None] & (i != j)[None, :])
    passes = tl.load(allowed_out + cell, mask=inside, other=0) != 0
    kept = passes & (follows | (number_left <= 1)[:, None])
    tl.store(allowed_out + cell, kept, mask=inside)
