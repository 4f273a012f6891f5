"""The distributions that the published instances follow, with their parameters, and how to draw from them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from fairway.errors import InvalidRequest
from fairway.given import is_real, is_whole, shown
from fairway.problems.checks import LARGEST, MOST_NODES
from fairway.problems.sets import InstanceSet, Locations

Arrays = dict[str, np.ndarray]
"""The coordinates and the columns of a set, by name."""


def _are_numbers(*values: object) -> bool:
    """Whether they are numbers that coordinates and times may be."""
    return all(is_real(value) and abs(value) <= LARGEST for value in values)


@dataclass(frozen=True, slots=True)
class RandomWindows:
    """Easy and medium TSPTW: windows of random width opening at random times; nothing guarantees that a tour exists."""

    width: tuple[float, float]
    """Range of a window's width, as a share of the time a random tour takes."""
    pace: float = 55.0
    """The time a random tour takes for each node; windows open before n times that."""
    side: float = 100.0
    """Of the square in which the nodes lie."""

    def __post_init__(self) -> None:
        width = self.width if isinstance(self.width, Sequence) else ()
        numbers = len(width) == 2 and _are_numbers(*width, self.pace, self.side)
        if not (numbers and 0 <= width[0] <= width[1] and self.pace > 0 and self.side > 0):
            raise InvalidRequest(
                f"{shown(self)} is no distribution; expected 0 <= low <= high width, pace and side above 0"
            )

    def tour_time(self, nodes: int) -> int:
        """About how long a tour in random order takes; windows open before that."""
        return max(1, int(self.pace * nodes))

    def windows(self, opens: Any, shares: Any) -> dict[str, Any]:  # noqa: ANN401 - numpy's or torch's
        """Windows that open at these times, their widths in shares of the tour time; the depot is open throughout."""
        tour_time = self.tour_time(opens.shape[1])
        closes = (opens + (tour_time * shares).round()).clip(max=2 * tour_time)
        opens[:, 0], closes[:, 0] = 0, 2 * tour_time
        return {"opens": opens, "closes": closes}


@dataclass(frozen=True, slots=True)
class TourWindows:
    """Hard TSPTW: narrow windows around the arrivals of a hidden random tour, which therefore keeps them all."""

    eta: float = 50.0
    """The most by which a window opens before, or closes after, the hidden tour's arrival."""
    side: float = 100.0
    depot_closes: float = 100_000.0
    """Later where the last stop's window asks for it."""

    def __post_init__(self) -> None:
        numbers = _are_numbers(self.eta, self.side, self.depot_closes)
        if not (numbers and self.eta >= 0 and self.side > 0 and self.depot_closes > 0):
            raise InvalidRequest(
                f"{shown(self)} is no distribution; expected eta >= 0, side and depot_closes above 0"
            )

    def windows(
        self,
        points: Float[np.ndarray, "B N 2"],
        tours: Int[np.ndarray, "B M"],
        early: Float[np.ndarray, "B M"],
        late: Float[np.ndarray, "B M"],
    ) -> Arrays:
        """Windows around the arrivals of the tours, in shares of eta before and after, to the points' precision."""
        row = np.arange(len(points))[:, None]
        along = points[row, np.pad(tours, ((0, 0), (1, 0)))]
        arrivals = np.cumsum(np.sqrt(np.square(np.diff(along, axis=1)).sum(-1)), axis=1)
        opens = np.zeros_like(points[..., 0])
        closes = np.zeros_like(opens)
        opens[row, tours] = arrivals - self.eta + self.eta * early
        closes[row, tours] = arrivals + self.eta * late
        # From about 1,900 nodes on, the last stop is served after the depot would have closed.
        home = np.sqrt(np.square(along[:, -1] - along[:, 0]).sum(-1))
        closes[:, 0] = np.maximum(self.depot_closes, closes[row[:, 0], tours[:, -1]] + home)
        return {"opens": opens, "closes": closes}


