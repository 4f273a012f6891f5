"""Solvers in processes of their own."""

from functools import partial

from fairway.evaluate.single import by_proof, shared_out
from fairway.problems.generate import generate
from fairway.scale.engine import Engine


def test_instances_are_answered_in_their_order():
    instances = list(generate("tsptw", n=8, hardness="hard", count=3, seed=1))
    with shared_out(partial(by_proof, seconds=5.0), Engine(workers=1)) as solve:
        found = list(solve(instances, [None] * 3))
    assert [each.tours.shape for each in found] == [(1, 7)] * 3
    assert all(each.proved and each.seconds > 0 for each in found)
