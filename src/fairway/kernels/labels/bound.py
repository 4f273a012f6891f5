"""What completing a label costs at least."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int, UInt

from fairway.kernels.compiling import inner
from fairway.kernels.labels.label_model import LabelModel, unpacked


class Bound(NamedTuple):
    """A bound on what completing a label costs: the prizes of all that is unvisited, and the least way home.

    The way home is one of a relaxed problem, in which stops may be visited more than once or not at all, and each
    visit is rewarded by the prize of the stop. Which ways there are depends on how many stops have been visited and on
    where the label stands; one can be gone by labels whose level is low enough and that have visited none of the
    stops it remembers.
    """

    multiplier: Float[np.ndarray, " N"]
    begin: Int[np.ndarray, "M N"]
    """Of the list of ways; M = 1 where nothing but the last stop makes a difference."""
    end: Int[np.ndarray, "M N"]
    level: Float[np.ndarray, " K"]
    cost: Float[np.ndarray, " K"]
    """Never falling within a list."""
    memory: UInt[np.ndarray, "K W"]
    ng_memory: UInt[np.ndarray, "N W"]
    """Which stops each stop remembers; for the next bound."""


@inner
def completion(
    bound: Bound, stops: int, last: int, level: float, visited: np.ndarray, enough: float
) -> float:
    """The least way home from a label, or enough; the prizes of what is unvisited are to be added."""
    row = min(stops, len(bound.begin) - 1)
    for way in range(bound.begin[row, last], bound.end[row, last]):
        if bound.cost[way] >= enough:
            return bound.cost[way]
        if level <= bound.level[way]:
            free = True
            for word in range(len(visited)):
                free &= visited[word] & bound.memory[way, word] == 0
            if free:
                return bound.cost[way]
    return np.inf


def cheapest_legs(law: LabelModel) -> Bound:
    """The simplest bound: everything must be left once and, with what that leaves of a leg, be arrived at once."""
    nodes = len(law.node)
    allowed = unpacked(law.after)
    allowed[1:, 0] = True
    legs = np.where(allowed, law.price, np.inf)
    leaving = legs.min(axis=1)
    leaving[np.isinf(leaving)] = 0.0
    arriving = (legs - leaving[:, None]).min(axis=0)
    multiplier = leaving + arriving
    multiplier[0] = 0.0
    multiplier[np.isinf(multiplier)] = 0.0
    begin = np.arange(nodes)[None]
    nothing = np.zeros_like(law.after)
    home = leaving + arriving[0]
    return Bound(multiplier, begin, begin + 1, np.full(nodes, np.inf), home, nothing, nothing)
