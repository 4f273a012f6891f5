"""The CSV format: a planner's table in any usual dress, and a sentence with a line where it is not one."""

import numpy as np
import pytest

from fairway.problems.distances import euclidean
from fairway.problems.files import table
from fairway.problems.files.text import Unreadable
from fairway.problems.instance import TSPDL, TSPTW, Instance

WINDOWS = "id,x,y,open,close,service\nDepot,0,0,0,100,0\nA,3,4,10,20,5\nB,6,8,0.5,30,5\n"
DRAFTS = "id,x,y,demand,draft\n0,0,0,0,9\n1,3,4,2,5\n2,6,8,3,4\n"
ZEROS, NINES = np.zeros(3), np.full(3, 9.0)
POINTS = np.array([[0.0, 0.0], [0.1, 1 / 3], [-7.25, 1e-9]])


def column(*values):
    return np.array(values, dtype=float)


def parsed(text, distances=None):
    return table.parse(text, "stem", distances)


def test_a_row_is_a_node_and_the_first_is_the_depot():
    instance = parsed(WINDOWS)
    assert instance.timed
    assert instance.names == ("Depot", "A", "B")
    assert instance.travel[0].tolist() == [0, 5, 10]
    assert instance.opens.tolist() == [0, 10, 0.5]
    assert instance.closes.tolist() == [100, 20, 30]
    assert instance.service.tolist() == [0, 5, 5]
    assert instance.name == "stem"


def test_a_demand_and_a_draft_make_a_growing_load():
    instance = parsed(DRAFTS)
    assert instance.laden
    assert instance.load == "growing"
    assert instance.demand.tolist() == [0, 2, 3]
    assert instance.draft.tolist() == [9, 5, 4]


def test_ids_that_only_count_the_rows_are_no_names():
    assert parsed(DRAFTS).names is None
    assert parsed(DRAFTS.replace("\n2,", "\n3,")).names == ("0", "1", "3")


def test_the_distance_rule_is_the_one_asked_for():
    uneven = WINDOWS.replace("3,4", "1,1")
    assert parsed(uneven).travel[0, 1] == np.sqrt(2)
    assert parsed(uneven, "floor").travel[0, 1] == 1


@pytest.mark.parametrize(
    "text",
    [
        WINDOWS.replace(",", ";"),
        WINDOWS.replace(",", "\t"),
        WINDOWS.replace(",", " , "),
        WINDOWS.replace("\n", "\r\n"),
        WINDOWS.replace("\n", "\n\n"),
        "\n" + WINDOWS + ",,,,,\n",
        WINDOWS.replace("id,x,y,open", "ID,X,y,Open"),
        WINDOWS.replace("Depot", '"Depot"').replace("id,x", '"id","x"'),
        "service,close,open,y,x,id\n0,100,0,0,0,Depot\n5,20,10,4,3,A\n5,30,0.5,8,6,B\n",
    ],
)
def test_the_same_table_in_another_dress_is_the_same_instance(text):
    assert table.recognises(text)
    found, expected = parsed(text), parsed(WINDOWS)
    assert found.names == expected.names
    for field in ("travel", "opens", "closes", "service", "coordinates"):
        assert np.array_equal(getattr(found, field), getattr(expected, field)), field


def test_a_quoted_name_may_hold_the_delimiter_and_a_line_break():
    instance = parsed(WINDOWS.replace("A,3", '"A, ""north""\nquay",3'))
    assert instance.names == ("Depot", 'A, "north"\nquay', "B")


