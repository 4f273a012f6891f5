from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fairway.problems.distances import travel_matrix
from fairway.problems.files import tsplib
from fairway.problems.files.text import Unreadable
from fairway.problems.instance import TSPDL, TSPTW

WINDOWS = """NAME : small
COMMENT : two stops
TYPE : TSPTW
DIMENSION : 3
EDGE_WEIGHT_TYPE : EUC_2D
NODE_COORD_SECTION
1 0 0
2 3 4
3 6 9
TIME_WINDOW_SECTION
1 0 100
2 10 20
3 0 30.5
DEPOT_SECTION
1
-1
EOF
"""
DRAFTS = """NAME: ports
TYPE: TSPDL
DIMENSION: 3
EDGE_WEIGHT_TYPE: EXPLICIT
EDGE_WEIGHT_FORMAT: FULL_MATRIX
EDGE_WEIGHT_SECTION
0 4 7
5 0 2
6 3 0
DEMAND_SECTION
1 0
2 1
3 2
DRAFT_LIMIT_SECTION
1 3
2 3
3 2
DEPOT_SECTION
1
-1
EOF
"""
SYMMETRIC = [[0, 1, 2, 3], [1, 0, 4, 5], [2, 4, 0, 6], [3, 5, 6, 0]]
LISTED = {
    "FULL_MATRIX": "0 1 2 3 1 0 4 5 2 4 0 6 3 5 6 0",
    "UPPER_ROW": "1 2 3 4 5 6",
    "LOWER_ROW": "1 2 4 3 5 6",
    "UPPER_DIAG_ROW": "0 1 2 3 0 4 5 0 6 0",
    "LOWER_DIAG_ROW": "0 1 0 2 4 0 3 5 6 0",
    "UPPER_COL": "1 2 4 3 5 6",
    "LOWER_COL": "1 2 3 4 5 6",
    "UPPER_DIAG_COL": "0 1 0 2 4 0 3 5 6 0",
    "LOWER_DIAG_COL": "0 1 2 3 0 4 5 0 6 0",
}

amounts = st.one_of(st.integers(0, 99).map(float), st.floats(0, 1e9))


@st.composite
def placed(draw, nodes):
    """Some of the fields; instances are built in the test, as shape checks draw at random."""
    points = draw(st.none() | arrays(float, (nodes, 2), elements=st.floats(-1e4, 1e4)))
    travel = draw(arrays(float, (nodes, nodes), elements=amounts))
    np.fill_diagonal(travel, 0)
    kind = draw(st.sampled_from(["symmetric", "asymmetric", "rounded"]))
    if kind == "rounded" and points is not None:
        apart = points[:, None] - points[None]
        travel = np.floor(np.sqrt(np.square(apart).sum(-1)) + 0.5)
    return {
        "travel": np.maximum(travel, travel.T) if kind == "symmetric" else travel,
        "coordinates": points,
    }


@st.composite
def windowed(draw):
    nodes = draw(st.integers(2, 8))
    opens = draw(arrays(float, nodes, elements=st.floats(-1e9, 1e9)))
    closes = opens + draw(arrays(float, nodes, elements=amounts))
    service = draw(st.just(np.zeros(nodes)) | arrays(float, nodes, elements=amounts))
    return draw(placed(nodes)) | {"opens": opens, "closes": closes, "service": service}


@st.composite
def drafted(draw):
    nodes = draw(st.integers(2, 8))
    demand = draw(arrays(float, nodes, elements=amounts))
    demand[0] = 0
    draft = draw(arrays(float, nodes, elements=amounts))
    load = draw(st.sampled_from(["growing", "shrinking"]))
    return draw(placed(nodes)) | {"demand": demand, "draft": draft, "load": load}


def read(text, distances=None):
    return tsplib.parse(text, "file", distances)


def windows_with(weights):
    """A file of four nodes with the given lines on weights."""
    rows = "\n".join(f"{node} 0 99" for node in range(1, 5))
    return f"TYPE : TSPTW\nDIMENSION : 4\n{weights}\nTIME_WINDOW_SECTION\n{rows}\nEOF\n"


