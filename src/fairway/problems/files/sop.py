"""TSPLIB's sequential ordering problem: a path from the first node to the last, with an order of the stops between."""

import re

import numpy as np

from fairway.problems.distances import Distances
from fairway.problems.files import tsplib
from fairway.problems.files.text import Line, Unreadable, line_of_word, located
from fairway.problems.files.tsplib import dimension, explicit, taken_apart
from fairway.problems.instance import Instance

TYPE = re.compile(r"^[ \t]*TYPE[ \t]*[:=][ \t]*SOP[ \t\r]*$", re.MULTILINE | re.IGNORECASE)
HEAD = 4_000
"""Characters within which a file says what it is."""
LATER = -1.0
"""An entry that says that its column comes before its row."""
NO_ARC = 1_000_000.0
"""An entry that stands for no arc."""


def recognises(text: str) -> bool:
    """Whether a file of TSPLIB says that it is one."""
    return TYPE.search(text[:HEAD]) is not None and tsplib.recognises(text)


def parse(text: str, name: str, distances: Distances | None) -> Instance:
    """The instance in the text; `distances` has no say, as the travel is given."""
    document = taken_apart(text)
    nodes = dimension(document)
    if nodes < 3:
        raise Unreadable("expected a first node, a last one, and stops between them")
    weights = document.rows("EDGE_WEIGHT_SECTION")
    if weights and weights[0].text == str(nodes):  # the files of the library say it once more
        document.sections["EDGE_WEIGHT_SECTION"] = weights = weights[1:]
    matrix = explicit(document, nodes)
    inner = range(1, nodes - 1)  # the first node comes first, and the last one last, in any case
    later = np.argwhere(matrix == LATER).tolist()
    before = [(a, b) for b, a in later if a in inner and b in inner and a != b]
    travel = np.where((matrix == LATER) | (matrix == NO_ARC), np.inf, matrix)
    np.fill_diagonal(travel, 0.0)
    given = document.keys.get("NAME")

    def line_of(field: str, index: tuple[int, ...]) -> int | None:
        return _line_of(weights, nodes, index) if field == "travel" else None

    with located(line_of):
        title = given.text if given and given.text else name
        return Instance(travel, before=before, end=nodes - 1, name=title)


def _line_of(weights: list[Line], nodes: int, index: tuple[int, ...]) -> int | None:
    return line_of_word(weights, index[0] * nodes + index[1]) if len(index) == 2 else None
