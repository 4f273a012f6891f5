"""Batches, and the construction functions over them, held against the judge."""

import numpy as np
import pytest
import torch

from fairway.judge import verify
from fairway.problems.batch import to_batch
from fairway.problems.beds import load_bed
from fairway.problems.generate import generate
from fairway.problems.instance import TSPDL, TSPTW
from fairway.problems.problem import start, step
from fairway.problems.sets import instance_set


def resources_along(batch, tours):
    """The resource at every stop of one given tour per instance."""
    state, resources = start(batch), []
    for action in torch.tensor(tours).T[:, :, None]:
        state = step(batch, state, action)
        resources.append(state.resource[:, 0])
    assert not state.unvisited.any()
    return torch.stack(resources, dim=1).double().numpy()


def random_tours(count, nodes, rng):
    return np.stack([1 + rng.permutation(nodes - 1) for _ in range(count)])


@pytest.mark.parametrize("hardness", ["easy", "medium", "hard"])
def test_stepping_through_windows_gives_the_judges_start_times(hardness, rng):
    instances = generate("tsptw", n=30, hardness=hardness, count=20, seed=1)
    tours = random_tours(20, 30, rng)
    expected = [verify(i, t).schedule.start for i, t in zip(instances, tours, strict=True)]
    assert 100 * resources_along(to_batch(instances), tours) == pytest.approx(
        np.stack(expected), abs=5e-3
    )


def test_stepping_through_drafts_gives_the_judges_loads_exactly(rng):
    instances = generate("tspdl", n=100, count=20, seed=1)
    tours = random_tours(20, 100, rng)
    expected = [verify(i, t).schedule.load for i, t in zip(instances, tours, strict=True)]
    assert np.array_equal(resources_along(to_batch(instances), tours), np.stack(expected))


def test_asymmetric_travel_and_service_times_are_carried(rng):
    instances = instance_set(
        [
            TSPTW(rng.random((9, 9)) * 50, rng.random(9) * 20, 1000, rng.random(9) * 5)
            for _ in range(4)
        ]
    )
    batch = to_batch(instances)
    tours = random_tours(4, 9, rng)
    expected = [verify(i, t).schedule.start for i, t in zip(instances, tours, strict=True)]
    scale = batch.geometry.scale.numpy()[:, None]
    assert scale * resources_along(batch, tours) == pytest.approx(np.stack(expected), rel=1e-5)


def test_a_shrinking_load_is_read_from_the_other_end(rng):
    travel = rng.random((4, 7, 7))
    instances = instance_set([TSPDL(t, [0, 1, 2, 3, 4, 5, 6], 30, "shrinking") for t in travel])
    batch = to_batch(instances)
    tours = random_tours(4, 7, rng)
    here = torch.tensor(np.concatenate([np.zeros((4, 1), int), tours[:, ::-1]], axis=1))
    there = torch.tensor(np.concatenate([tours[:, ::-1], np.zeros((4, 1), int)], axis=1))
    lengths = batch.travel(here, there).sum(-1) * batch.geometry.scale
    verdicts = [verify(i, t) for i, t in zip(instances, tours, strict=True)]
    assert lengths.numpy() == pytest.approx([v.cost for v in verdicts], rel=1e-5)
    loads = np.stack([v.schedule.load[::-1] for v in verdicts])
    assert np.array_equal(resources_along(batch, tours[:, ::-1].copy()), loads)


@pytest.mark.parametrize(
    ("name", "mean"),
    [("tsptw50-easy", 46.2), ("tsptw50-medium", 32.0), ("tsptw50-hard", 26.3),
     ("tsptw100-easy", 93.3), ("tsptw100-medium", 64.3), ("tsptw100-hard", 52.4)],
)  # fmt: skip
def test_the_latest_return_has_the_papers_mean(name, mean):
    batch = to_batch(load_bed(name))
    assert batch.geometry.matrix is None, "travel is made on demand"
    assert batch.horizon.mean().item() == pytest.approx(mean, abs=0.06)
    assert batch.geometry.coordinates.max() <= 1


def test_a_depot_that_closes_early_keeps_its_closing():
    early = instance_set([TSPTW([[0, 1], [1, 0]], 0, [1.5, 9], coordinates=[[0, 0], [1, 0]])])
    assert to_batch(early).horizon.item() == 1.5


def test_draft_features_are_shares_of_the_total_demand():
    batch = to_batch(load_bed("tspdl50-hard")[:5])
    assert batch.horizon.tolist() == [49] * 5
    assert to_batch(instance_set([TSPDL(np.ones((2, 2)), 0, 1)])).horizon.item() == 1


def test_instances_of_any_size_fit_the_unit_square():
    far = instance_set(
        [TSPTW([[0, 7e5], [7e5, 0]], 0, 9e6, coordinates=[[1e6, 2e6], [1.7e6, 2e6]])]
    )
    assert to_batch(far).geometry.coordinates.tolist() == [[[0, 0], [1, 0]]]
    assert to_batch(far).travel(torch.tensor([0]), torch.tensor([1])).item() == 1
    one_place = instance_set([TSPTW([[0, 0], [0, 0]], 0, 9, coordinates=[[3, 3], [3, 3]])])
    assert to_batch(one_place).geometry.scale.item() == 1


def test_many_tours_start_at_the_depot_as_it_opens():
    batch = to_batch(
        instance_set([TSPTW([[0, 1], [1, 0]], [2, 0], 9, coordinates=[[0, 0], [1, 0]])])
    )
    state = start(batch, tours=3)
    assert state.resource.tolist() == [[2, 2, 2]]
    assert state.unvisited.tolist() == [[[False, True]] * 3]
