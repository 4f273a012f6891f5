"""Compiled code is kept wherever that is possible, found wherever it is, and done without where it cannot be kept."""

import os
import pickle
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numba
import pytest

import fairway
from fairway.kernels import compiling

NOBODY = 65534
SMALL = (
    "from fairway.kernels.compiling import njit\n"
    "@njit(cache=True)\n"
    "def double(number): return 2 * number\n"
    "print(double(4))\n"
)
COMPILING = "fairway: compiling, "


@pytest.fixture(scope="module")
def package():
    """A copy of the package that everybody can read and only root can write."""
    if os.getuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("only root can become another user")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        copy.chmod(0o755)
        shutil.copytree(
            Path(fairway.__file__).parent,
            copy / "fairway",
            ignore=shutil.ignore_patterns("*.safetensors"),
        )
        yield copy


def by_nobody(package, *words, writes=True, **environment):
    """What an unprivileged user's process says, who has no home unless one is given, and perhaps nowhere to write."""
    nowhere = () if writes else ("prlimit", "--fsize=0")
    become = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
    return subprocess.run(
        [*nowhere, *become, sys.executable, *words],
        env={"PATH": os.defpath, "PYTHONPATH": str(package), "HOME": "/nonexistent", **environment},
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
    )


def test_a_ready_cache_is_used_by_one_who_can_write_nowhere(package):
    stops = package / "stops.csv"
    stops.write_text("id,x,y,open,close,service\ndepot,0,0,0,20,0\na,3,4,0,9,1\nb,3,0,9,12,0\n")
    solve = ("-m", "fairway", "solve", str(stops), "--seconds", "0.1")
    reads = {**os.environ, "PYTHONPATH": str(package)}
    subprocess.run([sys.executable, *solve], env=reads, check=True, cwd="/")
    result = by_nobody(package, *solve, writes=False)
    assert (result.returncode, result.stderr) == (0, "")
    assert "depot > a > b > depot" in result.stdout


def test_who_can_write_nowhere_compiles_and_is_told_once(package):
    result = by_nobody(package, "-c", SMALL, writes=False)
    assert (result.returncode, result.stdout) == (0, "8\n")
    assert result.stderr.startswith(f"{COMPILING}in every process, since no folder")
    assert result.stderr.count("\n") == 1


def test_of_processes_that_take_turns_one_compiles_and_the_others_load(package):
    lines = SMALL.splitlines(keepends=True)
    turns = "from fairway.kernels.compiling import taking_turns\nwith taking_turns(): "
    (package / "turns.py").write_text("".join([*lines[:-1], turns, lines[-1]]))
    with tempfile.TemporaryDirectory() as own:
        reads = {**os.environ, "PYTHONPATH": str(package), "NUMBA_CACHE_DIR": own}
        started = [
            subprocess.Popen(
                [sys.executable, str(package / "turns.py")],
                env=reads,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for _ in range(2)
        ]
        said = [process.communicate() for process in started]
    assert [out for out, _ in said] == ["8\n", "8\n"]
    assert sum(error.count(COMPILING) for _, error in said) == 1


@pytest.mark.parametrize("variable", ["HOME", "TMPDIR", "NUMBA_CACHE_DIR"])
def test_code_is_kept_in_the_first_folder_that_can_be_written(package, variable):
    with tempfile.TemporaryDirectory() as own:
        os.chown(own, NOBODY, NOBODY)
        package.joinpath("small.py").write_text(SMALL)
        words = (package, package / "small.py")
        first, second = (by_nobody(*words, **{variable: own}) for _ in range(2))
        assert (first.returncode, second.returncode, second.stderr) == (0, 0, "")
        assert first.stderr.startswith(f"{COMPILING}once on this machine")
        assert list(Path(own).rglob("small.double-*.nbi"))


def test_a_folder_that_others_can_write_is_not_trusted(tmp_path, monkeypatch):
    monkeypatch.setenv("FAIRWAY_CACHE", str(tmp_path))
    assert tmp_path in [folder.parent for folder in compiling._folders()]
    tmp_path.chmod(0o777)
    assert tmp_path not in [folder.parent for folder in compiling._folders()]


def test_a_changed_kernel_makes_all_kept_code_stale(tmp_path, monkeypatch):
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "kernel.py").write_text("first")
    monkeypatch.setattr(compiling, "HERE", tmp_path)
    before = compiling.stamp.__wrapped__()
    os.utime(tmp_path / "inner" / "kernel.py", (0, 0))
    assert compiling.stamp.__wrapped__() == before
    (tmp_path / "inner" / "kernel.py").write_text("second")
    assert compiling.stamp.__wrapped__() != before


def test_an_index_that_names_what_is_no_more_is_replaced(tmp_path, monkeypatch):
    """As after an upgrade in place: the kept code of a version before, with a type from a module that has moved."""
    monkeypatch.setattr(compiling, "_folders", lambda: iter([tmp_path]))
    monkeypatch.setattr(compiling, "kept_in", lambda: tmp_path)
    monkeypatch.setattr(compiling, "_announce", lambda: None)
    gone = b"cfairway.kernels.no_more\nType\n."
    (tmp_path / "kernel.nbi").write_bytes(pickle.dumps(numba.__version__) + gone)
    layers = compiling._Layers("kernel")
    assert layers.load("key") is None
    layers.save("key", "code")
    assert layers.load("key") == "code"
