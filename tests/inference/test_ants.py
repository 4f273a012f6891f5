from dataclasses import asdict, replace

import numpy as np
import pytest
import torch

from fairway.errors import InvalidFile, InvalidRequest
from fairway.inference import ants
from fairway.inference.ants import propose_by_ants
from fairway.inference.config import ACOConfig
from fairway.inference.model import load_colony
from fairway.judge import Solution, verify
from fairway.kernels.lookahead import AUTHORS, MaskConfig
from fairway.policies.checkpoint import save_policy
from fairway.policies.config import HeatmapConfig
from fairway.policies.heatmap import HeatmapNetwork
from fairway.problems.batch import to_batch
from fairway.problems.generate import generate
from fairway.problems.sets import InstanceSet
from fairway.recipes import recipe_named

FEW = ACOConfig(ants=5, iterations=3)


def saved(folder, problem="tsptw"):
    config = replace(
        recipe_named(f"gfacs-star-pip-{problem}12-hard"), policy=HeatmapConfig(layers=2, width=8)
    )
    torch.manual_seed(2)
    trained = {"problem": problem, "recipe": config.name, "config": asdict(config)}
    save_policy(HeatmapNetwork(config.policy), folder / "policy", trained=trained)
    return folder


@pytest.fixture
def colony(tmp_path):
    return load_colony(saved(tmp_path))


@pytest.fixture
def windows():
    return generate("tsptw", n=12, hardness="hard", count=6, seed=7)


def accepted(instances, tours):
    return [
        [isinstance(verify(one, tour.tolist(), 1e-3), Solution) for tour in rows]
        for one, rows in zip(instances, tours, strict=True)
    ]


def test_a_colony_is_what_was_trained(colony):
    assert (colony.name, colony.problem) == ("gfacs-star-pip-tsptw12-hard", "tsptw")
    assert colony.guard == MaskConfig("ahead", AUTHORS)
    assert not colony.policy.training


def test_the_tours_of_all_iterations_are_proposed_or_those_of_the_last(colony, windows):
    every = propose_by_ants(colony, windows, FEW, seed=3)
    assert every.shape == (6, 15, 11)
    assert (np.sort(every) == np.arange(1, 12)).all()
    last = propose_by_ants(colony, windows, replace(FEW, last=True), seed=3)
    assert np.array_equal(every[:, -5:], last)


def test_a_high_power_leaves_ants_no_choice_but_the_best_of_the_heuristic(colony, windows):
    free = replace(FEW, iterations=1, guard=MaskConfig("none"))
    heuristic = colony.policy(to_batch(windows)).log_heuristic().numpy()
    for power, every in ((1e6, True), (1.0, False)):
        tours = propose_by_ants(colony, windows, replace(free, power=power))
        taken = [
            follows_the_best(rows, tour)
            for rows, some in zip(heuristic, tours, strict=True)
            for tour in some
        ]
        assert all(taken) == every


def follows_the_best(rows, tour):
    """Whether nothing left was ever held to be better than the next stop; pairs without an edge are alike."""
    before = [0, *tour[:-1]]
    return all(
        rows[here][tour[at]] == rows[here][tour[at:]].max() for at, here in enumerate(before)
    )


def test_equal_seeds_give_equal_tours_whatever_the_company(colony, windows, monkeypatch):
    whole = propose_by_ants(colony, windows, FEW, seed=3)
    rest = propose_by_ants(colony, windows[2:], FEW, seed=3, first=2)
    assert np.array_equal(whole[2:], rest)
    monkeypatch.setattr(ants, "ROOM", {"cpu": 2 * 12 * 12 * 8})
    assert np.array_equal(propose_by_ants(colony, windows, FEW, seed=3), whole)
    assert not np.array_equal(propose_by_ants(colony, windows, FEW, seed=4), whole)


def test_pheromone_of_searched_tours_leaves_the_first_ants_as_they_were(colony, windows):
    plain, trail, tours = (
        propose_by_ants(colony, windows, replace(FEW, search=search), seed=3)
        for search in ("none", "trail", "tours")
    )
    assert np.array_equal(plain[:, :5], trail[:, :5])
    assert not np.array_equal(plain, trail)
    right = [np.mean(accepted(windows, found)) for found in (plain, trail, tours)]
    assert right[2] > right[0]


def test_the_mask_can_be_another_than_in_training(colony, windows):
    free = propose_by_ants(colony, windows, replace(FEW, guard=MaskConfig("none")), seed=3)
    masked = propose_by_ants(colony, windows, FEW, seed=3)
    assert np.mean(accepted(windows, masked)) > np.mean(accepted(windows, free))


def test_drafts_that_shrink_are_served_in_their_own_direction(tmp_path):
    grown = generate("tspdl", n=12, hardness="hard", count=4, seed=1)
    shrinking = InstanceSet(
        grown.locations, demand=grown.demand, draft=grown.draft, load="shrinking", scale=grown.scale
    )
    colony = load_colony(saved(tmp_path, "tspdl"))
    foraging = replace(FEW, guard=MaskConfig("exact"))
    for search in ("none", "tours"):
        found = propose_by_ants(colony, shrinking, replace(foraging, search=search))
        assert np.all(accepted(shrinking, found))


def test_what_a_colony_was_not_trained_for_is_refused(colony):
    with pytest.raises(InvalidRequest, match="was trained for tsptw"):
        propose_by_ants(colony, generate("tspdl", n=12, count=1, seed=1), FEW)


def test_a_network_that_does_not_say_how_it_was_trained_is_refused(tmp_path):
    save_policy(HeatmapNetwork(HeatmapConfig(layers=1, width=4)), tmp_path / "policy", trained={})
    with pytest.raises(InvalidFile, match="does not say how"):
        load_colony(tmp_path)
