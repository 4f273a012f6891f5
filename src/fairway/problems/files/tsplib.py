"""TSPLIB95 files with the sections LKH-3 adds for time windows and draft limits.

EUC_2D is rounded to nearest by the standard. A load shrinks and is checked on arrival, as in LKH-3.
Stop names have no place here and are dropped on writing; on reading, ids become names where they
say more than 1, 2, 3.
"""

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from jaxtyping import Float

from fairway.problems.distances import Distances, travel_matrix
from fairway.problems.files.matrix import node_count
from fairway.problems.files.rakke import BACKWARDS
from fairway.problems.files.text import (
    Unreadable,
    digits,
    line_of_word,
    lines,
    located,
    number,
    shortened,
    whole,
)
from fairway.problems.files.tsplib_document import OPENING, Document, taken_apart
from fairway.problems.files.tsplib_weights import TRIANGLES, between, position, unfolded, weights_in
from fairway.problems.instance import TSPDL, TSPTW, Instance

KINDS = ("EUC_2D", "CEIL_2D", "FLOOR_2D", "GEO", "EXPLICIT")
TYPES = ("TSPTW", "TSPDL", "TSP", "ATSP", "CVRPTW")
DRAWN = ("NODE_COORD_SECTION", "DISPLAY_DATA_SECTION")
SECTION_OF = {
    "opens": "TIME_WINDOW_SECTION",
    "closes": "TIME_WINDOW_SECTION",
    "service": "SERVICE_TIME_SECTION",
    "demand": "DEMAND_SECTION",
    "draft": "DRAFT_LIMIT_SECTION",
}


@dataclass(frozen=True, slots=True)
class _Places:
    """The nodes by id, the travel between them, and their points where there are any."""

    ids: list[int]
    travel: Float[np.ndarray, "N N"]
    points: Float[np.ndarray, "N 2"] | None

    @property
    def names(self) -> tuple[str, ...] | None:
        counted = self.ids == list(range(1, len(self.ids) + 1))
        return None if counted else tuple(map(str, self.ids))


def recognises(text: str) -> bool:
    """Whether the first line opens with one of TSPLIB's keywords."""
    first = next(lines(text), None)
    return first is not None and OPENING.match(first.text) is not None


def parse(text: str, name: str, distances: Distances | None) -> Instance:
    """The instance in the text, depot first; `distances` replaces the rounding of EUC_2D only."""
    document = taken_apart(text)
    problem = _problem(document)
    places = _depot_first(_places(document, _dimension(document), distances), document)
    given = document.keys.get("NAME")
    name = given.text if given and given.text else name
    with located(partial(_line_of, document, places.ids)):
        if problem == "TSPTW":
            return _tsptw(document, places, name)
        instance = _tspdl(document, places, name)
    return instance.reversed() if BACKWARDS in document.comments else instance


def render(instance: Instance) -> str:
    """The text of an instance, a growing load written backwards with a comment that undoes it."""
    written, backwards = instance, False
    if instance.laden and instance.load == "growing":
        written, backwards = instance.reversed(), True
    head = [f"NAME : {name}"] if (name := _printable(instance.name)) else []
    head += [f"COMMENT : {BACKWARDS}"] if backwards else []
    head += [f"TYPE : {instance.problem.upper()}", f"DIMENSION : {instance.nodes}"]
    body = _time_sections(written) if written.timed else _load_sections(written)
    return "\n".join((*head, *_weights(written), *body, "DEPOT_SECTION", "1", "-1", "EOF")) + "\n"


def _problem(document: Document) -> str:
    """TSPTW or TSPDL, by the sections there are; TYPE may only agree."""
    named = document.choice("TYPE", TYPES, default="TSP")
    sections = {"TSPTW": "TIME_WINDOW_SECTION", "TSPDL": "DRAFT_LIMIT_SECTION"}
    present = [problem for problem, section in sections.items() if section in document.sections]
    if not present:
        raise Unreadable(
            f"a {named} without windows or drafts; expected {' or '.join(sections.values())}"
        )
    if len(present) > 1:
        raise Unreadable(f"expected either {' or '.join(sections.values())}, found both")
    if named in sections and named != present[0]:
        line = document.keys["TYPE"].number
        raise Unreadable(f"expected a {sections[named]}, as TYPE is {named}, found none", line)
    return present[0]


def _dimension(document: Document) -> int:
    if (given := document.keys.get("DIMENSION")) is None:
        raise Unreadable("expected DIMENSION, the number of nodes, found none")
    return node_count(given.text, given.number)


def _places(document: Document, nodes: int, distances: Distances | None) -> _Places:
    kind = document.choice("EDGE_WEIGHT_TYPE", KINDS)
    if kind != "EXPLICIT":
        table = document.table("NODE_COORD_SECTION", nodes, 2)
        ids = sorted(table) if set(table) == set(range(1, nodes + 1)) else list(table)
        points = np.array([table[node] for node in ids])
        with located(partial(_line_of, document, ids)):
            return _Places(ids, between(points, kind, distances), points)
    travel = _explicit(document, nodes)
    ids = list(range(1, nodes + 1))
    drawn = [name for name in DRAWN if name in document.sections]
    return _Places(ids, travel, document.columns(drawn[0], ids, 2) if drawn else None)