def test_service_is_zero_without_its_column():
    instance = parsed("id,x,y,open,close\na,0,0,0,9\nb,1,1,0,9\n")
    assert instance.service.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("text", "said", "line"),
    [
        (
            WINDOWS.replace("service", "sevice"),
            "column 'sevice' is unknown, and looks like 'serv",
            1,
        ),
        (
            WINDOWS.replace("service", "x"),
            "columns 'x' and 'x' both say 'x'; expected one of them",
            1,
        ),
        (WINDOWS.replace("service", "from"), "columns 'open' and 'from' both say 'open'", 1),
        ("id,x,open\na,0,0\n", "column 'y' is missing; expected it beside 'x'", 1),
        ("id,open,close\na,0,0\n", "columns 'lat' and 'lon', or 'x' and 'y', are missing", 1),
        ("id,x,y,lat,lon\na,0,0,0,0\n", "there are both x, y and lat, lon", 1),
        ("x,y,demand,draft\n0,0,0,1\n", "column 'name' or 'id' is missing", 1),
        ("id,x,y,open,close\n", "no rows", 1),
        (WINDOWS.replace("A,3,4", "A,,4"), "column 'x' is blank", 3),
        (WINDOWS.replace("A,3,4", " ,3,4"), "column 'id' is blank", 3),
        (WINDOWS.replace("A,3,4", "A,three,4"), "expected 'x', a finite number, found 'three'", 3),
        (WINDOWS.replace("A,3,4", "A,nan,4"), "expected 'x', a finite number, found 'nan'", 3),
        (WINDOWS.replace("A,3,4", "A,1e999,4"), "expected 'x', a finite number", 3),
        (WINDOWS.replace("A,3,4", "A,3"), "expected 6 cells like the header, found 5", 3),
        (WINDOWS.replace("A,3,4", "A,3,4,5"), "expected 6 cells like the header, found 7", 3),
        (WINDOWS.replace("B,6", "A,6"), "the id 'A' is also on line 3", 4),
        (WINDOWS.replace("A,3", '"A,3'), "is not a table", 4),
        (WINDOWS.replace("A,3", '"A"b,3'), "is not a table", 3),
        (WINDOWS.replace("A,", "A" * 200_000 + ","), "is not a table: field larger", 3),
        (
            WINDOWS.replace("0.5", '"0,5"'),
            "'0,5'; write numbers with a decimal point",
            4,
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text, said, line):
    with pytest.raises(Unreadable, match=said) as caught:
        parsed(text)
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        (WINDOWS.replace("A,3,4", "A,1e16,4"), 3, "coordinates[1, 0] is 1e+16"),
        (WINDOWS.replace("A,3,4", "A,1e15,1e15"), 2, "travel[0, 1] is 1.41421e+15"),
        (WINDOWS.replace("10,20", "20,10"), 3, "the window of node 1 closes at 10"),
        (WINDOWS.replace("0.5,30", "-1e16,30"), 4, "opens[2] is -1e+16"),
        (WINDOWS.replace("30,5", "30,-5"), 4, "service[2] is -5; expected zero or more"),
        (WINDOWS.replace("A,", '"A\n",').replace("30,5", "30,-5"), 5, "service[2] is -5"),
        (WINDOWS[: WINDOWS.index("A,")], 2, "expected at least two nodes"),
        (DRAFTS.replace("0,0,0,0,9", "0,0,0,1,9"), 2, "the depot has a demand of 1"),
        (DRAFTS.replace("2,5", "1e16,5"), 3, "demand[1] is 1e+16"),
        (DRAFTS.replace("3,4\n2", "3,4\n\n2").replace("8,3,4", "8,3,-4"), 4, "draft[2] is -4"),
    ],
)
def test_a_number_that_no_instance_takes_is_told_with_its_line(text, line, sentence):
    with pytest.raises(Unreadable) as refused:
        parsed(text)
    assert refused.value.line == line
    assert sentence in refused.value.message


@pytest.mark.parametrize(
    "instance",
    [
        TSPTW(
            euclidean(POINTS),
            column(0, 0.1, -3),
            column(9, 1 / 3, 4),
            column(0, 2, 1),
            POINTS,
            name="stem",
        ),
        TSPTW(
            euclidean(POINTS),
            ZEROS,
            NINES,
            ZEROS,
            POINTS,
            ("a, b", '"q"', "Ærø"),
            "stem",
        ),
        TSPDL(
            euclidean(POINTS), column(0, 1, 0.7), column(3, 0.1, 2), coordinates=POINTS, name="stem"
        ),
    ],
)
def test_an_instance_comes_back_to_the_last_bit(instance):
    text = table.render(instance)
    assert table.recognises(text)
    found = parsed(text)
    for field in type(instance).__dataclass_fields__:
        assert np.array_equal(getattr(found, field), getattr(instance, field)), field


