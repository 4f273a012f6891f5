"""The answers of version 0.1 that later versions must give again, and how they are asked for.

`python tests/conformance/golden.py` writes them anew: only where a search is meant to have changed.
"""

import json
import lzma
from pathlib import Path

import fairway
from fairway.problems.beds import beds
from fairway.search.exact import prove
from fairway.search.improve import improve

STORED = Path(__file__).with_name("golden.json.xz")
RAKKE = Path(__file__).parents[3] / "shared" / "bench" / "tspdl" / "rakke"
COUNT = 100
"""Instances of each test set."""
SOLVED = 2
"""Of them, those that `solve` answers as well."""


def sources():
    """Names of the test sets, and of Rakke's files where they are at hand."""
    published = [bed.name for bed in beds().values() if bed.published]
    return [*published, *(["rakke"] if RAKKE.is_dir() else [])]


def instances(source):
    """The instances of a source, in order."""
    if source == "rakke":
        return [fairway.read(path) for path in sorted(RAKKE.glob("*.dat"))]
    return list(fairway.load_bed(source)[:COUNT])


def searched(instance, seed):
    """Tour and cost of a short local search; tour, bounds and label counts of a small exact search."""
    improved = improve(instance, iterations=200, seed=seed)
    proof = prove(instance, memory=1 << 17)
    counts = proof.statistics
    answer = {
        "local": [improved.tour, improved.cost],
        "exact": [proof.status, proof.tour, proof.lower_bound],
        "labels": [counts.made, counts.kept, counts.widest],
    }
    return json.loads(json.dumps(answer))


def solved(instance, seed):
    """What `solve` answers without a clock."""
    result = fairway.solve(instance, iterations=50, seed=seed, policy=None)
    return json.loads(json.dumps([result.status, result.tour, result.cost, result.lower_bound]))


def answers_of(source):
    """All answers for one source."""
    drawn = instances(source)
    return {
        "searched": [searched(instance, seed) for seed, instance in enumerate(drawn)],
        "solved": [solved(instance, seed) for seed, instance in enumerate(drawn[:SOLVED])],
    }


def stored():
    """The answers as they were."""
    return json.loads(lzma.decompress(STORED.read_bytes()))


if __name__ == "__main__":
    written = {source: answers_of(source) for source in sources()}
    STORED.write_bytes(lzma.compress(json.dumps(written).encode(), preset=9))
