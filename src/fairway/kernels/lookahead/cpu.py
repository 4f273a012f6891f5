"""The look-ahead compiled for the CPU: a tour's step costs O(n) for each column that can decide, mostly two to four.

A row's least entry stands in a column whose entries are low. Taken in the order of their least entries, the columns
after the first few lie above every minimum already found, and are left alone: windows far in the future decide
nothing. Where all columns lie alike, as without windows, all that are left must be gone through.

Bit for bit the answers of the plain torch version: every sum and comparison is made in the table's own precision.
The loops run on one core and let go of Python's lock, so threads can share out instances.
"""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int, UInt
from torch import Tensor

from fairway.kernels.compiling import njit
from fairway.kernels.lookahead.config import Mask, MaskRule
from fairway.kernels.lookahead.table import Table
from fairway.problems.problem import State

Front = Int[np.ndarray, "B P"]
"""How many columns at the front of the order are known to be visited."""
Stand = tuple[Int[np.ndarray, "B P"], Float[np.ndarray, "B P"], Bool[np.ndarray, "B P N"]]
"""Node, resource and unvisited, as in a State."""
Answer = tuple[Float[np.ndarray, "B P N"], Float[np.ndarray, "B P N"], Bool[np.ndarray, "B P N"]]
"""Resource, bound and allowed, as in a Mask."""


class Twos(NamedTuple):
    """Pairs as in a table; none of them where no rule asks."""

    nodes: UInt[np.ndarray, "B 2 Q"]
    sooner: Float[np.ndarray, "B 2 Q"]
    least: Float[np.ndarray, "B Q"]


class Rows(NamedTuple):
    """A table as numpy arrays laid out for the loops here, with the columns of `cutoff` put in order once per batch."""

    increment: Float[np.ndarray, "B N N"]
    earliest: Float[np.ndarray, "B N"]
    latest: Float[np.ndarray, "B N"]
    cutoff: Float[np.ndarray, "B N N"]
    """Column first, row second: one column for all candidates is contiguous, as in the table."""
    order: UInt[np.ndarray, "B N"]
    """The columns by their least entries."""
    low: Float[np.ndarray, "B N"]
    """The least entry of each column, in that order."""
    high: Float[np.ndarray, "B N"]
    """The greatest entry of each column, in that order; the diagonal, being infinite, is not counted."""
    pairs: Twos


class Asked(NamedTuple):
    """What a rule asks of every node."""

    cap: Float[np.ndarray, "B N"]
    """What bounds a node whatever is left to visit: its own limit and the return, as far as the rule asks."""
    tolerance: np.floating
    onward: bool
    """Whether the nodes are looked at that are left after a candidate."""


def asked_by(rows: Rows, rule: MaskRule) -> Asked:
    """The rule for these rows."""
    cap = rows.latest
    if rule.steps > 0:
        home = np.minimum(rows.latest, rows.cutoff[:, 0])
        cap = home if rule.own else np.full_like(home, np.inf)
    # Torch rounds a number to the precision of the tensor it is added to; numba would widen the tensor instead.
    return Asked(cap, rows.latest.dtype.type(rule.tolerance), rule.steps > 0)


def rows_of(known: Table) -> Rows:
    """Lay out a table in main memory; the columns of `cutoff`, `earliest` and `latest` are shared with it."""
    low, order = known.cutoff.amin(-2).sort(dim=-1)
    diagonal = torch.eye(known.latest.shape[-1], dtype=torch.bool)
    high = known.cutoff.masked_fill(diagonal, -torch.inf).amax(-2).gather(-1, order)
    # Unsigned, since numba asks of every signed index whether it counts from the end.
    constraints = map(_array, (known.increment, known.earliest, known.latest, known.cutoff.mT))
    columns = map(_array, (order.to(torch.uint32), low, high))
    return Rows(*constraints, *columns, pairs=_twos(known))


def _twos(known: Table) -> Twos:
    pairs = known.pairs
    if pairs is None:
        none = np.empty((len(known.latest), 2, 0), _array(known.latest).dtype)
        return Twos(none.astype(np.uint32), none, none[:, 0])
    return Twos(*map(_array, (pairs.nodes.to(torch.uint32), pairs.sooner, pairs.least)))


def lookahead(rows: Rows, state: State, rule: MaskRule) -> Mask:
    """What the rule says of every candidate, from this state alone."""
    return _outlook(rows, state, rule, np.zeros(state.node.shape, np.intp))


