"""The look-ahead compiled for the CPU: afresh for any state, or along one rollout, where a step costs O(n) a tour.

Bit for bit the answers of the plain torch version: every sum and comparison is made in the table's own precision.
The loops run on one core and let go of Python's lock, so threads can share out instances.
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

Left = Bool[np.ndarray, "B P N"]
Node = Int[np.ndarray, "B P"]
Level = Float[np.ndarray, "B P"]
Place = Int[np.ndarray, "B P N"]
"""Where in its order the last head of a row stands; a head before it needs only its entry and column."""
Order = tuple[Int[np.ndarray, "B N N"], Float[np.ndarray, "B N N"]]
"""The columns of each row in the order of their entries, and those entries."""
Heads = tuple[Float[np.ndarray, "H B P N"], Int[np.ndarray, "H B P N"]]
"""The least entries of each row among the columns left, one for each step of look-ahead, and their columns."""
Law = tuple[Float[np.ndarray, "B N N"], Float[np.ndarray, "B N"], Float[np.ndarray, "B N"], float]
"""Lead, floor, what bounds a node whatever is left to visit, and the tolerance."""
Answer = tuple[Float[np.ndarray, "B P N"], Float[np.ndarray, "B P N"], Bool[np.ndarray, "B P N"]]
"""Level, bound and allowed, as in an Outlook."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """A table as numpy arrays laid out for the loops here, with every row of `latest` sorted once a batch."""

    lead: Float[np.ndarray, "B N N"]
    floor: Float[np.ndarray, "B N"]
    limit: Float[np.ndarray, "B N"]
    latest: Float[np.ndarray, "B N N"]
    """Column first, row second: one column for all candidates is contiguous, as in the table."""
    order: Int[np.ndarray, "B N N"]
    """The columns of each row from the least entry up; the diagonal, being infinite, stands at the end."""
    ranked: Float[np.ndarray, "B N N"]
    """The entries of each row in that order."""

    def cap(self, rule: Rule) -> Float[np.ndarray, "B N"]:
        """What bounds a node whatever is left to visit: its own limit and the return, as far as the rule asks."""
        if rule.steps == 0:
            return self.limit
        if rule.own:
            return np.minimum(self.limit, self.latest[:, 0])
        return np.full_like(self.limit, np.inf)


def rows_of(known: Table) -> Rows:
    """Lay out a table in main memory; the columns of `latest`, the floors and the limits are shared with it."""
    # Two bytes a column rather than eight: a walk is bound by how much of the order its caches hold.
    narrow = torch.int16 if known.limit.shape[-1] < 2**15 else torch.int32
    ranked, order = known.latest.contiguous().sort(dim=-1)
    fields = (known.lead, known.floor, known.limit, known.latest.mT, order.to(narrow), ranked)
    return Rows(*map(_array, fields))


def lookahead(rows: Rows, state: State, rule: Rule) -> Outlook:
    """What the rule says of every candidate, from this state alone, at O(n^2) a tour."""
    unvisited = _array(state.unvisited)
    heads = _heads(rows, unvisited.shape, rule)
    if rule.steps == 1:
        _least(rows.latest, unvisited, heads)
    elif rule.steps == 2:
        _two_least(rows.latest, unvisited, heads)
    return _outlook(rows, state, rule, heads)


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
        self._heads = _heads(rows, shape, rule)
        self._place = np.empty(shape, rows.order.dtype)
        self._left = np.empty(shape, bool)
        self._begun = False

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
            one_on = _strike_off(self._left, node, unvisited)
            assert one_on, "each call of a walk is one step on from the call before; this is not"
        if self._rule.steps > 0:
            order = (self._rows.order, self._rows.ranked)
            _move_on(order, node, unvisited, anew, self._place, self._heads)
        return _outlook(self._rows, state, self._rule, self._heads)


def _heads(rows: Rows, shape: tuple[int, ...], rule: Rule) -> Heads:
    """Heads that stand on nothing, so that they bound nothing: what a rule of no steps is left with."""
    heads = (max(rule.steps, 1), *shape)
    return np.full(heads, np.inf, rows.limit.dtype), np.full(heads, -1, rows.order.dtype)


def _outlook(rows: Rows, state: State, rule: Rule, heads: Heads) -> Outlook:
    """The answer, once the heads stand where they should."""
    precision = rows.limit.dtype
    now, unvisited = _array(state.level), _array(state.unvisited)
    assert now.dtype == precision, f"the levels are {now.dtype} and the table {precision}"
    # Torch rounds a number to the precision of the tensor it is added to; numba would widen the tensor instead.
    law = (rows.lead, rows.floor, rows.cap(rule), precision.type(rule.tolerance))
    shape = unvisited.shape
    answer = (np.empty(shape, precision), np.empty(shape, precision), np.empty(shape, bool))
    _first_step(law, _array(state.node), now, unvisited, heads, answer)
    if rule.steps == 2:
        _second_step(law, unvisited, heads, answer)
    level, bound, allowed = answer
    return Outlook(torch.from_numpy(level), torch.from_numpy(bound), torch.from_numpy(allowed))


def _array(tensor: Tensor) -> np.ndarray:
    """The tensor's own memory, in the one layout for which the loops are compiled."""
    return tensor.contiguous().numpy()


@njit(cache=True, nogil=True)
@no_type_check
def _least(latest: Float[np.ndarray, "B N N"], unvisited: Left, heads: Heads) -> None:
    """Set the head of each row on its least entry among the columns left; its column is not asked for."""
    least, _ = heads
    instances, tours, nodes = unvisited.shape
    for b in range(instances):
        for p in range(tours):
            for k in range(nodes):
                if unvisited[b, p, k]:
                    for i in range(nodes):
                        entry, first = latest[b, k, i], least[0, b, p, i]
                        least[0, b, p, i] = entry if entry < first else first


