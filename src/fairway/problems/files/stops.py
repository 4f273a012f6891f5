"""From the rows of a table of stops to an instance: what each column asks for, and how stops are reached."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from fairway.problems.files import legs
from fairway.problems.files.cells import Cells
from fairway.problems.files.columns import check_places
from fairway.problems.files.fields import NEUTRAL, node_of
from fairway.problems.files.legs import Beside, Legs
from fairway.problems.files.opening import (
    TIMES,
    break_names,
    breaks_of,
    check_windows,
    reading,
    windows_of,
)
from fairway.problems.files.places import degrees, placed
from fairway.problems.files.prizes import prizes_of
from fairway.problems.files.rows import Table, names_of
from fairway.problems.files.text import Unreadable, by_row, check_size, located, shortened
from fairway.problems.instance import Instance
from fairway.problems.source import Source

NUMBERS = {"late": "late", "demand": "demand", "draft": "draft", "prize": "prize"}
"""The columns of plain numbers, by the fields that they fill."""
DEPOT = ("depot", "start", "warehouse", "hub", "base", "garage", "home")
END = ("end", "finish", "destination")
BREAK = ("break", "lunch", "lunch break", "pause", "rest")
ANYWHERE = ("anywhere", "open", "last stop", "none")
"""What the row of the depot says of an end at the last stop."""
RANKS = {
    **dict.fromkeys(("low", "niedrig", "basse", "baja", "bassa", "laag", "baixa"), 1.0),
    **dict.fromkeys(("medium", "normal", "mittel", "moyenne", "media", "gemiddeld"), 2.0),
    **dict.fromkeys(("high", "hoch", "haute", "alta", "hoog"), 3.0),
    **dict.fromkeys(("must", "muss"), math.inf),
}
"""Priorities in words."""


def instance_of(table: Table, name: str, beside: Beside) -> Instance:
    """The instance of a table: the depot first, breaks taken out, further columns carried along."""
    table = placed(table)
    check_places(table.header, table.lines[0] - 1, matrix=beside.matrix is not None)
    check_size(len(table.rows))
    cells = reading(table, beside)
    kinds = [cell.lower() for cell, _ in table.cells("kind")] or [""] * len(table.rows)
    pauses = [at for at, kind in enumerate(kinds) if kind in BREAK]
    stops = [at for at, kind in enumerate(kinds) if kind not in BREAK]
    if not stops:
        raise Unreadable("every row is a break; expected the depot and stops", table.lines[0])
    order = _depot_first(table, kinds, stops)
    resting, listed = table.chosen(pauses), table.chosen(stops)
    breaks, rests = breaks_of(resting, cells), break_names(resting)
    table, kinds = table.chosen(order), [kinds[at] for at in order]
    _check_kinds(table, kinds)
    names, ids, known = names_of(table)
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


def _legs(
    listed: Table, table: Table, cells: Cells, beside: Beside, names: Sequence[str] | None
) -> Legs:
    """How stops are reached, in the order of the file's rows: by the matrix beside them, or as their places lie."""
    geographic = "lat" in table.header.known
    points = _points(listed, cells, geographic=geographic)
    if beside.matrix is not None:
        listed_names = names_of(listed)[0]
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
    read = degrees if geographic else cells.number
    given = [
        [read(cell, line, column) for cell, line in table.filled(column)] for column in columns
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
    asked["windows"] = windows_of(table, cells)
    check_windows(table, asked, cells)
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


def _check_kinds(table: Table, kinds: Sequence[str]) -> None:
    """Refuse rows called pickups and deliveries where nothing says which belong together."""
    if {"pickup", "delivery"} <= set(kinds) and not table.header.known.keys() & {
        "pickup",
        "delivery",
    }:
        raise Unreadable(
            "there are rows of the kinds 'pickup' and 'delivery', and nothing says which belong together; give a "
            "column 'pickup' with the name of its pickup in the row of each delivery, or rename the column of kinds",
            table.lines[kinds.index("delivery")],
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
    ranks = [_rank(cell or "must", line, cells) for cell, line in table.cells("priority")]
    return [math.inf, *ranks[1:]]


def _rank(cell: str, line: int, cells: Cells) -> float:
    """A priority in words or from 0 to 100."""
    if cell.lower() in RANKS:
        return RANKS[cell.lower()]
    rank = cells.number(cell, line, "priority") if cell[0] in "+-.0123456789" else math.nan
    if not 0 <= rank <= 100:
        raise Unreadable(
            f"the priority {shortened(cell)} is not understood; expected 0 to 100, low, medium, high or must",
            line,
        )
    return rank


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
