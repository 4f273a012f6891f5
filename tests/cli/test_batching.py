"""The verb `batch` as a user meets it."""

import re

import pytest
from command import BAD_INPUT, FEASIBLE, NOT_FEASIBLE, run, sentence

from fairway.scale.results import files_of, records

LAW = ("batch", "tsptw:hard:8", "--workers", "1")


def test_a_distribution_is_solved_into_files_and_a_rerun_answers_nothing_anew(tmp_path):
    words = (*LAW, "--count", "30", "--chunk", "10", "--out", tmp_path / "out")
    first, second = run(*words), run(*words)
    assert first.returncode == second.returncode == FEASIBLE, first.stderr
    assert first.stdout.startswith("30 instances: 30 optimal\n30 answered in ")
    assert second.stdout.startswith("30 instances: 30 optimal\n0 answered in ")
    files = files_of(tmp_path / "out")
    assert all(re.fullmatch(r"00000\d-[0-9a-f]{16}\.jsonl\.zst", path.name) for path in files)
    found = [record for path in files for record in records(path)]
    assert [record["index"] for record in found] == list(range(30))


def test_files_without_a_tour_or_without_an_instance_are_counted(tmp_path):
    (tmp_path / "late.csv").write_text("id,x,y,open,close,service\ndepot,0,0,0,9,0\na,3,4,0,1,1\n")
    done = run("batch", "late.csv", "--workers", "1", "--out", "one", cwd=tmp_path)
    assert (done.returncode, done.stdout.splitlines()[0]) == (
        NOT_FEASIBLE,
        "1 instances: 1 infeasible",
    )
    (tmp_path / "bad.json").write_text("{}")
    done = run("batch", "late.csv", "bad.json", "--workers", "1", "--out", "two", cwd=tmp_path)
    assert done.returncode == BAD_INPUT
    assert "1 unreadable" in done.stdout
    assert "unreadable: bad.json: " in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((*LAW, "--out", "x"), "how many of tsptw:hard:8? give --count"),
        ((*LAW, "--count", "5", "--out", "x", "--shard", "9/8"), "such as 3/8"),
        ((*LAW, "--count", "5", "--out", "x", "--chunk", "0"), "the chunk is 0"),
        ((*LAW, "--count", "5", "--out", "x", "--address", "auto"), "belong to --engine ray"),
        (("batch", "absent.npz", "--out", "x"), "absent.npz: is no file or folder"),
        (("batch", "tsptw50-hard", "--count", "5", "--out", "x"), "has its own"),
        ((*LAW, "--count", "5", "--out", "/dev/null/x"), "choose another --out"),
    ],
)
def test_what_cannot_be_asked_gets_a_sentence(tmp_path, words, said):
    assert said in sentence(run(*words, cwd=tmp_path))
    assert not list(tmp_path.iterdir())
