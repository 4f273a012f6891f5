"""When the stops and breaks of a table may be served: windows, times of day and their units."""

import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from fairway.problems.files.cells import Cells, clock_of, edges, is_lasting
from fairway.problems.files.legs import Beside
from fairway.problems.files.rows import Table
from fairway.problems.files.text import Unreadable

TIMES = {"opens": "open", "closes": "close", "latest": "latest"}
"""The columns of times, by the fields that they fill."""
UNNAMED = re.compile(r"(break( \d+)?)?", re.IGNORECASE)


def reading(table: Table, beside: Beside) -> Cells:
    """How cells are to be read, by what all of them look like."""
    times = [cell for column in TIMES.values() for cell in table.cells(column) if cell[0]]
    times += [(edge, line) for cell, line in table.cells("windows") for edge in edges(cell)]
    clock = clock_of(times)
    durations = any(is_lasting(cell) for cell, _ in table.cells("service") if cell)
    lasting = clock is not None or durations or "lat" in table.header.known or beside.timed
    return Cells(clock, lasting, table.comma)


def windows_of(table: Table, cells: Cells) -> dict[int, list[tuple[float, float]]]:
    return {
        node: cells.windows(cell, line, "windows")
        for node, (cell, line) in enumerate(table.cells("windows"))
        if cell
    }


def check_windows(table: Table, asked: Mapping[str, Any], cells: Cells) -> None:
    """Refuse a window over midnight in the words of the clock."""
    if cells.clock is None or not {"opens", "closes"} <= asked.keys():
        return
    for node in np.flatnonzero(asked["opens"] > asked["closes"]).tolist():
        opens, closes = (
            cells.clock.show(asked["opens"][node]),
            cells.clock.show(asked["closes"][node]),
        )
        raise Unreadable(
            f"a window closes at {closes} before it opens at {opens}; write the next day as 'day 2 {closes}', or dates",
            table.lines[node],
        )


def breaks_of(table: Table, cells: Cells) -> list[tuple[float, float, float]]:
    """When each break may start, and how long it is."""
    found: list[tuple[float, float, float]] = []
    for at, line in enumerate(table.lines):
        row = table.chosen([at])
        columns = ("open", "close", "windows", "service")
        asked = {column: (row.cells(column) or [("", line)])[0][0] for column in columns}
        if not asked["service"]:
            raise Unreadable("a break has no 'service'; expected how long it is", line)
        spans = cells.windows(asked["windows"], line, "windows") if asked["windows"] else []
        if len(spans) > 1:
            raise Unreadable(
                "a break has several windows; expected one in which it may start", line
            )
        opens = cells.time(asked["open"], line, "open") if asked["open"] else 0.0
        closes = cells.time(asked["close"], line, "close") if asked["close"] else math.inf
        first, last = spans[0] if spans else (opens, closes)
        found.append((first, last, cells.duration(asked["service"], line, "service")))
    return found


def break_names(table: Table) -> tuple[str, ...]:
    """What breaks are called, if any of them is called anything else than a break."""
    main = "name" if "name" in table.header.known else "id"
    names = tuple("" if UNNAMED.fullmatch(cell) else cell for cell, _ in table.cells(main))
    return names if any(names) else ()
