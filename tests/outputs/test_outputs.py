import csv
import datetime
import io
import json
import re
from itertools import pairwise

import numpy as np
import pytest
from days import NAMES, day, solution, source

import fairway
from fairway.errors import InvalidFile, InvalidRequest
from fairway.outputs import FORMATS, format_of, rendered, write_plan
from fairway.outputs.csv import safe
from fairway.outputs.layout import laid_out
from fairway.outputs.words import span, standing
from fairway.problems.source import Clock, Source


def table(instance=None):
    instance = day() if instance is None else instance
    text = rendered(instance, solution(instance), "csv")
    return list(csv.DictReader(io.StringIO(text)))


def test_csv_has_clock_times_distances_ids_and_the_users_columns():
    rows = table()
    assert [row["step"] for row in rows] == [
        "start",
        "stop",
        "break",
        "stop",
        "stop",
        "end",
        "left out",
    ]
    ames, cary, dale = rows[1], rows[4], rows[6]
    assert (ames["arrival"], ames["wait"], ames["start"]) == ("08:25", "0:05", "08:30")
    assert (cary["late"], cary["load"], cary["distance (km)"]) == ("0:20", "7", "30")
    assert (ames["id"], rows[3]["phone"], ames["load (given)"]) == ("7", "555", "a")
    assert (dale["name"], dale["arrival"], dale["phone"]) == ("Dale", "", "x")


def test_csv_without_a_clock_has_plain_numbers():
    rows = table(day(None, source=None))
    assert (rows[1]["arrival"], rows[4]["late"]) == ("505", "20")
    assert "phone" not in rows[0]


