"""A TSPLIB file taken apart into keys and sections, and the tables in those sections."""

import re
from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from fairway.problems.files.text import Line, Unreadable, lines, number, shortened, whole

USED = (
    "NAME",
    "TYPE",
    "COMMENT",
    "DIMENSION",
    "EDGE_WEIGHT_TYPE",
    "EDGE_WEIGHT_FORMAT",
    "SERVICE_TIME",
)
HARMLESS = (
    "CAPACITY",
    "VEHICLES",
    "SALESMEN",
    "DISPLAY_DATA_TYPE",
    "NODE_COORD_TYPE",
    "EDGE_DATA_FORMAT",
)
"""Keys that LKH knows and that change nothing for a single vehicle."""
SECTIONS = (
    "EDGE_WEIGHT_SECTION",
    "NODE_COORD_SECTION",
    "DISPLAY_DATA_SECTION",
    "TIME_WINDOW_SECTION",
    "SERVICE_TIME_SECTION",
    "DEMAND_SECTION",
    "DRAFT_LIMIT_SECTION",
    "DEPOT_SECTION",
)
OPENING = re.compile(rf"(?i:({'|'.join((*USED, *HARMLESS))})\s*[:=]|({'|'.join(SECTIONS)})\b)")
"""How a file of this kind starts; the colon tells a key from the head of a column."""
KEYWORD = re.compile(r"([A-Za-z]\w*)(?:\s*[:=]\s*|\s+|$)(.*)")

Table = dict[int, list[float]]
"""The numbers of each node, by id."""


@dataclass(frozen=True, slots=True)
class Document:
    """The values of a file's keys and the lines of its sections, nothing converted yet."""

    keys: dict[str, Line] = field(default_factory=dict)
    sections: dict[str, list[Line]] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)
    """The line on which each section starts."""
    comments: list[str] = field(default_factory=list)

    def choice(self, key: str, known: Collection[str], default: str | None = None) -> str:
        """The value of a key that must be one of the known ones, in capitals."""
        if key not in self.keys and default is not None:
            return default
        found = self.keys.get(key)
        if found is None or found.text.upper() not in known:
            what = "nothing" if found is None else shortened(found.text)
            line = None if found is None else found.number
            raise Unreadable(f"expected {key} to be one of {', '.join(known)}, found {what}", line)
        return found.text.upper()

    def table(self, section: str, nodes: int, columns: int) -> Table:
        """A section of rows `id number...`, one a node; LKH-3 lets a -1 end it."""
        rows = self.rows(section)
        if rows and rows[-1].text == "-1":
            rows = rows[:-1]
        if len(rows) != nodes:
            message = f"expected {nodes} rows in {section}, by DIMENSION, found {len(rows)}"
            raise Unreadable(message, self.places[section])
        table: Table = {}
        for line in rows:
            if len(line.words) != columns + 1:
                message = (
                    f"expected an id and {columns} numbers in {section}, found {line.text[:40]!r}"
                )
                raise Unreadable(message, line.number)
            node = whole(line.words[0], line.number, f"an id in {section}")
            if node in table:
                raise Unreadable(
                    f"expected each node once in {section}, found {shortened(line.words[0])} again",
                    line.number,
                )
            table[node] = [
                number(word, line.number, f"a number of {section}") for word in line.words[1:]
            ]
        return table

    def rows(self, section: str) -> list[Line]:
        """The lines of a section that must be there."""
        if section not in self.sections:
            raise Unreadable(f"expected a {section}, found none")
        return self.sections[section]

    def columns(self, section: str, ids: list[int], columns: int) -> Float[np.ndarray, "N C"]:
        """The numbers of a table in the order of the ids, each of which must be there."""
        table = self.table(section, len(ids), columns)
        if strangers := set(table) - set(ids):
            stranger = min(strangers)
            message = (
                f"expected the ids of the nodes in {section}, found {shortened(str(stranger))}"
            )
            raise Unreadable(message, self.line_of(section, stranger))
        return np.array([table[node] for node in ids])

    def line_of(self, section: str, node: int) -> int:
        """The line of a node's row in a table that was read before."""
        return next(row.number for row in self.sections[section] if float(row.words[0]) == node)


def taken_apart(text: str) -> Document:
    """The keys and sections of a file, each of which may be there once."""
    document = Document()
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


def _opened(document: Document, keyword: str, value: Line) -> list[Line] | None:
    """Take down a key with its value, or a section, whose lines go in the list returned."""
    if keyword == "COMMENT":
        document.comments.append(value.text)
        return None
    if keyword not in (*USED, *HARMLESS, *SECTIONS):
        found = shortened(keyword)
        raise Unreadable(
            f"expected a number or a keyword Fairway knows, found {found}", value.number
        )
    if keyword in document.keys or keyword in document.sections:
        raise Unreadable(f"expected {keyword} once, found it again", value.number)
    if keyword not in SECTIONS:
        document.keys[keyword] = value
        return None
    if value.text:
        raise Unreadable(f"expected the numbers of {keyword} on lines below it", value.number)
    document.places[keyword] = value.number
    return document.sections.setdefault(keyword, [])
