"""Small instances that break every habit: whole, asymmetric, without the triangle inequality."""

import numpy as np

from fairway.problems.instance import TSPDL, TSPTW


def odd_windows(rng, nodes, width):
    """Whole, asymmetric travel that breaks the triangle inequality, service times, windows around a tour."""
    travel = rng.integers(0, 12, (nodes, nodes)).astype(float)
    service = rng.integers(0, 3, nodes)
    now, here, opens, closes = service[0], 0, np.zeros(nodes), np.full(nodes, 30.0 * nodes)
    for stop in 1 + rng.permutation(nodes - 1):
        now += travel[here, stop]
        opens[stop], closes[stop] = now - rng.integers(0, width), now + rng.integers(0, width)
        now, here = now + service[stop], stop
    return TSPTW(travel, opens, closes, service)


def odd_drafts(rng, nodes, load="growing"):
    demand = np.append(0, rng.integers(0, 4, nodes - 1))
    order = 1 + rng.permutation(nodes - 1)
    draft = np.zeros(nodes)
    draft[order] = np.cumsum(demand[order]) + rng.integers(0, 4, nodes - 1)
    return TSPDL(rng.integers(0, 12, (nodes, nodes)), demand, draft, load)
