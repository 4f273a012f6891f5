import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors import torch as safetensors

from fairway.errors import InvalidFile, InvalidRequest
from fairway.policies.checkpoint import load_heatmap, load_policy, save_policy
from fairway.policies.config import HeatmapConfig
from fairway.recipes import recipe_named
from fairway.train import session, snapshot
from fairway.train.config import Foresight
from fairway.train.loop import Budget, Diverged, Record
from fairway.train.memory import OutOfMemory
from fairway.train.processes import DistContext
from fairway.train.run import begin
from fairway.train.session import Finished, Intervals, Note, Validation, train_recipe

CPU = torch.device("cpu")
OFTEN = Intervals(record=0.0, validation=1e9, snapshot=0.2)
STEPS = 30

SCRIPT = f"""
import sys
from dataclasses import replace
from pathlib import Path
from fairway.recipes import recipe_named
from fairway.train.loop import Budget
from fairway.train.session import Intervals, train_recipe

config = replace(recipe_named("fairway-tsptw10-hard"), batch=8, tours=4)
budget = None if "resume" in sys.argv else Budget(instances=8 * {STEPS})
for _ in train_recipe(config, Path(sys.argv[1]), budget, resume="resume" in sys.argv,
                      device="cpu", intervals=Intervals(record=0.0, validation=1e9, snapshot=0.2)):
    pass
"""


def script_config():
    return replace(recipe_named("fairway-tsptw10-hard"), batch=8, tours=4)


def run_to_end(config, out, budget, **options):
    return list(train_recipe(config, out, budget, device="cpu", **options))


def lines(out):
    return [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]


def losses(out):
    return {line["step"]: line["loss"] for line in lines(out) if line["kind"] == "record"}


def weights(out):
    tensors = safetensors.load((out / snapshot.NAME).read_bytes())
    return {name: tensor for name, tensor in tensors.items() if name.startswith("policy.")}


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory) -> Path:
    """The folder of a run that nobody disturbed."""
    out = tmp_path_factory.mktemp("whole") / "run"
    run_to_end(script_config(), out, Budget(instances=8 * STEPS), intervals=OFTEN)
    return out


