"""The JSON format: what goes in comes out to the last bit, and what is wrong is named by its key."""

import json

import numpy as np
import pytest

from fairway.problems.checks import MOST_NODES
from fairway.problems.distances import euclidean, travel_matrix
from fairway.problems.files import document
from fairway.problems.files.text import Unreadable
from fairway.problems.instance import TSPDL, TSPTW

ZEROS, NINES = np.zeros(3), np.full(3, 9.0)
POINTS = np.array([[0.0, 0.0], [0.1, 1 / 3], [7.25, 1e-9]])
TRAVEL = np.array([[0.0, 1.5, 2.0], [1.0, 0.0, 0.1], [3.0, 4.0, 0.0]])


def column(*values):
    return np.array(values, dtype=float)


def windows():
    return {
        "problem": "tsptw",
        "coordinates": [[0, 0], [3, 4], [6, 8]],
        "opens": [0, 1, 2],
        "closes": [100, 50, 50],
    }


def drafts():
    return {
        "problem": "tspdl",
        "travel": [[0, 1, 2], [1, 0, 3], [2, 3, 0]],
        "demand": [0, 1, 1],
        "draft": [2, 1, 2],
    }


def parsed(value, distances=None):
    return document.parse(json.dumps(value), "stem", distances)


def assert_same(found, expected):
    assert type(found) is type(expected)
    for field in type(expected).__dataclass_fields__:
        one, other = getattr(found, field), getattr(expected, field)
        if isinstance(other, np.ndarray):
            assert np.array_equal(one, other), field
        else:
            assert one == other, field


@pytest.mark.parametrize(
    "instance",
    [
        TSPTW(
            euclidean(POINTS),
            column(0, 0.1, -3),
            column(9, 1 / 3, 4),
            column(0, 2, 1),
            POINTS,
            name="a",
        ),
        TSPTW(TRAVEL, ZEROS, NINES, ZEROS, names=("Quai 1", "Ærø, 'x'", '"2"')),
        TSPTW(
            travel_matrix(POINTS, "floor"),
            ZEROS,
            NINES,
            ZEROS,
            coordinates=POINTS,
            name="c",
        ),
        TSPDL(euclidean(POINTS), column(0, 1, 0.7), column(3, 0.1, 2), coordinates=POINTS, name=""),
        TSPDL(TRAVEL, column(0, 1, 2), column(3, 3, 3), "shrinking", POINTS, ("a", "b", "c"), "é"),
    ],
)
def test_an_instance_comes_back_to_the_last_bit(instance):
    assert_same(document.parse(document.render(instance), "stem", None), instance)


def test_travel_is_left_out_only_where_the_coordinates_give_it_back():
    plain = TSPTW(euclidean(POINTS), ZEROS, NINES, ZEROS, coordinates=POINTS)
    floored = TSPTW(travel_matrix(POINTS, "floor"), ZEROS, NINES, ZEROS, coordinates=POINTS)
    assert "travel" not in json.loads(document.render(plain))
    assert "travel" in json.loads(document.render(floored))


def test_a_matrix_is_written_one_row_a_line():
    lines = document.render(TSPTW(TRAVEL, ZEROS, NINES, ZEROS)).splitlines()
    assert "    [0, 1.5, 2]," in lines


def test_the_name_of_the_file_serves_where_the_document_has_none():
    assert parsed(windows()).name == "stem"
    assert parsed(windows() | {"name": "mine"}).name == "mine"


def test_service_is_zero_and_the_load_grows_unless_told_otherwise():
    assert not parsed(windows()).service.any()
    assert parsed(drafts()).load == "growing"


def test_the_rule_asked_for_goes_before_the_rule_of_the_document():
    points = {"coordinates": [[0, 0], [1, 1], [2, 3]]}
    assert parsed(windows() | points).travel[0, 1] == np.sqrt(2)
    assert parsed(windows() | points | {"distances": "floor"}).travel[0, 1] == 1
    assert parsed(windows() | points | {"distances": "floor"}, "float").travel[0, 1] == np.sqrt(2)


