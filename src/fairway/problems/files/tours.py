"""Tours as people have them: a list of stops, JSON from a solver, or a TSPLIB tour file."""

import csv
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path

from fairway.errors import InvalidFile, InvalidTour
from fairway.problems.files.text import LARGEST_TEXT, bounded, shortened
from fairway.problems.instance import Instance

LONGEST_NUMBER = 18
"""Digits; a longer one is not a node number, and Python refuses to convert very long ones."""


def read_tour(given: str | Path) -> list[int | str]:
    """The stops of a tour, from a file, from standard input where `-` is given, or from the text itself."""
    if isinstance(given, str) and given != "-" and not _is_file(given):
        return parse_tour(given)
    try:
        return parse_tour(bounded(Path(given), LARGEST_TEXT).decode("utf-8-sig"))
    except (OSError, ValueError) as error:
        raise InvalidFile(
            f"{given}: cannot be read as a tour; expected a text file of stops"
        ) from error


def parse_tour(text: str) -> list[int | str]:
    """Node numbers and words in the order they are given, the depot not yet taken off; see `resolve`."""
    said = text.strip()
    if not said:
        raise InvalidTour("the tour is empty; expected node numbers or names")
    if said[0] in "[{":
        return _from_json(said)
    if (section := re.search(r"^\s*TOUR_SECTION\s*:?\s*$", said, re.MULTILINE)) is not None:
        return _from_section(said[section.end() :])
    words = said.split(" > ")  # as tours are printed
    if len(words) == 1:
        quoted = '"' in said
        # Names may hold blanks, so blanks separate only where nothing else does.
        words = _quoted(said) if quoted else re.split(r"[,\n]" if "," in said else r"\s+", said)
    return [word.strip() for word in words if word.strip()]


def _quoted(text: str) -> list[str]:
    """Names between commas, those in quotes with commas in them."""
    return [word for row in csv.reader(text.splitlines(), skipinitialspace=True) for word in row]


def given(text: str, instance: Instance) -> list[int | str]:
    """The stops of a tour in words or in a file; a name with blanks or commas in it may stand alone."""
    alone = text.strip() in _known(instance) and not _is_file(text)
    return [text.strip()] if alone else read_tour(text)


def place(text: str, instance: Instance) -> int:
    """The node of one name or number, the depot among them."""
    return _node(text.strip(), _known(instance), instance.nodes, alone=True)


def resolve(words: Sequence[int | str], instance: Instance) -> tuple[int, ...]:
    """The node numbers of a tour, without the depot at its ends.

    A number from JSON or a TOUR_SECTION is a node. A word is a name, or an id of the user's file, where the nodes have
    such, else a node number. An end of its own is taken off as the depot is.
    """
    known = _known(instance)
    tour = [_node(word, known, instance.nodes, alone=len(words) == 1) for word in words]
    if tour and tour[0] == 0:
        del tour[0]
    if tour and tour[-1] in (0, instance.end):
        del tour[-1]
    if not tour:
        raise InvalidTour(
            "the tour names no stop besides the depot; expected node numbers or names"
        )
    return tuple(tour)


def _known(instance: Instance) -> dict[str, int]:
    """The nodes by name, and by those ids that only one of them has."""
    names = {name: node for node, name in enumerate(instance.names or ())}
    ids = () if instance.source is None or instance.source.ids is None else instance.source.ids
    counted = Counter(ids)
    return names | {
        text: node for node, text in enumerate(ids) if counted[text] == 1 and text not in names
    }


def _node(word: int | str, known: Mapping[str, int], nodes: int, *, alone: bool) -> int:
    if isinstance(word, int):
        if not 0 <= word < nodes and str(word) in known:
            raise InvalidTour(
                f"{word} is the name of a stop, not a node number; in JSON, write names in quotes"
            )
        return word
    bare = word[1:-1] if re.fullmatch('".*"', word) else word
    if word in known or bare in known:
        return known[word if word in known else bare]
    node = _number(word)
    if node is not None and not known:
        return node
    what = "file, and no stop, is" if alone and node is None else "stop is"
    if not known:
        hint = "the nodes have no names, give their numbers"
    else:
        alike = get_close_matches(bare, known, n=1)
        first = alike[0] if alike else min(known, key=lambda name: known[name] == 0)
        hint = f"{'perhaps' if alike else 'expected names, like'} {first!r}"
        hint += "" if node is None else ", or node numbers in JSON, like [2, 1]"
    raise InvalidTour(f"no {what} called {shortened(word)}; {hint}")


def _is_file(given: str) -> bool:
    try:
        return Path(given).is_file()
    except (OSError, ValueError):  # a long list of stops is not a possible file name
        return False


def _number(word: str) -> int | None:
    is_number = re.fullmatch(r"[+-]?[0-9]+", word) is not None and len(word) <= LONGEST_NUMBER
    return int(word) if is_number else None


def _from_json(text: str) -> list[int | str]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidTour(
            "the tour is not one JSON list, nor one object with the key 'tour'"
        ) from error
    tour = value.get("tour") if isinstance(value, dict) else value
    if not isinstance(tour, list):
        raise InvalidTour(
            "there is no tour in this JSON; expected a list, or one under the key 'tour'"
        )
    for position, stop in enumerate(tour):
        if isinstance(stop, bool) or not isinstance(stop, int | str):
            raise InvalidTour(
                f"position {position} of the tour is {shortened(json.dumps(stop))}; expected a node number or a name"
            )
    return tour


def _from_section(text: str) -> list[int | str]:
    """The stops of a TOUR_SECTION, which counts nodes from 1 and may start its cycle anywhere."""
    cycle: list[int] = []
    for word in text.split():
        if word in ("-1", "EOF"):
            break
        node = _number(word)
        if node is None or node < 1:
            raise InvalidTour(
                f"the TOUR_SECTION holds {shortened(word)}; expected node numbers from 1"
            )
        cycle.append(node - 1)
    else:
        raise InvalidTour("the TOUR_SECTION does not end; expected -1 after its last node")
    if 0 not in cycle:
        raise InvalidTour("the TOUR_SECTION leaves out node 1, the depot")
    depot = cycle.index(0)
    return [*cycle[depot + 1 :], *cycle[:depot]]
