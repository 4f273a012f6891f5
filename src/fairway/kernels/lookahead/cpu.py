"""The look-ahead compiled for the CPU, afresh for any state or along one rollout, where a tour's step costs O(n).

Bit for bit the answers of the plain torch version: every sum and comparison is made in the table's own precision.
"""

from dataclasses import dataclass
from typing import no_type_check

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from numba import njit
from torch import Tensor

from fairway.kernels.lookahead.rule import Outlook, Rule
from fairway.kernels.lookahead.table import Table
from fairway.problems.problem import State


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """A table as numpy arrays laid out for the loops here, with every row of `latest` sorted once a batch."""

    lead: Float[np.ndarray, "B N N"]
    floor: Float[np.ndarray, "B N"]
    limit: Float[np.ndarray, "B N"]
    latest: Float[np.ndarray, "B N N"]
    """Column first, row second: one column for all candidates is contiguous, as in the table."""
    order: Int[np.ndarray, "B N N"]
    """The columns of each row from the least entry up; the diagonal, which is infinite, comes among the last."""
    ranked: Float[np.ndarray, "B N N"]
    """The entries of each row in that order."""

    def cap(self, rule: Rule) -> Float[np.ndarray, "B N"]:
        """What bounds each row whatever is left to visit: its own limit and the return, as far as the rule asks."""
        if rule.steps == 0:
            return self.limit
        if rule.own:
            return np.minimum(self.limit, self.latest[:, 0])
        return np.full_like(self.limit, np.inf)


def rows_of(known: Table) -> Rows:
    """Lay out a table in main memory; all but the rows of `lead` and their order is shared with it."""
    nodes = known.limit.shape[-1]
    # Two bytes a column keep the order of a row, and the heads of a tour, in the nearest cache.
    narrow = torch.int16 if nodes < 2**15 else torch.int32
    ranked, order = known.latest.contiguous().sort(dim=-1)
    return Rows(
        lead=known.lead.contiguous().numpy(),
        floor=known.floor.contiguous().numpy(),
        limit=known.limit.contiguous().numpy(),
        latest=known.latest.mT.contiguous().numpy(),
        order=order.to(narrow).numpy(),
        ranked=ranked.numpy(),
    )


def lookahead(rows: Rows, state: State, rule: Rule) -> Outlook:
    """What the rule says of every candidate, from this state alone, at O(n^2) a tour."""
    unvisited = _array(state.unvisited)
    least, where = _heads(rows, unvisited.shape, rule)
    if rule.steps == 1:
        _least(rows.latest, unvisited, least)
    elif rule.steps == 2:
        _two_least(rows.latest, unvisited, least, where)
    return _outlook(rows, state, rule, least, where)


class Walk:
    """The look-ahead along one rollout of P tours an instance, at O(n) a step where the rule looks one step ahead.

    Each row keeps a head on its least entry still to visit, which only ever moves on, over columns that have been
    visited. That is right only while the unvisited nodes shrink: every call must be one `step` on from the call
    before, which is asserted. The first call may stand anywhere; one with all of tour 0 to visit begins anew.
    """

    def __init__(self, rows: Rows, tours: int, rule: Rule) -> None:
        instances, nodes = rows.limit.shape
        shape = (instances, tours, nodes)
        self._rows, self._rule = rows, rule
        self._begun = False
        self._left = np.empty(shape, bool)
        self._place = np.empty(shape, rows.order.dtype)
        self._least, self._where = _heads(rows, shape, rule)

    def __call__(self, state: State) -> Outlook:
        """What the rule says of every candidate of the state reached."""
        node, unvisited = _array(state.node), _array(state.unvisited)
        shape, expected = unvisited.shape, self._left.shape
        assert shape == expected, f"a walk over {expected} was given a state over {shape}"
        anew = not self._begun or bool(unvisited[0, 0, 1:].all())
        if anew:
            self._left[:] = unvisited
            self._begun = True
        else:
            stepped = _strike_off(self._left, node, unvisited)
            assert stepped, (
                "a walk goes on by one step a call; this state is not one step on from the last"
            )
        if self._rule.steps:
            heads = (self._place, self._where, self._least)
            _move_on(self._rows.order, self._rows.ranked, node, unvisited, anew, *heads)
        return _outlook(self._rows, state, self._rule, self._least, self._where)


