"""One instance as a JSON object: the format that holds all of an instance, for programs and by hand."""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, get_args

import numpy as np

from fairway.problems.checks import stop_names
from fairway.problems.distances import Distances
from fairway.problems.files import sources
from fairway.problems.files.fields import (
    ENDLESS,
    FIELDS,
    TOUR,
    held_by,
    node_of,
    problem_of,
    stated,
)
from fairway.problems.files.router import is_answer
from fairway.problems.files.text import (
    Unreadable,
    digits,
    located,
    shortened,
    travel_between,
)
from fairway.problems.files.values import (
    MOST_ITEMS,
    choice,
    column,
    described,
    loaded,
    rows,
    string,
)
from fairway.problems.instance import Instance, Load
from fairway.problems.table import PROBLEMS

COMMON = ("problem", "name", "distances", "coordinates", "travel", "names", "source")
OPTIONAL = ("service", "load")
ITEM = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s,\[\]]+')
"""A text or a number in a list, whatever lists that one is in."""
KEY = re.compile(r'[{,\s]*("(?:[^"\\]|\\.)*")\s*:\s*')
"""A key of an object and all that stands before its value."""


Known = Mapping[str, int]
"""The nodes by name, or by number where they have no names."""


def recognises(text: str) -> bool:
    """Whether the text opens like JSON; a list does too, to be refused with a reason."""
    return re.match(r"\s*[\[{]", text) is not None


def parse(text: str, name: str, distances: Distances | None) -> Instance:
    """The instance of one JSON object; `name` is for a document that gives none."""
    document = loaded(text)
    with located(partial(_line_of, text, document)):
        return instance_of(document, name, distances)


OTHERS = (
    ("routes", "summary", "a solution of VROOM; expected the problem that it solves"),
    ("routes", "waypoints", "an OSRM route; expected a table, as --matrix beside a CSV of stops"),
    ("geometry", "properties", "one feature of GeoJSON; expected a FeatureCollection of points"),
)
"""Two keys by which objects are known that are no problem, and what is said of them."""


def instance_of(
    document: dict[str, Any], name: str = "", distances: Distances | None = None
) -> Instance:
    """The instance of an object, all of whose numbers are floats."""
    if (answer := is_answer(document)) is not None:
        raise Unreadable(f"{answer}: give it as --matrix beside a CSV of stops")
    for *keys, sentence in OTHERS:
        if "problem" not in document and document.keys() >= set(keys):
            raise Unreadable(sentence)
    problem = choice(document.get("problem"), "problem", (*PROBLEMS, TOUR))
    known = (*COMMON, *held_by(problem))
    for key in document:
        if key not in known:
            hint = f", or the problem {TOUR!r}, which takes it" if key in FIELDS else ""
            raise Unreadable(
                f"the key {shortened(key)} is unknown for {problem}; expected {', '.join(known)}{hint}"
            )
    for key in () if problem == TOUR else held_by(problem):
        if key not in document and key not in OPTIONAL:
            raise Unreadable(f"the key {key!r} is missing; {problem} needs it")
    return _instance(document, problem, name, distances)


def _instance(
    document: dict[str, Any], problem: str, name: str, distances: Distances | None
) -> Instance:
    coordinates, travel = _places(document, distances)
    names = _names(document, len(travel))
    known = {name: node for node, name in enumerate(names or map(str, range(len(travel))))}
    given = {key: _field(document, key, known) for key in held_by(problem) if key in document}
    title = string(document.get("name", name), "name")
    make = Instance if problem == TOUR else PROBLEMS[problem].make
    instance = make(travel, **given, coordinates=coordinates, names=names, name=title)
    if "source" not in document:
        return instance
    return replace(instance, source=sources.source_of(document["source"]))


