"""TSPLIB95 files with the sections LKH-3 adds for time windows and draft limits.

EUC_2D is rounded to nearest by the standard. A load shrinks and is checked on arrival, as in LKH-3.
Stop names have no place here and are dropped on writing; on reading, ids become names where they
say more than 1, 2, 3.
"""

import re
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from jaxtyping import Float

from fairway.problems.distances import Distances, travel_matrix
from fairway.problems.files.rakke import BACKWARDS
from fairway.problems.files.text import (
    Line,
    Unreadable,
    digits,
    line_of_word,
    lines,
    located,
    node_count,
    number,
    shortened,
    travel_between,
    whole,
)
from fairway.problems.instance import Instance
from fairway.problems.table import PROBLEMS

KEYS = ("NAME", "TYPE", "DIMENSION", "EDGE_WEIGHT_TYPE", "EDGE_WEIGHT_FORMAT", "SERVICE_TIME")
HARMLESS = (
    "CAPACITY",
    "VEHICLES",
    "SALESMEN",
    "DISPLAY_DATA_TYPE",
    "NODE_COORD_TYPE",
    "EDGE_DATA_FORMAT",
)
"""Keys that LKH knows and that change nothing for a single vehicle."""
DRAWN = ("NODE_COORD_SECTION", "DISPLAY_DATA_SECTION")
SECTION_OF = {
    "opens": "TIME_WINDOW_SECTION",
    "closes": "TIME_WINDOW_SECTION",
    "service": "SERVICE_TIME_SECTION",
    "demand": "DEMAND_SECTION",
    "draft": "DRAFT_LIMIT_SECTION",
}
SECTIONS = ("EDGE_WEIGHT_SECTION", *DRAWN, *SECTION_OF.values(), "DEPOT_SECTION")
OPENING = re.compile(
    rf"(?i:({'|'.join((*KEYS, 'COMMENT', *HARMLESS))})\s*[:=]|({'|'.join(SECTIONS)})\b)"
)
"""How a file of this kind starts; the colon tells a key from the head of a column."""
KEYWORD = re.compile(r"([A-Za-z]\w*)(?:\s*[:=]\s*|\s+|$)(.*)")
KINDS = ("EUC_2D", "CEIL_2D", "FLOOR_2D", "GEO", "EXPLICIT")
TYPES = ("TSPTW", "TSPDL", "TSP", "ATSP", "CVRPTW")
TOLD_BY = {"TSPTW": "TIME_WINDOW_SECTION", "TSPDL": "DRAFT_LIMIT_SECTION"}
EARTH = 6378.388
PI = 3.141592
"""The radius and the pi of the standard, which its published distances depend on."""

ABOVE, BELOW = partial(np.triu_indices, k=1), partial(np.tril_indices, k=-1)
TRIANGLES: dict[str, Callable[[int], tuple[np.ndarray, np.ndarray]]] = {
    "UPPER_ROW": ABOVE,
    "LOWER_ROW": BELOW,
    "UPPER_DIAG_ROW": np.triu_indices,
    "LOWER_DIAG_ROW": np.tril_indices,
    "UPPER_COL": BELOW,
    "LOWER_COL": ABOVE,
    "UPPER_DIAG_COL": np.tril_indices,
    "LOWER_DIAG_COL": np.triu_indices,
}
"""Where the weights of a triangle go, in the order they are listed.

Down the columns of one triangle is along the rows of the other.
"""