def test_reads_time_windows_with_distances_rounded_to_nearest():
    instance = read(WINDOWS)
    assert instance.timed
    assert instance.travel.tolist() == [[0, 5, 11], [5, 0, 6], [11, 6, 0]]
    assert instance.opens.tolist() == [0, 10, 0]
    assert instance.closes.tolist() == [100, 20, 30.5]
    assert instance.coordinates.tolist() == [[0, 0], [3, 4], [6, 9]]
    assert (instance.name, instance.names) == ("small", None)


def test_reads_draft_limits_under_a_load_that_shrinks():
    instance = read(DRAFTS)
    assert instance.laden
    assert instance.load == "shrinking"
    assert instance.travel.tolist() == [[0, 4, 7], [5, 0, 2], [6, 3, 0]]
    assert instance.demand.tolist() == [0, 1, 2]
    assert instance.draft.tolist() == [3, 3, 2]


def test_the_rounding_of_euc_2d_can_be_replaced():
    assert read(WINDOWS, "float").travel[0, 2] == np.hypot(6, 9)
    assert read(WINDOWS, "floor").travel[0, 2] == 10


@pytest.mark.parametrize(("kind", "distance"), [("CEIL_2D", 11), ("FLOOR_2D", 10)])
@pytest.mark.parametrize("distances", [None, "float"])
def test_other_roundings_stay_as_they_are(kind, distance, distances):
    assert read(WINDOWS.replace("EUC_2D", kind), distances).travel[0, 2] == distance


@pytest.mark.parametrize("shape", LISTED)
def test_every_order_of_weights_gives_the_same_matrix(shape):
    head = f"EDGE_WEIGHT_TYPE : EXPLICIT\nEDGE_WEIGHT_FORMAT : {shape}\nEDGE_WEIGHT_SECTION\n"
    assert read(windows_with(head + LISTED[shape])).travel.tolist() == SYMMETRIC
    broken = LISTED[shape].replace(" ", "\n", 3)
    assert read(windows_with(head + broken)).travel.tolist() == SYMMETRIC


@pytest.mark.parametrize("shape", LISTED)
@pytest.mark.parametrize("spoil", [lambda listed: listed + " 1", lambda listed: listed[:-2]])
def test_a_wrong_number_of_weights_is_refused(shape, spoil):
    head = f"EDGE_WEIGHT_TYPE : EXPLICIT\nEDGE_WEIGHT_FORMAT : {shape}\nEDGE_WEIGHT_SECTION\n"
    with pytest.raises(Unreadable, match=rf"{shape} for 4 nodes") as refused:
        read(windows_with(head + spoil(LISTED[shape])))
    assert refused.value.line == 5


def test_one_service_time_holds_for_customers_only():
    text = WINDOWS.replace("DIMENSION", "SERVICE_TIME : 2.5\nDIMENSION")
    assert read(text).service.tolist() == [0, 2.5, 2.5]


def test_a_section_gives_each_node_its_service_time():
    text = WINDOWS.replace("DEPOT", "SERVICE_TIME_SECTION\n1 0\n3 7\n2 5\n-1\nDEPOT")
    assert read(text).service.tolist() == [0, 5, 7]


def test_the_depot_comes_first_and_the_ids_stay_as_names():
    instance = read(
        DRAFTS.replace("DEPOT_SECTION\n1", "DEPOT_SECTION\n2").replace("1 0\n2 1", "1 1\n2 0")
    )
    assert instance.names == ("2", "1", "3")
    assert instance.travel.tolist() == [[0, 5, 2], [4, 0, 7], [3, 6, 0]]
    assert instance.demand.tolist() == [0, 1, 2]
    assert instance.draft.tolist() == [3, 3, 2]


def test_coordinates_move_with_the_depot():
    instance = read(WINDOWS.replace("DEPOT_SECTION\n1", "DEPOT_SECTION\n3"))
    assert instance.names == ("3", "1", "2")
    assert instance.coordinates.tolist() == [[6, 9], [0, 0], [3, 4]]
    assert instance.closes.tolist() == [30.5, 100, 20]


