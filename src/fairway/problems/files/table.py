"""One instance as a CSV table, the way a planner keeps it: a header, then a row a node, the depot first."""

import csv
import io
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from fairway.problems.checks import MOST_NODES
from fairway.problems.distances import Distances
from fairway.problems.files.fields import NEUTRAL, node_of, stated
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
from fairway.problems.instance import Instance, Pairs

PLACE = ("id", "x", "y")
HEADERS = {"tsptw": (*PLACE, "open", "close", "service"), "tspdl": (*PLACE, "demand", "draft")}
NUMBERS = {
    "opens": "open",
    "closes": "close",
    "service": "service",
    "late": "late",
    "latest": "latest",
    "demand": "demand",
    "draft": "draft",
    "prize": "prize",
}
"""The columns of the fields that hold a number for each node."""
TEXTS = ("windows", "before", "pickup", "end")
COLUMNS = (*PLACE, *NUMBERS.values(), *TEXTS)
TOGETHER = (("open", "close"), ("demand", "draft"))
"""Columns of which none comes alone."""
ABSENT = {
    "cost": "a cost apart from travel",
    "capacity": "a capacity",
    "load": "a load that is not growing",
    "aboard": "the load aboard at the start",
    "breaks": "breaks",
}
"""What is asked of the whole tour, and has no column."""
MOST_LINES = 10 * MOST_NODES
"""Blank ones included."""
FORMULA = re.compile(r"[=+@-](?![\d.]+$)")
"""How a cell starts that spreadsheets run, plain numbers left out."""
CLOCK = re.compile(r"([01]?[0-9]|2[0-4]):([0-5][0-9])", re.ASCII)
"""A time of day, in minutes since midnight."""
TIMES = ("open", "close", "latest", "windows")
SPAN = re.compile(
    r"(EDGE)\s*[-\u2013]\s*(EDGE)?".replace("EDGE", r"[+-]?[\d.:]+(?:e[+-]?\d+)?"), re.IGNORECASE
)
"""A window: when it opens and, unless it stays open, when it closes."""
DELIMITERS = ("\t", ";", ",")


@dataclass(frozen=True, slots=True)
class _Table:
    """The rows of a table, with the line on which each of them ends, and its columns by name."""

    header: tuple[str, ...]
    rows: list[list[str]]
    lines: list[int]

    def cells(self, column: str) -> list[tuple[str, int]]:
        """The text in every row, with its line; none where there is no such column."""
        if column not in self.header:
            return []
        at = self.header.index(column)
        return [(row[at].strip(), line) for row, line in zip(self.rows, self.lines, strict=True)]

    def texts(self, column: str) -> list[str]:
        cells = self.cells(column)
        for cell, line in cells:
            if not cell:
                raise Unreadable(f"column {column!r} is blank; expected a value in every row", line)
        return [cell for cell, _ in cells]

    def numbers(self, column: str, absent: float | None = None) -> Float[np.ndarray, " N"]:
        """The number in every row, where a blank may stand for the neutral one."""
        if absent is None:
            self.texts(column)
        return np.array(
            [_number(cell, line, column) if cell else absent for cell, line in self.cells(column)]
        )


def recognises(text: str) -> bool:
    """Whether the first line names three columns or more of this format, in any case and order."""
    return len(set(COLUMNS).intersection(_header(text))) >= 3


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
    ids = table.texts("id")
    _check_distinct(ids, table.lines)
    known = {cell: node for node, cell in enumerate(ids)}
    names = None if ids == [str(index) for index in range(len(ids))] else tuple(ids)
    coordinates = np.stack([table.numbers("x"), table.numbers("y")], axis=1)
    asked: dict[str, Any] = {
        field: table.numbers(column, getattr(NEUTRAL, field)[0])
        for field, column in NUMBERS.items()
        if column in table.header
    }
    asked |= {"windows": _windows(table), "end": _end(table)}
    before, pickups = _links(table, "before", known), _links(table, "pickup", known)
    asked |= {"before": [(row, other) for row, other, _ in before]}
    asked |= {"pairs": [(other, row) for row, other, _ in pickups]}
    lines = {"before": [line for *_, line in before], "pairs": [line for *_, line in pickups]}
    with located(lambda field, index: by_row(lines.get(field, table.lines))(field, index)):
        travel = travel_between(coordinates, distances or "float")
        return Instance(travel, **asked, coordinates=coordinates, names=names, name=name)


def render(instance: Instance) -> str:
    """The table of an instance whose travel is the plain distance between its points."""
    if not instance.is_euclidean:
        raise Unreadable(
            "CSV holds instances whose travel is the Euclidean distance between their points; write .json instead"
        )
    asked = stated(instance)
    for field, words in ABSENT.items():
        if field in asked:
            raise Unreadable(f"CSV has no column for {words}; write .json instead")
    if instance.end is None:
        raise Unreadable("CSV cannot say that a tour ends at its last stop; write .json instead")
    assert instance.coordinates is not None
    names = instance.names or tuple(map(str, range(instance.nodes)))
    columns = dict(zip(PLACE, (names, *map(_digits, instance.coordinates.T)), strict=True))
    columns |= _written(instance, names)
    texts = (cell for name in TEXTS for cell in columns.get(name, ()) if cell)
    for what, cell in (*(("name", name) for name in names), *(("text", cell) for cell in texts)):
        if not cell.isprintable() or not cell or cell != cell.strip() or FORMULA.match(cell):
            raise Unreadable(f"CSV cannot hold the {what} {shortened(cell)}; write .json instead")
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return file.getvalue()


