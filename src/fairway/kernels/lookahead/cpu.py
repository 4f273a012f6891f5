"""The look-ahead compiled for the CPU: a tour's step costs O(n) for each column that can decide, mostly two to four.

A row's least entry stands in a column whose entries are low. Taken in the order of their least entries, the columns
after the first few lie above every minimum already found, and are left alone: windows far in the future decide
nothing. Where all columns lie alike, as without windows, all that are left must be gone through.

Bit for bit the answers of the plain torch version: every sum and comparison is made in the table's own precision.
The loops run on one core and let go of Python's lock, so threads can share out instances.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Int, UInt
from torch import Tensor

from fairway.kernels.compiling import njit
from fairway.kernels.lookahead.rule import Outlook, Rule
from fairway.kernels.lookahead.table import Table
from fairway.problems.problem import State

Left = Bool[np.ndarray, "B P N"]
Node = Int[np.ndarray, "B P"]
Front = Int[np.ndarray, "B P"]
"""How many columns at the front of the order are known to be visited."""
Law = tuple[
    Float[np.ndarray, "B N N"], Float[np.ndarray, "B N"], Float[np.ndarray, "B N"], np.floating
]
"""Lead, floor, what bounds a node whatever is left to visit, and the tolerance."""
Twos = tuple[UInt[np.ndarray, "B 2 Q"], Float[np.ndarray, "B 2 Q"], Float[np.ndarray, "B Q"]]
"""The nodes of pairs, by how much sooner, and least, as in Pairs; none of them where no rule asks."""
Columns = tuple[
    Float[np.ndarray, "B N N"],
    UInt[np.ndarray, "B N"],
    Float[np.ndarray, "B N"],
    Float[np.ndarray, "B N"],
    Twos,
]
"""Latest, order, low, high and pairs, as in Rows."""
Stand = tuple[Node, Float[np.ndarray, "B P"], Left]
"""Node, level and unvisited, as in a State."""
Answer = tuple[Float[np.ndarray, "B P N"], Float[np.ndarray, "B P N"], Left]
"""Level, bound and allowed, as in an Outlook."""
Heads = tuple[Float[np.ndarray, " N"], Float[np.ndarray, " N"], UInt[np.ndarray, " N"]]
"""The two least entries of each row among the columns left, and the column of the first."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """A table as numpy arrays laid out for the loops here, with the columns of `latest` put in order once a batch."""

    lead: Float[np.ndarray, "B N N"]
    floor: Float[np.ndarray, "B N"]
    limit: Float[np.ndarray, "B N"]
    latest: Float[np.ndarray, "B N N"]
    """Column first, row second: one column for all candidates is contiguous, as in the table."""
    order: UInt[np.ndarray, "B N"]
    """The columns by their least entries."""
    low: Float[np.ndarray, "B N"]
    """The least entry of each column, in that order."""
    high: Float[np.ndarray, "B N"]
    """The greatest entry of each column, in that order; the diagonal, being infinite, is not counted."""
    pairs: Twos

    def cap(self, rule: Rule) -> Float[np.ndarray, "B N"]:
        """What bounds a node whatever is left to visit: its own limit and the return, as far as the rule asks."""
        if rule.steps == 0:
            return self.limit
        if rule.own:
            return np.minimum(self.limit, self.latest[:, 0])
        return np.full_like(self.limit, np.inf)


def rows_of(known: Table) -> Rows:
    """Lay out a table in main memory; the columns of `latest`, the floors and the limits are shared with it."""
    low, order = known.latest.amin(-2).sort(dim=-1)
    diagonal = torch.eye(known.limit.shape[-1], dtype=torch.bool)
    high = known.latest.masked_fill(diagonal, -torch.inf).amax(-2).gather(-1, order)
    # Unsigned, since numba asks of every signed index whether it counts from the end.
    fields = (
        known.lead,
        known.floor,
        known.limit,
        known.latest.mT,
        order.to(torch.uint32),
        low,
        high,
    )
    lead, floor, limit, latest, order, low, high = map(_array, fields)
    return Rows(lead, floor, limit, latest, order, low, high, _twos(known))


def _twos(known: Table) -> Twos:
    pairs = known.pairs
    if pairs is None:
        none = np.empty((len(known.limit), 2, 0), _array(known.limit).dtype)
        return none.astype(np.uint32), none, none[:, 0]
    return _array(pairs.nodes.to(torch.uint32)), _array(pairs.sooner), _array(pairs.least)


def lookahead(rows: Rows, state: State, rule: Rule) -> Outlook:
    """What the rule says of every candidate, from this state alone."""
    return _outlook(rows, state, rule, np.zeros(state.node.shape, np.intp))


class Walk:
    """The look-ahead along one rollout of P tours an instance, which does not look again at columns long visited.

    Each tour keeps its place in the order of the columns, which only ever moves on, over columns that have been
    visited. That is right only while the unvisited nodes shrink: every call must be one `step` on from the call
    before, which is asserted. The first call may stand anywhere; one with all of tour 0 to visit begins anew.
    """

    def __init__(self, rows: Rows, tours: int, rule: Rule) -> None:
        instances, nodes = rows.limit.shape
        self._rows, self._rule = rows, rule
        self._front = np.zeros((instances, tours), np.intp)
        self._left = np.empty((instances, tours, nodes), bool)
        self._begun = False

    def __call__(self, state: State) -> Outlook:
        """What the rule says of every candidate of the state reached."""
        unvisited = _array(state.unvisited)
        shape, expected = unvisited.shape, self._left.shape
        assert shape == expected, f"a walk over {expected} was given a state over {shape}"
        if not self._begun or unvisited[0, 0, 1:].all():
            self._left[:] = unvisited
            self._front[:] = 0
            self._begun = True
        else:
            one_on = _strike_off(self._left, _array(state.node), unvisited)
            assert one_on, "each call of a walk is one step on from the call before; this is not"
        return _outlook(self._rows, state, self._rule, self._front)


def _outlook(rows: Rows, state: State, rule: Rule, front: Front) -> Outlook:
    """The answer for a state whose tours stand at these places in the order of the columns."""
    precision = rows.limit.dtype
    stand = (_array(state.node), _array(state.level), _array(state.unvisited))
    assert stand[1].dtype == precision, f"the levels are {stand[1].dtype} and the table {precision}"
    # Torch rounds a number to the precision of the tensor it is added to; numba would widen the tensor instead.
    law = (rows.lead, rows.floor, rows.cap(rule), precision.type(rule.tolerance))
    columns = (rows.latest, rows.order, rows.low, rows.high, rows.pairs)
    shape = state.unvisited.shape
    answer = (np.empty(shape, precision), np.empty(shape, precision), np.empty(shape, bool))
    first_step(law, columns, stand, front, rule.steps > 0, answer)
    if rule.steps == 2:
        _second_step(law, columns, stand, front, answer)
    level, bound, allowed = map(torch.from_numpy, answer)
    return Outlook(level, bound, allowed)


def _array(tensor: Tensor) -> np.ndarray:
    """The tensor's own memory, in the one layout for which the loops are compiled."""
    return tensor.contiguous().numpy()