@pytest.mark.parametrize(
    ("instance", "said"),
    [
        (TSPTW(euclidean(POINTS), ZEROS, NINES, ZEROS), "Euclidean"),
        (TSPTW(np.ones((3, 3)), ZEROS, NINES, ZEROS, coordinates=POINTS), "Euclidean"),
        (
            TSPDL(euclidean(POINTS), column(0, 1, 1), NINES, "shrinking", POINTS),
            "no column for a load that is not growing",
        ),
        (
            TSPTW(euclidean(POINTS), ZEROS, NINES, ZEROS, POINTS, (" a", "b", "c")),
            "' a'",
        ),
        (
            TSPTW(euclidean(POINTS), ZEROS, NINES, ZEROS, POINTS, ("a", "", "c")),
            "''",
        ),
        (
            TSPTW(
                euclidean(POINTS),
                ZEROS,
                NINES,
                ZEROS,
                POINTS,
                ("a\rb", "b", "c"),
            ),
            "name",
        ),
    ],
)
def test_what_a_table_cannot_hold_is_refused_and_sent_to_json(instance, said):
    with pytest.raises(Unreadable, match=said) as caught:
        table.render(instance)
    assert ".json" in caught.value.message


def test_more_columns_than_a_table_has_are_refused_at_once():
    wide = ",".join(f"c{number}" for number in range(100_000))
    with pytest.raises(Unreadable, match="100003 columns; expected at most 1000"):
        table.parse(f"id,x,y,{wide}\na,1,1{',' * 100_000}\n", "wide", None)


@pytest.mark.parametrize(
    "text", ["", "a,b,c\n", "id\n", "3\n0 1 2\n", "x y id\n", '{"id": 1, "x": 2}']
)
def test_other_texts_are_not_recognised(text):
    assert not table.recognises(text)


@pytest.mark.parametrize("name", ["=1+1", "+cmd|' /C calc'!A0", "@SUM(A1)", "-2+3", "=", "- quay"])
def test_a_name_that_a_spreadsheet_would_run_is_not_written(name):
    points = np.array([[0.0, 0.0], [3.0, 4.0]])
    instance = TSPTW(euclidean(points), 0, 9, 0, points, ("d", name))
    with pytest.raises(Unreadable, match="CSV cannot hold the name"):
        table.render(instance)
    assert "-5" in table.render(TSPTW(euclidean(points), 0, 9, 0, points, ("d", "-5")))


def test_times_of_day_are_minutes_since_midnight():
    clock = parsed("id,x,y,open,close\nd,0,0,08:00,18:30\na,3,4,9:15,24:00\n")
    assert clock.opens.tolist() == [480, 555]
    assert clock.closes.tolist() == [1110, 1440]
    with pytest.raises(Unreadable, match="found '8:75'"):
        parsed("id,x,y,open,close\nd,0,0,8:75,18:30\na,3,4,0,9\n")


# All that may be asked of a tour

TOUR = """id,x,y,open,close,windows,late,latest,prize,before,pickup,demand,draft,end
Depot,0,0,0,100,,,,,,,0,,
A,3,4,,,8-10; 14-16,,,,B;C,,1,2,
B,6,8,10,20,,2,30,,,A,0,,
C,0,5,,60,,,,7.5,,,,5,Yes
"""


def test_a_blank_cell_asks_for_nothing():
    tour = parsed(TOUR)
    inf = np.inf
    assert tour.opens.tolist() == [0, 0, 10, 0]
    assert tour.closes.tolist() == [100, inf, 20, 60]
    assert tour.windows == {1: ((8, 10), (14, 16))}
    assert tour.late.tolist() == [inf, inf, 2, inf]
    assert tour.latest.tolist() == [inf, inf, 30, inf]
    assert tour.prize.tolist() == [inf, inf, inf, 7.5]
    assert tour.before == ((1, 2), (1, 3))
    assert tour.pairs == ((1, 2),)
    assert tour.demand.tolist() == [0, 1, 0, 0]
    assert tour.draft.tolist() == [inf, 2, inf, 5]
    assert tour.end == 3