@dataclass(frozen=True, slots=True)
class _Document:
    """The values of a file's keys and the lines of its sections, nothing converted yet."""

    keys: dict[str, Line] = field(default_factory=dict)
    heads: dict[str, int] = field(default_factory=dict)
    """The line on which each section starts."""
    sections: dict[str, list[Line]] = field(default_factory=dict)
    comments: list[str] = field(default_factory=list)

    def choice(self, key: str, known: Collection[str], default: str | None = None) -> str:
        """The value of a key that must be one of the known ones, in capitals."""
        found = self.keys.get(key)
        if found is None and default is not None:
            return default
        if found is None or found.text.upper() not in known:
            what = "nothing" if found is None else shortened(found.text)
            line = None if found is None else found.number
            raise Unreadable(f"expected {key} to be one of {', '.join(known)}, found {what}", line)
        return found.text.upper()

    def rows(self, section: str) -> list[Line]:
        """The lines of a section that must be there."""
        if section not in self.sections:
            raise Unreadable(f"expected a {section}, found none")
        return self.sections[section]

    def table(self, section: str, nodes: int, columns: int) -> dict[int, list[float]]:
        """The numbers of each node by id, from rows `id number...`; LKH-3 lets a -1 end them."""
        rows = self.rows(section)
        if rows and rows[-1].text == "-1":
            rows = rows[:-1]
        if len(rows) != nodes:
            message = f"expected {nodes} rows in {section}, by DIMENSION, found {len(rows)}"
            raise Unreadable(message, self.heads[section])
        table: dict[int, list[float]] = {}
        for line in rows:
            if len(line.words) != columns + 1:
                wanted = f"expected an id and {columns} numbers in {section}"
                raise Unreadable(f"{wanted}, found {line.text[:40]!r}", line.number)
            first, *rest = line.words
            node = whole(first, line.number, f"an id in {section}")
            if node in table:
                message = f"expected each node once in {section}, found {shortened(first)} again"
                raise Unreadable(message, line.number)
            table[node] = [number(word, line.number, f"a number of {section}") for word in rest]
        return table

    def columns(self, section: str, ids: list[int], columns: int) -> Float[np.ndarray, "C N"]:
        """The numbers of a table in the order of the ids, each of which must be there."""
        table = self.table(section, len(ids), columns)
        if strangers := set(table) - set(ids):
            stranger = min(strangers)
            message = (
                f"expected the ids of the nodes in {section}, found {shortened(str(stranger))}"
            )
            raise Unreadable(message, self.line_of(section, stranger))
        return np.array([table[node] for node in ids]).T

    def line_of(self, section: str, node: int) -> int:
        """The line of a node's row in a table that was read before."""
        return next(row.number for row in self.sections[section] if float(row.words[0]) == node)


def recognises(text: str) -> bool:
    """Whether the first line opens with one of TSPLIB's keywords."""
    first = next(lines(text), None)
    return first is not None and OPENING.match(first.text) is not None


def parse(text: str, name: str, distances: Distances | None) -> Instance:
    """The instance in the text, depot first; `distances` replaces the rounding of EUC_2D only."""
    document = taken_apart(text)
    problem = _problem(document)
    ids, travel, points = _places(document, dimension(document), distances)
    order = _depot_first(document, ids)
    ids = [ids[at] for at in order]
    counted = ids == list(range(1, len(ids) + 1))
    given = document.keys.get("NAME")
    with located(partial(_line_of, document, ids)):
        instance = PROBLEMS[problem.lower()].make(
            travel[np.ix_(order, order)],
            **(_times if problem == "TSPTW" else _loads)(document, ids),
            coordinates=None if points is None else points[order],
            names=None if counted else tuple(map(str, ids)),
            name=given.text if given and given.text else name,
        )
    backwards = problem == "TSPDL" and BACKWARDS in document.comments
    return instance.reversed() if backwards else instance


def render(instance: Instance) -> str:
    """The text of an instance, a growing load written backwards with a comment that undoes it."""
    backwards = instance.laden and instance.load == "growing"
    written = instance.reversed() if backwards else instance
    head = [f"NAME : {name}"] if (name := _printable(instance.name)) else []
    head += [f"COMMENT : {BACKWARDS}"] if backwards else []
    head += [f"TYPE : {instance.problem.upper()}", f"DIMENSION : {instance.nodes}"]
    sections: dict[str, list[np.ndarray]] = {}
    for column in PROBLEMS[instance.problem].columns:
        if column != "service" or written.service.any():
            sections.setdefault(SECTION_OF[column], []).append(getattr(written, column))
    body = (row for section in sections.items() for row in _table(*section))
    return "\n".join((*head, *_weights(written), *body, "DEPOT_SECTION", "1", "-1", "EOF")) + "\n"


def taken_apart(text: str) -> _Document:
    """The keys and sections of a file, each of which may be there once."""
    document = _Document()
    rows: list[Line] | None = None
    ended = False
    for line in lines(text):
        if ended:
            raise Unreadable("expected nothing after EOF", line.number)
        found = KEYWORD.fullmatch(line.text)
        if found is None:
            if rows is None:
                raise Unreadable(f"expected a keyword, found {shortened(line.text)}", line.number)
            rows.append(line)
            continue
        keyword = found[1].upper()
        ended = keyword == "EOF"
        rows = None if ended else _opened(document, keyword, Line(line.number, found[2]))
    return document


