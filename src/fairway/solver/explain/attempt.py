"""The order that breaks the limits least, for instances that no order keeps."""

import time
from collections.abc import Iterable

import numpy as np

from fairway.judge import Rejection, Solution, verify
from fairway.kernels.moves.chance import seeded
from fairway.kernels.moves.tardiness import Limits, ease, look_over, tardy_line
from fairway.problems.instance import Instance

WORK, MOST_WORK = 2_000, 20_000_000
"""Nodes looked at, by default: so many times the square of the nodes, and at most about a tenth of a second."""
QUANTUM = 500_000
"""The same between two looks at the clock: a few milliseconds."""

Tour = tuple[int, ...]


def least_late(
    instance: Instance, until: float, known: Iterable[Tour] = (), work: int = MOST_WORK
) -> Solution | Rejection:
    """The order with the least total lateness, or overload, that was found.

    Args:
        instance: Any instance.
        until: When to end, on the monotonic clock.
        known: Orders to start from, beside that of the deadlines.
        work: Nodes to look at, at most; it ends a search that no clock does, always at the same point.
    """
    began = time.monotonic()
    limits = limits_of(instance)
    order = 1 + np.lexsort(
        [column[1:] for column in (limits.opens, limits.low, limits.high, limits.closes)]
    )
    lines = [tardy_line(np.array([0, *stops, 0])) for stops in (*known, order)]
    totals = [look_over(limits, line) for line in lines]
    best = min(totals)
    work = min(work, WORK * instance.nodes**2)
    line, random = lines[totals.index(best)], seeded(0)
    until -= time.monotonic() - began  # the judge takes about as long as all this did
    while work > 0 and time.monotonic() < until:
        best = ease(limits, line, random, best, min(work, QUANTUM))
        work = work - QUANTUM if best > 0 else 0
    return verify(instance, line.kept[1:-1])


def limits_of(instance: Instance) -> Limits:
    """What the instance limits: where it asks nothing, limits are never reached."""
    lead, demand = instance.service[:, None] + instance.travel, instance.demand.copy()
    draft, low = instance.draft.copy(), np.full(instance.nodes, -np.inf)
    draft[0] = np.inf  # the depot's is not checked
    if instance.load == "shrinking":
        # What has been delivered when a port is left, its own cargo included, must be enough.
        low, draft = demand.sum() + demand - draft, np.full(instance.nodes, np.inf)
    return Limits(lead, instance.opens.copy(), instance.closes.copy(), demand, low, draft)