def _explicit(document: Document, nodes: int) -> Float[np.ndarray, "N N"]:
    shape = document.choice("EDGE_WEIGHT_FORMAT", ("FULL_MATRIX", *TRIANGLES))
    section = "EDGE_WEIGHT_SECTION"
    expected = weights_in(shape, nodes)
    weights, found = array("d"), 0
    for line in document.rows(section):
        words = line.text.split(None, expected)
        found += len(words)
        if found <= expected:
            weights.extend(number(word, line.number, "a weight") for word in words)
    if found != expected:
        message = f"expected {expected} weights, {shape} for {nodes} nodes, found {found}"
        raise Unreadable(message, document.places[section])
    return unfolded(weights, shape, nodes)


def _depot_first(places: _Places, document: Document) -> _Places:
    if "DEPOT_SECTION" not in document.sections:
        return places
    rows = document.sections["DEPOT_SECTION"]
    words = [word for line in rows for word in line.words]
    if len(words) != 2 or words[1] != "-1":
        message = "expected one depot and then -1 in DEPOT_SECTION"
        raise Unreadable(message, document.places["DEPOT_SECTION"])
    depot = whole(words[0], rows[0].number, "the id of the depot")
    if depot not in places.ids:
        raise Unreadable(
            f"expected the depot to be a node, found {shortened(words[0])}", rows[0].number
        )
    first = places.ids.index(depot)
    order = [first, *(at for at in range(len(places.ids)) if at != first)]
    return _Places(
        [places.ids[at] for at in order],
        places.travel[np.ix_(order, order)],
        None if places.points is None else places.points[order],
    )


def _tsptw(document: Document, places: _Places, name: str) -> Instance:
    windows = document.columns("TIME_WINDOW_SECTION", places.ids, 2)
    return TSPTW(
        places.travel,
        windows[:, 0],
        windows[:, 1],
        _service(document, places.ids),
        coordinates=places.points,
        names=places.names,
        name=name,
    )


def _service(document: Document, ids: list[int]) -> Float[np.ndarray, " N"]:
    given = document.keys.get("SERVICE_TIME")
    if "SERVICE_TIME_SECTION" in document.sections:
        if given is not None:
            raise Unreadable("expected SERVICE_TIME or a section of it, found both", given.number)
        return document.columns("SERVICE_TIME_SECTION", ids, 1)[:, 0]
    service = np.zeros(len(ids))
    if given is not None:
        service[1:] = number(given.text, given.number, "SERVICE_TIME")
    return service


def _tspdl(document: Document, places: _Places, name: str) -> Instance:
    return TSPDL(
        places.travel,
        document.columns("DEMAND_SECTION", places.ids, 1)[:, 0],
        document.columns("DRAFT_LIMIT_SECTION", places.ids, 1)[:, 0],
        load="shrinking",
        coordinates=places.points,
        names=places.names,
        name=name,
    )


def _line_of(document: Document, ids: list[int], field: str, index: tuple[int, ...]) -> int | None:
    """The line of the number at an index of a field, with the nodes in the order of the ids."""
    if field == "service" and "SERVICE_TIME" in document.keys:
        return document.keys["SERVICE_TIME"].number
    if field == "travel" and document.choice("EDGE_WEIGHT_TYPE", KINDS) == "EXPLICIT":
        row, column = (ids[node] - 1 for node in index)
        shape = document.choice("EDGE_WEIGHT_FORMAT", ("FULL_MATRIX", *TRIANGLES))
        at = position(shape, len(ids), row, column)
        return line_of_word(document.sections["EDGE_WEIGHT_SECTION"], at)
    if field in ("travel", "coordinates"):
        section = next(name for name in DRAWN if name in document.sections)
    else:
        section = SECTION_OF[field]
    return document.line_of(section, ids[index[0]])


def _printable(name: str) -> str:
    """The name on one line, without what would make the file binary."""
    return "".join(letter for letter in " ".join(name.split()) if letter.isprintable())


def _weights(instance: Instance) -> Iterator[str]:
    """Coordinates where the standard's rounding gives the travel back, else the whole matrix."""
    points = instance.coordinates
    if points is not None and np.array_equal(travel_matrix(points, "nearest"), instance.travel):
        yield "EDGE_WEIGHT_TYPE : EUC_2D"
        yield from _table("NODE_COORD_SECTION", points)
        return
    yield "EDGE_WEIGHT_TYPE : EXPLICIT"
    yield "EDGE_WEIGHT_FORMAT : FULL_MATRIX"
    if points is not None:
        yield "DISPLAY_DATA_TYPE : TWOD_DISPLAY"
    yield "EDGE_WEIGHT_SECTION"
    yield from (" ".join(map(digits, row)) for row in instance.travel.tolist())
    if points is not None:
        yield from _table("DISPLAY_DATA_SECTION", points)


def _time_sections(instance: Instance) -> Iterator[str]:
    yield from _table("TIME_WINDOW_SECTION", np.stack((instance.opens, instance.closes), axis=1))
    if instance.service.any():
        yield from _table("SERVICE_TIME_SECTION", instance.service[:, None])


def _load_sections(instance: Instance) -> Iterator[str]:
    yield from _table("DEMAND_SECTION", instance.demand[:, None])
    yield from _table("DRAFT_LIMIT_SECTION", instance.draft[:, None])


def _table(section: str, columns: Float[np.ndarray, "N C"]) -> Iterator[str]:
    yield section
    for node, row in enumerate(columns.tolist(), start=1):
        yield " ".join((str(node), *map(digits, row)))
