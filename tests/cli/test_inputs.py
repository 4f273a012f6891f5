"""What goes beside a file of stops on the command line: a matrix, a speed."""

import json
import os

import pytest
from command import FEASIBLE, run, sentence

import fairway
from fairway.cli import inputs
from fairway.errors import InvalidTour
from fairway.problems.files import Content, read_content

STOPS = (
    "name,lat,lon,from,to,phone\nDepot,59.9,10.7,08:00,17:00,555\nMill,59.8,10.8,09:00,10:00,556\n"
)


@pytest.fixture
def degrees(tmp_path):
    path = tmp_path / "degrees.csv"
    path.write_text(STOPS)
    return path


def test_a_speed_is_asked_for_and_taken(degrees, tmp_path):
    out = tmp_path / "out.json"
    assert "give a speed in km/h (--speed 40)" in sentence(run("convert", degrees, out))
    result = run("convert", degrees, out, "--speed", "40")
    assert result.returncode == FEASIBLE
    assert result.stderr == ""
    kept = fairway.read(out)
    assert kept.source.columns == {"phone": ("555", "556")}
    assert kept.travel[0, 1] == fairway.read(degrees, speed=40).travel[0, 1]
    assert "expected kilometres per hour, above 0" in sentence(
        run("verify", degrees, "--tour", "Mill", "--speed", "0")
    )


def test_a_matrix_goes_beside_the_stops(degrees, tmp_path):
    times = tmp_path / "times.json"
    times.write_text(json.dumps({"code": "Ok", "durations": [[0, 1800], [1860, 0]]}))
    result = run("verify", degrees, "--tour", "Mill", "--matrix", times)
    assert result.returncode == FEASIBLE
    assert "cost 61" in result.stdout
    times.write_text("[[0]]")
    assert sentence(run("verify", degrees, "--tour", "Mill", "--matrix", times)).startswith(
        f"fairway: {times}"
    )
    alone = tmp_path / "osrm.json"
    alone.write_text('{"durations": [[0]]}')
    said = sentence(run("verify", alone, "--tour", "1"))
    assert "an OSRM table: give it as --matrix beside a CSV of stops" in said


def test_what_a_format_loses_of_the_users_file_is_said(degrees, tmp_path):
    result = run("convert", degrees, tmp_path / "out.tsp", "--speed", "40")
    assert "times of day, further columns and ids are not all kept in this format" in result.stderr


@pytest.mark.parametrize("verb", ["solve", "explain", "verify", "plot", "convert"])
def test_every_verb_that_reads_stops_takes_both(verb):
    page = run(verb, "--help", env=os.environ | {"COLUMNS": "200"}).stdout
    assert "--matrix" in page
    assert "--speed" in page


def test_what_is_done_may_name_breaks():
    text = (
        "name,kind,x,y,open,close,service\nD,,0,0,8:00,18:00,\nA,,3,4,,,\nB C,,5,5,,,\n"
        "Lunch,break,,,12:00,13:00,30\nbreak,break,,,15:00,16:00,10\n"
    )
    instance = read_content(Content("day.csv", text.encode()))
    assert inputs.done_given("A,Lunch,B C", instance) == ((1, 2), (0,))
    assert inputs.done_given("break 2", instance) == ((), (1,))
    assert inputs.done_given("B C", instance) == ((2,), ())
    assert inputs.done_given(" ", instance) == ((), ())
    with pytest.raises(InvalidTour, match="no stop is called 'Dinner'"):
        inputs.done_given("A,Dinner", instance)
