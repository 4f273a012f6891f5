"""Matrices of travel times in files of their own: answers of OSRM and Valhalla, JSON, CSV and npz."""

import csv
import io
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from fairway.problems import checks
from fairway.problems.checks import MOST_NODES
from fairway.problems.files import archive
from fairway.problems.files.legs import Matrix
from fairway.problems.files.text import Unreadable, check_size, number, shortened
from fairway.problems.files.values import described, parsed, rows

NO_WAY = ("", "-", "null", "none", "inf", "infinity", "x", "nan")
"""What stands in a cell where there is no way."""
DELIMITERS = ("\t", ";", ",")
UNITS = {"kilometers": "km", "km": "km", "miles": "mi", "mi": "mi", None: "km"}
"""What Valhalla calls its distances."""


def matrix_of(content: bytes, text: str | None) -> Matrix:
    """The matrix of a file in any of these forms; `text` is its content where that is not an archive."""
    if text is None:
        found = _archived(content)
    elif text.lstrip()[:1] in ("{", "["):
        found = _document(parsed(text))
    else:
        found = _table(text)
    checks.matrix(found.travel, "travel", infinite=True)
    if found.cost is not None:
        checks.matrix(found.cost, "cost", len(found.travel), infinite=True)
    return found


def is_answer(document: object) -> str | None:
    """The router whose answer a JSON object is, if it is one."""
    if not isinstance(document, dict) or "problem" in document:
        return None
    if "sources_to_targets" in document:
        return "a Valhalla matrix"
    return "an OSRM table" if {"durations", "distances"} & document.keys() else None


def _archived(content: bytes) -> Matrix:
    arrays = archive.arrays_of(content)
    for name in arrays:
        if name not in ("travel", "cost"):
            raise Unreadable(
                f"the array {name!r} is unknown in a matrix; expected travel, and cost if need be"
            )
    if "travel" not in arrays:
        raise Unreadable("the array 'travel' is missing; expected the matrix of travel times")
    return Matrix(arrays["travel"], arrays.get("cost"))


def _document(document: Any) -> Matrix:  # noqa: ANN401
    if isinstance(document, list):
        return Matrix(_square(document, "the matrix"))
    if "sources_to_targets" in document:
        return _valhalla(document)
    if "travel" in document:
        for key in document:
            if key not in ("travel", "cost"):
                raise Unreadable(
                    f"the key {shortened(key)} is unknown in a matrix; expected travel and cost"
                )
        return Matrix(_square(document["travel"], "travel"), _optional(document, "cost"))
    return _osrm(document)


def _osrm(answer: dict[str, Any]) -> Matrix:
    """Durations in seconds and, where they were asked for, distances in metres; null where there is no way."""
    if (code := answer.get("code", "Ok")) != "Ok":
        said = answer.get("message")
        reason = f" ({said})" if isinstance(said, str) else ""
        raise Unreadable(f"OSRM answered {code!r}{reason}; expected a table")
    if answer.get("durations") is None:
        said = answer.get("error")
        reason = f" ({said})" if isinstance(said, str) else ""
        raise Unreadable(
            f"has no 'durations' and no 'sources_to_targets'{reason}; expected an answer of OSRM's table service, with "
            "annotations=duration,distance for distances too, or of Valhalla's matrix"
        )
    return Matrix(
        _square(answer["durations"], "durations"),
        _optional(answer, "distances"),
        timed=True,
        distance_unit="m" if answer.get("distances") is not None else "",
        points=_snapped(answer.get("sources")),
    )


def _valhalla(answer: dict[str, Any]) -> Matrix:
    """Times in seconds and distances in kilometres or miles, as rows of objects or as two matrices."""
    given, unit = answer["sources_to_targets"], answer.get("units")
    if unit is not None and (not isinstance(unit, str) or unit not in UNITS):
        raise Unreadable(f"'units' is {described(unit)}; expected kilometers or miles")
    if isinstance(given, dict):
        times = _square(given.get("durations"), "durations")
        return Matrix(times, _optional(given, "distances"), True, UNITS[unit])
    if not isinstance(given, list):
        raise Unreadable(f"'sources_to_targets' is {described(given)}; expected rows of times")
    times, apart = (
        [[_of(cell, key) for cell in _listed(row)] for row in given] for key in ("time", "distance")
    )
    return Matrix(_square(times, "time"), _square(apart, "distance"), True, UNITS[unit])


