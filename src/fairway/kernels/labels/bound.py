"""What completing a label costs at least."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int, UInt

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
    nodes = len(model.node)
    allowed = unpacked(model.after)
    allowed[1:, 0] = True
    legs = np.where(allowed, model.price, np.inf)
    leaving = legs.min(axis=1)
    leaving[np.isinf(leaving)] = 0.0
    arriving = (legs - leaving[:, None]).min(axis=0)
    multiplier = leaving + arriving
    multiplier[0] = 0.0
    multiplier[np.isinf(multiplier)] = 0.0
    begin = np.arange(nodes)[None]
    nothing = np.zeros_like(model.after)
    home = leaving + arriving[0]
    return Bound(multiplier, begin, begin + 1, np.full(nodes, np.inf), home, nothing, nothing)