@pytest.mark.parametrize(
    ("cell", "windows"),
    [
        ("8-10", ((8, 10),)),
        ("8 - 10;14-16", ((8, 10), (14, 16))),
        ("-8--2; 1.5e-3-2E1", ((-8, -2), (0.0015, 20))),
        ("8\u201310", ((8, 10),)),
    ],
)
def test_windows_are_written_as_people_do(cell, windows):
    assert parsed(TOUR.replace("8-10; 14-16", cell)).windows == {1: windows}


def test_stops_are_named_by_number_where_ids_only_count_the_rows():
    tour = parsed("id,x,y,before\n0,0,0,\n1,3,4,2\n2,6,8,\n")
    assert tour.names is None
    assert tour.before == ((1, 2),)


@pytest.mark.parametrize(
    ("edit", "line", "sentence"),
    [
        (("8-10; 14-16", "8"), 3, "column 'windows' has '8'; expected windows like 8-10; 14-16"),
        (("8-10; 14-16", "8-10;"), 3, "column 'windows' has ''; expected windows like 8-10; 14-16"),
        (("8-10; 14-16", "8-1.0.0"), 3, "expected 'windows', a finite number, found '1.0.0'"),
        (
            ("8-10; 14-16", "8-15; 14-16"),
            3,
            "has '8-15; 14-16', which overlap; expected",
        ),
        (("B;C", "B;D"), 3, "column 'before' names 'D', which is no stop; expected one like 'C'"),
        (("B;C", "B;A"), 3, "before has (1, 1); expected two different stops"),
        (
            (",A,0", ",Depot,0"),
            4,
            "pairs has (0, 2); expected two different stops, neither of them the depot 0",
        ),
        ((",A,0", ",Q,0"), 4, "column 'pickup' names 'Q', which is no stop"),
        (
            ("Yes", "no"),
            5,
            "column 'end' has 'no'; expected yes in the one row where the tour ends",
        ),
        (
            ("A,0,,\n", "A,0,,yes\n"),
            5,
            "a second row is marked as the end; expected one row where the tour ends",
        ),
        (("7.5", "-7.5"), 5, "prize[3] is -7.5; expected zero or more"),
        (("10,20,,2", "10,20,,-2"), 4, "late[2] is -2; expected zero or more"),
        (("prize", "prise"), 1, "column 'prise' is unknown, and looks like 'prize'; correct it"),
    ],
)
def test_what_is_wrong_in_a_tour_is_said_with_its_line(edit, line, sentence):
    assert TOUR.count(edit[0]) == 1
    with pytest.raises(Unreadable) as refused:
        parsed(TOUR.replace(*edit))
    assert refused.value.line == line
    assert sentence in refused.value.message


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (
            {"cost": np.ones((3, 3))},
            "CSV has no column for a cost apart from travel; write .json instead",
        ),
        (
            {"load": "signed"},
            "CSV has no column for a load that is not growing; write .json instead",
        ),
        (
            {"load": "signed", "loaded": [0, 1, 0]},
            "CSV has no column for what is loaded for each stop; write .json instead",
        ),
        ({"aboard": 1}, "CSV has no column for the load aboard at the start; write .json instead"),
        ({"windows": {1: [(-1, 2)]}}, "CSV cannot hold the text '-1-2'; write .json instead"),
        (
            {"before": [(1, 2)], "names": ("d", "a", "b;c")},
            "CSV cannot hold the name 'b;c' in a list of stops; write .json instead",
        ),
    ],
)
def test_what_has_no_column_is_refused_and_sent_to_json(asked, sentence):
    with pytest.raises(Unreadable) as refused:
        table.render(Instance(euclidean(POINTS), coordinates=POINTS, **asked))
    assert refused.value.message == sentence
