import numpy as np
import pytest
from evaluations import failed, results, solved

from fairway.evaluate.comparisons import (
    ALL_PAIRS_UP_TO,
    breaks_table,
    comparisons,
    overlap_table,
    ranked,
    significance_table,
)
from fairway.evaluate.metrics import Yardstick
from fairway.evaluate.tables import of

AGAINST = Yardstick("a file", np.full(9, 100.0), np.full(9, 100.0))


def method(label, *costs):
    outcomes = [failed(at) if cost is None else solved(at, cost) for at, cost in enumerate(costs)]
    return results(*outcomes, label=label)


def test_overlap_gaps_are_those_on_what_every_method_solves():
    one, other = method("POMO*+PIP", 110.0, 120.0, 130.0), method("POMO*", 100.0, None, 150.0)
    alone = [method("POMO*", 140.0, None, None), method("POMO*+PIP", 160.0, 170.0, None)]
    table = overlap_table("tsptw50-hard", [one, other], alone, AGAINST)
    found = {row.label: row.values for row in of(table, "measured")}
    assert list(found) == ["POMO*", "POMO*+PIP", "Overlap number"]
    assert found["POMO*+PIP"]["gap"] == pytest.approx(20.0)
    assert found["POMO*+PIP"]["overlap_gap_augmented"] == pytest.approx(20.0)
    assert found["POMO*"]["overlap_gap_augmented"] == pytest.approx(25.0)
    assert found["POMO*"]["overlap_gap_plain"] == pytest.approx(40.0)
    assert found["POMO*+PIP"]["overlap_gap_plain"] == pytest.approx(60.0)
    assert found["Overlap number"] == {"overlap_augmented": 2, "overlap_plain": 1}
    assert len(of(table, "published")) == 4


def test_an_overlap_without_references_is_counted_all_the_same():
    table = overlap_table("tsptw50-hard", [method("POMO*", 1.0)], [], None)
    last = of(table, "measured")[-1]
    assert last.values == {"overlap_augmented": 1}
    assert of(overlap_table("tsptw50-hard", [], [], None), "measured") == ()


def test_methods_are_ranked_by_gap_and_those_that_solve_nothing_left_out():
    good, bad = method("good", 101.0, 103.0), method("bad", None, 110.0)
    order = ranked([bad, method("none", None), good], AGAINST)
    assert [each.header.label for each in order] == ["good", "bad"]
    assert [each.header.label for each in ranked([bad, good], None)] == ["good", "bad"]


def test_few_methods_are_compared_every_two_and_many_with_their_neighbours():
    few = [method(str(place), 100.0 + place) for place in range(3)]
    assert [pair[:2] for pair in comparisons(few)] == [(0, 1), (0, 2), (1, 2)]
    many = [method(str(place), 100.0 + place) for place in range(ALL_PAIRS_UP_TO + 1)]
    pairs = [pair[:2] for pair in comparisons(many)]
    assert pairs == [(place, place + 1) for place in range(ALL_PAIRS_UP_TO)]


def test_a_pair_says_who_is_better_and_whether_by_chance():
    order = [method("a", *np.linspace(101, 102, 9)), method("b", *np.linspace(103, 105, 9))]
    (row,) = significance_table("bed", order, comparisons(order)).rows
    assert row.label == "a against b"
    assert row.values == {
        "common": 9, "better": 9, "worse": 0, "p": pytest.approx(2 / 512), "stars": "**",
    }  # fmt: skip


def test_where_tours_fail_in_a_few_numbers():
    made = results(failed(0, broken_at={1: 4, 3: 4}), failed(1, broken_at={9: 2}), label="x")
    (row,) = breaks_table("bed", [made, method("whole", 1.0)]).rows
    assert row.values == {"refused": 10, "first": 40.0, "half": 3, "most": 9}
