"""From the rows of a table of stops to an instance: what each column asks for, and how stops are reached."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from fairway.problems.files import legs
from fairway.problems.files.cells import Cells, clock_of, edges, is_lasting
from fairway.problems.files.columns import Header, check_places
from fairway.problems.files.fields import NEUTRAL, node_of
from fairway.problems.files.legs import Beside, Legs
from fairway.problems.files.prizes import prizes_of
from fairway.problems.files.text import Unreadable, by_row, check_size, located, shortened
from fairway.problems.instance import Instance
from fairway.problems.source import Source

NUMBERS = {"late": "late", "demand": "demand", "draft": "draft", "prize": "prize"}
"""The columns of plain numbers, by the fields that they fill."""
TIMES = {"opens": "open", "closes": "close", "latest": "latest"}
DEPOT = ("depot", "start", "warehouse", "hub", "base", "garage", "home")
END = ("end", "finish", "destination")
UNNAMED = re.compile(r"(break( \d+)?)?", re.IGNORECASE)
BREAK = ("break", "lunch", "lunch break", "pause", "rest")
ANYWHERE = ("anywhere", "open", "last stop", "none")
"""What the row of the depot says of an end at the last stop."""
RANKS = {"low": 1.0, "medium": 2.0, "normal": 2.0, "high": 3.0, "must": math.inf}
"""Priorities in words."""


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a table, with the line on which each of them ends."""

    header: Header
    rows: list[list[str]]
    lines: list[int]
    comma: bool = False
    """Whether a comma may stand for the decimal point."""

    def cells(self, column: str) -> list[tuple[str, int]]:
        """The text in every row, with its line; none where there is no such column."""
        if column not in self.header.known:
            return []
        at = self.header.known[column]
        return [(row[at].strip(), line) for row, line in zip(self.rows, self.lines, strict=True)]

    def filled(self, column: str) -> list[tuple[str, int]]:
        """The same, where every cell must have something in it."""
        cells = self.cells(column)
        for cell, line in cells:
            if not cell:
                raise Unreadable(f"column {column!r} is blank; expected a value in every row", line)
        return cells

    def chosen(self, order: Sequence[int]) -> "Table":
        """Some of the rows, in this order."""
        rows, lines = [self.rows[at] for at in order], [self.lines[at] for at in order]
        return Table(self.header, rows, lines, self.comma)


def instance_of(table: Table, name: str, beside: Beside) -> Instance:
    """The instance of a table: the depot first, breaks taken out, further columns carried along."""
    check_places(table.header, table.lines[0] - 1, matrix=beside.matrix is not None)
    check_size(len(table.rows))
    cells = _reading(table, beside)
    kinds = [cell.lower() for cell, _ in table.cells("kind")] or [""] * len(table.rows)
    pauses = [at for at, kind in enumerate(kinds) if kind in BREAK]
    stops = [at for at, kind in enumerate(kinds) if kind not in BREAK]
    if not stops:
        raise Unreadable("every row is a break; expected the depot and stops", table.lines[0])
    order = _depot_first(table, kinds, stops)
    resting, listed = table.chosen(pauses), table.chosen(stops)
    breaks, rests = _breaks(resting, cells), _break_names(resting)
    table, kinds = table.chosen(order), [kinds[at] for at in order]
    names, ids, known = _names(table)
    ways = _legs(listed, table, cells, beside, names)
    if order != stops:
        place = {at: row for row, at in enumerate(stops)}
        ways = ways.chosen([place[at] for at in order])
    source = _source(table, cells, ways, ids, rests)
    asked, lines = _asked(table, cells, known)
    lines["breaks"] = resting.lines
    asked["breaks"], asked["end"] = breaks, _end(table, kinds)
    if table.header.known.keys() & {"priority"}:
        asked["prize"] = prizes_of(_priorities(table, cells), ways.cost_or_travel)
    with located(lambda field, index: by_row(lines.get(field, table.lines))(field, index)):
        return Instance(
            ways.travel,
            cost=ways.cost,
            **asked,
            coordinates=ways.points,
            names=names,
            name=name,
            source=source,
        )


def _reading(table: Table, beside: Beside) -> Cells:
    """How cells are to be read, by what all of them look like."""
    times = [cell for column in TIMES.values() for cell in table.cells(column) if cell[0]]
    times += [(edge, line) for cell, line in table.cells("windows") for edge in edges(cell)]
    clock = clock_of(times)
    durations = any(is_lasting(cell) for cell, _ in table.cells("service") if cell)
    lasting = clock is not None or durations or "lat" in table.header.known or beside.timed
    return Cells(clock, lasting, table.comma)


