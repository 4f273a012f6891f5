"""What a user's file says besides the problem, as a JSON object: the key `source` of json, the array of npz."""

import datetime
import json
import math
from typing import Any

from fairway.problems.files.text import Unreadable, shortened
from fairway.problems.files.values import described, loaded, string
from fairway.problems.source import Clock, Source

KEYS = (
    "clock",
    "columns",
    "distance_unit",
    "speed",
    "geographic",
    "ids",
    "break_ids",
    "break_names",
)
CLOCK = ("origin", "unit", "several_days", "zone")
SHORTEST_ZONE, LONGEST_ZONE = -86_399.0, 86_399.0
"""Seconds of an offset that a zone may have."""


def rendered(source: Source) -> str:
    """The object of a source, with what says something in it."""
    written: dict[str, Any] = {}
    if source.clock is not None:
        zone = source.clock.zone
        written["clock"] = {
            "origin": None if source.clock.origin is None else source.clock.origin.isoformat(),
            "unit": source.clock.unit,
            "several_days": source.clock.several_days,
            "zone": None if zone is None else zone.utcoffset(None).total_seconds(),
        }
    if source.columns:
        written["columns"] = {name: list(texts) for name, texts in source.columns.items()}
    for key in ("distance_unit", "speed", "geographic"):
        if getattr(source, key):
            written[key] = getattr(source, key)
    for key in ("ids", "break_ids", "break_names"):
        if getattr(source, key):
            written[key] = list(getattr(source, key))
    text = json.dumps(written, ensure_ascii=False)
    return text.encode("utf-8", "replace").decode()


def parsed(text: str) -> Source:
    """The source of a JSON text."""
    return source_of(loaded(text))


def source_of(value: object) -> Source:
    """The source of a JSON object; keys that it does not know are refused."""
    given = _object(value, "source", KEYS)
    columns = given.get("columns", {})
    if not isinstance(columns, dict):
        raise Unreadable(f"'source.columns' is {described(columns)}; expected an object of lists")
    ids, speed = given.get("ids"), given.get("speed")
    if speed is not None and (type(speed) is not float or not 0 < speed < math.inf):
        raise Unreadable(f"'source.speed' is {described(speed)}; expected a number above 0")
    return Source(
        None if given.get("clock") is None else _clock(given["clock"]),
        {name: _texts(texts, f"source.columns[{name}]") for name, texts in columns.items()},
        string(given.get("distance_unit", ""), "source.distance_unit"),
        speed,
        _flag(given.get("geographic", False), "source.geographic"),
        None if ids is None else _texts(ids, "source.ids"),
        _texts(given.get("break_ids", []), "source.break_ids"),
        _texts(given.get("break_names", []), "source.break_names"),
    )


def _clock(value: object) -> Clock:
    given = _object(value, "source.clock", CLOCK)
    origin, unit, zone = given.get("origin"), given.get("unit", 60.0), given.get("zone")
    try:
        day = (
            None
            if origin is None
            else datetime.date.fromisoformat(string(origin, "source.clock.origin"))
        )
    except ValueError as error:
        raise Unreadable(
            f"'source.clock.origin' is {shortened(str(origin))}; expected a date"
        ) from error
    if type(unit) is not float or not 0 < unit < math.inf:
        raise Unreadable(f"'source.clock.unit' is {described(unit)}; expected seconds, above 0")
    if zone is not None and (type(zone) is not float or not SHORTEST_ZONE <= zone <= LONGEST_ZONE):
        raise Unreadable(f"'source.clock.zone' is {described(zone)}; expected seconds ahead of UTC")
    return Clock(
        day,
        unit,
        _flag(given.get("several_days", False), "source.clock.several_days"),
        None if zone is None else datetime.timezone(datetime.timedelta(seconds=zone)),
    )


def _object(value: object, what: str, known: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Unreadable(f"{what!r} is {described(value)}; expected an object")
    for key in value:
        if key not in known:
            raise Unreadable(
                f"the key {shortened(key)} in {what!r} is unknown; expected {', '.join(known)}"
            )
    return value


def _texts(value: object, what: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise Unreadable(f"{what!r} is {described(value)}; expected a list of texts")
    return tuple(string(text, f"{what}[{at}]") for at, text in enumerate(value))


def _flag(value: object, what: str) -> bool:
    if not isinstance(value, bool):
        raise Unreadable(f"{what!r} is {described(value)}; expected true or false")
    return value
