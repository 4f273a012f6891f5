"""Models in whole numbers, for solvers that know no others.

A resource grows by a step from node to node, waits for `opens` and must not pass `closes`: the time since the depot was
left, or the load.

Steps are rounded up and limits down, so that what is feasible here is feasible for the judge. The one exception are
windows that hold no whole number: they are moved to the number below.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from fairway.problems.model import HOME, START, Model, without_return

SCALE = 10_000
"""Whole numbers to a unit, where units are not whole; at 1,000 a published tour was lost to rounding."""
NOISE = 1e-6
"""By how much a product may miss a whole number and still be it."""


@dataclass(frozen=True, slots=True, eq=False)
class IntegerModel:
    """One instance in whole numbers, its resource growing along the tour."""

    cost: Int[np.ndarray, "N N"]
    step: Int[np.ndarray, "N N"]
    opens: Int[np.ndarray, " N"]
    closes: Int[np.ndarray, " N"]
    """Of the depot: for the return. Negative where a stop can never be reached in time."""
    model: Model
    """Of which it is; tours run in its direction."""

    @property
    def hopeless(self) -> bool:
        """Whether some stop closes before the depot is left; solvers refuse such numbers."""
        return bool((self.closes < 0).any())


def integer_model(model: Model) -> IntegerModel:
    """A model with rounded numbers; resources are counted from the departure."""
    resource = model.resource
    scale = 1 if resource.guard == 0 else SCALE
    leaving = resource.earliest[START] + resource.stay[START]
    served = np.append(0.0, resource.stay[1:HOME])
    step = _up(_hollow(served[:, None] + without_return(resource.rise)) * scale)
    opens = np.maximum(_up((resource.earliest[:HOME] - leaving) * scale), 0)
    # No tour has more, and numbers stay small where a limit never binds.
    most = step[START].sum() if resource.by_set else opens.max() + step.max(axis=1).sum()
    stated = resource.latest[:HOME].copy()
    stated[START] = resource.latest[HOME]
    closes = _down(np.minimum((stated - leaving) * scale, most))
    return IntegerModel(
        _rounded(without_return(model.cost)), step, np.minimum(opens, closes), closes, model
    )


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
