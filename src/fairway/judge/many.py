"""The judge for many tours at once: instances of one size with windows alone or drafts alone, one tour for each.

The same rules, tolerance and order of sums as `verify`, written once more over columns: what it accepts, and at what
cost, equals what `verify` says of each, to the last bit. It gives no reasons; a tour that is refused is for `verify`.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from fairway.errors import InvalidRequest
from fairway.problems.instance import TOLERANCE
from fairway.problems.sets import InstanceSet


class Verdicts(NamedTuple):
    """What is said of each tour; figures of a refused one mean nothing."""

    accepted: Bool[np.ndarray, " B"]
    cost: Float[np.ndarray, " B"]
    makespan: Float[np.ndarray, " B"]


def verify_many(instances: InstanceSet, tours: Int[np.ndarray, "B M"]) -> Verdicts:
    """Judge one tour of each instance: all its stops in order, without the depot."""
    if instances.problem == "tour":
        raise InvalidRequest(
            "only sets with time windows or with drafts are judged together; verify one by one"
        )
    count, nodes = len(instances), instances.nodes
    if tours.shape != (count, nodes - 1):
        raise InvalidRequest(
            f"the tours have shape {tours.shape}; expected {(count, nodes - 1)}, one per instance"
        )
    accepted = (np.sort(tours, axis=1) == np.arange(1, nodes)).all(axis=1)
    each, known = np.arange(count), np.where(accepted[:, None], tours, np.arange(1, nodes))
    nothing = np.zeros((count, nodes))
    opens = nothing if instances.opens is None else instances.opens
    closes = np.full_like(nothing, np.inf) if instances.closes is None else instances.closes
    service = nothing if instances.service is None else instances.service
    allowance = np.where(instances.whole_times, 0.0, TOLERANCE)
    here, cost, now = np.zeros(count, np.int64), np.zeros(count), opens[:, 0] + service[:, 0]
    for there in (*known.T, np.zeros(count, np.int64)):
        leg = instances.locations.legs(here, there)
        last = closes[each, there]
        # Nobody waits for the depot to open, and nothing is served there at the end.
        stop = there != 0
        arrival = now + leg
        waited = np.maximum(arrival, np.where(stop, opens[each, there], -np.inf))
        start = np.where(arrival <= last + allowance, waited, arrival)
        accepted &= ~(start - last > allowance)
        cost += leg
        now = start + np.where(stop, service[each, there], 0.0)
        here = there
    if instances.laden:
        accepted &= _afloat(instances, known)
    return Verdicts(accepted & np.isfinite(cost), cost, now)


def _afloat(instances: InstanceSet, tours: Int[np.ndarray, "B M"]) -> Bool[np.ndarray, " B"]:
    """Whether no load is above a draft."""
    nothing = np.zeros((len(instances), instances.nodes))
    demand = nothing if instances.demand is None else instances.demand
    draft = np.full_like(nothing, np.inf) if instances.draft is None else instances.draft
    whole = (demand == np.rint(demand)).all(axis=1) & (draft == np.rint(draft)).all(axis=1)
    allowance = np.where(whole, 0.0, TOLERANCE)[:, None]
    turn = -1 if instances.load == "shrinking" else 1
    amounts = np.take_along_axis(demand, tours, axis=1)[:, ::turn]
    load = amounts.cumsum(axis=1)[:, ::turn]
    over = load - np.take_along_axis(draft, tours, axis=1)
    return np.asarray((over <= allowance).all(axis=1))
