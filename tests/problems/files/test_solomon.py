from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fairway.problems.distances import euclidean
from fairway.problems.files import matrix, solomon
from fairway.problems.files.text import Unreadable
from fairway.problems.instance import TSPDL, TSPTW

HEADS = "CUST NO.   XCOORD.   YCOORD.    DEMAND   READY TIME   DUE DATE   SERVICE TIME\n"
ROWS = """    1      0.00      0.00       0.00       0.00     391.00       0.00
   17      3.00      4.00      12.00      62.00      80.00      10.00
    3      6.00      9.00       0.00     181.00     205.00       2.50
"""
CLOSING = "  999       0.00       0.00       0.00       0.00       0.00       0.00\n"
VEHICLES = "R101\n\nVEHICLE\nNUMBER     CAPACITY\n  25         200\n\nCUSTOMER\n"

LAYOUTS = {
    "bare": ROWS,
    "count": "3\n" + ROWS,
    "title": "AJLASDF!! n20w60.001    63.75 410\n\n" + ROWS,
    "title and count": "!! small\n3\n" + ROWS,
    "heads": "!! n20w20.001    16.75 391\n\n\n" + HEADS + "\n" + ROWS + CLOSING,
    "vehicles": VEHICLES + HEADS + "\n" + ROWS.replace("    1 ", "    0 "),
}


@st.composite
def scattered(draw):
    """The fields of a TSPTW but travel; built in the test, as shape checks draw at random."""
    nodes = draw(st.integers(2, 9))
    points = draw(arrays(float, (nodes, 2), elements=st.floats(-1e4, 1e4)))
    opens = draw(arrays(float, nodes, elements=st.floats(-1e4, 1e4)))
    spans = st.one_of(st.integers(0, 99).map(float), st.floats(0, 1e4))
    ids = st.one_of(st.integers(0, 2000).map(str), st.text(max_size=3))
    names = draw(st.none() | st.lists(ids, min_size=nodes, max_size=nodes, unique=True))
    return {
        "opens": opens,
        "closes": opens + draw(arrays(float, nodes, elements=spans)),
        "service": draw(arrays(float, nodes, elements=spans)),
        "coordinates": points,
        "names": None if names is None else tuple(names),
    }


def read(text, distances=None):
    return solomon.parse(text, "file", distances)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_is_recognised_and_read_alike(layout):
    text = LAYOUTS[layout]
    assert solomon.recognises(text)
    instance = read(text)
    assert instance.coordinates.tolist() == [[0, 0], [3, 4], [6, 9]]
    assert instance.opens.tolist() == [0, 62, 181]
    assert instance.closes.tolist() == [391, 80, 205]
    assert instance.service.tolist() == [0, 10, 2.5]
    assert instance.names == ("0" if layout == "vehicles" else "1", "17", "3")


def test_travel_is_euclidean_unless_another_rule_is_asked_for():
    assert read(ROWS).travel[0, 2] == np.hypot(6, 9)
    assert read(ROWS, "floor").travel[0, 2] == 10
    assert read(ROWS, "nearest").travel[0, 2] == 11


def test_only_a_row_of_zeros_called_999_ends_the_file():
    stop = CLOSING.replace("0.00", "1.00")
    assert read(ROWS + stop).names == ("1", "17", "3", "999")
    assert read(CLOSING + ROWS).names == ("999", "1", "17", "3")


@given(scattered())
def test_reading_what_was_written_gives_the_same_numbers(fields):
    instance = TSPTW(euclidean(fields["coordinates"]), **fields)
    text = solomon.render(instance)
    assert solomon.recognises(text)
    back = read(text)
    for name in ("travel", "opens", "closes", "service", "coordinates"):
        assert np.array_equal(getattr(back, name), getattr(instance, name))


@given(scattered())
def test_names_survive_where_all_are_whole_numbers(fields):
    instance = TSPTW(euclidean(fields["coordinates"]), **fields)
    back = read(solomon.render(instance))
    names = instance.names or ()
    plain = names and all(n.isascii() and n.isdigit() and n == str(int(n)) for n in names)
    counted = tuple(str(at + 1) for at in range(instance.nodes))
    assert back.names == (names if plain else counted)


def test_a_stop_of_zeros_called_999_is_not_lost():
    zeros = np.zeros(2)
    instance = TSPTW(
        np.zeros((2, 2)), zeros, zeros, coordinates=np.zeros((2, 2)), names=("1", "999")
    )
    assert read(solomon.render(instance)).names == ("1", "999")


@pytest.mark.parametrize("points", [None, np.array([[0.0, 0], [2, 0]])])
def test_travel_that_is_not_euclidean_does_not_fit(points):
    instance = TSPTW(np.ones((2, 2)), np.zeros(2), np.ones(2), coordinates=points)
    with pytest.raises(Unreadable, match="write json or tsplib"):
        solomon.render(instance)


