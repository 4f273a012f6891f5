import numpy as np
import pytest
import torch

from fairway.problems.augment import SYMMETRIES, symmetries, turned
from fairway.problems.batch import every_pair, to_batch
from fairway.problems.draw import draw
from fairway.problems.generate import DISTRIBUTIONS
from fairway.problems.instance import TSPTW
from fairway.problems.sets import instance_set


def some_batch(problem="tsptw", nodes=9, count=4):
    return draw(DISTRIBUTIONS[problem, "hard"], nodes, count, torch.Generator().manual_seed(1))


def test_there_are_eight_views_and_the_first_is_as_given():
    points = torch.rand(3, 5, 2, generator=torch.Generator().manual_seed(1))
    views = turned(points).view(SYMMETRIES, 3, 5, 2)
    assert torch.equal(views[0], points)
    for one in range(SYMMETRIES):
        for other in range(one):
            assert (views[one] - views[other]).abs().max() > 0.1


def test_the_views_of_a_corner_and_its_neighbour_are_those_of_the_square():
    """Reference-spec 6: (x, y), (1 - x, y), (x, 1 - y), (1 - x, 1 - y), and the same with x and y swapped."""
    views = turned(torch.tensor([[[0.1, 0.3]]]))[:, 0]
    found = {(round(x, 4), round(y, 4)) for x, y in views.tolist()}
    upright = {(x, y) for x in (0.1, 0.9) for y in (0.3, 0.7)}
    assert found == upright | {(y, x) for x, y in upright}


@pytest.mark.parametrize("problem", ["tsptw", "tspdl"])
def test_ways_and_limits_are_the_same_in_every_view(problem):
    """So every tour has the same length and breaks the same limits in all of them."""
    batch = some_batch(problem)
    views = symmetries(batch)
    assert type(views) is type(batch)
    for name in ("earliest", "latest", "initial", "horizon", "unit"):
        assert torch.equal(
            getattr(views, name),
            getattr(batch, name).repeat(8, *[1] * (getattr(batch, name).dim() - 1)),
        )
    for legs in ("travel", "increment"):
        expected = getattr(batch, legs)(*every_pair(batch)).repeat(8, 1, 1)
        torch.testing.assert_close(
            getattr(views, legs)(*every_pair(views)), expected, rtol=1e-5, atol=1e-6
        )
    coordinates = views.geometry.coordinates
    assert coordinates.amin() >= 0
    assert coordinates.amax() <= 1


def test_views_come_one_after_the_other_each_of_all_instances():
    batch = some_batch()
    corners = symmetries(batch).geometry.coordinates.view(8, 4, 9, 2)
    for b in range(4):
        alone = turned(batch.geometry.coordinates[b : b + 1])
        assert torch.equal(corners[:, b], alone)


def test_matrices_are_repeated_as_they_are():
    travel = np.random.default_rng(1).integers(1, 9, (2, 5, 5)).astype(float)
    batch = to_batch(instance_set([TSPTW(each, 0, 99) for each in travel]))
    views = symmetries(batch)
    assert views.geometry.coordinates is None
    assert torch.equal(views.geometry.matrix, batch.geometry.matrix.repeat(8, 1, 1))
    assert views.latest.shape == (16, 5)
