"""The jobs, the shipments and the one vehicle of a VROOM problem, checked field by field."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import pairwise
from typing import Any

from fairway.problems.files.text import Unreadable, shortened
from fairway.problems.files.values import described

ROOT = ("jobs", "shipments", "vehicles", "matrices", "matrix", "options", "description", "meta")
STEP = (
    *("id", "description", "location", "location_index", "time_windows"),
    *("setup", "service", "setup_per_type", "service_per_type"),
)
JOB = (*STEP, "amount", "delivery", "pickup", "priority", "skills")
SHIPMENT = ("pickup", "delivery", "amount", "priority", "skills", "id", "description")
VEHICLE = (
    *("id", "profile", "description", "start", "start_index", "end", "end_index"),
    *("capacity", "costs", "type", "time_window", "breaks", "speed_factor"),
    *("max_tasks", "max_travel_time", "max_distance", "skills", "steps"),
)
"""Of these, `steps` only say where VROOM's search begins."""
BREAK_KEYS = ("id", "time_windows", "service", "description")
COSTS = ("fixed", "per_hour", "per_km", "per_task_hour")
UNSERVED = ("max_load",)
"""Fields of VROOM that Fairway does not serve unless they are empty."""
TOP_PRIORITY = 100.0
FASTEST = 5.0
"""The largest speed_factor."""

Span = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Place:
    """Where something is: a row of the matrix, degrees, or both."""

    index: int | None
    point: tuple[float, float] | None

    @property
    def key(self) -> object:
        """What two places have in common exactly if they are one."""
        return self.point if self.index is None else self.index

    @property
    def on_earth(self) -> bool:
        """Whether it is given in degrees; beside a matrix any other numbers may stand."""
        return self.point is not None and abs(self.point[0]) <= 180 and abs(self.point[1]) <= 90

    @property
    def index_text(self) -> str:
        """The row of the matrix, or nothing."""
        return "" if self.index is None else str(self.index)


@dataclass(frozen=True, slots=True)
class Task:
    """A job, or the pickup or the delivery of a shipment."""

    kind: str
    id: str
    place: Place
    description: str = ""
    setup: float = 0.0
    service: float = 0.0
    delivery: float = 0.0
    pickup: float = 0.0
    priority: float = 0.0
    windows: tuple[Span, ...] = ()
    skills: frozenset[float] = frozenset()
    pair: int | None = None
    """The number of its shipment."""


@dataclass(frozen=True, slots=True)
class Break:
    """When it may begin, and how long it lasts."""

    id: str
    description: str
    span: Span
    length: float


@dataclass(frozen=True, slots=True)
class Vehicle:
    """The one vehicle."""

    id: str
    description: str
    start: Place | None
    end: Place | None
    profile: str
    capacity: float | None
    hours: Span
    skills: frozenset[float]
    breaks: tuple["Break", ...]
    speed_factor: float
    fixed: float
    per_hour: float
    per_km: float
    per_task_hour: float
    max_tasks: float
    max_travel_time: float
    max_distance: float

    @property
    def pace(self) -> float:
        """What travel times are multiplied by."""
        return round(100 / self.speed_factor) / 100

    def breaks_within_hours(self) -> list[tuple[float, float, float]]:
        """Its breaks, each to end within its hours, as VROOM has all of them taken."""
        first, last = self.hours
        cut = []
        for number, rest in enumerate(self.breaks):
            (earliest, latest), length = rest.span, rest.length
            opens, closes = max(earliest, first), min(latest, last - length)
            if opens > closes:
                raise Unreadable(
                    f"'breaks[{number}]' cannot be taken within the 'time_window' of the vehicle"
                )
            cut.append((opens, closes, length))
        return cut


def tasks_of(document: dict[str, Any]) -> list[Task]:
    """All jobs, then the pickup and the delivery of each shipment, of a document whose vehicle has been read."""
    kind = _text(document["vehicles"][0], "type", "vehicles[0]")
    jobs = enumerate(_list(document, "jobs", ""))
    tasks = [_job(job, f"jobs[{at}]", kind) for at, job in jobs]
    for at, shipment in enumerate(_list(document, "shipments", "")):
        tasks += _shipment(shipment, at, kind)
    seen: set[tuple[str, str]] = set()
    for task in tasks:
        if (task.kind, task.id) in seen:
            raise Unreadable(f"there are two of {task.kind} {task.id}; expected ids to be distinct")
        seen.add((task.kind, task.id))
    if not tasks:
        raise Unreadable("there are no 'jobs' and no 'shipments'; expected at least one")
    return tasks


