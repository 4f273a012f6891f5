"""Answers as an iterator, in the order of the instances."""

import itertools

import pytest

import fairway
from fairway.errors import InvalidRequest
from fairway.scale import many


def test_answers_are_those_of_solve_in_order(workers):
    instances = fairway.generate("tsptw", n=8, count=30, seed=2)
    known = fairway.solve(list(instances), workers=1)
    for source in (instances, iter(list(instances))):
        found = list(fairway.solve_many(source, engine=workers, chunk=7))
        assert [each.index for each in found] == list(range(30))
        assert [each.tour for each in found] == [each.tour for each in known]
        assert [each.cost for each in found] == [each.cost for each in known]
        assert [each.lower_bound for each in found] == [each.lower_bound for each in known]


def test_an_endless_source_is_read_as_far_as_it_is_needed(workers, monkeypatch):
    monkeypatch.setattr(many, "AHEAD", 2)
    seen = []

    def endless():
        drawn = fairway.generate("tsptw", n=5, count=8, seed=1)
        for number in itertools.count():
            seen.append(number)
            yield drawn[number % 8]

    answers = fairway.solve_many(endless(), engine=workers, chunk=4)
    assert [next(answers).index for _ in range(10)] == list(range(10))
    answers.close()
    assert len(seen) < 60


def test_drawn_instances_with_another_objective(workers):
    found = list(
        fairway.solve_many(
            "tsptw:medium:8", count=5, seed=3, engine=workers, objective="makespan", relax="none"
        )
    )
    assert len(found) == 5
    assert {each.status for each in found} <= {"optimal", "infeasible"}


@pytest.mark.parametrize(
    ("source", "asked", "words"),
    [
        (fairway.generate("tsptw", n=4), {"count": 3}, "leave it out"),
        (fairway.generate("tsptw", n=4), {"fixed": (1,)}, "leave it out"),
        (fairway.generate("tsptw", n=4), {"speed": 3}, "speed"),
        ("tsptw:hard:9", {}, "give --count"),
    ],
)
def test_what_makes_no_sense_is_refused_before_any_worker_starts(source, asked, words):
    with pytest.raises(InvalidRequest, match=words):
        fairway.solve_many(source, **asked)
