"""VROOM's problem with one vehicle: jobs and shipments as stops, its start, end, hours, capacity and breaks.

VROOM serves what it can: the greatest sum of priorities first, then the most tasks, then at least cost. So every task
is optional here, at a price that ranks plans the same way. All times are in seconds.
"""

import datetime
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from fairway.problems.distances import Distances
from fairway.problems.files.legs import Beside
from fairway.problems.files.prizes import prizes_of
from fairway.problems.files.text import check_size, digits
from fairway.problems.files.values import loaded
from fairway.problems.files.vroom_amounts import amount_columns, single_amounts
from fairway.problems.files.vroom_limits import check_way, loads_of
from fairway.problems.files.vroom_tasks import Place, Task, Vehicle, tasks_of, vehicle_of
from fairway.problems.files.vroom_travel import EACH_HOUR, Ways, ways_of
from fairway.problems.instance import Instance
from fairway.problems.source import Clock, Source

TELLING = re.compile(r'"(?:vehicles|jobs|shipments)"\s*:')
STAMPS = 500_000_000.0
"""Times from here on count seconds since 1970."""


@dataclass(frozen=True, slots=True)
class Stop:
    """A node of the tour: a task, or where the vehicle starts or ends."""

    kind: str
    place: Place | None
    task: Task | None = None


class Setups(NamedTuple):
    """Seconds of setup by node, the number of its place, and whether setup goes with the legs that lead there."""

    seconds: np.ndarray
    places: np.ndarray
    on_leg: np.ndarray


def recognises(text: str) -> bool:
    """Whether a JSON object names vehicles, jobs or shipments, and no problem of ours."""
    return (
        re.match(r"\s*\{", text) is not None
        and TELLING.search(text) is not None
        and '"problem"' not in text
    )


def parse(
    text: str, name: str, distances: Distances | None, beside: Beside | None = None
) -> Instance:
    """The instance of one vehicle; what cannot be served is refused by the name of its field."""
    beside = beside or Beside(distances)
    given = loaded(text)
    document = single_amounts(given)
    vehicle = vehicle_of(document)
    tasks = tasks_of(document)
    check_size(len(tasks) + 2)
    stops, end = _stops(vehicle, tasks)
    ways = ways_of(document, vehicle, [stop.place for stop in stops], beside)
    check_way(vehicle, ways)
    setups = _setups(stops, vehicle)
    travel, cost, service = _times(stops, ways, vehicle, setups)
    priorities = [math.inf if stop.task is None else stop.task.priority for stop in stops]
    opens, closes, windows = _windows(stops, service, setups, vehicle, end)
    return Instance(
        travel,
        cost=cost,
        service=service,
        opens=opens,
        closes=closes,
        windows=windows,
        **loads_of([stop.task for stop in stops], vehicle),
        pairs=_pairs(tasks),
        prize=prizes_of(priorities, travel if cost is None else cost),
        breaks=vehicle.breaks_within_hours(),
        end=end,
        coordinates=_coordinates(stops),
        names=_names(stops),
        name=name,
        source=_source(
            stops,
            vehicle,
            ways,
            {
                **_task_columns(stops, setups),
                **amount_columns(given),
                **_cost_column(vehicle, ways, tasks),
            },
        ),
    )


def _stops(vehicle: Vehicle, tasks: Sequence[Task]) -> tuple[list[Stop], int | None]:
    """The nodes, the start first, and where the tour ends."""
    stops = [Stop("start", vehicle.start), *(Stop(task.kind, task.place, task) for task in tasks)]
    if vehicle.end is None:
        return stops, None
    if vehicle.start is not None and vehicle.end.key == vehicle.start.key:
        return stops, 0
    return [*stops, Stop("end", vehicle.end)], len(stops)


def _setups(stops: Sequence[Stop], vehicle: Vehicle) -> Setups:
    """How each setup is counted: it falls away for a task at the place of the stop before it.

    Where that may happen, setup goes with the legs that lead there, and the windows of the task open so much later. A
    window that is too short for this, or a break that could come in between, has it counted in any case.
    """
    setup = np.array([0.0 if stop.task is None else stop.task.setup for stop in stops])
    numbers: dict[object, int] = {}
    keys = (None if stop.place is None else stop.place.key for stop in stops)
    places = np.array([numbers.setdefault(key, len(numbers)) for key in keys])
    shared = np.bincount(places)[places] > 1
    roomy = [
        stop.task is not None and all(b - a >= stop.task.setup for a, b in stop.task.windows)
        for stop in stops
    ]
    return Setups(setup, places, shared & np.array(roomy) & (not vehicle.breaks))


def _times(
    stops: Sequence[Stop], ways: Ways, vehicle: Vehicle, setups: Setups
) -> tuple[np.ndarray, np.ndarray | None, np.ndarray]:
    """Travel, cost where it is apart from travel, and service."""
    travel, cost = ways.travel.copy(), ways.cost
    service = np.array([0.0 if stop.task is None else stop.task.service for stop in stops])
    rate = vehicle.per_task_hour / 3600.0
    if rate or vehicle.fixed:
        cost = (ways.travel if cost is None else cost) + rate * service
        cost[0, 1:] += vehicle.fixed
    for node in np.flatnonzero(setups.seconds).tolist():
        elsewhere = setups.places != setups.places[node]
        if rate:
            assert cost is not None, "tasks have a cost by now"
            cost[elsewhere, node] += rate * setups.seconds[node]
        if setups.on_leg[node]:
            cost = ways.travel if cost is None else cost
            travel[elsewhere, node] += setups.seconds[node]
        else:
            service[node] += setups.seconds[node]
    return travel, cost, service