def _opened(document: _Document, keyword: str, value: Line) -> list[Line] | None:
    """Take down a key with its value, or a section, whose lines go in the list returned."""
    if keyword == "COMMENT":
        document.comments.append(value.text)
        return None
    if keyword not in (*KEYS, *HARMLESS, *SECTIONS):
        known = "a number or a keyword Fairway knows"
        raise Unreadable(f"expected {known}, found {shortened(keyword)}", value.number)
    if keyword in document.keys or keyword in document.sections:
        raise Unreadable(f"expected {keyword} once, found it again", value.number)
    if keyword not in SECTIONS:
        document.keys[keyword] = value
        return None
    if value.text:
        raise Unreadable(f"expected the numbers of {keyword} on lines below it", value.number)
    document.heads[keyword] = value.number
    return document.sections.setdefault(keyword, [])


def _problem(document: _Document) -> str:
    """TSPTW or TSPDL, by the sections there are; TYPE may only agree."""
    named = document.choice("TYPE", TYPES, default="TSP")
    present = [problem for problem, section in TOLD_BY.items() if section in document.sections]
    either = " or ".join(TOLD_BY.values())
    if not present:
        raise Unreadable(f"a {named} without windows or drafts; expected {either}")
    if len(present) > 1:
        raise Unreadable(f"expected either {either}, found both")
    if named in TOLD_BY and named != present[0]:
        line = document.keys["TYPE"].number
        raise Unreadable(f"expected a {TOLD_BY[named]}, as TYPE is {named}, found none", line)
    return present[0]


def dimension(document: _Document) -> int:
    """The number of nodes."""
    if (given := document.keys.get("DIMENSION")) is None:
        raise Unreadable("expected DIMENSION, the number of nodes, found none")
    return node_count(given.text, given.number)


def _places(
    document: _Document, nodes: int, distances: Distances | None
) -> tuple[list[int], Float[np.ndarray, "N N"], Float[np.ndarray, "N 2"] | None]:
    """The ids of the nodes, the travel between them, and their points where there are any."""
    kind = document.choice("EDGE_WEIGHT_TYPE", KINDS)
    ids = list(range(1, nodes + 1))
    if kind == "EXPLICIT":
        travel = explicit(document, nodes)
        drawn = [name for name in DRAWN if name in document.sections]
        return ids, travel, document.columns(drawn[0], ids, 2).T if drawn else None
    table = document.table("NODE_COORD_SECTION", nodes, 2)
    if set(table) != set(ids):
        ids = list(table)
    points = np.array([table[node] for node in ids])
    with located(partial(_line_of, document, ids)):
        return ids, _between(points, kind, distances), points


def _between(
    points: Float[np.ndarray, "N 2"], kind: str, distances: Distances | None
) -> Float[np.ndarray, "N N"]:
    """Travel under an EDGE_WEIGHT_TYPE; `distances` replaces the rounding of EUC_2D only."""
    if kind == "EUC_2D":
        return travel_between(points, distances or "nearest")
    exact = travel_between(points, "float")
    if kind == "GEO":
        return _geographical(points)
    return np.ceil(exact) if kind == "CEIL_2D" else np.floor(exact)


def _geographical(points: Float[np.ndarray, "N 2"]) -> Float[np.ndarray, "N N"]:
    """Kilometres between places in degrees.minutes, by the standard's own formula."""
    degrees = np.trunc(points)
    latitude, longitude = (PI * (degrees + 5.0 * (points - degrees) / 3.0) / 180.0).T
    q1 = np.cos(longitude[:, None] - longitude)
    q2 = np.cos(latitude[:, None] - latitude)
    q3 = np.cos(latitude[:, None] + latitude)
    cosine = 0.5 * ((1.0 + q1) * q2 - (1.0 - q1) * q3)
    return np.floor(EARTH * np.arccos(np.clip(cosine, -1.0, 1.0)) + 1.0)


def explicit(document: _Document, nodes: int) -> Float[np.ndarray, "N N"]:
    """The matrix of weights listed in an EDGE_WEIGHT_FORMAT; a triangle is mirrored."""
    shape = document.choice("EDGE_WEIGHT_FORMAT", ("FULL_MATRIX", *TRIANGLES))
    triangle = nodes * (nodes + 1 if "DIAG" in shape else nodes - 1) // 2
    expected = nodes * nodes if shape == "FULL_MATRIX" else triangle
    weights, found = array("d"), 0
    for line in document.rows("EDGE_WEIGHT_SECTION"):
        words = line.text.split(None, expected)
        found += len(words)
        if found <= expected:
            weights.extend(number(word, line.number, "a weight") for word in words)
    if found != expected:
        message = f"expected {expected} weights, {shape} for {nodes} nodes, found {found}"
        raise Unreadable(message, document.heads["EDGE_WEIGHT_SECTION"])
    if shape == "FULL_MATRIX":
        return np.array(weights).reshape(nodes, nodes)
    rows, columns = TRIANGLES[shape](nodes)
    matrix = np.zeros((nodes, nodes))
    matrix[rows, columns] = matrix[columns, rows] = weights
    return matrix


