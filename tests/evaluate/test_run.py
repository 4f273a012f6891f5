"""Evaluations in a folder: they can be killed, gone on with and repeated, and always leave the same file."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
import torch

from fairway.errors import InvalidFile, InvalidRequest
from fairway.evaluate import methods
from fairway.evaluate.methods import METHODS, EvalConfig, best_row
from fairway.evaluate.outcomes import read_results, times_beside
from fairway.evaluate.run import Place, evaluate
from fairway.inference.config import DecodeConfig
from fairway.judge import Solution, verify
from fairway.kernels.lookahead import Guard
from fairway.policies.attention import Policy
from fairway.policies.checkpoint import save_policy
from fairway.policies.config import PolicyConfig
from fairway.problems.beds import load_bed
from fairway.problems.generate import generate


@pytest.fixture
def instances():
    return replace(generate("tsptw", n=12, hardness="hard", count=25, seed=7), name="mine")


@pytest.fixture
def policy(tmp_path):
    torch.manual_seed(3)
    small = Policy(PolicyConfig(layers=1, width=32, heads=2, hidden=16))
    folder = tmp_path / "policy"
    folder.mkdir()
    save_policy(small, folder / "policy", trained={"problem": "tsptw", "recipe": "small"})
    return folder


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path / "results", "main", "mine", "row")


def finished(*arguments, **options):
    *_, last = evaluate(*arguments, **options)
    return last


@pytest.mark.parametrize("method", ["greedy-l", "greedy-c", "beam", "exact", "improve", "solve"])
def test_every_method_of_ours_leaves_a_line_an_instance(method, instances, place):
    asked = EvalConfig(method, seconds=0.05, workers=1)
    last = finished(asked, instances, place, 6, tours=True)
    again = read_results(place.path)
    assert again.outcomes == last.outcomes
    assert again.index.tolist() == list(range(6))
    assert again.header.method == method
    assert sum(timing.count for timing in again.timings) == 6
    for outcome in again.outcomes:
        if outcome.tour is not None:
            verdict = verify(instances[outcome.index], outcome.tour, again.header.tolerance)
            assert isinstance(verdict, Solution)
            assert verdict.cost == outcome.cost
    if method in ("exact", "solve"):
        assert all(outcome.proved and outcome.strict == 1 for outcome in again.outcomes)


@pytest.mark.parametrize(
    "mode",
    [DecodeConfig(), DecodeConfig("sample", samples=4), DecodeConfig("beam", width=4)],
    ids=str,
)
def test_a_policy_leaves_as_many_tours_as_its_mode_says(mode, instances, place, policy):
    asked = EvalConfig("policy", policy=policy, mode=mode, device="cpu")
    last = finished(asked, instances, place, 5)
    assert {outcome.tours for outcome in last.outcomes} == {mode.tours}
    assert last.header.settings["policy"] == "small"


def test_local_search_after_a_method_never_makes_it_worse(instances, place, policy):
    asked = EvalConfig("policy", policy=policy, device="cpu", workers=1)
    plain = finished(asked, instances, place, 8)
    better = finished(replace(asked, polish=0.02), instances, replace(place, label="polished"), 8)
    assert {outcome.tours for outcome in better.outcomes} == {9}
    assert (np.nan_to_num(better.cost, nan=np.inf) <= np.nan_to_num(plain.cost, nan=np.inf)).all()
    assert better.cost[0] == pytest.approx(verify_best(instances[0]))


def verify_best(instance):
    from fairway.search.exact import prove

    return prove(instance).cost


def test_equal_runs_leave_equal_files(instances, place, policy):
    asked = EvalConfig(
        "policy", policy=policy, mode=DecodeConfig("sample", samples=3), device="cpu", seed=5
    )
    other = replace(place, root=place.root / "again")
    for each in (place, other):
        finished(asked, instances, each, 20)
    assert place.path.read_bytes() == other.path.read_bytes()


@pytest.mark.parametrize("cut", [0, 1, 700, -1, -30])
def test_a_file_that_was_cut_anywhere_is_completed_to_the_same_one(instances, place, policy, cut):
    asked = EvalConfig("policy", policy=policy, mode=DecodeConfig("sample", samples=2), together=4)
    finished(asked, instances, place, 18)
    whole = place.path.read_bytes()
    place.path.write_bytes(whole[:cut])
    finished(asked, instances, place, 18)
    assert place.path.read_bytes() == whole
    timings = read_results(place.path).timings
    assert [timing.first for timing in timings] == [0, 4, 8, 12, 16]


def test_a_longer_run_goes_on_with_a_shorter_one(instances, place):
    asked = EvalConfig("greedy-c", together=4)
    finished(asked, instances, place, 6)
    before = read_results(place.path)
    seen = [len(results.outcomes) for results in evaluate(asked, instances, place, 11)]
    assert seen == [4, 8, 11]
    after = read_results(place.path)
    assert after.outcomes[:6] == before.outcomes
    assert after.header.count == 11


def test_other_settings_do_not_go_into_the_same_file(instances, place, policy):
    finished(EvalConfig("policy", policy=policy, device="cpu"), instances, place, 3)
    with pytest.raises(
        InvalidRequest,
        match=r"label .* is taken by an evaluation with other seed .*give another --label",
    ):
        finished(EvalConfig("policy", policy=policy, device="cpu", seed=1), instances, place, 3)


def test_other_weights_do_not_go_into_the_same_file(instances, place, policy):
    asked = EvalConfig("policy", policy=policy, device="cpu", mode=DecodeConfig(symmetries=False))
    finished(asked, instances, place, 4)
    other = Policy(PolicyConfig(layers=1, width=32, heads=2, hidden=16))
    save_policy(other, policy / "policy", trained={"problem": "tsptw", "recipe": "small"})
    with pytest.raises(InvalidRequest, match=r"is taken by an evaluation with other .*weights"):
        finished(asked, instances, place, 4)


def test_other_instances_under_the_same_name_do_not_go_into_the_same_file(instances, place):
    asked = EvalConfig("greedy-c")
    finished(asked, instances[:6], place)
    with pytest.raises(InvalidRequest, match="is taken by an evaluation with other"):
        finished(asked, instances[6:12], place)


def test_other_places_under_the_same_windows_do_not_either(instances, place):
    some = instances[:6]
    finished(EvalConfig("greedy-c"), some, place)
    moved = replace(some, places=instances[6:12].places)
    with pytest.raises(InvalidRequest, match="is taken by an evaluation with other"):
        finished(EvalConfig("greedy-c"), moved, place)


def test_a_policy_for_another_problem_leaves_no_file(place, policy):
    drafts = replace(generate("tspdl", n=8, hardness="hard", count=2, seed=7), name="mine")
    for method in ("policy", "solve", "ortools-seeded"):
        with pytest.raises(InvalidRequest, match="was trained for tsptw"):
            finished(EvalConfig(method, policy=policy, device="cpu", workers=1), drafts, place)
    assert not place.path.exists()


def test_a_mask_that_the_problem_does_not_have_is_refused(instances, place, policy):
    asked = EvalConfig(
        "policy", policy=policy, device="cpu", mode=DecodeConfig(guard=Guard("drafts"))
    )
    with pytest.raises(InvalidRequest, match="the exact mask for draft limits is not for tsptw"):
        finished(asked, instances, place)


def test_what_ctrl_c_cuts_short_is_no_outcome(instances, place, monkeypatch):
    whole = finished(EvalConfig("solve", seconds=0.01, workers=1), instances, place, 3)
    solved = methods.solved

    def interrupted(*arguments):
        first, *rest = solved(*arguments)
        return [first, *(replace(result, interrupted=True) for result in rest)]

    monkeypatch.setattr(methods, "solved", interrupted)
    with pytest.raises(KeyboardInterrupt):
        finished(EvalConfig("solve", seconds=0.01, workers=1), instances, place, 6)
    assert read_results(place.path).outcomes in ([], whole.outcomes)


def test_a_file_that_is_none_of_ours_is_not_written_over(instances, place):
    place.path.parent.mkdir(parents=True)
    place.path.write_text('{"my": "notes"}\n')
    with pytest.raises(InvalidFile, match="this is no file of outcomes; move it elsewhere"):
        finished(EvalConfig("greedy-c"), instances, place, 3)
    assert place.path.read_text() == '{"my": "notes"}\n'


def test_a_file_cut_before_a_bad_line_is_gone_on_with(instances, place):
    asked = EvalConfig("greedy-c", together=4)
    finished(asked, instances, place, 11)
    whole = place.path.read_text()
    lines = whole.splitlines(keepends=True)
    place.path.write_text("".join([*lines[:7], '{"index":"x"}\n', *lines[8:]]))
    with pytest.raises(InvalidFile, match="line 8: has no tours; delete this line and all after"):
        finished(asked, instances, place, 11)
    place.path.write_text("".join(lines[:7]))
    finished(asked, instances, place, 11)
    assert place.path.read_text() == whole


KILLED = """
import sys
from dataclasses import replace
from pathlib import Path
from fairway.evaluate.methods import EvalConfig
from fairway.evaluate.run import Place, evaluate
from fairway.inference.config import DecodeConfig
from fairway.problems.generate import generate
instances = replace(generate("tsptw", n=12, hardness="hard", count=25, seed=7), name="mine")
asked = EvalConfig("policy", policy=Path(sys.argv[1]), mode=DecodeConfig("sample", samples=8), together=2)
for results in evaluate(asked, instances, Place(Path(sys.argv[2]), "main", "mine", "row")):
    print(len(results.outcomes), flush=True)
