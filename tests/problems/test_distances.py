import numpy as np
import pytest

from fairway.errors import InvalidRequest
from fairway.problems.distances import detour, euclidean, travel_matrix


def test_rules_on_a_known_triangle():
    points = np.array([[0.0, 0.0], [3.0, 4.0], [1.5, 0.0]])
    assert travel_matrix(points)[0].tolist() == [0, 5, 1.5]
    assert travel_matrix(points, "floor")[0].tolist() == [0, 5, 1]
    assert travel_matrix(points, "nearest")[0].tolist() == [0, 5, 2]


def test_rule_f_is_one_pass_in_the_stated_order(rng):
    """The definition as three loops, in the nesting of the source."""
    points = rng.integers(0, 40, (12, 2)).astype(float)
    expected = np.floor(euclidean(points)).tolist()
    for i in range(12):
        for j in range(12):
            for k in range(12):
                expected[i][j] = min(expected[i][j], expected[i][k] + expected[k][j])
    assert travel_matrix(points, "F").tolist() == expected


def test_an_unknown_rule_is_refused():
    with pytest.raises(InvalidRequest, match="'round' is unknown"):
        travel_matrix(np.zeros((2, 2)), "round")


def test_a_detour_is_found_iff_there_is_one(rng):
    for _ in range(50):
        travel = rng.integers(1, 6, (5, 5)).astype(float)
        np.fill_diagonal(travel, 0)
        shorter = [
            (i, k, j)
            for i in range(5)
            for j in range(5)
            for k in range(5)
            if travel[i, k] + travel[k, j] < travel[i, j]
        ]
        found = detour(travel)
        assert (found in shorter) if shorter else (found is None)
    assert detour(euclidean(rng.random((40, 2)) * 1e6)) is None, "rounding is no detour"
