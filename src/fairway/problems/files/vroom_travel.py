"""Travel times and costs between the places of a VROOM problem: by its matrices, or by what was given beside it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from fairway.problems.files.legs import Beside, over_land
from fairway.problems.files.text import Unreadable, shortened
from fairway.problems.files.values import described, rows
from fairway.problems.files.vroom_tasks import Place, Vehicle

KINDS = ("durations", "distances", "costs")
EACH_HOUR = 3600.0
"""The cost of an hour of travel unless something else is asked: one per second."""


@dataclass(frozen=True, slots=True)
class Ways:
    """Seconds and cost between the nodes of a tour; a start that is nowhere costs nothing to leave."""

    travel: Float[np.ndarray, "N N"]
    cost: Float[np.ndarray, "N N"] | None
    metres: Float[np.ndarray, "N N"] | None = None
    distance_unit: str = ""
    speed: float | None = None
    per_hour: float = EACH_HOUR
    """Part of the cost, which is apart from it where there is a matrix of costs."""


def ways_of(
    document: dict[str, Any], vehicle: Vehicle, places: Sequence[Place | None], beside: Beside
) -> Ways:
    """How the nodes are reached."""
    given = _matrices(document, vehicle.profile)
    if given and (beside.matrix is not None or beside.speed is not None):
        raise Unreadable("has matrices of its own; expected no matrix and no speed beside it")
    if beside.matrix is not None:
        given = {"durations": beside.matrix.travel}
        if beside.matrix.cost is not None and beside.matrix.distance_unit == "m":
            given["distances"] = beside.matrix.cost
        elif beside.matrix.cost is not None:
            given["costs"] = beside.matrix.cost
    return _looked_up(given, vehicle, places) if given else _measured(vehicle, places, beside.speed)


def _looked_up(
    given: dict[str, np.ndarray], vehicle: Vehicle, places: Sequence[Place | None]
) -> Ways:
    if "durations" not in given:
        raise Unreadable(f"'matrices.{vehicle.profile}' has no 'durations'; expected travel times")
    size = len(given["durations"])
    indices = []
    for place in places:
        index = 0 if place is None else place.index
        if index is None:
            raise Unreadable(
                "a task or the vehicle has no index where there are matrices; expected 'location_index'"
            )
        if index >= size:
            raise Unreadable(f"'location_index' is {index}; the matrix has rows 0 to {size - 1}")
        indices.append(index)
    grid = np.ix_(indices, indices)
    travel = given["durations"][grid] * vehicle.pace
    apart = given["distances"][grid] if "distances" in given else None
    cost = _cost(travel, apart, given["costs"][grid] if "costs" in given else None, vehicle)
    per_hour = 0.0 if "costs" in given else vehicle.per_hour
    return _from_nowhere(Ways(travel, cost, apart, per_hour=per_hour), places)


def _measured(vehicle: Vehicle, places: Sequence[Place | None], speed: float | None) -> Ways:
    points = [(0.0, 0.0) if place is None else place.point for place in places]
    if not all(place is None or place.on_earth for place in places):
        raise Unreadable(
            "has no 'matrices', and not every task and end has a 'location' in degrees; expected one of these"
        )
    if speed is None:
        raise Unreadable(
            "has no 'matrices', and Fairway asks no routing engine; give a matrix of travel times (--matrix), or a "
            "speed in km/h (--speed 40)"
        )
    legs = over_land(np.array(points), speed, unit=1.0)
    travel = legs.travel * vehicle.pace
    metres = legs.travel * (speed / 3.6)
    pace = legs.speed if vehicle.pace == 1.0 else None
    ways = Ways(
        travel,
        _cost(travel, metres, None, vehicle),
        metres,
        "km" if pace else "",
        pace,
        vehicle.per_hour,
    )
    return _from_nowhere(ways, places)


def _cost(
    travel: np.ndarray, metres: np.ndarray | None, costs: np.ndarray | None, vehicle: Vehicle
) -> np.ndarray | None:
    """What VROOM minimises, or None where that is travel itself."""
    if costs is not None:
        if vehicle.per_hour != EACH_HOUR or vehicle.per_km:
            raise Unreadable(
                "there are both 'costs' of the vehicle and a matrix of costs; expected one of them"
            )
        return costs
    if vehicle.per_hour == EACH_HOUR and not vehicle.per_km:
        return None
    if vehicle.per_km and metres is None:
        raise Unreadable("'costs.per_km' needs 'distances' beside the durations; expected them")
    by_road = 0.0 if metres is None else metres * (vehicle.per_km / 1000.0)
    return travel * (vehicle.per_hour / EACH_HOUR) + by_road


def _from_nowhere(ways: Ways, places: Sequence[Place | None]) -> Ways:
    """Where the vehicle has no start, the tour begins at its first task."""
    if places[0] is not None:
        return ways
    for matrix in (ways.travel, ways.cost, ways.metres):
        if matrix is not None:
            matrix[0, :] = 0.0
            matrix[:, 0] = 0.0
    return ways


def _matrices(document: dict[str, Any], profile: str) -> dict[str, np.ndarray]:
    """The matrices of the vehicle's profile; the old key `matrix` is for durations of any."""
    given = document.get("matrices")
    if given is None:
        old = document.get("matrix")
        return {} if old is None else {"durations": _square(old, "matrix")}
    if isinstance(given, dict) and given and profile not in given:
        others = ", ".join(map(shortened, list(given)[:3]))
        raise Unreadable(
            f"the vehicle's profile is {shortened(profile)} and there are matrices of {others}"
        )
    if not isinstance(given, dict) or not isinstance(given.get(profile), dict):
        found = described(given.get(profile) if isinstance(given, dict) else given)
        raise Unreadable(f"'matrices.{profile}' is {found}; expected an object with durations")
    for key in given[profile]:
        if key not in KINDS:
            raise Unreadable(
                f"the key {shortened(key)} in 'matrices' is unknown; expected {', '.join(KINDS)}"
            )
    found = {
        key: _square(value, f"matrices.{profile}.{key}") for key, value in given[profile].items()
    }
    if len({len(matrix) for matrix in found.values()}) > 1:
        raise Unreadable("the matrices have different sizes; expected the same places in each")
    return found


def _square(value: object, key: str) -> np.ndarray:
    return rows(value, key, len(value) if isinstance(value, list) else 0)
