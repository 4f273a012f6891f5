"""The verb `evaluate`."""

import json

import pytest
from command import FEASIBLE, run, sentence

from fairway.problems.files import write
from fairway.problems.generate import generate


@pytest.fixture
def mine(tmp_path):
    """A file of small instances."""
    place = tmp_path / "mine.npz"
    write(generate("tsptw", n=12, hardness="hard", count=8, seed=7), place)
    return place


def test_a_rule_over_a_bed_prints_its_row_and_says_where_the_lines_are(tmp_path):
    result = run(
        "evaluate", "--method", "greedy-c", "--bed", "tsptw50-hard", "--limit", 50, cwd=tmp_path
    )
    assert result.returncode == FEASIBLE
    path = tmp_path / "results/main/tsptw50-hard/Greedy-C.jsonl"
    assert result.stdout.splitlines()[-1] == "results/main/tsptw50-hard/Greedy-C.jsonl"
    header, *lines = map(json.loads, path.read_text().splitlines())
    assert (header["method"], header["count"], len(lines)) == ("greedy-c", 50, 50)
    failed = 100 * sum("cost" not in line for line in lines) / 50
    row = next(line.split() for line in result.stdout.splitlines() if "Greedy-C" in line)
    assert row[2:4] == [f"{failed:.2f}", "%"]


def test_ones_own_file_is_a_bed_too(tmp_path, mine):
    result = run(
        "evaluate", "--method", "exact", "--bed", mine, "--out", tmp_path, "--study", "own",
        "--workers", 1, "--tours",
    )  # fmt: skip
    assert result.returncode == FEASIBLE
    lines = (tmp_path / "own/mine/Fairway-exact,-1-s.jsonl").read_text().splitlines()[1:]
    assert all(json.loads(line)["proved"] for line in lines)
    assert sorted(json.loads(lines[0])["tour"]) == list(range(1, 12))


def test_what_was_evaluated_becomes_a_report(tmp_path):
    words = ("--bed", "tsptw50-hard", "--limit", 20, "--out", "lines")
    assert run("evaluate", "--method", "greedy-l", *words, cwd=tmp_path).returncode == FEASIBLE
    assert run("report", "lines", "--out", "pages", cwd=tmp_path).returncode == FEASIBLE
    page = (tmp_path / "pages/main.md").read_text()
    assert "| Greedy-L | measured |" in page
    assert "| LKH3 | published |" in page


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--method", "magic", "--bed", "tsptw50-hard"), "no method 'magic'"),
        (("--method", "greedy-c", "--bed", "nowhere"), "nowhere"),
        (("--method", "solve", "--bed", "tsptw50-hard", "--seconds", "-1"), "0 or more"),
        (("--method", "solve", "--bed", "tsptw50-hard", "--seconds", "nan"), "--seconds is nan"),
        (("--method", "policy", "--bed", "tsptw50-hard", "--seed", "-1"), "--seed is -1"),
        (("--method", "greedy-c", "--bed", "tsptw50-hard", "--workers", "0"), "--workers is 0"),
        (("--method", "greedy-c", "--bed", "no.npz"), "no.npz: cannot be read"),
        (("--method", "greedy-c", "--bed", "tsptw50-hard", "--study", "../x"), "the study '../x'"),
        (("--method", "policy", "--bed", "tsptw50-hard", "--policy", "here"), "here"),
        (("--method", "reference", "--bed", "tsptw50-hard", "--references", "no.npz"), "no.npz"),
    ],
)
def test_what_cannot_be_evaluated_gets_a_sentence(tmp_path, words, said):
    assert said in sentence(run("evaluate", *words, cwd=tmp_path))


def test_a_file_that_is_named_like_a_bed_is_taken_for_itself(tmp_path, mine):
    spoof = mine.rename(tmp_path / "tsptw50-hard.npz")
    result = run("evaluate", "--method", "greedy-c", "--bed", spoof, "--out", "own", cwd=tmp_path)
    assert result.returncode == FEASIBLE
    (lines,) = (tmp_path / "own" / "main" / "tsptw50-hard.npz").glob("Greedy-C.jsonl")
    assert len(lines.read_text().splitlines()) == 1 + 8


def test_references_are_asked_for_before_any_work(tmp_path, mine):
    words = ("--method", "greedy-c", "--references", "no.npz")
    said = sentence(run("evaluate", *words, "--bed", "tsptw50-hard", cwd=tmp_path))
    assert "no.npz" in said
    assert "named beds" in sentence(run("evaluate", *words, "--bed", mine, cwd=tmp_path))
    assert not (tmp_path / "results").exists()


def test_a_colony_is_trained_and_evaluated(tmp_path, mine):
    """From the recipe to the row, with the last iteration told apart."""
    words = ("gfacs-star-pip-tsptw12-hard", "--instances", 10, "--batch", 5, "--device", "cpu")
    assert run("train", *words, "--out", "colony", cwd=tmp_path).returncode == FEASIBLE
    result = run(
        "evaluate", "--method", "ants", "--policy", "colony", "--bed", mine, "--ants", 4,
        "--iterations", 2, "--power", 2, "--search", "trail", "--last-iteration", "--workers", 1, cwd=tmp_path,
    )  # fmt: skip
    assert result.returncode == FEASIBLE
    row = "GFACS*+PIP,-4-ants-x2-power-2-search-trail-last-iteration.jsonl"
    path = tmp_path / "results/main/mine" / row
    header, *lines = map(json.loads, path.read_text().splitlines())
    assert header["settings"]["last"]
    assert header["settings"]["power"] == 2
    assert [line["tours"] for line in lines] == [4] * 8
