"""The verb `train` as a user meets it, and the words it shows."""

import json
import re
import shlex
import signal
import subprocess
import sys
import time
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from typer.main import get_command

import fairway
from fairway.cli.training import (
    end_line,
    panel,
    record_line,
    remaining,
    resume_command,
    validation_line,
)
from fairway.cli.verbs import app
from fairway.recipes import recipe_named
from fairway.train.loop import Record
from fairway.train.session import Finished, Validation
from fairway.train.validate import Score

COMMAND = (sys.executable, "-m", "fairway", "train")
SMALL = ("fairway-tsptw10-hard", "--device", "cpu", "--batch", "8")


def run(*arguments, **options):
    words = [*COMMAND, *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, check=False, **options)


def sentence(result) -> str:
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith("fairway: ")
    assert result.stderr.count("\n") == 1
    return result.stderr


def record(**changes):
    figures = {"loss": -0.5, "length": 9.25, "sol_infeasible": 12.5, "inst_infeasible": 6.25}
    fields = {"step": 8, "instances": 4096, "seconds": 30.0, "spent": 0.25, "pace": 1234.5}
    return Record(**(fields | {"rate": 2e-4, "phase": "online", "figures": figures} | changes))


VALIDATION = Validation(8, 4096, 30.0, Score(7.5, 1.25, 9.125))


