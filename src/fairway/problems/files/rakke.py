"""The .dat format of Rakke's TSPDL library: `Key: [ numbers ]` blocks between `!` comments.

The ship leaves the first node full, so the load shrinks. The matrix is the truth and positions are
for pictures; where all of them are zero there are none.
"""

import re
from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from jaxtyping import Float

from fairway.problems.checks import MOST_NODES
from fairway.problems.distances import Distances
from fairway.problems.files.text import (
    Line,
    Unreadable,
    digits,
    lines,
    located,
    node_count,
    number,
    shortened,
    whole,
)
from fairway.problems.instance import TSPDL, Instance

BACKWARDS = (
    "Fairway wrote this problem backwards: read it back with travel transposed and a growing load"
)
"""The comment that marks a growing instance in a format whose loads shrink."""

BLOCKS = ("Nodes", "Distance", "PosX", "PosY", "Demand", "Draft")
BLOCK_OF = {"travel": "Distance", "demand": "Demand", "draft": "Draft", "names": "Nodes"}
START = re.compile(rf"(N|{'|'.join(BLOCKS)})\s*:")
MOST_WORDS = MOST_NODES**2 + 10 * MOST_NODES
"""In the file of the largest instance."""
WORD = re.compile(r"[\[\]:]|[^\s\[\]:]+")


@dataclass(frozen=True, slots=True)
class _Block:
    """The words after one key: the line of the key, and the words with theirs."""

    line: int
    words: list[str] = field(default_factory=list)
    lines: "array[int]" = field(default_factory=partial(array, "Q"))

    def numbers(self, what: str, convert: Callable[[str, int, str], float] = number) -> list:
        return [convert(*said, what) for said in zip(self.words, self.lines, strict=True)]


def recognises(text: str) -> bool:
    """Whether the first line that is no comment opens one of the blocks."""
    first = next(lines(text, "!"), None)
    return first is not None and START.match(first.text) is not None


def parse(text: str, name: str, distances: Distances | None) -> Instance:
    """The instance in the text; `distances` has no say, as the travel is given."""
    blocks = _blocks(lines(text, "!"))
    if missing := [key for key in ("N", "Distance", "Demand", "Draft") if key not in blocks]:
        raise Unreadable(f"expected a block {missing[0]!r}, found {', '.join(blocks) or 'none'}")
    nodes = _count(blocks["N"])
    numbers = {key: _numbers(block, key, nodes) for key, block in blocks.items() if key != "N"}
    with located(partial(_line_of, blocks, nodes)):
        instance = TSPDL(
            np.array(numbers["Distance"]).reshape(nodes, nodes),
            np.array(numbers["Demand"]),
            np.array(numbers["Draft"]),
            load="shrinking",
            coordinates=_points(numbers),
            names=_names(blocks.get("Nodes")),
            name=name,
        )
    return instance.reversed() if _is_backwards(text) else instance


def render(instance: Instance) -> str:
    """The text of a TSPDL, a growing load written backwards with a comment that undoes it.

    Names are dropped, and coordinates that are all zero read back as none.
    """
    if not instance.laden:
        raise Unreadable("rakke holds draft limits only; write a TSPTW as json, matrix or tsplib")
    backwards = instance.load == "growing"
    written = instance.reversed() if backwards else instance
    points = np.zeros((written.nodes, 2)) if written.coordinates is None else written.coordinates
    text = [f"! {BACKWARDS}"] if backwards else []
    text += [f"N: {written.nodes}"]
    blocks = {
        "Nodes": np.arange(1.0, written.nodes + 1)[None],
        "Distance": written.travel,
        "PosX": points[None, :, 0],
        "PosY": points[None, :, 1],
        "Demand": written.demand[None],
        "Draft": written.draft[None],
    }
    for key, rows in blocks.items():
        text += [f"{key}: [", *(" ".join(map(digits, row)) for row in rows.tolist()), "]"]
    return "\n".join(text) + "\n"


def _blocks(said: Iterable[Line]) -> dict[str, _Block]:
    """Each key with the words it holds: those in its brackets, or the one after its colon."""
    blocks: dict[str, _Block] = {}
    words = _words(said)
    for key, line in words:
        if key not in ("N", *BLOCKS):
            expected = f"N or one of the blocks {', '.join(BLOCKS)}"
            raise Unreadable(f"expected {expected}, found {shortened(key)}", line)
        if key in blocks:
            raise Unreadable(f"expected {key} once, found it again", line)
        if next(words, ("", line))[0] != ":":
            raise Unreadable(f"expected a colon after {key}", line)
        block = blocks[key] = _Block(line)
        word, at = next(words, ("[", line))
        if word != "[":
            block.words.append(word)
            block.lines.append(at)
            continue
        for word, at in words:
            if word == "]":
                break
            block.words.append(word)
            block.lines.append(at)
        else:
            raise Unreadable(
                f"expected numbers and a closing ] for {key}, found the end of the file", line
            )
    return blocks


def _words(said: Iterable[Line]) -> Iterator[tuple[str, int]]:
    """Every word of the file with its line, up to as many as the largest instance has."""
    found = ((word[0], line.number) for line in said for word in WORD.finditer(line.text))
    for count, (word, line) in enumerate(found):
        if count >= MOST_WORDS:
            raise Unreadable(f"holds more numbers than {MOST_NODES} nodes have", line)
        yield word, line


def _count(block: _Block) -> int:
    if len(block.words) != 1:
        raise Unreadable(f"expected one number for N, found {len(block.words)}", block.line)
    return node_count(block.words[0], block.lines[0])


def _numbers(block: _Block, key: str, nodes: int) -> list[float]:
    expected = nodes * nodes if key == "Distance" else nodes
    if len(block.words) != expected:
        found = f"expected {expected} numbers in {key}, for N = {nodes}, found {len(block.words)}"
        raise Unreadable(found, block.line)
    return block.numbers(f"a number of {key}")


def _points(numbers: dict[str, list[float]]) -> Float[np.ndarray, "N 2"] | None:
    if "PosX" not in numbers or "PosY" not in numbers:
        return None
    points = np.array([numbers["PosX"], numbers["PosY"]]).T
    return points if points.any() else None


def _names(block: _Block | None) -> tuple[str, ...] | None:
    """The ids as names, unless they only count the nodes."""
    if block is None:
        return None
    ids = block.numbers("the id of a node", whole)
    return None if ids == list(range(1, len(ids) + 1)) else tuple(map(str, ids))


def _line_of(blocks: dict[str, _Block], nodes: int, field: str, index: tuple[int, ...]) -> int:
    """The line of the word that became the number at an index of a field."""
    key = ("PosX", "PosY")[index[1]] if field == "coordinates" else BLOCK_OF[field]
    at = index[0] * nodes + index[1] if field == "travel" else index[0]
    return blocks[key].lines[at]


def _is_backwards(text: str) -> bool:
    comments = (line.text.removeprefix("!").strip() for line in lines(text))
    return BACKWARDS in comments