def vehicle_of(document: dict[str, Any]) -> Vehicle:
    """The one vehicle there is."""
    _check_keys(document, ROOT, "")
    vehicles = _list(document, "vehicles", "")
    if len(vehicles) != 1:
        raise Unreadable(
            f"'vehicles' has {len(vehicles)}; expected one, since Fairway plans the tour of a single vehicle"
        )
    what = "vehicles[0]"
    given = _object(vehicles[0], what)
    _check_keys(given, VEHICLE, what)
    costs = _object(given.get("costs", {}), f"{what}.costs")
    _check_keys(costs, COSTS, f"{what}.costs")
    hours = given.get("time_window")
    factor = _number(given, "speed_factor", what, 1.0)
    if not 0 < factor <= FASTEST:
        raise Unreadable(
            f"'{what}.speed_factor' is {factor:g}; expected above 0 and at most {FASTEST:g}"
        )
    breaks = enumerate(_list(given, "breaks", what))
    return Vehicle(
        id=_id(given, what),
        description=_text(given, "description", what),
        start=_place(given, "start", "start_index", what),
        end=_place(given, "end", "end_index", what),
        profile=_text(given, "profile", what) or "car",
        capacity=_amount(given, "capacity", what) if given.get("capacity") else None,
        hours=(0.0, math.inf) if hours is None else _span(hours, f"{what}.time_window"),
        skills=_skills(given, what),
        breaks=tuple(_break(each, f"{what}.breaks[{at}]") for at, each in breaks),
        speed_factor=factor,
        fixed=_number(costs, "fixed", f"{what}.costs"),
        per_hour=_number(costs, "per_hour", f"{what}.costs", 3600.0),
        per_km=_number(costs, "per_km", f"{what}.costs"),
        per_task_hour=_number(costs, "per_task_hour", f"{what}.costs"),
        max_tasks=_number(given, "max_tasks", what, math.inf),
        max_travel_time=_number(given, "max_travel_time", what, math.inf),
        max_distance=_number(given, "max_distance", what, math.inf),
    )


def _job(value: object, what: str, kind: str) -> Task:
    given = _object(value, what)
    _check_keys(given, JOB, what)
    old = "amount" in given and not {"delivery", "pickup"} & given.keys()
    return Task(
        "job",
        **_step(given, what, kind),
        delivery=_amount(given, "amount" if old else "delivery", what),
        pickup=_amount(given, "pickup", what),
        priority=_priority(given, what),
        skills=_skills(given, what),
    )


def _shipment(value: object, at: int, vehicle: str) -> list[Task]:
    what = f"shipments[{at}]"
    given = _object(value, what)
    _check_keys(given, SHIPMENT, what)
    amount = _amount(given, "amount", what)
    both = {"priority": _priority(given, what), "skills": _skills(given, what), "pair": at}
    tasks = []
    for kind in ("pickup", "delivery"):
        part = f"{what}.{kind}"
        step = _object(given.get(kind), part)
        _check_keys(step, STEP, part)
        amounts: dict[str, Any] = {kind: amount}
        tasks.append(Task(kind, **_step(step, part, vehicle), **amounts, **both))
    return tasks


def _step(given: dict[str, Any], what: str, kind: str) -> dict[str, Any]:
    place = _place(given, "location", "location_index", what)
    if place is None:
        raise Unreadable(
            f"{what!r} has no 'location_index' and no 'location'; expected where it is"
        )
    return {
        "id": _id(given, what),
        "place": place,
        "description": _text(given, "description", what),
        "setup": _length(given, "setup", what, kind),
        "service": _length(given, "service", what, kind),
        "windows": _spans(given, what),
    }


def _length(given: dict[str, Any], key: str, what: str, kind: str) -> float:
    """How long a part of a task takes with this type of vehicle."""
    of_types, where = f"{key}_per_type", f"{what}.{key}_per_type"
    lengths = _object(given.get(of_types) or {}, where)
    return _number(lengths, kind, where) if kind in lengths else _number(given, key, what)


def _break(value: object, what: str) -> Break:
    given = _object(value, what)
    _check_keys(given, BREAK_KEYS, what)
    spans = _spans(given, what)
    if len(spans) > 1:
        raise Unreadable(
            f"'{what}.time_windows' has {len(spans)}; several windows of a break cannot be served yet"
        )
    span = spans[0] if spans else (0.0, math.inf)
    return Break(
        _id(given, what), _text(given, "description", what), span, _number(given, "service", what)
    )


