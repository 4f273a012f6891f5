"""Where an instance came from: the clock, the further columns and the ids of its user's file.

None of it is solved or judged. It is kept so that answers speak as the question did: in times of day, with addresses
and phone numbers, by the ids that the user knows.
"""

import datetime
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from jaxtyping import Float

from fairway.errors import InvalidRequest

DAY = 86_400
"""Seconds."""
TIME_OF_DAY = re.compile(
    r"(?:day\s+(?P<day>\d{1,4})\s+)?(?P<hour>\d{1,2})"
    r"(?:[:.h](?P<minute>\d{2})(?::(?P<second>\d{2}(?:\.\d+)?))?|h)?\s*(?P<half>[ap]\.?m\.?)?",
    re.IGNORECASE,
)
"""08:30, 8.30, 8h30, 8:30:15, 8 pm, day 2 08:30, and an hour alone."""
STAMP = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?\s*(?:Z|[+-]\d{2}:?\d{2})?)?"
)
"""An ISO stamp, or a date alone."""
TIMES = re.compile(r"\D{0,9}(?:\d{1,2}[:h]\d\d(?::\d\d)?\D{0,9})+")
"""Times of day, with a word before, between or after them."""
DAYS = ("date", "day", "delivery date", "datum", "tag", "lieferdatum", "jour", "fecha")
"""What a column that says the day of a stop is called."""
OFFSET = re.compile(r"\s+(?=Z$|[+-]\d{2}:?\d{2}$)")
"""The blank before the offset of a stamp."""
EXAMPLES = "a time of day like 08:30 or 8:30 pm, or a date and time like 2026-11-18T08:30"

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Clock:
    """The times of day of an instance: its time 0 is midnight at the beginning of the first day."""

    origin: datetime.date | None = None
    """The first day, where it is known."""
    unit: float = 60.0
    """Seconds per time unit of the instance."""
    several_days: bool = False
    """Whether its times spread over more than one day, so that each is shown with its day."""
    zone: datetime.timezone | None = None
    """The offset in which stamps were given, if any."""

    def show(self, time: float) -> str:
        """A time as people write it: 08:30, or with the day where there is more than one; nothing for never."""
        if math.isinf(time):
            return ""
        day, within = divmod(round(time * self.unit), DAY)
        text = f"{within // 3600:02d}:{within % 3600 // 60:02d}"
        text += f":{within % 60:02d}" if within % 60 else ""
        if not day and not self.several_days:
            return text
        if self.origin is None or not _known(self.origin, day):
            return f"day {day + 1} {text}"
        return f"{self.origin + datetime.timedelta(days=day)} {text}"

    def lasting(self, duration: float) -> str:
        """A stretch of time in hours and minutes, as 0:15."""
        seconds = round(duration * self.unit)
        sign, seconds = "-" if seconds < 0 else "", abs(seconds)
        text = f"{sign}{seconds // 3600}:{seconds % 3600 // 60:02d}"
        return text + (f":{seconds % 60:02d}" if seconds % 60 else "")

    def moment(self, time: float) -> datetime.datetime:
        """The moment of a time, for which the date of the first day must be known."""
        if self.origin is None:
            raise InvalidRequest(
                "the date of the plan is not known; give times with their date, like 2026-11-18T08:30"
            )
        midnight = datetime.datetime.combine(self.origin, datetime.time(), self.zone)
        try:
            return midnight + datetime.timedelta(seconds=round(time * self.unit))
        except OverflowError as error:
            raise InvalidRequest(f"the time {time:g} is beyond every calendar") from error

    def time(self, text: str) -> float:
        """The time that a text names; InvalidRequest where it names none."""
        if STAMP.fullmatch(text.strip()):
            return self._stamped(text.strip())
        found = TIME_OF_DAY.fullmatch(text.strip())
        seconds = None if found is None else _seconds(found)
        if seconds is None:
            raise InvalidRequest(f"expected {EXAMPLES}, found {text[:40]!r}")
        return seconds / self.unit

    def _stamped(self, text: str) -> float:
        stamp = moment_of(text)
        if self.origin is None:
            raise InvalidRequest(f"{text!r} has a date, and the other times have none")
        if (stamp.tzinfo is None) != (self.zone is None):
            raise InvalidRequest(
                f"{text!r} and other times differ in whether they have a time zone; give all or none one"
            )
        midnight = datetime.datetime.combine(self.origin, datetime.time(), self.zone)
        return (stamp - midnight).total_seconds() / self.unit


