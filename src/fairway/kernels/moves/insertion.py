"""A first tour: stop by stop in order of deadline, each where it costs least among the places that keep all in time."""

from typing import no_type_check

import numpy as np
from jaxtyping import Float, UInt

from fairway.kernels.bare import bare
from fairway.kernels.moves.form import Form


def by_deadline(form: Form) -> UInt[np.ndarray, " V"]:
    """All stops in the order in which they close, the depot at both ends."""
    stops = 1 + np.lexsort((form.opens[1:-1], form.closes[1:-1]))
    return np.concatenate(([0], stops, [len(form.opens) - 1])).astype(np.uint32)


def inserted(form: Form) -> UInt[np.ndarray, " V"] | None:
    """The tour of cheapest insertions in order of deadline, unless a stop on the way has no place left."""
    node, levels = np.zeros(len(form.opens), np.uint32), np.empty((2, len(form.opens)))
    return node if _insert_all(form, by_deadline(form), node, levels) else None


@bare
@no_type_check
def _insert_all(
    form: Form,
    order: UInt[np.ndarray, " V"],
    node: UInt[np.ndarray, " V"],
    levels: Float[np.ndarray, "2 V"],
) -> bool:
    """Build the tour in `node`; `levels` is room for the level at each position and the latest that is in time."""
    start, latest = levels[0], levels[1]
    node[0], node[1] = 0, len(node) - 1
    for stop in range(1, len(order) - 1):
        new, last = order[stop], stop
        start[0] = form.opens[0]
        for at in range(1, last + 1):
            start[at] = max(start[at - 1] + form.lead[node[at - 1], node[at]], form.opens[node[at]])
        latest[last] = form.closes[node[last]]
        for at in range(last - 1, -1, -1):
            latest[at] = min(
                latest[at + 1] - form.lead[node[at], node[at + 1]], form.closes[node[at]]
            )
        where, least = 0, np.inf
        for at in range(1, last + 1):
            here, there = node[at - 1], node[at]
            level = max(start[at - 1] + form.lead[here, new], form.opens[new])
            more = form.cost[here, new] + form.cost[new, there] - form.cost[here, there]
            if (
                more < least
                and level <= form.closes[new]
                and level + form.lead[new, there] <= latest[at]
            ):
                where, least = at, more
        if where == 0:
            return False
        for at in range(last, where - 1, -1):
            node[at + 1] = node[at]
        node[where] = new
    start[0] = form.opens[0]
    return True


def deferred(form: Form, node: UInt[np.ndarray, " V"]) -> UInt[np.ndarray, " V"] | None:
    """The tour with each port put off as long as calling there would leave another one too deep; None if all fail.

    Only for loads, where the order of the limits is feasible if any order is (Jackson's rule): a port may come next if
    all that have to come before it in that order can still take its cargo on top.
    """
    demand = form.lead[0]
    left = by_deadline(form)[1:-1]
    spare = form.closes[left] - np.cumsum(demand[left])
    if spare.min() < 0:
        return None
    planned = np.argsort(node)[left]
    tour = node.copy()
    for at in range(1, len(node) - 1):
        before = np.minimum.accumulate(np.append(np.inf, spare[:-1]))
        allowed = np.flatnonzero(before >= demand[left])
        chosen = allowed[planned[allowed].argmin()]
        tour[at] = left[chosen]
        spare[:chosen] -= demand[left[chosen]]
        left, spare, planned = (np.delete(each, chosen) for each in (left, spare, planned))
    return tour
