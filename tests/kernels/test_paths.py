"""Shortest paths from one node, against those between all."""

import numpy as np

from fairway.kernels.paths import shortest


def between_all(increment, through):
    """Floyd and Warshall's, by way of the given nodes."""
    least = increment.copy()
    for node in np.flatnonzero(through):
        np.minimum(least, least[:, node, None] + least[node], out=least)
    np.fill_diagonal(least, 0.0)
    return least


def test_it_finds_what_is_found_between_all(rng):
    for _ in range(50):
        nodes = int(rng.integers(1, 9))
        increment, through = rng.integers(0, 30, (nodes, nodes)) * 1.0, rng.random(nodes) < 0.5
        for source in range(nodes):
            expected = between_all(increment, through)[source]
            assert shortest(increment, source, through).tolist() == expected.tolist()