def test_rows_go_by_their_ids_and_not_by_their_order():
    shuffled = WINDOWS.replace("1 0 0\n2 3 4\n3 6 9", "3 6 9\n1 0 0\n2 3 4")
    assert np.array_equal(read(shuffled).travel, read(WINDOWS).travel)
    assert read(shuffled).names is None


def test_ids_that_do_not_count_the_nodes_become_names():
    text = WINDOWS.replace("\n1 0 ", "\n10 0 ").replace("DEPOT_SECTION\n1", "DEPOT_SECTION\n10")
    assert read(text).names == ("10", "2", "3")


def test_display_data_are_coordinates_of_an_explicit_matrix():
    text = DRAFTS.replace("DEMAND", "DISPLAY_DATA_SECTION\n1 0.5 1\n2 2 3\n3 4 5\nDEMAND")
    assert read(text).coordinates.tolist() == [[0.5, 1], [2, 3], [4, 5]]


@pytest.mark.parametrize(
    "edit",
    [
        (" : ", ":"),
        ("TYPE : TSPTW", "TYPE TSPTW"),
        ("TYPE : TSPTW", "TYPE : ATSP"),
        ("TYPE : TSPTW\n", ""),
        ("TYPE : TSPTW", "TYPE : CVRPTW\nCAPACITY : 200\nVEHICLES : 1\nSALESMEN : 1"),
        ("EUC_2D", "EUC_2D\nNODE_COORD_TYPE : TWOD_COORDS\nDISPLAY_DATA_TYPE : NO_DISPLAY"),
        ("NODE_COORD_SECTION", "node_coord_section :"),
        ("DEPOT_SECTION\n1\n-1\n", ""),
        ("DEPOT", "DEMAND_SECTION\n1 0\n2 7\n3 7\nDEPOT"),
        ("N\n1\n-1", "N\n1 -1"),
        ("30.5\n", "30.5\n-1\n"),
        ("EOF\n", ""),
        ("\n", "\r\n"),
    ],
)
def test_dialects_read_alike(edit):
    other = read(WINDOWS.replace(*edit))
    assert np.array_equal(other.travel, read(WINDOWS).travel)
    assert np.array_equal(other.closes, read(WINDOWS).closes)


@given(windowed())
def test_reading_written_time_windows_gives_the_same_instance(fields):
    instance = TSPTW(**fields)
    back = read(tsplib.render(instance))
    for name in ("travel", "opens", "closes", "service", "coordinates"):
        assert np.array_equal(getattr(back, name), getattr(instance, name))


@given(drafted())
def test_reading_written_draft_limits_gives_the_same_instance(fields):
    instance = TSPDL(**fields)
    back = read(tsplib.render(instance))
    assert back.load == instance.load
    for name in ("travel", "demand", "draft", "coordinates"):
        assert np.array_equal(getattr(back, name), getattr(instance, name))


def test_a_growing_load_is_written_as_lkh_reads_the_same_problem():
    text = tsplib.render(read(DRAFTS).reversed())
    as_lkh = "\n".join(line for line in text.splitlines() if not line.startswith("COMMENT"))
    assert read(as_lkh).load == "shrinking"
    assert np.array_equal(read(as_lkh).travel, read(DRAFTS).travel)


def test_coordinates_are_written_alone_where_they_give_the_travel_back():
    points = np.array([[0.0, 0], [3, 4.4], [6, 9]])
    rounded = TSPTW(travel_matrix(points, "nearest"), np.zeros(3), np.ones(3), coordinates=points)
    exact = TSPTW(travel_matrix(points), np.zeros(3), np.ones(3), coordinates=points)
    assert "EDGE_WEIGHT_TYPE : EUC_2D" in tsplib.render(rounded)
    assert "EDGE_WEIGHT_TYPE : EXPLICIT" in tsplib.render(exact)


