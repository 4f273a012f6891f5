"""A table of stops in a spreadsheet (.xlsx), read through the extra `xlsx`."""

import datetime
import io
import re
import warnings
import zipfile
from collections.abc import Iterator, Sequence

from fairway.problems.files.columns import header_of, known_columns
from fairway.problems.files.legs import Beside
from fairway.problems.files.rows import Table
from fairway.problems.files.stops import instance_of
from fairway.problems.files.text import Unreadable, check_size, shortened
from fairway.problems.instance import Instance

BOOK = "xl/workbook.xml"
"""The member by which a spreadsheet is told from other archives."""
MOST_CONTENT = 2**28
"""Bytes of all its members, unpacked."""
MOST_ROWS, MOST_COLUMNS = 50_000, 1_000
"""Looked at, blank ones included."""
PREAMBLE = 10
"""Rows among which the header must be."""
FORMULA = re.compile(rb"<f[ >/]")
"""How a formula begins in the parts of a workbook."""
EPOCH = datetime.date(1900, 1, 1)
"""Dates up to here are times of day in disguise."""


def recognises(content: bytes) -> bool:
    """Whether an archive holds a workbook."""
    return content.startswith(b"PK\x03\x04") and BOOK.encode() in content


def parse(content: bytes, name: str, beside: Beside) -> Instance:
    """The instance of the first sheet with a table of stops.

    Everything is caught here: on damaged bytes zipfile, the XML parser and openpyxl fail in more ways than they
    document.
    """
    try:
        import openpyxl
    except ModuleNotFoundError as error:
        raise Unreadable(
            "reading a spreadsheet needs openpyxl; install it with: pip install 'fairway[xlsx]', or save it as CSV"
        ) from error
    try:
        _check_content(content)
        with warnings.catch_warnings(action="ignore"):  # styles and the like: no plan needs them
            book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True)
            sheets = [_from_header(list(_rows(sheet))) for sheet in book.worksheets]
            _check_formulas(content, book.worksheets)
    except Unreadable:
        raise
    except Exception as error:
        raise Unreadable(f"the spreadsheet is damaged: {error}") from error
    chosen = next(filter(None, sheets), None)
    if chosen is None:
        raise Unreadable(
            "no sheet begins with a header of stops; expected columns like name, lat, lon, open, close in one of its "
            f"first {PREAMBLE} rows"
        )
    return instance_of(_table(chosen), name, beside)


def _from_header(rows: list[tuple[int, list[str]]]) -> list[tuple[int, list[str]]]:
    """The rows of a sheet from its header on, above which titles may stand; none without a header."""
    for at, (_, cells) in enumerate(rows[:PREAMBLE]):
        if len(known_columns(cells)) >= 2:
            return rows[at:]
    return []


def _table(rows: list[tuple[int, list[str]]]) -> Table:
    (line, cells), *rest = rows
    header = header_of(cells, line)
    if not rest:
        raise Unreadable("the table has a header but no rows; expected the depot first", line)
    check_size(len(rest))
    width = len(cells)
    filled = [(row + [""] * (width - len(row)))[:width] for _, row in rest]
    return Table(header, filled, [line for line, _ in rest], comma=True)


def _rows(sheet: object) -> Iterator[tuple[int, list[str]]]:
    """The rows of a sheet that say something, each with its number."""
    for line, row in enumerate(_cells(sheet), 1):
        cells = [cell_text(cell) for cell in row]
        if any(cells):
            yield line, cells


def _cells(sheet: object) -> Iterator[tuple[object, ...]]:
    """The cells of the rows that are looked at."""
    most = {"max_row": MOST_ROWS, "max_col": MOST_COLUMNS, "values_only": True}
    return sheet.iter_rows(**most)  # pyrefly: ignore[missing-attribute]


def cell_text(value: object) -> str:
    """What a cell says, as one would type it."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case float() if value.is_integer() and abs(value) < 1e15:
            return str(int(value))
        case datetime.datetime():
            midnight = value.time() == datetime.time()
            day = str(value.date()) if midnight else value.isoformat(" ")
            return str(value.time()) if value.date() <= EPOCH else day
        case datetime.timedelta():
            seconds = round(value.total_seconds())
            return f"{seconds // 3600}:{seconds % 3600 // 60:02d}:{seconds % 60:02d}"
    return str(value).strip()


def _check_formulas(content: bytes, sheets: Sequence[object]) -> None:
    """Refuse formulas whose values were never saved, which read as blank."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = [name for name in archive.namelist() if name.startswith("xl/worksheets/")]
        if not any(FORMULA.search(archive.read(name)) for name in parts):
            return
    import openpyxl

    stated = openpyxl.load_workbook(io.BytesIO(content), read_only=True).worksheets
    for sheet, other in zip(sheets, stated, strict=True):
        pairs = zip(_cells(sheet), _cells(other), strict=False)
        for line, (known, said) in enumerate(pairs, 1):
            for value, text in zip(known, said, strict=False):
                if value is None and isinstance(text, str) and text.startswith("="):
                    raise Unreadable(
                        f"the formula {shortened(text)} has no value; open the spreadsheet, save it, and try again",
                        line,
                    )


def _check_content(content: bytes) -> None:
    """Know how much there is before any of it is unpacked."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        claimed = sum(info.file_size for info in archive.infolist())
    if claimed > MOST_CONTENT:
        raise Unreadable(f"the spreadsheet claims {claimed} bytes; expected at most {MOST_CONTENT}")
