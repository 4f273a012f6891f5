"""The table of an instance: everything that a row can say, and a refusal that names what none can."""

import csv
import io
import math
import re
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from fairway.errors import InvalidRequest
from fairway.problems.files.cells import MINUTE
from fairway.problems.files.columns import CANONICAL, header_of, plain
from fairway.problems.files.fields import stated
from fairway.problems.files.legs import in_plane, over_land
from fairway.problems.files.opening import sticks_out
from fairway.problems.files.text import Unreadable, digits, shortened
from fairway.problems.instance import Instance, Pairs
from fairway.problems.source import Clock, Source, break_name
from fairway.problems.table import PROBLEMS

COLUMNS = {
    "opens": "open",
    "closes": "close",
    "service": "service",
    "late": "late",
    "latest": "latest",
    "demand": "demand",
    "draft": "draft",
    "prize": "prize",
}
"""The columns of the fields that hold a number for each node."""
TIMES = ("opens", "closes", "latest")
BESIDE = {
    "latest": ("opens", "closes"),
    "opens": ("closes",),
    "closes": ("opens",),
    "demand": ("draft",),
    "draft": ("demand",),
}
"""What is written along with a field."""
ABSENT = {
    "cost": "a cost apart from travel",
    "loaded": "what is loaded for each stop",
    "aboard": "the load aboard at the start",
}
"""What has no column."""
FORMULA = re.compile(r"[=+@-](?![\d.]+$)")
"""How a cell starts that spreadsheets run, plain numbers left out."""

Texts = dict[str, list[str]]


def render(instance: Instance) -> str:
    """The table of an instance whose travel follows from where its nodes are."""
    asked = stated(instance)
    for field, words in ABSENT.items():
        if field in asked:
            raise Unreadable(f"CSV has no column for {words}; write .json instead")
    limited = bool(instance.pairs) or math.isfinite(instance.capacity)
    if instance.load != ("signed" if limited and (instance.demand < 0).any() else "growing"):
        raise Unreadable("CSV has no column for a load that is not growing; write .json instead")
    names = instance.names or tuple(map(str, range(instance.nodes)))
    columns = _places(instance, names)
    columns |= _written(instance, names)
    columns |= _further(instance, columns)
    _add_breaks(instance, columns)
    for column, cells in columns.items():
        _check(column, cells)
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return file.getvalue()


def _places(instance: Instance, names: Sequence[str]) -> Texts:
    """What the nodes are called, and where they are, with the speed where there is one."""
    source, points = instance.source or Source(), instance.coordinates
    columns: Texts = {"id": list(names)}
    if source.ids is not None:
        columns = {"id": list(source.ids), "name": list(names)}
    heads = ("lon", "lat") if source.geographic else ("x", "y")
    columns |= {} if points is None else dict(zip(heads, map(_digits, points.T), strict=True))
    if instance.is_euclidean and not source.geographic:
        return columns
    speed = _speed(instance, source)
    if speed is None:
        raise Unreadable(
            "CSV holds instances whose travel is the Euclidean distance between their points, or distance at one "
            "speed; write .json instead"
        )
    return columns | {"speed": _once(digits(speed), instance.nodes)}


def _speed(instance: Instance, source: Source) -> float | None:
    """The speed from which the travel follows to its last bit, if there is one."""
    points = instance.coordinates
    if points is None or source.speed is None:
        return None
    hours = source.geographic or source.clock is not None
    speed = source.speed * 60.0 if hours else source.speed
    made = (
        over_land(points, speed)
        if source.geographic
        else in_plane(points, None, speed, hours=hours)
    )
    return speed if np.array_equal(made.travel, instance.travel) else None


def _written(instance: Instance, names: Sequence[str]) -> Texts:
    """The columns of all that is asked, and those that a classic problem has in any case."""
    asked, nodes = stated(instance), range(instance.nodes)
    fields = {field for field in COLUMNS if field in asked}
    fields |= {other for field in fields for other in BESIDE.get(field, ())}
    fields |= set(PROBLEMS[instance.problem].columns if instance.classic else ())
    show, clock = _showing(instance), instance.source and instance.source.clock
    if clock and not (fields & set(TIMES) or instance.windows or instance.breaks):
        fields.add("opens")  # by which the table is known to have times of day
    columns: Texts = {
        column: list(map(show if field in TIMES else _number, getattr(instance, field).tolist()))
        for field, column in COLUMNS.items()
        if field in fields
    }
    if instance.windows:
        _check_beside(instance)
        columns["windows"] = [_spans(instance.windows.get(node, ()), show) for node in nodes]
    if instance.before:
        columns["before"] = _joined(instance.before, names)
    if instance.pairs:
        columns["pickup"] = _joined(tuple((b, a) for a, b in instance.pairs), names)
    if math.isfinite(instance.capacity):
        columns["capacity"] = _once(digits(instance.capacity), instance.nodes)
    if instance.end is None:
        columns["end"] = _once("anywhere", instance.nodes)
    elif instance.end:
        columns["end"] = ["yes" if node == instance.end else "" for node in nodes]
    return columns


