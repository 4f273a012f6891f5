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
            here, resource = int(state.node[b, p]), state.resource[b, p]
            for i in left:
                allowed[b, p, i] = passes(
                    known, b, i, extended(known, b, resource, here, i), left, rule
                )
    return allowed


def passes(known: Table, b: int, i: int, resource: Tensor, left: list[int], rule: MaskRule) -> bool:
    """Whether candidate i of instance b, served at `resource` with these nodes left, passes."""
    others = [k for k in left if k != i]
    if rule.steps == 0:
        return in_time(known, b, i, resource, rule)
    if rule.own and not (
        in_time(known, b, i, resource, rule) and leaves(known, b, i, resource, 0, rule)
    ):
        return False
    if not all(leaves(known, b, i, resource, k, rule) for k in others):
        return False
    if not pairs_fit(known, b, i, resource, others, rule):
        return False
    if rule.steps == 1 or not others:
        return True
    return any(
        next_passes(known, b, extended(known, b, resource, i, j), j, others, rule) for j in others
    )


def pairs_fit(
    known: Table, b: int, i: int, resource: Tensor, others: list[int], rule: MaskRule
) -> bool:
    """Whether of every two nodes that bind together one can be reached sooner by what the other asks for."""
    if known.pairs is None:
        return True
    for (one, other), (first, second) in zip(
        known.pairs.nodes[b].T.tolist(), known.pairs.sooner[b].T, strict=True
    ):
        if one in others and other in others:
            bound = torch.maximum(
                known.cutoff[b, i, one] - first, known.cutoff[b, i, other] - second
            )
            if not resource <= bound + rule.tolerance:
                return False
    return True


def next_passes(
    known: Table, b: int, resource: Tensor, j: int, left: list[int], rule: MaskRule
) -> bool:
    """Whether going on to j, served at `resource`, leaves everything else in time: the second step."""
    if rule.own and not (
        in_time(known, b, j, resource, rule) and leaves(known, b, j, resource, 0, rule)
    ):
        return False
    return all(leaves(known, b, j, resource, k, rule) for k in left if k != j)


def extended(known: Table, b: int, resource: Tensor, here: int, there: int) -> Tensor:
    """The resource on being served at `there`, coming straight from `here`."""
    return torch.maximum(resource + known.increment[b, here, there], known.earliest[b, there])


def in_time(known: Table, b: int, i: int, resource: Tensor, rule: MaskRule) -> bool:
    """Whether i itself is within its limit."""
    return bool(resource <= known.latest[b, i] + rule.tolerance)


def leaves(known: Table, b: int, i: int, resource: Tensor, k: int, rule: MaskRule) -> bool:
    """Whether k can still be reached in time by a tour that is served at i at `resource`."""
    return bool(resource <= known.cutoff[b, i, k] + rule.tolerance)
