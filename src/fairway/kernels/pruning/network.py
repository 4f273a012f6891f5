"""What pruning works on: the nodes a tour passes in order, with the depot at both ends."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from fairway.problems.model import HOME, START, Model


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """Bounds that every tour the judge accepts keeps; rules narrow them and never widen them.

    V nodes as in a model: the depot as START, the stops, the depot as HOME.
    """

    lead: Float[np.ndarray, "V V"]
    """From the start of service at the row to the arrival at the column, short by at most twice `guard`."""
    opens: Float[np.ndarray, " V"]
    """No tour starts service earlier."""
    closes: Float[np.ndarray, " V"]
    """No tour starts service later; the judge's tolerance is included."""
    before: Bool[np.ndarray, "V V"]
    """Whether the row comes before the column in every tour."""
    arcs: Bool[np.ndarray, "V V"]
    """Whether the column may come straight after the row."""
    guard: float
    """By how much float64 may err on one leg; zero for whole numbers."""


def network(model: Model) -> Network:
    """The bounds that an instance states itself."""
    resource = model.resource
    closes = resource.latest + resource.allowance + resource.guard
    closes[START] = resource.earliest[START]  # the tour leaves as the depot opens, not later
    before = np.zeros(resource.rise.shape, dtype=bool)
    before[START, 1:] = before[:-1, HOME] = True
    arcs = ~before.T & ~np.eye(len(closes), dtype=bool)
    arcs[START, HOME] = False
    # Shorter legs, so that sums taken in another order than the judge's never make a tour seem late.
    short = np.maximum(resource.lead - resource.guard, 0.0)
    return Network(short, resource.earliest.copy(), closes, before, arcs, resource.guard)
