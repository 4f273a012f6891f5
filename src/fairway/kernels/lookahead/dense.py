"""The look-ahead in plain torch, for any device: row minima over what is left, in slices that fit memory."""

from collections.abc import Callable, Iterator

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor

from fairway.kernels.lookahead.config import Mask, MaskRule
from fairway.kernels.lookahead.orders import Pairs
from fairway.kernels.lookahead.table import Table, depot_column
from fairway.problems.batch import rows
from fairway.problems.problem import State

PAIRS = 2**25
"""How many pairs of nodes are held at a time."""


def lookahead(known: Table, state: State, rule: MaskRule) -> Mask:
    """What the rule says of every candidate."""
    resource = candidate_resources(known, state)
    own = known.latest[:, None, :].expand_as(resource)
    if rule.steps == 0:
        return Mask(resource, own, state.unvisited & (resource <= own + rule.tolerance))
    to_reach = depot_column(state.unvisited) if rule.own else state.unvisited
    nearest = row_minima(known.cutoff, to_reach)
    bound = torch.minimum(nearest, own) if rule.own else nearest
    allowed = state.unvisited & (resource <= bound + rule.tolerance)
    if rule.steps == 2:
        allowed &= goes_on(known, state.unvisited, resource, rule)
    return by_twos(known, rule)(state, Mask(resource, bound, allowed))


def by_twos(known: Table, rule: MaskRule) -> Callable[[State, Mask], Mask]:
    """What the rule says where it asks about pairs too, from what it says of single nodes."""
    if known.pairs is None:
        return lambda _, single: single
    ends, asked = known.pairs.nodes.unbind(1), asked_by(known.pairs, known.cutoff)

    def lowered(state: State, single: Mask) -> Mask:
        one, other = (_along(state.unvisited, nodes) for nodes in ends)
        bound = torch.minimum(single.bound, row_minima(asked, one & other))
        allowed = state.unvisited & (single.resource <= bound + rule.tolerance)
        return Mask(single.resource, bound, allowed)

    return lowered


def candidate_resources(known: Table, state: State) -> Float[Tensor, "B P N"]:
    """The resource with which each node would be served next."""
    increment = known.increment[rows(state.node), state.node]
    return torch.maximum(state.resource[..., None] + increment, known.earliest[:, None, :])


def row_minima(
    cutoff: Float[Tensor, "B N K"], to_reach: Bool[Tensor, "B P K"]
) -> Float[Tensor, "B P N"]:
    """For each row the least entry among the columns still to reach."""
    parts = [
        cutoff[:, None].masked_fill(~to_reach[:, part, None, :], torch.inf).amin(-1)
        for part in _slices(to_reach)
    ]
    return torch.cat(parts, dim=1)


def asked_by(pairs: Pairs, cutoff: Float[Tensor, "B N N"]) -> Float[Tensor, "B N Q"]:
    """The highest resource at each row that reaches one node of a pair as much sooner as the other asks for."""
    one, other = (
        _along(cutoff, nodes) - sooner[:, None]
        for nodes, sooner in zip(pairs.nodes.unbind(1), pairs.sooner.unbind(1), strict=True)
    )
    return torch.maximum(one, other)


def _along(whole: Shaped[Tensor, "B R N"], nodes: Int[Tensor, "B Q"]) -> Shaped[Tensor, "B R Q"]:
    return whole.gather(2, nodes[:, None, :].expand(-1, whole.shape[1], -1))


def goes_on(
    known: Table, unvisited: Bool[Tensor, "B P N"], resource: Float[Tensor, "B P N"], rule: MaskRule
) -> Bool[Tensor, "B P N"]:
    """Which candidates can be followed by one that still leaves everything else in time; true for the last one.

    Of each row the two least entries are enough: the second stands in where the first is the candidate's own.
    """
    parts = []
    for part in _slices(unvisited):
        left = unvisited[:, part]
        least, second, where = _two_least(known.cutoff, left)
        after = resource[:, part, :, None] + known.increment[:, None]
        after = torch.maximum(after, known.earliest[:, None, None, :])
        node = torch.arange(left.shape[-1], device=left.device)
        mine = where[:, :, None, :] == node[:, None]
        bound = torch.where(mine, second[:, :, None, :], least[:, :, None, :])
        if rule.own:
            back = torch.minimum(known.latest, known.cutoff[:, :, 0])
            bound = torch.minimum(bound, back[:, None, None, :])
        follows = (after <= bound + rule.tolerance) & left[:, :, None, :] & (node[:, None] != node)
        parts.append(follows.any(-1) | (left.sum(-1, keepdim=True) <= 1))
    return torch.cat(parts, dim=1)


def _two_least(
    cutoff: Float[Tensor, "B N N"], left: Bool[Tensor, "B P N"]
) -> tuple[Float[Tensor, "B P N"], Float[Tensor, "B P N"], Int[Tensor, "B P N"]]:
    """Of each row the least entry among the nodes left, the second least, and the column of the least."""
    open_entries = cutoff[:, None].masked_fill(~left[:, :, None, :], torch.inf)
    least, where = open_entries.min(-1)
    second = open_entries.scatter(-1, where[..., None], torch.inf).amin(-1)
    return least, second, where


def _slices(unvisited: Bool[Tensor, "B P N"]) -> Iterator[slice]:
    instances, tours, nodes = unvisited.shape
    at_a_time = max(1, PAIRS // (instances * nodes * nodes))
    return (slice(first, first + at_a_time) for first in range(0, tours, at_a_time))