def _depot_first(table: Table, kinds: Sequence[str], stops: Sequence[int]) -> list[int]:
    """The rows of the stops, that of the depot first: the one that says so, else the first."""
    depots = [at for at in stops if kinds[at] in DEPOT]
    if len(depots) > 1:
        raise Unreadable(
            f"column 'kind' calls a second row {kinds[depots[1]]}; expected one depot, and 'end' where the tour ends "
            "elsewhere",
            table.lines[depots[1]],
        )
    first = depots[0] if depots else stops[0]
    return [first, *(at for at in stops if at != first)]


def _names(table: Table) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None, dict[str, int]]:
    """What stops are called, their ids where these differ, and the nodes by either."""
    main = "name" if "name" in table.header.known else "id"
    ids = table.filled("id") if "id" in table.header.known else []
    given = table.filled(main)
    _check_distinct(ids or given)
    texts = [cell for cell, _ in given]
    if main == "name" and ids:
        counted = Counter(texts)
        texts = [
            f"{text} ({each})" if counted[text] > 1 else text
            for text, (each, _) in zip(texts, ids, strict=True)
        ]
    _check_distinct(list(zip(texts, table.lines, strict=True)))
    known = {text: node for node, text in enumerate(texts)}
    known |= {text: node for node, (text, _) in enumerate(ids)}
    numbered = main == "id" and texts == list(map(str, range(len(texts))))
    both = tuple(text for text, _ in ids) if main == "name" and ids else None
    return None if numbered else tuple(texts), both, known


def _check_distinct(cells: Sequence[tuple[str, int]]) -> None:
    seen: dict[str, int] = {}
    for cell, line in cells:
        if (first := seen.setdefault(cell, line)) != line:
            message = f"the id {shortened(cell)} is also on line {first}; ids are distinct"
            raise Unreadable(message, line)


def _legs(
    listed: Table, table: Table, cells: Cells, beside: Beside, names: Sequence[str] | None
) -> Legs:
    """How stops are reached, in the order of the file's rows: by the matrix beside them, or as their places lie."""
    geographic = "lat" in table.header.known
    points = _points(listed, cells, geographic=geographic)
    if beside.matrix is not None:
        listed_names = _names(listed)[0]
        return beside.matrix.for_stops(
            len(listed.rows), listed_names, points, geographic=geographic
        )
    assert points is not None, "without a matrix there are places"
    speed = beside.speed if beside.speed is not None else _single(table, cells, "speed")
    with located(by_row(listed.lines)):
        if geographic:
            return legs.over_land(points, speed)
        return legs.in_plane(points, beside.distances, speed, hours=cells.lasting)


def _points(table: Table, cells: Cells, *, geographic: bool) -> Float[np.ndarray, "N 2"] | None:
    columns = ("lon", "lat") if geographic else ("x", "y")
    if columns[0] not in table.header.known:
        return None
    given = [
        [cells.number(cell, line, column) for cell, line in table.filled(column)]
        for column in columns
    ]
    for at, (longitude, latitude) in enumerate(zip(*given, strict=True) if geographic else ()):
        if abs(latitude) > 90 or abs(longitude) > 180:
            raise Unreadable(
                f"the latitude {latitude:g} and longitude {longitude:g} are no place on earth; expected degrees, "
                "up to 90 and 180, and perhaps the columns are swapped",
                table.lines[at],
            )
    return np.array(given).T


def _single(table: Table, cells: Cells, column: str) -> float | None:
    """What a column says once, of the whole tour, in the row of the depot."""
    found = [(at, cell, line) for at, (cell, line) in enumerate(table.cells(column)) if cell]
    for at, cell, line in found:
        if at:
            raise Unreadable(
                f"column {column!r} has {shortened(cell)} at a stop; expected it in the row of the depot alone",
                line,
            )
    return cells.number(found[0][1], found[0][2], column) if found else None


def _source(
    table: Table, cells: Cells, ways: Legs, ids: tuple[str, ...] | None, rests: tuple[str, ...]
) -> Source | None:
    columns = {
        name: tuple(row[at].strip() for row in table.rows)
        for name, at in table.header.further.items()
        if at != table.header.known.get("kind") or any(row[at].strip() for row in table.rows)
    }
    source = Source(
        cells.clock,
        columns,
        ways.distance_unit,
        ways.speed,
        "lat" in table.header.known or (ways.geographic and ways.points is not None),
        ids,
        break_names=rests,
    )
    return None if source == Source() else source


