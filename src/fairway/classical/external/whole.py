"""Instances in whole numbers, for solvers that know no others.

Both problems become one: a level grows by a step from node to node, waits for `opens` and must not pass `closes`. For
time windows the level is the time since the depot was left, and a step is service and travel; for draft limits it is
the load, and a step is the cargo of the port that is reached.

Steps are rounded up and limits down, so that what is feasible here is feasible for the judge. The one exception are
windows that hold no whole number: they are moved to the number below.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from fairway.problems.instance import Instance
from fairway.problems.tspdl import TSPDL
from fairway.problems.tsptw import TSPTW

SCALE = 10_000
"""Whole numbers to a unit, where units are not whole; at 1,000 a published tour was lost to rounding."""
NOISE = 1e-6
"""By how much a product may miss a whole number and still be it."""


@dataclass(frozen=True, slots=True, eq=False)
class Whole:
    """One instance in whole numbers, its level growing along the tour."""

    cost: Int[np.ndarray, "N N"]
    step: Int[np.ndarray, "N N"]
    opens: Int[np.ndarray, " N"]
    closes: Int[np.ndarray, " N"]
    """Of the depot: for the return. Negative where a stop can never be reached in time."""
    backwards: bool
    """Whether tours run against the direction of the instance: a shrinking load grows from the other end."""

    @property
    def hopeless(self) -> bool:
        """Whether some stop closes before the depot is left; solvers refuse such numbers."""
        return bool((self.closes < 0).any())

    def turned(self, tour: tuple[int, ...]) -> tuple[int, ...]:
        """A tour in the other's direction: from the instance's to this one's, and back."""
        return tour[::-1] if self.backwards else tour


def whole(instance: Instance) -> Whole:
    """The instance with rounded numbers."""
    if isinstance(instance, TSPTW):
        return _windows(instance)
    growing = instance.reversed() if instance.load == "shrinking" else instance
    return _drafts(growing, backwards=growing is not instance)


def _windows(instance: TSPTW) -> Whole:
    leaving = instance.opens[0] + instance.service[0]
    scale = 1 if instance.integral else SCALE
    served = np.concatenate(([0.0], instance.service[1:]))
    step = _up(_hollow(served[:, None] + instance.travel) * scale)
    opens = np.maximum(_up((instance.opens - leaving) * scale), 0)
    # No tour is under way longer, and numbers stay small where a window never closes.
    longest = opens.max() + step.max(axis=1).sum()
    closes = _down(np.minimum((instance.closes - leaving) * scale, longest))
    return Whole(_rounded(instance.travel), step, np.minimum(opens, closes), closes, False)


def _drafts(instance: TSPDL, backwards: bool) -> Whole:
    scale = 1 if instance.integral else SCALE
    demand = _up(instance.demand * scale)
    closes = _down(np.minimum(instance.draft * scale, demand.sum()))
    closes[0] = demand.sum()
    step = np.broadcast_to(demand, instance.travel.shape)
    return Whole(_rounded(instance.travel), _hollow(step), np.zeros_like(closes), closes, backwards)


def _rounded(travel: Float[np.ndarray, "N N"]) -> Int[np.ndarray, "N N"]:
    """Costs to the nearest whole number, which no limit depends on."""
    scale = 1 if np.array_equal(travel, np.rint(travel)) else SCALE
    return np.rint(_hollow(travel) * scale).astype(np.int64)


def _hollow(matrix: np.ndarray) -> np.ndarray:
    """A copy with zeros on the diagonal, as solvers ask for."""
    copy = matrix.copy()
    np.fill_diagonal(copy, 0)
    return copy


def _up(values: Float[np.ndarray, "*S"]) -> Int[np.ndarray, "*S"]:
    return np.ceil(values - NOISE).astype(np.int64)


def _down(values: Float[np.ndarray, "*S"]) -> Int[np.ndarray, "*S"]:
    return np.floor(values + NOISE).astype(np.int64)
