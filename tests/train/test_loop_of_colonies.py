"""The loop with ants in it."""

import math
from dataclasses import replace

import pytest
import torch

from fairway.errors import InvalidRequest
from fairway.kernels.lookahead import AUTHORS, MaskConfig
from fairway.policies.config import HeatmapConfig
from fairway.train.config import ColonyConfig, Foresight
from fairway.train.epochs import phase_of
from fairway.train.loop import Budget, Diverged, train
from fairway.train.processes import DistContext
from fairway.train.run import begin

CPU = torch.device("cpu")
SMALL = HeatmapConfig(layers=2, width=8)
TINY = ColonyConfig(
    "tiny", "tsptw", "hard", 7, policy=SMALL, ants=3, batch=2, epoch=4, epochs=10, sharpness=(7.0, 28.0)
)  # fmt: skip
LEARNED = replace(
    TINY, policy=replace(SMALL, foresight=True), foresight=Foresight(1, 3, 1, 1, tours=2)
)


def records(config, steps=None, run=None):
    run = run or begin(config, CPU)
    budget = Budget() if steps is None else Budget(instances=steps * config.batch)
    return list(train(run, budget, DistContext(), every=0)), run


def test_a_record_a_step_until_the_budget_is_spent():
    found_records, run = records(TINY, 5)
    assert [record.step for record in found_records] == [1, 2, 3, 4, 5]
    assert found_records[-1].spent >= 1
    assert run.instances == 10


def test_instances_grow_along_a_run_that_can_still_be_cut_in_two():
    growing = replace(TINY, growth=(4, 7))
    whole, _ = records(growing, 4)
    lengths = [record.figures["length"] for record in whole]
    assert max(lengths[:2]) < min(lengths[2:])
    run, pieces = begin(growing, CPU), []
    for record in train(run, Budget(instances=4 * growing.batch), DistContext(), every=0):
        pieces.append(record)
        if len(pieces) == 2:
            break
    pieces += train(run, Budget(instances=4 * growing.batch), DistContext(), every=0)
    assert [piece.figures for piece in pieces] == [record.figures for record in whole]


def test_equal_seeds_learn_equally_and_others_do_not():
    first, second, other = (
        [record.figures["loss"] for record in records(config, 4)[0]]
        for config in (TINY, TINY, replace(TINY, seed=7))
    )
    assert first == second != other


def test_a_run_in_two_pieces_is_the_run_in_one():
    whole, _ = records(TINY, 6)
    run, pieces = begin(TINY, CPU), []
    for _, record in zip(
        range(3), train(run, Budget(instances=12), DistContext(), 0), strict=False
    ):
        pieces.append(record)
    rest, _ = records(TINY, 6, run)
    losses = [record.figures["loss"] for record in (*pieces, *rest)]
    assert losses == [record.figures["loss"] for record in whole]


def test_a_head_learns_and_masks_when_the_paper_says():
    """1-10, 19-20, 29-30, 39-40 and 46-50 of fifty epochs."""
    plan = Foresight(10, 10, 2, 5)
    config = replace(LEARNED, foresight=plan, epochs=50)
    online = [e for e in range(1, 51) if phase_of(config, e, (e - 1) / 50) == "online"]
    assert online == [*range(1, 11), 19, 20, 29, 30, 39, 40, *range(46, 51)]
    assert phase_of(TINY, 1, 0.0) == "exact"


def test_a_head_learns_anew_when_instances_have_grown():
    """To 7 nodes in the middle of fifty epochs: the 26th and 27th are online as well."""
    config = replace(LEARNED, foresight=Foresight(10, 10, 2, 5), epochs=50, growth=(4, 7))
    online = [e for e in range(1, 51) if phase_of(config, e, (e - 1) / 50) == "online"]
    assert online == [*range(1, 11), 19, 20, 26, 27, 29, 30, 39, 40, *range(46, 51)]


def test_a_run_that_is_cut_short_has_as_many_epochs_of_each_phase():
    """So that a head also masks where there is time for a few steps per epoch only."""
    half, run = records(LEARNED, steps=10)
    assert [int(record.phase == "online") for record in half] == [1, 0, 1, 0, 0, 1, 0, 0, 1, 1]
    assert "copied" in run.marks


def test_the_plan_of_a_head_is_followed_and_its_best_copy_masks():
    found_records, run = records(LEARNED)
    phases = [record.phase for record in found_records][::2]
    expected = [1, 0, 1, 0, 0, 1, 0, 0, 1, 1]
    assert [int(phase == "online") for phase in phases] == expected
    assert "copied" in run.marks
    by_phase = {record.phase: record.figures for record in found_records}
    assert by_phase["online"]["foresight_loss"] > 0 == by_phase["offline"]["foresight_loss"]
    assert by_phase["online"]["doomed"] > 0


def test_offline_a_head_rests():
    config = replace(LEARNED, foresight=Foresight(1, 100, 1, 0, tours=2), epochs=5)
    run = begin(config, CPU)
    heads = []
    for record in train(run, Budget(), DistContext(), every=0):
        heads.append((record.phase, run.policy.foresight.join.weight.detach().clone()))
    resting = [head for phase, head in heads if phase == "offline"]
    assert len(resting) >= 4
    assert torch.equal(resting[0], resting[-1])
    assert not torch.equal(heads[0][1], heads[1][1])


@pytest.mark.parametrize(
    "change",
    [
        {"guard": MaskConfig("none")},
        {"guard": MaskConfig("ahead", AUTHORS)},
        {"guard": MaskConfig("ahead", AUTHORS), "sparse": True},
        {"problem": "tspdl"},
        {"problem": "tspdl", "guard": MaskConfig("exact")},
        {"policy": replace(SMALL, graph="limits")},
    ],
    ids=str,
)
def test_every_way_of_training_moves_the_weights(change):
    config = replace(TINY, **change)
    before = begin(config, CPU).policy.state_dict()
    found_records, run = records(config, 2)
    assert all(math.isfinite(value) for value in found_records[-1].figures.values())
    assert any(not torch.equal(before[k], v) for k, v in run.policy.state_dict().items())


def test_a_loss_that_is_no_number_ends_the_run_and_says_where():
    run = begin(TINY, CPU)
    with torch.no_grad():
        run.policy.flow[-1].bias.fill_(torch.nan)
    with pytest.raises(Diverged, match=r"between steps 1 and 1; resume"):
        records(TINY, 3, run)


def test_several_processes_are_refused():
    with pytest.raises(InvalidRequest, match="one process"):
        next(train(begin(TINY, CPU), Budget(), DistContext(0, 2)))


@pytest.mark.soak
def test_ants_of_thirty_nodes_learn():
    """Both losses and what tours cost fall within sixty steps."""
    config = ColonyConfig(
        "learns", "tsptw", "medium", 30, policy=HeatmapConfig(layers=3), guard=MaskConfig("ahead", AUTHORS),
        ants=10, sharpness=(30.0, 30.0), credit=(0.5, 0.5), rate=(3e-3, 1e-3), epochs=3,
    )  # fmt: skip
    seen = [record.figures for record in records(config)[0]]

    def mean(name, some):
        return sum(figures[name] for figures in some) / len(some)

    first, last = seen[:10], seen[-10:]
    assert mean("loss", last) < 0.2 * mean("loss", first)
    assert mean("searched_loss", last) < 0.3 * mean("searched_loss", first)
    assert mean("cost", last) < 0.5 * mean("cost", first)
    assert mean("sol_infeasible", last) < mean("sol_infeasible", first)
