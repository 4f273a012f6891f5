"""One version everywhere, archives that hold what they should, and files of version 0.1 that are still read."""

import importlib.util
import json
import re
import shutil
import tomllib
import zipfile
from pathlib import Path

import pytest
import torch

import fairway
from fairway.evaluate.outcomes import read_results
from fairway.inference.model import load_model
from fairway.policies.checkpoint import load_policy
from fairway.weights import FOLDER, names

ROOT = Path(__file__).parents[1]
RESULTS = sorted(ROOT.glob("results/main/*/Fairway*.jsonl.xz"))


@pytest.fixture(scope="module")
def release():
    spec = importlib.util.spec_from_file_location("release", ROOT / "tools" / "release.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_version_is_the_same_everywhere():
    cited = re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    changed = re.findall(
        r"^## \[(\d.*?)\] - (.*)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M
    )
    released = re.search(r"^date-released: (.*)$", (ROOT / "CITATION.cff").read_text(), re.M)
    assert cited[1] == changed[0][0] == fairway.__version__
    assert released[1] == changed[0][1]


def test_the_project_has_an_address_and_its_types_are_taken_by_checkers():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert all(url.startswith("https://") for url in project["urls"].values())
    assert (ROOT / "src" / "fairway" / "py.typed").exists()


@pytest.mark.parametrize("name", names())
def test_weights_of_version_0_1_are_loaded(name, tmp_path):
    card = json.loads((FOLDER / f"{name}.json").read_text().replace('"exact"', '"drafts"'))
    card["trained"]["fairway"] = "0.1.0"
    shutil.copy(FOLDER / f"{name}.safetensors", tmp_path)
    (tmp_path / f"{name}.json").write_text(json.dumps(card))
    _, loaded = load_policy(tmp_path / f"{name}.json", torch.device("cpu"))
    assert loaded.trained["fairway"] == "0.1.0"
    guards = [load_model(folder / f"{name}.json").guard for folder in (tmp_path, FOLDER)]
    assert guards[0] == guards[1]


@pytest.mark.skipif(not RESULTS, reason="an sdist has no results")
def test_results_of_version_0_1_are_read():
    old = [
        found
        for path in RESULTS
        if (found := read_results(path.with_suffix(""))).header.versions.get("fairway") == "0.1.0"
    ]
    assert old
    assert all(len(found.outcomes) == found.header.count for found in old)


def archive(folder, name, files):
    path = folder / name
    with zipfile.ZipFile(path, "w") as wheel:
        for file in files:
            wheel.writestr(file, "")
    return path


def test_a_wheel_with_all_that_is_needed_and_no_more_has_no_fault(release, tmp_path):
    path = archive(tmp_path, f"fairway-{fairway.__version__}-py3-none-any.whl", release.NEEDED)
    assert release.faults(path) == []


@pytest.mark.parametrize(("files", "fault"), [
    (["fairway/__pycache__/a.pyc"], "fairway/__pycache__/a.pyc is of a kind that nothing reads"),
    (["results/main/a.jsonl"], "results/main/a.jsonl does not belong into it"),
    ([], "fairway/py.typed is missing"),
])  # fmt: skip
def test_what_does_not_belong_into_a_wheel_is_refused(release, tmp_path, files, fault):
    needed = release.NEEDED if files else release.NEEDED[1:]
    path = archive(tmp_path, f"fairway-{fairway.__version__}-x.whl", [*needed, *files])
    assert release.faults(path) == [fault]


def test_a_wheel_of_another_version_is_refused(release, tmp_path):
    path = archive(tmp_path, "fairway-0.0.9-py3-none-any.whl", release.NEEDED)
    assert release.faults(path) == [f"it is not of version {fairway.__version__}"]
