"""Exact search where an order is all that a tour has to keep: over sets of stops, from either end, ever wider.

From which end there is less to do can differ by orders of magnitude, and is not known before it has been tried.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

from fairway.kernels.labels.run import Limits, Outcome
from fairway.kernels.ordering.order_model import OrderModel
from fairway.kernels.ordering.run import run

WIDTHS = (1 << 6, 1 << 10, 1 << 31)
"""Sets of a layer."""


def both_ways(model: OrderModel, limits: Callable[[int, float], Limits]) -> Iterator[Outcome]:
    """What runs from the start and from the end find, each width first from where the last one came further.

    Args:
        model: Of the instance, from its start.
        limits: Those of the next run, by its width and by the part of the time that it may take.
    """
    ends = [(model, False), (model.turned(), True)]
    for width in WIDTHS:
        reached = []
        for share, end in zip((0.8, 1.0), ends, strict=True):
            outcome = run(end[0], limits(width, share))
            reached.append((outcome.open, end))
            if end[1] and outcome.tour is not None:
                outcome = replace(outcome, tour=outcome.tour[::-1])
            yield outcome
        ends = [end for _, end in sorted(reached, key=lambda each: -each[0])]