def _windows(
    stops: Sequence[Stop],
    service: np.ndarray,
    setups: Setups,
    vehicle: Vehicle,
    end: int | None,
) -> tuple[np.ndarray, np.ndarray, dict[int, list[tuple[float, float]]]]:
    """When service may start: in the task's windows, within the hours of the vehicle, if it has the skills."""
    first, last = vehicle.hours
    opens, closes = np.full(len(stops), 0.0), np.full(len(stops), math.inf)
    opens[0], closes[0] = first, last
    if end:
        closes[end] = last
    windows: dict[int, list[tuple[float, float]]] = {}
    for node, stop in enumerate(stops):
        if stop.task is None:
            continue
        latest = last - service[node] if end is None else last
        later = setups.seconds[node] if setups.on_leg[node] else 0.0
        given = [(a + later, b) for a, b in stop.task.windows] or [(0.0, math.inf)]
        spans = [(a, min(b, latest)) for a, b in given]
        spans = [(a, b) for a, b in spans if a <= b]
        if not spans or not stop.task.skills <= vehicle.skills:  # it is left out
            spans = [(first - 1.0, first - 1.0)]
        if len(spans) == 1:
            opens[node], closes[node] = spans[0]
        else:
            windows[node] = spans
    return opens, closes, windows


def _pairs(tasks: Sequence[Task]) -> list[tuple[int, int]]:
    """The pickup and the delivery of each shipment, which stand side by side."""
    return [(node, node + 1) for node, task in enumerate(tasks, 1) if task.kind == "pickup"]


def _coordinates(stops: Sequence[Stop]) -> Float[np.ndarray, "N 2"] | None:
    """Longitude and latitude, where every place says them; a start that is none lies at the first task."""
    places = [stop.place for stop in stops]
    points = [None if place is None else place.point for place in places]
    if stops[0].place is None and len(points) > 1:
        points[0] = points[1]
    return None if any(point is None for point in points) else np.array(points)


def _names(stops: Sequence[Stop]) -> tuple[str, ...]:
    """Descriptions where they are distinct, else what VROOM calls a step."""
    given = [stop.kind if stop.task is None else stop.task.description for stop in stops]
    if all(given) and len(set(given)) == len(given):
        return tuple(given)
    return tuple(
        stop.kind if stop.task is None else f"{stop.kind} {stop.task.id}" for stop in stops
    )


def _task_columns(stops: Sequence[Stop], setups: Setups) -> dict[str, tuple[str, ...]]:
    """What VROOM's answer repeats of tasks and places, and what is needed to tell setup from the way."""
    tasks = [stop.task for stop in stops]
    seconds = [digits(each) if each else "" for each in setups.seconds]
    return {
        "type": tuple("anywhere" if stop.place is None else stop.kind for stop in stops),
        "location_index": tuple(
            "" if stop.place is None else stop.place.index_text for stop in stops
        ),
        "priority": tuple(
            "" if not task or not task.priority else f"{task.priority:.0f}" for task in tasks
        ),
        "setup": tuple(seconds),
        "setup_on_leg": tuple(
            text if on_leg else "" for text, on_leg in zip(seconds, setups.on_leg, strict=True)
        ),
    }


def _cost_column(vehicle: Vehicle, ways: Ways, tasks: Sequence[Task]) -> dict[str, tuple[str, ...]]:
    """What an hour of travel, an hour at tasks and the vehicle cost, where that is not one a second of travel.

    Where nothing has a window, VROOM has another price of an hour of travel, which the speed factor does not round.
    """
    rates = [ways.per_hour, vehicle.per_task_hour, vehicle.fixed]
    if not (
        vehicle.breaks or math.isfinite(vehicle.hours[1]) or any(task.windows for task in tasks)
    ):
        rates.append(round(100 * ways.per_hour / vehicle.speed_factor) / (100 * vehicle.pace))
    usual = [EACH_HOUR, 0.0, 0.0, EACH_HOUR][: len(rates)]
    return {} if rates == usual else {"costs": (" ".join(map(digits, rates)),)}


def _source(
    stops: Sequence[Stop], vehicle: Vehicle, ways: Ways, columns: dict[str, tuple[str, ...]]
) -> Source:
    """What VROOM's answer repeats: ids, types, descriptions, places and breaks."""
    tasks = [stop.task for stop in stops]
    said = [vehicle.description if task is None else task.description for task in tasks]
    columns = {"description": tuple(said), **columns}
    columns = {name: (*cells, *[""] * (len(stops) - len(cells))) for name, cells in columns.items()}
    times = [edge for task in tasks if task is not None for span in task.windows for edge in span]
    times += [edge for edge in vehicle.hours if math.isfinite(edge)]
    absolute = max(times, default=0.0) >= STAMPS
    clock = Clock(datetime.date(1970, 1, 1), 1.0, False, datetime.UTC) if absolute else None
    return Source(
        clock,
        {name: cells for name, cells in columns.items() if any(cells)},
        ways.distance_unit,
        ways.speed,
        all(stop.place is None or stop.place.on_earth for stop in stops),
        tuple(vehicle.id if task is None else task.id for task in tasks),
        tuple(rest.id for rest in vehicle.breaks),
        tuple(rest.description for rest in vehicle.breaks),
    )
