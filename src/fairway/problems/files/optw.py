"""Orienteering files of Solomon's and Cordeau's instances: a row `i x y service score f a list... open close` per node.

A stop that is left out costs its score and travel costs nothing, so that the least cost is the greatest score.
"""

import math
from itertools import islice

import numpy as np
from jaxtyping import Float

from fairway.problems.checks import MOST_NODES, is_integral
from fairway.problems.distances import Distances, euclidean
from fairway.problems.files.text import (
    Line,
    Unreadable,
    by_row,
    check_size,
    lines,
    located,
    number,
    travel_between,
    whole,
)
from fairway.problems.instance import Instance

HEAD = (4, 2)
"""Numbers on the first two lines, which say nothing that matters here."""
FEWEST = 9
"""Numbers in a row: that of the depot has no list."""


def recognises(text: str) -> bool:
    """Whether four numbers and two come before a row of the depot 0."""
    first = list(islice(lines(text), 3))
    counts = tuple(len(line.words) for line in first)
    if counts[:2] != HEAD or len(first) < 3 or counts[2] < FEWEST:
        return False
    return first[2].words[0] == "0" and all(
        _is_number(word) for line in first for word in line.words
    )


def parse(text: str, name: str, distances: Distances | None) -> Instance:
    """The instance in the text, with distances cut to a decimal or two unless `distances` says otherwise."""
    rows = list(islice(lines(text), 2, MOST_NODES + 3))
    check_size(len(rows))
    table = np.array([_row(line, at) for at, line in enumerate(rows)])
    points = table[:, :2]
    with located(by_row([line.number for line in rows])):
        apart = travel_between(points, distances or "float")
        travel = apart if distances else _cut(points)
        return Instance(
            travel,
            cost=np.zeros_like(travel),
            service=table[:, 2],
            opens=table[:, 4],
            closes=table[:, 5],
            prize=[math.inf, *table[1:, 3].tolist()],
            coordinates=points,
            name=name,
        )


def _cut(points: Float[np.ndarray, "N 2"]) -> Float[np.ndarray, "N N"]:
    """Distances as published scores have them: one decimal between Solomon's whole coordinates, two between others."""
    parts = 10 if is_integral(points) else 100
    return np.floor(parts * euclidean(points)) / parts


def _row(line: Line, at: int) -> list[float]:
    """x, y, service, score, open and close."""
    words = line.words
    if len(words) < FEWEST:
        raise Unreadable(
            f"expected {FEWEST} numbers or more in a row, found {len(words)}", line.number
        )
    if whole(words[0], line.number, "the number of a node") != at:
        raise Unreadable(
            f"expected node {at}, found {words[0]!r}; nodes are numbered in order", line.number
        )
    listed = whole(words[6], line.number, "the length of a list")
    if len(words) != FEWEST + listed and not (at == 0 and len(words) == FEWEST):
        raise Unreadable(f"expected {FEWEST + listed} numbers, found {len(words)}", line.number)
    chosen = (*words[1:5], *words[-2:])
    return [number(word, line.number, "a number of the row") for word in chosen]


def _is_number(word: str) -> bool:
    try:
        return math.isfinite(float(word))
    except ValueError:
        return False
