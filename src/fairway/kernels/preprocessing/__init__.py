"""What no feasible tour with time windows does, found before any search: tighter windows, orders, arcs."""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from fairway import clock
from fairway.kernels.preprocessing.network import Network, network, reach
from fairway.kernels.preprocessing.rules import RULES
from fairway.problems.model import HOME, START, Model, Resource, without_return

ROUNDS = 1_000
"""A handful reach the fixed point; only times that push each other on by tiny legs could take more.

Bounds are sound after any round, so that stopping early costs strength alone.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Preprocessed:
    """What every tour that the judge accepts keeps; nothing of it is a choice."""

    opens: Float[np.ndarray, " N"]
    """Service never starts earlier. The depot's is its departure."""
    closes: Float[np.ndarray, " N"]
    """Service never starts later, but for the judge's tolerance. The depot's is the return."""
    before: Bool[np.ndarray, "N N"]
    """Whether stop i comes before stop j; the depot, first and last, has no order."""
    arcs: Bool[np.ndarray, "N N"]
    """Whether j may come straight after i: True = allowed. Row 0 leaves the depot, column 0 returns to it."""
    infeasible: str | None
    """Why there is no feasible tour, where that was proved; the bounds then stand as they were on the way."""


def preprocess(model: Model, until: float = math.inf) -> Preprocessed:
    """Apply all rules until none has anything to add, or it is that time by `clock.now`.

    Travel need be neither symmetric nor metric.
    """
    bounds, why = _fixed_point(network(model), until)
    return _pruned(model.resource, bounds, why)


def _fixed_point(bounds: Network, until: float) -> tuple[Network, str | None]:
    """The rules in turn, round after round, until nothing changes, nothing is left or the time is up."""
    why = contradiction(bounds)
    for _ in range(ROUNDS):
        if clock.now() >= until:
            break
        last, ways = bounds, reach(bounds)
        for rule in RULES:
            if why is None and clock.now() < until:
                bounds = rule(bounds, ways)
                why = contradiction(bounds)
        if why is not None or _same(last, bounds):
            break
    return bounds, why


def contradiction(bounds: Network) -> str | None:
    """Why no tour can keep these bounds, in words, where that is plain."""
    if (late := np.flatnonzero(bounds.opens > bounds.closes)).size:
        return _too_late(bounds, int(late[0]))
    if (pairs := np.argwhere(np.triu(bounds.before & bounds.before.T, 1))).size:
        return _no_order(bounds, pairs)
    # Nothing follows the last node of the network and nothing leads to the first.
    if (lost := np.flatnonzero(~bounds.arcs[:HOME].any(axis=1))).size:
        return f"nothing can come straight after {_name(int(lost[0]), bounds)}"
    if (lost := np.flatnonzero(~bounds.arcs[:, START + 1 :].any(axis=0))).size:
        return f"nothing can come straight before {_name(int(lost[0]) + 1, bounds)}"
    return None


def _too_late(bounds: Network, node: int) -> str:
    name, first, last = _name(node, bounds), bounds.opens[node], bounds.closes[node]
    if first == np.inf:
        return f"{name} cannot be reached by {last:.8g} after all that must come before it"
    if last == -np.inf:
        return f"after {name} not all that must follow can be reached in time"
    return f"{name} cannot be before {first:.8g} and must not be after {last:.8g}"


def _no_order(bounds: Network, pairs: Int[np.ndarray, "K 2"]) -> str:
    """Two stops, where there are two, say more than a stop and the depot."""
    ends = ((pairs == START) | (pairs == len(bounds.opens) - 1)).any(axis=1)
    one, other = (_name(int(node), bounds) for node in pairs[ends.argmin()])
    return f"neither {one} nor {other} can come before the other"


def _name(node: int, bounds: Network) -> str:
    ends = {START: "the start from the depot", len(bounds.opens) - 1: "the return to the depot"}
    return ends.get(node, f"stop {node}")


def _same(one: Network, other: Network) -> bool:
    columns = ("opens", "closes", "before", "arcs")
    return all(np.array_equal(getattr(one, c), getattr(other, c)) for c in columns)


def _pruned(resource: Resource, bounds: Network, why: str | None) -> Preprocessed:
    """Put the two ends of the network together again, and take the tolerance out of the windows."""
    latest = bounds.closes - resource.allowance + bounds.guard
    latest[START] = latest[HOME]
    stated = resource.latest[:HOME].copy()
    stated[START] = resource.latest[HOME]
    # Within the tolerance a tour may be served later than a window closes: the window then stays one.
    closes = np.minimum(stated, np.maximum(latest[:HOME], resource.earliest[:HOME]))
    opens = np.minimum(bounds.opens[:HOME], closes)
    arcs = without_return(bounds.arcs)
    before = bounds.before[:HOME, :HOME].copy()
    before[START] = before[:, START] = False
    for array in (opens, closes, before, arcs):
        array.setflags(write=False)
    return Preprocessed(opens, closes, before, arcs, why)
