"""Stretches of a tour put into their best order by exact search, where an order is all that it has to keep.

Local search may be many moves away from a better order of thirty stops that a proof goes through in a moment.
"""

from itertools import pairwise

import numpy as np

from fairway import clock
from fairway.problems.instance import Instance
from fairway.search.general_exact import ordered, prove_general

SHORTEST, LONGER = 20, 10
"""Nodes of the first stretches, and by how many the next are longer."""
PATIENCE, MISSED = 0.4, 2
"""Of the time that is left, what one stretch may take, and how many may take longer."""


def arranged(instance: Instance, tour: tuple[int, ...], until: float) -> tuple[int, ...]:
    """The tour with ever longer stretches in their best order, until then by `clock.now`; the cost is minimised.

    Each begins in the middle of the one before it. The second that takes too long ends it.
    """
    if not ordered(instance, "cost"):
        return tour
    path = [0, *tour] if instance.end is None else [0, *tour, instance.end]
    followers = np.zeros((instance.nodes, instance.nodes), bool)
    for a, b in (*instance.before, *instance.pairs):
        followers[a, b] = True
    missed = 0
    for length in range(SHORTEST, len(path), LONGER):
        for start in range(0, len(path) - length // 2, length // 2):
            first = min(start, len(path) - length)
            seconds = PATIENCE * (until - clock.now())
            if seconds <= 0 or missed == MISSED:
                return tuple(path[1 : len(tour) + 1])
            missed += not _arrange(instance, path, (first, first + length), followers, seconds)
    return tuple(path[1 : len(tour) + 1])


def _arrange(
    instance: Instance,
    path: list[int],
    stretch: tuple[int, int],
    followers: np.ndarray,
    seconds: float,
) -> bool:
    """Put the inner nodes of a stretch into their best order; whether it is known to be that."""
    nodes = np.array(path[slice(*stretch)])
    among = np.ix_(nodes, nodes)
    legs = np.where(np.isfinite(instance.travel[among]), instance.cost[among], np.inf)
    np.fill_diagonal(legs, 0.0)
    inner = np.argwhere(followers[among][1:-1, 1:-1]) + 1
    part = Instance(legs, before=[(a, b) for a, b in inner.tolist()], end=len(nodes) - 1)
    known = float(sum(legs[a, b] for a, b in pairwise(range(len(nodes)))))
    proof = prove_general(part, upper=known, seconds=seconds)
    if proof.tour is not None and proof.cost < known:
        path[stretch[0] + 1 : stretch[1] - 1] = nodes[list(proof.tour)].tolist()
    return proof.status != "truncated"
