"""A service that the tests of a module share."""

import random

import pytest

from benchmarks.service.running import Running
from fairway.serve import examples


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    """A service with one worker and small limits."""
    store = tmp_path_factory.mktemp("service") / "jobs.sqlite"
    limits = ("--workers", "1", "--queue", "4", "--max-stops", "60", "--max-seconds", "10")
    with Running(store, *limits, "--max-body", "1") as running:
        yield running


@pytest.fixture(scope="session")
def known() -> dict[str, dict]:
    """The instances to start from, by name."""
    return {each["name"]: each["instance"] for each in examples.listed()}


@pytest.fixture(scope="session")
def long_search() -> dict:
    """A body that keeps a worker busy for as long as it may: a proof is out of reach."""
    chance = random.Random(3)
    points = [[chance.randint(0, 999), chance.randint(0, 999)] for _ in range(51)]
    windows = {str(stop): [[0, 9000], [9500, 30000]] for stop in range(1, 51, 2)}
    instance = {
        "problem": "tour",
        "coordinates": points,
        "windows": windows,
        "pairs": [[stop, stop + 1] for stop in range(1, 51, 2)],
        "demand": [0, *[1, -1] * 25],
        "load": "signed",
        "capacity": 5,
    }
    return {"instance": instance, "seconds": 10}