def _field(document: dict[str, Any], key: str, known: Known) -> Any:  # noqa: ANN401
    """What is asked under this key; null is infinity only where a general tour has it for its neutral value."""
    if key in READERS:
        return READERS[key](document[key], key, known)
    infinite = document["problem"] == TOUR and key in ENDLESS
    return column(document[key], key, len(known), infinite=infinite)


def render(instance: Instance) -> str:
    """The instance as a JSON object, one row of a matrix a line, every number to its last bit."""
    problem = problem_of(instance)
    entries = {"problem": _quoted(problem), "name": _quoted(instance.name)}
    if instance.is_euclidean:
        entries["distances"] = _quoted("float")
    else:
        entries["travel"] = _matrix(instance.travel)
    if instance.coordinates is not None:
        entries["coordinates"] = _matrix(instance.coordinates)
    if instance.names is not None:
        entries["names"] = _listed(map(_quoted, instance.names))
    if instance.source is not None:
        entries["source"] = sources.rendered(instance.source)
    keys = stated(instance) if problem == TOUR else sorted(held_by(problem), key="load".__ne__)
    entries |= {key: _written(instance, key) for key in keys}
    text = "{\n" + ",\n".join(f'  "{key}": {value}' for key, value in entries.items()) + "\n}\n"
    if text.count(",") > MOST_ITEMS:
        raise Unreadable("json would hold more numbers than are read back; write .npz instead")
    return text


def _places(
    document: dict[str, Any], distances: Distances | None
) -> tuple[np.ndarray | None, np.ndarray]:
    """The points, and the matrix or else the travel between them by the first rule that is given."""
    infinite = document["problem"] == TOUR
    rules: tuple[Distances, ...] = get_args(Distances)
    rule = choice(document["distances"], "distances", rules) if "distances" in document else "float"
    points = rows(document["coordinates"], "coordinates", 2) if "coordinates" in document else None
    if "travel" not in document:
        if points is None:
            raise Unreadable("'travel' and 'coordinates' are both missing; expected one or both")
        return points, travel_between(points, distances or rule)
    given = document["travel"]
    width = len(given) if isinstance(given, list) else 0
    travel = rows(given, "travel", width, infinite=infinite)
    if points is not None and len(points) != len(travel):
        raise Unreadable(
            f"'coordinates' has {len(points)} rows; expected {len(travel)} like travel"
        )
    return points, travel


def _names(document: dict[str, Any], nodes: int) -> tuple[str, ...] | None:
    if "names" not in document:
        return None
    if not isinstance(names := document["names"], list):
        raise Unreadable(f"'names' is {described(names)}; expected a list of texts")
    texts = [string(item, f"names[{index}]") for index, item in enumerate(names)]
    return stop_names(texts, nodes)


def _line_of(text: str, document: dict[str, Any], field: str, index: tuple[int, ...]) -> int | None:
    """The line of an item in the list or the object of its key, else of the value of the key."""
    if field == "travel" and "travel" not in document:
        field, index = "coordinates", index[:1]
    if field not in document:
        return None
    at, value = dict(_values(text, text.index("{")))[field], document[field]
    if index and isinstance(value, dict):
        names = document.get("names", list(map(str, range(index[0] + 1))))
        at = dict(_values(text, at))[names[index[0]]]
    elif index and isinstance(value, list):
        width = len(value[0]) if isinstance(value[0], list) else 1
        before = sum(place * step for place, step in zip(index, (width, 1), strict=False))
        at = next(islice(ITEM.finditer(text, at), before, None)).start()
    return text.count("\n", 0, at) + 1


def _values(text: str, at: int) -> Iterator[tuple[str, int]]:
    """The keys of the object that opens there, each with the place of its value."""
    decoder = json.JSONDecoder(parse_int=float)
    while (key := KEY.match(text, at)) is not None:
        yield json.loads(key[1]), key.end()
        _, at = decoder.raw_decode(text, key.end())


def _tuples(rows: np.ndarray) -> list[tuple[float, ...]]:
    return list(map(tuple, rows.tolist()))


