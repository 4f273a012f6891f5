"""The verbs `solve` and `explain`."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
from command import BAD_INPUT, COMMAND, FEASIBLE, NOT_FEASIBLE, run, sentence

import fairway
from fairway.cli import INTERRUPTED
from fairway.cli.answers import result_table


def records(result):
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_solve_without_files_solves_the_bundled_examples(tmp_path):
    result = run("solve", "--pictures", tmp_path / "out", "--json")
    assert result.returncode == FEASIBLE
    answers = records(result)
    assert {record["problem"] for record in answers} == {"tsptw", "tspdl"}
    assert {record["status"] for record in answers} == {"optimal"}
    pictures = sorted((tmp_path / "out").iterdir())
    assert len(pictures) == len(answers)
    assert all(picture.read_bytes().startswith(b"\x89PNG") for picture in pictures)


def test_solve_prints_a_row_and_the_tour_by_name(stops):
    result = run("solve", stops)
    assert result.returncode == FEASIBLE
    assert "depot > a > b > depot" in result.stdout
    row = next(line.split() for line in result.stdout.splitlines() if "optimal" in line)
    assert row[:6] == ["stops", "optimal", "12", "0.00", "%", "13"]
    assert row[7:] == ["exact", "search"]


def test_json_holds_all_that_is_known_and_the_judge_accepts_it(stops):
    record = records(run("solve", stops, "--json"))[0]
    verdict = fairway.verify(fairway.read(stops), record["tour"])
    assert isinstance(verdict, fairway.Solution)
    assert record["cost"] == record["lower_bound"] == verdict.cost
    assert (record["makespan"], record["gap"], record["method"]) == (13, 0, "exact search")
    assert record["schedule"]["start"] == verdict.schedule.start.tolist()
    assert record["trace"][-1]["value"] == verdict.cost


@pytest.fixture
def shut(stops):
    """A file with a stop that closes too early."""
    stops.write_text(stops.read_text().replace("0,9,1", "0,4,1"))
    return stops


def test_what_has_no_tour_is_answered_with_the_reason(shut):
    result = run("solve", shut)
    assert result.returncode == NOT_FEASIBLE
    assert "stop 1 (a) closes at 4 but cannot be reached before 5" in result.stdout
    record = records(run("solve", shut, "--json"))[0]
    assert (record["status"], record["tour"], record["cost"]) == ("infeasible", None, None)


def test_explain_says_what_would_help(shut, ports):
    result = run("explain", shut)
    assert result.returncode == NOT_FEASIBLE
    assert "stop 1 (a) closes at 4 but cannot be reached before 5" in result.stdout
    assert "if stop 1 (a) closed at 5 instead of 4" in result.stdout
    record = records(run("explain", shut, "--json"))[0]
    assert (record["status"], record["stops"]) == ("infeasible", [1])
    assert record["repair"]["after"] == 5
    assert run("explain", ports).returncode == FEASIBLE
    assert "home > a > b > home" in run("explain", ports).stdout


def test_a_plan_may_be_given(stops):
    record = records(run("solve", stops, "--json", "--initial", "a,b"))[0]
    assert (record["status"], record["method"]) == ("optimal", "plan")
    assert "stop 2 (b) is never visited" in sentence(run("solve", stops, "--initial", "a"))
    assert "belong to one instance" in sentence(run("solve", stops, stops, "--initial", "a,b"))


def test_one_tour_is_drawn_where_it_is_asked_for(stops, tmp_path):
    assert run("solve", stops, "--plot", tmp_path / "tour.png").returncode == FEASIBLE
    assert (tmp_path / "tour.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("tour.pdf", "the suffix .pdf names no picture; expected .png or .svg"),
        ("tour", "the suffix (none) names no picture"),
        ("absent/tour.png", "there is no folder"),
    ],
)
def test_a_picture_that_cannot_be_saved_is_refused_before_solving(stops, tmp_path, place, said):
    result = run("solve", stops, "--plot", tmp_path / place, "--pictures", tmp_path / "out")
    assert said in sentence(result)
    assert f"--plot {tmp_path / place}" in result.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("workers", [0, -2])
def test_what_is_no_crew_is_refused_for_one_instance_too(stops, workers):
    said = sentence(run("solve", stops, f"--workers={workers}"))
    assert f"workers is {workers}; expected a whole number, 1 or more" in said


def test_what_is_no_policy_is_named_as_it_was_given(stops, tmp_path):
    assert f"{stops}: is no policy; expected the folder" in sentence(
        run("solve", stops, "--policy", stops)
    )
    assert f"{tmp_path / 'absent'}: there is no such file or folder" in sentence(
        run("solve", stops, "--policy", tmp_path / "absent")
    )


@pytest.mark.soak
def test_many_ports_are_guided_by_what_ships_unless_none_is_asked_for(tmp_path):
    file = tmp_path / "many.npz"
    fairway.write(fairway.generate("tspdl", n=300, hardness="hard", seed=1), file)
    first = [
        records(run("solve", file, "--json", "--seconds", 4, *words))[0]["trace"][0]["method"]
        for words in ((), ("--policy", "none"))
    ]
    assert first == ["policy", "local search"]


def test_an_objective_and_a_budget_may_be_chosen(stops, ports):
    record = records(run("solve", stops, "--json", "--objective", "makespan", "--iterations", 9))[0]
    assert (record["objective"], record["lower_bound"]) == ("makespan", 13)
    record = records(run("solve", ports, "--json", "--objective", "duration"))[0]
    assert record["value"] == record["duration"]
    assert "seconds is -1" in sentence(run("solve", stops, "--seconds=-1"))
    assert "--gap is 'one'" in sentence(run("solve", stops, "--gap", "one"))
    assert "gap is -0.01" in sentence(run("solve", stops, "--gap=-1%"))
    assert run("solve", stops, "--objective", "beauty").returncode == BAD_INPUT
    assert run("solve", stops, "--drop", "all").returncode == BAD_INPUT


def test_a_bad_file_is_named_at_the_end_and_the_others_are_solved(stops, tmp_path):
    result = run("solve", tmp_path / "absent.csv", stops, "--json")
    assert result.returncode == BAD_INPUT
    assert [record["status"] for record in records(result)] == ["optimal"]
    assert result.stderr.startswith("fairway: ")
    assert "absent.csv: cannot be read" in result.stderr
    assert "absent.csv: cannot be read" in sentence(run("solve", tmp_path / "absent.csv"))


@contextmanager
def started(*arguments):
    """The command while it runs."""
    words = [sys.executable, "-m", "fairway", *map(str, arguments)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def test_answers_are_printed_as_they_come_and_ctrl_c_is_told_by_the_exit_code(stops, tmp_path):
    slow = tmp_path / "slow.json"
    fairway.write(fairway.generate("tsptw", n=50, hardness="easy", seed=1)[0], slow)
    words = ("solve", stops, slow, slow, "--json", "--seconds", 600, "--workers", 1)
    with started(*words) as process:
        first = json.loads(process.stdout.readline())
        assert process.poll() is None
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        rest = [json.loads(line) for line in process.stdout]
        assert process.wait(timeout=30) == INTERRUPTED
    assert [answer["interrupted"] for answer in (first, *rest)] == [False, True, True]
    assert [answer["status"] for answer in rest] == ["feasible", "unknown"]


def test_the_table_says_what_was_interrupted(window_instance):
    result = replace(fairway.solve(window_instance), interrupted=True)
    table = result_table([("line", window_instance, result)])
    assert [str(cell) for cell in table.columns[1].cells] == ["optimal, interrupted"]


def test_the_first_process_of_a_container_ends_on_sigterm(tmp_path):
    apart = ("unshare", "--pid", "--fork", "--kill-child")
    if shutil.which("unshare") is None or subprocess.run([*apart, "true"], check=False).returncode:
        pytest.skip("no processes of its own can be had here")
    slow = tmp_path / "slow.npz"
    fairway.write(fairway.generate("tsptw", n=50, hardness="easy", count=6, seed=1), slow)
    words = (*apart, *COMMAND, "solve", slow, "--json", "--seconds", "3", "--workers", "2")
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        listed = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(process.pid)], stdout=subprocess.PIPE, check=True
        )
        os.kill(int(listed.stdout), signal.SIGTERM)
        assert len(process.stdout.readlines()) < 5
        assert process.wait(timeout=10) == 143


def test_solve_reads_sets_and_standard_input(tmp_path, stops):
    run("generate", "tspdl", "-n", 6, "--count", 3, "-o", tmp_path / "set.npz")
    assert (
        len(run("solve", tmp_path / "set.npz", "--json", "--seconds", 0.1).stdout.splitlines()) == 3
    )
    assert run("solve", "-", input=stops.read_text()).returncode == FEASIBLE


def test_a_picture_never_leaves_its_folder(tmp_path):
    travel = np.ones((2, 2))
    instance = fairway.TSPTW(travel, 0, 9, coordinates=np.eye(2), name="../../escape")
    fairway.write(instance, tmp_path / "odd.json")
    assert (
        run("solve", tmp_path / "odd.json", "--pictures", tmp_path / "out").returncode == FEASIBLE
    )
    assert [path.name for path in (tmp_path / "out").iterdir()] == [".._.._escape.png"]


def test_a_reader_that_goes_away_gets_no_traceback(tmp_path):
    run("generate", "tspdl", "-n", 30, "--count", 200, "-o", tmp_path / "set.npz")
    command = (
        f"{sys.executable} -m fairway solve {tmp_path / 'set.npz'} --json --seconds 0.01 | head -1"
    )
    result = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert len(result.stdout.splitlines()) == 1
    assert "Traceback" not in result.stderr


def test_two_instances_of_one_name_get_two_pictures(stops, tmp_path):
    (tmp_path / "other").mkdir()
    twin = tmp_path / "other" / stops.name
    twin.write_text(stops.read_text())
    run("solve", stops, twin, "--pictures", tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "stops-2.png",
        "stops.png",
    ]


def test_degrees_beside_minutes_are_said_on_stderr_and_solved_all_the_same(tmp_path):
    rows = ("d,59.911,10.757,480,1020", "a,59.93,10.71,500,900", "b,59.88,10.8,600,960")
    (tmp_path / "town.csv").write_text("id,x,y,open,close\n" + "\n".join(rows) + "\n")
    result = run("solve", tmp_path / "town.csv", "--seconds", 1, "--json")
    assert records(result)[0]["status"] == "optimal"
    assert result.stderr.startswith("note: town: the coordinates look like degrees")


def test_warmup_compiles_ahead_or_says_why_it_cannot():
    result = run("warmup")
    assert result.returncode == FEASIBLE
    assert "compiled code is ready" in result.stdout
    code = (
        "import resource, runpy, sys\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
        "sys.argv = ['fairway', 'warmup']\n"
        "runpy.run_module('fairway', run_name='__main__')\n"
    )
    words = [sys.executable, "-c", code]
    refused = subprocess.run(words, capture_output=True, text=True, check=False)
    assert "no folder for it can be written; set NUMBA_CACHE_DIR" in sentence(refused)


@pytest.fixture
def tours(tmp_path):
    """A stop that may be left out, one that may be late, and one to wait for."""
    path = tmp_path / "tours.csv"
    path.write_text(
        "id,x,y,open,close,service,prize,late\ndepot,0,0,0,60,0,,\na,3,4,0,4,1,,1\nb,3,0,30,40,0,,\nfar,30,40,0,99,0,5,\n"
    )
    return path


def test_solve_prints_the_schedule_of_one_instance(tours):
    out = run("solve", tours).stdout
    assert "tours  optimal" in out
    rows = {line.split()[0]: line.split() for line in out.splitlines() if line.strip()}
    assert rows["stop"] == [
        "stop",
        "opens",
        "closes",
        "arrival",
        "wait",
        "start",
        "departure",
        "late",
    ]
    assert rows["a"] == ["a", "0", "4", "5", "5", "6", "1"]
    assert rows["b"] == ["b", "30", "40", "10", "20", "30", "30"]
    assert rows["far"] == ["far", "0", "99", "left", "out"]
    assert "leaves at 0, the latest that changes nothing" in out


def test_the_latest_departure_that_changes_nothing_is_shown(stops):
    stops.write_text(stops.read_text().replace("a,3,4,0,9,1", "a,3,4,7,9,1"))
    out = run("solve", stops).stdout
    assert "leaves at 0; leaving as late as 2 changes nothing" in out
    record = records(run("solve", stops, "--json"))[0]
    assert (record["departure"], record["latest_departure"]) == (0, 2)
    assert [step["name"] for step in record["steps"]] == ["depot", "a", "b", "depot"]


@pytest.mark.parametrize("name", ["plan.csv", "plan.json", "plan.geojson", "plan.vroom.json"])
def test_a_plan_is_written_as_its_name_says(tours, tmp_path, name):
    assert run("solve", tours, "--out", tmp_path / name).returncode == FEASIBLE
    text = (tmp_path / name).read_text()
    assert "far" in text
    if name == "plan.csv":
        assert text.splitlines()[0] == "step,name,arrival,wait,start,departure,late,load,cost"
        assert "stop,b,10,20,30,30,0,,9" in text
    else:
        json.loads(text)
    other = run("solve", tours, "-o", tmp_path / "plan.txt", "--format", "csv")
    assert other.returncode == FEASIBLE
    assert (tmp_path / "plan.txt").read_text().startswith("step,name")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--out", "plan.xls"), "the suffix .xls names no output"),
        (("--out", "absent/plan.csv"), "there is no folder absent"),
        (("--out", "plan.ics"), "a calendar needs times of day"),
        (("--out", "plan.ics", "--date", "soon"), "--date is 'soon'; expected a day like"),
        (("--format", "csv"), "--format and --date belong to --out"),
    ],
)
def test_a_plan_that_cannot_be_written_is_refused_before_solving(stops, tmp_path, words, said):
    assert said in sentence(run("solve", stops, *words, cwd=tmp_path))


def test_one_file_holds_one_plan(stops, tmp_path):
    said = sentence(run("solve", stops, stops, "--out", tmp_path / "plan.csv"))
    assert "--initial and --fixed belong to one instance; there are 2" in said


def test_without_a_tour_there_is_no_plan_and_steps_are_null(shut, tmp_path):
    result = run("solve", shut, "--json", "--out", tmp_path / "plan.csv")
    assert result.returncode == NOT_FEASIBLE
    assert records(result)[0]["steps"] is None
    assert not (tmp_path / "plan.csv").exists()