"""


def test_a_killed_run_ends_with_the_file_of_an_uninterrupted_one(tmp_path, policy):
    words = [sys.executable, "-c", KILLED, str(policy)]
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    subprocess.run([*words, whole], check=True, stdout=subprocess.DEVNULL)
    with subprocess.Popen([*words, killed], stdout=subprocess.PIPE, text=True) as process:
        while int(process.stdout.readline()) < 10:
            pass
        os.kill(process.pid, signal.SIGKILL)
    left = (killed / "main/mine/row.jsonl").read_text().count("\n")
    assert 10 <= left < 26
    subprocess.run([*words, killed], check=True, stdout=subprocess.DEVNULL)
    one, other = ((root / "main/mine/row.jsonl").read_bytes() for root in (whole, killed))
    assert one == other


@pytest.mark.parametrize("method", ["improve", "solve"])
def test_a_kill_loses_an_instance_a_process_of_what_has_a_budget(method, place):
    instances = replace(generate("tsptw", n=30, hardness="easy", count=40, seed=7), name="mine")
    asked = EvalConfig(method, seconds=1.0, workers=1)
    running = evaluate(asked, instances, place)
    seen = [len(results.outcomes) for results in islice(running, 4)]
    assert seen == [0, 1, 2, 3]
    running.close()
    assert len(read_results(place.path).outcomes) == 3
    again = evaluate(asked, instances, place)
    assert len(next(again).outcomes) == 3
    again.close()


def test_references_are_a_method_too(place):
    bed = load_bed("tspdl50-hard")
    last = finished(EvalConfig("reference"), bed, replace(place, bed=bed.name), 20)
    assert {outcome.strict for outcome in last.outcomes} == {1}


def test_others_solvers_are_found_or_said_to_be_missing(instances, place, monkeypatch):
    monkeypatch.setenv("FAIRWAY_LKH", "/nowhere")
    from fairway.errors import SolverMissing

    with pytest.raises(SolverMissing, match="LKH-3 is not at"):
        finished(EvalConfig("lkh", workers=1), instances, place, 1)
    last = finished(EvalConfig("pyvrp", seconds=0.1, workers=1), instances, place, 2)
    assert [outcome.strict for outcome in last.outcomes] == [1, 1]


def test_a_seeded_solver_starts_from_a_tour_of_ours(place):
    drafts = replace(generate("tspdl", n=15, hardness="hard", count=3, seed=1), name="mine")
    asked = EvalConfig("ortools-seeded", seconds=0.1, workers=1)
    last = finished(asked, drafts, place)
    assert [outcome.strict for outcome in last.outcomes] == [1, 1, 1]
    assert last.header.settings["seeded"] is True


def test_a_seeded_solver_says_whose_tours_it_starts_from(instances, policy):
    asked = EvalConfig("ortools-seeded", device="cpu")
    begin, said = methods.beginner(asked, instances, seeded=True)
    assert not said
    assert verify(instances[3], begin(instances[3:4], 3)[0]).schedule is not None
    _, said = methods.beginner(replace(asked, policy=policy), instances, seeded=True)
    assert said["begins"]["policy"] == "small"
    assert said["begins"]["weights"]


def test_the_best_row_keeps_the_limits_if_any_does(window_instance):
    tours = np.array([[3, 2, 1], [1, 2, 3], [2, 1, 3]])
    chosen = best_row(window_instance, tours)
    costs = {tuple(t): verify(window_instance, t) for t in tours.tolist()}
    feasible = {t: v.cost for t, v in costs.items() if isinstance(v, Solution)}
    assert feasible[chosen] == min(feasible.values())
    assert best_row(window_instance, tours[:0]) is None


def test_bad_requests_get_a_sentence(instances, place):
    with pytest.raises(InvalidRequest, match="no method 'magic'; expected one of greedy-l"):
        finished(EvalConfig("magic"), instances, place)
    with pytest.raises(InvalidRequest, match="the limit is 0"):
        finished(EvalConfig("greedy-c"), instances, place, 0)
    with pytest.raises(InvalidRequest, match="needs --policy"):
        finished(EvalConfig("policy"), instances, place)
    assert "solve" in METHODS


@pytest.mark.parametrize(
    "change", [{"study": "../up"}, {"study": "foresight"}, {"bed": "a/b"}, {"label": "x.times"}]
)
def test_places_that_no_report_would_find_are_refused(place, change):
    with pytest.raises(InvalidRequest):
        replace(place, **change)


def test_the_papers_tolerance_is_for_its_own_beds(instances, place):
    asked = EvalConfig("solve", seconds=0.02, workers=1)
    own = finished(asked, instances, place, 1).header
    assert own.tolerance == own.strict
    bed = load_bed("tsptw50-hard")
    named = finished(asked, bed, replace(place, bed=bed.name), 1).header
    assert named.tolerance > named.strict


def test_labels_become_names_of_files(tmp_path):
    path = Place(tmp_path, "main", "mine", "POMO*+PIP / x8").path
    assert path.name == "POMO*+PIP---x8.jsonl"


def test_times_stand_beside(instances, place):
    began = time.perf_counter()
    finished(EvalConfig("greedy-c"), instances, place, 4)
    spent = time.perf_counter() - began
    (line,) = times_beside(place.path).read_text().splitlines()
    timing = json.loads(line)
    assert (timing["first"], timing["count"], timing["device"]) == (0, 4, "cpu")
    assert 0 < timing["wall"] < spent
