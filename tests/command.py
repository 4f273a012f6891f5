"""The command line as a user or a program meets it: a fresh process, its output, its exit code."""

import subprocess
import sys

COMMAND = (sys.executable, "-m", "fairway")
FEASIBLE, NOT_FEASIBLE, BAD_INPUT = 0, 1, 2


def run(*arguments, cwd=None, **options):
    words = [*COMMAND, *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, check=False, cwd=cwd, **options)


def sentence(result) -> str:
    """The one sentence of a run that could not be served."""
    assert result.returncode == BAD_INPUT
    assert result.stdout == ""
    assert result.stderr.startswith("fairway: ")
    assert result.stderr.count("\n") == 1
    return result.stderr
