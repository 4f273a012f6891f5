"""Matrices beside a table of stops: answers of routers, plain matrices, and what does not fit."""

import json
import math

import numpy as np
import pytest

from fairway.errors import FairwayError
from fairway.problems.files import read

STOPS = "name,open,close,service\nDepot,08:00,17:00,\nMill,09:00,10:00,5\nQuay,,,0:10\n"
DURATIONS = [[0, 600, 1200.5], [660, 0, None], [1200, 300, 0]]
DISTANCES = [[0, 5000, 9000], [5100, 0, None], [9000, 2500, 0]]
SOURCES = [
    {"location": [10.7, 59.9], "hint": "x"},
    {"location": [10.8, 59.9]},
    {"location": [10.9, 59.8]},
]
OSRM = {
    "code": "Ok",
    "durations": DURATIONS,
    "distances": DISTANCES,
    "sources": SOURCES,
    "destinations": [],
}


@pytest.fixture
def beside(tmp_path):
    (tmp_path / "stops.csv").write_text(STOPS)

    def made(content, name="matrix.json", stops=STOPS):
        place = tmp_path / name
        (tmp_path / "stops.csv").write_text(stops)
        if isinstance(content, bytes):
            place.write_bytes(content)
        else:
            place.write_text(content if isinstance(content, str) else json.dumps(content))
        return read(tmp_path / "stops.csv", matrix=place)

    return made


def test_an_osrm_table_gives_minutes_as_travel_and_metres_as_cost(beside):
    instance = beside(OSRM)
    assert instance.travel.tolist() == [[0, 10, 1200.5 / 60], [11, 0, math.inf], [20, 5, 0]]
    assert instance.cost.tolist() == [[0, 5000, 9000], [5100, 0, math.inf], [9000, 2500, 0]]
    assert instance.source.distance_unit == "m"
    assert instance.opens.tolist() == [480, 540, 0]
    assert instance.coordinates.tolist() == [[10.7, 59.9], [10.8, 59.9], [10.9, 59.8]]
    assert instance.source.geographic
    assert instance.source.distances(instance.travel, instance.cost) is instance.cost


def test_durations_alone_are_both_time_and_cost(beside):
    instance = beside({"code": "Ok", "durations": DURATIONS})
    assert instance.cost is instance.travel
    assert instance.source.distance_unit == ""


def test_valhalla_answers_in_rows_of_objects_or_in_two_matrices(beside):
    rows = [
        [
            {
                "time": time,
                "distance": None if apart is None else apart / 1000,
                "from_index": a,
                "to_index": b,
            }
            for b, (time, apart) in enumerate(zip(times, metres, strict=True))
        ]
        for a, (times, metres) in enumerate(zip(DURATIONS, DISTANCES, strict=True))
    ]
    verbose = beside(
        {"sources_to_targets": rows, "units": "kilometers", "sources": [[]], "targets": [[]]}
    )
    assert verbose.travel.tolist() == beside(OSRM).travel.tolist()
    assert verbose.cost[0].tolist() == [0, 5, 9]
    assert verbose.source.distance_unit == "km"
    concise = {"durations": DURATIONS, "distances": DISTANCES}
    assert beside({"sources_to_targets": concise, "units": "miles"}).source.distance_unit == "mi"


def test_a_matrix_without_units_is_in_those_of_the_windows(beside):
    rows = [[0, 10, 20], [11, 0, None], [20, 5, 0]]
    expected = [[0, 10, 20], [11, 0, math.inf], [20, 5, 0]]
    assert beside(rows).travel.tolist() == expected
    assert beside({"travel": rows, "cost": DISTANCES}).cost[0, 1] == 5000
    assert beside("0,10,20\n11,0,\n20,5,0\n", "m.csv").travel.tolist() == expected
    assert beside("0;10,0;20\n11;0;-\n20;5;0\n", "m.csv").travel.tolist() == expected
    assert beside("0 10 20\n11 0 inf\n20 5 0\n", "m.txt").travel.tolist() == expected
    assert beside(",10,20\n11,,\n20,5,\n", "m.csv").travel.tolist() == expected


def test_an_archive_may_hold_travel_and_cost(tmp_path, beside):
    travel = np.array([[0, 10, 20], [11, 0, np.inf], [20, 5, 0]])
    np.savez(tmp_path / "m.npz", travel=travel, cost=3 * travel)
    (tmp_path / "stops.csv").write_text(STOPS)
    instance = read(tmp_path / "stops.csv", matrix=tmp_path / "m.npz")
    assert np.array_equal(instance.travel, travel)
    assert np.array_equal(instance.cost, 3 * travel)


