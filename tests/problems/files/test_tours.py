"""Tours in every form that people paste, and a sentence for what is not one."""

import json

import numpy as np
import pytest

from fairway.errors import InvalidFile, InvalidTour
from fairway.problems.files.tours import given, parse_tour, place, read_tour, resolve
from fairway.problems.instance import TSPTW, Instance
from fairway.problems.source import Source

NAMES = ("Depot", "North quay", "B", "7")


def instance(names=NAMES):
    zeros = np.zeros(4)
    return TSPTW(np.ones((4, 4)), zeros, zeros + 9, zeros, names=names)


@pytest.mark.parametrize(
    "text",
    [
        "3,1,2",
        "3 1 2",
        " 3, 1,\n2,\n",
        "3\n1\n2\n",
        "3\t1\t2",
        "[3, 1, 2]",
        '{"cost": 4.5, "tour": [3, 1, 2]}\n',
    ],
)
def test_every_form_of_a_list_is_the_same_tour(text):
    assert resolve(parse_tour(text), instance(None)) == (3, 1, 2)


def test_names_with_blanks_are_separated_by_commas_or_lines():
    assert parse_tour("North quay, B,3") == ["North quay", "B", "3"]
    assert parse_tour('["North quay", "B", 3]') == ["North quay", "B", 3]


def tsplib(*nodes, end="-1\nEOF\n"):
    body = "\n".join(map(str, nodes))
    return f"NAME : x\nTYPE : TOUR\nDIMENSION : 4\nTOUR_SECTION\n{body}\n{end}"


@pytest.mark.parametrize("cycle", [(1, 4, 2, 3), (4, 2, 3, 1), (2, 3, 1, 4)])
def test_a_tsplib_tour_starts_after_node_1_wherever_that_stands(cycle):
    assert parse_tour(tsplib(*cycle)) == [3, 1, 2]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (tsplib(1, 2, 3, end=""), "does not end"),
        (tsplib(2, 3), "leaves out node 1"),
        (tsplib(1, 0, 2), "holds '0'"),
        (tsplib(1, "two"), "holds 'two'"),
        (tsplib(1, -5), "holds '-5'"),
        ("", "empty"),
        (" \n", "empty"),
        ("[1, 2", "not one JSON list"),
        ("[" * 100_000, "not one JSON list"),
        ('{"tour": [1]}\n{"tour": [2]}', "not one JSON list"),
        ("[" + "9" * 5_000 + "]", "not one JSON list"),
        ('{"cost": 3}', "no tour in this JSON"),
        ('{"tour": null}', "no tour in this JSON"),
        ("[1, 2.5]", "position 1 of the tour is '2.5'"),
        ("[true]", "position 0 of the tour is 'true'"),
        ("[1, [2]]", r"position 1 of the tour is '\[2\]'"),
        ("[1, NaN]", "position 1 of the tour is 'NaN'"),
    ],
)
def test_what_is_no_tour_says_why(text, said):
    with pytest.raises(InvalidTour, match=said):
        parse_tour(text)


def test_numbers_in_json_are_nodes_and_words_are_names():
    assert resolve(["B", 3, "North quay"], instance()) == (2, 3, 1)


def test_where_nodes_have_names_a_list_is_of_names():
    """Ids that are numbers too, in another order: what `solve` prints is what `verify` judges."""
    numbered = instance(("0", "3", "1", "2"))
    assert resolve(parse_tour("0 3 1 2 0"), numbered) == (1, 2, 3)
    assert resolve(parse_tour("[3, 1, 2]"), numbered) == (3, 1, 2)
    assert resolve(parse_tour("B,7,North quay"), instance()) == (2, 3, 1)
    assert resolve(parse_tour('[1, 2, "7"]'), instance()) == (1, 2, 3)
    with pytest.raises(InvalidTour, match=r"called '2'; .* or node numbers in JSON, like \[2, 1\]"):
        resolve(parse_tour("2 1 7"), instance())
    with pytest.raises(InvalidTour, match="7 is the name of a stop, not a node number; in JSON"):
        resolve(parse_tour("[1, 2, 7]"), instance())


