"""The table of a plan fits into the terminal, and says what it leaves out for that."""

import pytest

from fairway.cli import show, timetable
from fairway.judge import verify
from fairway.outputs.plan import plan_of
from fairway.problems.files import Content, read_content

DAY = """name,lat,lon,hours,minutes,Address,Note
Depot,52.50,13.40,07:00-18:00,,Quay 1,
The baker by the river,52.60,13.40,08:00-10:00; 14:00-16:00,10,High Street 12,Ring twice at the green door
Mill,52.55,13.45,,5,Low Street 3,
"""


@pytest.fixture
def plan():
    instance = read_content(Content("day.csv", DAY.encode()), speed=40.0)
    return plan_of(instance, verify(instance, (1, 2)))


@pytest.mark.parametrize(
    ("width", "without"),
    [
        (200, None),
        (125, "  without Note, for"),
        (70, "  without windows, wait, Address, Note, for"),
    ],
)
def test_a_narrow_terminal_has_fewer_columns_and_whole_cells(
    plan, width, without, monkeypatch, capsys
):
    monkeypatch.setattr(show.out, "width", width)
    timetable.print_plan(plan)
    lines = capsys.readouterr().out.splitlines()
    said = [line for line in lines if line.startswith("  without")]
    assert [line[: len(without or "")] for line in said] == ([without] if without else [])
    shown = [line for line in lines if not line.startswith("  ")]
    assert max(map(len, shown)) <= width
    assert not any("\u2026" in line for line in shown)


def test_parcels_without_a_window_have_arrivals_from_the_depot_and_back_to_it():
    text = (
        "name,x,y,pickup,parcels,capacity\nDepot,0,0,,,4\nPrinter,3,4,,3,\nOffice,6,8,Printer,,\n"
    )
    instance = read_content(Content("parcels.csv", text.encode()))
    shown = timetable.plan_table(plan_of(instance, verify(instance, (1, 2))))
    assert [str(column.header) for column in shown.columns[:3]] == ["stop", "arrival", "departure"]
    assert list(shown.columns[0].cells) == ["Depot", "Printer", "Office", "Depot"]
    assert list(shown.columns[1].cells) == ["", "5", "10", "20"]


def test_a_stop_that_is_always_open_has_no_window_to_show(plan):
    cells = [list(column.cells) for column in timetable.plan_table(plan).columns]
    assert cells[1] == [
        "07:00-18:00", "08:00-10:00; 14:00-16:00", "", "07:00-18:00"
    ]  # fmt: skip
