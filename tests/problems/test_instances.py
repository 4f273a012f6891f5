"""What an instance refuses to be made of, and what it keeps."""

import copy
import pickle
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest

from fairway import draw, explain, solve
from fairway.errors import InvalidInstance
from fairway.judge import Solution, verify
from fairway.problems.distances import euclidean
from fairway.problems.generate import generate
from fairway.problems.instance import TSPDL, TSPTW, Instance

SQUARE = [[0.0, 1.0, 2.0], [1.5, 0.0, 1.0], [2.0, 1.0, 0.0]]
NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"travel": [[0, 1, 2], [1, 0, 2]]}, "2 x 3; expected a square matrix"),
        ({"travel": [[0, 1], [1]]}, "not an array of numbers"),
        ({"travel": [[0, "x"], [1, 0]]}, "not an array of numbers"),
        ({"travel": [["0", "1"], ["1", "0"]]}, "not an array of numbers"),
        ({"travel": [[0, 1j], [1, 0]]}, "not an array of numbers"),
        ({"travel": [[0]]}, "no stop besides the depot"),
        ({"travel": []}, "expected a square matrix"),
        (
            {"travel": [[0, -1, 2], [1, 0, 2], [1, 1, 0]]},
            r"travel[0, 1] is -1; expected zero or more",
        ),
        (
            {"travel": [[0, NAN, 2], [1, 0, 2], [1, 1, 0]]},
            r"travel[0, 1] is nan; expected a finite",
        ),
        (
            {"travel": [[0, INF, 2], [1, 0, 2], [1, 1, 0]]},
            r"travel[0, 1] is inf; expected a finite",
        ),
        ({"travel": [[0, 1e300, 2], [1, 0, 2], [1, 1, 0]]}, "choose a larger unit"),
        ({"opens": [0, 1]}, "opens has shape 2; expected 3 numbers"),
        ({"opens": [0, NAN, 1]}, "opens[1] is nan"),
        ({"closes": [9, INF, 9]}, "closes[1] is inf"),
        ({"opens": [0, 5, 0], "closes": [9, 4, 9]}, "node 1 closes at 4 before it opens at 5"),
        ({"service": [0, -1, 0]}, "service[1] is -1; expected zero or more"),
        ({"coordinates": [[0, 0], [1, 1]]}, "coordinates have shape 2 x 2; expected 3 rows"),
        ({"names": ("a", "b")}, "2 names were given; expected 3"),
        ({"names": ("a", "b", "b")}, "'b' is given to more than one node"),
    ],
)
def test_bad_time_windows_are_refused_in_one_sentence(fields, sentence):
    good = {"travel": SQUARE, "opens": [0, 0, 0], "closes": [9, 9, 9]}
    with pytest.raises(InvalidInstance) as caught:
        TSPTW(**(good | fields))
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"demand": [0, -1, 1]}, "demand[1] is -1"),
        ({"draft": [2, 1, -3]}, "draft[2] is -3"),
        ({"demand": [1, 1, 1]}, "the depot has a demand of 1"),
        ({"load": "sinking"}, "load is 'sinking'; expected growing or shrinking"),
    ],
)
def test_bad_draft_limits_are_refused_in_one_sentence(fields, sentence):
    good = {"travel": SQUARE, "demand": [0, 1, 1], "draft": [2, 2, 2]}
    with pytest.raises(InvalidInstance) as caught:
        TSPDL(**(good | fields))
    assert sentence in str(caught.value)


def test_an_instance_keeps_its_numbers_and_lets_nobody_change_them():
    travel = np.array(SQUARE)
    instance = TSPTW(travel, [0, -2.5, 0], [9, 8, 7], service=10)
    travel[0, 1] = 99
    assert instance.travel[0, 1] == 1
    assert instance.travel.dtype == np.float64
    assert instance.service.tolist() == [10, 10, 10]
    with pytest.raises(ValueError, match="read-only"):
        instance.travel[0, 1] = 5
    with pytest.raises(AttributeError):
        instance.opens = np.zeros(3)  # type: ignore[misc]


