"""The definition of the look-ahead, one candidate at a time, to be read rather than run."""

import torch
from jaxtyping import Bool
from torch import Tensor

from fairway.kernels.lookahead.config import MaskRule
from fairway.kernels.lookahead.table import Table, table
from fairway.problems.batch import Batch
from fairway.problems.problem import State


def lookahead(batch: Batch, state: State, rule: MaskRule) -> Bool[Tensor, "B P N"]:
    """Which candidates the rule allows: True = allowed."""
    known = table(batch, rule)
    allowed = torch.zeros_like(state.unvisited)
    instances, tours, _ = allowed.shape
    for b in range(instances):
        for p in range(tours):
            left = state.unvisited[b, p].nonzero().flatten().tolist()
            here, level = int(state.node[b, p]), state.level[b, p]
            for i in left:
                allowed[b, p, i] = passes(
                    known, b, i, extended(known, b, level, here, i), left, rule
                )
    return allowed


def passes(known: Table, b: int, i: int, level: Tensor, left: list[int], rule: MaskRule) -> bool:
    """Whether candidate i of instance b, served at `level` with these nodes left, passes."""
    others = [k for k in left if k != i]
    if rule.steps == 0:
        return in_time(known, b, i, level, rule)
    if rule.own and not (in_time(known, b, i, level, rule) and leaves(known, b, i, level, 0, rule)):
        return False
    if not all(leaves(known, b, i, level, k, rule) for k in others):
        return False
    if not pairs_fit(known, b, i, level, others, rule):
        return False
    if rule.steps == 1 or not others:
        return True
    return any(
        next_passes(known, b, extended(known, b, level, i, j), j, others, rule) for j in others
    )


def pairs_fit(
    known: Table, b: int, i: int, level: Tensor, others: list[int], rule: MaskRule
) -> bool:
    """Whether of every two nodes that bind together one can be reached sooner by what the other asks for."""
    if known.pairs is None:
        return True
    for (one, other), (first, second) in zip(
        known.pairs.nodes[b].T.tolist(), known.pairs.sooner[b].T, strict=True
    ):
        if one in others and other in others:
            bound = torch.maximum(
                known.latest[b, i, one] - first, known.latest[b, i, other] - second
            )
            if not level <= bound + rule.tolerance:
                return False
    return True


def next_passes(
    known: Table, b: int, level: Tensor, j: int, left: list[int], rule: MaskRule
) -> bool:
    """Whether going on to j, served at `level`, leaves everything else in time: the second step."""
    if rule.own and not (in_time(known, b, j, level, rule) and leaves(known, b, j, level, 0, rule)):
        return False
    return all(leaves(known, b, j, level, k, rule) for k in left if k != j)


def extended(known: Table, b: int, level: Tensor, here: int, there: int) -> Tensor:
    """The level on being served at `there`, coming straight from `here`."""
    return torch.maximum(level + known.lead[b, here, there], known.floor[b, there])


def in_time(known: Table, b: int, i: int, level: Tensor, rule: MaskRule) -> bool:
    """Whether i itself is within its limit."""
    return bool(level <= known.limit[b, i] + rule.tolerance)


def leaves(known: Table, b: int, i: int, level: Tensor, k: int, rule: MaskRule) -> bool:
    """Whether k can still be reached in time by a tour that is served at i at `level`."""
    return bool(level <= known.latest[b, i, k] + rule.tolerance)
