"""Plans as people and programs want them back: tables, JSON, GeoJSON, VROOM's solutions, calendars."""

import datetime
from pathlib import Path

from fairway import atomic
from fairway.errors import InvalidFile, InvalidRequest
from fairway.given import is_word_of, path_of, shown
from fairway.judge import Solution
from fairway.outputs import csv, document, geojson, ical, vroom
from fairway.outputs.words import Answer, planned
from fairway.problems.instance import Instance

SUFFIXES = {
    ".vroom.json": "vroom",
    ".json": "json",
    ".csv": "csv",
    ".geojson": "geojson",
    ".ics": "ical",
}
"""The format that a file's name chooses, the longest suffix first."""
FORMATS = ("csv", "json", "geojson", "vroom", "ical")


def write_plan(
    instance: Instance,
    result: Answer | Solution,
    path: str | Path,
    format: str | None = None,  # noqa: A002
    *,
    date: datetime.date | None = None,
) -> None:
    """Write the plan of a tour, whole or not at all: per stop its times, load and cost so far.

    Args:
        instance: What was solved.
        result: What `solve` returned, or a solution of `verify`.
        path: The file; its suffix chooses the format: .csv, .json, .geojson, .ics or .vroom.json.
        format: A format by name, whatever the suffix: csv, json, geojson, ical or vroom.
        date: The first day of a calendar, where the instance's own times have no date.
    """
    if not isinstance(instance, Instance) or not isinstance(result, Solution | Answer):
        raise InvalidRequest(
            "write_plan takes an instance and a result of solve, or a solution of verify"
        )
    if date is not None and not isinstance(date, datetime.date):
        raise InvalidRequest(f"date is {shown(date)}; expected a datetime.date")
    place = path_of(path)
    form = format_of(place) if format is None else format
    content = rendered(instance, result, form, date)
    atomic.write_bytes(place, content.encode("utf-8", "backslashreplace"))


def rendered(
    instance: Instance,
    result: Answer | Solution,
    format: str,  # noqa: A002
    date: datetime.date | None = None,
) -> str:
    """The text of a plan in one of the formats."""
    if not is_word_of(format, FORMATS):
        raise InvalidRequest(
            f"there is no output {shown(format)}; choose one of {', '.join(FORMATS)}"
        )
    plan = planned(instance, result)
    match format:
        case "csv":
            return csv.render(plan)
        case "json":
            return document.render(plan, result)
        case "geojson":
            return geojson.render(plan, result)
        case "vroom":
            return vroom.render(plan)
        case _:
            return ical.render(plan, date)


def check(instance: Instance, format: str, date: datetime.date | None = None) -> None:  # noqa: A002
    """Refuse, before there is a tour, what a format could not say of this instance."""
    if format == "geojson":
        geojson.points_of(instance)
    if format == "ical":
        ical.clock_of(instance, date)


def format_of(place: Path) -> str:
    """The format that a file's name chooses; one that chooses none is refused."""
    name = place.name.lower()
    for suffix, form in SUFFIXES.items():
        if name.endswith(suffix):
            return form
    said = place.suffix or "(none)"
    raise InvalidFile(
        f"{place}: the suffix {said} names no output; expected one of {', '.join(SUFFIXES)}"
    )
