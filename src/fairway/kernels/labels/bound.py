"""What completing a label costs at least."""

from typing import NamedTuple, no_type_check

import numpy as np
from jaxtyping import Float, Int16
from numba import njit

from fairway.kernels.labels.bits import holds
from fairway.kernels.labels.law import Law


class Bound(NamedTuple):
    """A bound on what completing a label costs: the prizes of all that is unvisited, and the least way home.

    The way home is one of a relaxed problem, in which stops may be visited more than once or not at all, and each
    visit is rewarded by the prize of the stop. It depends on how many stops have been visited, on where the label
    stands, on its level, of which G steps are told apart, and on which of a few remembered stops are unvisited.
    """

    prize: Float[np.ndarray, " N"]
    least: Float[np.ndarray, "M N G A"]
    """The least way home; M = 1 where nothing but the last stop makes a difference."""
    near: Int16[np.ndarray, "N K"]
    """The stops remembered at each, which give the bits of A; 0 where there is none."""
    origin: Float[np.ndarray, " N"]
    fineness: Float[np.ndarray, " N"]
    """A level is so far above the origin, times this, in steps."""


@njit(cache=True, nogil=True)
@no_type_check
def step_of(bound: Bound, stop: int, level: float) -> int:
    """The step that a level is on, or one below it where rounding leaves a doubt."""
    step = np.int64((level - bound.origin[stop]) * bound.fineness[stop] - 1e-6)
    return min(max(step, 0), bound.least.shape[2] - 1)


@njit(cache=True, nogil=True)
@no_type_check
def completion(bound: Bound, stops: int, last: int, level: float, visited: np.ndarray) -> float:
    """The least way home from a label; the prizes of what is unvisited are to be added."""
    if bound.least.shape[0] == 1:
        return bound.least[0, last, 0, 0]
    left = 0
    for bit in range(bound.near.shape[1]):
        near = bound.near[last, bit]
        if near == 0:
            break
        left |= (not holds(visited, near)) << bit
    return bound.least[stops, last, step_of(bound, last, level), left]


@njit(cache=True, nogil=True)
@no_type_check
def cheapest_arrivals(law: Law) -> Bound:
    """The simplest bound: everything must be arrived at once, the depot as well."""
    nodes = len(law.node)
    prize, home = np.zeros(nodes), np.inf
    for stop in range(1, nodes):
        least = np.inf
        for other in range(nodes):
            if holds(law.after[other], stop):
                least = min(least, law.price[other, stop])
        prize[stop] = least if least < np.inf else 0.0
        home = min(home, law.price[stop, 0])
    nothing = np.zeros(nodes)
    return Bound(
        prize, np.full((1, nodes, 1, 1), home), np.zeros((nodes, 0), np.int16), nothing, nothing
    )
