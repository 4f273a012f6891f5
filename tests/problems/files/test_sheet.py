"""Spreadsheets: the same tables of stops, with cells that are dates, times and numbers of their own."""

import datetime
import io
import re
import sys
import warnings
import zipfile

import openpyxl
import pytest

from fairway.errors import FairwayError
from fairway.problems.files import Content, read, read_content, sheet, table
from fairway.problems.files.legs import Beside

HEADER = ("Customer", "Lat", "Lon", "From", "To", "Service", "Phone")
ROWS = (
    ("Depot", 59.91, 10.75, datetime.time(7, 30), datetime.time(17, 0), None, 5551),
    ("Mill", 59.93, 10.70, datetime.time(8, 30), "10:00", datetime.timedelta(minutes=15), None),
    (7, 59.95, 10.80, "1:00 pm", datetime.datetime(1899, 12, 30, 15, 30), 10.0, "555 3"),
)
TEXT = """Customer,Lat,Lon,From,To,Service,Phone
Depot,59.91,10.75,07:30,17:00,,5551
Mill,59.93,10.70,08:30,10:00,0:15,
7,59.95,10.80,13:00,15:30,10,555 3
"""


def book(*rows, before=0):
    workbook = openpyxl.Workbook()
    for _ in range(before):
        workbook.create_sheet("notes", 0).append(["nothing", "here"])
    for row in rows:
        workbook["Sheet"].append(row)
    file = io.BytesIO()
    workbook.save(file)
    return file.getvalue()


def test_a_spreadsheet_is_read_like_the_same_table_as_csv(tmp_path):
    (tmp_path / "plan.xlsx").write_bytes(book(HEADER, *ROWS))
    found = read(tmp_path / "plan.xlsx", speed=40)
    expected = table.parse(TEXT, "plan", None, Beside(speed=40.0))
    assert found.names == expected.names
    assert found.opens.tolist() == expected.opens.tolist() == [450, 510, 780]
    assert found.closes.tolist() == expected.closes.tolist() == [1020, 600, 930]
    assert found.service.tolist() == expected.service.tolist() == [0, 15, 10]
    assert found.travel.tolist() == expected.travel.tolist()
    assert found.source == expected.source
    assert found.name == "plan"


def test_dates_in_cells_are_dates():
    day = datetime.datetime(2026, 11, 18)
    rows = [
        (name, 0, 0, day.replace(hour=hour), day.replace(day=19))
        for name, hour in (("d", 7), ("a", 9))
    ]
    instance = sheet.parse(book(("name", "x", "y", "open", "close"), *rows), "", Beside())
    assert instance.opens.tolist() == [420, 540]
    assert instance.closes.tolist() == [1440, 1440]
    assert instance.source.clock.origin == day.date()


def test_a_day_that_is_carried_along_is_written_as_a_day():
    day = datetime.datetime(2026, 11, 18)
    instance = sheet.parse(
        book(("name", "x", "y", "Date"), ("d", 0, 0, day), ("a", 3, 4, None)), "", Beside()
    )
    assert instance.source.columns == {"Date": ("2026-11-18", "")}


def test_what_openpyxl_has_to_say_of_styles_is_no_business_of_a_planner():
    """The styles have no default."""
    content, changed = book(HEADER, *ROWS), io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(changed, "w") as new:
        for name in old.namelist():
            text = old.read(name)
            if name == "xl/styles.xml":
                text = re.sub(rb"<cellStyles.*</cellStyles>", b"", text)
            new.writestr(name, text)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sheet.parse(changed.getvalue(), "", Beside(speed=40.0)).nodes == 3


def test_the_first_sheet_with_stops_counts_and_blank_rows_do_not():
    content = book(("Route of Monday",), (), HEADER, (), *ROWS, (None, None), before=2)
    assert sheet.parse(content, "", Beside(speed=40.0)).names == ("Depot", "Mill", "7")


def test_what_is_wrong_is_said_with_its_row(tmp_path):
    (tmp_path / "plan.xlsx").write_bytes(book(HEADER, ROWS[0], ("Mill", "north", *ROWS[1][2:])))
    with pytest.raises(
        FairwayError, match=r"plan.xlsx:3: expected 'lat', a finite number, found 'north'"
    ):
        read(tmp_path / "plan.xlsx", speed=40)
    (tmp_path / "plan.xlsx").write_bytes(book(("a", "b")))
    with pytest.raises(FairwayError, match="no sheet begins with a header of stops"):
        read(tmp_path / "plan.xlsx")
    (tmp_path / "plan.xlsx").write_bytes(book(HEADER))
    with pytest.raises(FairwayError, match="no rows"):
        read(tmp_path / "plan.xlsx")


def test_a_spreadsheet_that_claims_too_much_is_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(sheet, "MOST_CONTENT", 1_000)
    (tmp_path / "plan.xlsx").write_bytes(book(HEADER, *ROWS))
    with pytest.raises(
        FairwayError, match=r"the spreadsheet claims \d+ bytes; expected at most 1000"
    ):
        read(tmp_path / "plan.xlsx")


def test_a_damaged_spreadsheet_is_refused(tmp_path):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("xl/workbook.xml", "<not xml")
    (tmp_path / "plan.xlsx").write_bytes(file.getvalue())
    with pytest.raises(FairwayError, match="the spreadsheet is damaged"):
        read(tmp_path / "plan.xlsx")


def test_without_openpyxl_one_sentence_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    (tmp_path / "plan.xlsx").write_bytes(b"PK\x03\x04 xl/workbook.xml")
    with pytest.raises(FairwayError, match=r"pip install 'fairway\[xlsx\]', or save it as CSV"):
        read(tmp_path / "plan.xlsx")


def test_a_formula_whose_value_was_never_saved_is_refused():
    formula = book(("name", "x", "y", "service"), ("d", 0, 0, 5), ("a", 3, 4, "=D2*2"))
    with pytest.raises(FairwayError, match=r"the formula '=D2\*2' has no value"):
        read_content(Content("stops.xlsx", formula))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(99), "is a spreadsheet of old (.xls)"),
        (b"\xff\xfename\tx\ty\n", "begins like text in UTF-16 and is none"),
        (b"D,0,0,8:00\nA,3,4,9:00\n", "whose first lines name no columns"),
        (b"%PDF-1.4\n%", "is a PDF document"),
    ],
)
def test_what_people_have_besides_is_refused_by_its_name(content, said):
    with pytest.raises(FairwayError) as refused:
        read_content(Content("stops", content))
    assert said in str(refused.value)


def test_another_archive_is_refused_by_what_is_in_it():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("stops.csv", TEXT)
    with pytest.raises(FairwayError, match=r"an archive with 'stops.csv' in it"):
        read_content(Content("stops.zip", file.getvalue()))
