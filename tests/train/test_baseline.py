from dataclasses import replace

import numpy as np
import pytest
import torch

from fairway.kernels.lookahead import Guard
from fairway.train.baseline import settle_baseline, significantly_lower
from fairway.train.config import Rate
from fairway.train.loop import Budget, train
from fairway.train.run import begin
from fairway.train.world import World


@pytest.mark.parametrize(("gain", "expected"), [(0.1, True), (0.01, False), (-0.1, False)])
def test_a_paired_one_sided_test(gain, expected):
    """1,000 pairs with a spread of 1 in their differences: a mean gain of 0.1 is three standard errors."""
    rng = np.random.default_rng(1)
    noise = rng.normal(size=1000)
    noise = (noise - noise.mean()) / noise.std()
    theirs = torch.tensor(10 + rng.random(1000))
    assert significantly_lower(theirs - torch.tensor(gain + noise), theirs) is expected


def test_the_critical_value_is_that_of_five_percent():
    difference = torch.tensor([1.0, -1.0] * 5000, dtype=torch.float64)
    error = float(difference.std()) / 100
    zero = torch.zeros(10_000, dtype=torch.float64)
    assert not significantly_lower(zero - (difference + 1.64 * error), zero)
    assert significantly_lower(zero - (difference + 1.65 * error), zero)


def test_equal_policies_change_nothing_and_a_better_one_takes_over(tiny):
    """Without a mask even a short training is plainly better than none."""
    config = replace(
        tiny, guard=Guard("none"), baseline="greedy", epoch=500, nodes=8, batch=16, tours=8,
        rate=Rate(3e-3),
    )  # fmt: skip
    run = begin(config, torch.device("cpu"))
    settle_baseline(run)
    assert "challenge" not in run.marks
    for _ in train(run, Budget(instances=480), World()):
        pass
    settle_baseline(run)
    assert run.marks["challenge"] == 1
    for name, tensor in run.baseline.state_dict().items():
        assert torch.equal(tensor, run.policy.state_dict()[name]), name