def test_draft_limits_do_not_fit():
    instance = TSPDL(np.ones((2, 2)), np.array([0.0, 1]), np.ones(2))
    with pytest.raises(Unreadable, match="write a TSPDL as json, rakke or tsplib"):
        solomon.render(instance)


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        ("", None, "there are no rows"),
        (HEADS, None, "there are no rows"),
        ("4\n" + ROWS, 1, "as many rows as this says, found 3"),
        ("1000000000\n" + ROWS, 1, "found 3"),
        ("2.5\n" + ROWS, 1, "a whole number, found '2.5'"),
        (ROWS.replace("12.00", ""), 2, "(id x y demand ready due service), found 6"),
        (ROWS.replace("12.00", "1 2"), 2, "found 8"),
        (HEADS + ROWS.replace("12.00", ""), 3, "found 6"),
        (ROWS.replace("9.00", "x"), 3, "the y, a finite number, found 'x'"),
        (ROWS.replace("9.00", "nan"), 3, "the y, a finite number, found 'nan'"),
        (ROWS.replace("205.00", "inf"), 3, "the due, a finite number, found 'inf'"),
        (ROWS.replace("205.00", "2_05"), 3, "found '2_05'"),
        (ROWS.replace("17", "1.5"), 2, "an id, a whole number, found '1.5'"),
        (ROWS + CLOSING + ROWS, 5, "expected nothing after the row 999"),
        (ROWS + HEADS + ROWS, 1, "expected the column heads before the first row"),
        ("a title\n" + "another title\n" + ROWS, 2, "expected 7 columns"),
    ],
)
def test_a_mistake_is_told_with_its_line(text, line, sentence):
    with pytest.raises(Unreadable) as refused:
        read(text)
    assert refused.value.line == line
    assert sentence in refused.value.message


@pytest.mark.parametrize(
    ("edit", "line", "sentence"),
    [
        (("3.00", "1e300"), 2, "coordinates[1, 0] is 1e+300"),
        (("3.00      4.00", "1e15      1e15"), 1, "travel[0, 1] is 1.41421e+15"),
        (("62.00", "99.00"), 2, "the window of node 1 closes at 80 before it opens at 99"),
        (("391.00", "1e16"), 1, "closes[0] is 1e+16"),
        (("181.00", "-1e16"), 3, "opens[2] is -1e+16"),
        (("10.00", "-1.00"), 2, "service[1] is -1; expected zero or more"),
        (("   17 ", "    1 "), 2, "the name '1' is given to more than one node"),
        (("   17 ", "    3 "), 3, "the name '3' is given to more than one node"),
    ],
)
@pytest.mark.parametrize("before", ["", "!! title\n\n# why\n" + HEADS + "\n"])
def test_a_number_that_no_instance_takes_is_told_with_its_line(before, edit, line, sentence):
    with pytest.raises(Unreadable) as refused:
        read(before + ROWS.replace(*edit) + CLOSING)
    assert refused.value.line == line + before.count("\n")
    assert sentence in refused.value.message


def test_a_depot_alone_is_refused_at_its_row():
    with pytest.raises(Unreadable, match="at least two nodes") as refused:
        read(HEADS + ROWS.splitlines()[0] + "\n" + CLOSING)
    assert refused.value.line == 2


def test_more_points_than_a_matrix_can_hold_are_refused():
    with pytest.raises(Unreadable, match="more than 5000 nodes"):
        read("".join(f"{at} 0 0 0 0 9 0\n" for at in range(6000)))


@given(st.integers(0, len(LAYOUTS["heads"]) - 1), st.sampled_from(list(LAYOUTS)))
def test_a_file_cut_short_never_raises_anything_else(end, layout):
    text = LAYOUTS[layout][:end]
    solomon.recognises(text)
    with suppress(Unreadable):
        assert read(text).nodes <= 3


@given(st.text(alphabet="0129.-e!# \nCUSTXOR", max_size=80))
def test_any_text_is_read_or_refused(text):
    solomon.recognises(text)
    with suppress(Unreadable):
        assert read(text).nodes >= 2


def test_seven_rows_after_a_count_are_coordinates():
    text = "7\n" + "".join(f"{at} 5 6 1 0 90 3\n" for at in range(1, 8))
    assert solomon.recognises(text)
    assert read(text).nodes == 7


@pytest.mark.parametrize("text", ["", "3\n0 1 2\n", "x", "CUSTOMER\n", "7\n", "\n \n", "2\n0 1\n"])
def test_other_texts_are_not_recognised(text):
    assert not solomon.recognises(text)
    assert matrix.recognises(text) == text[:1].isdigit()
