import numpy as np
import pytest
import torch

from fairway.policies.attention import Policy
from fairway.policies.config import POMO
from fairway.policies.features import features, horizon_of, places, relations
from fairway.problems.augment import symmetries
from fairway.problems.batch import to_batch
from fairway.problems.draw import draw
from fairway.problems.generate import DISTRIBUTIONS
from fairway.problems.instance import TSPDL, TSPTW
from fairway.problems.sets import instance_set


def apart(points):
    return (points[:, None] - points[None]).square().sum(-1).sqrt()


def test_windows_are_read_as_shares_of_the_latest_return():
    """Reference-spec 2: [x, y, l / u_0, u / u_0] with u_0 = max over customers of u_i + D_0i, all units 100."""
    xy = np.array([[0.0, 0.0], [30.0, 40.0], [60.0, 80.0]])
    opens, closes = np.array([0.0, 10.0, 20.0]), np.array([1000.0, 150.0, 120.0])
    travel = np.linalg.norm(xy[:, None] - xy[None], axis=-1)
    instances = instance_set([TSPTW(travel, opens, closes, coordinates=xy)])
    batch = to_batch(instances)
    unit = float(batch.geometry.scale[0])
    last = max(150 + 50, 120 + 100) / unit
    assert batch.horizon.tolist() == pytest.approx([last])
    found = features(batch)[0]
    assert found[:, :2] == pytest.approx(batch.geometry.coordinates[0])
    assert found[1:, 2].tolist() == pytest.approx([10 / unit / last, 20 / unit / last])
    assert found[:, 3].tolist() == pytest.approx([1, 150 / unit / last, 120 / unit / last])


def test_demands_and_drafts_are_read_as_shares_of_the_whole_load():
    batch = draw(DISTRIBUTIONS["tspdl", "hard"], 12, 3, torch.Generator().manual_seed(1))
    found = features(batch)
    assert torch.equal(found[..., :2], batch.geometry.coordinates)
    torch.testing.assert_close(found[..., 2], batch.gain / 11)
    torch.testing.assert_close(found[..., 3], batch.latest / 11)
    assert found.amin() >= 0
    assert found.amax() <= 1


@pytest.mark.parametrize("seed", range(3))
def test_distances_alone_are_put_on_a_map_that_keeps_them(seed):
    """Euclidean matrices without coordinates: the map is the instance's own up to turning, moving and scale."""
    xy = np.random.default_rng(seed).random((8, 2))
    travel = np.linalg.norm(xy[:, None] - xy[None], axis=-1)
    batch = to_batch(instance_set([TSPTW(travel, 0, 10)]))
    assert batch.geometry.coordinates is None
    found = places(batch)[0]
    assert found.amin() >= 0
    assert float(found.amax()) == pytest.approx(1)
    ratio = apart(found)[~torch.eye(8, dtype=torch.bool)] / torch.tensor(
        travel[~np.eye(8, dtype=bool)]
    )
    assert ratio.min().item() == pytest.approx(ratio.max().item(), rel=1e-3)


def test_ways_that_differ_back_and_forth_and_service_times_are_read():
    rng = np.random.default_rng(3)
    travel = rng.integers(1, 30, (3, 7, 7)).astype(float)
    windows = [
        TSPTW(each, 0, [500, *rng.integers(50, 400, 6)], service=rng.integers(0, 9, 7))
        for each in travel
    ]
    ports = [TSPDL(each, [0, 1, 2, 0, 1, 1, 3], 8) for each in travel]
    for instances in (windows, ports):
        batch = to_batch(instance_set(instances))
        found = features(batch)
        assert found.shape == (3, 7, 4)
        assert found.dtype == torch.float32
        assert found.isfinite().all()
        assert found[..., :2].amin() >= 0
        assert found[..., :2].amax() <= 1
        assert len(found[0, :, :2].unique(dim=0)) == 7
        assert Policy(POMO)(batch).query.isfinite().all()


def test_there_and_back_count_alike_on_the_map():
    travel = np.random.default_rng(4).integers(1, 30, (7, 7)).astype(float)
    there, back = (
        places(to_batch(instance_set([TSPTW(way, 0, 99)]))) for way in (travel, travel.T)
    )
    torch.testing.assert_close(there, back)


@pytest.mark.parametrize("away", [0.0, 1.0], ids=["one place", "all alike"])
def test_matrices_without_a_shape_are_put_somewhere(away):
    batch = to_batch(instance_set([TSPTW(away * (1 - np.eye(5)), 0, 9)]))
    assert features(batch).isfinite().all()


def test_a_horizon_of_zero_divides_nothing():
    batch = to_batch(instance_set([TSPTW(np.zeros((3, 3)), 0, 0), TSPTW(np.ones((3, 3)), 0, 5)]))
    assert batch.horizon[0] == 0
    assert horizon_of(batch)[0] == 1
    assert horizon_of(batch)[1] == batch.horizon[1]
    assert features(batch)[0, :, 2:].tolist() == [[0, 0]] * 3


def test_what_two_nodes_are_to_each_other():
    """By hand: the way, and the slacks from the first at its earliest and at its latest, and the wait even then."""
    xy = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    travel = np.linalg.norm(xy[:, None] - xy[None], axis=-1)
    opens, closes = np.array([0.0, 0.5, 4.0]), np.array([9.0, 2.0, 6.0])
    batch = to_batch(instance_set([TSPTW(travel, opens, closes, coordinates=xy)]))
    found = relations(batch)[0]
    assert found.shape == (3, 3, 8)
    # From the first stop, reached at 1 at the earliest, to the second.
    one_way = [1.0, 6 - (1 + 1), 6 - (2 + 1), 4 - (2 + 1)]
    back = [1.0, 2 - (4 + 1), 2 - (6 + 1), 0.5 - (6 + 1)]
    expected = [slack / (1 + abs(slack) / 4) for slack in one_way[1:] + back[1:]]
    assert found[1, 2, [1, 2, 3, 5, 6, 7]].tolist() == pytest.approx(expected)
    assert found[1, 2, [0, 4]].tolist() == pytest.approx([one_way[0], back[0]])
    assert torch.equal(found[..., :4], found[..., 4:].transpose(0, 1))


def test_relations_do_not_change_when_the_map_is_turned():
    batch = draw(DISTRIBUTIONS["tsptw", "medium"], 10, 1, torch.Generator().manual_seed(3))
    views = relations(symmetries(batch))
    torch.testing.assert_close(views, views[:1].expand_as(views))


@pytest.mark.parametrize("problem", ["tsptw", "tspdl"])
def test_relations_are_small_numbers(problem):
    batch = draw(DISTRIBUTIONS[problem, "hard"], 30, 4, torch.Generator().manual_seed(3))
    assert relations(batch).abs().amax() <= 4
