"""The matrix format of the TSPTW libraries: a count of nodes, the matrix, and a window per node.

An entry is the travel from its row to its column plus the service at the row. Reading gives an
instance without service times, whose tours cost more by the sum of all service than on one that
keeps the two apart.
"""

from array import array

import numpy as np
from jaxtyping import Float

from fairway.problems.distances import Distances
from fairway.problems.files.text import (
    Line,
    Unreadable,
    digits,
    line_of_word,
    lines,
    located,
    node_count,
    number,
)
from fairway.problems.instance import TSPTW, Instance


def recognises(text: str) -> bool:
    """Whether the text starts with a number that has a line to itself."""
    first = next(lines(text, "#"), None)
    return first is not None and len(first.words) == 1 and first.text[0] in "+-.0123456789"


def parse(text: str, name: str, distances: Distances | None) -> Instance:
    """The instance in the text; `distances` has no say, as the travel is given."""
    said = lines(text, "#")
    if (head := next(said, None)) is None:
        raise Unreadable("there are no numbers; expected the number of nodes, a matrix and windows")
    if len(head.words) != 1:
        raise Unreadable("expected the number of nodes on a line of its own", head.number)
    nodes = node_count(head.text, head.number)
    body = list(said)
    entries, taken = _entries(body, nodes)
    windows = _windows(body[taken:], nodes, body[-1].number)
    travel = np.array(entries).reshape(nodes, nodes)

    def line_of(field: str, index: tuple[int, ...]) -> int | None:
        if field == "travel":
            return line_of_word(body, index[0] * nodes + index[1])
        return body[taken + index[0]].number

    with located(line_of):
        return TSPTW(travel, windows[:, 0], windows[:, 1], name=name)


def render(instance: Instance) -> str:
    """The text of a TSPTW, service added to the travel out of each node.

    Coordinates and names are dropped.
    """
    if not instance.timed:
        raise Unreadable("matrix holds time windows only; write a TSPDL as json, rakke or tsplib")
    folded = instance.travel + instance.service[:, None]
    np.fill_diagonal(folded, 0.0)
    rows = [*folded.tolist(), *zip(instance.opens.tolist(), instance.closes.tolist(), strict=True)]
    text = [str(instance.nodes), *(" ".join(map(digits, row)) for row in rows)]
    if instance.service.any():
        text.append("# entries are travel plus service at the origin")
    return "\n".join(text) + "\n"


def _entries(body: list[Line], nodes: int) -> tuple["array[float]", int]:
    """The numbers of the matrix, however spread over lines, and how many lines they take."""
    entries = array("d")
    for taken, line in enumerate(body, start=1):
        words = line.text.split(None, nodes * nodes)
        if len(entries) + len(words) > nodes * nodes:
            raise _miscount(body, nodes, len(entries) + len(words), line.number)
        entries.extend(number(word, line.number, "an entry of the matrix") for word in words)
        if len(entries) == nodes * nodes:
            return entries, taken
    raise _miscount(body, nodes, len(entries), body[-1].number if body else 1)


def _miscount(body: list[Line], nodes: int, found: int, stopped: int) -> Unreadable:
    """Blame the wrong row where there is a row per line, else the line at which counting failed."""
    if body and len(body[0].words) == nodes:
        for line in body[:nodes]:
            if (row := len(line.words)) != nodes:
                return Unreadable(f"expected a row of {nodes} numbers, found {row}", line.number)
    expected = f"expected a matrix of {nodes} x {nodes} numbers"
    return Unreadable(f"{expected}, found {found} by the end of this line", stopped)


def _windows(rest: list[Line], nodes: int, last: int) -> Float[np.ndarray, "N 2"]:
    for line in rest[:nodes]:
        if (found := len(line.words)) != 2:
            raise Unreadable(
                f"expected a window, earliest and latest, found {found} numbers", line.number
            )
    if len(rest) < nodes:
        raise Unreadable(f"expected {nodes} windows after the matrix, found {len(rest)}", last)
    if len(rest) > nodes:
        extra = rest[nodes].number
        raise Unreadable(f"expected the end of the file after {nodes} windows", extra)
    what = "the earliest or latest time of a window"
    return np.array([[number(word, line.number, what) for word in line.words] for line in rest])
