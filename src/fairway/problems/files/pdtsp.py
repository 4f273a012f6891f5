"""Files of the travelling salesman with pickup and delivery: a count, then `index x y`, and of stops `type pair`.

Pairs count rows. A published file may have a stop with the depot's index, and lower indices after it.
"""

from collections.abc import Iterator
from itertools import islice

import numpy as np

from fairway.problems.checks import MOST_NODES
from fairway.problems.distances import Distances
from fairway.problems.files.text import (
    Line,
    Unreadable,
    by_row,
    lines,
    located,
    node_count,
    number,
    travel_between,
    whole,
)
from fairway.problems.instance import Instance

CLOSING = "-999"
"""What ends a file."""
PICKUP, DELIVERY = 0, 1
DEPOT = 1
"""Its index."""


def recognises(text: str) -> bool:
    """Whether a count is followed by a row of three numbers, the depot's, and one of five."""
    first = list(islice(lines(text), 3))
    return [len(line.words) for line in first] == [1, 3, 5] and first[1].words[0] == "1"


def parse(text: str, name: str, distances: Distances | None) -> Instance:
    """The instance in the text, with distances to the nearest whole number unless `distances` says otherwise."""
    head, *rest = islice(lines(text), MOST_NODES + 2)
    nodes = node_count(head.text, head.number)
    rows = rest[:nodes]
    if len(rows) < nodes:
        raise Unreadable(f"expected {nodes} rows, found {len(rows)}", head.number)
    for line in rest[nodes:]:
        if line.text != CLOSING:
            raise Unreadable(f"expected the end of the file after {nodes} rows", line.number)
    places = np.array(list(_places(rows)))
    pairs = _pairs(rows)
    with located(by_row([line.number for line in rows])):
        travel = travel_between(places, distances or "nearest")
        return Instance(travel, pairs=pairs, coordinates=places, name=name)


def _places(rows: list[Line]) -> Iterator[list[float]]:
    """Where each node is."""
    index = 1
    for at, line in enumerate(rows):
        expected = 5 if at else 3
        if len(line.words) != expected:
            raise Unreadable(f"expected {expected} numbers, found {len(line.words)}", line.number)
        found = whole(line.words[0], line.number, "an index")
        if found not in (index, DEPOT):
            raise Unreadable(f"expected the index {index}, found {line.words[0]!r}", line.number)
        index += found == index
        yield [number(word, line.number, "a coordinate") for word in line.words[1:3]]


def _pairs(rows: list[Line]) -> list[tuple[int, int]]:
    """Each pickup with its delivery; each names the other."""
    kinds: dict[int, tuple[int, int]] = {}
    for node, line in enumerate(rows[1:], 1):
        kind, partner = (whole(word, line.number, "a type or a pair") for word in line.words[3:])
        if kind not in (PICKUP, DELIVERY) or not 2 <= partner <= len(rows):
            raise Unreadable(
                f"expected the type 0 or 1 and the index of a stop, found {line.words[3]} {line.words[4]}",
                line.number,
            )
        kinds[node] = (kind, partner - 1)
    for node, (kind, partner) in kinds.items():
        if kinds[partner] != (1 - kind, node):
            raise Unreadable(
                f"stop {node + 1} and stop {partner + 1} do not name each other as pickup and delivery",
                rows[node].number,
            )
    return [(node, partner) for node, (kind, partner) in kinds.items() if kind == PICKUP]
