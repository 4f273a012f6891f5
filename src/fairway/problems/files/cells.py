"""What stands in the cells of a table: numbers, times of day, durations and windows as people write them."""

import datetime
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from fairway.errors import InvalidRequest
from fairway.problems.files.text import Unreadable, number, shortened
from fairway.problems.source import STAMP, Clock, moment_of

MINUTE = 60.0
"""Seconds of the time unit of tables with times of day."""
CLOCKLIKE = re.compile(
    r"\d{1,2}:\d|\d\s*[ap]\.?m|^\d{1,2}h(\d\d)?$|^\d{4}-\d\d-\d\d|^0\d{3}$|^0\d\.[0-5]\d$|^day ",
    re.IGNORECASE,
)
"""What no plain number looks like."""
DURATION = re.compile(
    r"(?:PT(?=.*[hms]$))?"
    r"(?:(?P<hours>\d+(?:\.\d+)?)\s*(?:h|hr|hrs|hours?|std\.?|stunden?|heures?|horas?)(?![a-z])\s*)?"
    r"(?:(?P<minutes>\d+(?:\.\d+)?)\s*(?:m|min\.?|mins|minute[ns]?|minutos?|')?(?![a-z\d.])\s*)?"
    r"(?:(?P<seconds>\d+(?:\.\d+)?)\s*(?:s|secs?|seconds?|sek\.?|sekunden)(?![a-z]))?",
    re.IGNORECASE,
)
"""1h30, 1 h 30 min, 15 min, 90 s, PT15M; a number alone is in minutes."""
PLAIN = re.compile(r"\d+(?:[.,]\d+)?")
"""A number without a unit."""
DATE = re.compile(r"\b(\d{1,2})([./])(\d{1,2})\2(\d{4})\b(,?\s+(?=\d))?(\d(?=:))?")
"""A day, or a month, before the other and the year, and the hour where it is one digit."""
LONGEST = 30
"""Characters of a duration."""
COLONS = re.compile(r"(\d{1,3}):([0-5]\d)(?::([0-5]\d))?")
"""Hours and minutes, and perhaps seconds."""
HOUR = re.compile(r"(?<![\d:.])(\d{1,2})(?:[:.](\d\d))?\s*uhr(?:\s*(\d\d))?\b", re.IGNORECASE)
"""9 Uhr, 9:30 Uhr and 9 Uhr 30."""
SPACED = re.compile(r"(?<![\d:.])(\d{1,2})\s+h(?:\s+(?=\d\d\b)|(?![a-z]))", re.IGNORECASE)
"""The hour of 8 h 30 and of 8 h."""
EDGE = (
    r"(?:\d{4}-\d{2}-\d{2}[T ][\d:.]+(?:Z|[+-]\d{2}:?\d{2})?|(?:day\s+\d+\s+)?[\d.:h]+\s*[ap]\.?m\.?"
    r"|(?:day\s+\d+\s+)?\d{1,2}h\d{0,2}|day\s+\d+\s+[\d:.]+|[+-]?[\d.,:]+(?:e[+-]?\d+)?)"
)
SPAN = re.compile(
    rf"(?:(?:from|von|de|dalle|van)\s+)?({EDGE})\s*"
    rf"(?:[-\u2013\u2014]|to\b|until|bis|a\b|à|alle|hasta|tot)\s*({EDGE})?",
    re.IGNORECASE,
)
"""A window: when it opens and, unless it stays open, when it closes."""
OPENS = re.compile(rf"(?:after|from|ab|dès|desde|vanaf)\s+({EDGE})", re.IGNORECASE)
CLOSES = re.compile(rf"(?:before|until|till|by|bis|avant|hasta|tot)\s+({EDGE})", re.IGNORECASE)
"""A window with one end."""
SEVERAL = re.compile(r"[;|/&]|,\s|\s+(?:and|und|et|y)\s+|\n")
"""What stands between the windows of one cell."""