class Walk:
    """The look-ahead along one rollout of P tours per instance, which does not look again at columns long visited.

    Each tour keeps its place in the order of the columns, which only ever moves on, over columns that have been
    visited. That is right only while the unvisited nodes shrink: every call must be one `step` on from the call
    before, which is asserted. The first call may stand anywhere; one with all of tour 0 to visit begins anew.
    """

    def __init__(self, rows: Rows, tours: int, rule: MaskRule) -> None:
        instances, nodes = rows.latest.shape
        self._rows, self._rule = rows, rule
        self._front = np.zeros((instances, tours), np.intp)
        self._left = np.empty((instances, tours, nodes), bool)
        self._begun = False

    def __call__(self, state: State) -> Mask:
        """What the rule says of every candidate of the state reached."""
        unvisited = _array(state.unvisited)
        shape, expected = unvisited.shape, self._left.shape
        assert shape == expected, f"a walk over {expected} was given a state over {shape}"
        if not self._begun or unvisited[0, 0, 1:].all():
            self._front[:] = 0
            self._begun = True
        else:
            changed = self._left != unvisited
            taken = np.take_along_axis(self._left & changed, _array(state.node)[..., None], -1)
            one_on = taken.all() and (changed.sum(-1) == 1).all()
            assert one_on, "each call of a walk is one step on from the call before; this is not"
        self._left[:] = unvisited
        return _outlook(self._rows, state, self._rule, self._front)


def _outlook(rows: Rows, state: State, rule: MaskRule, front: Front) -> Mask:
    """The answer for a state whose tours stand at these places in the order of the columns."""
    assert rule.steps < 2, "the loops look one step ahead"
    precision = rows.latest.dtype
    stand = (_array(state.node), _array(state.resource), _array(state.unvisited))
    assert stand[1].dtype == precision, (
        f"the resources are {stand[1].dtype} and the table {precision}"
    )
    shape = state.unvisited.shape
    answer = (np.empty(shape, precision), np.empty(shape, precision), np.empty(shape, bool))
    first_step(rows, asked_by(rows, rule), stand, front, answer)
    resource, bound, allowed = map(torch.from_numpy, answer)
    return Mask(resource, bound, allowed)


def _array(tensor: Tensor) -> np.ndarray:
    """The tensor's own memory, in the one layout for which the loops are compiled."""
    return tensor.contiguous().numpy()


@njit(cache=True, nogil=True)
def first_step(rows: Rows, asked: Asked, stand: Stand, front: Front, answer: Answer) -> None:
    """The resource and the bound of every node, and which candidates keep theirs."""
    increment, earliest, cutoff, cap = rows.increment, rows.earliest, rows.cutoff, asked.cap
    node, now, unvisited = stand
    resource, bound, allowed = answer
    instances, tours, nodes = unvisited.shape
    # An array of its own, which the compiler knows to be apart: the loops over i are five times faster for it.
    least, deciding = np.empty_like(cutoff[0, 0]), np.empty_like(rows.order[0])
    for b in range(instances):
        for p in range(tours):
            least[:] = np.inf
            count = _deciding(rows, unvisited[b, p], front, (b, p), deciding) if asked.onward else 0
            for k in deciding[:count]:
                for i in range(nodes):
                    entry = cutoff[b, k, i]
                    least[i] = entry if entry < least[i] else least[i]
            if rows.pairs.least.shape[1]:
                _lower_by_twos(rows, unvisited[b, p], b, least)
            here, since = node[b, p], now[b, p]
            for i in range(nodes):
                arrival = since + increment[b, here, i]
                served = arrival if arrival > earliest[b, i] else earliest[b, i]
                most = least[i] if least[i] < cap[b, i] else cap[b, i]
                resource[b, p, i] = served
                bound[b, p, i] = most
                allowed[b, p, i] = unvisited[b, p, i] & (served <= most + asked.tolerance)


@njit(cache=True, nogil=True)
def _lower_by_twos(
    rows: Rows, unvisited: Bool[np.ndarray, " N"], b: int, least: Float[np.ndarray, " N"]
) -> None:
    """Lower the least entry of each row to what pairs of unvisited nodes ask for; later pairs ask for less."""
    (nodes, sooner, lowest), cutoff = rows.pairs, rows.cutoff[b]
    highest = least.max()
    for q in range(lowest.shape[1]):
        if lowest[b, q] >= highest:
            break
        one, other = nodes[b, 0, q], nodes[b, 1, q]
        if unvisited[one] and unvisited[other]:
            for i in range(len(least)):
                first = cutoff[one, i] - sooner[b, 0, q]
                second = cutoff[other, i] - sooner[b, 1, q]
                asked = first if first > second else second
                least[i] = asked if asked < least[i] else least[i]


@njit(cache=True, nogil=True)
def _deciding(
    rows: Rows,
    unvisited: Bool[np.ndarray, " N"],
    front: Front,
    tour: tuple[int, int],
    deciding: UInt[np.ndarray, " N"],
) -> int:
    """Write down the columns left that can hold the least entry of a row, and say how many they are.

    Two columns give every row an entry off the diagonal, so its least is not above the highest of them: a column that
    begins there cannot hold a lower one.
    """
    b, p = tour
    order, low, high = rows.order[b], rows.low[b], rows.high[b]
    begin = front[b, p]
    while begin < len(order) and not unvisited[order[begin]]:
        begin += 1
    front[b, p] = begin
    count, highest = 0, low[0]
    for at in range(begin, len(order)):
        if unvisited[order[at]]:
            if count < 2:
                highest = max(highest, high[at])
            elif low[at] >= highest:
                break
            deciding[count] = order[at]
            count += 1
    return count