def _asked(
    table: Table, cells: Cells, known: Mapping[str, int]
) -> tuple[dict[str, Any], dict[str, list[int]]]:
    """What the columns ask of stops, and the lines of what is asked of two of them."""
    asked: dict[str, Any] = {
        field: _column(table, column, cells.number, getattr(NEUTRAL, field)[0])
        for field, column in NUMBERS.items()
        if column in table.header.known
    }
    asked |= {
        field: _column(table, column, cells.time, getattr(NEUTRAL, field)[0])
        for field, column in TIMES.items()
        if column in table.header.known
    }
    if "service" in table.header.known:
        asked["service"] = _column(table, "service", cells.duration, 0.0)
    asked["windows"] = _windows(table, cells)
    _check_windows(table, asked, cells)
    if (capacity := _single(table, cells, "capacity")) is not None:
        asked["capacity"] = capacity
    before = _links(table, "before", known)
    after = [(other, row, line) for row, other, line in _links(table, "after", known)]
    pickups = [(other, row, line) for row, other, line in _links(table, "pickup", known)]
    stated = {(a, b) for a, b, _ in pickups}  # a pair may be told from both sides
    pairs = [
        *pickups,
        *(each for each in _links(table, "delivery", known) if each[:2] not in stated),
    ]
    asked["before"] = [(a, b) for a, b, _ in (*before, *after)]
    asked["pairs"] = [(a, b) for a, b, _ in pairs]
    _balance(table, asked)
    lines = {
        "before": [line for *_, line in (*before, *after)],
        "pairs": [line for *_, line in pairs],
    }
    return asked, lines


def _column(table: Table, column: str, read: Any, absent: float) -> Float[np.ndarray, " N"]:  # noqa: ANN401
    """The number in every row, where a blank stands for the neutral one."""
    cells = table.cells(column)
    return np.array([read(cell, line, column) if cell else absent for cell, line in cells])


def _windows(table: Table, cells: Cells) -> dict[int, list[tuple[float, float]]]:
    return {
        node: cells.windows(cell, line, "windows")
        for node, (cell, line) in enumerate(table.cells("windows"))
        if cell
    }


def _check_windows(table: Table, asked: Mapping[str, Any], cells: Cells) -> None:
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


def _balance(table: Table, asked: dict[str, Any]) -> None:
    """What is picked up is delivered: where a delivery says no amount, it is that of its pickups."""
    demand = asked.get("demand")
    if demand is None:
        return
    blank = {node for node, (cell, _) in enumerate(table.cells("demand")) if not cell}
    for pickup, delivery in asked["pairs"]:
        if delivery in blank:
            demand[delivery] -= demand[pickup]
        elif pickup in blank:
            demand[pickup] -= demand[delivery]
    if (demand < 0).any() and (asked["pairs"] or "capacity" in asked):
        asked["load"] = "signed"


def _priorities(table: Table, cells: Cells) -> list[float]:
    """How much it matters that each stop is served; a blank, like the depot, must be."""
    if "prize" in table.header.known:
        raise Unreadable(
            "there are both 'priority' and 'prize'; expected one of them", table.lines[0] - 1
        )
    ranks = [
        RANKS[cell.lower()] if cell.lower() in RANKS else cells.number(cell, line, "priority")
        for cell, line in ((cell or "must", line) for cell, line in table.cells("priority"))
    ]
    for rank, line in zip(ranks, table.lines, strict=True):
        if rank < 0 or (math.isfinite(rank) and rank > 100):
            raise Unreadable(
                f"the priority {rank:g} is not understood; expected 0 to 100, low, medium, high or must",
                line,
            )
    return [math.inf, *ranks[1:]]


def _links(table: Table, column: str, known: Mapping[str, int]) -> list[tuple[int, int, int]]:
    """Each row with a stop that it names, and its line."""
    return [
        (node, node_of(name, known, f"column {column!r}", line), line)
        for node, (cell, line) in enumerate(table.cells(column))
        for name in _listed(cell, known)
    ]


def _listed(cell: str, known: Mapping[str, int]) -> list[str]:
    """The names in a cell, between semicolons or, where that gives no names of stops, commas."""
    names = [name.strip() for name in cell.split(";")]
    if any(name and name not in known for name in names):
        names = [name.strip() for name in cell.replace(",", ";").split(";")]
    return [name for name in names if name]


def _breaks(table: Table, cells: Cells) -> list[tuple[float, float, float]]:
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


def _break_names(table: Table) -> tuple[str, ...]:
    """What breaks are called, if any of them is called anything else than a break."""
    main = "name" if "name" in table.header.known else "id"
    names = tuple("" if UNNAMED.fullmatch(cell) else cell for cell, _ in table.cells(main))
    return names if any(names) else ()


def _end(table: Table, kinds: Sequence[str]) -> int | None:
    """The row where the tour ends: by default the depot, or None for the last stop."""
    cells = table.cells("end") or [("", line) for line in table.lines]
    if cells[0][0].lower() in ANYWHERE and not any(cell for cell, _ in cells[1:]):
        return None
    marked = [node for node, kind in enumerate(kinds) if kind in END]
    for node, (cell, line) in enumerate(cells):
        if cell and cell.lower() != "yes":
            raise Unreadable(
                f"column 'end' has {shortened(cell)}; expected yes in the one row where the tour ends, or anywhere in "
                "that of the depot",
                line,
            )
        marked += [node] if cell and node not in marked else []
    if len(marked) > 1:
        raise Unreadable(
            "a second row is marked as the end; expected one row where the tour ends",
            table.lines[marked[1]],
        )
    return marked[0] if marked else 0