@given(st.text())
def test_no_name_spoils_the_file(name):
    instance = TSPTW(np.ones((2, 2)), np.zeros(2), np.ones(2), name=name)
    text = tsplib.render(instance)
    text.encode()
    assert "\0" not in text
    assert read(text).nodes == 2


def test_stop_names_are_dropped():
    instance = TSPTW(np.ones((2, 2)), np.zeros(2), np.ones(2), names=("harbour", "island"))
    assert read(tsplib.render(instance)).names is None


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        ("", None, "expected TIME_WINDOW_SECTION or DRAFT_LIMIT_SECTION"),
        (WINDOWS[: WINDOWS.index("TIME")], None, "a TSPTW without windows or drafts"),
        (WINDOWS.replace("TYPE : TSPTW", "TYPE : SOP"), 3, "expected TYPE to be one of"),
        (WINDOWS.replace("TYPE : TSPTW", "TYPE : TSPDL"), 3, "expected a DRAFT_LIMIT_SECTION"),
        (WINDOWS.replace("DEPOT", "DRAFT_LIMIT_SECTION\nDEPOT"), None, "found both"),
        (WINDOWS.replace("DIMENSION : 3\n", ""), None, "expected DIMENSION"),
        (WINDOWS.replace(": 3", ": 1"), 4, "expected 2 to 5000 nodes"),
        (WINDOWS.replace(": 3", ": 3.5"), 4, "a whole number, found '3.5'"),
        (WINDOWS.replace(": 3", ": 4"), 6, "expected 4 rows in NODE_COORD_SECTION"),
        (WINDOWS.replace(": 3", ": 1000000000"), 4, "expected 2 to 5000 nodes"),
        (DRAFTS.replace(": 3", ": 1000000000"), 3, "expected 2 to 5000 nodes"),
        (DRAFTS.replace(": 3", ": 1e300"), 3, "expected 2 to 5000 nodes"),
        (WINDOWS.replace("EUC_2D", "MAN_2D"), 5, "one of EUC_2D, CEIL_2D"),
        (WINDOWS.replace("EDGE_WEIGHT_TYPE : EUC_2D\n", ""), None, "found nothing"),
        (DRAFTS.replace("FULL_MATRIX", "UPPER"), 5, "expected EDGE_WEIGHT_FORMAT to be one of"),
        (DRAFTS.replace("EDGE_WEIGHT_SECTION\n0 4 7\n5 0 2\n6 3 0\n", ""), None, "found none"),
        (DRAFTS.replace("DEMAND_SECTION\n1 0\n2 1\n3 2\n", ""), None, "expected a DEMAND_SECTION"),
        (DRAFTS.replace("5 0 2", "5 0 x"), 8, "a weight, a finite number, found 'x'"),
        (DRAFTS.replace("5 0 2", "5 0 1e999"), 8, "found '1e999'"),
        (DRAFTS.replace("5 0 2", "5 0 1_0"), 8, "found '1_0'"),
        (DRAFTS.replace("5 0 2", "nan 0 2"), 8, "a keyword Fairway knows, found 'NAN'"),
        (WINDOWS.replace("2 3 4", "2 3"), 8, "an id and 2 numbers in NODE_COORD_SECTION"),
        (WINDOWS.replace("2 3 4", "2 3 4 5"), 8, "an id and 2 numbers in NODE_COORD_SECTION"),
        (WINDOWS.replace("2 3 4", "1 3 4"), 8, "each node once in NODE_COORD_SECTION"),
        (WINDOWS.replace("2 3 4", "2.5 3 4"), 8, "a whole number, found '2.5'"),
        (WINDOWS.replace("2 10 20", "2 10 inf"), 12, "found 'inf'"),
        (WINDOWS.replace("2 10 20", "9 10 20"), 12, "in TIME_WINDOW_SECTION, found '9'"),
        (WINDOWS.replace("2 10 20\n", ""), 10, "expected 3 rows in TIME_WINDOW_SECTION"),
        (WINDOWS.replace("N\n1\n-1", "N\n1"), 14, "expected one depot and then -1"),
        (WINDOWS.replace("N\n1\n-1", "N\n1\n2\n-1"), 14, "expected one depot and then -1"),
        (WINDOWS.replace("N\n1\n-1", "N\n9\n-1"), 15, "expected the depot to be a node, found '9'"),
        (WINDOWS.replace("NODE_COORD_SECTION", "NODE_COORD_SECTION 1 2 3"), 6, "on lines below"),
        (WINDOWS.replace("NAME", "SCALE : 100\nNAME"), 1, "found 'SCALE'"),
        (WINDOWS.replace("NAME", "DIMENSION : 3\nNAME"), 5, "expected DIMENSION once"),
        (WINDOWS.replace("NAME", "1 2 3\nNAME"), 1, "expected a keyword, found '1 2 3'"),
        (WINDOWS + "1 2 3", 18, "expected nothing after EOF"),
        (
            WINDOWS.replace("DIM", "SERVICE_TIME : 1\nDIM").replace(
                "DEPOT", "SERVICE_TIME_SECTION\nDEPOT"
            ),
            4,
            "found both",
        ),
    ],
)
def test_a_mistake_is_told_with_its_line(text, line, sentence):
    with pytest.raises(Unreadable) as refused:
        read(text)
    assert refused.value.line == line
    assert sentence in refused.value.message


