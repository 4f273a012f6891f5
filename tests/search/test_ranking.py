"""Functions and guides that rank the labels of an exact search."""

import brute
import numpy as np
import pytest

from fairway.problems.generate import generate
from fairway.search.exact import beam


class ByBound:
    """Keeps what bounds alone would keep, and notes all that it is shown."""

    def __init__(self):
        self.layers = []
        self.kept = []

    def rank(self, parents, labels, parent):
        self.layers.append((parents, labels, parent.copy()))
        return labels.bound

    def keep(self, kept):
        self.kept.append(kept.copy())


@pytest.mark.parametrize("width", [1, 3, 50])
def test_a_guide_that_goes_by_bounds_is_the_plain_beam(width):
    for instance in generate("tsptw", n=15, hardness="medium", count=6, seed=3):
        guided, plain = beam(instance, width, rank=ByBound()), beam(instance, width)
        assert (guided.tour, guided.cost) == (plain.tour, plain.cost)


def test_a_guide_sees_every_layer_and_where_its_labels_come_from(rng):
    instance = brute.windows(rng, 7)
    guide = ByBound()
    beam(instance, 4, rank=guide)
    before = None
    for (parents, labels, parent), kept in zip(guide.layers, guide.kept, strict=True):
        if before is not None:
            assert np.array_equal(parents.visited, before)
        extended = parents.visited[parent].copy()
        extended[np.arange(len(parent)), labels.last] = True
        assert np.array_equal(extended, labels.visited)
        assert not parents.visited[parent, labels.last].any()
        assert kept.sum() == min(4, len(labels.last))
        before = labels.visited[kept]
    assert len(guide.layers) == instance.nodes - 1 or not len(before)


def test_a_function_is_shown_stops_by_the_instances_own_numbers(rng):
    instance = brute.windows(rng, 7)
    seen = []

    def latest_first(labels):
        seen.append(labels)
        return -labels.level

    beam(instance, 2, rank=latest_first)
    for labels in seen:
        assert (labels.visited.sum(axis=1) == labels.visited.sum(axis=1)[0]).all()
        assert labels.visited[np.arange(len(labels.last)), labels.last].all()