def test_a_matrix_stands_whatever_rule_is_asked_for():
    given = windows() | {"travel": [[0, 1, 1], [1, 0, 1], [1, 1, 0]]}
    assert parsed(given, "floor").travel[0, 1] == 1


def without(value, key):
    return {name: item for name, item in value.items() if name != key}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"code": 0, "routes": [], "summary": {}}, "a solution of VROOM"),
        ({"code": "Ok", "routes": [], "waypoints": []}, "an OSRM route"),
        ({"type": "Feature", "geometry": {}, "properties": {}}, "one feature of GeoJSON"),
        (windows() | {"colour": 1}, "'colour' is unknown"),
        (windows() | {"demand": [0, 1, 1]}, "'demand' is unknown for tsptw"),
        (drafts() | {"opens": [0, 1, 1]}, "'opens' is unknown for tspdl"),
        (without(windows(), "opens"), "'opens' is missing"),
        (without(windows(), "closes"), "'closes' is missing"),
        (without(drafts(), "draft"), "'draft' is missing"),
        (without(windows(), "problem"), "'problem' is missing"),
        (without(windows(), "coordinates"), "'travel' and 'coordinates' are both missing"),
        (windows() | {"problem": "vrp"}, "'problem' is the text 'vrp'"),
        (windows() | {"problem": ["tsptw"]}, "'problem' is a list"),
        (windows() | {"distances": "taxicab"}, "'distances' is the text 'taxicab'"),
        (windows() | {"distances": None}, "'distances' is missing"),
        (drafts() | {"load": "sinking"}, "'load' is the text 'sinking'"),
        (windows() | {"opens": [0, True, 2]}, r"'opens\[1\]' is true"),
        (windows() | {"opens": [0, "1", 2]}, r"'opens\[1\]' is the text '1'"),
        (windows() | {"opens": [0, None, 2]}, r"'opens\[1\]' is null"),
        (windows() | {"opens": [0, [1], 2]}, r"'opens\[1\]' is a list"),
        (windows() | {"opens": 3}, "'opens' is the number 3.0"),
        (windows() | {"opens": []}, "'opens' is an empty list"),
        (windows() | {"service": {"a": 1}}, "'service' is an object"),
        (windows() | {"opens": [0, 10**400, 2]}, r"'opens\[1\]' is the number inf"),
        (windows() | {"coordinates": [[0, 0], [3, 4], [6]]}, r"'coordinates\[2\]' has 1 numbers"),
        (
            windows() | {"coordinates": [[0], [3], [6]]},
            r"'coordinates\[0\]' has 1 numbers; expected 2",
        ),
        (windows() | {"opens": [0, 1]}, "'opens' has 2 numbers; expected 3"),
        (windows() | {"service": [0] * 4}, "'service' has 4 numbers; expected 3"),
        (drafts() | {"travel": [[0, 1]] * 3}, r"'travel\[0\]' has 2 numbers; expected 3"),
        (drafts() | {"coordinates": [[0, 0]] * 2}, "'coordinates' has 2 rows; expected 3"),
        (windows() | {"coordinates": [0, 1, 2]}, r"'coordinates\[0\]' is the number 0.0"),
        (windows() | {"travel": "near"}, "'travel' is the text 'near'"),
        (windows() | {"name": 7}, "'name' is the number 7.0"),
        (windows() | {"names": "abc"}, "'names' is the text 'abc'"),
        (windows() | {"names": ["a", "b", 3]}, r"'names\[2\]' is the number 3.0"),
        ([windows()], "not an object"),
    ],
)
def test_what_is_wrong_is_named_by_its_key(value, said):
    with pytest.raises(Unreadable, match=said):
        parsed(value)


