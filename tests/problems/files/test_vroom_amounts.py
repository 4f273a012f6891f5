"""Amounts of several components: what one component leaves of a problem is the problem itself, or it is refused."""

import itertools
import random

import pytest

from fairway.problems.files.text import Unreadable
from fairway.problems.files.vroom_amounts import single_amounts


def problem(capacity, jobs, shipments=()):
    return {
        "vehicles": [{"id": 1.0, "capacity": capacity}],
        "jobs": [{"id": float(at), "delivery": each} for at, each in enumerate(jobs)],
        "shipments": [{"amount": each} for each in shipments],
    }


def amounts_of(document):
    jobs = [each["delivery"] for each in document["jobs"]]
    return jobs + [each["amount"] for each in document["shipments"]]


def fitting(document):
    """Which sets of tasks may be aboard together."""
    amounts, (vehicle,) = amounts_of(document), document["vehicles"]
    sets = itertools.chain.from_iterable(
        itertools.combinations(range(len(amounts)), size) for size in range(len(amounts) + 1)
    )
    return [
        chosen
        for chosen in sets
        if all(
            sum(amounts[at][part] for at in chosen) <= most
            for part, most in enumerate(vehicle["capacity"])
        )
    ]


def test_the_one_component_that_is_left_allows_the_same_tasks_together():
    rng, reduced, refused = random.Random(0), 0, 0
    for _ in range(300):
        parts = rng.randrange(2, 4)
        tasks = [[float(rng.randrange(4)) for _ in range(parts)] for _ in range(5)]
        for task in tasks if rng.random() < 0.5 else []:
            task[1:] = [float(int(task[0] / 2))] * (parts - 1)
        document = problem([float(rng.randrange(15)) for _ in range(parts)], tasks[:3], tasks[3:])
        try:
            found = single_amounts(document)
        except Unreadable:
            refused += 1
            continue
        reduced += 1
        assert all(len(each) == 1 for each in amounts_of(found))
        assert fitting(found) == fitting(document)
    assert min(reduced, refused) > 50


def test_components_that_can_both_bind_are_refused_by_their_numbers():
    with pytest.raises(Unreadable, match="components 1 and 3 of 'capacity' can both bind"):
        single_amounts(
            problem([3.0, 9.0, 3.0], [[2.0, 1.0, 1.0], [1.0, 1.0, 3.0], [1.0, 0.0, 0.0]])
        )


@pytest.mark.parametrize("jobs", [[[1.0]], [[1.0, "2"]], [[1.0, -2.0]], [[1.0, 2.0, 3.0]], [1.0]])
def test_what_is_no_list_of_as_many_numbers_is_left_to_be_refused(jobs):
    document = problem([1.0, 2.0], jobs)
    assert single_amounts(document)["jobs"] == document["jobs"]


def test_components_that_no_task_uses_never_bind():
    assert single_amounts(problem([1.0, 2.0], []))["vehicles"] == [{"id": 1.0, "capacity": [1.0]}]
