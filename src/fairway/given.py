"""What callers give: how a sentence shows it, and the checks that any value bears, whatever it is."""

import os
import re
import reprlib
from collections.abc import Container, Iterable, Mapping, Set
from numbers import Integral, Real
from pathlib import Path
from typing import Any, TypeGuard

from fairway.errors import InvalidRequest

_REPR = reprlib.Repr()
_REPR.maxstring = _REPR.maxother = 80
_BREAK = re.compile(r"\s*\n\s*")


def shown(value: object) -> str:
    """A value as a sentence has it: on one line, and cut where it is long or deep."""
    try:
        return _BREAK.sub(" ", _REPR.repr(value))
    except Exception:  # what a class does to show itself may fail in any way
        return f"a {type(value).__name__}"


def is_word_of(value: object, words: Container[str]) -> TypeGuard[str]:
    """Whether it is one of these words; asked of an array, `in` would fail."""
    return isinstance(value, str) and value in words


def is_real(value: object) -> TypeGuard[float]:
    """Whether it is a number, and not True or False."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_whole(value: object) -> TypeGuard[int]:
    """Whether it is a whole number, and not True or False."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def listed(value: object) -> list[Any] | None:
    """What is in a sequence, or None where it is none: a text is not one, nor is what has no order."""
    if not isinstance(value, Iterable) or isinstance(value, str | bytes | Mapping | Set):
        return None
    try:
        return list(value)
    except TypeError:  # an array of no dimension
        return None


def path_of(value: object) -> Path:
    """The path of a file."""
    try:
        path = Path(value)  # pyrefly: ignore[bad-argument-type]
        os.fsencode(path)
    except (TypeError, ValueError) as error:
        raise InvalidRequest(f"{shown(value)} is no path; expected a text or a Path") from error
    return path
