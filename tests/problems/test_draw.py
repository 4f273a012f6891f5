"""The distributions on the training device, held against the numpy ones: the same, by another stream."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
import torch

from fairway.judge import Solution, verify
from fairway.problems.batch import to_batch
from fairway.problems.draw import draw, servable_drafts
from fairway.problems.generate import DISTRIBUTIONS, TourWindows, generate, servable
from fairway.problems.instance import TSPDL, TSPTW

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.cuda)]


def generator(device: str, seed: int = 1) -> torch.Generator:
    return torch.Generator(device).manual_seed(seed)


def largest_gap(left: torch.Tensor, right: torch.Tensor) -> float:
    """The Kolmogorov-Smirnov distance between two samples."""
    a, b = np.sort(left.flatten().cpu().numpy()), np.sort(right.flatten().cpu().numpy())
    both = np.concatenate([a, b])
    shares = [np.searchsorted(x, both, side="right") / len(x) for x in (a, b)]
    return float(np.abs(shares[0] - shares[1]).max())


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("problem", "hardness"), list(DISTRIBUTIONS))
def test_both_versions_draw_from_one_distribution(problem, hardness, device):
    """Two samples of 80,000 from one distribution are further apart than 0.014 once in a million."""
    here = draw(DISTRIBUTIONS[problem, hardness], 20, 4000, generator(device))
    there = to_batch(generate(problem, n=20, hardness=hardness, count=4000, seed=2))
    for name in ("earliest", "latest") if problem == "tsptw" else ("gain", "latest"):
        assert getattr(here, name).shape == getattr(there, name).shape
        assert largest_gap(getattr(here, name), getattr(there, name)) < 0.014, name
    assert largest_gap(here.geometry.coordinates, there.geometry.coordinates) < 0.014
    assert largest_gap(here.horizon, there.horizon) < 0.05
    if problem == "tsptw":
        widths = [each.latest - each.earliest for each in (here, there)]
        assert largest_gap(*widths) < 0.014


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("n", [2, 5, 50])
def test_hard_instances_are_feasible_for_a_judge_without_tolerance(n, device):
    """The hidden tour is not kept, but arriving in order of the windows' middle finds it at eta = 0."""
    batch = draw(TourWindows(eta=0.0), n, 200, generator(device))
    for points, opens, closes in zip(
        batch.geometry.coordinates.double().cpu().numpy(),
        batch.earliest.double().cpu().numpy(),
        batch.latest.double().cpu().numpy(),
        strict=True,
    ):
        travel = np.sqrt(np.square(points[:, None] - points[None]).sum(-1))
        closes[0] = np.inf if n < 2 else 1e6
        instance = TSPTW(travel, np.minimum(opens, closes), closes)
        assert isinstance(verify(instance, 1 + np.argsort(closes[1:]), tolerance=0), Solution)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("n", [2, 3, 11, 50, 100])
@pytest.mark.parametrize("hardness", ["medium", "hard"])
def test_draft_limits_are_always_servable(n, hardness, device):
    batch = draw(DISTRIBUTIONS["tspdl", hardness], n, 300, generator(device))
    for demand, draft in zip(batch.gain.cpu().numpy(), batch.latest.cpu().numpy(), strict=True):
        instance = TSPDL(np.ones((n, n)), demand, draft)
        assert isinstance(verify(instance, 1 + np.argsort(draft[1:], kind="stable")), Solution)


@pytest.mark.parametrize(("spots", "lowered"), [(3, 2), (3, 3), (4, 3)])
def test_servable_drafts_are_uniform(spots, lowered):
    """Every servable row, found by trying them all, comes equally often (chi-square, 99.99 %)."""
    rows = [
        row for row in product(range(1, spots + 1), repeat=lowered) if servable(np.array([row]))[0]
    ]
    draws = 20_000
    drawn = Counter(map(tuple, servable_drafts(spots, lowered, draws, generator("cpu")).tolist()))
    assert set(drawn) == set(rows)
    expected = draws / len(rows)
    chi_square = sum((drawn[row] - expected) ** 2 / expected for row in rows)
    freedom = len(rows) - 1
    assert chi_square < freedom + 4 * (2 * freedom) ** 0.5 + 8


@pytest.mark.parametrize("device", DEVICES)
def test_equal_generators_give_equal_batches_on_their_device(device):
    one, same = (
        draw(DISTRIBUTIONS["tsptw", "hard"], 10, 5, generator(device, 3)) for _ in range(2)
    )
    assert torch.equal(one.latest, same.latest)
    assert one.latest.device.type == device
    assert one.latest.dtype == torch.float32