@pytest.mark.parametrize(
    ("text", "edit", "line", "sentence"),
    [
        (WINDOWS, ("2 3 4", "2 1e300 4"), 8, "coordinates[1, 0] is 1e+300"),
        (WINDOWS.replace("EUC_2D", "CEIL_2D"), ("2 3 4", "2 1e300 4"), 8, "coordinates[1, 0]"),
        (WINDOWS.replace("EUC_2D", "GEO"), ("2 3 4", "2 1e300 4"), 8, "coordinates[1, 0]"),
        (WINDOWS, ("3 6 9", "3 1e15 1e15"), 7, "travel[0, 2] is 1.41421e+15"),
        (WINDOWS, ("2 10 20", "2 20 10"), 12, "the window of node 1 closes at 10"),
        (WINDOWS, ("2 10 20", "2 -1e16 20"), 12, "opens[1] is -1e+16"),
        (WINDOWS, ("DIMENSION", "SERVICE_TIME : -1\nDIMENSION"), 4, "service[1] is -1"),
        (
            WINDOWS,
            ("DEPOT", "SERVICE_TIME_SECTION\n3 -1\n2 0\n1 0\nDEPOT"),
            15,
            "service[2] is -1",
        ),
        (DRAFTS, ("5 0 2", "-5 0 2"), 8, "travel[1, 0] is -5"),
        (DRAFTS, ("0 4 7\n5 0 2", "0 4\n7 5 0\n1e16"), 9, "travel[1, 2] is 1e+16"),
        (DRAFTS, ("2 1\n", "2 -1\n"), 12, "demand[1] is -1"),
        (DRAFTS, ("1 0\n", "1 1\n"), 11, "the depot has a demand of 1"),
        (DRAFTS, ("3 2\nDEPOT", "3 -2\nDEPOT"), 17, "draft[2] is -2"),
        (
            DRAFTS,
            ("DEPOT", "DISPLAY_DATA_SECTION\n1 0 0\n3 0 1e16\n2 0 0\nDEPOT"),
            20,
            "coordinates[2, 1] is 1e+16",
        ),
    ],
)
def test_a_number_that_no_instance_takes_is_told_with_its_line(text, edit, line, sentence):
    with pytest.raises(Unreadable) as refused:
        read(text.replace(*edit))
    assert refused.value.line == line
    assert sentence in refused.value.message


