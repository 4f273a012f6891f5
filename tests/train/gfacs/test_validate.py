from dataclasses import replace

import torch

from fairway.kernels.lookahead import AUTHORS, Guard
from fairway.policies.config import HeatmapConfig
from fairway.policies.heatmap import HeatmapNetwork
from fairway.train.gfacs import validate
from fairway.train.gfacs.config import ColonyConfig
from fairway.train.gfacs.validate import validate_ants
from fairway.train.validate import validation_set

SOME = ColonyConfig(
    "some", "tsptw", "hard", 10, policy=HeatmapConfig(layers=1, width=4), ants=6, guard=Guard("none")
)  # fmt: skip


def scores(config, count=12):
    torch.manual_seed(1)
    network = HeatmapNetwork(config.policy)
    held_out = validation_set(config, count, torch.device("cpu"))
    return validate_ants(config, network, held_out), network


def test_a_mask_makes_more_tours_and_more_instances_feasible():
    free, network = scores(SOME)
    masked, _ = scores(replace(SOME, guard=Guard("ahead", AUTHORS)))
    assert masked.sol_infeasible < free.sol_infeasible <= 100
    assert masked.inst_infeasible <= free.inst_infeasible
    assert network.training, "it goes on learning afterwards"


def test_parts_and_the_whole_have_one_score(monkeypatch):
    whole, _ = scores(replace(SOME, guard=Guard()))
    monkeypatch.setattr(validate, "ROOM", {"cpu": 2 * 10 * 10 * 4})
    parts, _ = scores(replace(SOME, guard=Guard()))
    assert whole == parts