@dataclass(frozen=True, slots=True)
class LoweredDrafts:
    """TSPDL with unit demands: sigma percent of the ports have a lowered draft, drawn so that a tour exists."""

    sigma: float

    def __post_init__(self) -> None:
        if not (_are_numbers(self.sigma) and 0 <= self.sigma <= 100):
            raise InvalidRequest(
                f"sigma is {shown(self.sigma)}; expected a percentage from 0 to 100"
            )

    def lowered(self, nodes: int) -> int:
        """How many ports are lowered: at most n - 2, since more could never all be served."""
        return min(int(nodes * self.sigma // 100), max(0, nodes - 2))

    def loads(
        self, nodes: int, ports: Int[np.ndarray, "B K"], drafts: Int[np.ndarray, "B K"]
    ) -> Arrays:
        """Unit demands, and drafts that are lowered at some ports."""
        draft = np.full((len(ports), nodes), nodes - 1.0)
        draft[np.arange(len(ports))[:, None], ports] = drafts
        demand = np.ones_like(draft)
        demand[:, 0] = 0
        return {"demand": demand, "draft": draft}


MOST_DRAWN = 10**8
"""Nodes in one set; more would not fit the memory of most machines, and is drawn in parts."""

Distribution = RandomWindows | TourWindows | LoweredDrafts

DISTRIBUTIONS: dict[tuple[str, str], Distribution] = {
    ("tsptw", "easy"): RandomWindows(width=(0.5, 0.75)),
    ("tsptw", "medium"): RandomWindows(width=(0.1, 0.2)),
    ("tsptw", "hard"): TourWindows(),
    ("tspdl", "easy"): LoweredDrafts(sigma=50),
    ("tspdl", "medium"): LoweredDrafts(sigma=75),
    ("tspdl", "hard"): LoweredDrafts(sigma=90),
}
"""The paper's distributions by name."""


def generate(
    problem: str,
    *,
    n: int,
    hardness: str | Distribution = "hard",
    count: int = 1,
    seed: int | np.random.Generator = 0,
) -> InstanceSet:
    """Draw a set of instances from one of the paper's distributions, or from one with other parameters.

    Args:
        problem: "tsptw" or "tspdl".
        n: Number of nodes, the depot included.
        hardness: "easy", "medium" or "hard", or a distribution such as `TourWindows(eta=100)`.
        count: How many instances.
        seed: Equal seeds give equal sets.
    """
    distribution = named_distribution(problem, hardness)
    if not is_whole(n) or not 2 <= n <= MOST_NODES:
        raise InvalidRequest(
            f"n is {shown(n)}; expected 2 to {MOST_NODES} nodes, the depot included"
        )
    if not is_whole(count) or not 1 <= count <= MOST_DRAWN // n:
        raise InvalidRequest(
            f"count is {shown(count)}; expected at least 1, and at most {MOST_DRAWN:,} nodes in all"
        )
    rng = seed if isinstance(seed, np.random.Generator) else _generator(seed)
    match distribution:
        case RandomWindows():
            return random_windows(distribution, n, count, rng)
        case TourWindows():
            return tour_windows(distribution, n, count, rng)[0]
        case LoweredDrafts():
            return lowered_drafts(distribution, n, count, rng)


def named_distribution(problem: str, hardness: str | Distribution) -> Distribution:
    """The distribution meant by a problem and a hardness, checked to fit each other."""
    distribution = hardness if isinstance(hardness, Distribution) else None
    if isinstance(problem, str) and isinstance(hardness, str):
        distribution = DISTRIBUTIONS.get((problem, hardness))
    fits = isinstance(distribution, LoweredDrafts) == (problem == "tspdl")
    if distribution is None or problem not in ("tsptw", "tspdl") or not fits:
        raise InvalidRequest(
            f"there is no distribution for problem {shown(problem)} with hardness {shown(hardness)}; expected tsptw "
            "or tspdl with easy, medium or hard, or a distribution of that problem"
        )
    return distribution


def random_windows(
    distribution: RandomWindows, n: int, count: int, rng: np.random.Generator
) -> InstanceSet:
    """Draw easy or medium TSPTW instances."""
    coordinates = _points(n, count, distribution.side, rng)
    opens = rng.integers(0, distribution.tour_time(n), (count, n)).astype(np.float64)
    windows = distribution.windows(opens, rng.uniform(*distribution.width, (count, n)))
    return as_set({"coordinates": coordinates, **windows}, f"tsptw{n}", distribution.side)


def tour_windows(
    distribution: TourWindows, n: int, count: int, rng: np.random.Generator
) -> tuple[InstanceSet, Int[np.ndarray, "B M"]]:
    """Draw hard TSPTW instances, and the hidden tour of each."""
    coordinates = _points(n, count, distribution.side, rng)
    tours = rng.permuted(np.tile(np.arange(1, n), (count, 1)), axis=1)
    windows = distribution.windows(coordinates, tours, *rng.random((2, count, n - 1)))
    return as_set({"coordinates": coordinates, **windows}, f"tsptw{n}", distribution.side), tours


def lowered_drafts(
    distribution: LoweredDrafts, n: int, count: int, rng: np.random.Generator
) -> InstanceSet:
    """Draw TSPDL instances by rejection, as the paper does."""
    lowered = distribution.lowered(n)
    coordinates = _points(n, count, 1.0, rng)
    ports = rng.permuted(np.tile(np.arange(1, n), (count, 1)), axis=1)[:, :lowered]
    drafts = np.zeros((count, lowered), int)
    waiting = np.arange(count if lowered else 0)
    while waiting.size:
        drafts[waiting] = rng.integers(1, n - 1, (waiting.size, lowered))
        waiting = waiting[~servable(drafts[waiting])]
    return as_set(
        {"coordinates": coordinates, **distribution.loads(n, ports, drafts)}, f"tspdl{n}", 1.0
    )


def as_set(arrays: Arrays, name: str, scale: float) -> InstanceSet:
    """Drawn arrays as a set; service takes no time."""
    columns: dict[str, Any] = {"service": 0.0} | arrays if "opens" in arrays else dict(arrays)
    return InstanceSet(Locations(columns.pop("coordinates")), **columns, name=name, scale=scale)


def servable(drafts: Int[np.ndarray, "B K"]) -> Bool[np.ndarray, " B"]:
    """Which rows of lowered drafts leave a tour: for every load v, at most v of them are v or less."""
    return np.all(np.sort(drafts, axis=1) >= np.arange(1, drafts.shape[1] + 1), axis=1)


def _points(
    n: int, count: int, side: float, rng: np.random.Generator
) -> Float[np.ndarray, "B N 2"]:
    """Uniform in the square, with the float32 resolution of the published sets."""
    return (rng.random((count, n, 2)) * side).astype(np.float32).astype(np.float64)


def _generator(seed: int) -> np.random.Generator:
    if not is_whole(seed) or seed < 0:
        raise InvalidRequest(f"the seed is {shown(seed)}; expected a whole number, zero or more")
    return np.random.default_rng(seed)
