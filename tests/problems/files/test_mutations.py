"""Damaged files of every format: a reader either makes a valid instance or raises a FairwayError, and soon."""

import random

import pytest

from benchmarks.mutations import SEEDS, mutated, outcome

MUTATIONS = 500
"""Damaged files for each format."""

LENGTH = 100_000
"""Bytes of repetition: enough to make whatever is quadratic take minutes."""


@pytest.mark.parametrize("kind", SEEDS)
def test_the_undamaged_files_are_read(kind, tmp_path):
    for seed in SEEDS[kind]:
        assert outcome(kind, seed, tmp_path / "file")


@pytest.mark.parametrize("kind", SEEDS)
def test_a_damaged_file_is_refused_or_still_valid(kind, tmp_path):
    rng = random.Random(f"fairway {kind}")
    refused = 0
    for _ in range(MUTATIONS):
        content = mutated(rng.choice(SEEDS[kind]), rng)
        refused += not outcome(kind, content, tmp_path / "file")
    assert refused > MUTATIONS / 4


@pytest.mark.parametrize("kind", SEEDS)
def test_every_shortening_of_a_file_is_refused_or_still_valid(kind, tmp_path):
    seed = min(SEEDS[kind], key=len)
    step = max(1, len(seed) // 100)
    for end in range(1, len(seed), step):
        outcome(kind, seed[:end], tmp_path / "file")


@pytest.mark.parametrize(
    "filler", [b"\0", b"0", b"0 ", b"0\n", b"9", b"[", b"(", b'"', b",", b"-1\n", b"a,"]
)
@pytest.mark.parametrize("kind", SEEDS)
def test_endless_repetition_after_a_beginning_is_read_or_refused_soon(kind, filler, tmp_path):
    seed = min(SEEDS[kind], key=len)
    content = seed[: len(seed) // 2] + filler * (LENGTH // len(filler))
    outcome(kind, content, tmp_path / "file")


def test_eight_megabytes_of_zeros_are_refused(tmp_path):
    for zeros in (bytes(8_000_000), b"0" * 8_000_000):
        assert not outcome("json", zeros, tmp_path / "file")
