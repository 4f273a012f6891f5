"""What completing a label costs at least."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int, UInt

from fairway.kernels.assignment import duals
from fairway.kernels.compiling import inner
from fairway.kernels.labels.label_model import LabelModel, unpacked


class Bound(NamedTuple):
    """A bound on what completing a label costs: the multipliers of all that is unvisited, and the least path home.

    The path home is one of a relaxed problem, in which stops may be visited more than once or not at all, and each
    visit is rewarded by the multiplier of the stop. Which paths there are depends on how many stops have been visited
    and on where the label stands; one is open to labels that are early enough and have visited none of the stops in its
    ng-memory.
    """

    multiplier: Float[np.ndarray, " N"]
    begin: Int[np.ndarray, "M N"]
    """Of the list of paths; M = 1 where nothing but the last stop makes a difference."""
    end: Int[np.ndarray, "M N"]
    resource: Float[np.ndarray, " K"]
    cost: Float[np.ndarray, " K"]
    """Never falling within a list."""
    memory: UInt[np.ndarray, "K W"]
    ng_memory: UInt[np.ndarray, "N W"]
    """Which stops each stop remembers; for the next bound."""


@inner
def completion(
    bound: Bound, stops: int, last: int, resource: float, visited: np.ndarray, enough: float
) -> float:
    """The least path home from a label, or enough; the multipliers of what is unvisited are to be added."""
    row = min(stops, len(bound.begin) - 1)
    for path in range(bound.begin[row, last], bound.end[row, last]):
        if bound.cost[path] >= enough:
            return bound.cost[path]
        if resource <= bound.resource[path]:
            free = True
            for word in range(len(visited)):
                free &= visited[word] & bound.memory[path, word] == 0
            if free:
                return bound.cost[path]
    return np.inf


def cheapest_legs(model: LabelModel) -> Bound:
    """The simplest bound: everything must be left once and, with what that leaves of a leg, be arrived at once."""
    legs = _legs(model)
    leaving = legs.min(axis=1)
    leaving[np.isinf(leaving)] = 0.0
    arriving = (legs - leaving[:, None]).min(axis=0)
    multiplier = leaving + arriving
    multiplier[np.isinf(multiplier)] = 0.0
    return _paid(model, multiplier, leaving + arriving[0])


def assigned_legs(model: LabelModel) -> Bound:
    """A better one: each node gets a next one of its own, or its price is paid, at least cost in all."""
    legs = _legs(model)
    np.fill_diagonal(legs[1:, 1:], model.prize[1:])
    leaving, arriving = duals(legs)
    return _paid(model, leaving + arriving, leaving + arriving[0])


def _legs(model: LabelModel) -> Float[np.ndarray, "N N"]:
    """What each leg costs, column 0 being the end; infinite where there is none."""
    allowed = unpacked(model.after)
    allowed[1:, 0] = True
    allowed[0, 0] = np.isfinite(model.prize[1:]).all()  # the empty tour is one
    return np.where(allowed, model.price, np.inf)


def _paid(
    model: LabelModel, multiplier: Float[np.ndarray, " N"], home: Float[np.ndarray, " N"]
) -> Bound:
    """The bound that payments for visits make, which no prize may be less than."""
    paid = np.minimum(multiplier, model.prize)
    paid[0] = 0.0
    begin = np.arange(len(model.node))[None]
    nothing = np.zeros_like(model.after)
    return Bound(paid, begin, begin + 1, np.full(len(paid), np.inf), home, nothing, nothing)
