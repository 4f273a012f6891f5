import hashlib
import itertools

import numpy as np
import pytest

from fairway.errors import InvalidRequest
from fairway.judge import Solution, verify
from fairway.problems.generate import (
    LoweredDrafts,
    RandomWindows,
    TourWindows,
    generate,
    servable,
    tour_windows,
)
from fairway.problems.sets import InstanceSet


@pytest.mark.parametrize(("hardness", "low", "high"), [("easy", 0.5, 0.75), ("medium", 0.1, 0.2)])
def test_random_windows_follow_their_law(hardness, low, high):
    instances = generate("tsptw", n=50, hardness=hardness, count=400, seed=5)
    opens, widths = instances.opens[:, 1:], (instances.closes - instances.opens)[:, 1:]
    horizon = 55 * 50
    assert (opens == np.rint(opens)).all()
    assert opens.min() >= 0
    assert opens.max() <= horizon - 1
    assert opens.mean() == pytest.approx((horizon - 1) / 2, rel=0.02)
    assert (widths >= np.floor(low * horizon)).all()
    assert (widths <= np.ceil(high * horizon)).all()
    assert widths.mean() == pytest.approx((low + high) / 2 * horizon, rel=0.01)
    assert (instances.opens[:, 0] == 0).all()
    assert (instances.closes[:, 0] == 2 * horizon).all()
    assert instances.locations.coordinates.max() < 100


@pytest.mark.parametrize(("n", "eta"), [(2, 50.0), (20, 50.0), (100, 50.0), (30, 0.0), (30, 200.0)])
def test_the_hidden_tour_of_a_hard_instance_is_always_feasible(n, eta):
    instances, tours = tour_windows(TourWindows(eta=eta), n, 100, np.random.default_rng(n))
    for instance, tour in zip(instances, tours, strict=True):
        assert isinstance(verify(instance, tour), Solution)


@pytest.mark.parametrize("n", [1_900, 2_100, 4_000])
def test_the_depot_stays_open_for_the_hidden_tour_of_a_large_instance(n):
    instances, tours = tour_windows(TourWindows(), n, 2, np.random.default_rng(n))
    for instance, tour in zip(instances, tours, strict=True):
        assert isinstance(verify(instance, tour), Solution)


def test_below_that_size_the_depot_closes_as_it_always_did():
    large = generate("tsptw", n=1_700, seed=3)
    assert large.closes[0, 0] == 100_000
    digest = hashlib.sha256(large.closes.tobytes() + large.opens.tobytes()).hexdigest()
    assert digest[:16] == "13c3b2327793d6a9"


def test_tour_windows_follow_their_law():
    instances, _ = tour_windows(TourWindows(), 50, 400, np.random.default_rng(1))
    widths = (instances.closes - instances.opens)[:, 1:]
    assert widths.mean() == pytest.approx(50, rel=0.02)
    assert widths.min() >= 0
    assert widths.max() <= 100
    assert (instances.closes[:, 0] == 100_000).all()


@pytest.mark.parametrize("n", [2, 3, 5, 10, 11, 50, 100])
@pytest.mark.parametrize(
    "hardness", ["easy", "medium", "hard", LoweredDrafts(100), LoweredDrafts(0)]
)
def test_serving_by_draft_is_always_feasible(n, hardness):
    for instance in generate("tspdl", n=n, hardness=hardness, count=50, seed=n):
        by_draft = 1 + np.argsort(instance.draft[1:], kind="stable")
        assert isinstance(verify(instance, by_draft), Solution)


@pytest.mark.parametrize(
    ("n", "hardness", "lowered", "mean"),
    [
        (50, "medium", 37, 25.6),
        (50, "hard", 45, 26.9),
        (100, "medium", 75, 50.8),
        (100, "hard", 90, 52.4),
    ],
)
def test_lowered_drafts_have_the_published_means(n, hardness, lowered, mean):
    """The figures of the published sets; a lowered port's draft is below n - 1 by construction."""
    draft = generate("tspdl", n=n, hardness=hardness, count=2000, seed=1).draft[:, 1:]
    assert ((draft < n - 1).sum(axis=1) == lowered).all()
    assert draft[draft < n - 1].mean() == pytest.approx(mean, abs=0.15)


def test_servable_means_that_some_order_serves_all():
    """Against brute force over all orders of unit demands."""
    for drafts in itertools.product(range(1, 5), repeat=4):
        orders = itertools.permutations(drafts)
        some = any(all(load <= d for load, d in enumerate(order, 1)) for order in orders)
        assert servable(np.array([drafts]))[0] == some


def test_equal_seeds_give_equal_sets_and_others_do_not():
    one, same, other = (generate("tsptw", n=10, count=3, seed=seed) for seed in (4, 4, 5))
    assert np.array_equal(one.opens, same.opens)
    assert not np.array_equal(one.opens, other.opens)
    assert isinstance(one, InstanceSet)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"problem": "tsp"}, "no distribution for problem 'tsp'"),
        ({"hardness": "brutal"}, "hardness 'brutal'"),
        ({"hardness": LoweredDrafts(75)}, "a distribution of that problem"),
        ({"problem": "tspdl", "hardness": TourWindows()}, "a distribution of that problem"),
        ({"n": 1}, "n is 1; expected 2 to 5000 nodes"),
        ({"n": 10**10}, "n is 10000000000"),
        ({"count": 0}, "count is 0"),
        ({"count": 10**12}, "count is 1000000000000"),
        ({"seed": -1}, "the seed is -1"),
    ],
)
def test_what_no_law_can_serve_is_refused(arguments, sentence):
    with pytest.raises(InvalidRequest, match=sentence):
        generate(**({"problem": "tsptw", "n": 5} | arguments))


@pytest.mark.parametrize(
    "distribution",
    [
        lambda: RandomWindows(width=(0.3, 0.2)),
        lambda: RandomWindows(width=(0.1, 0.2), pace=0),
        lambda: TourWindows(eta=-1),
        lambda: TourWindows(eta=float("nan")),
        lambda: LoweredDrafts(101),
    ],
)
def test_senseless_parameters_make_no_law(distribution):
    with pytest.raises(InvalidRequest):
        distribution()