def _check_beside(instance: Instance) -> None:
    """Refuse windows that would not be taken for those that count, beside others by the clock."""
    if instance.source is None or instance.source.clock is None:
        return
    for node, spans in instance.windows.items():
        if sticks_out(spans, instance.opens[node], instance.closes[node]):
            raise Unreadable(
                f"CSV cannot hold windows of stop {node} beside 'opens' and 'closes' that differ; write .json instead"
            )


def _showing(instance: Instance) -> Callable[[float], str]:
    """How times are written: by the clock they came with, where that gives each of them back, else as numbers."""
    clock = instance.source.clock if instance.source is not None else None
    if clock is None or clock.unit != MINUTE:
        return _number

    def show(time: float) -> str:
        if time == math.inf:
            return ""
        try:
            text = _stamp(clock, time) if clock.origin else clock.show(time)
            exact = clock.time(text) == time
        except (
            ValueError,
            OverflowError,
            InvalidRequest,
        ):  # before the first day, or beyond the calendar
            text, exact = digits(time), False
        if not exact:
            raise Unreadable(
                f"CSV cannot hold the time {time:g} as a time of day; write .json instead"
            )
        return text

    return show


def _stamp(clock: Clock, time: float) -> str:
    return clock.moment(time).isoformat()


def _further(instance: Instance, taken: Texts) -> Texts:
    """The further columns of the user's file, whose names must not mean anything."""
    columns = {} if instance.source is None else instance.source.columns
    for name in columns:
        meant = header_of([name], 1).known.keys() - {"kind"}
        if name in taken or meant or not name.strip() or name != name.strip():
            raise Unreadable(
                f"CSV cannot hold a further column called {shortened(name)}; write .json instead"
            )
    return {name: list(cells) for name, cells in columns.items()}


def _add_breaks(instance: Instance, columns: Texts) -> None:
    """Write each break as a row of that kind."""
    if not instance.breaks:
        return
    show = _showing(instance)
    kind = next((name for name in columns if CANONICAL.get(plain(name)) == "kind"), "kind")
    for name in (kind, "open", "close", "service"):
        columns.setdefault(name, [""] * instance.nodes)
    main = "name" if "name" in columns else "id"
    for number, (first, last, length) in enumerate(instance.breaks):
        called = break_name(instance.source, instance.breaks, number) or f"break {number + 1}"
        row = {"id": f"break {number + 1}", main: called, kind: "break", "open": show(first)}
        row |= {"close": show(last), "service": digits(length)}
        for name, cells in columns.items():
            cells.append(row.get(name, ""))


def _check(column: str, cells: Iterable[str]) -> None:
    """Refuse texts that would not read back, or that a spreadsheet would run."""
    what = "name" if column in ("id", "name") else "text"
    for cell in cells:
        if not cell and what == "text":
            continue
        if not cell.isprintable() or not cell or cell != cell.strip() or FORMULA.match(cell):
            raise Unreadable(f"CSV cannot hold the {what} {shortened(cell)}; write .json instead")


def _once(text: str, nodes: int) -> list[str]:
    """A text in the row of the depot."""
    return [text, *[""] * (nodes - 1)]


def _number(value: float) -> str:
    return "" if value == math.inf else digits(value)


def _digits(values: np.ndarray) -> list[str]:
    return list(map(_number, values.tolist()))


def _spans(spans: Sequence[tuple[float, float]], show: Callable[[float], str]) -> str:
    return "; ".join("-".join(map(show, span)) for span in spans)


def _joined(pairs: Pairs, names: Sequence[str]) -> list[str]:
    """For every node the names of those that it is paired with."""
    linked: list[list[str]] = [[] for _ in names]
    for node, other in pairs:
        if ";" in names[other]:
            raise Unreadable(
                f"CSV cannot hold the name {shortened(names[other])} in a list of stops; write .json instead"
            )
        linked[node].append(names[other])
    return list(map("; ".join, linked))