@dataclass(frozen=True, slots=True)
class Cells:
    """How the cells of one table are read: with which clock, if any, and with which decimal mark."""

    clock: Clock | None = None
    lasting: bool = False
    """Whether times have a known unit, minutes, so that durations may be written with hours."""
    comma: bool = False
    """Whether a comma may stand for the decimal point."""
    unit: float = 1.0
    """Minutes of the unit of durations that are plain numbers."""

    def number(self, cell: str, line: int, column: str) -> float:
        """A plain number."""
        if self.comma and cell.count(",") == 1 and "." not in cell:
            cell = cell.replace(",", ".")
        if "," in cell:
            raise Unreadable(
                f"column {column!r} has {shortened(cell)}; write numbers with a decimal point, without commas",
                line,
            )
        return number(cell, line, f"{column!r}")

    def time(self, cell: str, line: int, column: str) -> float:
        """A time of day where the table has them, else a plain number."""
        if self.clock is None:
            return self.number(cell, line, column)
        text = f"{cell[:2]}:{cell[2:]}" if re.fullmatch(r"[0-2]\d[0-5]\d", cell) else cell
        try:
            return self.clock.time(text.replace(",", ".") if self.comma else text)
        except InvalidRequest as error:
            raise Unreadable(f"column {column!r}: {error}", line) from error

    def duration(self, cell: str, line: int, column: str) -> float:
        """A length of time: a plain number or, in minutes, as people write hours and minutes."""
        text = cell.replace(",", ".") if self.comma else cell
        if self.lasting and (found := _duration(text)) is not None:
            hours, minutes, seconds = (float(part or 0) for part in found.groups())
            if PLAIN.fullmatch(text):
                return minutes * self.unit
            return 60.0 * hours + minutes + seconds / 60.0
        if self.lasting and any(map(str.isalpha, text)):
            raise Unreadable(
                f"column {column!r} has {shortened(cell)}; expected a duration like 15, 0:15, 1h30 or 90 s",
                line,
            )
        return self.number(cell, line, column)

    def windows(self, cell: str, line: int, column: str) -> list[tuple[float, float]]:
        """The windows of a cell, the earliest first."""
        spans = sorted(self._window(part.strip(), line, column) for part in _parts(cell))
        for (_, last), (following, _) in pairwise(spans):
            if following < last:
                raise Unreadable(
                    f"column {column!r} has {shortened(cell, 40)}, which overlap; expected windows apart",
                    line,
                )
        return spans

    def _window(self, text: str, line: int, column: str) -> tuple[float, float]:
        if (found := _span(text)) is None:
            raise Unreadable(
                f"column {column!r} has {shortened(text)}; expected windows like "
                f"{'08:00-10:00; 14:00-16:00' if self.clock else '8-10; 14-16'}",
                line,
            )
        first, last = found
        closes = math.inf if last is None else self.time(last, line, column)
        opens = min(0.0, closes) if first is None else self.time(first, line, column)
        if opens > closes:
            raise Unreadable(
                f"column {column!r} has {shortened(text, 40)}, which closes before it opens"
                + ("; write the next day as 'day 2 06:00', or dates" if self.clock else ""),
                line,
            )
        return opens, closes


def edges(cell: str) -> list[str]:
    """The times in a cell of windows; a part that is no window stands for itself."""
    found = []
    for part in _parts(cell):
        span = _span(part.strip())
        found += [part.strip()] if span is None else [edge for edge in span if edge]
    return found


def dated(cell: str, line: int) -> str:
    """The same with dates such as 18.11.2026 as ISO has them."""

    def iso(found: re.Match[str]) -> str:
        day, mark, month, year, gap, hour = found.groups()
        if mark == "/":
            raise Unreadable(
                f"{shortened(found[0].strip())} may have its day or its month first; write dates like 2026-11-18 08:30",
                line,
            )
        return f"{year}-{month:>02}-{day:>02}{' ' if gap else ''}{f'0{hour}' if hour else ''}"

    return DATE.sub(iso, cell)


