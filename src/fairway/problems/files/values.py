"""Values of JSON documents, each read with a reason where it is not what it should be."""

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from fairway.problems.checks import MOST_NODES
from fairway.problems.files.text import Unreadable, check_size, shortened

MOST_ITEMS = MOST_NODES**2 + 20 * MOST_NODES
"""In the object of the largest instance."""


def parsed(text: str) -> Any:  # noqa: ANN401
    """The value of a JSON text, all its numbers as floats; no key twice, no infinity."""
    if text.count(",") > MOST_ITEMS:
        raise Unreadable(f"holds more numbers than {MOST_NODES} nodes have")
    try:
        return json.loads(
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


def loaded(text: str) -> dict[str, Any]:
    """The object of a JSON text."""
    document = parsed(text)
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


def rows(value: object, key: str, width: int, *, infinite: bool = False) -> np.ndarray:
    """A list of lists of numbers, all of one width."""
    if not isinstance(value, list) or not value:
        raise Unreadable(f"{key!r} is {described(value)}; expected a list of rows of numbers")
    check_size(len(value))
    read = (column(row, f"{key}[{at}]", width, infinite=infinite) for at, row in enumerate(value))
    return np.stack(list(read))


def column(value: object, key: str, length: int, *, infinite: bool = False) -> np.ndarray:
    """A list of numbers, where null is infinity if that is taken."""
    if not isinstance(value, list) or not value:
        raise Unreadable(f"{key!r} is {described(value)}; expected a list of numbers")
    for index, number in enumerate(value):
        if (type(number) is not float or not math.isfinite(number)) and not (
            infinite and number is None
        ):
            expected = "a finite number, or null for none" if infinite else "a finite number"
            raise Unreadable(f"'{key}[{index}]' is {described(number)}; expected {expected}")
    if len(value) != length:
        raise Unreadable(f"{key!r} has {len(value)} numbers; expected {length}")
    return np.array([math.inf if number is None else number for number in value])


def string(value: object, key: str) -> str:
    """A text."""
    if not isinstance(value, str):
        raise Unreadable(f"{key!r} is {described(value)}; expected a text")
    return value


def described(value: object) -> str:
    """What a value is, for a message."""
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


def choice(value: object, key: str, choices: tuple[Any, ...]) -> Any:  # noqa: ANN401
    """One of some words."""
    if not isinstance(value, str) or value not in choices:
        found = "missing" if value is None else f"{described(value)}"
        raise Unreadable(f"{key!r} is {found}; expected one of {', '.join(map(repr, choices))}")
    return value
