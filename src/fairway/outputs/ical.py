"""A plan as a calendar (iCalendar, RFC 5545): an event for each stop and each break."""

import datetime
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256

from fairway.errors import InvalidRequest
from fairway.outputs import words
from fairway.outputs.plan import Plan, Step
from fairway.problems.instance import Instance
from fairway.problems.source import Clock

WIDE = 75
"""Octets in a line; longer ones are folded."""


def render(plan: Plan, date: datetime.date | None = None) -> str:
    """The calendar of a plan on the days of its clock; `date` is the first day where the file names none."""
    clock = clock_of(plan.instance, date)
    lines = [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:-//Fairway//Fairway//EN",
        "CALSCALE:GREGORIAN",
    ]
    for number, step in enumerate(plan.steps):
        if step.kind == "break" or (step.kind != "start" and step.node):
            lines += ["BEGIN:VEVENT", *_event(plan, number, step, clock), "END:VEVENT"]
    lines.append("END:VCALENDAR")
    return "".join(f"{_folded(line)}\r\n" for line in lines)


def clock_of(instance: Instance, date: datetime.date | None) -> Clock:
    """The clock of an instance from `date` on, or from its own; one that has no clock or no date is refused."""
    source = instance.source
    if source is None or source.clock is None:
        raise InvalidRequest(
            "a calendar needs times of day, and the times of this instance are plain numbers; give them like 08:30"
        )
    clock = source.clock if date is None else replace(source.clock, origin=date)
    if clock.origin is None:
        raise InvalidRequest(
            "a calendar needs a date, and the times of this instance have none; give --date 2026-11-18"
        )
    return clock


def _event(plan: Plan, number: int, step: Step, clock: Clock) -> Iterator[str]:
    begins, ends = clock.moment(step.start), clock.moment(step.departure)
    identity = f"{plan.instance.name}/{number}/{step.name}/{begins.isoformat()}"
    yield f"UID:{sha256(identity.encode()).hexdigest()[:32]}@fairway"
    yield f"DTSTAMP:{clock.moment(0.0):%Y%m%d}T000000Z"  # so that the same plan gives the same bytes
    yield f"DTSTART{_stamp(begins)}"
    if ends > begins:
        yield f"DTEND{_stamp(ends)}"
    yield f"SUMMARY:{_escaped(step.name)}"
    yield f"DESCRIPTION:{_escaped(chr(10).join(_details(plan, step)))}"
    source, points = plan.instance.source, plan.instance.coordinates
    if step.node is not None and points is not None and source is not None and source.geographic:
        longitude, latitude = points[step.node].tolist()
        yield f"GEO:{latitude:.6f};{longitude:.6f}"


def _details(plan: Plan, step: Step) -> Iterator[str]:
    """What else is known of a stop, a line each."""
    instance = plan.instance
    yield f"arrival {words.time(instance, step.arrival)}"
    if step.wait > 0:
        yield f"waiting {words.span(instance, step.wait)}"
    if step.late > 0:
        yield f"late by {words.span(instance, step.late)}"
    if instance.laden:
        yield f"load {words.number(step.load)}"
    if step.node is not None and instance.source is not None:
        for name, texts in instance.source.columns.items():
            if texts[step.node]:
                yield f"{name}: {texts[step.node]}"


def _stamp(moment: datetime.datetime) -> str:
    """In UTC where the offset is known, else local wherever the reader is."""
    if moment.tzinfo is None:
        return f":{moment:%Y%m%dT%H%M%S}"
    return f":{moment.astimezone(datetime.UTC):%Y%m%dT%H%M%S}Z"


def _escaped(text: str) -> str:
    for mark in ("\\", ";", ","):
        text = text.replace(mark, f"\\{mark}")
    lines = "".join(c if c.isprintable() or c == "\n" else " " for c in text)
    return lines.replace("\n", "\\n")


def _folded(line: str) -> str:
    """A line in pieces of at most 75 octets, never within a character."""
    pieces, piece = [], ""
    for letter in line:
        if len((piece + letter).encode()) > WIDE - bool(pieces):
            pieces.append(piece)
            piece = ""
        piece += letter
    return "\r\n ".join([*pieces, piece])
