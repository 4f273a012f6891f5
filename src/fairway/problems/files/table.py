"""A table of stops as CSV, the way a dispatcher keeps it: a header, then a row per stop, the depot first or marked."""

import csv
import io
import re
from collections.abc import Iterator
from itertools import islice

from fairway.problems.checks import MOST_NODES
from fairway.problems.distances import Distances
from fairway.problems.files import solomon
from fairway.problems.files.columns import header_of, known_columns
from fairway.problems.files.legs import Beside
from fairway.problems.files.rows import Table
from fairway.problems.files.stops import instance_of
from fairway.problems.files.table_writer import render
from fairway.problems.files.text import Unreadable, check_size, shortened
from fairway.problems.instance import Instance

__all__ = ["check_columns", "parse", "recognises", "render"]

FEWEST = 2
"""Columns that a header must name for it to be taken for one of a table of stops."""
MOST_LINES = 10 * MOST_NODES
"""Blank ones included."""
DELIMITERS = ("\t", ";", ",", "|")
PREAMBLE = 10
"""Lines among which the header must be."""


def recognises(text: str) -> bool:
    """Whether one of the first lines names some of the columns that mean something."""
    header = _first_line(text[_start(text) :])
    if len(known_columns(_cells(header))) < FEWEST:
        return False
    return any(mark in header for mark in ",;") or not solomon.recognises(text)


def check_columns(text: str) -> None:
    """Say of a table in other columns than ours that it is one, and which those are."""
    first = _first_line(text)
    found = _cells(first)
    if len(found) >= 3 and all(re.fullmatch(r"[^\W\d][\w .()/-]*", column) for column in found):
        raise Unreadable(
            "looks like CSV, but has no columns id or name, x, y or lat, lon, open, close; "
            f"found {shortened(', '.join(found), 60)}",
            1,
        )
    if len(found) >= 3 and any(map(str.isalpha, first)) and found[0][:1] not in '{["':
        raise Unreadable(
            "looks like a table whose first lines name no columns; expected a header such as name,lat,lon,open,close",
            1,
        )


def parse(
    text: str, name: str, distances: Distances | None, beside: Beside | None = None
) -> Instance:
    """The instance of a table; ids become names unless they only count the rows."""
    return instance_of(_table(text), name, beside or Beside(distances))


def _table(text: str) -> Table:
    rows = _rows(text)
    header_line, cells = next(rows)
    header = header_of(cells, header_line)
    width = len(cells)
    table = Table(header, [], [], comma=_delimiter(_first_line(text[_start(text) :])) != ",")
    for line, row in rows:
        if len(row) < width or any(cell.strip() for cell in row[width:]):
            raise Unreadable(f"expected {width} cells like the header, found {len(row)}", line)
        table.rows.append(row)
        table.lines.append(line)
        check_size(len(table.rows))
    if not table.rows:
        raise Unreadable(
            "the table has a header but no rows; expected the depot first", header_line
        )
    return table


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """The rows that say something from the header on, each with the number of its last line."""
    start = _start(text)
    delimiter, above = _delimiter(_first_line(text[start:])), text.count("\n", 0, start)
    reader = csv.reader(io.StringIO(text[start:], newline=""), delimiter=delimiter, strict=True)
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                yield above + reader.line_num, row
            elif reader.line_num > MOST_LINES:
                raise Unreadable(f"holds more than {MOST_LINES} lines", reader.line_num)
    except csv.Error as error:
        raise Unreadable(f"is not a table: {error}", above + reader.line_num) from error


def _start(text: str) -> int:
    """Where the header stands, above which there may be titles; the beginning where there is none."""
    for found in islice(re.finditer(r"\S[^\n]*", text), PREAMBLE):
        if len(known_columns(_cells(found[0]))) >= FEWEST:
            return found.start()
    return 0


def _delimiter(header: str) -> str:
    return max(DELIMITERS, key=header.count)


def _first_line(text: str) -> str:
    """The first line that says something, as far as it is not too long."""
    return text.lstrip().partition("\n")[0][:1_000]


def _cells(line: str) -> list[str]:
    """What a line names as columns."""
    return [cell.strip(' \t\r"').lower() for cell in line[:1_000].split(_delimiter(line[:1_000]))]