def test_the_diagonal_is_never_travelled():
    instance = TSPTW([[7, 1], [1, 7]], 0, 9)
    assert instance.travel.tolist() == [[0, 1], [1, 0]]


def test_a_matrix_that_breaks_the_triangle_inequality_is_taken_and_noted():
    bent = TSPTW([[0, 1, 5], [1, 0, 1], [5, 1, 0]], 0, 9)
    assert bent.notes == (
        "the travel matrix breaks the triangle inequality: 0 to 2 takes 5, by way of 1 only 2",
    )
    named = TSPTW([[0, 1, 5], [1, 0, 1], [5, 1, 0]], 0, 9, names=["Depot", "Mill", "School"])
    assert "Depot to School takes 5, by way of Mill only 2" in named.notes[0]
    assert TSPTW(SQUARE, 0, 9).notes == ()


def test_triangles_bent_by_rounding_are_not_noted(rng):
    points = rng.random((40, 2)) * 900
    exact = np.linalg.norm(points[:, None] - points, axis=2)
    assert TSPTW(np.rint(exact), 0, 1e6).notes == ()
    assert TSPTW(np.rint(exact * 10) / 600, 0, 1e6).notes == ()


def test_whole_numbers_are_known_as_such():
    assert not TSPTW(SQUARE, 0, 9).integral
    assert TSPTW(np.rint(SQUARE), 0, 9).integral
    assert TSPDL(SQUARE, [0, 1, 1], [2, 2, 2]).integral, "loads are whole, whatever travel is"
    large = np.ones((200, 200))
    large[198, 199] = 1.5
    assert not TSPTW(large, 0, 9).integral
    assert not TSPDL(SQUARE, [0, 0.5, 1], [2, 2, 2]).integral


def test_instances_travel_between_processes():
    instance = TSPTW(SQUARE, 0, 9, names=("a", "b", "c"))
    for twin in (pickle.loads(pickle.dumps(instance)), copy.deepcopy(instance)):
        assert np.array_equal(twin.travel, instance.travel)
        assert twin.names == instance.names


DEGREES = np.array([[59.911, 10.757], [59.95, 10.7], [60.39, 5.32]])


def test_degrees_beside_minutes_are_noted_and_sound_units_are_not():
    noted = TSPTW(euclidean(DEGREES), [480, 500, 600], [1020, 900, 960], 5, DEGREES)
    assert "look like degrees: the longest leg takes 5.4" in noted.notes[0]
    assert "windows span 460" in noted.notes[0]
    metres = DEGREES * 1_000
    assert TSPTW(euclidean(metres), 0, 90_000, 0, metres).notes == ()
    assert TSPTW(euclidean(DEGREES) * 60, 480, 1020, 0, DEGREES).notes == ()
    assert TSPTW(euclidean(DEGREES), 0, 9, 0, DEGREES).notes == ()
    whole = np.rint(DEGREES)
    assert TSPTW(euclidean(whole), 480, 1020, 0, whole).notes == ()


def test_a_tour_far_beyond_all_windows_is_noted():
    seconds = np.full((3, 3), 60_000.0)
    (said,) = Instance(seconds, closes=[600.0, 500, 600]).unit_notes
    assert "travel and service cannot be in the unit of the windows" in said
    assert "add up to 120000 where windows span 600" in said
    assert Instance(seconds / 60, closes=[600.0, 500, 600]).unit_notes == ()
    assert Instance(seconds, closes=[600.0, 500, np.inf]).unit_notes == ()
    assert Instance(seconds, closes=600, prize=5).unit_notes == ()
    assert Instance(seconds, windows={1: [(0, 9)], 2: [(1, 2), (3, 600)]}).unit_notes == (said,)


@pytest.mark.parametrize("hardness", ["easy", "medium", "hard"])
@pytest.mark.parametrize("n", [20, 100, 500])
def test_the_papers_instances_are_not_taken_for_degrees(hardness, n):
    for instance in generate("tsptw", n=n, hardness=hardness, count=5):
        assert instance.unit_notes == ()


# One class for every tour


