"""What planners ask for, as docs/planning.md has it: every file there is read, and every answer is the one shown."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

import fairway
from fairway import cli
from fairway.errors import FairwayError

PAGE = (Path(__file__).parents[1] / "docs" / "planning.md").read_text("utf-8")
EXAMPLES = {
    int(number): dict(re.findall(r"```(csv|json)[^\n]*\n(.*?)```", body, re.DOTALL))
    for number, body in re.findall(r"^## (\d+)\. (.*?)(?=^## )", PAGE, re.DOTALL | re.MULTILINE)
}


@pytest.fixture
def table(tmp_path):
    def read(number, **beside):
        path = tmp_path / "stops.csv"
        path.write_text(EXAMPLES[number]["csv"])
        return fairway.read(path, **beside)

    return read


def test_the_page_has_the_fourteen_asks():
    assert sorted(EXAMPLES) == list(range(1, 15))


def test_a_table_with_clock_times_degrees_and_further_columns(table):
    morning = table(1, speed=40)
    assert morning.problem == "tsptw"
    assert [morning.source.clock.show(time) for time in morning.opens] == [
        "07:30",
        "08:30",
        "13:00",
        "09:15",
    ]
    assert morning.service.tolist() == [0, 15, 10, 90]
    assert list(morning.source.columns) == ["Address", "Phone"]


SHOWN = re.findall(
    r"^```console\n((?:\$ fairway (?:solve|resume).*\n)+)((?: .*\n|\n)*)```", PAGE, re.MULTILINE
)
AMPLE = ("--seconds", "60")
"""So that proofs end on a busy machine, too."""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for title, text in re.findall(r'```(?:csv|json) title="(.*?)"\n(.*?)```', PAGE, re.DOTALL):
        (tmp_path / title).write_text(text)
    return tmp_path


def ran(command, monkeypatch):
    here = ("--workers", "1") if " solve " in command else ()
    monkeypatch.setattr("sys.argv", [*shlex.split(command), *AMPLE, *here])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert not ended.value.code


def words_of(line):
    """Of a line; the seconds that a solve took differ from time to time."""
    return re.sub(r" \d+\.\d{3}(?= +(exact|local) search)", "", line).split()


@pytest.mark.parametrize(("commands", "shown"), SHOWN, ids=[each[0].strip() for each in SHOWN])
def test_the_answer_that_is_shown_is_the_one_that_is_given(
    commands, shown, folder, monkeypatch, capsys
):
    for command in commands.splitlines():
        ran(command.removeprefix("$ "), monkeypatch)
    said = [words_of(line) for line in capsys.readouterr().out.splitlines()]
    for line in filter(str.strip, shown.splitlines()):
        assert words_of(line) in said


def test_every_ask_has_a_command():
    bodies = re.split(r"^## \d+\. ", PAGE.partition("## What is left")[0], flags=re.MULTILINE)[1:]
    assert all("$ fairway " in body for body in bodies)


def test_the_plans_that_are_shown_are_the_ones_that_are_written(folder, monkeypatch):
    for command in re.findall(r"^\$ (fairway .*--out .*\..*)$", PAGE, re.MULTILINE):
        ran(command, monkeypatch)
    shown = re.findall(r"```\n(step,.*?)```", PAGE, re.DOTALL)[0].splitlines()
    assert (folder / "plan.csv").read_text("utf-8-sig").splitlines()[: len(shown)] == shown
    clock, vroom = re.findall(r"^```json\n(.*?)\n```", PAGE, re.DOTALL | re.MULTILINE)
    assert clock in (folder / "plan.json").read_text()
    assert vroom in (folder / "answer.vroom.json").read_text()


def test_the_rest_of_the_day_is_planned_from_where_the_vehicle_is(table):
    morning = table(1, speed=40)
    rest = morning.resume([1, 3], None, 645)
    result = fairway.solve(rest)
    assert [rest.names[node] for node in result.tour] == ["Bakery"]
    assert morning.source.clock.show(result.makespan) == "13:17:52"


def test_a_router_beside_it(table, tmp_path):
    (tmp_path / "times.json").write_text(EXAMPLES[2]["json"])
    morning = table(1, matrix=tmp_path / "times.json")
    assert morning.travel[0, 1] == 540.1 / 60
    assert morning.cost[0, 1] == 6100
    assert morning.travel[2, 3] == morning.cost[2, 3] == np.inf
    assert morning.source.distance_unit == "m"


@pytest.mark.parametrize(
    ("number", "stated"),
    [
        (5, "several windows per stop"),
        (6, "pickups and deliveries"),
        (7, "optional stops"),
        (8, "a price of lateness"),
        (9, "breaks"),
        (10, "an end of its own"),
        (11, "time windows"),
    ],
)
def test_each_ask_is_understood(number, stated, table):
    assert stated in table(number).constraints


def test_pairs_have_loads_and_a_capacity(table):
    parcels = table(6)
    assert parcels.demand.tolist() == [0, 3, -3, 2, -2]
    assert parcels.capacity == 4
    assert parcels.pairs == ((1, 2), (3, 4))


def test_skipping_lateness_and_breaks_are_in_the_units_of_the_table(table):
    assert table(8).latest.tolist() == [np.inf, 570, np.inf]
    assert table(9).breaks == ((720, 780, 30),)
    assert np.isinf(table(7).prize[:2]).all()
    assert table(7).prize[2] > table(7).prize[3] + table(7).prize[4]


SAID = re.findall(
    r"^\| (?!what|-)(.*?) \| (.*?) \|$", PAGE.partition("## What is refused")[2], re.MULTILINE
)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, '{"code": "Ok", "durations": [[0, 1], [1, 0]]}'),
        (1, "name,lat,lon\nd,1,1\na,2,2\n"),
        (2, "name,x,y,sevice\nd,1,1,\na,2,2,\n"),
        (3, "name,x,y,from,to\nd,1,1,0:00,24:00\na,2,2,22:00,06:00\n"),
    ],
)
def test_what_is_refused_is_said_as_the_page_has_it(number, text, tmp_path):
    (tmp_path / "file").write_text(text)
    with pytest.raises(FairwayError) as caught:
        fairway.read(tmp_path / "file")
    assert str(caught.value).endswith(SAID[number][1])
