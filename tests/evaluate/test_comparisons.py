import itertools

import numpy as np
import pytest
from evaluations import failed, references, results, solved
from hypothesis import given
from hypothesis import strategies as st

from fairway.evaluate import comparisons as module
from fairway.evaluate.comparisons import (
    ALL_PAIRS_UP_TO,
    Comparison,
    breaks_table,
    compare,
    comparisons,
    costs_at,
    doubled_ranks,
    mean_gap,
    overlap,
    overlap_table,
    ranked,
    signed_ranks,
    significance_table,
)
from fairway.evaluate.tables import of

AGAINST = references("a file", np.full(9, 100.0), np.full(9, 100.0))
DARWIN = [6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75]
"""Crossed against self-fertilised maize, in eighths of an inch."""


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


def by_counting(differences):
    """The p-value by its definition: over all signs."""
    sizes = np.abs(np.array(differences, float))
    ranks = doubled_ranks(sizes) / 2
    seen = abs(ranks[np.array(differences) > 0].sum() - ranks.sum() / 2)
    signs = np.array(list(itertools.product((0, 1), repeat=len(ranks))))
    return float((np.abs(signs @ ranks - ranks.sum() / 2) >= seen - 1e-9).mean())


def test_darwins_maize_has_its_published_p_value():
    assert signed_ranks(np.array(DARWIN, float)) == pytest.approx(0.041259765625)


def test_five_alike_signs_are_two_of_thirty_two():
    assert signed_ranks(np.array([1.0, 2, 3, 4, 5])) == pytest.approx(2 / 32)
    assert signed_ranks(-np.array([1.0, 2, 3, 4, 5])) == pytest.approx(2 / 32)


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=9))
def test_ties_and_zeros_agree_with_counting_all_signs(values):
    nonzero = [value for value in values if value]
    expected = by_counting(nonzero) if nonzero else 1.0
    assert signed_ranks(np.array(values, float)) == pytest.approx(expected)


def test_the_normal_law_takes_over_without_a_jump(rng, monkeypatch):
    differences = np.round(rng.normal(0.25, 1, size=100), 1)
    exact = signed_ranks(differences)
    monkeypatch.setattr(module, "EXACT_UP_TO", 0)
    assert signed_ranks(differences) == pytest.approx(exact, rel=0.02)


def test_equal_ranks_are_shared():
    assert (doubled_ranks(np.array([3.0, 1, 3, 2])) / 2).tolist() == [3.5, 1, 3.5, 2]


def test_methods_are_compared_where_both_have_a_tour():
    one = results(solved(0, 9.0), solved(1, 10.0), solved(2, 3.0), failed(3), solved(5, 2.0))
    other = results(
        solved(5, 3.0), solved(0, 10.0), solved(1, 10.0 + 1e-12), failed(2), solved(3, 1.0)
    )
    found = compare(one, other)
    assert (found.common, found.better, found.worse) == (3, 2, 0)
    assert found.p == pytest.approx(0.5), (
        "two alike signs; what differs by rounding is no difference"
    )
    assert compare(other, one).p == found.p
    assert compare(one, one).p == 1.0
    assert compare(one, results(failed(0))).common == 0


@pytest.mark.parametrize(
    ("p", "stars"), [(0.0009, "***"), (0.001, "**"), (0.009, "**"), (0.01, "*"), (0.05, "")]
)
def test_stars_are_those_of_the_paper(p, stars):
    assert Comparison(9, 9, 0, p).stars == stars


def test_gaps_on_what_all_solve():
    one = results(solved(0, 110.0), solved(1, 150.0), solved(2, 110.0))
    other = results(solved(2, 120.0), failed(1), solved(0, 100.0))
    reference = np.array([100.0, 100.0, 100.0])
    common = overlap([one, other])
    assert common.tolist() == [0, 2]
    assert costs_at(other, common).tolist() == [100.0, 120.0]
    assert mean_gap(one, reference, common) == pytest.approx(10.0)
    assert mean_gap(other, reference, common) == pytest.approx(10.0)
    reference[2] = np.nan
    assert mean_gap(other, reference, common) == pytest.approx(0.0)
    assert np.isnan(mean_gap(one, reference, overlap([one, results(failed(0))])))
    assert len(overlap([])) == 0