@pytest.mark.parametrize(
    "words", [[0, 3, 1, 2, 0], [0, 3, 1, 2], [3, 1, 2, 0], [3, 1, 2], ["Depot", 3, 1, 2, "Depot"]]
)
def test_one_depot_is_taken_off_each_end(words):
    assert resolve(words, instance()) == (3, 1, 2)


def test_a_depot_elsewhere_is_left_for_the_judge():
    assert resolve([0, 0, 3, 0, 1], instance()) == (0, 3, 0, 1)


@pytest.mark.parametrize("words", [[], [0], [0, 0]])
def test_a_tour_of_the_depot_alone_is_none(words):
    with pytest.raises(InvalidTour, match="no stop besides the depot"):
        resolve(words, instance())


def test_an_unknown_name_is_named():
    with pytest.raises(InvalidTour, match="no stop is called 'South quay'; perhaps 'North quay'"):
        resolve([1, "South quay"], instance())
    with pytest.raises(InvalidTour, match="no stop is called 'B'; the nodes have no names"):
        resolve(["1", "B"], instance(None))
    with pytest.raises(InvalidTour, match=r"no file, and no stop, is called 'order.txt'"):
        resolve(parse_tour("order.txt"), instance())


def test_a_very_long_number_is_no_node():
    with pytest.raises(InvalidTour, match="no stop is called '9999"):
        resolve(parse_tour("1 " + "9" * 10_000), instance(None))


def test_a_tour_is_read_from_a_file_or_given_as_it_is(tmp_path):
    path = tmp_path / "tour.json"
    path.write_text("\ufeff" + json.dumps({"tour": [3, 1, 2]}), encoding="utf-8")
    assert read_tour(path) == read_tour(str(path)) == read_tour("[3,1,2]") == [3, 1, 2]
    assert read_tour(" ".join(map(str, range(5_000))))[-1] == "4999"


def test_a_file_that_cannot_be_read_says_so(tmp_path):
    with pytest.raises(InvalidFile, match="cannot be read as a tour"):
        read_tour(tmp_path / "missing.txt")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidFile, match="cannot be read as a tour"):
        read_tour(tmp_path / "binary")


def test_a_tour_may_be_of_ids_where_names_stand_beside_them():
    source = Source(ids=("100", "101", "102", "7", "7"))
    instance = Instance(np.ones((5, 5)), names=("d", "a", "b", "102", "e"), end=4, source=source)
    assert resolve(parse_tour("100,101,b,e"), instance) == (1, 2)
    assert resolve(parse_tour("102,a"), instance) == (3, 1)
    with pytest.raises(InvalidTour, match="no stop is called '7'"):
        resolve(parse_tour("a,7"), instance)


@pytest.mark.parametrize(
    ("text", "tour"),
    [
        ("Depot, north > Old mill > Quay > Depot, north", (2, 3)),
        ('"Depot, north", Quay, Old mill', (3, 2)),
        ("Old mill", (2,)),
        ("Depot, north > Quay", (3,)),
    ],
)
def test_names_with_commas_and_blanks_come_as_they_are_printed(text, tour):
    names = ("Depot, north", "Mill", "Old mill", "Quay")
    named = instance(names)
    assert resolve(given(text, named), named) == tour
    assert [place(name, named) for name in names] == [0, 1, 2, 3]


def test_a_tour_as_it_is_printed_may_have_its_names_in_quotes():
    words = parse_tour('Depot > "North quay" > B > Depot')
    assert resolve(words, instance()) == (1, 2)
    quoted = instance(("Depot", '"B"', "B", "7"))
    assert resolve(['"B"', "B"], quoted) == (1, 2)


def test_a_misspelt_stop_is_refused_with_the_likely_name():
    with pytest.raises(InvalidTour, match="no stop is called 'Noth quay'; perhaps 'North quay'"):
        resolve(["Noth quay", "B"], instance())
    with pytest.raises(
        InvalidTour, match="no stop is called 'Mill'; expected names, like 'North quay'"
    ):
        resolve(["Mill", "B"], instance())
