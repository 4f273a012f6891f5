"""The published formats of ordering, of pickup and delivery, and of orienteering."""

import json
import math

import numpy as np
import pytest

from fairway.judge import Solution, verify
from fairway.problems.files import optw, pdtsp, read, sop, tsplib
from fairway.problems.files.text import Unreadable

SOP = """NAME: small
TYPE: SOP
COMMENT: by hand
DIMENSION: 4
EDGE_WEIGHT_TYPE: EXPLICIT
EDGE_WEIGHT_FORMAT: FULL_MATRIX
EDGE_WEIGHT_SECTION
4
0 5 6 1000000
-1 0 7 8
-1 -1 0 9
-1 -1 -1 0
EOF
"""
PDTSP = """5
1 0 0
2 3 4 0 4
3 6 8 0 5
4 0 5 1 2
5 1 1 1 3
-999
"""
OPTW = """4 10 2 1
0 200
0 0.00 0.00 0.00 0.00 0 0 0 100
1 1.00 1.00 9.00 10.00 1 1 1 5 90
2 3.00 4.00 9.00 30.00 1 2 1 2 6 80
"""


def test_a_sequential_ordering_is_a_path_with_an_order():
    assert sop.recognises(SOP)
    assert tsplib.recognises(SOP)
    instance = sop.parse(SOP, "stem", None)
    inf = math.inf
    assert instance.travel.tolist() == [
        [0, 5, 6, inf],
        [inf, 0, 7, 8],
        [inf, inf, 0, 9],
        [inf, inf, inf, 0],
    ]
    assert instance.before == ((1, 2),)
    assert instance.end == 3
    assert instance.name == "small"
    assert sop.parse(SOP.replace("SECTION\n4\n", "SECTION\n"), "stem", None).before == ((1, 2),)


def test_pickups_and_deliveries_are_pairs_at_rounded_distances():
    assert pdtsp.recognises(PDTSP)
    instance = pdtsp.parse(PDTSP, "stem", None)
    assert instance.pairs == ((1, 3), (2, 4))
    assert instance.travel[0].tolist() == [0, 5, 10, 5, 1]
    assert pdtsp.parse(PDTSP, "stem", "float").travel[0, 4] == math.sqrt(2)


def test_a_stop_with_the_index_of_the_depot_is_the_node_of_its_row():
    text = PDTSP.replace("\n3 6", "\n1 6").replace("\n4 0", "\n3 0").replace("\n5 1", "\n4 1")
    instance, plain = pdtsp.parse(text, "stem", None), pdtsp.parse(PDTSP, "stem", None)
    assert instance.pairs == plain.pairs
    assert np.array_equal(instance.travel, plain.travel)


def test_orienteering_costs_what_is_left_out():
    assert optw.recognises(OPTW)
    instance = optw.parse(OPTW, "stem", None)
    assert instance.travel.tolist() == [[0, 1.4, 5], [1.4, 0, 3.6], [5, 3.6, 0]]
    assert not instance.cost.any()
    assert instance.prize.tolist() == [math.inf, 10, 30]
    assert instance.closes.tolist() == [100, 90, 80]
    assert instance.opens.tolist() == [0, 5, 6]
    assert instance.service.tolist() == [0, 9, 9]


def test_orienteering_between_coordinates_with_fractions_cuts_distances_to_two_decimals():
    instance = optw.parse(OPTW.replace("1 1.00 1.00", "1 1.50 1.00"), "stem", None)
    assert instance.travel[0].tolist() == [0, 1.80, 5]
    assert instance.travel[1, 2] == 3.35


@pytest.mark.parametrize(
    ("form", "text", "said", "line"),
    [
        (sop, SOP.replace("DIMENSION: 4", "DIMENSION: 2"), "and stops between them", None),
        (sop, SOP.replace("7 8", "7"), "expected 16 weights, FULL_MATRIX for 4 nodes, found 15", 7),
        (sop, SOP.replace("7 8", "-7 8"), r"travel\[1, 2\] is -7", 10),
        (pdtsp, PDTSP.replace("\n4 0 5 1 2", "\n4 0 5 0 2"), "do not name each other", 3),
        (pdtsp, PDTSP.replace("\n4 0 5 1 2", "\n4 0 5 1 9"), "the index of a stop", 5),
        (pdtsp, PDTSP.replace("\n3 6", "\n4 6"), "expected the index 3, found '4'", 4),
        (pdtsp, PDTSP.replace("5 1 1 1 3\n", ""), "expected 5 numbers, found 1", 6),
        (pdtsp, PDTSP.replace("-999", "6 1 1 1 3"), "expected the end of the file after 5 rows", 7),
        (
            pdtsp,
            PDTSP.replace("3 4 0", "3 x 0"),
            "expected a coordinate, a finite number, found 'x'",
            3,
        ),
        (optw, OPTW.replace("\n2 3", "\n3 3"), "expected node 2, found '3'", 5),
        (optw, OPTW.replace("1 2 1 2 6", "1 2 1 6"), "expected 11 numbers, found 10", 5),
        (optw, OPTW.replace("90", "4"), "closes at 4 before it opens at 5", 4),
    ],
)
def test_what_is_wrong_is_said_with_its_line(form, text, said, line):
    with pytest.raises(Unreadable, match=said) as caught:
        form.parse(text, "stem", None)
    assert caught.value.line == line


def test_every_published_path_tour_and_route_has_its_value(shared):
    seen = 0
    for name, known in json.loads((shared / "bench/sop/best_known.json").read_text()).items():
        instance = read(shared / "bench" / "sop" / f"{name}.sop")
        if "path" in known:
            verdict = verify(instance, known["path"][1:-1])
            assert isinstance(verdict, Solution)
            assert verdict.value == known["cost"]
            seen += 1
    for known in json.loads((shared / "bench/pdtsp/best_known.json").read_text()).values():
        verdict = verify(read(shared / "bench" / "pdtsp" / known["file"]), known["tour"])
        assert isinstance(verdict, Solution)
        assert verdict.value == known["cost"]
        seen += 1
    for name, known in json.loads((shared / "bench/optw/best_known.json").read_text()).items():
        instance = read(shared / "bench" / "optw" / f"{name}.txt")
        verdict = verify(instance, known["route"])
        assert isinstance(verdict, Solution)
        assert verdict.value == np.sum(instance.prize[1:]) - known["score"]
        seen += 1
    assert seen == 38
