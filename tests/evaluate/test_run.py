"""Evaluations in a folder: they can be killed, resumed and repeated, and always leave the same lines."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch
from evaluations import lines_of, unpacked

from fairway.errors import InvalidFile, InvalidRequest
from fairway.evaluate import solvers
from fairway.evaluate.methods import PolicyEval, ReferenceEval
from fairway.evaluate.outcomes import pack, packed, read_results, times_beside
from fairway.evaluate.run import Place, evaluate
from fairway.evaluate.solvers import SOLVERS, SolverEval
from fairway.inference.config import DecodeConfig
from fairway.judge import Solution, verify
from fairway.kernels.lookahead import MaskConfig
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


OURS = ["greedy-l", "greedy-c", "beam", "exact", "local-search", "fairway"]


@pytest.mark.parametrize("solver", OURS)
def test_every_solver_of_ours_leaves_one_line_per_instance(solver, instances, place):
    asked = SolverEval(solver=solver, seconds=0.05, workers=1)
    last = finished(asked, instances, place, 6, tours=True)
    again = read_results(place.path)
    assert again.outcomes == last.outcomes
    assert again.index.tolist() == list(range(6))
    assert again.header.method == SOLVERS[solver].method
    assert sum(timing.count for timing in again.timings) == 6
    for outcome in again.outcomes:
        if outcome.tour is not None:
            verdict = verify(instances[outcome.index], outcome.tour, again.header.tolerance)
            assert isinstance(verdict, Solution)
            assert verdict.cost == outcome.cost
    if solver in ("exact", "fairway"):
        assert all(outcome.proved and outcome.strict == 1 for outcome in again.outcomes)


@pytest.mark.parametrize(
    "decode",
    [DecodeConfig(), DecodeConfig("sample", samples=4), DecodeConfig("beam", width=4)],
    ids=str,
)
def test_a_policy_leaves_as_many_tours_as_its_config_says(decode, instances, place, policy):
    asked = PolicyEval(policy=policy, decode=decode, device="cpu")
    last = finished(asked, instances, place, 5)
    each = decode.tours(instances[0].nodes)
    assert {outcome.tours for outcome in last.outcomes} == {8 * each}
    assert last.header.settings["policy"] == "small"


def test_local_search_after_a_method_never_makes_it_worse(instances, place, policy):
    asked = PolicyEval(policy=policy, device="cpu", workers=1)
    plain = finished(asked, instances, place, 8)
    better = finished(replace(asked, polish=0.02), instances, replace(place, label="polished"), 8)
    assert {outcome.tours for outcome in better.outcomes} == {9}
    assert (np.nan_to_num(better.cost, nan=np.inf) <= np.nan_to_num(plain.cost, nan=np.inf)).all()
    assert better.cost[0] == pytest.approx(verify_best(instances[0]))


def verify_best(instance):
    from fairway.search.exact import prove

    return prove(instance).cost


def test_equal_runs_leave_equal_lines(instances, place, policy):
    asked = PolicyEval(
        policy=policy, decode=DecodeConfig("sample", samples=3), device="cpu", seed=5
    )
    other = replace(place, root=place.root / "again")
    for each in (place, other):
        finished(asked, instances, each, 20)
    assert lines_of(place.path) == lines_of(other.path)


@pytest.mark.parametrize("cut", [0, 1, 700, -1, -30])
def test_a_file_that_was_cut_anywhere_is_completed_to_the_same_one(instances, place, policy, cut):
    asked = PolicyEval(policy=policy, decode=DecodeConfig("sample", samples=2), together=4)
    finished(asked, instances, place, 18)
    whole = lines_of(place.path)
    place.path.write_text(unpacked(place.path)[:cut])
    finished(asked, instances, place, 18)
    assert lines_of(place.path) == whole
    assert not place.path.exists()
    assert not times_beside(place.path).exists()
    timings = read_results(place.path).timings
    assert [timing.first for timing in timings] == [0, 4, 8, 12, 16]


def test_a_longer_run_resumes_a_shorter_one(instances, place, monkeypatch):
    monkeypatch.setattr(solvers, "TOGETHER", 4)
    asked = SolverEval(solver="greedy-c")
    finished(asked, instances, place, 6)
    before = read_results(place.path)
    seen = [len(results.outcomes) for results in evaluate(asked, instances, place, 11)]
    assert seen == [4, 8, 11]
    after = read_results(place.path)
    assert after.outcomes[:6] == before.outcomes
    assert after.header.count == 11


def test_other_settings_do_not_go_into_the_same_file(instances, place, policy):
    finished(PolicyEval(policy=policy, device="cpu"), instances, place, 3)
    with pytest.raises(
        InvalidRequest,
        match=r"label .* is taken by an evaluation with other seed .*give another --label",
    ):
        finished(PolicyEval(policy=policy, device="cpu", seed=1), instances, place, 3)


def test_other_weights_do_not_go_into_the_same_file(instances, place, policy):
    asked = PolicyEval(policy=policy, device="cpu", decode=DecodeConfig(symmetries=False))
    finished(asked, instances, place, 4)
    other = Policy(PolicyConfig(layers=1, width=32, heads=2, hidden=16))
    save_policy(other, policy / "policy", trained={"problem": "tsptw", "recipe": "small"})
    with pytest.raises(InvalidRequest, match=r"is taken by an evaluation with other .*weights"):
        finished(asked, instances, place, 4)


def test_lines_that_do_not_say_what_their_policy_has_seen_are_resumed(instances, place, policy):
    """As older versions left them."""
    network = Policy(PolicyConfig(layers=1, width=32, heads=2, hidden=16))
    trained = {"problem": "tsptw", "recipe": "small", "instances": 640}
    save_policy(network, policy / "policy", trained=trained)
    asked = PolicyEval(policy=policy, device="cpu", decode=DecodeConfig(symmetries=False))
    before = finished(asked, instances, place, 4)
    settings = dict(before.header.settings)
    assert settings.pop("training_instances") == 640
    pack(place.path, replace(before, header=replace(before.header, settings=settings)))
    assert len(finished(asked, instances, place, 6).outcomes) == 6


def test_other_instances_under_the_same_name_do_not_go_into_the_same_file(instances, place):
    asked = SolverEval(solver="greedy-c")
    finished(asked, instances[:6], place)
    with pytest.raises(InvalidRequest, match="is taken by an evaluation with other"):
        finished(asked, instances[6:12], place)


def test_other_places_under_the_same_windows_do_not_either(instances, place):
    some = instances[:6]
    finished(SolverEval(solver="greedy-c"), some, place)
    moved = replace(some, locations=instances[6:12].locations)
    with pytest.raises(InvalidRequest, match="is taken by an evaluation with other"):
        finished(SolverEval(solver="greedy-c"), moved, place)


def test_a_policy_for_another_problem_leaves_no_file(place, policy):
    drafts = replace(generate("tspdl", n=8, hardness="hard", count=2, seed=7), name="mine")
    ours, others = (SolverEval(solver=each, policy=policy) for each in ("fairway", "ortools"))
    for asked in (PolicyEval(policy=policy, device="cpu"), ours, others):
        with pytest.raises(InvalidRequest, match="was trained for tsptw"):
            finished(asked, drafts, place)
    assert not place.path.parent.exists()


def test_a_mask_that_the_problem_does_not_have_is_refused(instances, place, policy):
    asked = PolicyEval(policy=policy, device="cpu", decode=DecodeConfig(guard=MaskConfig("exact")))
    with pytest.raises(InvalidRequest, match="there is no exact mask for tsptw"):
        finished(asked, instances, place)


def test_what_ctrl_c_cuts_short_is_no_outcome(instances, place, monkeypatch):
    whole = finished(SolverEval(solver="fairway", seconds=0.01, workers=1), instances, place, 3)
    solved = solvers.solved

    def interrupted(*arguments):
        first, *rest = solved(*arguments)
        return [first, *(replace(result, interrupted=True) for result in rest)]

    monkeypatch.setattr(solvers, "solved", interrupted)
    with pytest.raises(KeyboardInterrupt):
        finished(SolverEval(solver="fairway", seconds=0.01, workers=1), instances, place, 6)
    assert read_results(place.path).outcomes in ([], whole.outcomes)


def test_a_file_that_is_none_of_ours_is_not_written_over(instances, place):
    place.path.parent.mkdir(parents=True)
    place.path.write_text('{"my": "notes"}\n')
    with pytest.raises(InvalidFile, match="this is no file of outcomes; move it elsewhere"):
        finished(SolverEval(solver="greedy-c"), instances, place, 3)
    assert place.path.read_text() == '{"my": "notes"}\n'


def test_a_file_cut_before_a_bad_line_is_resumed(instances, place, monkeypatch):
    monkeypatch.setattr(solvers, "TOGETHER", 4)
    asked = SolverEval(solver="greedy-c")
    finished(asked, instances, place, 11)
    lines = unpacked(place.path).splitlines(keepends=True)
    place.path.write_text("".join([*lines[:7], '{"index":"x"}\n', *lines[8:]]))
    with pytest.raises(InvalidFile, match="line 8: has no tours; delete this line and all after"):
        finished(asked, instances, place, 11)
    place.path.write_text("".join(lines[:7]))
    finished(asked, instances, place, 11)
    assert lines_of(place.path) == lines


KILLED = """
import sys
from dataclasses import replace
from pathlib import Path
from fairway.evaluate.methods import PolicyEval
from fairway.evaluate.run import Place, evaluate
from fairway.inference.config import DecodeConfig
from fairway.problems.generate import generate
instances = replace(generate("tsptw", n=12, hardness="hard", count=25, seed=7), name="mine")
asked = PolicyEval(policy=Path(sys.argv[1]), decode=DecodeConfig("sample", samples=8), together=2)
for results in evaluate(asked, instances, Place(Path(sys.argv[2]), "main", "mine", "row")):
    print(len(results.outcomes), flush=True)
