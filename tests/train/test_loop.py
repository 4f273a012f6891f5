import math
from dataclasses import replace

import pytest
import torch

from fairway.errors import InvalidRequest
from fairway.kernels.lookahead import MaskConfig, MaskRule
from fairway.train.config import Foresight, Rate
from fairway.train.loop import Budget, Diverged, train
from fairway.train.losses import Objective
from fairway.train.processes import DistContext
from fairway.train.run import begin

CPU = torch.device("cpu")


def losses(config, steps, run=None):
    """Every step's loss, and the run that they leave behind."""
    run = run or begin(config, CPU)
    budget = Budget(instances=steps * config.batch)
    return [record.figures["loss"] for record in train(run, budget, DistContext(), every=0)], run


def test_a_record_a_step_until_the_budget_is_spent(tiny):
    run = begin(tiny, CPU)
    records = list(train(run, Budget(instances=22), DistContext(), every=0))
    assert [record.step for record in records] == [1, 2, 3, 4, 5, 6]
    assert records[-1].spent >= 1 > records[-2].spent
    assert records[-1].instances == 24
    assert all(record.pace > 0 for record in records)


def test_infeasible_tours_are_counted_in_percent_as_in_validations(tiny):
    config = replace(tiny, guard=MaskConfig("none"), nodes=9)
    (record,) = train(begin(config, CPU), Budget(instances=config.batch), DistContext(), every=0)
    tours = record.figures["sol_infeasible"] / 100 * config.batch * config.tours
    assert 1 < tours == pytest.approx(round(tours))
    assert record.figures["inst_infeasible"] <= record.figures["sol_infeasible"] <= 100


def test_equal_seeds_learn_equally_and_others_do_not(tiny):
    first, one = losses(tiny, 5)
    second, two = losses(tiny, 5)
    other, _ = losses(replace(tiny, seed=7), 5)
    assert first == second != other
    weights = zip(one.policy.parameters(), two.policy.parameters(), strict=True)
    assert all(torch.equal(a, b) for a, b in weights)


def test_a_run_in_two_pieces_is_the_run_in_one(tiny):
    whole, _ = losses(tiny, 6)
    piece, run = losses(tiny, 6, None)[0][:3], begin(tiny, CPU)
    for _, _record in zip(
        range(3), train(run, Budget(instances=24), DistContext(), 0), strict=False
    ):
        pass
    rest, _ = losses(tiny, 6, run)
    assert [*piece, *rest] == whole


def test_the_average_follows_the_policy(tiny):
    _, run = losses(replace(tiny, rate=Rate(1e-2)), 4)
    moved = [
        float((a - p.detach()).abs().max())
        for a, p in zip(run.average.parameters(), run.policy.parameters(), strict=True)
    ]
    assert max(moved) > 0
    assert run.finished is run.average


def test_a_loss_that_is_no_number_ends_the_run_and_says_where(tiny):
    run = begin(tiny, CPU)
    with torch.no_grad():
        run.policy.embed.weight.fill_(torch.nan)
    with pytest.raises(Diverged, match=r"between steps 1 and 1; resume"):
        list(train(run, Budget(instances=100), DistContext(), every=0))


def test_a_batch_that_processes_cannot_share_is_refused(tiny):
    with pytest.raises(InvalidRequest, match="4 cannot be shared evenly by 3 processes"):
        next(train(begin(tiny, CPU), Budget(), DistContext(0, 3)))


def test_the_plan_of_a_head_is_followed(tiny):
    plan = Foresight(first=1, period=3, refresh=1, last=1)
    config = replace(tiny, policy=replace(tiny.policy, foresight=True), foresight=plan, epochs=6)
    run = begin(config, CPU)
    phases = [r.phase for r in train(run, Budget(), DistContext(), every=0)]
    per_epoch = config.epoch // config.batch
    assert phases[::per_epoch] == ["online", "offline", "online", "offline", "offline", "online"]
    assert "copied" in run.marks


@pytest.mark.parametrize(
    "change",
    [
        {"guard": MaskConfig("none")},
        {"guard": MaskConfig(rule=MaskRule(0))},
        {"guard": MaskConfig(rule=MaskRule(2))},
        {"guard": MaskConfig(rule=MaskRule(1), until=2)},
        {"objective": Objective(penalty=None)},
        {"objective": Objective(penalty=0.5, count=False)},
        {"problem": "tspdl", "guard": MaskConfig("exact")},
        {"baseline": "greedy", "tours": 1},
        {"clip_norm": 1.0, "weight_decay": 0.0},
    ],
    ids=str,
)
def test_every_way_of_training_moves_the_weights(tiny, change):
    config = replace(tiny, **change, rate=Rate(1e-3), average=0.0, batch=8)
    if config.baseline == "greedy":
        config = replace(
            config, policy=replace(config.policy, backbone="am", normalisation="batch")
        )
    before = begin(config, CPU).policy.state_dict()
    found, run = losses(config, 3)
    assert all(map(math.isfinite, found))
    assert any(not torch.equal(before[k], v) for k, v in run.policy.state_dict().items())
