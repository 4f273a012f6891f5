"""The verb `evaluate`."""

import json

import pytest
from command import BAD_INPUT, FEASIBLE, run, sentence
from evaluations import lines_of
from typer.testing import CliRunner

from fairway.cli.evaluating import evaluate_app
from fairway.errors import InvalidRequest
from fairway.problems.files import write
from fairway.problems.generate import generate


@pytest.fixture
def mine(tmp_path):
    """A file of small instances."""
    place = tmp_path / "mine.npz"
    write(generate("tsptw", n=12, hardness="hard", count=8, seed=7), place)
    return place


def test_a_rule_over_a_bed_prints_its_row_and_says_where_the_lines_are(tmp_path):
    words = ("solver", "greedy-c", "--bed", "tsptw50-hard", "--limit", 50)
    result = run("evaluate", *words, cwd=tmp_path)
    assert result.returncode == FEASIBLE
    path = "results/main/tsptw50-hard/Greedy-C.jsonl"
    assert result.stdout.splitlines()[-1] == f"{path}.xz"
    header, *lines = map(json.loads, lines_of(tmp_path / path))
    assert (header["method"], header["count"], len(lines)) == ("greedy-c", 50, 50)
    failed = 100 * sum("cost" not in line for line in lines) / 50
    row = next(line.split() for line in result.stdout.splitlines() if "Greedy-C" in line)
    assert row[2:4] == [f"{failed:.2f}", "%"]


def test_ones_own_file_is_a_bed_too(tmp_path, mine):
    words = ("--bed", mine, "--out", tmp_path, "--study", "own", "--workers", 1, "--tours")
    result = run("evaluate", "solver", "exact", *words)
    assert result.returncode == FEASIBLE
    lines = lines_of(tmp_path / "own/mine/Fairway-exact,-1-s.jsonl")[1:]
    assert all(json.loads(line)["proved"] for line in lines)
    assert sorted(json.loads(lines[0])["tour"]) == list(range(1, 12))


def test_what_was_evaluated_becomes_a_report(tmp_path):
    words = ("--bed", "tsptw50-hard", "--limit", 20, "--out", "lines")
    result = run("evaluate", "solver", "greedy-l", *words, cwd=tmp_path)
    assert result.returncode == FEASIBLE
    assert run("report", "lines", "--out", "pages", cwd=tmp_path).returncode == FEASIBLE
    page = (tmp_path / "pages/main.md").read_text()
    assert "| Greedy-L | measured |" in page
    assert "| LKH3 | published |" in page


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("solver", "greedy-c", "--bed", "nowhere"), "nowhere"),
        (("solver", "fairway", "--bed", "tsptw50-hard", "--seconds", "nan"), "seconds is nan"),
        (("solver", "pyvrp", "--bed", "tsptw50-hard", "--width", "4"), "pyvrp takes no width"),
        (("solver", "greedy-c", "--bed", "no.npz"), "no.npz: cannot be read"),
        (("solver", "greedy-c", "--bed", "tsptw50-hard", "--study", "../x"), "the study '../x'"),
        (("policy", "here", "--bed", "tsptw50-hard"), "here"),
        (("policy", "general-tsptw", "--bed", "tsptw50-hard", "--seed", "-1"), "seed is -1"),
        (("reference", "--bed", "tsptw50-hard", "--references", "no.npz"), "no.npz"),
    ],
)
def test_what_cannot_be_evaluated_gets_a_sentence(tmp_path, words, said):
    assert said in sentence(run("evaluate", *words, cwd=tmp_path))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "--bed B --method policy --policy runs/mine --decode beam --limit=9 --seconds 2",
            "policy runs/mine --bed B --decode beam --limit 9",
        ),
        ("--method ants --bed B --no-symmetries --tours", "ants FOLDER --bed B --tours"),
        ("--method ants --bed B --mask drafts", "ants FOLDER --bed B --mask exact"),
        ("--method solve --policy P --bed B --together 9", "solver fairway --policy P --bed B"),
        ("--method improve --bed B --seed 1", "solver local-search --bed B --seed 1"),
        ("--method lkh-seeded --bed B --trials 9", "solver lkh --seeded --bed B --trials 9"),
        ("--method ortools-seeded --policy P --bed B", "solver ortools --policy P --bed B"),
        ("--references F --method reference --bed B", "reference --references F --bed B"),
        ("--bed B", "policy | ants | solver | reference, each with --help"),
    ],
)
def test_the_spelling_of_version_0_1_is_answered_with_todays(old, new):
    answer = CliRunner().invoke(evaluate_app, old.split()).exception
    assert isinstance(answer, InvalidRequest)
    assert str(answer) == f"the kind of method comes first; type: fairway evaluate {new}"


def test_the_spelling_that_is_answered_quotes_what_a_shell_would_split():
    said = sentence(run("evaluate", "--method", "exact", "--bed", "my file.npz"))
    assert said.endswith("type: fairway evaluate solver exact --bed 'my file.npz'\n")


def test_a_kind_or_a_solver_that_is_none_is_bad_usage(tmp_path):
    for words in (("magic", "--bed", "tsptw50-hard"), ("solver", "magic", "--bed", "tsptw50-hard")):
        result = run("evaluate", *words, cwd=tmp_path)
        assert result.returncode == BAD_INPUT
        assert "magic" in result.stderr


def test_a_file_that_is_named_like_a_bed_is_taken_and_kept_apart_from_it(tmp_path, mine):
    mine.rename(tmp_path / "tsptw50-hard.npz")
    result = run("evaluate", "solver", "greedy-c", "--bed", "./tsptw50-hard.npz", cwd=tmp_path)
    assert result.returncode == FEASIBLE
    path = tmp_path / "results/main/tsptw50-hard.npz/Greedy-C.jsonl"
    header, *lines = map(json.loads, lines_of(path))
    assert header["settings"]["instances"]
    assert len(lines) == 8
    assert run("report", cwd=tmp_path).returncode == FEASIBLE


def test_references_are_asked_for_before_any_work(tmp_path, mine):
    words = ("solver", "greedy-c", "--references", "no.npz")
    said = sentence(run("evaluate", *words, "--bed", "tsptw50-hard", cwd=tmp_path))
    assert "no.npz" in said
    assert "named beds" in sentence(run("evaluate", *words, "--bed", mine, cwd=tmp_path))
    assert not (tmp_path / "results").exists()


@pytest.mark.soak
def test_a_colony_is_trained_and_evaluated(tmp_path, mine):
    """From the recipe to the row, with the last iteration told apart."""
    words = ("gfacs-star-pip-tsptw12-hard", "--instances", 10, "--batch", 5, "--device", "cpu")
    assert run("train", *words, "--out", "colony", cwd=tmp_path).returncode == FEASIBLE
    result = run(
        "evaluate", "ants", "colony", "--bed", mine, "--ants", 4,
        "--iterations", 2, "--power", 2, "--search", "trail", "--last-iteration", "--workers", 1, cwd=tmp_path,
    )  # fmt: skip
    assert result.returncode == FEASIBLE
    row = "GFACS*+PIP,-4-ants-x2-power-2-search-trail-last-iteration.jsonl"
    path = tmp_path / "results/main/mine" / row
    header, *lines = map(json.loads, lines_of(path))
    assert header["settings"]["last"]
    assert header["settings"]["power"] == 2
    assert [line["tours"] for line in lines] == [4] * 8
