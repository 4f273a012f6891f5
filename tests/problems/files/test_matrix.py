from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fairway.judge import verify
from fairway.problems.files import matrix, solomon
from fairway.problems.files.text import Unreadable
from fairway.problems.instance import TSPDL, TSPTW

THREE = """3
0 4 7
5 0 2
6.5 3 0
0 100
10 20
0 30
# Sum of service times: 0
"""

sizes = st.floats(0, 1e6, allow_subnormal=False)


@st.composite
def windowed(draw, service=sizes):
    """The fields of a TSPTW; built in the test, as shape checks draw at random."""
    nodes = draw(st.integers(2, 9))
    opens = draw(arrays(float, nodes, elements=st.floats(-1e6, 1e6)))
    return {
        "travel": draw(arrays(float, (nodes, nodes), elements=sizes)),
        "opens": opens,
        "closes": opens + draw(arrays(float, nodes, elements=sizes)),
        "service": draw(arrays(float, nodes, elements=service)),
        "names": tuple(f"stop {at}" for at in range(nodes)) if draw(st.booleans()) else None,
    }


def read(text):
    return matrix.parse(text, "file", None)


def test_reads_travel_windows_and_no_service():
    instance = read(THREE)
    assert instance.travel.tolist() == [[0, 4, 7], [5, 0, 2], [6.5, 3, 0]]
    assert instance.opens.tolist() == [0, 10, 0]
    assert instance.closes.tolist() == [100, 20, 30]
    assert not instance.service.any()
    assert instance.name == "file"


def test_the_matrix_may_be_spread_freely_over_lines():
    spread = THREE.replace("0 4 7\n5 0 2\n6.5 3 0", "0 4\n\n7 5 0 2 # half way\n6.5 3 0")
    assert np.array_equal(read(spread).travel, read(THREE).travel)


def test_comments_and_blank_lines_are_passed_over():
    assert read("# title\n\n" + THREE.replace("\n", " # why\n")).nodes == 3


@given(windowed(service=st.just(0.0)))
def test_reading_what_was_written_gives_the_same_numbers(fields):
    instance = TSPTW(**fields)
    back = read(matrix.render(instance))
    for name in ("travel", "opens", "closes", "service"):
        assert np.array_equal(getattr(back, name), getattr(instance, name))


@given(windowed())
def test_service_is_folded_into_the_travel_out_of_a_node(fields):
    instance = TSPTW(**fields)
    back = read(matrix.render(instance))
    folded = instance.travel + instance.service[:, None]
    np.fill_diagonal(folded, 0)
    assert np.array_equal(back.travel, folded)
    assert not back.service.any()


def test_folding_service_keeps_every_start_of_service():
    travel = np.array([[0, 4, 7], [5, 0, 2], [6, 3, 0]], float)
    instance = TSPTW(travel, np.array([0.0, 9, 0]), np.full(3, 99.0), np.array([1.0, 2, 3]))
    plain = verify(instance, [1, 2])
    folded = verify(read(matrix.render(instance)), [1, 2])
    assert folded.schedule.start.tolist() == plain.schedule.start.tolist()
    assert folded.makespan == plain.makespan
    assert folded.cost == plain.cost + 6


