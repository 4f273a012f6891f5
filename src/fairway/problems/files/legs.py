"""How the stops of a table are reached: by a matrix beside it, along the earth at a stated speed, or in a plane."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from fairway.problems import checks
from fairway.problems.distances import EARTH, Distances, great_circle
from fairway.problems.files.text import Unreadable, check_size, shortened, travel_between

MINUTE = 60.0
"""Seconds."""
ASTRAY, NEARBY = 1.0, 0.1
"""Kilometres from which on a stop cannot be that of a row, and up to which it is."""


@dataclass(frozen=True, slots=True)
class Legs:
    """The time and cost from stop to stop, and where the stops are."""

    travel: Float[np.ndarray, "N N"]
    cost: Float[np.ndarray, "N N"] | None = None
    points: Float[np.ndarray, "N 2"] | None = None
    geographic: bool = False
    """Whether points are longitude and latitude."""
    distance_unit: str = ""
    speed: float | None = None
    """Distance per unit of time, where travel is distance at one speed."""

    @property
    def cost_or_travel(self) -> Float[np.ndarray, "N N"]:
        """What is minimised."""
        return self.travel if self.cost is None else self.cost

    def chosen(self, nodes: Sequence[int]) -> "Legs":
        """The same between some stops, in this order."""
        grid = np.ix_(nodes, nodes)
        return replace(
            self,
            travel=self.travel[grid],
            cost=None if self.cost is None else self.cost[grid],
            points=None if self.points is None else self.points[list(nodes)],
        )


@dataclass(frozen=True, slots=True)
class Matrix:
    """Times and distances that somebody else computed; infinite where there is no way."""

    travel: Float[np.ndarray, "N N"]
    """In seconds where `timed`, else in the unit of the stops' windows."""
    cost: Float[np.ndarray, "N N"] | None = None
    timed: bool = False
    distance_unit: str = ""
    names: tuple[str, ...] | None = None
    """Of the stops, where the matrix says them."""
    points: Float[np.ndarray, "N 2"] | None = None
    """Longitude and latitude, where the matrix says them."""

    def for_stops(
        self,
        count: int,
        names: Sequence[str] | None,
        points: Float[np.ndarray, "N 2"] | None,
        *,
        geographic: bool,
    ) -> Legs:
        """The legs between the stops of a table: matched by name where the matrix has the same names, else by row."""
        if len(self.travel) != count:
            raise Unreadable(
                f"the matrix is for {len(self.travel)} places and the table has {count} stops; expected a row and a "
                "column for each, the depot included, in the order of the table"
            )
        travel = self.travel / MINUTE if self.timed else self.travel
        if points is None:
            points, geographic = self.points, True
        elif geographic:
            self._check_places(points)
        legs = Legs(travel, self.cost, None, geographic, self.distance_unit)
        if self.names is not None and names is not None:
            row = {name: at for at, name in enumerate(self.names)}
            if missing := [name for name in names if name not in row]:
                raise Unreadable(
                    f"the matrix has no row for the stop {shortened(missing[0])}; expected the names of the table"
                )
            legs = legs.chosen([row[name] for name in names])
        return replace(legs, points=points)

    def _check_places(self, points: Float[np.ndarray, "N 2"]) -> None:
        """Refuse rows in another order than the stops, where the matrix says whose place each is."""
        if self.points is None or len(self.points) != len(points):
            return
        for row in np.flatnonzero(_apart(points, self.points) > ASTRAY).tolist():
            closest = _apart(points[row : row + 1], self.points)
            if closest.min() < NEARBY:
                raise Unreadable(
                    f"row {row + 1} of the matrix lies {closest[row]:.3g} km from stop {row + 1} of the table, and row "
                    f"{int(closest.argmin()) + 1} at it; expected the rows in the order of the table"
                )


def _apart(some: Float[np.ndarray, "K 2"], others: Float[np.ndarray, "N 2"]) -> np.ndarray:
    """Kilometres between places in pairs, near enough for small distances."""
    across, along = np.radians(others - some).T
    return EARTH * np.hypot(across * np.cos(np.radians(others[:, 1])), along)


@dataclass(frozen=True, slots=True)
class Beside:
    """What was given beside a file of stops."""

    distances: Distances | None = None
    matrix: Matrix | None = None
    speed: float | None = None
    """Kilometres per hour."""

    @property
    def timed(self) -> bool:
        """Whether travel comes in a known unit of time."""
        return self.matrix is not None and self.matrix.timed


def over_land(points: Float[np.ndarray, "N 2"], speed: float | None, unit: float = MINUTE) -> Legs:
    """Travel along great circles, in time units of so many seconds."""
    if speed is None:
        raise Unreadable(
            "has latitudes and longitudes, and nothing says how fast one travels; give a speed in km/h (--speed 40), "
            "or a matrix of travel times (--matrix)"
        )
    check_size(len(points))
    checks.points(points, len(points))
    pace = _checked(speed) * unit / 3600.0
    return Legs(great_circle(points) / pace, None, points, True, "km", pace)


def in_plane(
    points: Float[np.ndarray, "N 2"],
    distances: Distances | None,
    speed: float | None,
    *,
    hours: bool,
) -> Legs:
    """Travel in a plane: the distance itself or, with a speed, distance per hour where times are known as minutes."""
    apart = travel_between(points, distances or "float")
    if speed is None:
        return Legs(apart, points=points)
    pace = _checked(speed) / (60.0 if hours else 1.0)
    return Legs(apart / pace, points=points, speed=pace)


def _checked(speed: float) -> float:
    if not 0 < speed <= checks.LARGEST:
        raise Unreadable(f"the speed is {speed:g}; expected a number above 0")
    return speed
