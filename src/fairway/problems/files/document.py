"""One instance as a JSON object: the format that holds all of an instance, for programs and by hand."""

import json
import math
import re
from collections.abc import Sequence
from functools import partial
from itertools import islice
from typing import Any, get_args

import numpy as np

from fairway.problems.checks import MOST_NODES
from fairway.problems.distances import Distances
from fairway.problems.files.text import (
    Unreadable,
    check_size,
    digits,
    located,
    shortened,
    travel_between,
)
from fairway.problems.instance import Instance, Load
from fairway.problems.table import PROBLEMS

COMMON = ("problem", "name", "distances", "coordinates", "travel", "names")
OSRM = frozenset({"durations", "sources", "destinations"})
"""Keys of a table of travel times."""
OPTIONAL = ("service", "load")
MOST_ITEMS = MOST_NODES**2 + 20 * MOST_NODES
"""In the object of the largest instance."""
ITEM = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s,\[\]]+')
"""A text or a number in a list, whatever lists that one is in."""


def recognises(text: str) -> bool:
    """Whether the text opens like JSON; a list does too, to be refused with a reason."""
    return re.match(r"\s*[\[{]", text) is not None


def parse(text: str, name: str, distances: Distances | None) -> Instance:
    """The instance of one JSON object; `name` is for a document that gives none."""
    document = _loaded(text)
    if "problem" not in document and OSRM.intersection(document):
        raise Unreadable(
            "is a table of travel times, as OSRM makes them; put them under 'travel' in an instance, with its windows"
        )
    problem = _choice(document, "problem", tuple(PROBLEMS))
    columns = PROBLEMS[problem].columns + (() if problem == "tsptw" else ("load",))
    for key in document:
        if key not in (*COMMON, *columns):
            known = ", ".join((*COMMON, *columns))
            raise Unreadable(f"the key {shortened(key)} is unknown for {problem}; expected {known}")
    for key in columns:
        if key not in document and key not in OPTIONAL:
            raise Unreadable(f"the key {key!r} is missing; {problem} needs it")
    with located(partial(_line_of, text, document)):
        return _instance(document, problem, name, distances)


def _instance(
    document: dict[str, Any], problem: str, name: str, distances: Distances | None
) -> Instance:
    coordinates, travel = _places(document, distances)
    given: dict[str, Any] = {
        key: _column(document[key], key, len(travel))
        for key in PROBLEMS[problem].columns
        if key in document
    }
    if "load" in document:
        given["load"] = _choice(document, "load", get_args(Load))
    if "names" in document:
        if not isinstance(names := document["names"], list):
            raise Unreadable(f"'names' is {_described(names)}; expected a list of texts")
        given["names"] = [_string(item, f"names[{index}]") for index, item in enumerate(names)]
    title = _string(document.get("name", name), "name")
    return PROBLEMS[problem].make(travel, **given, coordinates=coordinates, name=title)


def render(instance: Instance) -> str:
    """The instance as a JSON object, one row of a matrix a line, every number to its last bit."""
    entries = {"problem": _quoted(instance.problem), "name": _quoted(instance.name)}
    if instance.is_euclidean:
        entries["distances"] = _quoted("float")
    else:
        entries["travel"] = _matrix(instance.travel)
    if instance.coordinates is not None:
        entries["coordinates"] = _matrix(instance.coordinates)
    if instance.names is not None:
        entries["names"] = f"[{', '.join(map(_quoted, instance.names))}]"
    if instance.laden:
        entries["load"] = _quoted(instance.load)
    for key in PROBLEMS[instance.problem].columns:
        entries[key] = _row(getattr(instance, key))
    return "{\n" + ",\n".join(f'  "{key}": {value}' for key, value in entries.items()) + "\n}\n"


def _loaded(text: str) -> dict[str, Any]:
    if text.count(",") > MOST_ITEMS:
        raise Unreadable(f"holds more numbers than {MOST_NODES} nodes have")
    try:
        document = json.loads(
            text, object_pairs_hook=_object, parse_constant=_constant, parse_int=float
        )
    except json.JSONDecodeError as error:
        raise Unreadable(
            f"is not JSON: {error.msg} (column {error.colno})", error.lineno
        ) from error
    except RecursionError as error:
        raise Unreadable(
            "is nested too deeply; expected one object of numbers and lists"
        ) from error
    if not isinstance(document, dict):
        raise Unreadable(
            "holds a JSON value that is not an object; expected one instance, in braces"
        )
    return document


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    document: dict[str, Any] = {}
    for key, value in pairs:
        if key in document:
            raise Unreadable(f"the key {shortened(key)} is given twice; expected it once")
        document[key] = value
    return document