def spoken(cell: str) -> str:
    """The same with the hour in figures where a word or a blank stands in it."""
    cell = HOUR.sub(lambda found: f"{found[1]}:{found[2] or found[3] or '00'}", cell)
    return SPACED.sub(r"\1h", cell)


def is_clocklike(cell: str) -> bool:
    """Whether a cell can only be a time of day, or a date."""
    return CLOCKLIKE.search(cell) is not None


def is_lasting(cell: str) -> bool:
    """Whether a cell is a duration that is written with hours, minutes or seconds."""
    return _duration(cell) is not None and not cell.replace(".", "").isdigit()


def clock_of(times: Sequence[tuple[str, int]]) -> Clock | None:
    """The clock by which the times of a table are read, or None where they are plain numbers."""
    if not any(is_clocklike(cell) for cell, _ in times):
        return None
    stamps = [(cell, line) for cell, line in times if STAMP.fullmatch(cell)]
    if not stamps:
        days = any(cell.lower().startswith("day ") for cell, _ in times)
        return Clock(unit=MINUTE, several_days=days)
    moments = [_moment(cell, line) for cell, line in stamps]
    zone = _zone(moments, stamps)
    try:
        local = [moment.astimezone(zone) if zone else moment for moment in moments]
    except OverflowError as error:
        raise Unreadable(
            "a date is at the end of the calendar; expected one of this age", stamps[0][1]
        ) from error
    dates = {moment.date() for moment in local}
    last = max(local)
    ends_at_midnight = last.time() == datetime.time() and last.date() - min(
        dates
    ) == datetime.timedelta(days=1)
    several = len(dates) > 1 and not (len(dates) == 2 and ends_at_midnight)
    for cell, line in times if several else ():
        if not STAMP.fullmatch(cell):
            raise Unreadable(
                f"{shortened(cell)} has no date where other times are on several days; expected one like "
                f"{stamps[0][0]}",
                line,
            )
    return Clock(min(dates), MINUTE, several, zone)


def _moment(cell: str, line: int) -> datetime.datetime:
    try:
        return moment_of(cell)
    except InvalidRequest as error:
        raise Unreadable(str(error), line) from error


def _zone(
    moments: Sequence[datetime.datetime], stamps: Sequence[tuple[str, int]]
) -> datetime.timezone | None:
    """The offset of the first moment, which all have or none."""
    offsets = [moment.utcoffset() for moment in moments]
    for offset, (cell, line) in zip(offsets, stamps, strict=True):
        if (offset is None) != (offsets[0] is None):
            raise Unreadable(
                f"{shortened(cell)} and {shortened(stamps[0][0])} differ in whether they have a time zone; "
                "give all of them one, or none",
                line,
            )
    return None if offsets[0] is None else datetime.timezone(offsets[0])


def _duration(text: str) -> re.Match[str] | None:
    """The hours, minutes and seconds of a duration; a text too long for one is not looked at."""
    if not text or len(text) > LONGEST:
        return None
    found = COLONS.fullmatch(text) or DURATION.fullmatch(text.strip())
    return found if found is not None and any(found.groups()) else None


def _parts(cell: str) -> list[str]:
    """What stands between separators; a comma is one where it can be no decimal mark."""
    parts = []
    for part in SEVERAL.split(cell):
        apart = [each.strip() for each in part.split(",")]
        whole = _span(part.strip()) or not all(map(_span, apart))
        parts += [part] if whole else apart
    return parts


def _span(text: str) -> tuple[str | None, str | None] | None:
    """What is written of when a window opens and closes, None where it does not say; None for what is no window."""
    if found := SPAN.fullmatch(text):
        return found[1].strip(), found[2] and found[2].strip()
    if found := OPENS.fullmatch(text):
        return found[1], None
    return (None, found[1]) if (found := CLOSES.fullmatch(text)) else None