@pytest.mark.soak
def test_training_leaves_a_policy_that_has_improved(tmp_path):
    config, out = recipe_named("fairway-tsptw10-easy"), tmp_path / "run"
    events = run_to_end(config, out, Budget(instances=40 * config.batch))
    first, last = ([event for event in events if isinstance(event, Validation)][i] for i in (0, -1))
    assert first.step == 0
    assert last.score.length < 0.95 * first.score.length
    end = events[-1]
    assert end == Finished(out, 40, 40 * 64, end.seconds, interrupted=False, score=last.score)
    policy, card = load_policy(out, CPU, config.policy)
    assert torch.isfinite(policy.embed.weight).all()
    assert card.trained["recipe"] == "fairway-tsptw10-easy"
    assert (card.trained["problem"], card.trained["nodes"]) == ("tsptw", 10)
    assert card.trained["validation"]["sol_infeasible"] == last.score.sol_infeasible
    assert (out / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads((out / "config.json").read_text())["config"]["batch"] == 64
    assert lines(out)[-1]["kind"] == "validation"


@pytest.mark.soak
def test_killed_and_resumed_equals_uninterrupted(uninterrupted, tmp_path):
    out = tmp_path / "run"
    process = subprocess.Popen([sys.executable, "-c", SCRIPT, str(out)], stderr=subprocess.PIPE)
    log, patience = out / "log.jsonl", time.monotonic() + 120
    while not log.exists() or log.read_text().count('"record"') < STEPS // 2:
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < patience
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert snapshot.restore(script_config(), out, CPU).step < STEPS
    resumed = subprocess.run([sys.executable, "-c", SCRIPT, str(out), "resume"], check=False)
    assert resumed.returncode == 0
    assert sorted(losses(out)) == list(range(1, STEPS + 1))
    assert losses(out) == losses(uninterrupted)
    for name, tensor in weights(uninterrupted).items():
        assert torch.equal(tensor, weights(out)[name]), name


TOGETHER = """
import sys
from dataclasses import replace
from pathlib import Path
from fairway.recipes import recipe_named
from fairway.recipes.variants import normalised
from fairway.train.config import Foresight, Rate
from fairway.train.loop import Budget
from fairway.train.session import Intervals, train_recipe

# Behind an instance norm biases have no gradient but noise, which Adam makes as large as any: hence layer norms.
def small(name, **changes):
    config = recipe_named(name)
    policy = replace(config.policy, layers=1, width=32, heads=2, hidden=32)
    return replace(config, policy=policy, batch=8, **changes)

plan = Foresight(2, 3, 1, 1, trusted=0.0)
configs = {
    "fairway": normalised(small("fairway-tsptw10-hard", tours=4, rate=Rate(1e-4)), "layer"),
    "pip-d": small("pomo-star-pip-d-layernorm-tsptw10-hard", tours=4, epoch=24, foresight=plan),
    "am": small("am-star-pip-tsptw10-hard", epoch=48),
}

def train_all(folder):
    intervals = Intervals(record=0.0, validation=1e9, snapshot=1e9)
    for name, config in configs.items():
        for _ in train_recipe(config, folder / name, Budget(8 * 12), device="cpu", intervals=intervals):
            pass
"""

THREADS = """
import atexit
from pathlib import Path
atexit.register(lambda: print([p.read_text().strip() for p in Path("/proc/self/task").glob("*/comm")]))
"""
"""Registered first, and so called last."""


@pytest.mark.soak
def test_two_processes_equal_one_at_the_same_global_batch(tmp_path):
    (tmp_path / "script.py").write_text(f"{THREADS}{TOGETHER}\ntrain_all(Path(sys.argv[1]))\n")
    launch = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
    words = [sys.executable, *launch, str(tmp_path / "script.py"), str(tmp_path / "two")]
    result = subprocess.run(words, capture_output=True, text=True, check=False, timeout=200)
    assert result.returncode == 0, result.stderr
    left = result.stdout.splitlines()
    assert len(left) == 2
    assert "gloo" not in result.stdout, (
        "a thread that outlives the interpreter can abort the process"
    )
    alone = {}
    exec(TOGETHER, alone)
    alone["train_all"](tmp_path / "one")
    for name in alone["configs"]:
        two, one = losses(tmp_path / "two" / name), losses(tmp_path / "one" / name)
        assert list(two) == list(one) == list(range(1, 13))
        assert list(two.values()) == pytest.approx(list(one.values()), abs=2e-5), name
    ours = weights(tmp_path / "one" / "fairway")
    for name, tensor in weights(tmp_path / "two" / "fairway").items():
        torch.testing.assert_close(tensor, ours[name], rtol=0, atol=1e-5)


LOSE_ONE = """
import os, signal
from fairway.train import session

agreed, calls = session._agreed, []

def die_once(asked, run, world):
    calls.append(run.step)
    if len(calls) == 6 and world.rank == 1 and os.environ["TORCHELASTIC_RESTART_COUNT"] == "0":
        os.kill(os.getpid(), signal.SIGKILL)
    return agreed(asked, run, world)

session._agreed = die_once
configs = {"fairway": configs["fairway"]}
intervals = Intervals(record=0.0, validation=1e9, snapshot=0.0)
for _ in train_recipe(
    configs["fairway"], Path(sys.argv[1]), Budget(8 * 12), device="cpu", intervals=intervals
):
    pass
"""


@pytest.mark.slow
def test_processes_of_which_one_is_lost_go_on_from_the_last_snapshot(tmp_path):
    (tmp_path / "script.py").write_text(f"{TOGETHER}\n{LOSE_ONE}")
    launch = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
    words = [sys.executable, *launch, "--max-restarts", "1", str(tmp_path / "script.py")]
    out = tmp_path / "two"
    result = subprocess.run(
        [*words, str(out)], capture_output=True, text=True, check=False, timeout=200
    )
    assert result.returncode == 0, result.stderr
    alone = {}
    exec(TOGETHER, alone)
    alone["configs"] = {"fairway": alone["configs"]["fairway"]}
    alone["train_all"](tmp_path / "one")
    two, one = losses(out), losses(tmp_path / "one" / "fairway")
    assert list(two) == list(one) == list(range(1, 13))
    assert list(two.values()) == pytest.approx(list(one.values()), abs=2e-5)


def test_a_resumed_run_keeps_its_budget_unless_told_otherwise(tiny, tmp_path):
    run_to_end(tiny, tmp_path, Budget(instances=16))
    assert run_to_end(tiny, tmp_path, None, resume=True)[-1].instances == 16
    assert run_to_end(tiny, tmp_path, Budget(instances=24), resume=True)[-1].instances == 24
    assert run_to_end(tiny, tmp_path, None, resume=True)[-1].instances == 24


def notes(events):
    return [event.sentence for event in events if isinstance(event, Note)]


@pytest.mark.parametrize("again", [None, Budget(instances=16)])
def test_a_finished_run_that_is_resumed_says_that_its_budget_is_spent(tiny, tmp_path, again):
    assert notes(run_to_end(tiny, tmp_path, Budget(instances=16))) == []
    (tmp_path / "policy.json").unlink()
    events = run_to_end(tiny, tmp_path, again, resume=True)
    (said,) = notes(events)
    assert "a budget of 16 instances is spent already, by 16 instances in" in said
    assert not any(isinstance(event, Record) for event in events)
    assert load_policy(tmp_path, CPU)[1].trained["instances"] == 16
    assert notes(run_to_end(tiny, tmp_path, Budget(instances=24), resume=True)) == []


@pytest.mark.parametrize(
    ("less", "words"),
    [
        (Budget(instances=8), "8 instances"),
        (Budget(minutes=1e-9), "1e-09 minutes"),
        (Budget(instances=99, minutes=1e-9), "99 instances or 1e-09 minutes"),
    ],
)
def test_a_resumed_run_is_not_asked_for_less_than_it_has_done(tiny, tmp_path, less, words):
    run_to_end(tiny, tmp_path, Budget(instances=16))
    before = {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    with pytest.raises(InvalidRequest) as error:
        run_to_end(tiny, tmp_path, less, resume=True)
    said = str(error.value)
    assert f"a budget of {words} is spent already, by 16 instances in" in said
    assert "give a larger --minutes or --instances" in said
    assert {path: path.read_bytes() for path in before} == before


def test_the_length_of_a_run_without_a_budget_is_its_recipe_s(tiny, tmp_path):
    run_to_end(tiny, tmp_path, None)
    (said,) = notes(run_to_end(tiny, tmp_path, None, resume=True))
    assert f"a budget of {tiny.instances} instances is spent already" in said


def test_validations_and_snapshots_come_as_often_as_asked(tiny, tmp_path):
    intervals = Intervals(record=0.0, validation=0.0, snapshot=0.0, looking=1.0)
    steps = []
    for event in train_recipe(
        tiny, tmp_path, Budget(instances=12), device="cpu", intervals=intervals
    ):
        steps.append((type(event), snapshot.restore(tiny, tmp_path, CPU).step))
    assert [kind for kind, _ in steps] == [Validation, *[Record, Validation] * 3, Finished]
    assert [step for _, step in steps] == [0, 0, 0, 1, 1, 2, 2, 3]


def test_validations_that_take_long_are_rarer(tiny, tmp_path, monkeypatch):
    """All but the first one, which compiles kernels."""
    look = session.score_of
    monkeypatch.setattr(session, "score_of", lambda *given: time.sleep(0.5) or look(*given))
    intervals = Intervals(record=0.0, validation=0.0, snapshot=1e9, looking=1e-6)
    events = train_recipe(tiny, tmp_path, Budget(instances=24), device="cpu", intervals=intervals)
    kinds = [type(event) for event in events]
    assert kinds == [Validation, Record, Validation, *[Record] * 5, Validation, Finished]


def test_an_interrupted_run_is_saved_and_can_go_on(tiny, tmp_path):
    events = train_recipe(tiny, tmp_path, Budget(instances=40), device="cpu", intervals=OFTEN)
    seen = []
    for event in events:
        seen.append(event)
        if isinstance(event, Record) and event.step == 3:
            os.kill(os.getpid(), signal.SIGINT)
    end = seen[-1]
    assert isinstance(end, Finished)
    assert (end.interrupted, end.step) == (True, 3)
    assert load_policy(tmp_path, CPU)[1].trained["instances"] == 12
    assert run_to_end(tiny, tmp_path, None, resume=True)[-1].step == 10


def test_a_run_can_begin_with_the_weights_of_another(tiny, tmp_path):
    policy = begin(replace(tiny, seed=7), CPU).policy
    save_policy(policy, tmp_path / "old", trained={"problem": "tsptw"})
    events = train_recipe(
        tiny, tmp_path / "run", Budget(instances=8), device="cpu", start=tmp_path / "old.json"
    )
    next(events)
    run = snapshot.restore(tiny, tmp_path / "run", CPU)
    events.close()
    for _, module in run.modules():
        assert torch.equal(module.embed.weight, policy.embed.weight)


def refusal(config, out, kind=InvalidRequest, **options) -> str:
    with pytest.raises(kind) as error:
        run_to_end(config, out, Budget(instances=8), **options)
    return str(error.value)


def test_what_cannot_be_served_is_refused(tiny, tmp_path, monkeypatch):
    assert "holds no run to resume" in refusal(tiny, tmp_path / "new", resume=True)
    run_to_end(tiny, tmp_path / "run", Budget(instances=8))
    assert "holds a run already; resume it with --resume" in refusal(tiny, tmp_path / "run")
    other = replace(tiny, seed=3)
    assert "seed is 2023, expected 3" in refusal(other, tmp_path / "run", resume=True)
    (tmp_path / "file").write_text("")
    assert "cannot be made a folder" in refusal(tiny, tmp_path / "file" / "run", InvalidFile)
    (tmp_path / "run" / "config.json").write_text("{}")
    for _ in range(2):
        with pytest.raises(InvalidFile, match="does not say how long the run is; say so with"):
            run_to_end(tiny, tmp_path / "run", None, resume=True)
        (tmp_path / "run" / "config.json").unlink(missing_ok=True)
    assert run_to_end(tiny, tmp_path / "run", Budget(instances=16), resume=True)[-1].step == 4


def test_a_checkpoint_that_does_not_fit_is_refused(tiny, tmp_path):
    policy = begin(tiny, CPU).policy
    save_policy(policy, tmp_path / "ports", trained={"problem": "tspdl"})
    said = refusal(tiny, tmp_path / "run", start=tmp_path / "ports")
    assert "was trained for tspdl; tiny begins with a policy for tsptw" in said
    save_policy(policy, tmp_path / "stops", trained={"problem": "tsptw"})
    deeper = replace(tiny, policy=replace(tiny.policy, layers=2))
    said = refusal(deeper, tmp_path / "run", InvalidFile, start=tmp_path / "stops")
    assert "layers is 1, expected 2" in said
    assert not (tmp_path / "run").exists()


def test_a_batch_that_cannot_be_shared_is_refused(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr(session, "join", lambda device: (DistContext(0, 3), device))
    said = refusal(tiny, tmp_path / "run")
    assert "a batch of 4 cannot be shared evenly by 3 processes" in said


def after_one_record(monkeypatch, error):
    """Let training go on for a record, and then fail."""
    train = session.train

    def failing(run, *rest):
        yield next(train(run, *rest))
        raise error

    monkeypatch.setattr(session, "train", failing)


def test_a_diverged_run_keeps_its_last_good_snapshot_and_says_where(tiny, tmp_path, monkeypatch):
    after_one_record(monkeypatch, Diverged("the loss became nan between steps 2 and 2"))
    said = refusal(tiny, tmp_path, Diverged, intervals=Intervals(0.0, 1e9, 1e9))
    assert "the loss became nan between steps 2 and 2" in said
    assert f"{tmp_path / snapshot.NAME} holds the run as it was after step 0" in said
    assert snapshot.restore(tiny, tmp_path, CPU).step == 0


def test_weights_that_are_no_numbers_never_reach_a_snapshot(tiny, tmp_path, monkeypatch):
    train = session.train

    def poisoned(run, *rest):
        for record in train(run, *rest):
            torch.nn.init.constant_(run.policy.embed.bias, torch.nan)
            yield record

    monkeypatch.setattr(session, "train", poisoned)
    said = refusal(tiny, tmp_path, Diverged, intervals=Intervals(0.0, 1e9, 0.0))
    assert "the weights are no longer numbers after step 1" in said
    assert snapshot.restore(tiny, tmp_path, CPU).step == 0


def test_too_little_memory_is_one_sentence(tiny, tmp_path, monkeypatch):
    after_one_record(monkeypatch, torch.OutOfMemoryError("CUDA out of memory"))
    assert "a batch of 4 does not fit" in refusal(tiny, tmp_path, OutOfMemory)


def test_other_errors_are_not_mistaken_for_memory(tiny, tmp_path, monkeypatch):
    after_one_record(monkeypatch, RuntimeError("shapes do not match"))
    assert refusal(tiny, tmp_path, RuntimeError) == "shapes do not match"


def test_a_full_disk_ends_the_run_and_keeps_the_snapshot(tiny, tmp_path, monkeypatch):
    events = train_recipe(tiny, tmp_path, Budget(instances=40), device="cpu", intervals=OFTEN)
    for event in events:
        if isinstance(event, Record) and event.step == 2:
            break

    def full(*_):
        raise OSError(28, "No space left on device")

    before = snapshot.restore(tiny, tmp_path, CPU).step
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InvalidFile, match=r"snapshot.*No space left on device"):
        for _ in events:
            pass
    monkeypatch.undo()
    assert snapshot.restore(tiny, tmp_path, CPU).step == before
    assert run_to_end(tiny, tmp_path, None, resume=True)[-1].step == 10


def test_torch_uses_as_many_threads_as_it_is_given(tiny, tmp_path):
    before = torch.get_num_threads()
    try:
        run_to_end(tiny, tmp_path, Budget(instances=4), threads=before + 1)
        assert torch.get_num_threads() == before + 1
    finally:
        torch.set_num_threads(before)


def test_a_missing_tensorboard_is_noted(tiny, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    (said,) = notes(run_to_end(tiny, tmp_path, Budget(instances=8)))
    assert "TensorBoard is not installed" in said


ANTS = replace(
    recipe_named("gfacs-star-pip-d-tsptw7-hard"),
    policy=HeatmapConfig(layers=2, width=8, foresight=True),
    ants=3,
    batch=2,
    epoch=4,
    epochs=4,
    foresight=Foresight(1, 2, 1, 1, tours=2),
)


def test_a_colony_is_trained_in_a_folder_like_any_policy(tmp_path):
    events = run_to_end(ANTS, tmp_path, None)
    end = events[-1]
    assert isinstance(end, Finished)
    assert (end.step, end.instances, end.interrupted) == (8, 16, False)
    assert end.score is not None
    network, card = load_heatmap(tmp_path, CPU, ANTS.policy)
    assert card.trained["recipe"] == ANTS.name
    assert card.trained["config"]["guard"]["kind"] == "ahead"
    assert network.config == ANTS.policy
    assert (tmp_path / "curve.png").exists()


def test_a_colony_that_is_resumed_goes_on_as_if_it_had_never_stopped(tmp_path):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    every = Intervals(record=0.0, validation=1e9, snapshot=0.0)
    run_to_end(ANTS, whole, None, intervals=every)
    events = train_recipe(ANTS, parts, None, device="cpu", intervals=every)
    for event in events:
        if isinstance(event, Record) and event.step == 4:
            events.close()
    run_to_end(ANTS, parts, None, intervals=every, resume=True)
    assert losses(parts) == losses(whole)
    ends = [load_heatmap(folder, CPU)[0].state_dict() for folder in (whole, parts)]
    assert all(torch.equal(ends[0][name], ends[1][name]) for name in ends[0])


def test_a_colony_begins_with_the_weights_it_is_given(tmp_path):
    run_to_end(ANTS, tmp_path / "first", None)
    other = replace(ANTS, seed=5)
    events = train_recipe(other, tmp_path / "second", None, device="cpu", start=tmp_path / "first")
    next(events)
    events.close()
    given = load_heatmap(tmp_path / "first", CPU)[0].state_dict()
    begun = snapshot.restore(other, tmp_path / "second", CPU).policy.state_dict()
    assert all(torch.equal(given[name], begun[name]) for name in given)