def test_draft_limits_do_not_fit():
    instance = TSPDL(np.ones((2, 2)), np.array([0.0, 1]), np.ones(2))
    with pytest.raises(Unreadable, match="write a TSPDL as json, rakke or tsplib"):
        matrix.render(instance)


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        ("", None, "there are no numbers"),
        ("# nothing\n", None, "there are no numbers"),
        ("3 4\n", 1, "on a line of its own"),
        ("three\n", 1, "the number of nodes, a finite number, found 'three'"),
        ("2.5\n", 1, "a whole number, found '2.5'"),
        ("1_000\n", 1, "found '1_000'"),
        ("1\n0\n0 9\n", 1, "expected 2 to 5000 nodes"),
        ("-3\n", 1, "expected 2 to 5000 nodes"),
        ("3\n", 1, "3 x 3 numbers"),
        ("1000000000\n0 1\n", 1, "expected 2 to 5000 nodes"),
        ("1e300\n0 1\n", 1, "expected 2 to 5000 nodes"),
        (THREE.replace("5 0 2", "5 0"), 3, "expected a row of 3 numbers, found 2"),
        (THREE.replace("5 0 2", "5 0 2 1"), 3, "expected a row of 3 numbers, found 4"),
        (THREE.replace("5 0 2", "5 0 x"), 3, "an entry of the matrix, a finite number, found 'x'"),
        (THREE.replace("5 0 2", "5 0 nan"), 3, "found 'nan'"),
        (THREE.replace("5 0 2", "5 0 1e999"), 3, "found '1e999'"),
        (THREE.replace("5 0 2", "5 0 1_0"), 3, "found '1_0'"),
        (THREE.replace("10 20", "10 inf"), 6, "latest time of a window, a finite number, found"),
        (THREE.replace("10 20", "10"), 6, "earliest and latest, found 1"),
        (THREE.replace("10 20\n", ""), 6, "expected 3 windows after the matrix, found 2"),
        (THREE + "40 50\n", 9, "expected the end of the file"),
        (THREE + "junk\n", 9, "expected the end of the file"),
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
        (("6.5", "-6.5"), 4, "travel[2, 0] is -6.5; expected zero or more"),
        (("5 0 2", "5 0 -2"), 3, "travel[1, 2] is -2"),
        (("0 4 7\n5 0 2", "0 4\n\n7 5 # half way\n0 -2"), 5, "travel[1, 2] is -2"),
        (("0 4 7\n5 0 2\n6.5 3 0", "0 4 7 5 0 2 6.5\n3 -1"), 3, "travel[2, 2] is -1"),
        (("0 4 7", "0 4 1e16"), 2, "travel[0, 2] is 1e+16; expected at most 1e+15"),
        (("10 20", "20 10"), 6, "the window of node 1 closes at 10 before it opens at 20"),
        (("10 20", "\n# why\n-1e16 20"), 8, "opens[1] is -1e+16"),
        (("0 30", "0 1e16"), 7, "closes[2] is 1e+16"),
    ],
)
def test_a_number_that_no_instance_takes_is_told_with_its_line(edit, line, sentence):
    with pytest.raises(Unreadable) as refused:
        read(THREE.replace(*edit))
    assert refused.value.line == line
    assert sentence in refused.value.message


@given(st.integers(0, len(THREE) - 1))
def test_a_file_cut_short_never_raises_anything_else(end):
    try:
        read(THREE[:end])
    except Unreadable:
        return
    assert THREE[:end].rstrip().endswith(("0 3", "0 30", "#", "0")) or "#" in THREE[:end]


@given(st.text(alphabet="0123456789.-e# \n_n", max_size=60))
def test_any_text_is_read_or_refused(text):
    matrix.recognises(text)
    with suppress(Unreadable):
        assert read(text).nodes >= 2


@pytest.mark.parametrize("nodes", [2, 5, 7, 49])
def test_a_matrix_is_recognised_and_not_taken_for_coordinates(nodes):
    rng = np.random.default_rng(nodes)
    travel = rng.integers(1, 50, (nodes, nodes)).astype(float)
    text = matrix.render(TSPTW(travel, np.zeros(nodes), np.full(nodes, 99.0)))
    assert matrix.recognises(text)
    assert not solomon.recognises(text)


def test_a_seven_by_seven_matrix_without_its_windows_is_still_a_matrix():
    text = matrix.render(TSPTW(np.ones((7, 7)), np.zeros(7), np.ones(7)))
    cut = "\n".join(text.splitlines()[:8])
    assert not solomon.recognises(cut)
    with pytest.raises(Unreadable, match="expected 7 windows after the matrix, found 0"):
        read(cut)


@pytest.mark.parametrize("text", ["", "#", "x", "3 4", "NAME : x", "\n\n"])
def test_other_texts_are_not_recognised(text):
    assert not matrix.recognises(text)
