import csv
import io

import pytest
from rich.console import Console

from fairway.evaluate.tables import (
    Column,
    Row,
    Table,
    as_printed,
    cell,
    comma_separated,
    filled,
    lettered,
    markdown,
    span,
    terminal,
)

COLUMNS = (
    Column("inst", "Inst.", "percent"),
    Column("seconds", "Time", "seconds"),
    Column("note", "Note"),
    Column("gap", "its 95 %", "percent", aside=True),
    Column("empty", "Empty", "count", aside=True),
)
PUBLISHED = Row("published", "POMO*", {"inst": 1.425, "seconds": 13.0})
MEASURED = Row(
    "measured",
    "POMO*",
    {"inst": 1.425, "seconds": 7200.0, "seconds_about": True, "gap": (0.1, 0.25), "note": "a|b"},
)
TABLE = Table("tsptw50-hard", COLUMNS, (PUBLISHED, MEASURED), "Of POMO*.")


def test_markdown_marks_rows_and_keeps_what_the_paper_lacks_apart():
    assert markdown(TABLE) == (
        "## tsptw50-hard\n"
        "\n"
        "Of POMO\\*.\n"
        "\n"
        "|  | from | Inst. | Time | Note |\n"
        "| --- | --- | ---: | ---: | --- |\n"
        "| POMO\\* | published | 1.425 % | 13 s |  |\n"
        "| POMO\\* | measured | 1.43 % | ~2.0 h | a\\|b |\n"
        "\n"
        "What the paper's columns leave out, of the rows measured:\n"
        "\n"
        "|  | its 95 % |\n"
        "| --- | ---: |\n"
        "| POMO\\* | 0.100 % to 0.250 % |\n"
    )


def test_csv_has_numbers_in_full_and_two_columns_for_an_interval():
    other = Table("other", (Column("p", "p", "chance"),), (Row("measured", "x", {"p": 0.5}),))
    rows = list(csv.DictReader(io.StringIO(comma_separated([TABLE, other]))))
    assert [row["from"] for row in rows] == ["published", "measured", "measured"]
    assert (rows[1]["gap_low"], rows[1]["gap_high"], rows[1]["seconds"]) == ("0.1", "0.25", "7200")
    assert (rows[0]["gap_low"], rows[0]["note"], rows[2]["p"]) == ("", "", "0.5")
    assert rows[2]["table"] == "other"


def test_published_rows_never_stand_among_measured_ones():
    with pytest.raises(AssertionError, match="block of their own"):
        Table("x", COLUMNS, (MEASURED, PUBLISHED))


def test_columns_without_a_figure_are_left_out():
    assert [column.key for column in filled(TABLE).columns] == ["inst", "seconds", "note", "gap"]
    nothing = Table("x", COLUMNS, (Row("measured", "y", {"inst": float("nan")}),))
    assert filled(nothing).columns == ()


def test_no_figure_is_a_stroke():
    assert cell(Row("measured", "y", {"inst": float("nan")}), COLUMNS[0]) == "/"
    assert cell(Row("measured", "y", {"gap": (0.1, float("nan"))}), COLUMNS[3]) == "/"
    assert cell(Row("measured", "y", {}), COLUMNS[2]) == ""


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        (12.3456, "percent", "12.35 %"), (0.0, "percent", "0.00 %"), (0.1234, "percent", "0.123 %"),
        (-1e-12, "percent", "0.000 %"), (-0.25, "percent", "-0.250 %"),
        (25.61149, "number", "25.611"), (10_000, "count", "10,000"),
        (0.0004, "chance", "< 0.001"), (0.04, "chance", "0.040"), (7.0, "text", "7"),
    ],
)  # fmt: skip
def test_numbers_have_the_digits_of_their_kind(value, form, text):
    assert lettered(value, form) == text


def test_published_figures_keep_their_own_digits():
    assert [as_printed(value) for value in (1.425, 25.6, 0.005, -0.0, 7.0)] == [
        "1.425", "25.60", "0.005", "-0.00", "7.00",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0005, "0.5 ms"), (0.37, "370 ms"), (1.0, "1 s"), (13.8, "13.8 s"), (78.0, "78 s"),
        (150.0, "2.5 min"), (3540.0, "59.0 min"), (3600.0, "1.0 h"), (120960.0, "1.4 d"),
    ],
)  # fmt: skip
def test_times_have_the_unit_that_suits_them(seconds, text):
    assert span(seconds) == text


def test_a_terminal_shows_the_same():
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(terminal(TABLE))
    text = console.export_text()
    for part in ("tsptw50-hard", "published", "1.425 %", "~2.0 h", "0.100 % to 0.250 %", "a|b"):
        assert part in text