@dataclass(frozen=True, slots=True)
class Source:
    """What a user's file says besides the problem; nothing of it changes what a tour is or costs."""

    clock: Clock | None = None
    """How times of day are read and shown, where they came in so."""
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Further columns, one text per node, carried through to every output."""
    distance_unit: str = ""
    """The unit of distances, such as "km" or "m", where it is known."""
    speed: float | None = None
    """Distance per unit of time, where travel is distance at one speed; else a cost apart from travel is distance."""
    geographic: bool = False
    """Whether coordinates are (longitude, latitude) in degrees."""
    ids: tuple[str, ...] | None = None
    """What the user's file calls the nodes, where they have names besides."""
    break_ids: tuple[str, ...] = ()
    """What it calls the breaks, where it does."""
    break_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        columns = {str(name): tuple(map(str, texts)) for name, texts in self.columns.items()}
        object.__setattr__(self, "columns", columns)

    def restricted(self, nodes: Sequence[int]) -> "Source":
        """The same for some nodes alone."""
        return Source(
            self.clock,
            {name: _of(texts, nodes) for name, texts in self.columns.items()},
            self.distance_unit,
            self.speed,
            self.geographic,
            None if self.ids is None else _of(self.ids, nodes),
            self.break_ids,
            self.break_names,
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence for each further column in which times of day stand."""
        return tuple(
            f"column {name!r} holds times of day and is only carried along; call it 'open', 'close' or 'windows' if it "
            "says when stops may be served"
            for name, texts in self.columns.items()
            if any(texts)
            and all(len(text) < 80 and TIMES.fullmatch(text) for text in texts if text)
        )

    @property
    def day_notes(self) -> tuple[str, ...]:
        """A sentence for each further column that tells days apart, where times of day are those of one."""
        if self.clock is None or self.clock.several_days:
            return ()
        return tuple(
            f"column {name!r} tells several days apart, and the times of day are read as those of one; give the stops "
            "of one day, or write times like 2026-11-18 09:00"
            for name, texts in self.columns.items()
            if name.lower() in DAYS and len(set(filter(None, texts))) > 1
        )

    def distances(
        self, travel: Float[np.ndarray, "N N"], cost: Float[np.ndarray, "N N"]
    ) -> Float[np.ndarray, "N N"] | None:
        """The distances of an instance in `distance_unit`, where they are known."""
        if not self.distance_unit:
            return None
        return cost if self.speed is None else travel * self.speed


def break_name(source: Source | None, breaks: Sequence[object], number: int) -> str:
    """What the user's file calls one of the breaks of an instance; nothing where it does not, or had other breaks."""
    names = () if source is None else source.break_names
    return names[number] if len(names) == len(breaks) else ""


def moment_of(text: str) -> datetime.datetime:
    """The moment of a stamp; InvalidRequest where there is no such day or time."""
    try:
        return datetime.datetime.fromisoformat(OFFSET.sub("", text).replace("Z", "+00:00"))
    except ValueError as error:
        raise InvalidRequest(f"expected {EXAMPLES}, found {text[:40]!r}") from error


def _of(items: Sequence[Item], nodes: Iterable[int]) -> tuple[Item, ...]:
    return tuple(items[node] for node in nodes)


def _known(origin: datetime.date, day: int) -> bool:
    """Whether the calendar reaches that far."""
    return 1 <= origin.toordinal() + day <= datetime.date.max.toordinal()


def _seconds(found: re.Match[str]) -> float | None:
    """Seconds since midnight of the first day, or None where there is no such time."""
    hour, minute = int(found["hour"]), int(found["minute"] or 0)
    second, days = float(found["second"] or 0), int(found["day"] or 1) - 1
    if found["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if found["half"].lower().startswith("p") else 0)
    whole = 3600 * hour + 60 * minute + second
    if minute > 59 or second >= 60 or days < 0 or whole > DAY:
        return None
    return DAY * days + whole