def _listed(row: object) -> list[Any]:
    if not isinstance(row, list):
        raise Unreadable(f"a row of 'sources_to_targets' is {described(row)}; expected a list")
    return row


def _of(cell: object, key: str) -> object:
    if cell is None:
        return None
    if not isinstance(cell, dict):
        raise Unreadable(f"a cell of 'sources_to_targets' is {described(cell)}; expected an object")
    return cell.get(key)


def _optional(document: dict[str, Any], key: str) -> np.ndarray | None:
    return None if document.get(key) is None else _square(document[key], key)


def _square(value: object, key: str) -> np.ndarray:
    """A square matrix in which null stands for no way."""
    width = len(value) if isinstance(value, list) else 0
    return rows(value, key, width, infinite=True)


def _snapped(sources: object) -> np.ndarray | None:
    """Where OSRM found the places, if it says so of each."""
    if not isinstance(sources, list):
        return None
    places = [each.get("location") if isinstance(each, dict) else None for each in sources]
    if not all(_is_place(place) for place in places):
        return None
    return np.array(places) if places else None


def _is_place(value: object) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 2
        and all(type(part) is float and abs(part) <= 360 for part in value)
    )


def _table(text: str) -> Matrix:
    """Rows of numbers, perhaps under a header and after a column of names."""
    first = text.lstrip("\n").partition("\n")[0]
    delimiter = max(DELIMITERS, key=first.count)
    if delimiter in first:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    else:
        reader = (line.split() for line in text.splitlines())
    try:
        cells = [[cell.strip() for cell in row] for row in _bounded(reader)]
    except csv.Error as error:
        raise Unreadable(f"is not a matrix: {error}") from error
    if not cells:
        raise Unreadable("is empty; expected a matrix of travel times")
    heads, labels, cells = _without_names(cells)
    if labels is not None and heads is not None:
        if sorted(heads) != sorted(labels):
            raise Unreadable("the header and the first column name other places; expected the same")
        at = {head: column for column, head in enumerate(heads)}
        cells = [
            [row[at[label]] for label in labels] if len(row) == len(at) else row for row in cells
        ]
    names = heads if labels is None else labels
    if names is not None and (len(names) != len(cells) or len(set(names)) < len(names)):
        raise Unreadable(
            f"the header names {len(names)} places, not all distinct or not as many as the rows", 1
        )
    comma, first_line = delimiter != ",", 1 + (heads is not None)
    travel = [_row(row, len(cells), at, comma=comma) for at, row in enumerate(cells, first_line)]
    counted = names is not None and names == [str(at) for at in range(len(names))]
    return Matrix(np.array(travel), names=None if names is None or counted else tuple(names))


def _without_names(
    cells: list[list[str]],
) -> tuple[list[str] | None, list[str] | None, list[list[str]]]:
    """The names in the first row, those in the first column, and the rows without them."""
    head, rest = cells[0], cells[1:]
    if all(len(row) == len(cells) + 1 for row in cells):
        return None, [row[0] for row in cells], [row[1:] for row in cells]
    if all(map(_is_number, head)):
        return None, None, cells
    if len(head) not in (len(rest), len(rest) + 1) or any(len(row) <= len(rest) for row in rest):
        return head, None, rest
    heads, labels = head[len(head) - len(rest) :], [row[0] for row in rest]
    if not head[0] and all(map(_is_number, (*heads, *labels))) and sorted(heads) != sorted(labels):
        return None, None, cells  # there is no way from the first place to itself, and no name
    return heads, labels, [row[1:] for row in rest]


def _bounded(reader: Any) -> Any:  # noqa: ANN401
    """The rows that say something, up to one more than there may be."""
    count = 0
    for row in reader:
        if any(cell.strip() for cell in row):
            count += 1
            check_size(count - 2)
            if len(row) > MOST_NODES + 1:
                raise Unreadable(f"has a row of more than {MOST_NODES} numbers")
            yield row


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return cell.lower() in NO_WAY[1:]
    return True


def _row(row: Sequence[str], width: int, line: int, *, comma: bool) -> list[float]:
    if len(row) != width:
        raise Unreadable(f"expected a row of {width} numbers, found {len(row)}", line)
    texts = (cell.replace(",", ".") if comma else cell for cell in row)
    return [
        math.inf if cell.lower() in NO_WAY else number(cell, line, "a travel time")
        for cell in texts
    ]