@njit(cache=True, nogil=True)
@no_type_check
def _two_least(latest: Float[np.ndarray, "B N N"], unvisited: Left, heads: Heads) -> None:
    """Set the two heads of each row on its two least entries among the columns left."""
    least, where = heads
    instances, tours, nodes = unvisited.shape
    # Arrays of their own, which the compiler knows to be apart: the loop over i is five times faster for it.
    first, second = np.empty_like(latest[0, 0]), np.empty_like(latest[0, 0])
    column = np.empty_like(where[0, 0, 0])
    for b in range(instances):
        for p in range(tours):
            first[:], second[:], column[:] = np.inf, np.inf, -1
            for k in range(nodes):
                if unvisited[b, p, k]:
                    for i in range(nodes):
                        entry = latest[b, k, i]
                        ahead = entry < first[i]
                        behind = first[i] if ahead else entry
                        first[i] = entry if ahead else first[i]
                        second[i] = behind if behind < second[i] else second[i]
                        column[i] = k if ahead else column[i]
            least[0, b, p], least[1, b, p], where[0, b, p] = first, second, column


@njit(cache=True, nogil=True)
@no_type_check
def _strike_off(left: Left, node: Node, unvisited: Left) -> bool:
    """Take each tour's last node off what was left; False, with nothing done, where that does not give the state."""
    instances, tours, nodes = unvisited.shape
    for b in range(instances):
        for p in range(tours):
            changed = 0
            for k in range(nodes):
                changed += left[b, p, k] != unvisited[b, p, k]
            last = node[b, p]
            if changed != 1 or not left[b, p, last] or unvisited[b, p, last]:
                return False
    for b in range(instances):
        for p in range(tours):
            left[b, p, node[b, p]] = False
    return True


@njit(cache=True, nogil=True)
@no_type_check
def _move_on(
    order: Order, node: Node, unvisited: Left, anew: bool, place: Place, heads: Heads
) -> None:
    """Move the heads of each row off the node just visited, or set all of them from the front of the row."""
    least, where = heads
    count, instances, tours, nodes = least.shape
    last = count - 1
    for b in range(instances):
        for p in range(tours):
            for i in range(nodes):
                if anew:
                    place[b, p, i] = -1
                    for h in range(count):
                        _seek(order, unvisited, place, heads, (h, b, p, i))
                elif where[last, b, p, i] == node[b, p]:
                    _seek(order, unvisited, place, heads, (last, b, p, i))
                elif where[0, b, p, i] == node[b, p]:
                    where[0, b, p, i] = where[last, b, p, i]
                    least[0, b, p, i] = least[last, b, p, i]
                    _seek(order, unvisited, place, heads, (last, b, p, i))


@njit(cache=True, nogil=True)
@no_type_check
def _seek(
    order: Order, unvisited: Left, place: Place, heads: Heads, head: tuple[int, int, int, int]
) -> None:
    """Set one head on the next column to visit after its row's place, or past the end where there is none."""
    columns, entries = order
    least, where = heads
    _, b, p, i = head
    nodes = unvisited.shape[2]
    at = place[b, p, i] + 1
    while at < nodes and not unvisited[b, p, columns[b, i, at]]:
        at += 1
    place[b, p, i] = min(at, nodes)
    where[head] = columns[b, i, at] if at < nodes else -1
    least[head] = entries[b, i, at] if at < nodes else np.inf


@njit(cache=True, nogil=True)
@no_type_check
def _first_step(
    law: Law, node: Node, now: Level, unvisited: Left, heads: Heads, answer: Answer
) -> None:
    """The level and the bound of every node, and which candidates keep theirs."""
    lead, floor, cap, tolerance = law
    level, bound, allowed = answer
    least, _ = heads
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


@njit(cache=True, nogil=True)
@no_type_check
def _second_step(law: Law, unvisited: Left, heads: Heads, answer: Answer) -> None:
    """Strike out the candidates that no other can follow in time; the last one left needs no follower."""
    level, _, allowed = answer
    instances, tours, nodes = unvisited.shape
    left = np.empty(nodes, np.intp)
    for b in range(instances):
        for p in range(tours):
            count = 0
            for j in range(nodes):
                left[count] = j
                count += unvisited[b, p, j]
            # What could follow the candidate before can mostly follow this one too.
            found = left[0]
            for i in left[: count if count > 1 else 0]:
                now = level[b, p, i]
                if allowed[b, p, i] and not _follows(law, heads, now, (b, p, i, found)):
                    allowed[b, p, i] = False
                    for j in left[:count]:
                        if _follows(law, heads, now, (b, p, i, j)):
                            allowed[b, p, i], found = True, j
                            break


@njit(cache=True, nogil=True)
@no_type_check
def _follows(law: Law, heads: Heads, level: np.floating, pair: tuple[int, int, int, int]) -> bool:
    """Whether j, straight after candidate i served at `level`, leaves everything else in time."""
    lead, floor, cap, tolerance = law
    least, where = heads
    b, p, i, j = pair
    arrival = level + lead[b, i, j]
    served = arrival if arrival > floor[b, j] else floor[b, j]
    # Where j's least entry is that of i, which is visited by then, the second least stands in.
    entry = least[1, b, p, j] if where[0, b, p, j] == i else least[0, b, p, j]
    most = entry if entry < cap[b, j] else cap[b, j]
    return i != j and served <= most + tolerance