def _written(instance: Instance, names: Sequence[str]) -> dict[str, list[str]]:
    """The columns of all that is asked, and those that a classic problem has in any case."""
    asked = stated(instance)
    needed = {column for field, column in NUMBERS.items() if field in asked}
    needed |= {column for group in TOGETHER if needed.intersection(group) for column in group}
    needed |= set(HEADERS.get(instance.problem, ()))
    columns = {
        column: _digits(getattr(instance, field))
        for field, column in NUMBERS.items()
        if column in needed
    }
    nodes = range(instance.nodes)
    if instance.windows:
        columns["windows"] = [_spans(instance.windows.get(node, ())) for node in nodes]
    if instance.before:
        columns["before"] = _joined(instance.before, names)
    if instance.pairs:
        columns["pickup"] = _joined(tuple((b, a) for a, b in instance.pairs), names)
    if instance.end:
        columns["end"] = ["yes" if node == instance.end else "" for node in nodes]
    return columns


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
            raise Unreadable(
                f"column {shortened(column)} is unknown; expected {','.join(PLACE)} and any of "
                f"{','.join(COLUMNS[len(PLACE) :])}",
                line,
            )
        if header.count(column) > 1:
            raise Unreadable(f"column {column!r} is given twice; expected it once", line)
    asked = set(header).difference(PLACE) or set(TOGETHER[0])
    groups = (group for group in TOGETHER if not asked.isdisjoint(group))
    needed = (*PLACE, *(column for group in groups for column in group))
    for column in needed:
        if column not in header:
            raise Unreadable(f"column {column!r} is missing; expected {','.join(needed)}", line)


def _check_distinct(ids: list[str], lines: list[int]) -> None:
    seen: dict[str, int] = {}
    for cell, line in zip(ids, lines, strict=True):
        if (first := seen.setdefault(cell, line)) != line:
            message = f"the id {shortened(cell)} is also on line {first}; ids are distinct"
            raise Unreadable(message, line)


def _number(cell: str, line: int, column: str) -> float:
    if column in TIMES and (clock := CLOCK.fullmatch(cell)) is not None:
        return 60.0 * int(clock[1]) + int(clock[2])
    if "," in cell:
        raise Unreadable(
            f"column {column!r} has {shortened(cell)}; write numbers with a decimal point, without commas",
            line,
        )
    return number(cell, line, f"{column!r}")


def _windows(table: _Table) -> dict[int, list[tuple[float, float]]]:
    return {
        node: [_span(span.strip(), line) for span in cell.split(";")]
        for node, (cell, line) in enumerate(table.cells("windows"))
        if cell
    }


def _span(text: str, line: int) -> tuple[float, float]:
    if (found := SPAN.fullmatch(text)) is None:
        raise Unreadable(
            f"column 'windows' has {shortened(text)}; expected windows like 8-10; 14-16", line
        )
    first, last = found.groups()
    closes = math.inf if last is None else _number(last, line, "windows")
    return _number(first, line, "windows"), closes


def _links(table: _Table, column: str, known: Mapping[str, int]) -> list[tuple[int, int, int]]:
    """Each row with a stop that it names, and its line."""
    return [
        (node, node_of(name.strip(), known, f"column {column!r}", line), line)
        for node, (cell, line) in enumerate(table.cells(column))
        for name in cell.split(";")
        if name.strip()
    ]


def _end(table: _Table) -> int:
    """The row where the tour ends, by default the depot."""
    marked = [(node, cell, line) for node, (cell, line) in enumerate(table.cells("end")) if cell]
    for at, (_, cell, line) in enumerate(marked):
        if cell.lower() != "yes" or at:
            found = "a second 'yes'" if cell.lower() == "yes" else shortened(cell)
            raise Unreadable(
                f"column 'end' has {found}; expected yes in the one row where the tour ends", line
            )
    return marked[0][0] if marked else 0


def _digits(values: Float[np.ndarray, " N"]) -> list[str]:
    """The numbers, infinity as a blank."""
    return ["" if value == math.inf else digits(value) for value in values.tolist()]


def _spans(spans: Sequence[tuple[float, float]]) -> str:
    return "; ".join("-".join(_digits(np.array(span))) for span in spans)


def _joined(pairs: Pairs, names: Sequence[str]) -> list[str]:
    """For every node the names of those that it is paired with."""
    linked: list[list[str]] = [[] for _ in names]
    for node, other in pairs:
        if ";" in names[other]:
            raise Unreadable(
                f"CSV cannot hold the name {shortened(names[other])} in a list of stops; write .json instead"
            )
        linked[node].append(names[other])
    return list(map("; ".join, linked))
