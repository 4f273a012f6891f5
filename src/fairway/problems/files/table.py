"""One instance as a CSV table, the way a planner keeps it: a header, then a row a node, the depot first."""

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from fairway.problems.checks import MOST_NODES
from fairway.problems.distances import Distances
from fairway.problems.files.text import (
    Unreadable,
    by_row,
    check_size,
    digits,
    located,
    number,
    shortened,
    travel_between,
)
from fairway.problems.instance import Instance
from fairway.problems.table import PROBLEMS

PLACE = ("id", "x", "y")
HEADERS = {"tsptw": (*PLACE, "open", "close", "service"), "tspdl": (*PLACE, "demand", "draft")}
COLUMNS = frozenset(column for header in HEADERS.values() for column in header)
MOST_LINES = 10 * MOST_NODES
"""Blank ones included."""
FORMULA = re.compile(r"[=+@-](?![\d.]+$)")
"""How a cell starts that spreadsheets run, plain numbers left out."""
CLOCK = re.compile(r"([01]?[0-9]|2[0-4]):([0-5][0-9])", re.ASCII)
"""A time of day, in minutes since midnight."""
DELIMITERS = ("\t", ";", ",")


@dataclass(frozen=True, slots=True)
class _Table:
    """The rows of a table, with the line on which each of them ends, and its columns by name."""

    header: tuple[str, ...]
    rows: list[list[str]]
    lines: list[int]

    def texts(self, column: str) -> list[str]:
        at = self.header.index(column)
        cells = [row[at].strip() for row in self.rows]
        for cell, line in zip(cells, self.lines, strict=True):
            if not cell:
                raise Unreadable(f"column {column!r} is blank; expected a value in every row", line)
        return cells

    def numbers(self, column: str) -> Float[np.ndarray, " N"]:
        cells = zip(self.texts(column), self.lines, strict=True)
        return np.array([_number(cell, line, column) for cell, line in cells])


def recognises(text: str) -> bool:
    """Whether the first line names three columns or more of this format, in any case and order."""
    return len(COLUMNS.intersection(_header(text))) >= 3


def check_columns(text: str) -> None:
    """Say of a table in other columns than ours that it is one, and which those are."""
    found = _header(text)
    if len(found) >= 3 and all(re.fullmatch(r"[^\W\d][\w .()/-]*", column) for column in found):
        raise Unreadable(
            f"looks like CSV, but has no columns {', '.join(HEADERS['tsptw'][:5])} or {', '.join(HEADERS['tspdl'])}; "
            f"found {shortened(', '.join(found), 60)}",
            1,
        )


def parse(text: str, name: str, distances: Distances | None) -> Instance:
    """The instance of a table; ids become names unless they only count the rows."""
    table = _table(text)
    problem = _problem(table.header)
    ids = table.texts("id")
    _check_distinct(ids, table.lines)
    names = None if ids == [str(index) for index in range(len(ids))] else tuple(ids)
    coordinates = np.stack([table.numbers("x"), table.numbers("y")], axis=1)
    with located(by_row(table.lines)):
        travel = travel_between(coordinates, distances or "float")
        columns = {
            field: table.numbers(column)
            for field, column in zip(PROBLEMS[problem].columns, HEADERS[problem][3:], strict=True)
            if column in table.header
        }
        return PROBLEMS[problem].make(
            travel, **columns, coordinates=coordinates, names=names, name=name
        )


def render(instance: Instance) -> str:
    """The table of an instance whose travel is the plain distance between its points."""
    if not instance.is_euclidean:
        raise Unreadable(
            "CSV holds instances whose travel is the Euclidean distance between their points; write .json instead"
        )
    if instance.laden and instance.load == "shrinking":
        raise Unreadable("CSV holds draft limits for a growing load only; write .json instead")
    assert instance.coordinates is not None
    names = instance.names or tuple(map(str, range(instance.nodes)))
    for name in names:
        if not name.isprintable() or not name or name != name.strip() or FORMULA.match(name):
            raise Unreadable(f"CSV cannot hold the name {shortened(name)}; write .json instead")
    columns = (getattr(instance, column) for column in PROBLEMS[instance.problem].columns)
    numbers = np.column_stack((instance.coordinates, *columns)).tolist()
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(HEADERS[instance.problem])
    writer.writerows((name, *map(digits, row)) for name, row in zip(names, numbers, strict=True))
    return file.getvalue()


def _table(text: str) -> _Table:
    rows = _rows(text)
    header_line, cells = next(rows)
    header = tuple(cell.strip().lower() for cell in cells)
    _check_header(header, header_line)
    table = _Table(header, [], [])
    for line, row in rows:
        if len(row) != len(header):
            raise Unreadable(
                f"expected {len(header)} cells like the header, found {len(row)}", line
            )
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


def _check_header(header: tuple[str, ...], line: int) -> None:
    for column in header:
        if column not in COLUMNS:
            expected = " or ".join(map(",".join, HEADERS.values()))
            raise Unreadable(f"column {shortened(column)} is unknown; expected {expected}", line)
        if header.count(column) > 1:
            raise Unreadable(f"column {column!r} is given twice; expected it once", line)
    of_problem = HEADERS[_problem(header)]
    for column in header:
        if column not in of_problem:
            raise Unreadable(
                f"column {column!r} mixes two problems; expected {','.join(of_problem)}", line
            )
    for column in of_problem:
        if column not in header and column != "service":
            raise Unreadable(f"column {column!r} is missing; expected {','.join(of_problem)}", line)


def _problem(header: tuple[str, ...]) -> str:
    return "tsptw" if {"demand", "draft"}.isdisjoint(header) else "tspdl"


def _check_distinct(ids: list[str], lines: list[int]) -> None:
    seen: dict[str, int] = {}
    for cell, line in zip(ids, lines, strict=True):
        if (first := seen.setdefault(cell, line)) != line:
            message = f"the id {shortened(cell)} is also on line {first}; ids are distinct"
            raise Unreadable(message, line)


def _number(cell: str, line: int, column: str) -> float:
    if column in ("open", "close") and (clock := CLOCK.fullmatch(cell)) is not None:
        return 60.0 * int(clock[1]) + int(clock[2])
    if "," in cell:
        raise Unreadable(
            f"column {column!r} has {shortened(cell)}; write numbers with a decimal point, without commas",
            line,
        )
    return number(cell, line, f"{column!r}")
