import csv
import json
import re
import shlex

import numpy as np
import pytest
import typer
from evaluations import failed, references, results, solved, took, write

from fairway.cli.verbs import app
from fairway.errors import InvalidFile
from fairway.evaluate import report as module
from fairway.evaluate.published import studies
from fairway.evaluate.report import OWN, report
from fairway.evaluate.studies import TITLES
from fairway.recipes import recipe_named

FOUND = {"doomed": 10.0, "doomed_found": 9.0, "sound": 40.0, "sound_found": 30.0}
RECORD = {"kind": "record", "instances": 5, **FOUND}


def method(label, add, study="main", bed="tsptw50-hard", tours=8, count=12, **settings):
    """Twelve instances that cost the more the worse the method, of which every fifth has no tour."""
    outcomes = [
        failed(at, tours, broken_at={at + 1: tours}) if at % 5 == 4 else solved(at, 2500.0 + add + at, tours)
        for at in range(12)
    ]  # fmt: skip
    about = {"study": study, "bed": bed, "label": label, "count": count}
    return results(*outcomes, timings=[took(0, 12, 6.0, "cuda")], **about, **settings)


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    root = tmp_path_factory.mktemp("results")
    for label, add in (("POMO*", 90.0), ("POMO*+PIP, briefly", 30.0), ("Ours", 1.0)):
        write(root, method(label, add))
        write(root, method(label, 2 * add, "overlap", tours=1))
    write(root, method("lambda 0.1", 9.0, "lambda"))
    write(root, method("own", 9.0, "my-study", "my-bed"))
    write(root, results(solved(0, 378.0), study="dumas", bed="n20w20.001", label="Ours"))
    (root / "foresight").mkdir()
    (root / "foresight/tsptw50-hard.jsonl").write_text(json.dumps(RECORD) + "\n")
    return root


@pytest.fixture(scope="module")
def made(tree, tmp_path_factory):
    costs = np.full(10_000, 2500.0)
    against = references("a file", costs, costs)
    with pytest.MonkeyPatch.context() as patch:
        known = {"tsptw50-hard": against}
        patch.setattr(module, "reference_costs_by_bed", lambda files: known.get)
        out = tmp_path_factory.mktemp("out") / "report"
        return report(tree, out), out


def rows(out, page):
    with (out / f"{page}.csv").open() as file:
        return list(csv.DictReader(file))


def test_every_published_study_has_its_page_and_the_index_links_all_that_there_is(made):
    written, out = made
    pages = {path.stem for path in out.glob("*.md")} - {"README"}
    own = {"significance", "breaks", "foresight", "speed", "lambda", "my-study"}
    assert pages == {*studies(), *own}
    linked = set(re.findall(r"\]\(([^)]+)\)", written.index.read_text()))
    assert linked == {f"{page}.{suffix}" for page in pages for suffix in ("md", "csv")}
    assert {path.name for path in out.iterdir()} == {
        "README.md", *(path.name for path in written.files),
    }  # fmt: skip
    for page in pages:
        for picture in re.findall(r"!\[[^]]*\]\(([^)]+)\)", (out / f"{page}.md").read_text()):
            assert (out / picture).read_bytes().startswith(b"\x89PNG"), picture
    assert len(written.measured) == 9


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    root = tmp_path_factory.mktemp("empty")
    return report(root, root / "out")


def unmeasured(index):
    """What the index says of each study without a page, by its title."""
    text = index.read_text().partition("## Not measured yet\n")[2]
    return dict(re.findall(r"^\| (\w[^|]*) \| ([^|]*) \|$", text, re.MULTILINE))


def test_without_results_the_index_says_that_nothing_was_measured(empty, made):
    said = "**Nothing was measured: only the published figures are shown.**"
    assert (empty.rows, empty.measured) == (0, ())
    assert said in empty.index.read_text()
    assert made[0].rows > 9
    assert said not in made[0].index.read_text()


def test_a_study_without_a_page_is_listed_with_what_fills_it(empty, made):
    pages = {path.stem for path in empty.files if path.suffix == ".md"}
    assert pages == set(studies())
    titles = {**TITLES, **OWN}
    assert set(unmeasured(empty.index)) == {titles[name] for name in titles if name not in pages}
    assert list(unmeasured(made[0].index)) == [
        TITLES[name] for name in ("count", "early-stop", "beams", "guided")
    ]


