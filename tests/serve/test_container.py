"""What the container relies on, without a container engine: the steps, and a user who can write almost nothing."""

import json
import os
import re
import shutil
import stat
import subprocess
import urllib.request
from pathlib import Path

import pytest

import fairway
from benchmarks.service.running import Running

ROOT = Path(__file__).parents[2]
NOBODY = 65534
EVERYBODYS = "/usr/bin/python3"
"""An interpreter that others may run, as that of a container; the tests' own may lie in a home."""


def test_the_containerfile_runs_the_steps_that_stand_in_the_script():
    text = (ROOT / "container" / "Containerfile").read_text()
    assert "container/install.sh /opt/fairway" in text
    assert re.search(r"^USER fairway$", text, re.M)
    copied = re.findall(r"^COPY (?!--)(.*) \S+$", text, re.M)
    assert all((ROOT / name).exists() for line in copied for name in line.split())
    ignored = (ROOT / "container" / "Containerfile.dockerignore").read_text().split()
    assert {f"!{name.partition('/')[0]}" for line in copied for name in line.split()} <= set(
        ignored
    )
    script = ROOT / "container" / "install.sh"
    subprocess.run(["sh", "-n", str(script)], check=True)
    assert "warmup" in script.read_text()


def test_a_package_that_cannot_be_written_serves_at_once_and_compiles_nothing(
    tmp_path, monkeypatch, known
):
    source = tmp_path / "site" / "fairway"
    shutil.copytree(Path(fairway.__file__).parent, source, copy_function=shutil.copy2)
    for path in [tmp_path / "site", source, *source.rglob("*")]:
        path.chmod(path.stat().st_mode & ~(stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))
    monkeypatch.setattr(fairway, "__file__", str(source / "__init__.py"))
    monkeypatch.setenv("FAIRWAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    with Running(tmp_path / "jobs.sqlite", "--workers", "1") as service:
        answer = service.ask("POST", "/solve", {"instance": known["couriers"], "seconds": 2})
        assert answer.json()["status"] == "optimal"
        assert not any("compiling" in line for line in service.lines)
    assert not (tmp_path / "cache").exists()
    for path in [tmp_path / "site", source, *source.rglob("*")]:
        path.chmod(path.stat().st_mode | stat.S_IWUSR)


@pytest.mark.soak
@pytest.mark.skipif(os.getuid() != 0, reason="only root can run a service as somebody else")
@pytest.mark.skipif(not Path(EVERYBODYS).exists(), reason="there is no Python for everybody")
def test_what_the_script_installs_serves_at_once_for_a_user_without_rights(tmp_path, known):
    """The steps of the Containerfile in order: what it copies, the script, another user, a folder that is his."""
    source, target, data = (tmp_path / name for name in ("source", "fairway", "data"))
    source.mkdir()
    for name in ("pyproject.toml", "constraints.txt", "README.md", "LICENSE"):
        shutil.copy2(ROOT / name, source)
    for name in ("src", "container"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    script = ["sh", str(source / "container" / "install.sh"), str(target)]
    subprocess.run(script, check=True, env={**os.environ, "PYTHON": EVERYBODYS}, cwd=tmp_path)
    data.mkdir()
    os.chown(data, NOBODY, NOBODY)
    for path in (tmp_path, *tmp_path.parents):
        path.chmod(path.stat().st_mode | stat.S_IXOTH)
    service = subprocess.Popen(
        [target / "bin" / "fairway", "serve", "--port", "0", "--store", data / "jobs.sqlite"],
        env={"HOME": str(data), "FAIRWAY_CACHE": str(data / "cache"), "PATH": os.environ["PATH"]},
        stderr=subprocess.PIPE,
        text=True,
        cwd=data,
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
    )
    try:
        assert service.stderr is not None
        port = json.loads(service.stderr.readline())["port"]
        asked = urllib.request.Request(
            f"http://127.0.0.1:{port}/solve",
            json.dumps({"instance": known["couriers"], "seconds": 2}).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(asked, timeout=60) as answer:
            assert json.load(answer)["status"] == "optimal"
    finally:
        service.terminate()
        said = service.communicate(timeout=30)[1]
    assert service.returncode == 0
    assert "compiling" not in said
    assert not list(data.rglob("*.nbc"))  # nothing was compiled, only turns taken
