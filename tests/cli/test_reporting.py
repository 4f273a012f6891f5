"""The verb that makes tables and pictures of evaluations."""

import pytest
from command import FEASIBLE, run, sentence
from evaluations import failed, results, solved, write

from fairway.evaluate.overview import END, START


@pytest.fixture
def tree(tmp_path):
    write(tmp_path / "results", results(solved(0, 13.0), failed(1), bed="mine", count=2))
    return tmp_path


def test_report_prints_where_its_index_is(tree):
    (tree / "README.md").write_text(f"# Mine\n{START}\n{END}\n")
    result = run("report", "--readme", "README.md", cwd=tree)
    assert result.returncode == FEASIBLE
    assert result.stdout == "report/README.md\n"
    assert "evaluations read: 1; files written: " in result.stderr
    assert "nothing was measured" not in result.stderr
    table = (tree / "report/main.md").read_text()
    assert "| POMO\\* | measured | 50.00 % | 50.00 % | 13.000 | 2 |" in table
    assert "| POMO\\* | measured | 50.00 / - |" in (tree / "README.md").read_text()


def test_bad_input_is_one_sentence(tree):
    assert "absent: is no folder of results" in sentence(run("report", "absent", cwd=tree))
    assert "expected BED=FILE" in sentence(run("report", "--references", "x", cwd=tree))
    assert "there is no bed 'x'" in sentence(run("report", "--references", "x=y", cwd=tree))
    (tree / "results/main/mine/broken.jsonl").write_text("{\n")
    assert "broken.jsonl, line 1: is no JSON" in sentence(run("report", cwd=tree))
    assert not (tree / "report/README.md").exists()


def test_a_readme_without_marks_is_said_and_left_alone(tree):
    (tree / "README.md").write_text("# Mine\n")
    result = run("report", "--readme", "README.md", cwd=tree)
    assert "README.md: needs one line <!-- results -->" in result.stderr
    assert (tree / "README.md").read_text() == "# Mine\n"


def test_results_of_a_wrong_type_are_one_sentence(tree):
    path = tree / "results/main/mine/POMO*.jsonl"
    whole = path.read_text()
    path.write_text(whole.replace('"cost":13.0', '"cost":1e400', 1))
    said = sentence(run("report", cwd=tree))
    assert "POMO*.jsonl, line 2: cost is inf, expected a finite number or null; delete" in said
    path.write_text(whole)
    path.with_name("POMO*.times.jsonl").write_text('{"first":0}\n')
    said = sentence(run("report", cwd=tree))
    assert "POMO*.times.jsonl, line 1: has no count; delete this file of times alone" in said


def test_a_folder_without_results_is_said_to_have_none(tmp_path):
    (tmp_path / "results").mkdir()
    result = run("report", cwd=tmp_path)
    assert result.returncode == FEASIBLE
    assert "note: results: nothing was measured, and only the published figures" in result.stderr
