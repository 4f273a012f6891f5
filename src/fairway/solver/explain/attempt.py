"""The order that breaks the limits least, for instances that no order keeps."""

import time
from collections.abc import Iterable

from fairway.judge import Rejection, Solution, verify
from fairway.kernels.moves.chance import seeded
from fairway.kernels.moves.form import lonely_form
from fairway.kernels.moves.order import by_deadline
from fairway.kernels.moves.tardiness import ease, look_over, tardy_line
from fairway.problems.instance import Instance
from fairway.problems.model import model_of

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
    model = model_of(instance)
    form = lonely_form(model)._replace(closes=model.resource.latest)  # as stated, without tolerance
    lines = [tardy_line(node) for node in (*map(model.inward, known), by_deadline(form))]
    totals = [look_over(form, line) for line in lines]
    best = min(totals)
    work = min(work, WORK * instance.nodes**2)
    line, random = lines[totals.index(best)], seeded(0)
    until -= time.monotonic() - began  # the judge takes about as long as all this did
    while work > 0 and time.monotonic() < until:
        best = ease(form, line, random, best, min(work, QUANTUM))
        work = work - QUANTUM if best > 0 else 0
    return verify(instance, model.outward(line.kept[1:-1]))