@pytest.mark.parametrize(
    ("text", "edit", "line", "sentence"),
    [
        (WINDOWS, ("1 0 100", "1 200 100"), 11, "the window of node 1 closes at 100"),
        (WINDOWS, ("2 10 20", "2 20 10"), 12, "the window of node 2 closes at 10"),
        (WINDOWS, ("3 0 30.5", "3 40 30.5"), 13, "the window of node 0 closes at 30.5"),
        (WINDOWS, ("1 0 0", "1 1e15 1e15"), 9, "travel[0, 1] is 1.41421e+15"),
        (DRAFTS, ("5 0 2", "5 0 -2"), 8, "travel[2, 0] is -2"),
        (DRAFTS, ("0 4 7", "0 4 -7"), 7, "travel[1, 0] is -7"),
        (DRAFTS, ("3 2\nDRAFT", "3 5\nDRAFT"), 13, "the depot has a demand of 5"),
    ],
)
def test_a_depot_that_is_not_the_first_row_moves_no_line(text, edit, line, sentence):
    moved = text.replace("DEPOT_SECTION\n1", "DEPOT_SECTION\n3")
    with pytest.raises(Unreadable) as refused:
        read(moved.replace(*edit))
    assert refused.value.line == line
    assert sentence in refused.value.message


@pytest.mark.parametrize("shape", LISTED)
@pytest.mark.parametrize("depot", [1, 3])
def test_a_weight_that_no_instance_takes_is_told_with_its_line_in_every_order(shape, depot):
    listed = LISTED[shape].replace("5", "-5", 1).replace(" ", "\n")
    weights = (
        f"EDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: {shape}\nEDGE_WEIGHT_SECTION\n{listed}"
    )
    text = windows_with(weights).replace("EOF", f"DEPOT_SECTION\n{depot}\n-1\nEOF")
    with pytest.raises(Unreadable, match="is -5") as refused:
        read(text)
    assert refused.value.line == text.splitlines().index("-5") + 1


def test_ids_that_do_not_count_are_found_by_their_row():
    text = WINDOWS.replace("\n2 ", "\n20 ").replace("20 10 20", "20.0 20 10")
    with pytest.raises(Unreadable, match="the window of node 1 closes") as refused:
        read(text)
    assert refused.value.line == 12


def test_weights_that_are_not_used_are_not_blamed():
    text = WINDOWS.replace("TIME", "EDGE_WEIGHT_SECTION\n0 0 0\nTIME").replace("3 6", "3 1e15")
    with pytest.raises(Unreadable, match=r"travel\[0, 2\]") as refused:
        read(text.replace("1e15 9", "1e15 1e15"))
    assert refused.value.line == 7


def test_more_points_than_a_matrix_can_hold_are_refused():
    rows = "".join(f"{node} 0 0\n" for node in range(1, 6001))
    text = (
        f"DIMENSION : 6000\nEDGE_WEIGHT_TYPE : GEO\nNODE_COORD_SECTION\n{rows}TIME_WINDOW_SECTION\n"
    )
    with pytest.raises(Unreadable, match="expected 2 to 5000 nodes"):
        read(text)


@given(st.sampled_from([WINDOWS, DRAFTS]), st.data())
def test_a_file_cut_short_never_raises_anything_else(text, data):
    cut = text[: data.draw(st.integers(0, len(text) - 1))]
    tsplib.recognises(cut)
    with suppress(Unreadable):
        assert read(cut).nodes == 3


@given(st.lists(st.sampled_from([*WINDOWS.splitlines(), *DRAFTS.splitlines(), "x", ":", "-1"])))
def test_any_order_of_lines_is_read_or_refused(said):
    text = "\n".join(said)
    tsplib.recognises(text)
    with suppress(Unreadable):
        assert read(text).nodes == 3


@pytest.mark.parametrize("text", [WINDOWS, DRAFTS, "\n type : TSP", "NODE_COORD_SECTION\n"])
def test_keywords_are_recognised(text):
    assert tsplib.recognises(text)


@pytest.mark.parametrize(
    "text", ["", "name,x,y\n", "name\tx\n", "name x y", "N: 3", "NAMES: 3", "3"]
)
def test_other_texts_are_not_recognised(text):
    assert not tsplib.recognises(text)


def test_a_name_that_is_too_long_is_refused():
    with pytest.raises(Unreadable, match="name has 1001 characters"):
        read("NAME : " + "x" * 1001 + "\n" + WINDOWS.partition("\n")[2])
