from dataclasses import replace

import pytest
import torch

from fairway.judge import Solution, verify
from fairway.kernels.lookahead import AUTHORS, MaskConfig
from fairway.policies.attention import Policy
from fairway.policies.config import HeatmapConfig
from fairway.policies.heatmap import HeatmapNetwork
from fairway.problems.augment import symmetries
from fairway.problems.batch import take, to_batch
from fairway.problems.generate import generate
from fairway.search.decode import decode
from fairway.train import validate as validation
from fairway.train.config import ColonyConfig
from fairway.train.run import begin
from fairway.train.validate import (
    held_out,
    score_of,
    validate,
    validate_ants,
    validation_set,
)


def test_the_validation_set_is_always_the_same(tiny):
    first, again = (validation_set(tiny, 6, torch.device("cpu")) for _ in range(2))
    assert torch.equal(first.earliest, again.earliest)
    assert first.latest.shape == (6, tiny.nodes)


def test_scores_are_what_the_judge_would_say(tiny):
    """Each view's tour is judged on the instance as it was given, not as it was turned."""
    torch.manual_seed(1)
    policy, instances = (
        Policy(tiny.policy),
        generate("tsptw", n=9, hardness="hard", count=30, seed=2),
    )
    batch = to_batch(instances)
    score = validate(tiny, policy, batch, MaskConfig("none"))
    tours = decode(symmetries(batch), policy(symmetries(batch)), MaskConfig("none")).rollout.tours
    verdicts = [
        [verify(instance, tours[view * 30 + i, 0].tolist(), tolerance=1e-3) for view in range(8)]
        for i, instance in enumerate(instances)
    ]
    solved = [[v.cost for v in row if isinstance(v, Solution)] for row in verdicts]
    assert score.sol_infeasible == pytest.approx(100 * (1 - sum(map(len, solved)) / 240))
    assert score.inst_infeasible == pytest.approx(100 * sum(not row for row in solved) / 30)
    best = [min(row) / 100 for row in solved if row]
    assert score.length == pytest.approx(sum(best) / len(best), rel=1e-5)
    assert 0 < score.inst_infeasible < 100


def test_slices_do_not_matter(tiny, monkeypatch):
    policy, batch = Policy(tiny.policy), validation_set(tiny, 20, torch.device("cpu"))
    whole = validate(tiny, policy, batch)
    monkeypatch.setattr("fairway.train.validate.AT_A_TIME", 7)
    parts = validate(tiny, policy, take(batch, slice(0, 20)))
    assert parts.length == pytest.approx(whole.length)
    assert parts.sol_infeasible == pytest.approx(whole.sol_infeasible)


def test_validation_leaves_the_policy_in_training(tiny):
    config = replace(tiny, policy=replace(tiny.policy, normalisation="batch"))
    policy = Policy(config.policy)
    validate(config, policy, validation_set(config, 4, torch.device("cpu")))
    assert policy.training


def test_the_score_of_a_mixture_is_the_mean_of_its_kinds(tiny):
    run = begin(replace(tiny, mixture=(("hard", 5), ("easy", 7))), torch.device("cpu"))
    kinds = [(part, validation_set(part, 4, run.device)) for part in run.config.parts]
    one, other = (validate(part, run.finished, batch) for part, batch in kinds)
    assert score_of(run, kinds).length == pytest.approx((one.length + other.length) / 2)
    many = [(part.nodes, len(batch.latest)) for part, batch in held_out(run.config, run.device)]
    assert many == [(5, 256), (7, 256)]


SOME = ColonyConfig(
    "some", "tsptw", "hard", 10, policy=HeatmapConfig(layers=1, width=4), ants=6, guard=MaskConfig("none")
)  # fmt: skip


def scores(config, count=12):
    torch.manual_seed(1)
    network = HeatmapNetwork(config.policy)
    held_out = validation_set(config, count, torch.device("cpu"))
    return validate_ants(config, network, held_out), network


def test_a_mask_makes_more_tours_and_more_instances_feasible():
    free, network = scores(SOME)
    masked, _ = scores(replace(SOME, guard=MaskConfig("ahead", AUTHORS)))
    assert masked.sol_infeasible < free.sol_infeasible <= 100
    assert masked.inst_infeasible <= free.inst_infeasible
    assert network.training, "it goes on learning afterwards"


def test_parts_and_the_whole_have_one_score(monkeypatch):
    whole, _ = scores(replace(SOME, guard=MaskConfig()))
    monkeypatch.setattr(validation, "ROOM", {"cpu": 2 * 10 * 10 * 4})
    parts, _ = scores(replace(SOME, guard=MaskConfig()))
    assert whole == parts
