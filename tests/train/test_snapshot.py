import json
import os
import re
import subprocess
import sys
from dataclasses import replace

import pytest
import torch
from safetensors import torch as safetensors

from fairway.errors import InvalidFile, InvalidRequest
from fairway.kernels.lookahead.config import MaskConfig
from fairway.policies.config import AM, HeatmapConfig
from fairway.recipes import recipe_named
from fairway.train import snapshot
from fairway.train.config import Foresight
from fairway.train.loop import Budget, train
from fairway.train.processes import DistContext
from fairway.train.run import begin

CPU = torch.device("cpu")


def go_on(run, steps):
    """So many more steps: the loss of each, and what the schedules remembered after it."""
    budget = Budget(instances=40 * run.config.batch)
    losses = []
    for record in train(run, budget, DistContext(), every=0.0):
        losses.append((record.figures["loss"], dict(run.marks)))
        if len(losses) == steps:
            break
    return losses


def am(tiny):
    policy = replace(AM, layers=1, width=32, heads=2, hidden=16)
    return replace(tiny, policy=policy, baseline="greedy", tours=1, average=0.0, epoch=12)


def pip_d(tiny):
    return replace(
        tiny,
        nodes=8,
        policy=replace(tiny.policy, foresight=True, facts=2),
        guard=MaskConfig(),
        foresight=Foresight(2, 3, 1, 1, trusted=0.0),
    )


def muon(tiny):
    wide = replace(tiny.policy, width=64, heads=2, hidden=64)
    return replace(tiny, policy=wide, optimiser="muon", weight_decay=0.1, preference=0.1)


KINDS = {"averaged": lambda tiny: tiny, "am": am, "pip-d": pip_d, "muon": muon}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("done", [*(pytest.param(n, marks=pytest.mark.soak) for n in (1, 8)), 5])
def test_a_restored_run_goes_on_as_if_it_had_never_stopped(tiny, tmp_path, kind, done):
    config = KINDS[kind](tiny)
    run, whole = begin(config, CPU), begin(config, CPU)
    go_on(run, done)
    snapshot.save(run, tmp_path)
    again = snapshot.restore(config, tmp_path, CPU)
    assert again.step == done
    assert go_on(again, 9) == go_on(whole, done + 9)[done:]
    for (name, module), (_, other) in zip(whole.modules(), again.modules(), strict=True):
        for key, tensor in module.state_dict().items():
            assert torch.equal(tensor, other.state_dict()[key]), f"{name}.{key}"


def test_a_run_that_has_not_begun_is_saved_too(tiny, tmp_path):
    run = begin(tiny, CPU)
    run.seconds, run.marks = 1 / 3, {"spared": 0.1, "copied": 7.0}
    snapshot.save(run, tmp_path)
    again = snapshot.restore(tiny, tmp_path, CPU)
    assert (again.seconds, again.marks) == (1 / 3, {"spared": 0.1, "copied": 7.0})
    assert torch.isnan(again.moving)


def test_a_colony_of_version_0_1_is_restored(tmp_path):
    """Its config named the local search, of which there were two."""
    config = replace(
        recipe_named("gfacs-star-tsptw8-hard"), policy=HeatmapConfig(layers=1, width=4)
    )
    snapshot.save(begin(config, CPU), tmp_path)
    altered(tmp_path / snapshot.NAME, lambda _, record: record["config"].update(search="own"))
    assert snapshot.restore(config, tmp_path, CPU).config == config
    altered(tmp_path / snapshot.NAME, lambda _, record: record["config"].update(search="lkh"))
    with pytest.raises(InvalidRequest, match="search is 'lkh'"):
        snapshot.restore(config, tmp_path, CPU)


def test_a_run_of_version_0_1_under_the_exact_mask_is_restored(tiny, tmp_path):
    """The mask was named after the problem."""
    config = replace(tiny, problem="tspdl", guard=MaskConfig("exact"))
    snapshot.save(begin(config, CPU), tmp_path)
    altered(
        tmp_path / snapshot.NAME, lambda _, record: record["config"]["guard"].update(kind="drafts")
    )
    assert snapshot.restore(config, tmp_path, CPU).config == config


def test_another_config_is_refused_by_its_fields(tiny, tmp_path):
    snapshot.save(begin(tiny, CPU), tmp_path)
    other = replace(tiny, batch=8, guard=MaskConfig("none"), policy=replace(tiny.policy, layers=2))
    with pytest.raises(InvalidRequest) as error:
        snapshot.restore(other, tmp_path, CPU)
    said = str(error.value)
    assert "batch is 4, expected 8" in said
    assert "guard.kind is 'ahead', expected 'none'" in said
    assert "policy.layers is 1, expected 2" in said
    assert "seed" not in said
    assert "the run in it is tiny, asked was the same with other settings" in said
    assert "more" not in said


