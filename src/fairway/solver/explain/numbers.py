"""Single numbers of an instance that may give way: how far they can go, and the instance with another number."""

import math
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Literal

import numpy as np

from fairway.judge.timetable import windows_of
from fairway.problems.instance import Instance
from fairway.solver.explain.trivial import label

Number = Literal[
    "opens", "closes", "latest", "draft", "capacity", "aboard", "break from", "break until",
    "break length",
]  # fmt: skip
LOADS = ("draft", "capacity", "aboard")
"""Those that are loads; the others are times."""
OF_BREAKS = ("break from", "break until", "break length")


@dataclass(frozen=True, slots=True)
class Spot:
    """One number of an instance: of a node or a break, and of which window of the node."""

    number: Number
    at: int = 0
    window: int = 0


def value_of(instance: Instance, spot: Spot) -> float:
    """The number as it is."""
    if spot.number in OF_BREAKS:
        return instance.breaks[spot.at][OF_BREAKS.index(spot.number)]
    if spot.number in ("opens", "closes"):
        return windows_of(instance, spot.at)[spot.window][spot.number == "closes"]
    column = getattr(instance, spot.number)
    return float(column[spot.at] if isinstance(column, np.ndarray) else column)


def changed(instance: Instance, spot: Spot, value: float) -> Instance:
    """The instance with another number there; rounding pushes no window into the next."""
    number, at, field = spot.number, spot.at, spot.number
    new: Any = value
    if number in OF_BREAKS:
        rows, field = np.array(instance.breaks), "breaks"
        rows[at, OF_BREAKS.index(number)] = value
        new = [tuple(row) for row in rows.tolist()]
    elif number in ("opens", "closes") and at in instance.windows:
        ends, place = list(chain(*instance.windows[at])), 2 * spot.window + (number == "closes")
        around = (-math.inf, *ends, math.inf)[place : place + 3]
        ends[place], field = min(max(value, around[0]), around[2]), "windows"
        new = {**instance.windows, at: list(zip(ends[::2], ends[1::2], strict=True))}
    elif number not in ("capacity", "aboard"):
        new = getattr(instance, number).copy()
        new[at] = value
    fields: dict[str, Any] = {field: new}
    return replace(instance, **fields)


def reaches(instance: Instance, spot: Spot) -> list[float]:
    """How far the number may go in each direction that eases things: it does not bind any more, or ends there."""
    first, horizon = windows_of(instance, 0)[0][0], _horizon(instance)
    loads = float((np.abs(instance.demand) + instance.loaded).sum()) + instance.aboard + 1.0
    fullest = instance.capacity - float(instance.demand.min())  # nowhere may more be left after it
    if spot.number in ("opens", "closes"):
        spans = windows_of(instance, spot.at)
        if spot.number == "closes":
            return [spans[spot.window + 1][0] if spot.window + 1 < len(spans) else horizon]
        if spot.window:
            return [spans[spot.window - 1][1]]
        return [first - horizon + min(first, 0.0)] if spot.at == 0 else [min(first, spans[0][0])]
    return {
        "latest": [horizon],
        "draft": [loads],
        "capacity": [loads],
        "aboard": [0.0, max(instance.aboard, min(loads, fullest))],
        "break from": [min(first, value_of(instance, spot))],
        "break until": [horizon],
        "break length": [0.0],
    }[spot.number]


def scale_of(instance: Instance, spot: Spot) -> float:
    """What a change is measured by: all the time that there is, or all the cargo."""
    if spot.number in LOADS:
        return float(np.abs(instance.demand).sum()) or 1.0
    return _horizon(instance)


def _horizon(instance: Instance) -> float:
    """A time by which every tour can be over."""
    legs = instance.travel[np.isfinite(instance.travel)]
    longest = (legs.max() + instance.service.max()) * instance.nodes
    opens = [span[0] for node in range(instance.nodes) for span in windows_of(instance, node)]
    pauses = sum(length + abs(first) for first, _, length in instance.breaks)
    return math.ceil(max(opens) + longest + pauses - min(*opens, 0.0)) + 2.0


def condition(instance: Instance, spot: Spot, before: float, after: float) -> str:
    """The change as people say what would help."""
    node = spot.at
    instead = f"{_text(instance, spot, after)} instead of {_text(instance, spot, before)}"
    if spot.number in OF_BREAKS:
        first, last, length = instance.breaks[node]
        how = {
            "break from": f"could start from {instead} on",
            "break until": f"could start until {instead}",
            "break length": f"took {instead}",
        }[spot.number]
        within = f"between {instance.time_text(first)} and {instance.time_text(last)}"
        return f"the break of {instance.duration_text(length)} {within} {how}"
    if spot.number in ("capacity", "aboard"):
        what = "the capacity was" if spot.number == "capacity" else "the load at the start was"
        return f"{what} {instead}"
    where = "port" if spot.number == "draft" else "stop"
    who = "the depot" if node == 0 else f"{where} {label(instance, node)}"
    if spot.number in ("opens", "closes") and len(spans := windows_of(instance, node)) > 1:
        low, high = map(instance.time_text, spans[spot.window])
        who = f"the window of {who} from {low} to {high}"
    how = {
        "opens": "opened at",
        "closes": "closed at",
        "latest": "could be served until",
        "draft": "had a draft of",
    }[spot.number]
    return f"{who} {how} {instead}"


def _text(instance: Instance, spot: Spot, value: float) -> str:
    """A number as people state it; on the clock to the second that is enough."""
    clock = None if instance.source is None else instance.source.clock
    if spot.number in LOADS or clock is None:
        return f"{value:.8g}"
    outwards = math.ceil if spot.number in ("closes", "latest", "break until") else math.floor
    enough = outwards(round(value * clock.unit, 3)) / clock.unit
    return clock.lasting(enough) if spot.number == "break length" else clock.show(enough)
