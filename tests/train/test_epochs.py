from dataclasses import replace

import numpy as np
import pytest
import torch

from fairway.kernels.lookahead import MaskConfig
from fairway.train.config import Foresight, Rate
from fairway.train.epochs import phase_of, settle_baseline, settle_frozen_head, significantly_lower
from fairway.train.loop import Budget, train
from fairway.train.processes import DistContext
from fairway.train.run import begin


@pytest.fixture
def with_head(tiny):
    policy = replace(tiny.policy, foresight=True)
    return replace(tiny, policy=policy, foresight=Foresight(first=2, period=5, refresh=1, last=2))


def online(config, epochs):
    """The epochs of a run of its own length that are online, counted from 1."""
    spent = [(epoch - 1) / config.epochs for epoch in range(1, epochs + 1)]
    return [e for e, share in enumerate(spent, 1) if phase_of(config, e, share) == "online"]


def test_online_at_first_at_the_end_of_periods_and_at_the_end_of_the_run(with_head):
    assert online(with_head, 10) == [1, 2, 5, 9, 10]


def test_the_papers_schedule_for_fifty_nodes(with_head):
    papers = replace(with_head, foresight=Foresight(200, 1000, 50, 50), epochs=10_000)
    epochs = online(papers, 10_000)
    assert len(epochs) == 700
    assert epochs[:200] == list(range(1, 201))
    assert epochs[200:250] == list(range(951, 1001))
    assert epochs[-50:] == list(range(9951, 10_001))


def test_the_last_epochs_of_a_short_run_are_as_many_as_of_a_long_one(with_head):
    """What counts is the budget of the run, not the length that its recipe has in mind."""
    papers = replace(with_head, foresight=Foresight(200, 1000, 50, 50), epochs=10_000)
    phases = [phase_of(papers, epoch, (epoch - 1) / 270) for epoch in range(1, 271)]
    assert [e for e, phase in enumerate(phases, 1) if phase == "offline"] == list(range(201, 221))


def test_without_a_head_the_mask_is_exact(tiny):
    assert {phase_of(tiny, epoch, 0.1 * epoch) for epoch in range(1, 11)} == {"exact"}


def test_am_warms_up_for_one_epoch(tiny):
    config = replace(tiny, baseline="greedy")
    assert [phase_of(config, epoch, 0) for epoch in (1, 2, 3)] == ["warm", "exact", "exact"]


def seen(spared, found):
    return {"sound_found": spared, "sound": 1.0, "doomed_found": found, "doomed": 1.0}


def marked(run, value):
    """Make the policy recognisable."""
    with torch.no_grad():
        run.policy.embed.bias.fill_(value)


def copied(run):
    return float(run.frozen_head.embed.bias[0])


def test_the_best_trusted_head_of_a_block_is_kept(with_head):
    run = begin(with_head, torch.device("cpu"))
    story = [(0.9, 0.1), (0.6, 0.8), (0.5, 0.9), (0.7, 0.76), (0.99, 0.5)]
    kept = []
    for number, (spared, found) in enumerate(story):
        marked(run, number)
        settle_frozen_head(run, seen(spared, found), block_ends=False)
        kept.append(copied(run))
    # The first is better than none, but sets no record, since it finds too few of the doomed.
    assert kept == [0, 1, 1, 3, 3]


def test_a_new_block_starts_a_record_of_its_own(with_head):
    """In the authors' code the record is never reset, so that later heads may never replace an early one."""
    run = begin(with_head, torch.device("cpu"))
    marked(run, 1)
    settle_frozen_head(run, seen(0.95, 0.9), block_ends=True)
    marked(run, 2)
    settle_frozen_head(run, seen(0.90, 0.5), block_ends=False)
    assert copied(run) == 1, "not trusted: the old copy stays"
    settle_frozen_head(run, seen(0.90, 0.9), block_ends=True)
    assert copied(run) == 2


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


@pytest.mark.soak
def test_equal_policies_change_nothing_and_a_better_one_takes_over(tiny):
    """Without a mask even a short training is plainly better than none."""
    config = replace(
        tiny, guard=MaskConfig("none"), baseline="greedy", epoch=500, nodes=8, batch=16, tours=8,
        rate=Rate(3e-3),
    )  # fmt: skip
    run = begin(config, torch.device("cpu"))
    settle_baseline(run)
    assert "challenge" not in run.marks
    for _ in train(run, Budget(instances=480), DistContext()):
        pass
    settle_baseline(run)
    assert run.marks["challenge"] == 1
    for name, tensor in run.baseline.state_dict().items():
        assert torch.equal(tensor, run.policy.state_dict()[name]), name
