"""What the container relies on, without a container engine: the steps, and a user who can write almost nothing."""

import re
import shutil
import stat
import subprocess
from pathlib import Path

import fairway
from benchmarks.service.running import Running

ROOT = Path(__file__).parents[2]


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
