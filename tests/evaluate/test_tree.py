import lzma
from pathlib import Path

import numpy as np
import pytest
from evaluations import failed, references, results, solved, took, write

from fairway.errors import InvalidFile, InvalidRequest
from fairway.evaluate import tree as module
from fairway.evaluate.outcomes import PACKED, pack
from fairway.evaluate.tree import Tree, reference_costs_by_bed

RESULTS = Path(__file__).parents[2] / "results"


def test_what_lies_in_a_tree_is_found_and_times_are_no_results(tmp_path):
    write(tmp_path, results(solved(0, 1.0), timings=[took(0, 1, 2.0)]))
    pack(write(tmp_path, made := results(failed(0), label="other")), made)
    write(tmp_path, results(study="lambda", bed="tspdl50-hard"))
    tree = Tree(tmp_path)
    assert tree.studies() == ["lambda", "main"]
    assert tree.beds("main") == ["tsptw50-hard"]
    found = tree.results("main", "tsptw50-hard")
    assert [each.header.label for each in found] == ["POMO*", "other"]
    assert found[0].timings[0].wall == 2.0
    assert tree.results("main", "tsptw50-easy") == []
    assert tree.logs() == []


def test_a_log_may_be_compressed(tmp_path):
    (tmp_path / "foresight").mkdir()
    content = lzma.compress(b'{"kind":"record","instances":64}\n')
    (tmp_path / "foresight/mine.jsonl.xz").write_bytes(content)
    assert Tree(tmp_path).logs() == [("mine", [{"kind": "record", "instances": 64}])]


def test_a_file_in_the_wrong_folder_is_refused(tmp_path):
    write(tmp_path, results(solved(0, 1.0)))
    (tmp_path / "main/tsptw50-hard").rename(tmp_path / "main/tsptw50-easy")
    with pytest.raises(InvalidFile, match="holds results of main/tsptw50-hard; put it into"):
        Tree(tmp_path).results("main", "tsptw50-easy")


@pytest.mark.parametrize("outcomes", [(solved(0, 1.0), failed(0)), (solved(10_000, 1.0),)])
def test_instances_that_are_not_the_beds_are_refused(tmp_path, outcomes):
    write(tmp_path, results(*outcomes))
    with pytest.raises(InvalidFile, match="names an instance twice, or one that the bed"):
        Tree(tmp_path).results("main", "tsptw50-hard")


@pytest.mark.parametrize(("line", "wrong"), [
    ('{"kind":"record","instances":"x"}', "instances is 'x', expected a finite number or null"),
    ('{"kind":"record","doomed":1e400}', "doomed is inf, expected a finite number"),
    ("{", "is no JSON"),
])  # fmt: skip
def test_a_log_that_cannot_be_drawn_is_to_be_copied_anew(tmp_path, line, wrong):
    (tmp_path / "foresight").mkdir()
    (tmp_path / "foresight/mine.jsonl").write_text(f'{{"kind":"record"}}\n{line}\n')
    with pytest.raises(InvalidFile, match=rf"mine\.jsonl, line 2: {wrong}.*; copy the log\.jsonl"):
        Tree(tmp_path).logs()


def test_no_folder_is_no_tree(tmp_path):
    with pytest.raises(InvalidFile, match="is no folder of results"):
        Tree(tmp_path / "absent")


def test_references_are_those_given_else_those_that_ship_else_none(tmp_path, monkeypatch):
    asked = []

    def load(bed, path=None):
        asked.append((bed, path))
        return references(str(path), np.ones(2), np.ones(2))

    monkeypatch.setattr(module, "load_references", load)
    monkeypatch.setattr(module, "FOLDER", tmp_path)
    (tmp_path / "tsptw50-hard.npz").touch()
    against = reference_costs_by_bed({"tspdl50-hard": tmp_path / "file.npz"})
    assert against("tspdl50-hard").source.endswith("file.npz")
    assert against("tsptw50-hard").source == "None"
    assert against("tsptw500-medium") is None
    assert against("n20w20.001") is None
    assert against("tspdl50-hard") is against("tspdl50-hard")
    assert asked == [("tspdl50-hard", tmp_path / "file.npz"), ("tsptw50-hard", None)]


def test_a_bed_that_is_none_is_refused_at_once():
    with pytest.raises(InvalidRequest, match="there is no bed 'nowhere'"):
        reference_costs_by_bed({"nowhere": Path("x")})


def test_the_results_of_this_repository_stay_small_and_packed():
    files = [path for path in RESULTS.rglob("*") if path.is_file()]
    assert len(files) > 200
    assert {path.suffix for path in files} == {PACKED}
    assert sum(path.stat().st_size for path in files) <= 4_000_000
    found = Tree(RESULTS).results("main", "tsptw50-hard")
    assert all(len(each.outcomes) == each.header.count for each in found)
    alone = [each for each in found if "training_instances" not in each.header.settings]
    assert all(sum(timing.count for timing in each.timings) for each in alone)
