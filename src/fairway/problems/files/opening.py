"""When the stops and breaks of a table may be served: windows, times of day and their units."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fairway.problems.files.cells import PLAIN, Cells, clock_of, edges, is_lasting
from fairway.problems.files.legs import Beside
from fairway.problems.files.rows import Table
from fairway.problems.files.text import Unreadable

TIMES = {"opens": "open", "closes": "close", "latest": "latest"}
"""The columns of times, by the fields that they fill."""
HOURS, DAYS = 24.0, 14_400.0
"""Up to the one, times in minutes are more likely hours; beyond the other, which is ten days, seconds."""
UNNAMED = re.compile(r"(break( \d+)?)?", re.IGNORECASE)


def reading(table: Table, beside: Beside) -> Cells:
    """How cells are to be read, by what all of them look like."""
    times = [cell for column in TIMES.values() for cell in table.cells(column) if cell[0]]
    times += [(edge, line) for cell, line in table.cells("windows") for edge in edges(cell)]
    clock = clock_of(times)
    durations = any(is_lasting(cell) for cell, _ in table.cells("service") if cell)
    lasting = clock is not None or durations or "lat" in table.header.known or beside.timed
    cells = Cells(clock, lasting, table.comma, table.header.unit or 1.0)
    if beside.timed or beside.speed is not None:
        _check_minutes(times, cells)
    return cells


def _check_minutes(times: list[tuple[str, int]], cells: Cells) -> None:
    """Refuse plain numbers beside travel in minutes that can only be hours or seconds."""
    if cells.clock is not None or not cells.lasting:
        return
    given = [(float(cell.replace(",", ".")), line) for cell, line in times if PLAIN.fullmatch(cell)]
    largest, line = max(given, default=(0.0, 0))
    unit = "hours" if 0 < largest <= HOURS else "seconds" if largest > DAYS else None
    if unit is not None:
        raise Unreadable(
            f"times up to {largest:.8g} look like {unit}, and travel is in minutes; write them as times of day, such "
            "as 7:30, or as 0:20 for 20 minutes",
            line,
        )


def windows_of(table: Table, cells: Cells) -> dict[int, list[tuple[float, float]]]:
    """The windows of stops that have some in one cell."""
    return {
        node: cells.windows(cell, line, "windows")
        for node, (cell, line) in enumerate(table.cells("windows"))
        if cell
    }


def check_windows(table: Table, asked: Mapping[str, Any], cells: Cells) -> None:
    """Refuse a window over midnight in the words of the clock, and one beside others that it does not hold."""
    if cells.clock is None:
        return
    for node, spans in asked["windows"].items():
        first = asked["opens"][node] if "opens" in asked else 0.0
        last = asked["closes"][node] if "closes" in asked else math.inf
        if sticks_out(spans, first, last):
            raise Unreadable(
                "a stop has 'windows' and, beside them, 'open' and 'close' that differ; expected one or the other",
                table.lines[node],
            )
    if not {"opens", "closes"} <= asked.keys():
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


def sticks_out(spans: Sequence[tuple[float, float]], opens: float, closes: float) -> bool:
    """Whether windows begin or end outside the one window that is stated beside them."""
    return 0 < opens > spans[0][0] or closes < spans[-1][1]


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
