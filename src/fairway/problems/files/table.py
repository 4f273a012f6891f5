"""A table of stops as CSV, the way a dispatcher keeps it: a header, then a row per stop, the depot first or marked."""

import csv
import io
import re
from collections.abc import Iterator

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
DELIMITERS = ("\t", ";", ",")


def recognises(text: str) -> bool:
    """Whether the first line names some of the columns that mean something."""
    cells = _header(text)
    if len(cells) < FEWEST or len(known_columns(cells)) < FEWEST:
        return False
    return any(mark in text.lstrip().partition("\n")[0] for mark in ",;") or not solomon.recognises(
        text
    )


def check_columns(text: str) -> None:
    """Say of a table in other columns than ours that it is one, and which those are."""
    found = _header(text)
    if len(found) >= 3 and all(re.fullmatch(r"[^\W\d][\w .()/-]*", column) for column in found):
        raise Unreadable(
            "looks like CSV, but has no columns id or name, x, y or lat, lon, open, close; "
            f"found {shortened(', '.join(found), 60)}",
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
    table = Table(header, [], [], comma=_delimiter(text.lstrip().partition("\n")[0]) != ",")
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
    """The rows that say something, each with the number of its last line."""
    delimiter = _delimiter(text.lstrip().partition("\n")[0])
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                yield reader.line_num, row
            elif reader.line_num > MOST_LINES:
                raise Unreadable(f"holds more than {MOST_LINES} lines", reader.line_num)
    except csv.Error as error:
        raise Unreadable(f"is not a table: {error}", reader.line_num) from error


def _delimiter(header: str) -> str:
    return max(DELIMITERS, key=header.count)


def _header(text: str) -> list[str]:
    """What the first line, as far as it is not too long, names as columns."""
    first = text.lstrip().partition("\n")[0][:1_000]
    return [cell.strip(' \t\r"').lower() for cell in first.split(_delimiter(first))]