def test_help_imports_nothing_heavy():
    code = (
        "import sys; sys.argv = ['fairway', 'train', '--help']\n"
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
    for flag in ("minutes", "instances", "full", "threads", "out", "resume", "from", "device"):
        assert f"--{flag}" in result.stdout


def test_every_flag_that_training_advises_is_there_to_be_given():
    options = {word for option in get_command(app).commands["train"].params for word in option.opts}
    sources = Path(fairway.__file__).parent / "train"
    advised = {
        flag
        for path in sources.rglob("*.py")
        for flag in re.findall(r"--[a-z]+(?:-[a-z]+)*", path.read_text())
    }
    assert "--batch" in advised <= options


def test_the_recipes_are_listed():
    names = run("--list").stdout.split()
    assert "pomo-star-pip-d-tspdl100-hard" in names
    assert "fairway-tsptw20-hard" in names


@pytest.mark.soak
def test_a_run_an_interrupt_and_a_resumption(tmp_path):
    """Ctrl-C ends with 130 and a saved run; --resume takes it to its end, and prints the policy's place."""
    out = tmp_path / "run"
    words = [*COMMAND, *SMALL, "--instances", "100000", "--out", str(out)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    log, patience = out / "log.jsonl", time.monotonic() + 120
    while not log.exists() or '"record"' not in log.read_text():
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < patience
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert stdout == f"{out / 'policy.json'}\n"
    assert "interrupted after" in stderr
    assert "validation at 0 instances" in stderr
    told = (out / "train.log").read_text().splitlines()
    assert "validation at 0 instances" in told[0]
    assert "interrupted after" in told[-1]
    seen = json.loads((out / "policy.json").read_text())["trained"]["instances"]
    assert 0 < seen < 100_000
    verb, *printed = shlex.split(stderr.rpartition("resume with: ")[2])[1:]
    assert verb == "train"
    again = run(*printed, "--instances", seen + 80)
    assert again.returncode == 0, again.stderr
    assert again.stdout == f"{out / 'policy.json'}\n"
    assert "trained on" in again.stderr
    assert json.loads((out / "policy.json").read_text())["trained"]["instances"] == seen + 80
    less = sentence(run(*SMALL, "--resume", "--minutes", "0.0001", "--out", out))
    assert "a budget of 0.0001 minutes is spent already" in less
    taken = sentence(run(*SMALL, "--out", out, "--full"))
    assert "holds a run already; resume it with --resume" in taken
    other = ("fairway-tspdl10-hard", "--from", out, "--out", tmp_path / "ports", "--full")
    crossed = refusal(other)
    assert "was trained for tsptw; fairway-tspdl10-hard begins with a policy for tspdl" in crossed


def test_what_can_be_seen_at_once_is_refused_in_one_sentence(tmp_path):
    known = "fairway-tsptw10-hard"
    for words, said in (
        (("fairway-tsptw10-hrad",), "did you mean fairway-tsptw10-hard"),
        ((), "which recipe?"),
        (("fairway-tsptw2-hard",), "expected at least 3 nodes"),
        ((known, "--minutes", "0"), "--minutes is 0; expected more than 0"),
        ((known, "--minutes", "nan"), "--minutes is nan"),
        ((known, "--instances", "0"), "--instances is 0; expected 1 or more"),
        ((known, "--threads", "0"), "--threads is 0; expected 1 or more"),
        ((known,), "how long? give --minutes, --instances, or --full for all 50,000 instances"),
        ((known, "--full", "--minutes", "1"), "leave out --minutes and --instances"),
        ((known, "--seed", "-1"), "--seed is -1"),
        ((known, "--batch", "0"), "batches of 0"),
        ((known, "--resume", "--from", "x"), "leave out --from or --resume"),
        ((known, "--resume", "--out", tmp_path), "holds no run to resume"),
        (("finetune-pomo-star-pip-tsptw50-hard",), "name it with --from"),
        ((known, "--full", "--from", tmp_path / "absent"), "no such file or folder"),
    ):
        assert said in refusal(words), words


def refusal(words) -> str:
    """The sentence of a refused command, without the seconds that a fresh process takes."""
    from typer.testing import CliRunner

    from fairway.errors import FairwayError

    result = CliRunner().invoke(app, ["train", *map(str, words)])
    assert isinstance(result.exception, FairwayError), result.output
    assert not Path("runs").exists()
    return str(result.exception)


def printed(panel) -> str:
    console = Console(width=100, file=StringIO())
    console.print(panel)
    return console.file.getvalue()


def test_the_panel_shows_where_a_run_stands():
    text = printed(panel(recipe_named("fairway-tsptw20-hard"), record(), VALIDATION))
    for words in (
        "fairway-tsptw20-hard",
        "25.0 %",
        "0:30 gone, 1:30 left",
        "12.50 %",
        "7.50 %",
        "6.25 %",
        "1.25 %",
        "9.2500",
        "9.1250",
        "1,234 instances per second, 4,096 so far",
        "loss -0.5000  rate 2.0e-04  phase: online",
    ):
        assert words in text, words


def test_the_phase_of_a_run_is_said_in_words():
    text = printed(panel(recipe_named("fairway-tsptw20-hard"), record(phase="warm"), None))
    assert "phase: baseline warm-up" in text


def test_a_panel_before_the_first_record_has_no_figures():
    shown = printed(panel(recipe_named("fairway-tsptw20-hard"), None, None))
    assert "preparing the first step" in shown


def test_lines_say_the_same_without_a_terminal():
    line = record_line(record())
    assert "step 8  4,096 instances  1,234/s  loss -0.5000  length 9.2500" in line
    assert "Sol. 12.50 %  Inst. 6.25 %" in line
    assert "Sol. 7.50 %  Inst. 1.25 %  length 9.1250" in validation_line(VALIDATION)


@pytest.mark.parametrize(
    ("seconds", "spent", "words"),
    [(30.0, 0.25, "0:30 gone, 1:30 left"), (3600.0, 0.5, "1:00:00 gone, 1:00:00 left"), (1.0, 0.0, "")],
)  # fmt: skip
def test_what_is_left_follows_from_what_is_gone(seconds, spent, words):
    assert remaining(record(seconds=seconds, spent=spent)) == words


def test_the_last_word_says_how_to_go_on():
    again = resume_command(
        "fairway-tsptw10-hard", Path("my runs/a"), {"batch": 8, "seed": 5, "threads": None}
    )
    end = Finished(Path("my runs/a"), 1, 64, 2.0, interrupted=True, score=None)
    assert end_line(end, again) == (
        "interrupted after 64 instances in 0:02; resume with: "
        "fairway train fairway-tsptw10-hard --resume --out 'my runs/a' --batch 8 --seed 5"
    )
    assert "trained on 64 instances" in end_line(
        Finished(Path("a"), 1, 64, 2.0, interrupted=False, score=VALIDATION.score), again
    )