def _depot_first(document: _Document, ids: list[int]) -> list[int]:
    """The positions of the nodes, that of the depot first."""
    rest = list(range(len(ids)))
    if "DEPOT_SECTION" not in document.sections:
        return rest
    rows = document.sections["DEPOT_SECTION"]
    words = [word for line in rows for word in line.words]
    if len(words) != 2 or words[1] != "-1":
        message = "expected one depot and then -1 in DEPOT_SECTION"
        raise Unreadable(message, document.heads["DEPOT_SECTION"])
    depot = whole(words[0], rows[0].number, "the id of the depot")
    if depot not in ids:
        found = shortened(words[0])
        raise Unreadable(f"expected the depot to be a node, found {found}", rows[0].number)
    return [rest.pop(ids.index(depot)), *rest]


def _times(document: _Document, ids: list[int]) -> dict[str, np.ndarray]:
    opens, closes = document.columns("TIME_WINDOW_SECTION", ids, 2)
    service, given = np.zeros(len(ids)), document.keys.get("SERVICE_TIME")
    if given is not None:
        if "SERVICE_TIME_SECTION" in document.sections:
            raise Unreadable("expected SERVICE_TIME or a section of it, found both", given.number)
        service[1:] = number(given.text, given.number, "SERVICE_TIME")
    elif "SERVICE_TIME_SECTION" in document.sections:
        (service,) = document.columns("SERVICE_TIME_SECTION", ids, 1)
    return {"opens": opens, "closes": closes, "service": service}


def _loads(document: _Document, ids: list[int]) -> dict[str, np.ndarray | str]:
    (demand,) = document.columns("DEMAND_SECTION", ids, 1)
    (draft,) = document.columns("DRAFT_LIMIT_SECTION", ids, 1)
    return {"demand": demand, "draft": draft, "load": "shrinking"}


def _line_of(document: _Document, ids: list[int], name: str, index: tuple[int, ...]) -> int | None:
    """The line of the number at an index of a field, with the nodes in the order of the ids."""
    if name == "service" and "SERVICE_TIME" in document.keys:
        return document.keys["SERVICE_TIME"].number
    if name == "travel" and document.choice("EDGE_WEIGHT_TYPE", KINDS) == "EXPLICIT":
        row, column = (ids[node] - 1 for node in index)
        shape = document.choice("EDGE_WEIGHT_FORMAT", ("FULL_MATRIX", *TRIANGLES))
        at = _position(shape, len(ids), row, column)
        return line_of_word(document.sections["EDGE_WEIGHT_SECTION"], at)
    if name in ("travel", "coordinates"):
        section = next(section for section in DRAWN if section in document.sections)
    else:
        section = SECTION_OF[name]
    return document.line_of(section, ids[index[0]])


def _position(shape: str, nodes: int, row: int, column: int) -> int:
    """How many weights come before the one that a place in the matrix is filled with."""
    if shape == "FULL_MATRIX":
        return row * nodes + column
    rows, columns = TRIANGLES[shape](nodes)
    listed = (rows == row) & (columns == column) | (rows == column) & (columns == row)
    return int(np.flatnonzero(listed)[0])


def _printable(name: str) -> str:
    """The name on one line, without what would make the file binary."""
    return "".join(letter for letter in " ".join(name.split()) if letter.isprintable())


def _weights(instance: Instance) -> Iterator[str]:
    """Coordinates where the standard's rounding gives the travel back, else the whole matrix."""
    points = instance.coordinates
    if points is not None and np.array_equal(travel_matrix(points, "nearest"), instance.travel):
        yield "EDGE_WEIGHT_TYPE : EUC_2D"
        yield from _table("NODE_COORD_SECTION", points.T)
        return
    yield "EDGE_WEIGHT_TYPE : EXPLICIT"
    yield "EDGE_WEIGHT_FORMAT : FULL_MATRIX"
    if points is not None:
        yield "DISPLAY_DATA_TYPE : TWOD_DISPLAY"
    yield "EDGE_WEIGHT_SECTION"
    yield from (" ".join(map(digits, row)) for row in instance.travel.tolist())
    if points is not None:
        yield from _table("DISPLAY_DATA_SECTION", points.T)


def _table(section: str, columns: Iterable[Float[np.ndarray, " N"]]) -> Iterator[str]:
    yield section
    for node, row in enumerate(zip(*(column.tolist() for column in columns), strict=True), start=1):
        yield " ".join((str(node), *map(digits, row)))