@njit(cache=True, nogil=True)
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
def first_step(
    law: Law, columns: Columns, stand: Stand, front: Front, onward: bool, answer: Answer
) -> None:
    """The level and the bound of every node, and which candidates keep theirs; `onward` to what is left after them."""
    lead, floor, cap, tolerance = law
    latest, order, _, _, pairs = columns
    node, now, unvisited = stand
    level, bound, allowed = answer
    instances, tours, nodes = unvisited.shape
    # An array of its own, which the compiler knows to be apart: the loops over i are five times faster for it.
    least, deciding = np.empty_like(latest[0, 0]), np.empty_like(order[0])
    for b in range(instances):
        for p in range(tours):
            least[:] = np.inf
            count = _deciding(columns, unvisited, front, (b, p), 1, deciding) if onward else 0
            for k in deciding[:count]:
                for i in range(nodes):
                    entry = latest[b, k, i]
                    least[i] = entry if entry < least[i] else least[i]
            if pairs[2].shape[1]:
                _lower_by_twos(pairs, latest[b], unvisited[b, p], b, least)
            here, since = node[b, p], now[b, p]
            for i in range(nodes):
                arrival = since + lead[b, here, i]
                served = arrival if arrival > floor[b, i] else floor[b, i]
                most = least[i] if least[i] < cap[b, i] else cap[b, i]
                level[b, p, i] = served
                bound[b, p, i] = most
                allowed[b, p, i] = unvisited[b, p, i] & (served <= most + tolerance)


