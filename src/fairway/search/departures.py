"""The shortest duration by departures: the tour that is back first for one departure after the other.

Who leaves later is never back earlier. So if whoever leaves at p is back at m at the earliest, a departure d from p on
makes a duration of m - d at least, and the next that can be better than the best so far is the first for which that is
less. Where all times are whole numbers, so is the best departure.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from fairway import clock
from fairway.judge import Solution, verify
from fairway.kernels.general.tour_model import MAKESPAN, TourModel, tour_model_of
from fairway.problems.instance import Instance
from fairway.search.exact import Proof, Stage, Statistics
from fairway.search.proving import Proving

FIRST = 8
"""Departures that are looked at together at first: twice as many after each time that none was better."""


def by_departure(
    instance: Instance, stages: Sequence[Stage], *, upper: float, seconds: float, memory: int
) -> Proof:
    """The tour of the shortest duration below the upper bound, with a proof, as far as time and memory go.

    Args:
        instance: One with whole times, whose lateness has no price.
        stages: Beams on the way to each proof.
        upper: The value of a tour that is known, or infinite.
        seconds: Of work, from now on.
        memory: Bytes that labels may take, about.
    """
    search = _Search(instance, stages, upper, memory, seconds)
    for first, last in _departures(search.free):
        search.through(first, last)
    return search.proof()


def _departures(tour: TourModel) -> Iterator[tuple[float, float]]:
    """When a tour may leave, in each window; later than everything opens there is nothing to wait for."""
    moments = np.concatenate((tour.windows[:, 0], tour.breaks[:, 0]))
    opened = float(moments[np.isfinite(moments)].max(initial=-np.inf))
    for first, last in tour.leaving.tolist():
        yield first, min(last, max(first, opened))


class _Search:
    """The best tour so far, and what it took."""

    def __init__(
        self,
        instance: Instance,
        stages: Sequence[Stage],
        upper: float,
        memory: int,
        seconds: float,
    ) -> None:
        self.instance, self.stages = instance, stages
        self.upper, self.memory = float(upper), memory
        self.began = clock.now()
        self.until = self.began + seconds
        self.free = tour_model_of(instance, "duration")
        self.tour: tuple[int, ...] | None = None
        self.value = self.open = math.inf
        """Of the best tour; and what those are worth at least that there was no time for."""
        self.spent: list[Statistics] = []

    @property
    def best(self) -> float:
        """What a tour must be better than."""
        return min(self.value, self.upper)

    def through(self, first: float, last: float) -> None:
        """Look for better tours that leave from first to last."""
        together = FIRST
        while first <= last:
            final = min(first + together - 1, last)
            found = self.earliest(first, final + self.best)
            self.spent.append(found.statistics)
            if found.status == "truncated":
                self.open = min(self.open, max(found.lower_bound - last, self.least()))
                return
            if found.status == "infeasible":
                return
            if found.tour is None:
                first, together = final + 1, 2 * together
                continue
            self.consider(found.tour)
            first = max(first, float(math.floor(found.cost - self.best))) + 1

    def least(self) -> float:
        """What no tour can be worth less than, whenever it leaves."""
        search = Proving(self.free, self.upper, self.memory, math.inf)
        return search.lower if search.begun() else -math.inf

    def earliest(self, departure: float, upper: float) -> Proof:
        """The tour that leaves then and is back first, before a time."""
        leaving = np.array([[departure, departure]])
        tour = self.free._replace(objective=MAKESPAN, leaving=leaving)
        search = Proving(tour, upper, self.memory, self.until - clock.now())
        search.through(self.stages)
        return search.proof()

    def consider(self, tour: tuple[int, ...]) -> None:
        """Remember a tour if it is the best; its best departure may be another than that it was found for."""
        judged = verify(self.instance, tour, objective="duration")
        if isinstance(judged, Solution) and judged.value < self.best:
            self.tour, self.value = tour, judged.value

    def proof(self) -> Proof:
        """What is known."""
        status = "truncated"
        if self.open == math.inf:
            without = "infeasible" if math.isinf(self.upper) else "bounded"
            status = without if self.tour is None else "optimal"
        statistics = Statistics(
            sum(each.made for each in self.spent),
            sum(each.kept for each in self.spent),
            max((each.widest for each in self.spent), default=0),
            clock.now() - self.began,
        )
        return Proof(status, self.tour, self.value, min(self.best, self.open), statistics)
