"""Reading and writing instances: `read` finds out the format by itself, `write` goes by the file's suffix."""

from pathlib import Path

from fairway import atomic
from fairway.errors import InvalidFile, InvalidInstance, InvalidRequest
from fairway.problems.distances import Distances, check_rule
from fairway.problems.files import (
    archive,
    document,
    matrix,
    pickles,
    rakke,
    solomon,
    table,
    tsplib,
)
from fairway.problems.files.fields import check_held
from fairway.problems.files.text import LARGEST_TEXT, Unreadable, bounded
from fairway.problems.instance import Instance
from fairway.problems.sets import InstanceSet

TEXT = {
    "json": document,
    "tsplib": tsplib,
    "rakke": rakke,
    "csv": table,
    "solomon": solomon,
    "matrix": matrix,
}
"""The text formats, in the order in which they are asked whether a file is theirs: the most telling first."""

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


def read(path: str | Path, distances: Distances | None = None) -> Instance | InstanceSet:
    """Read an instance, or a set of them, in any format Fairway knows.

    Args:
        path: The file; `-` reads standard input.
        distances: How coordinates become travel where the file leaves it open: "float", "floor", "nearest" or "F";
            by default what the format itself says, else "float".
    """
    if distances is not None:
        check_rule(distances)
    place = Path(path)
    content = _content(place)
    name, stem = ("stdin", "stdin") if str(path) == "-" else (str(path), place.stem)
    try:
        return _parsed(content, stem, distances)
    except Unreadable as error:
        where = name if error.line is None else f"{name}:{error.line}"
        raise InvalidFile(f"{where}: {error.message}") from error
    except InvalidInstance as error:
        raise InvalidFile(f"{name}: {error}") from error


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
    place = Path(path)
    try:
        content = _rendered(item, format or _format_of(place))
        most = LARGEST_ARCHIVE if archive.recognises(content) else LARGEST_TEXT
        if len(content) > most:
            raise Unreadable(
                f"would take {len(content)} bytes, of which {most} at most are read back; "
                "write .npz, a large set in parts"
            )
    except Unreadable as error:
        raise InvalidFile(f"{path}: {error.message}") from error
    atomic.write_bytes(place, content)


def _content(path: Path) -> bytes:
    try:
        content = bounded(path, LARGEST_ARCHIVE)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidFile(
            f"{path}: cannot be read ({reason}); expected an instance file"
        ) from error
    if not content.strip(b" \t\r\n"):
        raise InvalidFile(f"{path}: is empty; expected an instance file")
    return content


def _parsed(content: bytes, name: str, distances: Distances | None) -> Instance | InstanceSet:
    if archive.recognises(content):
        return archive.parse(content, name)
    if len(content) > LARGEST_TEXT:
        raise Unreadable(f"has {len(content)} bytes; expected at most {LARGEST_TEXT}, or npz")
    if pickles.recognises(content):
        return pickles.parse(content, name)
    text = _decoded(content)
    for form in TEXT.values():
        if form.recognises(text):
            return form.parse(text, name, distances)
    table.check_columns(text)
    raise Unreadable(
        f"the format is not known; expected one of {', '.join((*TEXT, 'npz', 'pickle'))}", 1
    )


def _decoded(content: bytes) -> str:
    if (at := content.find(b"\0")) >= 0:
        raise Unreadable("holds binary data; expected text", content.count(b"\n", 0, at) + 1)
    try:
        # Some old editors end a file with Ctrl-Z.
        return content.decode("utf-8-sig").rstrip("\x1a\r\n")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise Unreadable("holds bytes that are not UTF-8 text", line) from error


def _format_of(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        known = ", ".join(SUFFIXES)
        raise Unreadable(
            f"the suffix {suffix or '(none)'} names no format; expected one of {known}"
        )
    return SUFFIXES[suffix]


def _rendered(item: Instance | InstanceSet, format: str) -> bytes:  # noqa: A002
    if format == "npz":
        return archive.render(item)
    if format not in TEXT:
        raise InvalidRequest(
            f"there is no writer for {format!r}; choose one of {', '.join((*TEXT, 'npz'))}"
        )
    if not isinstance(item, Instance):
        raise Unreadable(f"{format} holds one instance, not a set; write a set as .npz")
    if format not in OWN:
        check_held(item, format)
    return TEXT[format].render(item).encode()
