"""The method `ants`: what counts as proposed, and what the header says of it."""

from dataclasses import asdict, replace

import pytest
import torch

from fairway.evaluate.methods import AntsEval
from fairway.evaluate.run import Place, evaluate
from fairway.inference.config import ACOConfig
from fairway.policies.checkpoint import save_policy
from fairway.policies.config import HeatmapConfig
from fairway.policies.heatmap import HeatmapNetwork
from fairway.problems.generate import generate
from fairway.recipes import recipe_named


@pytest.fixture
def instances():
    return replace(generate("tsptw", n=12, hardness="hard", count=5, seed=7), name="mine")


@pytest.fixture
def colony(tmp_path):
    config = replace(
        recipe_named("gfacs-star-pip-tsptw12-hard"), policy=HeatmapConfig(layers=2, width=8)
    )
    torch.manual_seed(2)
    folder = tmp_path / "colony"
    folder.mkdir()
    trained = {"problem": "tsptw", "recipe": config.name, "config": asdict(config)}
    save_policy(HeatmapNetwork(config.policy), folder / "policy", trained=trained)
    return folder


def finished(asked, instances, tmp_path, label):
    *_, last = evaluate(asked, instances, Place(tmp_path, "main", "mine", label))
    return last


def test_all_iterations_count_or_the_last_alone_and_the_header_says_which(
    colony, instances, tmp_path
):
    aco = ACOConfig(ants=4, iterations=3)
    asked = AntsEval(policy=colony, aco=aco, workers=1, device="cpu")
    every = finished(asked, instances, tmp_path, "every")
    last = finished(replace(asked, aco=replace(aco, last=True)), instances, tmp_path, "last")
    assert [outcome.tours for outcome in every.outcomes] == [12] * 5
    assert [outcome.tours for outcome in last.outcomes] == [4] * 5
    assert every.header.settings["last"] is False
    assert last.header.settings["last"] is True
    assert every.header.settings["policy"] == "gfacs-star-pip-tsptw12-hard"
    for one, other in zip(every.outcomes, last.outcomes, strict=True):
        assert other.accepted <= one.accepted
        assert other.cost is None or one.cost <= other.cost
