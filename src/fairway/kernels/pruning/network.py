"""What pruning works on: the nodes a tour passes in order, with the depot at both ends."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from fairway.judge import TOLERANCE
from fairway.problems.tsptw import TSPTW

START = 0
HOME = -1
"""The depot once more, as the last node of the network: where the tour ends."""


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """Bounds that every tour the judge accepts keeps; rules narrow them and never widen them.

    V = N + 1 nodes: the depot as START, the stops, the depot as HOME.
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


def network(instance: TSPTW, allowance: float) -> Network:
    """The bounds that an instance states itself."""
    guard = rounding(instance, allowance)
    node = np.append(np.arange(instance.nodes), START)
    lead = (instance.service[:, None] + instance.travel)[np.ix_(node, node)]
    closes = instance.closes[node] + allowance + guard
    closes[START] = instance.opens[START]  # the tour leaves as the depot opens, not later
    before = np.zeros(lead.shape, dtype=bool)
    before[START, 1:] = before[:-1, HOME] = True
    arcs = ~before.T & ~np.eye(len(node), dtype=bool)
    arcs[START, HOME] = False
    # Shorter legs, so that sums taken in another order than the judge's never make a tour seem late.
    short = np.maximum(lead - guard, 0.0)
    return Network(short, instance.opens[node], closes, before, arcs, guard)


def allowance_of(instance: TSPTW) -> float:
    """How late the judge lets a tour be by default."""
    return 0.0 if instance.integral else TOLERANCE


def rounding(instance: TSPTW, allowance: float) -> float:
    """By how much float64 may err on one leg, with room to spare; whole numbers are added without error."""
    if instance.integral and float(allowance).is_integer():
        return 0.0
    largest = np.maximum(np.abs(instance.opens), np.abs(instance.closes)).max() + allowance
    return float(16 * np.finfo(np.float64).eps * largest)
