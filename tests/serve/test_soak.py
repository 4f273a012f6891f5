"""A little of what `python -m benchmarks.service` does in full: load, kills and mutated bodies."""

import pytest
from apart import run_apart

from benchmarks.service.fuzz import OPTIONS, sent
from benchmarks.service.kills import killed
from benchmarks.service.load import crowd
from benchmarks.service.running import Running


def test_under_load_every_accepted_job_is_answered_and_the_rest_refused(tmp_path):
    with Running(tmp_path / "jobs.sqlite", "--workers", "1", "--queue", "5") as service:
        told = run_apart(crowd(service.port, 20, 3.0))
    assert told["accepted and answered"] > 5
    assert told["refused with 429"] > 5


@pytest.mark.soak
def test_kills_at_random_lose_nothing(tmp_path):
    told = killed(tmp_path / "jobs.sqlite", 2)
    assert told["accepted"] > 0


def test_mutated_bodies_get_a_sentence_or_an_answer(tmp_path):
    with Running(tmp_path / "jobs.sqlite", *OPTIONS) as service:
        counts = run_apart(sent(service.port, 400, seed=1))
    assert counts["400"] > 100
    assert counts["200"] > 10