def _heads(
    rows: Rows, shape: tuple[int, ...], rule: Rule
) -> tuple[Float[np.ndarray, "H B P N"], Int[np.ndarray, "H B P N"]]:
    """The least entries of each row and their columns, one for each step of look-ahead, before anything is known."""
    heads = (max(rule.steps, 1), *shape)
    return np.full(heads, np.inf, rows.limit.dtype), np.full(heads, -1, rows.order.dtype)


def _outlook(
    rows: Rows,
    state: State,
    rule: Rule,
    least: Float[np.ndarray, "H B P N"],
    where: Int[np.ndarray, "H B P N"],
) -> Outlook:
    """The answer, given the least entries of each row still to visit and their columns."""
    precision = rows.limit.dtype
    # Torch rounds a number to the precision of the tensor it is added to; numba would widen the tensor instead.
    tolerance = precision.type(rule.tolerance)
    node, now, unvisited = _array(state.node), _array(state.level), _array(state.unvisited)
    assert now.dtype == precision, f"levels are {now.dtype}, the table is {precision}"
    level, bound = np.empty(unvisited.shape, precision), np.empty(unvisited.shape, precision)
    allowed = np.empty(unvisited.shape, bool)
    cap = rows.cap(rule)
    here = (node, now, unvisited)
    _one_step(rows.lead, rows.floor, cap, *here, tolerance, least, level, bound, allowed)
    if rule.steps == 2:
        _second_step(rows.lead, rows.floor, cap, unvisited, tolerance, least, where, level, allowed)
    return Outlook(torch.from_numpy(level), torch.from_numpy(bound), torch.from_numpy(allowed))


def _array(tensor: Tensor) -> np.ndarray:
    """The tensor's own memory, in the one layout for which the loops are compiled."""
    return tensor.contiguous().numpy()


@njit(cache=True)
@no_type_check
def _least(
    latest: Float[np.ndarray, "B N N"],
    unvisited: Bool[np.ndarray, "B P N"],
    least: Float[np.ndarray, "H B P N"],
) -> None:
    """Lower each row to its least entry among the columns left."""
    instances, tours, nodes = unvisited.shape
    for b in range(instances):
        for p in range(tours):
            for k in range(nodes):
                if unvisited[b, p, k]:
                    for i in range(nodes):
                        entry, first = latest[b, k, i], least[0, b, p, i]
                        least[0, b, p, i] = entry if entry < first else first


@njit(cache=True)
@no_type_check
def _two_least(
    latest: Float[np.ndarray, "B N N"],
    unvisited: Bool[np.ndarray, "B P N"],
    least: Float[np.ndarray, "H B P N"],
    where: Int[np.ndarray, "H B P N"],
) -> None:
    """Lower each row to its two least entries among the columns left, and note the column of the first."""
    instances, tours, nodes = unvisited.shape
    for b in range(instances):
        for p in range(tours):
            for k in range(nodes):
                if unvisited[b, p, k]:
                    for i in range(nodes):
                        entry, first, second = latest[b, k, i], least[0, b, p, i], least[1, b, p, i]
                        ahead = entry < first
                        behind = first if ahead else entry
                        least[0, b, p, i] = entry if ahead else first
                        least[1, b, p, i] = behind if behind < second else second
                        where[0, b, p, i] = k if ahead else where[0, b, p, i]


@njit(cache=True)
@no_type_check
def _strike_off(
    left: Bool[np.ndarray, "B P N"],
    node: Int[np.ndarray, "B P"],
    unvisited: Bool[np.ndarray, "B P N"],
) -> bool:
    """Take the last node of every tour off what was left; False, and nothing done, where that is not the state."""
    instances, tours, nodes = unvisited.shape
    for b in range(instances):
        for p in range(tours):
            changed = 0
            for k in range(nodes):
                changed += left[b, p, k] != unvisited[b, p, k]
            visited = node[b, p]
            if changed != 1 or not left[b, p, visited] or unvisited[b, p, visited]:
                return False
    for b in range(instances):
        for p in range(tours):
            left[b, p, node[b, p]] = False
    return True


