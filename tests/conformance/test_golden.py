"""Where a search is meant to be the same, it gives the answers of version 0.1 to the last digit."""

import json
from functools import cache

import pytest
from conformance import golden

PARTS = 4
"""Pieces of a source, of which `make test` looks at one."""


@cache
def stored():
    return golden.stored()


@pytest.mark.parametrize("source", golden.sources())
@pytest.mark.parametrize(
    "part", [0, *(pytest.param(n, marks=pytest.mark.soak) for n in range(1, PARTS))]
)
def test_searches_repeat_their_answers(source, part):
    drawn, known = golden.instances(source), stored()[source]["searched"]
    assert len(drawn) == len(known)
    for number in range(part, len(drawn), PARTS):
        assert golden.searched(drawn[number], number) == known[number], number


@pytest.mark.parametrize("source", golden.sources())
def test_solve_repeats_its_answers(source):
    drawn = golden.instances(source)[: golden.SOLVED]
    given = [golden.solved(instance, seed) for seed, instance in enumerate(drawn)]
    assert json.dumps(given) == json.dumps(stored()[source]["solved"])
