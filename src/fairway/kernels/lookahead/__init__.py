"""The look-ahead: which candidates for the next stop can be part of a tour that keeps every limit.

`reference` is the definition; `dense` (torch, any device) and, for one step at most, `cpu` (numba) and `gpu` (Triton)
must equal it; `due_dates` is the exact answer for draft limits; `side` keeps side constraints; `preprocessing` says
more about an instance before any tour begins.
"""

import torch

from fairway.kernels.lookahead import cpu, dense
from fairway.kernels.lookahead.config import AUTHORS as AUTHORS
from fairway.kernels.lookahead.config import PAIRS as PAIRS
from fairway.kernels.lookahead.config import Mask as Mask
from fairway.kernels.lookahead.config import MaskConfig as MaskConfig
from fairway.kernels.lookahead.config import MaskFn as MaskFn
from fairway.kernels.lookahead.config import MaskRule as MaskRule
from fairway.kernels.lookahead.due_dates import due_date_order, exact
from fairway.kernels.lookahead.table import Table, table
from fairway.problems.batch import Batch
from fairway.problems.problem import State

RANKS_AT_MOST = 8 * 2**30
"""Bytes of a GPU's memory that sorted rows may take; beyond, the plain version serves."""


def ahead(batch: Batch, rule: MaskRule | None = None) -> MaskFn:
    """The look-ahead of a rule, by default one step and strict, in the fastest version for the batch's device.

    The second step, which only tables of the paper ask for, is plain torch everywhere.
    """
    asked = rule or MaskRule()
    known = table(batch, asked)
    if known.latest.device.type == "cpu" and asked.steps < 2:
        rows = cpu.rows_of(known)
        return lambda state: cpu.lookahead(rows, state, asked)
    if _in_triton(known, asked):
        from fairway.kernels.lookahead import gpu

        if len(known.latest) * gpu.ranks_size(known.latest.shape[1]) <= RANKS_AT_MOST:
            prepared, lowered = gpu.ranks(known), dense.by_twos(known, asked)
            return lambda state: lowered(state, gpu.lookahead(prepared, state, asked))
    return lambda state: dense.lookahead(known, state, asked)


def along(batch: Batch, tours: int, rule: MaskRule | None = None) -> MaskFn:
    """The look-ahead for one rollout of `tours` tours per instance, to be called at every step of it, in order.

    It keeps its place from step to step, which makes a whole tour cost what a few masks cost otherwise.
    """
    asked = rule or MaskRule()
    known = table(batch, asked)
    if known.latest.device.type == "cpu" and asked.steps < 2:
        return cpu.Walk(cpu.rows_of(known), tours, asked)
    if _in_triton(known, asked):
        from fairway.kernels.lookahead import gpu

        walk, lowered = gpu.Walk(known, tours, asked), dense.by_twos(known, asked)
        return lambda state: lowered(state, walk(state))
    return lambda state: dense.lookahead(known, state, asked)


def _in_triton(known: Table, rule: MaskRule) -> bool:
    return rule.steps == 1 and known.latest.is_cuda and known.latest.dtype == torch.float32


def complete(batch: Batch) -> MaskFn:
    """The exact look-ahead for draft limits, under which no tour of a feasible instance can fail."""
    known = due_date_order(batch)
    return lambda state: exact(known, state)


def strongest(batch: Batch) -> MaskFn:
    """The exact look-ahead where there is one, else that of the strict rule of one step."""
    return complete(batch) if batch.by_set else ahead(batch)


def none(batch: Batch) -> MaskFn:
    """No look-ahead: every unvisited node is allowed."""
    known = table(batch)

    def look(state: State) -> Mask:
        resource = dense.candidate_resources(known, state)
        return Mask(resource, torch.full_like(resource, torch.inf), state.unvisited)

    return look
