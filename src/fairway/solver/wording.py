"""What is wrong between stops that cannot be served together, in words."""

import itertools
import math

from fairway.judge import Rejection, verify
from fairway.problems.tsptw import TSPTW
from fairway.solver.obstacles import label, listed
from fairway.solver.repair import repair_of
from fairway.solver.subset import subset

MOST_ORDERED = 5
"""Stops of which every order is looked at; what more of them miss is searched for."""


def missed_window(instance: TSPTW, stops: tuple[int, ...], until: float) -> str:
    """The window that is missed by least where all others of these stops are kept."""
    few = len(stops) <= MOST_ORDERED
    small = subset(instance, stops, math.inf if few else until)
    who = f"stops {listed(instance, stops, 'the depot')}"
    missed = None if small is None else (_of_all_orders(small) if few else _searched(small, until))
    if missed is None:
        why = ": in whichever order, more than one window is missed" if few else ""
        return f"{who} cannot be served together{why}"
    node = (0, *stops)[missed[0]]
    name = label(instance, node) if node else "the depot"
    return (
        f"{who}: {name} closes at {instance.closes[node]:.8g} but cannot be reached before {missed[1]:.8g} "
        "if the others are to be in time"
    )


def _of_all_orders(small: TSPTW) -> tuple[int, float] | None:
    """Of the nodes that alone may be late, the one that is late by least, and when it is reached."""
    orders = itertools.permutations(range(1, small.nodes))
    broken = [
        verdict.violations
        for verdict in (verify(small, order) for order in orders)
        if isinstance(verdict, Rejection)
    ]
    single = [violations[0] for violations in broken if len(violations) == 1]
    if not single:
        return None
    least = min(single, key=lambda violation: violation.amount)
    return least.node, float(small.closes[least.node]) + least.amount


def _searched(small: TSPTW, until: float) -> tuple[int, float] | None:
    """The same, as far as it can be found out in the time."""
    repair = repair_of(small, range(1, small.nodes), until, ("closes",))
    return None if repair is None else (repair.node, repair.after)
