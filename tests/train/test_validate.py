from dataclasses import replace

import pytest
import torch

from fairway.judge import Solution, verify
from fairway.kernels.lookahead import Guard
from fairway.policies.attention import Policy
from fairway.problems.augment import symmetries
from fairway.problems.batch import take, to_batch
from fairway.problems.generate import generate
from fairway.search.decode import decode
from fairway.train.validate import Score, mean_score, validate, validation_set


def test_the_validation_set_is_always_the_same(tiny):
    first, again = (validation_set(tiny, 6, torch.device("cpu")) for _ in range(2))
    assert torch.equal(first.opens, again.opens)
    assert first.limit.shape == (6, tiny.nodes)


def test_scores_are_what_the_judge_would_say(tiny):
    """Each view's tour is judged on the instance as it was given, not as it was turned."""
    torch.manual_seed(1)
    policy, instances = (
        Policy(tiny.policy),
        generate("tsptw", n=9, hardness="hard", count=30, seed=2),
    )
    batch = to_batch(instances)
    score = validate(tiny, policy, batch, Guard("none"))
    tours = decode(symmetries(batch), policy(symmetries(batch)), Guard("none")).rollout.tours
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


def test_the_score_of_a_mixture_is_the_mean_of_its_kinds():
    scores = [Score(1.0, 0.5, 20.0), Score(3.0, 0.0, 10.0)]
    assert mean_score(scores) == Score(2.0, 0.25, 15.0)