def _constant(word: str) -> float:
    raise Unreadable(f"holds {word}, which is not a number in JSON; expected finite numbers")


def _places(
    document: dict[str, Any], distances: Distances | None
) -> tuple[np.ndarray | None, np.ndarray]:
    """The points, and the matrix or else the travel between them by the first rule that is given."""
    rules: tuple[Distances, ...] = get_args(Distances)
    rule = _choice(document, "distances", rules) if "distances" in document else "float"
    points = _rows(document["coordinates"], "coordinates", 2) if "coordinates" in document else None
    if "travel" not in document:
        if points is None:
            raise Unreadable("'travel' and 'coordinates' are both missing; expected one or both")
        return points, travel_between(points, distances or rule)
    given = document["travel"]
    travel = _rows(given, "travel", len(given) if isinstance(given, list) else 0)
    if points is not None and len(points) != len(travel):
        raise Unreadable(
            f"'coordinates' has {len(points)} rows; expected {len(travel)} like travel"
        )
    return points, travel


def _line_of(text: str, document: dict[str, Any], field: str, index: tuple[int, ...]) -> int | None:
    """The line of an item in the list of its key, else of the key; objects do not nest, so a key is found once."""
    if field == "travel" and "travel" not in document:
        field, index = "coordinates", index[:1]
    if (key := re.search(rf'"{field}"\s*:', text)) is None:
        return None
    width = len(document[field][0]) if field in ("travel", "coordinates") else 1
    at = sum(place * step for place, step in zip(index, (width, 1), strict=False))
    item = next(islice(ITEM.finditer(text, key.end()), at, None)) if index else key
    return text.count("\n", 0, item.start()) + 1


def _choice(document: dict[str, Any], key: str, choices: tuple[Any, ...]) -> Any:  # noqa: ANN401
    value = document.get(key)
    if not isinstance(value, str) or value not in choices:
        found = "missing" if value is None else f"{_described(value)}"
        raise Unreadable(f"{key!r} is {found}; expected one of {', '.join(map(repr, choices))}")
    return value


def _rows(value: object, key: str, width: int) -> np.ndarray:
    if not isinstance(value, list) or not value:
        raise Unreadable(f"{key!r} is {_described(value)}; expected a list of rows of numbers")
    check_size(len(value))
    return np.stack([_column(row, f"{key}[{index}]", width) for index, row in enumerate(value)])


def _column(value: object, key: str, length: int) -> np.ndarray:
    if not isinstance(value, list) or not value:
        raise Unreadable(f"{key!r} is {_described(value)}; expected a list of numbers")
    for index, number in enumerate(value):
        if type(number) is not float or not math.isfinite(number):
            raise Unreadable(f"'{key}[{index}]' is {_described(number)}; expected a finite number")
    if len(value) != length:
        raise Unreadable(f"{key!r} has {len(value)} numbers; expected {length}")
    return np.array(value)


def _string(value: object, key: str) -> str:
    if not isinstance(value, str):
        raise Unreadable(f"{key!r} is {_described(value)}; expected a text")
    return value


def _described(value: object) -> str:
    match value:
        case list():
            return "a list" if value else "an empty list"
        case dict():
            return "an object"
        case str():
            return f"the text {shortened(value)}"
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
    return f"the number {value}"


def _matrix(rows: np.ndarray) -> str:
    return "[\n" + ",\n".join(f"    {_row(row)}" for row in rows) + "\n  ]"


def _row(values: np.ndarray) -> str:
    return f"[{', '.join(map(digits, values.tolist()))}]"


def _quoted(text: str) -> str:
    """The text in quotes, as it reads; half a surrogate pair, as in an odd file name, has no UTF-8 and becomes '?'."""
    return json.dumps(text.encode("utf-8", "replace").decode(), ensure_ascii=False)