@pytest.mark.parametrize(
    ("text", "said", "line"),
    [
        ('{\n"problem": "tsptw",\n"opens": [1,, 2]}', "is not JSON", 3),
        ('{"problem": "tsptw"', "is not JSON", 1),
        ('{"problem": "tsptw"} {"problem": "tspdl"}', "is not JSON: Extra data", 1),
        ('{"problem": "tsptw", "opens": [NaN]}', "holds NaN", None),
        ('{"problem": "tsptw", "opens": [-Infinity]}', "holds -Infinity", None),
        ('{"problem": "tsptw", "problem": "tspdl"}', "'problem' is given twice", None),
        ('{"problem": ' + "[" * 100_000, "nested too deeply", None),
        ('{"problem": ' + "9" * 10_000 + "}", "'problem' is the number inf", None),
    ],
)
def test_what_is_not_sound_json_says_so_with_its_line(text, said, line):
    with pytest.raises(Unreadable, match=said) as caught:
        document.parse(text, "stem", None)
    assert caught.value.line == line


SPREAD = """{"problem": "tsptw", "name": "\\"opens\\": travel",
"travel": [[0, 1, 2],
  [1, 0, 3],
  [2,
   3, 0]],
"coordinates": [[0, 0],
  [3, 4], [6, 8]],
"names": ["a, [b",
  "c\\"",
  "d"],
"opens": [0, 1, 2], "closes":
  [100, 50,
   50],
"service": [0, 0,
  1]}
"""


@pytest.mark.parametrize(
    ("edit", "line", "sentence"),
    [
        (("[1, 0, 3]", "[1, 0, -3]"), 3, "travel[1, 2] is -3; expected zero or more"),
        (("   3, 0]]", "   -3, 0]]"), 5, "travel[2, 1] is -3"),
        (("[6, 8]", "[6, 1e16]"), 7, "coordinates[2, 1] is 1e+16"),
        (('"d"', '"a, [b"'), 10, "the name 'a, [b' is given to more than one node"),
        (('  "c\\"",\n', ""), 8, "2 names were given"),
        (("[0, 1, 2], ", "[0, 1, -1e16], "), 11, "opens[2] is -1e+16"),
        (("   50],", "   1],"), 13, "the window of node 2 closes at 1 before it opens at 2"),
        (("  1]}", "  -1]}"), 15, "service[2] is -1"),
    ],
)
def test_a_number_that_no_instance_takes_is_told_with_its_line(edit, line, sentence):
    with pytest.raises(Unreadable) as refused:
        document.parse(SPREAD.replace(*edit), "stem", None)
    assert refused.value.line == line
    assert sentence in refused.value.message


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        ('"coordinates":\n[[0, 0],\n[1e15, 1e15]]', 3, "travel[0, 1] is 1.41421e+15"),
        ('"coordinates": [[0, 0],\n[1e16, 0]]', 3, "coordinates[1, 0] is 1e+16"),
    ],
)
def test_travel_made_from_points_is_told_with_the_line_of_a_point(text, line, sentence):
    with pytest.raises(Unreadable) as refused:
        document.parse(
            f'{{"problem": "tspdl", "demand": [0, 1], "draft": [9, 9],\n{text}}}', "stem", None
        )
    assert refused.value.line == line
    assert sentence in refused.value.message


def test_a_key_written_with_escapes_is_found_too():
    odd = SPREAD.replace('"travel":', '"tr\\u0061vel":').replace("[1, 0, 3]", "[1, 0, -3]")
    with pytest.raises(Unreadable, match=r"travel\[1, 2\] is -3") as refused:
        document.parse(odd, "stem", None)
    assert refused.value.line == 3


def test_a_depot_alone_is_told_with_the_line_of_its_key():
    text = '{"problem": "tspdl", "demand": [0],\n"draft": [9],\n"coordinates": [[0, 0]]}'
    with pytest.raises(Unreadable, match="at least two nodes") as refused:
        document.parse(text, "stem", None)
    assert refused.value.line == 3