@njit(cache=True, nogil=True)
def _lower_by_twos(
    pairs: Twos,
    latest: Float[np.ndarray, "N N"],
    unvisited: Bool[np.ndarray, " N"],
    b: int,
    least: Float[np.ndarray, " N"],
) -> None:
    """Lower the least entry of each row to what pairs of unvisited nodes ask for; later pairs ask for less."""
    nodes, sooner, lowest = pairs
    highest = least.max()
    for q in range(lowest.shape[1]):
        if lowest[b, q] >= highest:
            break
        one, other = nodes[b, 0, q], nodes[b, 1, q]
        if unvisited[one] and unvisited[other]:
            for i in range(len(least)):
                first = latest[one, i] - sooner[b, 0, q]
                second = latest[other, i] - sooner[b, 1, q]
                asked = first if first > second else second
                least[i] = asked if asked < least[i] else least[i]


@njit(cache=True, nogil=True)
def _deciding(
    columns: Columns,
    unvisited: Left,
    front: Front,
    tour: tuple[int, int],
    least: int,
    deciding: UInt[np.ndarray, " N"],
) -> int:
    """Write down the columns left that can hold one of so many least entries of a row, and say how many they are.

    One column more than that gives every row as many entries off the diagonal, so its least are not above the highest
    of them: a column that begins there cannot hold a lower one.
    """
    _, order, low, high, _ = columns
    b, p = tour
    nodes = order.shape[1]
    begin = front[b, p]
    while begin < nodes and not unvisited[b, p, order[b, begin]]:
        begin += 1
    front[b, p] = begin
    count, highest = 0, low[b, 0]
    for at in range(begin, nodes):
        if unvisited[b, p, order[b, at]]:
            if count <= least:
                highest = max(highest, high[b, at])
            elif low[b, at] >= highest:
                break
            deciding[count] = order[b, at]
            count += 1
    return count


@njit(cache=True, nogil=True)
def _second_step(law: Law, columns: Columns, stand: Stand, front: Front, answer: Answer) -> None:
    """Strike out the candidates that no other can follow in time; the last one left needs no follower."""
    latest, order, _, _, _ = columns
    _, _, unvisited = stand
    level, _, allowed = answer
    instances, tours, nodes = unvisited.shape
    deciding, left = np.empty_like(order[0]), np.empty(nodes, np.uintp)
    first, second = np.empty_like(latest[0, 0]), np.empty_like(latest[0, 0])
    where = np.empty_like(order[0])
    for b in range(instances):
        for p in range(tours):
            first[:], second[:], where[:] = np.inf, np.inf, 0
            for k in deciding[: _deciding(columns, unvisited, front, (b, p), 2, deciding)]:
                for i in range(nodes):
                    entry = latest[b, k, i]
                    ahead = entry < first[i]
                    behind = first[i] if ahead else entry
                    first[i] = entry if ahead else first[i]
                    second[i] = behind if behind < second[i] else second[i]
                    where[i] = k if ahead else where[i]
            count = 0
            for j in range(nodes):
                left[count] = j
                count += unvisited[b, p, j]
            # What could follow the candidate before can mostly follow this one too.
            found = left[0]
            for i in left[: count if count > 1 else 0]:
                served = level[b, p, i]
                if allowed[b, p, i] and not _follows(
                    law, (first, second, where), served, (b, i, found)
                ):
                    allowed[b, p, i] = False
                    for j in left[:count]:
                        if _follows(law, (first, second, where), served, (b, i, j)):
                            allowed[b, p, i], found = True, j
                            break


@njit(cache=True, nogil=True)
def _follows(law: Law, heads: Heads, level: np.floating, pair: tuple[int, int, int]) -> bool:
    """Whether j, straight after candidate i served at `level`, leaves everything else in time."""
    lead, floor, cap, tolerance = law
    first, second, where = heads
    b, i, j = pair
    arrival = level + lead[b, i, j]
    served = arrival if arrival > floor[b, j] else floor[b, j]
    # Where j's least entry is that of i, which is visited by then, the second least stands in.
    entry = second[j] if where[j] == i else first[j]
    most = entry if entry < cap[b, j] else cap[b, j]
    return i != j and served <= most + tolerance