def test_the_commands_that_fill_pages_are_ones_that_the_command_line_takes(empty):
    verbs = typer.main.get_command(app).commands
    for filling in unmeasured(empty.index).values():
        commands = [shlex.split(each) for each in re.findall(r"`([^`]+)`", filling)]
        assert commands
        for program, *words in commands:
            if program == "fairway":
                given = verbs[words[0]].make_context(words[0], words[1:]).params
                assert words[0] != "train" or recipe_named(given["recipe"]).name == given["recipe"]


def test_every_file_of_dumas_is_a_bed_of_one_instance(made):
    _, out = made
    found = [row for row in rows(out, "dumas") if row["from"] == "measured"]
    assert [(row["row"], row["table"]) for row in found] == [
        ("Ours", "All instances"), ("n20w20.001", "Instance by instance, measured"),
    ]  # fmt: skip
    assert (found[0]["inst"], found[0]["gap"], found[0]["instances"]) == ("0", "0", "1")


def test_published_and_measured_rows_are_told_apart(made):
    _, out = made
    here = [row for row in rows(out, "main") if row["table"].startswith("tsptw50-hard")]
    kinds = [row["from"] for row in here]
    assert kinds == ["published"] * (len(kinds) - 3) + ["measured"] * 3
    assert [row["row"] for row in here[-3:]] == ["POMO*", "POMO*+PIP, briefly", "Ours"]
    assert float(here[-1]["inst"]) == pytest.approx(100 / 6)
    assert float(here[-1]["seconds"]) == 5000.0
    assert all(row["from"] == "published" for row in rows(out, "large"))


def test_overlap_takes_single_tours_from_its_own_files_and_the_rest_from_the_main_ones(made):
    _, out = made
    found = {row["row"]: row for row in rows(out, "overlap") if row["from"] == "measured"}
    mean = np.mean([at for at in range(12) if at % 5 != 4])
    assert float(found["POMO*"]["overlap_gap_augmented"]) == pytest.approx((90 + mean) / 25)
    assert float(found["POMO*"]["overlap_gap_plain"]) == pytest.approx((180 + mean) / 25)
    briefly = found["POMO*+PIP, briefly"]["overlap_gap_augmented"]
    assert float(briefly) == pytest.approx((30 + mean) / 25), (
        "is one, by what stands before the comma"
    )
    assert found["Ours"]["overlap_gap_augmented"] == "", "is no method of that table"
    assert found["Overlap number"]["overlap_plain"] == "10"


def test_methods_are_compared_on_the_main_results(made):
    _, out = made
    found = rows(out, "significance")
    assert [row["row"] for row in found][:2] == [
        "Ours against POMO*+PIP, briefly",
        "Ours against POMO*",
    ]
    assert {row["stars"] for row in found} == {"**"}
    assert float(found[0]["p"]) == pytest.approx(2 / 2**10)


def test_all_that_was_timed_is_in_the_table_of_speeds(made):
    _, out = made
    found = rows(out, "speed")
    assert len(found) == 8, "all but the one of Dumas, which was not timed"
    assert {row["instance_seconds"] for row in found} == {"0.5"}


def test_a_head_is_reported_by_what_it_found(made):
    _, out = made
    (row,) = rows(out, "foresight")
    assert (row["accuracy"], row["recall"], row["specificity"]) == ("78", "90", "75")


def test_equal_results_give_equal_reports(tree, made, tmp_path, monkeypatch):
    written, _ = made
    costs = np.full(10_000, 2500.0)
    known = {"tsptw50-hard": references("a file", costs, costs)}
    monkeypatch.setattr(module, "reference_costs_by_bed", lambda files: known.get)
    report(tree, tmp_path)
    for path in (written.index, *written.files):
        assert (tmp_path / path.name).read_bytes() == path.read_bytes(), path.name


def test_what_cannot_be_read_or_written_is_said(tmp_path):
    with pytest.raises(InvalidFile, match="is no folder of results"):
        report(tmp_path / "absent", tmp_path / "out")
    (tmp_path / "file").write_text("")
    (tmp_path / "results").mkdir()
    with pytest.raises(InvalidFile, match="cannot be made a folder"):
        report(tmp_path / "results", tmp_path / "file")
    (tmp_path / "results/foresight").mkdir()
    (tmp_path / "results/foresight/x.jsonl").write_text('{"kind":"validation"}\n')
    with pytest.raises(InvalidFile, match=r"x\.jsonl: has no record of a PIP-D head"):
        report(tmp_path / "results", tmp_path / "out")