def test_a_matrix_with_names_is_matched_by_them(beside):
    named = "Quay,Depot,Mill\n0,20,5\n20,0,10\n99,11,0\n"
    assert beside(named, "m.csv").travel.tolist() == [[0, 10, 20], [11, 0, 99], [20, 5, 0]]
    labelled = "from,Quay,Depot,Mill\nQuay,0,20,5\nDepot,20,0,10\nMill,99,11,0\n"
    assert beside(labelled, "m.csv").travel.tolist() == [[0, 10, 20], [11, 0, 99], [20, 5, 0]]
    turned = "from,Quay,Depot,Mill\nDepot,20,0,10\nMill,99,11,0\nQuay,0,20,5\n"
    assert beside(turned, "m.csv").travel.tolist() == [[0, 10, 20], [11, 0, 99], [20, 5, 0]]
    headless = "Quay,0,20,5\nDepot,20,0,10\nMill,99,11,0\n"
    assert beside(headless.replace("20,5", "5,20"), "m.csv").travel[2, 0] == 5
    with pytest.raises(FairwayError, match="the header and the first column name other places"):
        beside(labelled.replace("Mill,99", "Hill,99"), "m.csv")
    with pytest.raises(FairwayError, match="the matrix has no row for the stop 'Mill'"):
        beside(named.replace("Mill", "Hill"), "m.csv")


def test_names_that_only_count_the_rows_are_none(beside):
    counted = ",0,1,2\n0,0,10,20\n1,11,0,99\n2,20,5,0\n"
    assert beside(counted, "m.csv").travel.tolist() == [[0, 10, 20], [11, 0, 99], [20, 5, 0]]


def test_rows_of_the_matrix_are_those_of_the_table_whichever_is_the_depot(beside):
    stops = "name,kind,open\nMill,,9:00\nHome,depot,8:00\nQuay,,\n"
    instance = beside([[0, 1, 2], [3, 0, 4], [5, 6, 0]], stops=stops)
    assert instance.names == ("Home", "Mill", "Quay")
    assert instance.travel.tolist() == [[0, 3, 4], [1, 0, 2], [6, 5, 0]]


def test_rows_in_another_order_than_the_stops_are_refused(beside):
    stops = "name,lat,lon\nDepot,59.9,10.7\nMill,59.9,10.8\nQuay,59.8,10.9\n"
    assert beside(OSRM, stops=stops).nodes == 3
    turned = OSRM | {"sources": SOURCES[::-1]}
    with pytest.raises(
        FairwayError,
        match=r"row 1 of the matrix lies 15.\d* km from stop 1 of the table, and row 3 at",
    ):
        beside(turned, stops=stops)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            {"code": "NoTable", "message": "no route"},
            r"OSRM answered 'NoTable' \(no route\); expected a table",
        ),
        ({"code": "Ok", "distances": DISTANCES}, "has no 'durations'"),
        ([[0, 1], [1, 0]], "the matrix is for 2 places and the table has 3 stops"),
        ([[0, 1, 2], [1, 0, 2]], "'the matrix\\[0\\]' has 3 numbers; expected 2"),
        ([[0, -1, 2], [1, 0, 2], [1, 2, 0]], r"travel\[0, 1\] is -1; expected zero or more"),
        ({"travel": [[0]], "times": 1}, "the key 'times' is unknown in a matrix"),
        ({"sources_to_targets": [[1]]}, "a cell of 'sources_to_targets' is the number 1.0"),
        ({"error": "too far", "error_code": 154}, r"no 'sources_to_targets' \(too far\); expected"),
        ({"sources_to_targets": 5}, "'sources_to_targets' is the number 5.0"),
        ("a,b,c\n0,1\n", "the header names 3 places"),
        ("0,1\nx y,0\n", "expected a travel time, a finite number, found 'x y'"),
        ("", "is empty"),
        (b"PK\x03\x04", "the archive is damaged"),
    ],
)
def test_a_matrix_that_does_not_fit_is_refused_with_its_name(content, said, beside, tmp_path):
    with pytest.raises(FairwayError, match=said):
        beside(content)


def test_a_matrix_belongs_to_a_table_of_stops(tmp_path):
    (tmp_path / "m.json").write_text("[[0, 1], [1, 0]]")
    (tmp_path / "a.json").write_text('{"problem": "tour", "travel": [[0, 1], [1, 0]]}')
    with pytest.raises(FairwayError, match="is json, which says itself how stops are reached"):
        read(tmp_path / "a.json", matrix=tmp_path / "m.json")
    with pytest.raises(FairwayError, match="beside a speed"):
        read(tmp_path / "a.json", speed=40)


@pytest.mark.parametrize("speed", [0, -1, math.nan, math.inf, True])
def test_a_speed_is_a_number_above_zero(speed, tmp_path):
    path = tmp_path / "any.csv"
    path.write_text("name,lat,lon\na,1,2\nb,2,3\n")
    with pytest.raises(FairwayError, match="expected kilometres per hour, above 0"):
        read(path, speed=speed)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (OSRM, "an OSRM table: give it as --matrix beside a CSV of stops"),
        (
            {"sources_to_targets": []},
            "a Valhalla matrix: give it as --matrix beside a CSV of stops",
        ),
    ],
)
def test_the_answer_of_a_router_given_alone_is_recognised(answer, said, tmp_path):
    (tmp_path / "times.json").write_text(json.dumps(answer))
    with pytest.raises(FairwayError, match=said):
        read(tmp_path / "times.json")
