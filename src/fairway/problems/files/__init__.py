"""Reading and writing instances: `read` finds out the format by itself, `write` goes by the file's suffix."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from fairway import atomic
from fairway.errors import InvalidFile, InvalidInstance, InvalidRequest
from fairway.given import is_real, is_word_of, path_of, shown
from fairway.problems.distances import Distances, check_rule
from fairway.problems.files import (
    archive,
    document,
    geojson,
    matrix,
    optw,
    pdtsp,
    pickles,
    rakke,
    router,
    sheet,
    solomon,
    sop,
    table,
    tsplib,
    vroom,
)
from fairway.problems.files.decoding import decoded
from fairway.problems.files.fields import check_held
from fairway.problems.files.legs import Beside, Matrix
from fairway.problems.files.text import LARGEST_TEXT, Unreadable, bounded
from fairway.problems.instance import Instance
from fairway.problems.sets import InstanceSet

TEXT: dict[str, ModuleType] = {
    "geojson": geojson,
    "vroom": vroom,
    "json": document,
    "sop": sop,
    "tsplib": tsplib,
    "rakke": rakke,
    "csv": table,
    "optw": optw,
    "solomon": solomon,
    "pdtsp": pdtsp,
    "matrix": matrix,
}
"""The text formats, in the order in which they are asked whether a file is theirs: the most telling first."""

READ_ONLY = ("geojson", "vroom", "sop", "optw", "pdtsp")
"""The text formats that are read and never written."""

STOPS = ("csv", "geojson", "vroom")
"""The text formats that may leave open how stops are reached, so that a matrix or a speed goes beside them."""

OWN = ("json", "csv")
"""The text formats of our own, which hold whatever may be asked, or say themselves what they do not."""

LARGEST_ARCHIVE = 2**30
"""Bytes of an npz file; in any other format, `LARGEST_TEXT`."""

SUFFIXES = {
    ".json": "json",
    ".csv": "csv",
    ".npz": "npz",
    ".dat": "rakke",
    ".txt": "matrix",
    ".tsp": "tsplib",
    ".atsp": "tsplib",
    ".tsptw": "tsplib",
    ".tspdl": "tsplib",
}
"""The format `write` takes where none is named."""


class Content(NamedTuple):
    """What a file holds, and what it is called."""

    name: str
    data: bytes


def read(
    path: str | Path,
    distances: Distances | None = None,
    *,
    matrix: str | Path | None = None,
    speed: float | None = None,
) -> Instance | InstanceSet:
    """Read an instance, or a set of them, in any format Fairway knows.

    Args:
        path: The file; `-` reads standard input.
        distances: How coordinates become travel where the file leaves it open: "float", "floor", "nearest" or "F";
            by default what the format itself says, else "float".
        matrix: A file of travel times between the stops of `path`, in its order: the answer of OSRM or Valhalla, a
            JSON list of rows, CSV or npz.
        speed: Kilometres per hour, where stops have latitude and longitude and there is no matrix.
    """
    place, beside = path_of(path), None if matrix is None else path_of(matrix)
    table = None if beside is None else Content(str(matrix), _content(beside))
    return read_content(Content(str(path), _content(place)), distances, matrix=table, speed=speed)


def read_content(
    file: Content,
    distances: Distances | None = None,
    *,
    matrix: Content | None = None,
    speed: float | None = None,
) -> Instance | InstanceSet:
    """The same for files that are at hand already."""
    if distances is not None:
        check_rule(distances)
    if speed is not None:
        _check_speed(speed)
    with _named(file) as stem:
        beside = Beside(distances, speed=speed)
        if matrix is not None:
            beside = replace(beside, matrix=_matrix(matrix))
        return _parsed(file.data, stem, beside)


def _matrix(file: Content) -> Matrix:
    with _named(file):
        text = None if archive.recognises(file.data) else decoded(file.data)
        return router.matrix_of(file.data, text)


@contextmanager
def _named(file: Content) -> Iterator[str]:
    """What the file is called; and what is wrong in it is told with its name and line."""
    name = "stdin" if file.name == "-" else file.name
    if not file.data.strip(b" \t\r\n"):
        raise InvalidFile(f"{file.name}: is empty; expected an instance file")
    try:
        yield Path(name).stem
    except Unreadable as error:
        where = name if error.line is None else f"{name}:{error.line}"
        raise InvalidFile(f"{where}: {error.message}") from error
    except InvalidInstance as error:
        raise InvalidFile(f"{name}: {error}") from error


def _check_speed(speed: object) -> None:
    if not is_real(speed) or not 0 < speed <= sys.float_info.max:
        raise InvalidRequest(f"speed is {shown(speed)}; expected kilometres per hour, above 0")


def write(item: Instance | InstanceSet, path: str | Path, format: str | None = None) -> None:  # noqa: A002
    """Write an instance, or with the suffix .npz a set, whole or not at all.

    Args:
        item: What to write.
        path: The file; its suffix chooses the format.
        format: A format by name, whatever the suffix: json, csv, npz, rakke, matrix, solomon or tsplib.
    """
    if not isinstance(item, Instance | InstanceSet):
        raise InvalidRequest(
            f"write takes an instance, or a set made by instance_set; this is a {type(item).__name__}"
        )
    place = path_of(path)
    atomic.write_bytes(place, written(item, place, format))


def written(item: Instance | InstanceSet, place: Path, format: str | None = None) -> bytes:  # noqa: A002
    """What `write` puts into a file of that name."""
    try:
        content = _rendered(item, _format_of(place) if format is None else format)
        most = LARGEST_ARCHIVE if archive.recognises(content) else LARGEST_TEXT
        if len(content) > most:
            raise Unreadable(
                f"would take {len(content)} bytes, of which {most} at most are read back; "
                "write .npz, a large set in parts"
            )
    except Unreadable as error:
        raise InvalidFile(f"{place}: {error.message}") from error
    return content


def _content(path: Path) -> bytes:
    try:
        return bounded(path, LARGEST_ARCHIVE)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidFile(
            f"{path}: cannot be read ({reason}); expected an instance file"
        ) from error


def _parsed(content: bytes, name: str, beside: Beside) -> Instance | InstanceSet:
    if sheet.recognises(content):
        return sheet.parse(content, name, beside)
    if archive.recognises(content):
        _check_alone("npz", beside)
        return archive.parse(content, name)
    if len(content) > LARGEST_TEXT:
        raise Unreadable(f"has {len(content)} bytes; expected at most {LARGEST_TEXT}, or npz")
    if pickles.recognises(content):
        _check_alone("pickle", beside)
        return pickles.parse(content, name)
    text = decoded(content)
    for label, form in TEXT.items():
        if form.recognises(text):
            if label in STOPS:
                return form.parse(text, name, beside.distances, beside)
            _check_alone(label, beside)
            return form.parse(text, name, beside.distances)
    table.check_columns(text)
    raise Unreadable(
        f"the format is not known; expected one of {', '.join((*TEXT, 'xlsx', 'npz', 'pickle'))}", 1
    )


def _check_alone(label: str, beside: Beside) -> None:
    """Refuse a matrix or a speed beside a format that says itself how stops are reached."""
    if beside.matrix is not None or beside.speed is not None:
        what = "matrix" if beside.matrix is not None else "speed"
        raise Unreadable(
            f"is {label}, which says itself how stops are reached; expected a table of stops (CSV, xlsx), GeoJSON or "
            f"a file of VROOM's beside a {what}"
        )


def _format_of(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        known = ", ".join(SUFFIXES)
        raise Unreadable(
            f"the suffix {suffix or '(none)'} names no format; expected one of {known}"
        )
    return SUFFIXES[suffix]


def _rendered(item: Instance | InstanceSet, format: str) -> bytes:  # noqa: A002
    if is_word_of(format, ("npz",)):
        return archive.render(item)
    if not is_word_of(format, TEXT.keys() - READ_ONLY):
        written = [each for each in (*TEXT, "npz") if each not in READ_ONLY]
        raise InvalidRequest(
            f"there is no writer for {shown(format)}; choose one of {', '.join(written)}"
        )
    if not isinstance(item, Instance):
        raise Unreadable(f"{format} holds one instance, not a set; write a set as .npz")
    if format not in OWN:
        check_held(item, format)
    return TEXT[format].render(item).encode()