@pytest.mark.parametrize("cell", ["=1+1", "+47 22", "-cmd", "@SUM(A1)", "\tx", "=", "-", "+1;=2"])
def test_no_cell_is_run_by_a_spreadsheet(cell):
    assert safe(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", ["-7", "+4.5", "08:30", "-0:15", "Ames", "", "a=b"])
def test_plain_cells_stay_as_they_are(cell):
    assert safe(cell) == cell


@pytest.mark.parametrize("cell", ["\x1b[31mred", "bell\a", "\x9b2J", "nul\0"])
def test_no_cell_commands_the_terminal_that_shows_the_file(cell):
    assert safe(cell).replace("\ufffd", "").isprintable()
    assert safe(cell) != cell


def test_json_has_the_result_the_steps_and_what_is_left_out():
    instance = day()
    result = fairway.solve(instance, seconds=0.2)
    said = json.loads(rendered(instance, result, "json"))
    own = result.to_dict()
    assert {key: said[key] for key in own} == json.loads(json.dumps(own))
    assert said["latest_departure"] >= said["departure"]
    assert [step["name"] for step in said["steps"] if step["kind"] == "stop"] == [
        NAMES[stop] for stop in result.tour
    ]
    assert said["steps"][0]["clock"]["departure"] == "08:05"
    assert [stop["name"] for stop in said["left_out"]] == [NAMES[n] for n in result.unserved]


def test_json_of_a_solution_has_its_steps_too():
    said = json.loads(rendered(day(), solution(), "json"))
    assert (said["cost"], said["lateness"], said["tour"]) == (80, 20, [1, 2, 3])
    assert said["steps"][1]["columns"]["phone"] == "+47 22"
    assert said["left_out"][0]["id"] == "10"


def test_geojson_is_a_line_and_a_point_per_step_in_longitude_and_latitude():
    said = json.loads(rendered(day(), solution(), "geojson"))
    assert said["type"] == "FeatureCollection"
    assert said["coordinates_are"] == "longitude, latitude"
    tour, *points = said["features"]
    assert tour["geometry"]["type"] == "LineString"
    assert tour["geometry"]["coordinates"][0] == tour["geometry"]["coordinates"][-1]
    assert len(tour["geometry"]["coordinates"]) == 5
    kinds = [point["properties"]["kind"] for point in points]
    assert kinds == ["start", "stop", "break", "stop", "stop", "end", "left out"]
    assert points[1]["geometry"] == {"type": "Point", "coordinates": [10.71, 59.93]}
    assert points[1]["properties"]["clock"]["start"] == "08:30"
    assert points[1]["properties"]["phone"] == "+47 22"
    assert points[1]["properties"]["load"] == 5
    assert points[2]["geometry"] is None


def test_geojson_in_a_plane_says_so_and_without_places_is_refused():
    plane = day(source=source(geographic=False))
    said = json.loads(rendered(plane, solution(plane), "geojson"))
    assert said["coordinates_are"].startswith("x, y")
    with pytest.raises(InvalidRequest, match="GeoJSON needs coordinates"):
        rendered(day(coordinates=None), solution(), "geojson")


def test_vrooms_solution_of_a_day_in_seconds():
    said = json.loads(rendered(day(), solution(), "vroom"))
    assert said["code"] == 0
    summary = said["summary"]
    assert (summary["routes"], summary["unassigned"], summary["cost"]) == (1, 1, 80 * 60)
    assert (summary["duration"], summary["waiting_time"]) == (80 * 60, (5 + 5 + 25) * 60)
    assert summary["distance"] == 40_000
    assert summary["violations"] == [{"cause": "delay", "duration": 20 * 60}]
    assert [task["id"] for task in said["unassigned"]] == [10]
    (route,) = said["routes"]
    assert route["vehicle"] == 100
    assert [step["type"] for step in route["steps"]] == [
        "start",
        "job",
        "break",
        "job",
        "job",
        "end",
    ]
    start, ames, rest, *_ = route["steps"]
    assert (start["arrival"], start["service"]) == (485 * 60, 0)
    assert (ames["id"], ames["arrival"], ames["waiting_time"]) == (7, 505 * 60, 300)
    assert (ames["service"], ames["load"], ames["location"]) == (600, [5], [10.71, 59.93])
    assert (rest["arrival"], rest["waiting_time"], rest["service"]) == (540 * 60, 300, 1800)


def test_each_step_of_vroom_leaves_when_the_next_drive_begins():
    (route,) = json.loads(rendered(day(), solution(), "vroom"))["routes"]
    steps = route["steps"]
    for one, other in pairwise(steps):
        left = one["arrival"] + one["waiting_time"] + one["setup"] + one["service"]
        assert left + other["duration"] - one["duration"] <= other["arrival"]


def test_a_vroom_problem_is_answered_as_vroom_answers_it():
    """Example 2 of VROOM's documentation, with the answer that is published there."""
    travel = [
        [0, 2104, 197, 1299],
        [2103, 0, 2255, 3152],
        [197, 2256, 0, 1102],
        [1299, 3153, 1102, 0],
    ]
    columns = {"type": ("start", "job", "job", "end"), "location_index": ("0", "1", "2", "3")}
    told = Source(None, columns, ids=("0", "1414", "1515", "0"))
    instance = fairway.Instance(
        np.array(travel), end=3, prize=[np.inf, 9e4, 9e4, np.inf], source=told
    )
    said = json.loads(rendered(instance, fairway.solve(instance, seconds=0.2), "vroom"))
    nothing = {"setup": 0, "service": 0, "waiting_time": 0, "violations": []}
    total = {"cost": 5461, "duration": 5461, "priority": 0, **nothing}

    def step(kind, place, at, **more):
        return {
            "type": kind,
            "location_index": place,
            "arrival": at,
            "duration": at,
            **nothing,
            **more,
        }

    steps = [
        step("start", 0, 0),
        step("job", 1, 2104, id=1414, job=1414),
        step("job", 2, 4359, id=1515, job=1515),
        step("end", 3, 5461),
    ]
    assert said == {
        "code": 0,
        "summary": {**total, "routes": 1, "unassigned": 0},
        "unassigned": [],
        "routes": [{"vehicle": 0, **total, "steps": steps}],
    }


def test_pairs_are_pickups_and_deliveries_and_a_shrinking_load_is_what_is_left():
    instance = fairway.Instance(np.ones((3, 3)), pairs=[(2, 1)])
    steps = json.loads(rendered(instance, fairway.verify(instance, [2, 1]), "vroom"))["routes"][0][
        "steps"
    ]
    assert [step["type"] for step in steps] == ["start", "pickup", "delivery", "end"]
    assert steps[1]["location_index"] == 2
    instance = fairway.Instance(np.ones((3, 3)), demand=[0, 2, 3], capacity=9, load="shrinking")
    steps = json.loads(rendered(instance, fairway.verify(instance, [2, 1]), "vroom"))["routes"][0][
        "steps"
    ]
    assert [step["load"] for step in steps] == [[5], [2], [0], [0]]


def test_a_vehicle_that_starts_anywhere_starts_at_its_first_task():
    columns = {"type": ("anywhere", "job"), "location_index": ("", "4")}
    told = Source(None, columns, ids=("3", "5"))
    instance = fairway.Instance(np.array([[0, 0], [7, 0]]), source=told)
    (route,) = json.loads(rendered(instance, fairway.verify(instance, [1]), "vroom"))["routes"]
    assert [step["type"] for step in route["steps"]] == ["start", "job", "end"]
    assert [step["location_index"] for step in route["steps"]][:2] == [4, 4]
    assert route["vehicle"] == 3


def events(text):
    unfolded = text.replace("\r\n ", "")
    found = re.findall(r"BEGIN:VEVENT\r\n(.*?)END:VEVENT", unfolded, re.DOTALL)
    return [dict(line.split(":", 1) for line in event.strip().split("\r\n")) for event in found]


def test_a_calendar_has_an_event_for_each_stop_and_break():
    text = rendered(day(), solution(), "ical")
    assert text.startswith("BEGIN:VCALENDAR\r\nVERSION:2.0\r\n")
    found = events(text)
    assert [event["SUMMARY"] for event in found] == ["=Ames\\, Ltd", "break", "Boone", "Cary"]
    assert (found[0]["DTSTART"], found[0]["DTEND"]) == ("20261118T083000", "20261118T084000")
    assert found[0]["GEO"] == "59.930000;10.710000"
    assert "waiting 0:05\\nload 5\\nphone: +47 22" in found[0]["DESCRIPTION"]
    assert "late by 0:20" in found[3]["DESCRIPTION"]
    assert len({event["UID"] for event in found}) == 4


def test_lines_of_a_calendar_are_at_most_75_octets_and_whole_characters():
    instance = day(names=("Depot", "東京都" * 40, "a" * 200, "x\r\nEND:VCALENDAR", "Dale"))
    text = rendered(instance, solution(instance), "ical")
    assert all(len(line.encode()) <= 75 for line in text.split("\r\n"))
    assert text.split("\r\n").count("END:VCALENDAR") == 1
    assert events(text)[0]["SUMMARY"] == "東京都" * 40


def test_a_calendar_needs_a_clock_and_a_date():
    undated = day(Clock())
    assert events(rendered(undated, solution(undated), "ical", datetime.date(2027, 1, 2)))[0][
        "DTSTART"
    ].startswith("20270102T")
    with pytest.raises(InvalidRequest, match="needs a date"):
        rendered(undated, solution(undated), "ical")
    plain = day(None, source=None)
    with pytest.raises(InvalidRequest, match="needs times of day"):
        rendered(plain, solution(plain), "ical", datetime.date(2027, 1, 2))


def test_stamps_with_an_offset_become_utc():
    zone = datetime.timezone(datetime.timedelta(hours=2))
    instance = day(Clock(datetime.date(2026, 11, 18), 60.0, False, zone))
    assert (
        events(rendered(instance, solution(instance), "ical"))[0]["DTSTART"] == "20261118T063000Z"
    )


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("plan.csv", "csv"),
        ("plan.JSON", "json"),
        ("a.geojson", "geojson"),
        ("a.vroom.json", "vroom"),
        ("a.ics", "ical"),
    ],
)
def test_the_name_of_a_file_chooses_its_format(tmp_path, name, form):
    write_plan(day(), solution(), tmp_path / name)
    expected = rendered(day(), solution(), form).encode()
    assert (tmp_path / name).read_bytes() == expected
    write_plan(day(), solution(), tmp_path / "other.txt", form)
    assert (tmp_path / "other.txt").read_bytes() == expected