@njit(cache=True)
@no_type_check
def _move_on(
    order: Int[np.ndarray, "B N N"],
    ranked: Float[np.ndarray, "B N N"],
    node: Int[np.ndarray, "B P"],
    unvisited: Bool[np.ndarray, "B P N"],
    anew: bool,
    place: Int[np.ndarray, "B P N"],
    where: Int[np.ndarray, "H B P N"],
    least: Float[np.ndarray, "H B P N"],
) -> None:
    """Move the heads of each row off the node just visited, or set all of them from the front of the row."""
    heads, instances, tours, nodes = least.shape
    last = heads - 1
    for b in range(instances):
        for p in range(tours):
            for i in range(nodes):
                if anew:
                    place[b, p, i] = -1
                    for h in range(heads):
                        _seek(order, ranked, unvisited, place, where, least, (h, b, p, i))
                elif where[last, b, p, i] == node[b, p]:
                    _seek(order, ranked, unvisited, place, where, least, (last, b, p, i))
                elif where[0, b, p, i] == node[b, p]:
                    where[0, b, p, i] = where[last, b, p, i]
                    least[0, b, p, i] = least[last, b, p, i]
                    _seek(order, ranked, unvisited, place, where, least, (last, b, p, i))


@njit(cache=True)
@no_type_check
def _seek(
    order: Int[np.ndarray, "B N N"],
    ranked: Float[np.ndarray, "B N N"],
    unvisited: Bool[np.ndarray, "B P N"],
    place: Int[np.ndarray, "B P N"],
    where: Int[np.ndarray, "H B P N"],
    least: Float[np.ndarray, "H B P N"],
    head: tuple[int, int, int, int],
) -> None:
    """Set a head on the next column to visit after the place of its row, or past the end where there is none."""
    _, b, p, i = head
    nodes = unvisited.shape[-1]
    at = place[b, p, i] + 1
    while at < nodes and not unvisited[b, p, order[b, i, at]]:
        at += 1
    place[b, p, i] = min(at, nodes)
    where[head] = order[b, i, at] if at < nodes else -1
    least[head] = ranked[b, i, at] if at < nodes else np.inf


@njit(cache=True)
@no_type_check
def _one_step(
    lead: Float[np.ndarray, "B N N"],
    floor: Float[np.ndarray, "B N"],
    cap: Float[np.ndarray, "B N"],
    node: Int[np.ndarray, "B P"],
    now: Float[np.ndarray, "B P"],
    unvisited: Bool[np.ndarray, "B P N"],
    tolerance: float,
    least: Float[np.ndarray, "H B P N"],
    level: Float[np.ndarray, "B P N"],
    bound: Float[np.ndarray, "B P N"],
    allowed: Bool[np.ndarray, "B P N"],
) -> None:
    """The level and the bound of every node, and which candidates keep theirs."""
    instances, tours, nodes = unvisited.shape
    for b in range(instances):
        for p in range(tours):
            here = node[b, p]
            for i in range(nodes):
                arrival = now[b, p] + lead[b, here, i]
                served = arrival if arrival > floor[b, i] else floor[b, i]
                first = least[0, b, p, i]
                most = first if first < cap[b, i] else cap[b, i]
                level[b, p, i] = served
                bound[b, p, i] = most
                allowed[b, p, i] = unvisited[b, p, i] & (served <= most + tolerance)


@njit(cache=True)
@no_type_check
def _second_step(
    lead: Float[np.ndarray, "B N N"],
    floor: Float[np.ndarray, "B N"],
    cap: Float[np.ndarray, "B N"],
    unvisited: Bool[np.ndarray, "B P N"],
    tolerance: float,
    least: Float[np.ndarray, "H B P N"],
    where: Int[np.ndarray, "H B P N"],
    level: Float[np.ndarray, "B P N"],
    allowed: Bool[np.ndarray, "B P N"],
) -> None:
    """Strike out the candidates that no other can follow in time; the last one left needs no follower."""
    instances, tours, nodes = unvisited.shape
    # The highest level, tolerance included, at which each node can follow, and at which it can follow a candidate
    # that is the first thing it would have to leave time for.
    usual, instead = np.empty_like(cap[0]), np.empty_like(cap[0])
    for b in range(instances):
        for p in range(tours):
            left = 0
            for j in range(nodes):
                left += unvisited[b, p, j]
                first, second = least[0, b, p, j], least[1, b, p, j]
                first = first if first < cap[b, j] else cap[b, j]
                second = second if second < cap[b, j] else cap[b, j]
                usual[j] = first + tolerance if unvisited[b, p, j] else -np.inf
                instead[j] = second + tolerance if unvisited[b, p, j] else -np.inf
            for i in range(nodes):
                if allowed[b, p, i] and left > 1:
                    follows = 0
                    for j in range(nodes):
                        arrival = level[b, p, i] + lead[b, i, j]
                        served = arrival if arrival > floor[b, j] else floor[b, j]
                        most = instead[j] if where[0, b, p, j] == i else usual[j]
                        follows |= (served <= most) & (j != i)
                    allowed[b, p, i] = follows != 0
