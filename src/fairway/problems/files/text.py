"""What the text readers share: numbered lines, numbers with a reason when they are not, and the error they raise."""

import math
import os
import re
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float

from fairway.errors import InvalidInstance
from fairway.problems import checks
from fairway.problems.checks import MOST_NODES
from fairway.problems.distances import Distances, travel_matrix

SAID = re.compile(r"\S[^\n]*")
"""The rest of a line from its first letter on; in a run of empty lines the next one is found at once."""

LARGEST_TEXT = 2**27
"""Bytes of a file of text, or of a pickle."""

LineOf = Callable[[str, tuple[int, ...]], int | None]
"""Where in a file the number at an index of one of an instance's fields stands."""


class Unreadable(Exception):
    """A text that is not in its format; `read` puts the file's name before it."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file: its number, counted from 1, and its text without surrounding blanks."""

    number: int
    text: str

    @property
    def words(self) -> list[str]:
        """The line split at blanks."""
        return self.text.split()


def bounded(path: Path, most: int) -> bytes:
    """The content of a file, or of standard input for `-`, if it is no longer than that.

    Raises OSError or ValueError where it is not to be had; a device, which may have no end, is not read.
    """
    if str(path) == "-":
        if not hasattr(sys.stdin, "buffer"):
            raise ValueError("there is no standard input")
        content = sys.stdin.buffer.read(most + 1)
    else:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            is_device = stat.S_ISCHR(status.st_mode) or stat.S_ISBLK(status.st_mode)
            if is_device and not file.isatty():
                raise ValueError("it is a device")
            content = file.read(most + 1) if status.st_size <= most else None
    if content is None or len(content) > most:
        raise ValueError(f"it has more than {most} bytes")
    return content


def lines(text: str, comment: str | None = None) -> Iterator[Line]:
    """The lines that say something: blank ones and, where a mark is given, comments are passed over."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    number, before = 1, 0
    for found in SAID.finditer(text):
        number += text.count("\n", before, found.start())
        before = found.start()
        said = found[0].split(comment, 1)[0] if comment else found[0]
        if said := said.strip():
            yield Line(number, said)


@contextmanager
def located(line_of: LineOf) -> Iterator[None]:
    """Tell what an instance has against the numbers it is built of with the line of the one to blame."""
    try:
        yield
    except InvalidInstance as error:
        line = None if error.field is None else line_of(error.field, error.index)
        raise Unreadable(str(error), line) from error


def by_row(numbers: Sequence[int]) -> LineOf:
    """The lines of a file with a row per node: what concerns no node is seen at the last of them."""
    return lambda _, index: numbers[index[0] if index else -1]


def line_of_word(rows: Sequence[Line], at: int) -> int | None:
    """The number of the line with the word that comes after `at` others, where there are as many."""
    for line in rows:
        at -= len(line.words)
        if at < 0:
            return line.number
    return None


def number(word: str, line: int, what: str) -> float:
    """A finite number, or the sentence that says which line has something else in its place."""
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or "_" in word or not word.isascii():
        raise Unreadable(f"expected {what}, a finite number, found {shortened(word)}", line)
    return value


def whole(word: str, line: int, what: str) -> int:
    """A whole number, or the sentence that says which line has something else in its place."""
    value = number(word, line, what)
    if not value.is_integer():
        raise Unreadable(f"expected {what}, a whole number, found {shortened(word)}", line)
    return int(value)


def node_count(word: str, line: int) -> int:
    """A number of nodes that is within reason; whether they are there is for the caller to see."""
    nodes = whole(word, line, "the number of nodes")
    if not 2 <= nodes <= MOST_NODES:
        raise Unreadable(f"expected 2 to {MOST_NODES} nodes, found {shortened(word)}", line)
    return nodes


def check_size(nodes: int) -> None:
    """Refuse more nodes than a travel matrix can sensibly be made for."""
    if nodes > MOST_NODES:
        raise Unreadable(f"holds more than {MOST_NODES} nodes, the most Fairway plans for")


def travel_between(
    coordinates: Float[np.ndarray, "N 2"], distances: Distances
) -> Float[np.ndarray, "N N"]:
    """Travel by the rule given, after a look at the points, so that no mistake in them overflows."""
    check_size(len(coordinates))
    checks.points(coordinates, len(coordinates))
    return travel_matrix(coordinates, distances)


def shortened(word: str, limit: int = 24) -> str:
    """A word quoted for a message, cut where it would run on."""
    return repr(word if len(word) <= limit else word[:limit] + "...")


def digits(value: float) -> str:
    """The shortest text that reads back as the same float64, whole numbers without a point."""
    return str(int(value)) if value.is_integer() else repr(float(value))
