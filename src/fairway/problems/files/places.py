"""Where stops are, as people write it: degrees with minutes and hemispheres, or both of them in one cell."""

import re
from dataclasses import replace

from fairway.problems.files.rows import Table
from fairway.problems.files.text import Unreadable, number, shortened

HEMISPHERES = {"lat": ("N", "S"), "lon": ("E", "W")}
DEGREES = re.compile(
    r"(?P<first>[NSEW])?\s*(?P<sign>[+-])?\s*(?P<degrees>\d{1,3}(?:[.,]\d{1,15})?)\s*(?:°|º|deg)?\s*"
    r"(?:(?P<minutes>\d{1,2}(?:[.,]\d{1,15})?)\s*['\u2032\u2019]\s*"
    r"(?:(?P<seconds>\d{1,2}(?:[.,]\d{1,15})?)\s*(?:\"|''|\u2033|\u201d)\s*)?)?(?P<last>[NSEW])?",
    re.IGNORECASE,
)
"""59.91, 59.91 N, N 59.91, 59° 54.6' N, 59°54'36\"N."""


def degrees(cell: str, line: int, column: str) -> float:
    """Degrees of latitude or longitude, south and west below zero."""
    found = DEGREES.fullmatch(cell)
    if found is None:
        return number(cell, line, f"{column!r}")
    whole, minutes, seconds = (
        float((found[part] or "0").replace(",", ".")) for part in ("degrees", "minutes", "seconds")
    )
    said = [each.upper() for each in (found["first"], found["last"]) if each]
    if any(each not in HEMISPHERES[column] for each in said) or len(said) > 1 or minutes >= 60:
        raise Unreadable(
            f"column {column!r} has {shortened(cell)}; expected degrees like 59.91, 59.91 N or 59°54'36\"N",
            line,
        )
    back = found["sign"] == "-" or said in (["S"], ["W"])
    return (-1.0 if back else 1.0) * (whole + minutes / 60.0 + seconds / 3600.0)


def placed(table: Table) -> Table:
    """The same with a column of latitudes and one of longitudes in place of one that holds both."""
    known = dict(table.header.known)
    if "coordinates" not in known:
        return table
    at = known.pop("coordinates")
    if {"lat", "lon", "x", "y"} & known.keys():
        raise Unreadable(
            "there are both a column of places and columns of their parts; expected one or the other",
            table.lines[0] - 1,
        )
    width = len(table.rows[0])
    rows = [
        [*row, *_parts(row[at], line)] for row, line in zip(table.rows, table.lines, strict=True)
    ]
    header = replace(table.header, known={**known, "lat": width, "lon": width + 1})
    return replace(table, header=header, rows=rows)


def _parts(cell: str, line: int) -> list[str]:
    """The latitude and the longitude of a cell, nothing where it says nothing."""
    parts = re.split(r"\s*[,;/]\s+|\s*[;/]\s*|\s+", cell.strip("()[] "))
    if len(parts) != 2:
        parts = cell.strip("()[] ").split(",")
    if not cell.strip():
        return ["", ""]
    if len(parts) != 2:
        raise Unreadable(
            f"the place {shortened(cell)} is not understood; expected latitude and longitude, like 59.91, 10.75",
            line,
        )
    return [part.strip() for part in parts]