def _matrix(rows: np.ndarray) -> str:
    return "[\n" + ",\n".join(f"    {_row(row)}" for row in rows.tolist()) + "\n  ]"


def _row(values: Iterable[float]) -> str:
    return _listed("null" if value == math.inf else digits(value) for value in values)


def _listed(items: Iterable[str]) -> str:
    return f"[{', '.join(items)}]"


def _quoted(text: str) -> str:
    """The text in quotes, as it reads; half a surrogate pair, as in an odd file name, has no UTF-8 and becomes '?'."""
    return json.dumps(text.encode("utf-8", "replace").decode(), ensure_ascii=False)


def _load(value: object, key: str, _: Known) -> str:
    return choice(value, key, get_args(Load))


def _amount(value: object, key: str, _: Known) -> float:
    if type(value) is not float or not math.isfinite(value):
        raise Unreadable(f"{key!r} is {described(value)}; expected a finite number")
    return value


def _costs(value: object, key: str, known: Known) -> np.ndarray:
    return rows(value, key, len(known), infinite=True)


def _breaks(value: object, key: str, _: Known) -> list[tuple[float, ...]]:
    return [] if value == [] else _tuples(rows(value, key, 3, infinite=True))


def _end(value: object, key: str, known: Known) -> int | None:
    return None if value is None else _stop(value, key, known)


def _pairs(value: object, key: str, known: Known) -> list[tuple[int, ...]]:
    if not isinstance(value, list):
        raise Unreadable(f"{key!r} is {described(value)}; expected a list of two stops each")
    for index, pair in enumerate(value):
        if not isinstance(pair, list) or len(pair) != 2:
            found = f"a list of {len(pair)}" if isinstance(pair, list) else described(pair)
            raise Unreadable(f"'{key}[{index}]' is {found}; expected a list of two stops")
    return [
        tuple(_stop(stop, f"{key}[{index}][{at}]", known) for at, stop in enumerate(pair))
        for index, pair in enumerate(value)
    ]


def _windows(value: object, key: str, known: Known) -> dict[int, list[tuple[float, ...]]]:
    if not isinstance(value, dict):
        raise Unreadable(
            f"{key!r} is {described(value)}; expected an object of stops, each with a list of [open, close]"
        )
    return {
        node_of(stop, known, repr(key)): _tuples(rows(spans, f"{key}[{stop}]", 2, infinite=True))
        for stop, spans in value.items()
    }


def _stop(value: object, key: str, known: Known) -> int:
    if isinstance(value, str):
        return node_of(value, known, repr(key))
    if type(value) is float and value in range(len(known)):
        return int(value)
    raise Unreadable(
        f"{key!r} is {described(value)}; expected a stop, its name or its number from 0 to {len(known) - 1}"
    )


READERS: dict[str, Callable[[object, str, Known], Any]] = {
    "cost": _costs,
    "windows": _windows,
    "capacity": _amount,
    "load": _load,
    "aboard": _amount,
    "before": _pairs,
    "pairs": _pairs,
    "breaks": _breaks,
    "end": _end,
}
"""The fields that are not a number for each node."""


def _written(instance: Instance, key: str) -> str:
    value = getattr(instance, key)
    stops = list(map(str, range(instance.nodes)))
    quoted = stops if instance.names is None else list(map(_quoted, instance.names))
    match value:
        case np.ndarray():
            return _matrix(value) if value.ndim == 2 else _row(value.tolist())
        case dict():
            rows = (
                f"    {_quoted((instance.names or stops)[node])}: {_listed(map(_row, spans))}"
                for node, spans in value.items()
            )
            return "{\n" + ",\n".join(rows) + "\n  }"
        case tuple():
            numbers = key == "breaks"
            return _listed(
                _row(row) if numbers else _listed(quoted[stop] for stop in row) for row in value
            )
        case float():
            return digits(value)
        case str():
            return _quoted(value)
    return "null" if value is None else quoted[value]