TOUR = """{"problem": "tour", "names": ["Depot", "A", "before"],
"windows": {
  "A": [[8, 10], [14, null]],
  "before": [[1, 2], [3, 4]]
},
"travel": [[0, 1, null],
  [1, 0, 3], [null, 3, 0]],
"cost": [[0, 1, 2],
  [1, 0, 3],
  [2, 3, 0]],
"closes": [null, 50, 60],
"late": [null, 2, null], "latest": [null, 90, null],
"demand": [0, 1,
  -1],
"capacity":
  3, "load": "signed", "aboard": 1,
"before": [["A", 2],
  [1, "before"]], "pairs": [["A", "before"]],
"prize": [null, null, 5],
"breaks": [[1, 2, 3],
  [4, null, 6]],
"end": "A"}
"""


def test_a_tour_names_its_stops_by_name_or_by_number():
    found = document.parse(TOUR, "stem", None)
    assert found.windows == {1: ((8, 10), (14, np.inf)), 2: ((1, 2), (3, 4))}
    assert found.before == ((1, 2), (1, 2))
    assert found.pairs == ((1, 2),)
    assert found.end == 1
    assert found.travel[0, 2] == np.inf
    assert found.closes.tolist() == [np.inf, 50, 60]
    assert found.breaks == ((1, 2, 3), (4, np.inf, 6))
    assert (found.capacity, found.load, found.aboard) == (3, "signed", 1)


def test_stops_without_names_are_named_by_number_and_an_end_of_null_is_the_last_stop():
    given = {"problem": "tour", "travel": [[0, 1], [1, 0]], "windows": {"1": [[0, 1]]}, "end": None}
    found = parsed(given | {"before": [], "breaks": []})
    assert found.windows == {1: ((0, 1),)}
    assert found.end is None
    assert found.before == found.breaks == ()


