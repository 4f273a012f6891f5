import numpy as np
import pytest

from fairway.errors import InvalidRequest
from fairway.problems import distances
from fairway.problems.distances import detour, euclidean, travel_matrix


def test_rules_on_a_known_triangle():
    points = np.array([[0.0, 0.0], [3.0, 4.0], [1.5, 0.0]])
    assert travel_matrix(points)[0].tolist() == [0, 5, 1.5]
    assert travel_matrix(points, "floor")[0].tolist() == [0, 5, 1]
    assert travel_matrix(points, "nearest")[0].tolist() == [0, 5, 2]


@pytest.mark.parametrize(("nodes", "side"), [(12, 40), (70, 3), (90, 25), (70, 10**9), (3, 1)])
def test_rule_f_is_one_pass_in_the_stated_order(rng, nodes, side):
    """The definition as three loops, in the nesting of the source."""
    points = rng.random((nodes, 2)) * side
    expected = np.floor(euclidean(points)).tolist()
    for i in range(nodes):
        for j in range(nodes):
            for k in range(nodes):
                expected[i][j] = min(expected[i][j], expected[i][k] + expected[k][j])
    assert travel_matrix(points, "F").tolist() == expected


def test_rule_f_asks_numpy_once_a_row_and_not_once_an_entry(rng, monkeypatch):
    """Python's part is quadratic: at 200 nodes the loop over entries took 40,000 steps."""
    steps = 0
    taken = distances._least_sums

    def counted(*given):
        nonlocal steps
        steps += 1
        return taken(*given)

    monkeypatch.setattr(distances, "_least_sums", counted)
    travel_matrix(rng.random((200, 2)) * 100, "F")
    assert steps < 4_000


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
            if travel[i, k] + travel[k, j] < travel[i, j] - 1  # which rounding may do
        ]
        found = detour(travel)
        assert (found in shorter) if shorter else (found is None)
    assert detour(euclidean(rng.random((40, 2)) * 1e6)) is None, "rounding is no detour"
