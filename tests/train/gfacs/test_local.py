"""The local search around ants' tours in training."""

import stat
from dataclasses import replace

import numpy as np
import pytest
import torch

from fairway.errors import SolverMissing
from fairway.judge import Solution, verify
from fairway.problems.batch import instances_in
from fairway.problems.draw import draw
from fairway.recipes import recipe_named
from fairway.train.gfacs.local import searched
from fairway.train.gfacs.loop import train
from fairway.train.gfacs.run import found
from fairway.train.loop import Budget
from fairway.train.world import World

CPU = torch.device("cpu")


@pytest.fixture
def config():
    return replace(recipe_named("gfacs-star-pip-tsptw8-hard"), batch=2, ants=3, epochs=1, epoch=2)


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """A program in place of LKH-3 that hands back the tour it was given."""
    script = tmp_path / "LKH"
    script.write_text("#!/bin/sh\ngrep -q 'MAX_TRIALS = 1$' run.par && cp initial.tour best.tour\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("FAIRWAY_LKH", str(script))


def some_tours(config):
    batch = draw(config.law, config.nodes, 2, torch.Generator().manual_seed(3))
    random = np.random.default_rng(1)
    return batch, np.array([[1 + random.permutation(7) for _ in range(3)] for _ in range(2)])


@pytest.mark.parametrize("workers", [1, 3])
def test_ours_keeps_the_limits_that_random_tours_break(config, workers):
    batch, tours = some_tours(config)
    better = searched(config, batch, tours, 0, workers)
    before, after = (
        [
            isinstance(verify(instance, tour.tolist()), Solution)
            for instance, rows in zip(instances_in(batch), found_tours, strict=True)
            for tour in rows
        ]
        for found_tours in (tours, better)
    )
    assert sum(before) < sum(after) == 6


def test_lkh_starts_from_each_tour_for_one_trial(config, stand_in):
    batch, tours = some_tours(config)
    assert np.array_equal(searched(replace(config, search="lkh"), batch, tours, 0, 2), tours)


def test_a_colony_can_be_trained_with_lkh(config, stand_in):
    run = found(replace(config, search="lkh"), CPU)
    *_, last = train(run, Budget(), World())
    assert last.figures["searched_cost"] == pytest.approx(last.figures["cost"], rel=1e-5)


def test_a_colony_that_wants_lkh_says_where_to_get_it(config, monkeypatch):
    monkeypatch.setenv("FAIRWAY_LKH", "/nowhere")
    with pytest.raises(SolverMissing, match="build it and set FAIRWAY_LKH"):
        next(train(found(replace(config, search="lkh"), CPU), Budget(), World()))