def _check_keys(given: dict[str, Any], known: Sequence[str], what: str) -> None:
    """Refuse what cannot be served, and what VROOM does not know, by its name."""
    where = f" in {what!r}" if what else ""
    for key, value in given.items():
        if key in UNSERVED:
            if value not in ([], {}, None):
                raise Unreadable(f"{key!r}{where} cannot be served by Fairway; leave it out")
        elif key not in known:
            alike = get_close_matches(key, known, n=1)
            hint = f", and looks like {alike[0]!r}" if alike else ""
            raise Unreadable(
                f"the key {shortened(key)}{where} is unknown{hint}; expected {', '.join(known)}"
            )


def _list(given: dict[str, Any], key: str, what: str) -> list[Any]:
    value = given.get(key) or []
    if not isinstance(value, list):
        raise Unreadable(f"{_in(what, key)!r} is {described(value)}; expected a list")
    return value


def _object(value: object, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Unreadable(f"{what!r} is {described(value)}; expected an object")
    return value


def _number(given: dict[str, Any], key: str, what: str, absent: float = 0.0) -> float:
    value = given.get(key, absent)
    if type(value) is not float or not value >= 0 or (key in given and math.isinf(value)):
        raise Unreadable(
            f"{_in(what, key)!r} is {described(value)}; expected a number, zero or more"
        )
    return value


def _id(given: dict[str, Any], what: str) -> str:
    value = given.get("id")
    if type(value) is not float or not value.is_integer() or abs(value) > 2**53:
        raise Unreadable(f"'{what}.id' is {described(value)}; expected a whole number")
    return str(int(value))


def _text(given: dict[str, Any], key: str, what: str) -> str:
    value = given.get(key) or ""
    if not isinstance(value, str):
        raise Unreadable(f"{_in(what, key)!r} is {described(value)}; expected a text")
    return value


def _skills(given: dict[str, Any], what: str) -> frozenset[float]:
    """Numbers that a task asks for, and that the vehicle has."""
    value = _list(given, "skills", what)
    if any(type(part) is not float or not part.is_integer() for part in value):
        raise Unreadable(f"{_in(what, 'skills')!r} is a list of other things; expected numbers")
    return frozenset(value)


def _priority(given: dict[str, Any], what: str) -> float:
    value = _number(given, "priority", what)
    if value > TOP_PRIORITY:
        raise Unreadable(f"'{what}.priority' is {value:g}; expected 0 to {TOP_PRIORITY:g}")
    return value


def _amount(given: dict[str, Any], key: str, what: str) -> float:
    """The one component of an amount; more are not served."""
    value = given.get(key) or [0.0]
    if not isinstance(value, list) or any(
        type(part) is not float or not 0 <= part < math.inf for part in value
    ):
        raise Unreadable(
            f"{_in(what, key)!r} is {described(value)}; expected a list of one number, zero or more"
        )
    if len(value) > 1:
        raise Unreadable(
            f"{_in(what, key)!r} has {len(value)} components; amounts of one component are served"
        )
    return value[0]


def _place(given: dict[str, Any], key: str, index: str, what: str) -> Place | None:
    point, row = given.get(key), given.get(index)
    if point is None and row is None:
        return None
    if row is not None and (type(row) is not float or not row.is_integer() or row < 0):
        raise Unreadable(
            f"{_in(what, index)!r} is {described(row)}; expected a row of the matrix, 0 or more"
        )
    if point is not None and not _is_point(point):
        raise Unreadable(
            f"{_in(what, key)!r} is {described(point)}; expected [longitude, latitude]"
        )
    place = Place(
        None if row is None else int(row), None if point is None else (point[0], point[1])
    )
    if row is None and not place.on_earth:
        raise Unreadable(
            f"{_in(what, key)!r} is {described(point)}; expected [longitude, latitude] in degrees"
        )
    return place


def _is_point(value: object) -> bool:
    return (
        isinstance(value, list)
        and len(value) in (2, 3)  # an altitude may follow
        and all(type(part) is float and math.isfinite(part) for part in value)
    )


def _spans(given: dict[str, Any], what: str) -> tuple[Span, ...]:
    """The windows in order."""
    listed = enumerate(_list(given, "time_windows", what))
    spans = sorted(_span(each, f"{what}.time_windows[{at}]") for at, each in listed)
    if any(one[1] > two[0] for one, two in pairwise(spans)):
        raise Unreadable(f"'{what}.time_windows' overlap; expected them apart from each other")
    return tuple(spans)


def _span(value: object, what: str) -> Span:
    if (
        not isinstance(value, list)
        or len(value) != 2
        or any(type(part) is not float or not 0 <= part < math.inf for part in value)
        or value[0] > value[1]
    ):
        raise Unreadable(
            f"{what!r} is {described(value)}; expected [start, end] in seconds, with start <= end"
        )
    return (value[0], value[1])


def _in(what: str, key: str) -> str:
    return f"{what}.{key}" if what else key