@pytest.mark.parametrize(
    ("edit", "line", "sentence"),
    [
        (
            ("[14, null]", "[9, null]"),
            3,
            "the windows of node 1 are ((8.0, 10.0), (9.0, inf)); expected at least",
        ),
        (("[3, 4]]", "[null, 4]]"), 4, "the windows of node 2 are"),
        (("[1, 0, 3], [null", "[1, 0, -3], [null"), 7, "travel[1, 2] is -3"),
        (("  [2, 3, 0]", "  [2, -3, 0]"), 10, "cost[2, 1] is -3; expected zero or more"),
        (("[null, 2, null]", "[null, -2, null]"), 12, "late[1] is -2; expected zero or more"),
        (('"demand": [0', '"demand": [2'), 13, "the depot has a demand of 2"),
        (('"signed"', '"growing"'), 14, "demand[2] is -1; expected zero or more"),
        (("  3,", "  -3,"), 16, "capacity is -3.0; expected a number, zero or more"),
        (
            ('[["A", 2]', '[["A", 1]'),
            17,
            "before has (1, 1); expected two different stops, neither",
        ),
        (
            ('  [1, "before"]', '  [0, "before"]'),
            18,
            "before has (0, 2); expected two different stops",
        ),
        (("[4, null, 6]", "[4, 3, 6]"), 21, "a break is (4.0, 3.0, 6.0); expected (earliest start"),
        (("[4, null, 6]", "[null, null, 6]"), 21, "a break is (inf, inf, 6.0)"),
        (('"Depot", "A"', '"A", "A"'), 1, "the name 'A' is given to more than one node"),
        (('"Depot", ', ""), 1, "2 names were given; expected 3"),
    ],
)
def test_what_no_tour_takes_is_told_with_its_line(edit, line, sentence):
    assert TOUR.count(edit[0]) == 1
    with pytest.raises(Unreadable) as refused:
        document.parse(TOUR.replace(*edit), "stem", None)
    assert refused.value.line == line
    assert sentence in refused.value.message


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ({"before": 3}, "'before' is the number 3.0; expected a list of two stops each"),
        ({"before": [1]}, "'before[0]' is the number 1.0; expected a list of two stops"),
        ({"pairs": [[1, 2, 2]]}, "'pairs[0]' is a list of 3; expected a list of two stops"),
        (
            {"pairs": [[1, 7]]},
            "'pairs[0][1]' is the number 7.0; expected a stop, its name or its number from 0 to 2",
        ),
        ({"pairs": [[1, 1.5]]}, "'pairs[0][1]' is the number 1.5; expected a stop"),
        (
            {"before": [["1", "B"]]},
            "'before[0][1]' names 'B', which is no stop; expected one like '2'",
        ),
        (
            {"before": [["a", "B"]], "names": ["d", "a", "b"]},
            "names 'B', which is no stop; expected one like 'b'",
        ),
        ({"windows": {"01": [[1, 2]]}}, "'windows' names '01', which is no stop"),
        (
            {"windows": {"1": [[1, 2]]}, "names": ["d", "a", "b"]},
            "'windows' names '1', which is no stop",
        ),
        (
            {"windows": [[1, 2]]},
            "'windows' is a list; expected an object of stops, each with a list of [open, close]",
        ),
        (
            {"windows": {"1": [1, 2]}},
            "'windows[1][0]' is the number 1.0; expected a list of numbers",
        ),
        ({"windows": {"1": []}}, "'windows[1]' is an empty list; expected a list of rows"),
        ({"windows": {"1": [[1, 2, 3]]}}, "'windows[1][0]' has 3 numbers; expected 2"),
        ({"end": True}, "'end' is true; expected a stop"),
        ({"end": "home"}, "'end' names 'home', which is no stop"),
        ({"breaks": [[1, 2]]}, "'breaks[0]' has 2 numbers; expected 3"),
        ({"capacity": None}, "'capacity' is null; expected a finite number"),
        ({"aboard": "2"}, "'aboard' is the text '2'; expected a finite number"),
        ({"load": "sinking"}, "expected one of 'growing', 'shrinking', 'signed'"),
        ({"opens": [None, 1, 2]}, "'opens[0]' is null; expected a finite number"),
        ({"late": [True, 1, 2]}, "'late[0]' is true; expected a finite number, or null for none"),
        ({"cost": [[0, 1], [1, 0]]}, "'cost[0]' has 2 numbers; expected 3"),
        ({"price": 3}, "the key 'price' is unknown for tour; expected problem, name"),
    ],
)
def test_what_is_wrong_in_a_tour_is_named_by_its_key(value, sentence):
    tour = {"problem": "tour", "coordinates": [[0, 0], [3, 4], [6, 8]]}
    assert parsed(tour).nodes == 3
    with pytest.raises(Unreadable) as refused:
        parsed(tour | value)
    assert sentence in refused.value.message


def test_a_classic_document_sends_what_it_does_not_take_to_a_tour():
    with pytest.raises(
        Unreadable, match=r"'late' is unknown for tsptw; .*, or the problem 'tour', which takes it"
    ):
        parsed(windows() | {"late": [1, 1, 1]})
    with pytest.raises(Unreadable, match=r"'travel\[0\]\[1\]' is null; expected a finite number"):
        parsed(drafts() | {"travel": [[0, None, 2], [1, 0, 3], [2, 3, 0]]})


def test_points_too_many_for_a_matrix_are_refused_before_one_is_made():
    many = [[float(i), 0.0] for i in range(MOST_NODES + 1)]
    with pytest.raises(Unreadable, match="more than 5000 nodes"):
        parsed(windows() | {"coordinates": many})


def test_only_what_opens_like_json_is_recognised():
    assert document.recognises(' \n{"problem"')
    assert document.recognises("[1, 2]")
    assert not document.recognises("")
    assert not document.recognises("id,x,y\n{")


def test_a_name_that_utf_8_cannot_hold_is_still_written():
    text = document.render(TSPTW(TRAVEL, ZEROS, NINES, ZEROS, name="odd\udcff"))
    assert document.parse(text, "stem", None).name == "odd?"
    assert text.encode()
