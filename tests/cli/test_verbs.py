"""The verbs that judge, draw, convert and generate."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from command import BAD_INPUT, COMMAND, FEASIBLE, NOT_FEASIBLE, run, sentence

import fairway


def test_help_is_quick_to_import():
    """Half a second is the promise; what takes longer than that is torch, numba, numpy and matplotlib."""
    code = (
        "import sys; sys.argv = ['fairway', '--help']\n"
        "from fairway.cli import main\n"
        "try: main()\n"
        "except SystemExit as end: assert end.code == 0\n"
        "heavy = {'torch', 'numba', 'numpy', 'matplotlib'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    for verb in ("solve", "explain", "verify", "plot", "generate", "convert", "bed"):
        assert verb in result.stdout


@pytest.mark.parametrize(
    ("verb", "option", "said"),
    [
        ("solve", "--seconds", "Time limit per instance; stops early once proved optimal"),
        ("solve", "--iterations", "Search steps instead of a time limit"),
        ("solve", "--workers", "or of threads for one instance (default: all cores)"),
        ("solve", "--seed", "Random seed"),
        ("evaluate policy", "--budget", "Extra steps allowed for backtracking"),
        ("evaluate solver", "--trials", "Trials of LKH-3"),
        ("evaluate reference", "--limit", "Evaluate only the first N instances"),
    ],
)
def test_help_speaks_of_what_an_option_does(verb, option, said):
    shown = run(*verb.split(), "--help", env=os.environ | {"COLUMNS": "200"}).stdout
    line = next(line for line in shown.splitlines() if f" {option} " in line)
    assert said in line


def test_version():
    assert run("--version").stdout.strip() == fairway.__version__


def test_verify_prints_the_schedule(stops):
    result = run("verify", stops, "--tour", "a,b")
    assert result.returncode == FEASIBLE
    assert "feasible  cost 12  back at the depot at 13" in result.stdout
    for column in ("opens", "closes", "arrival", "wait", "start", "departure"):
        assert column in result.stdout


def test_verify_lists_every_violation(stops, ports):
    result = run("verify", stops, "--tour", "b a")
    assert result.returncode == NOT_FEASIBLE
    assert "late" in result.stdout
    record = json.loads(run("verify", stops, "--tour", "[2, 1]", "--json").stdout)
    assert record["status"] == "refused"
    assert [(v["rule"], v["node"], v["amount"]) for v in record["violations"]] == [("late", 1, 4.0)]
    assert "too deep" in run("verify", ports, "--tour", "b,a").stdout


def test_a_sequence_that_is_no_tour_is_refused_with_every_reason(stops):
    result = run("verify", stops, "--tour", "[1, 1, 7]")
    assert result.returncode == NOT_FEASIBLE
    for reason in ("there is no stop 7", "stop 1 (a) is visited 2 times", "2 (b) is never visited"):
        assert reason in result.stdout
    record = json.loads(run("verify", stops, "--tour", "a,a", "--json").stdout)
    assert [violation["rule"] for violation in record["violations"]] == ["repeated", "missing"]


def test_what_names_no_stop_is_bad_input(stops):
    assert "'nobody'" in sentence(run("verify", stops, "--tour", "a,nobody"))
    assert "no file, and no stop" in sentence(run("verify", stops, "--tour", "order.txt"))
    assert "tolerance" in sentence(run("verify", stops, "--tour", "a,b", "--tolerance", "nan"))


def test_a_tour_is_judged_by_the_ids_that_solve_prints(tmp_path):
    path = tmp_path / "ids.csv"
    rows = ("0,0,0", "3,1,0", "1,5,1", "2,9,7")
    path.write_text("id,x,y,open,close\n" + "".join(f"{row},0,99\n" for row in rows))
    printed = run("solve", path, "--iterations", 9).stdout.splitlines()[-1].strip()
    record = json.loads(run("solve", path, "--iterations", 9, "--json").stdout)
    judged = run("verify", path, "--json", "--tour", printed.replace(" >", ","))
    assert json.loads(judged.stdout)["tour"] == record["tour"]
    assert json.loads(judged.stdout)["cost"] == record["cost"]


ESCAPES = "\x1b]0;title\x07\x9b2J\r\n"


@pytest.mark.parametrize(
    "words", [("solve",), ("explain",), ("verify", "--tour", "[1, 2]"), ("verify", "--tour", "x")]
)
@pytest.mark.parametrize("closes", [1, 99])
def test_nothing_in_a_file_reaches_the_terminal_as_a_command(words, closes, tmp_path):
    path = tmp_path / "a.json"
    names = [ESCAPES + name for name in ("depot", "a", "b")]
    instance = {"problem": "tsptw", "name": ESCAPES, "travel": [[0, 5, 6], [5, 0, 7], [6, 7, 0]]}
    limits = {"names": names, "opens": [0, 0, 0], "closes": [50, closes, closes]}
    path.write_text(json.dumps(instance | limits))
    result = run(words[0], path, *words[1:])
    assert "]0;title" in result.stdout + result.stderr
    assert not set(ESCAPES[0] + "\x07\x9b\r") & set(result.stdout + result.stderr)


def test_a_failure_of_the_system_is_told_as_what_it_is():
    code = (
        "import sys, fairway.cli as cli, fairway.cli.verbs as verbs\n"
        "def app(**_): raise OSError(*FAILURE)\n"
        "verbs.app = app\n"
        "cli.main()\n"
    )
    for failure, said in (
        ((13, "Permission denied", "/a/b"), "fairway: /a/b: Permission denied\n"),
        ((11, "Resource temporarily unavailable"), "fairway: Resource temporarily unavailable\n"),
        ((28, "No space left on device"), "fairway: standard output cannot be written"),
    ):
        words = [sys.executable, "-c", code.replace("*FAILURE", f"*{failure!r}")]
        result = subprocess.run(words, capture_output=True, text=True, check=False)
        assert (result.returncode, result.stdout) == (BAD_INPUT, "")
        assert result.stderr.startswith(said)


@pytest.mark.parametrize("words", [("--json",), ()])
def test_an_answer_without_a_place_to_go_is_no_success(words, stops):
    verify = " ".join([*COMMAND, "verify", str(stops), "--tour", "a,b", *words])
    result = subprocess.run(
        f"{verify} >&-", shell=True, stderr=subprocess.PIPE, text=True, check=False
    )
    assert result.returncode == BAD_INPUT
    assert result.stderr == "fairway: standard output cannot be written (Bad file descriptor)\n"


def test_verify_takes_tours_from_files(stops, tmp_path):
    for name, text in (
        ("t.txt", "a b\n"),
        ("t.json", '{"tour": [1, 2]}'),
        ("t.tour", "TOUR_SECTION\n1\n2\n3\n-1\nEOF\n"),
    ):
        (tmp_path / name).write_text(text)
        assert run("verify", stops, "--tour", tmp_path / name).returncode == FEASIBLE, name


def test_generate_convert_and_verify_agree(tmp_path):
    assert (
        run(
            "generate",
            "tsptw",
            "-n",
            9,
            "--hardness",
            "easy",
            "--seed",
            4,
            "-o",
            tmp_path / "a.json",
        ).returncode
        == 0
    )
    for suffix in (".tsptw", ".txt", ".csv", ".npz"):
        assert run("convert", tmp_path / "a.json", tmp_path / f"b{suffix}").returncode == 0, suffix
        before, after = fairway.read(tmp_path / "a.json"), fairway.read(tmp_path / f"b{suffix}")
        assert np.array_equal(before.travel, after.travel), suffix
    expected = fairway.generate("tsptw", n=9, hardness="easy", seed=4)[0]
    assert np.array_equal(before.closes, expected.closes)


def test_generate_without_output_prints_json():
    result = run("generate", "tspdl", "-n", 5, "--sigma", 40)
    assert json.loads(result.stdout)["problem"] == "tspdl"
    assert "needs --output" in sentence(run("generate", "tspdl", "--count", 2))
    assert "--eta belongs" in sentence(run("generate", "tsptw", "--hardness", "easy", "--eta", 3))
    assert "--sigma belongs" in sentence(run("generate", "tsptw", "--sigma", 3))
    assert "n is 1" in sentence(run("generate", "tsptw", "-n", 1))


def test_convert_notes_a_broken_triangle_inequality(tmp_path):
    (tmp_path / "bent.txt").write_text("3\n0 1 5\n1 0 1\n5 1 0\n0 9\n0 9\n0 9\n")
    result = run("convert", tmp_path / "bent.txt", tmp_path / "bent.json")
    assert result.returncode == 0
    assert "breaks the triangle inequality" in result.stderr


def test_a_member_of_a_set_is_chosen_by_index(tmp_path):
    run("generate", "tsptw", "-n", 6, "--count", 3, "-o", tmp_path / "set.npz")
    assert run("convert", tmp_path / "set.npz", tmp_path / "one.json", "--index", 2).returncode == 0
    assert "choose one with --index" in sentence(run("plot", tmp_path / "set.npz"))
    assert "expected 0 to 2" in sentence(run("plot", tmp_path / "set.npz", "--index", 3))
    assert "a set as .npz" in sentence(run("convert", tmp_path / "set.npz", tmp_path / "x.json"))


def test_plot_names_the_picture_it_drew(stops, tmp_path):
    result = run("plot", stops, "--tour", "a,b", cwd=tmp_path)
    assert result.stdout.strip() == "stops.png"
    assert (tmp_path / "stops.png").read_bytes().startswith(b"\x89PNG")
    assert run("plot", stops, "-o", tmp_path / "x.svg").returncode == 0
    sentence(run("plot", stops, "-o", tmp_path / "x.doc"))
    assert "visited 2 times" in sentence(run("plot", stops, "--tour", "a,a,b"))


def test_beds_are_listed_shown_and_exported(tmp_path):
    names = [json.loads(line)["name"] for line in run("bed", "list", "--json").stdout.splitlines()]
    assert len(names) == 17
    listed = run("bed", "list").stdout
    assert all(name in listed for name in names)
    assert "as expected" in run("bed", "show", "tsptw500-medium").stdout
    assert run("bed", "export", "tsptw500-medium", tmp_path / "bed.npz").returncode == 0
    assert len(fairway.read(tmp_path / "bed.npz")) == 128
    assert (
        run("bed", "export", "tsptw500-medium", tmp_path / "i.json", "--index", 5).returncode == 0
    )
    assert "there is no bed" in sentence(run("bed", "show", "nonsense"))
    assert "has no instance 128" in sentence(
        run("bed", "export", "tsptw500-medium", tmp_path / "x.json", "--index", 128)
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "is empty"),
        ("\x00\x00\x00", "binary"),
        ("id,x,y,open,close\nd,0,0,0,9\na,1,1,0\n", ":3: expected 5 cells"),
        ("id,x,y,open,close\nd,0,0,0,9\na,1,nan,0,9\n", ":3: expected 'y', a finite number"),
        ("id,x,y,open,close\nd,0,0,0,9\na,1,1,5,4\n", "closes at 4 before it opens at 5"),
        ("id,x,y,demand,draft\nd,0,0,0,9\na,1,1,-1,4\n", "demand[1] is -1"),
        ("2\n0 1\n1\n0 9\n0 9\n", ":3: expected a row of 2 numbers"),
    ],
)
def test_bad_files_get_one_sentence_with_file_and_line(tmp_path, text, expected):
    path = tmp_path / "input"
    path.write_text(text)
    said = sentence(run("solve", path))
    assert str(path) in said
    assert expected in said


def test_nothing_is_left_where_nothing_could_be_written(stops, tmp_path):
    before = sorted(tmp_path.iterdir())
    assert "cannot be written" in sentence(run("convert", stops, tmp_path / "absent" / "x.json"))
    assert "cannot be written" in sentence(run("plot", stops, "-o", tmp_path / "absent" / "x.png"))
    assert "No space left" in sentence(run("convert", stops, "/dev/full", "--format", "json"))
    assert sorted(tmp_path.iterdir()) == before


def test_usage_errors_exit_with_two(stops):
    assert run("solve", stops, "--nonsense").returncode == BAD_INPUT
    assert run("verify", stops).returncode == BAD_INPUT
    assert run("generate", "tsp").returncode == BAD_INPUT


def test_plain_output_has_no_colour_codes(stops):
    result = run("verify", stops, "--tour", "b,a", env={**os.environ, "TERM": "dumb"})
    assert "\x1b[" not in result.stdout


def test_a_long_tour_fits_on_the_command_line(tmp_path):
    run("generate", "tsptw", "-n", 150, "-o", tmp_path / "a.json")
    result = run("verify", tmp_path / "a.json", "--tour", ",".join(map(str, range(1, 150))))
    assert result.returncode == NOT_FEASIBLE
    assert "late" in result.stdout


def test_a_tour_comes_from_stdin_too(stops):
    assert run("verify", stops, "--tour", "-", input="\ufeffa,b\n").returncode == FEASIBLE


@pytest.mark.parametrize("verb", [["generate", "tsptw", "-n", "50"], ["bed", "list"], ["--help"]])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_behind_stdout_is_no_success(verb, unbuffered):
    with open("/dev/full", "w") as full:
        environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
        words = [*COMMAND, *verb]
        result = subprocess.run(
            words, stdout=full, stderr=subprocess.PIPE, text=True, check=False, env=environment
        )
    assert result.returncode == BAD_INPUT
    assert "standard output cannot be written (No space left on device)" in result.stderr
    assert "Traceback" not in result.stderr


def test_names_that_a_terminal_cannot_show_are_escaped(stops):
    stops.write_text(stops.read_text().replace("a,3", "Mühle→:ship:,3"))
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    result = run("verify", stops, "--tour", "[1,2]", env=environment)
    assert result.returncode == FEASIBLE
    assert ":ship:" in result.stdout


def test_violations_and_rows_call_a_stop_the_same(stops):
    result = run("verify", stops, "--tour", "b,a")
    assert result.stdout.count("1 (a)") == 2


def test_convert_says_what_a_format_cannot_hold(stops, tmp_path):
    result = run("convert", stops, tmp_path / "stops.txt")
    assert "names of the stops are not kept" in result.stderr
    assert "every tour costs 1 more" in result.stderr
    assert run("convert", stops, tmp_path / "stops.json").stderr == ""


def test_writing_to_stdout_by_name_leaves_what_is_there(stops, tmp_path):
    convert = f"{sys.executable} -m fairway convert {stops} /dev/stdout --format json"
    command = f"(echo head; {convert}; echo foot) > {tmp_path}/all"
    subprocess.run(command, shell=True, check=True)
    lines = (tmp_path / "all").read_text().splitlines()
    assert lines[0] == "head"
    assert lines[-1] == "foot"
    assert '"problem": "tsptw"' in lines[2]