def test_another_recipe_is_named_first_with_at_most_three_differences(tiny, tmp_path):
    snapshot.save(begin(tiny, CPU), tmp_path)
    for name in ("pomo-star-pip-d-tspdl20-hard", "gfacs-star-pip-tsptw20-hard"):
        with pytest.raises(InvalidRequest) as error:
            snapshot.restore(recipe_named(name), tmp_path, CPU)
        said = str(error.value)
        assert said.startswith(f"{tmp_path}: the run in it is tiny, asked was {name} (")
        assert said.count(", expected ") == 3
        assert re.search(r"; and \d+ more\); resume it as it was begun, or begin a new one", said)
        assert len(said) < 400 + len(str(tmp_path))


def test_another_recipe_of_equal_settings_is_another_recipe(tiny, tmp_path):
    snapshot.save(begin(tiny, CPU), tmp_path)
    with pytest.raises(InvalidRequest, match="the run in it is tiny, asked was twin; resume it"):
        snapshot.restore(replace(tiny, name="twin"), tmp_path, CPU)


def test_a_folder_without_a_run_is_refused(tiny, tmp_path):
    assert not snapshot.holds_a_run(tmp_path)
    with pytest.raises(InvalidRequest, match="holds no run to resume; leave out --resume"):
        snapshot.restore(tiny, tmp_path, CPU)


def altered(path, change):
    """Write a snapshot again with other tensors or another record."""
    content = path.read_bytes()
    tensors = safetensors.load(content)
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    record = json.loads(header["__metadata__"]["run"])
    change(tensors, record)
    path.write_bytes(safetensors.save(tensors, metadata={"run": json.dumps(record)}))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda tensors, _: tensors.pop("policy.embed.bias"), "lacks policy.embed.bias"),
        (lambda tensors, _: tensors.pop("average.embed.bias"), "lacks average.embed.bias"),
        (lambda tensors, _: tensors.pop("exp_avg.embed.bias"), "memory of embed.bias is damaged"),
        (lambda tensors, _: tensors.pop("moving"), "lacks its running sums"),
        (lambda tensors, _: tensors.update(odd=torch.zeros(1)), "holds an odd odd"),
        (lambda tensors, _: tensors.update({"step.odd": torch.zeros(())}), "odd memory of odd"),
        (
            lambda tensors, _: tensors.update({"policy.embed.bias": torch.zeros(2)}),
            "policy.embed.bias is float32 of shape (2,)",
        ),
        (
            lambda tensors, _: tensors["policy.embed.bias"].fill_(torch.inf),
            "policy.embed.bias holds values that are no numbers",
        ),
        (lambda _, record: record.update(format=9), "no snapshot of a run in format 1"),
        (lambda _, record: record.pop("step"), "no snapshot of a run in format 1"),
        (lambda _, record: record.update(config=None), "does not say of which run it is"),
    ],
)
def test_a_snapshot_that_was_tampered_with_is_refused(tiny, tmp_path, change, said):
    run = begin(tiny, CPU)
    go_on(run, 1)
    snapshot.save(run, tmp_path)
    altered(tmp_path / snapshot.NAME, change)
    with pytest.raises(InvalidFile) as error:
        snapshot.restore(tiny, tmp_path, CPU)
    assert said in str(error.value)


@pytest.mark.parametrize("content", [b"", b"\x80\x05pickle", b"\x02" + b"\0" * 7 + b"{}"])
def test_what_is_no_snapshot_is_refused(tiny, tmp_path, content):
    (tmp_path / snapshot.NAME).write_bytes(content)
    with pytest.raises(InvalidFile, match=r"no safetensors file|no snapshot of a run"):
        snapshot.restore(tiny, tmp_path, CPU)


def test_a_truncated_snapshot_is_refused(tiny, tmp_path):
    snapshot.save(begin(tiny, CPU), tmp_path)
    path = tmp_path / snapshot.NAME
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(InvalidFile, match="only part of one"):
        snapshot.restore(tiny, tmp_path, CPU)


def test_a_full_disk_leaves_the_snapshot_before(tiny, tmp_path, monkeypatch):
    run = begin(tiny, CPU)
    snapshot.save(run, tmp_path)
    go_on(run, 2)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InvalidFile, match=r"cannot be written \(No space left on device\)"):
        snapshot.save(run, tmp_path)
    monkeypatch.undo()
    assert snapshot.restore(tiny, tmp_path, CPU).step == 0
    assert [path.name for path in tmp_path.iterdir()] == [snapshot.NAME]


KILLED = """
import os, signal, sys
from pathlib import Path
import torch
from fairway.recipes import recipe_named
from fairway.train import snapshot
from fairway.train.run import begin

folder = Path(sys.argv[1])
run = begin(recipe_named("fairway-tsptw10-hard"), torch.device("cpu"))
snapshot.save(run, folder)
run.step = 1
for moment in ("fdopen", "fsync", "chmod", "replace"):
    if (child := os.fork()) == 0:
        setattr(os, moment, lambda *_: os.kill(os.getpid(), signal.SIGKILL))
        snapshot.save(run, folder)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    assert snapshot.restore(run.config, folder, torch.device("cpu")).step == 0
"""


def test_kill_9_at_any_moment_of_a_write_leaves_the_snapshot_before(tmp_path):
    result = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