def test_what_is_not_asked_for_has_neutral_values():
    plain = Instance(np.ones((3, 3)))
    assert plain.problem == "tsptw"
    assert plain.constraints == ("time windows",)
    assert plain.cost is plain.travel
    assert np.isinf([*plain.closes, *plain.draft]).all()
    assert not plain.demand.any()
    assert isinstance(verify(plain, [1, 2]), Solution)


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"before": [(1, 2)]}, "an order of stops"),
        ({"prize": [np.inf, 3, np.inf]}, "optional stops"),
        ({"pairs": [(1, 2)]}, "pickups and deliveries"),
        ({"windows": {1: [(0, 2), (4, 5)]}}, "several windows per stop"),
        ({"late": 2.0}, "a price of lateness"),
        ({"capacity": 9, "demand": [0, 1, 1]}, "a capacity"),
        ({"breaks": [(1, 2, 3)]}, "breaks"),
        ({"end": None}, "an end of its own"),
        ({"cost": 2 * np.ones((3, 3))}, "a cost apart from travel"),
        ({"cost": np.full((3, 3), np.inf)}, "closed ways"),
        ({"closes": 9, "demand": [0, 1, 1], "draft": 2}, "time windows and draft limits"),
    ],
)
def test_other_constraints_are_named_solved_judged_explained_and_drawn(asked, named):
    instance = Instance(np.ones((3, 3)), **asked)
    assert instance.problem == "tour"
    assert named in " and ".join(instance.constraints)
    result = solve(instance)
    accepted = isinstance(verify(instance, result.tour or [1, 2]), Solution)
    assert (result.status == "optimal") is accepted
    assert explain(instance).status == ("feasible" if accepted else "infeasible")
    plt.close(draw(instance, result.tour))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"before": [(1, 1)]}, "two different stops"),
        ({"before": [(1, 7)]}, "numbered 0 to 2"),
        ({"windows": {1: [(3, 2)]}}, "open <= close"),
        ({"breaks": [(3, 2, 1)]}, "earliest start"),
        ({"end": 3}, "numbered 0 to 2"),
        ({"capacity": -1}, "zero or more"),
        ({"aboard": np.inf}, "aboard is inf; expected a number, zero or more"),
        (
            {"loaded": [0, 0, 1]},
            r"loaded\[2\] is 1; expected 0 where the load is growing, or load 'signed'",
        ),
        ({"loaded": 1, "load": "signed"}, r"loaded\[0\] is 1; expected 0 at the depot"),
        ({"loaded": [0, -1, 0], "load": "signed"}, r"loaded\[1\] is -1; expected zero or more"),
        ({"windows": {1: [(-np.inf, 10)]}}, "open <= close"),
        ({"breaks": [(0, 1, np.inf)]}, "a length of zero or more"),
        ({"before": [(0, 1)]}, "neither of them the depot 0"),
        ({"cost": np.full((3, 3), -np.inf)}, r"cost\[0, 0\] is -inf; expected a finite number"),
        ({"cost": np.ones((2, 2))}, "expected 3"),
        ({"load": "sideways"}, "growing or shrinking or signed"),
    ],
)
def test_what_makes_no_sense_is_refused_when_it_is_stated(asked, said):
    with pytest.raises(InvalidInstance, match=said):
        Instance(np.ones((3, 3)), **asked)


def test_a_way_may_be_closed_in_a_general_tour_but_not_in_a_classic_one():
    travel = np.array([[np.inf, 9.0, np.inf], [1, 0, 1], [1, 1, 0]])
    instance = Instance(travel, closes=9)
    assert instance.travel[0].tolist() == [0, 9, np.inf]
    assert instance.problem == "tour"
    assert instance.notes == ()
    for make in (lambda: TSPTW(travel, 0, 9), lambda: TSPDL(travel, [0, 1, 1], 9)):
        with pytest.raises(
            InvalidInstance, match=r"travel\[0, 2\] is inf; expected a finite number"
        ):
            make()


def test_a_changed_copy_keeps_cost_and_travel_together():
    instance = TSPTW(np.ones((3, 3)), 0, 9)
    later = replace(instance, closes=np.full(3, 10.0))
    assert later.cost is later.travel
    assert later.constraints == instance.constraints