def test_what_cannot_be_written_is_refused_in_a_sentence(tmp_path):
    with pytest.raises(InvalidFile, match=r"the suffix \.xls names no output; expected one of"):
        format_of(tmp_path / "plan.xls")
    with pytest.raises(InvalidRequest, match="there is no output 'pdf'"):
        write_plan(day(), solution(), tmp_path / "plan.csv", "pdf")
    shut = fairway.TSPTW(np.array([[0, 9], [9, 0]]), [0, 0], [20, 3])
    with pytest.raises(InvalidRequest, match="no tour to write, since the result is infeasible"):
        write_plan(shut, fairway.solve(shut, seconds=0.1), tmp_path / "plan.csv")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("form", [form for form in FORMATS if form != "ical"])
def test_names_that_are_no_text_are_written_all_the_same(form):
    instance = day(names=("D\ud800", "a", "b", "c", "d"), source=None)
    assert rendered(instance, solution(instance), form).encode("utf-8", "backslashreplace")


def test_json_in_lines_is_the_same_json():
    record = {
        "a": [1, [2, 3]],
        "b": [{"c": {}, "d": [{"e": "\n"}]}],
        "f": {"g": [{"h": None}]},
        "i": [],
    }
    assert json.loads(laid_out(record)) == record


@pytest.mark.parametrize(
    ("status", "gap", "words"),
    [
        ("optimal", 0.0, "optimal"),
        ("feasible", 0.02, "within 2.0 %"),
        ("feasible", 0.01301, "within 1.4 %"),
        ("feasible", 0.4711, "within 48 %"),
        ("feasible", 0.0, "within 0 %"),
        ("feasible", 3.0, "feasible"),
        ("feasible", np.inf, "feasible"),
    ],
)
def test_a_standing_never_promises_more_than_is_proved(status, gap, words):
    assert standing(status, gap) == words


def test_stretches_of_time_are_hours_and_minutes_on_the_clock():
    assert [span(day(), minutes) for minutes in (0, 5, 75, 0.5, -15)] == [
        "0:00",
        "0:05",
        "1:15",
        "0:00:30",
        "-0:15",
    ]
