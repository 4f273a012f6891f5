"""Solomon's coordinate format: a row `id x y demand ready due service` a node, the depot first.

A title, the column heads, a count of rows, Solomon's vehicle block and a closing row of zeros with
the id 999 may be there or not. There is one vehicle here, so how many there are, their capacity and
the demands are passed over.
"""

from itertools import islice

import numpy as np

from fairway.problems.checks import MOST_NODES
from fairway.problems.distances import Distances
from fairway.problems.files.text import (
    Line,
    Unreadable,
    by_row,
    digits,
    lines,
    located,
    number,
    travel_between,
    whole,
)
from fairway.problems.instance import TSPTW, Instance

COLUMNS = ("id", "x", "y", "demand", "ready", "due", "service")
CLOSING = 999
"""The id of the row of zeros that ends some of the files."""
HEADS = "CUST NO.   XCOORD.   YCOORD.    DEMAND   READY TIME   DUE DATE   SERVICE TIME"
PREAMBLE = 12
"""Within how many lines the column heads must come; Solomon's own files need six."""


def recognises(text: str) -> bool:
    """Whether column heads, or rows of seven numbers after a title and a count, come early."""
    head = list(islice(lines(text, "#"), PREAMBLE))
    if any(_is_heads(line) for line in head):
        return True
    count, rows = _without_preamble(head)
    if not rows or not _is_row(rows[0]):
        return False
    return count is None or not _is_matrix(_without_preamble(_said(text))[1])


def parse(text: str, name: str, distances: Distances | None) -> Instance:
    """The instance in the text, with travel by `distances`, by default Euclidean as it is."""
    count, rows = _without_preamble(_said(text))
    ids, values = _stops(rows)
    if count is not None and whole(count.text, count.number, "the number of rows") != len(ids):
        said = f"expected as many rows as this says, found {len(ids)}"
        raise Unreadable(said, count.number)
    if not ids:
        raise Unreadable(f"there are no rows; expected {len(COLUMNS)} columns, {' '.join(COLUMNS)}")
    table = np.array(values)
    with located(by_row([line.number for line in rows[: len(ids)]])):
        return TSPTW(
            travel_between(table[:, :2], distances or "float"),
            opens=table[:, 3],
            closes=table[:, 4],
            service=table[:, 5],
            coordinates=table[:, :2],
            names=tuple(ids),
            name=name,
        )


def render(instance: Instance) -> str:
    """The text of a TSPTW whose travel is Euclidean.

    Names become the ids where all of them are whole numbers; else the ids count from 1.
    """
    if not instance.timed:
        raise Unreadable("solomon holds time windows only; write a TSPDL as json, rakke or tsplib")
    points = instance.coordinates
    if points is None or not instance.is_euclidean:
        raise Unreadable(
            "solomon holds coordinates, and this travel is not their Euclidean distance; "
            "write json or tsplib"
        )
    ids = instance.names
    if ids is None or not all(map(_is_id, ids)):
        ids = tuple(map(str, range(1, instance.nodes + 1)))
    # A demand of 1 keeps a stop of zeros that happens to be called 999 from ending the file.
    demand = np.minimum(np.arange(instance.nodes), 1.0)
    columns = (*points.T, demand, instance.opens, instance.closes, instance.service)
    rows = zip(ids, *(map(digits, column.tolist()) for column in columns), strict=True)
    return "\n".join((HEADS, *(" ".join(row) for row in rows))) + "\n"


def _said(text: str) -> list[Line]:
    """The lines of the text, up to one row more than a file may have."""
    return list(islice(lines(text, "#"), PREAMBLE + MOST_NODES + 1))


def _is_heads(line: Line) -> bool:
    said = line.text.upper()
    return said.startswith("CUST") and "COORD" in said


def _is_numeric(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _is_row(line: Line) -> bool:
    return len(line.words) == len(COLUMNS) and all(map(_is_numeric, line.words))


def _is_matrix(rows: list[Line]) -> bool:
    """Whether a count is followed by a matrix after all.

    It then ends in windows of two numbers or, cut short, is 7 x 7 with zeros down its diagonal.
    """
    if [len(line.words) for line in rows[-2:]] == [2, 2]:
        return True
    square = [line.words for line in rows]
    return len(square) == len(COLUMNS) and all(
        len(words) == len(COLUMNS) and words[at].strip("0.") == ""
        for at, words in enumerate(square)
    )


def _without_preamble(said: list[Line]) -> tuple[Line | None, list[Line]]:
    """The line with the number of rows, where one stands alone before them, and the rows."""
    for at, line in enumerate(said[:PREAMBLE]):
        if _is_heads(line):
            if stray := next(filter(_is_row, said[:at]), None):
                raise Unreadable("expected the column heads before the first row", stray.number)
            return None, said[at + 1 :]
    rows = said
    if rows and not _is_numeric(rows[0].words[0]):
        rows = rows[1:]
    if rows and len(rows[0].words) == 1:
        return rows[0], rows[1:]
    return None, rows


def _stops(rows: list[Line]) -> tuple[list[str], list[list[float]]]:
    """The id, and the other columns, of each row up to the closing one."""
    ids, values = [], []
    for at, line in enumerate(rows):
        if (found := len(line.words)) != len(COLUMNS):
            expected = f"{len(COLUMNS)} columns ({' '.join(COLUMNS)})"
            raise Unreadable(f"expected {expected}, found {found}", line.number)
        stop = whole(line.words[0], line.number, "an id")
        columns = zip(line.words[1:], COLUMNS[1:], strict=True)
        row = [number(word, line.number, f"the {what}") for word, what in columns]
        if at > 0 and stop == CLOSING and not any(row):
            if extra := rows[at + 1 :]:
                raise Unreadable(f"expected nothing after the row {CLOSING}", extra[0].number)
            break
        ids.append(str(stop))
        values.append(row)
    return ids, values


def _is_id(name: str) -> bool:
    """Whether a name reads back as it is written: whole, in plain digits, and within float64."""
    return name.isascii() and name.isdigit() and len(name) <= 15 and str(int(name)) == name