"""


def test_a_killed_run_ends_with_the_lines_of_an_uninterrupted_one(tmp_path, policy):
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
    one, other = (lines_of(root / "main/mine/row.jsonl") for root in (whole, killed))
    assert one == other


@pytest.mark.parametrize("solver", ["local-search", "fairway"])
def test_a_kill_loses_an_instance_a_process_of_what_has_a_budget(solver, place):
    instances = replace(generate("tsptw", n=30, hardness="easy", count=40, seed=7), name="mine")
    asked = SolverEval(solver=solver, seconds=1.0, workers=1)
    running = evaluate(asked, instances, place)
    seen = [len(results.outcomes) for results in islice(running, 4)]
    assert seen == sorted(set(seen))
    assert seen[-1] < 30, "which is a group"
    running.close()
    assert len(read_results(place.path).outcomes) == seen[-1]
    again = evaluate(asked, instances, place)
    assert len(next(again).outcomes) == seen[-1]
    again.close()


def test_references_are_a_method_too(place):
    bed = load_bed("tspdl50-hard")
    last = finished(ReferenceEval(), bed, replace(place, bed=bed.name), 20)
    assert {outcome.strict for outcome in last.outcomes} == {1}


def test_others_solvers_are_found_or_said_to_be_missing(instances, place, monkeypatch):
    monkeypatch.setenv("FAIRWAY_LKH", "/nowhere")
    from fairway.errors import SolverMissing

    with pytest.raises(SolverMissing, match="LKH-3 is not at"):
        finished(SolverEval(solver="lkh", workers=1), instances, place, 1)
    last = finished(SolverEval(solver="pyvrp", seconds=0.1, workers=1), instances, place, 2)
    assert [outcome.strict for outcome in last.outcomes] == [1, 1]


def test_a_seeded_solver_starts_from_a_tour_of_ours(place):
    drafts = replace(generate("tspdl", n=15, hardness="hard", count=3, seed=1), name="mine")
    asked = SolverEval(solver="ortools", seeded=True, seconds=0.1, workers=1)
    last = finished(asked, drafts, place)
    assert [outcome.strict for outcome in last.outcomes] == [1, 1, 1]
    assert last.header.settings["seeded"] is True


def test_a_seeded_solver_says_whose_tours_it_starts_from(instances, policy):
    seeded = SolverEval(solver="ortools", seeded=True)
    begin, said = solvers.beginner(seeded, instances)
    assert not said
    assert verify(instances[3], begin(instances[3:4], 3)[0]).schedule is not None
    guided = SolverEval(solver="ortools", policy=policy)
    _, said = solvers.beginner(guided, instances)
    assert said["begins"]["policy"] == "small"
    assert said["begins"]["weights"]
    assert guided.method == seeded.method == "ortools-seeded"


def test_bad_requests_get_a_sentence(instances, place):
    with pytest.raises(InvalidRequest, match="no solver 'magic'; expected one of fairway, exact"):
        SolverEval(solver="magic")
    with pytest.raises(InvalidRequest, match="the limit is 0"):
        finished(SolverEval(solver="greedy-c"), instances, place, 0)


@pytest.mark.parametrize(
    "wrong", [{"seconds": -1}, {"seconds": float("nan")}, {"seed": -1}, {"workers": 0}]
)
def test_numbers_that_no_evaluation_can_have_are_refused(wrong):
    (name,) = wrong
    with pytest.raises(InvalidRequest, match=f"{name} is .*; expected [01] or more"):
        SolverEval(solver="fairway", **wrong)


@pytest.mark.parametrize(
    ("solver", "option", "able"),
    [
        ("fairway", {"seeded": True}, "local-search, pyvrp, ortools, lkh"),
        ("exact", {"policy": Path("runs/mine")}, "fairway, local-search"),
        ("pyvrp", {"width": 4}, "beam"),
        ("ortools", {"trials": 4}, "lkh"),
    ],
)
def test_an_option_of_another_solver_is_refused_with_those_that_take_it(solver, option, able):
    with pytest.raises(InvalidRequest, match=f"{solver} takes no .* or choose {able}"):
        SolverEval(solver=solver, **option)


@pytest.mark.parametrize(
    "change", [{"study": "../up"}, {"study": "foresight"}, {"bed": "a/b"}, {"label": "x.times"}]
)
def test_places_that_no_report_would_find_are_refused(place, change):
    with pytest.raises(InvalidRequest):
        replace(place, **change)


def test_the_papers_tolerance_is_for_its_own_beds(instances, place):
    asked = SolverEval(solver="fairway", seconds=0.02, workers=1)
    own = finished(asked, instances, place, 1).header
    assert own.tolerance == own.strict
    bed = load_bed("tsptw50-hard")
    named = finished(asked, bed, replace(place, bed=bed.name), 1).header
    assert named.tolerance > named.strict


def test_labels_become_names_of_files(tmp_path):
    path = Place(tmp_path, "main", "mine", "POMO*+PIP / x8").path
    assert path.name == "POMO*+PIP---x8.jsonl"


def test_times_are_kept(instances, place):
    began = time.perf_counter()
    finished(SolverEval(solver="greedy-c"), instances, place, 4)
    spent = time.perf_counter() - began
    (timing,) = read_results(place.path).timings
    assert (timing.first, timing.count, timing.device) == (0, 4, "cpu")
    assert 0 < timing.wall < spent


def test_what_version_0_1_left_is_resumed_and_packed(instances, place):
    before = finished(SolverEval(solver="greedy-c"), instances, place, 4)
    unpacked(place.path)
    *_, after = evaluate(SolverEval(solver="greedy-c"), instances, place, 4)
    assert (after.outcomes, after.timings) == (before.outcomes, before.timings)
    assert read_results(place.path).timings == before.timings
    assert packed(place.path).exists()
    assert not place.path.exists()


def test_of_a_packed_file_and_a_plain_one_that_a_kill_left_the_packed_one_counts(instances, place):
    whole = finished(SolverEval(solver="greedy-c"), instances, place, 4)
    content = packed(place.path).read_bytes()
    place.path.write_text("".join(unpacked(place.path).splitlines(keepends=True)[:3]))
    packed(place.path).write_bytes(content)
    assert read_results(place.path).outcomes == whole.outcomes
    assert finished(SolverEval(solver="greedy-c"), instances, place, 4).outcomes == whole.outcomes
    assert packed(place.path).read_bytes() == content


def begun_with(place, versions):
    """Let what was kept be of other versions."""
    old = read_results(place.path)
    pack(place.path, replace(old, header=replace(old.header, versions=versions)))


@pytest.mark.parametrize("versions", [{}, {"fairway": "0.1.0", "pyvrp": "9.9", "torch": "1.0"}])
def test_versions_around_a_method_do_not_keep_it_from_going_on(instances, place, versions):
    before = finished(SolverEval(solver="greedy-c"), instances, place, 4)
    begun_with(place, versions)
    after = finished(SolverEval(solver="greedy-c"), instances, place, 4)
    assert after.outcomes == before.outcomes
    assert read_results(place.path).header.versions == versions, "what they were made with"


def test_another_version_of_the_solver_itself_does(instances, place):
    asked = SolverEval(solver="pyvrp", seconds=0.05, workers=1)
    finished(asked, instances, place, 1)
    begun_with(place, {"fairway": "0.1.0"})
    finished(asked, instances, place, 1)
    begun_with(place, {"pyvrp": "0.0.1"})
    with pytest.raises(
        InvalidRequest, match=r"with other versions \(versions '0\.0\.1' instead of"
    ):
        finished(asked, instances, place, 1)
