"""One tour of one vehicle, as its user states it: what is asked of time, load, order, optional stops and ends.

Every question may be absent: a neutral value then stands for it, so that nothing that reads an instance has to ask
which problem it is. `TSPTW` and `TSPDL` make instances with time windows alone and with draft limits alone.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from fairway.errors import InvalidRequest
from fairway.problems import checks, notes
from fairway.problems.distances import euclidean
from fairway.problems.source import Source

TOLERANCE = 1e-6
"""How far, in the instance's own units, a limit may be passed before it counts; zero where all numbers are whole."""

Load = Literal["growing", "shrinking", "signed"]
"""Whether the vehicle collects along its tour, leaves full and delivers, or does both."""
Windows = dict[int, tuple[tuple[float, float], ...]]
Pairs = tuple[tuple[int, int], ...]
Vector = Float[np.ndarray, " N"]
PER_NODE = ("service", "opens", "closes", "late", "latest", "demand", "loaded", "draft", "prize")
"""The fields that hold a number for each node."""


@dataclass(frozen=True, slots=True, eq=False, init=False, weakref_slot=True)
class Instance:
    """Stops to visit on one tour at least cost, in the units of its source. Node 0 is the depot, where the tour starts.

    Time: the tour leaves the depot as it opens. Who arrives early waits; service must start, not end, inside the
    window. Load: a growing load counts the stop's own demand on top of what was collected before it; a shrinking load
    is what is still on board on arrival. The depot's own draft is not checked. A tour is always given in the
    instance's own direction.
    """

    travel: Float[np.ndarray, "N N"]
    """Time from row to column; need be neither symmetric nor metric. Infinite, as in cost, where there is no way."""
    cost: Float[np.ndarray, "N N"]
    """What is minimised; travel itself where nothing else is given, so that a copy with other travel asks for None."""
    service: Vector
    """Time spent at each node once service has started."""
    opens: Vector
    """Earliest start of service; who comes before waits."""
    closes: Vector
    """Latest start of service."""
    windows: Windows
    """Several windows of a stop, in place of its `opens` and `closes`."""
    late: Vector
    """Price per unit of lateness; infinite where the window is hard."""
    latest: Vector
    """Last permitted start where lateness has a price."""
    demand: Vector
    """What each stop adds to the load; with a signed load, less than nothing where it is taken off."""
    loaded: Vector
    """What is loaded at the depot for each stop that is visited, where demands are signed."""
    draft: Vector
    """Most load at each stop."""
    capacity: float
    """Most load of the vehicle, wherever it is."""
    load: Load
    """Whether the load grows, shrinks, or is signed and does both."""
    aboard: float
    """Load on leaving the depot besides what is loaded for stops, where demands are signed."""
    before: Pairs
    """(a, b): b only after a."""
    pairs: Pairs
    """(pickup, delivery): in this order, and both or neither."""
    prize: Vector
    """Price of leaving a stop out; infinite where it must be served."""
    breaks: tuple[tuple[float, float, float], ...]
    """(earliest start, latest start, length)."""
    end: int | None
    """Where the tour ends: back at the depot, at another node, or None for its last stop."""
    coordinates: Float[np.ndarray, "N 2"] | None
    """For pictures and features only; travel is what counts."""
    names: tuple[str, ...] | None
    """Of the nodes, the depot first."""
    name: str
    """Of the instance, as in its file."""
    source: Source | None
    """What else the user's file says, for answers; not part of what is solved."""
    constraints: tuple[str, ...] = field(init=False)
    """What it asks for, in words."""

    def __init__(  # noqa: PLR0913 - the names are the documentation
        self,
        travel: ArrayLike,
        *,
        cost: ArrayLike | None = None,
        service: ArrayLike = 0.0,
        opens: ArrayLike | None = None,
        closes: ArrayLike | None = None,
        windows: Mapping[int, Sequence[tuple[float, float]]] | None = None,
        late: ArrayLike | None = None,
        latest: ArrayLike | None = None,
        demand: ArrayLike | None = None,
        loaded: ArrayLike | None = None,
        draft: ArrayLike | None = None,
        capacity: float | None = None,
        load: str = "growing",
        aboard: float = 0.0,
        before: Sequence[tuple[int, int]] = (),
        pairs: Sequence[tuple[int, int]] = (),
        prize: ArrayLike | None = None,
        breaks: Sequence[tuple[float, float, float]] = (),
        end: int | None = 0,
        coordinates: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        name: str = "",
        source: Source | None = None,
    ) -> None:
        nodes, one_way = len(square := checks.matrix(travel, infinite=True)), load != "signed"
        spent, most = travel if cost is None else cost, math.inf if capacity is None else capacity
        own = square if spent is travel else checks.matrix(spent, "cost", nodes, infinite=True)
        checked = {
            "travel": square,
            "cost": own,
            "service": checks.vector(service, "service", nodes, non_negative=True, absent=0.0),
            "opens": checks.vector(opens, "opens", nodes, absent=0.0),
            "closes": checks.vector(closes, "closes", nodes, absent=math.inf),
            "windows": checks.windows({} if windows is None else windows, nodes),
            "late": checks.vector(late, "late", nodes, non_negative=True, absent=math.inf),
            "latest": checks.vector(latest, "latest", nodes, absent=math.inf),
            "demand": checks.vector(demand, "demand", nodes, non_negative=one_way, absent=0.0),
            "loaded": checks.vector(loaded, "loaded", nodes, non_negative=True, absent=0.0),
            "draft": checks.vector(draft, "draft", nodes, non_negative=True, absent=math.inf),
            "capacity": checks.amount(most, "capacity", infinite=True),
            "load": checks.choice(load, "load", ("growing", "shrinking", "signed")),
            "aboard": checks.amount(aboard, "aboard"),
            "before": checks.node_pairs(before, "before", nodes),
            "pairs": checks.node_pairs(pairs, "pairs", nodes),
            "prize": checks.vector(prize, "prize", nodes, non_negative=True, absent=math.inf),
            "breaks": checks.breaks(breaks),
            "end": checks.end(end, nodes),
            "coordinates": checks.points(coordinates, nodes),
            "names": checks.stop_names(names, nodes),
            "name": checks.title(name),
            "source": checks.source(source, nodes),
        }
        for field_name, value in checked.items():
            object.__setattr__(self, field_name, value)
        checks.ordered_windows(self.opens, self.closes)
        checks.cargo_of_stops(self.demand, self.loaded, load)
        object.__setattr__(self, "constraints", _stated(self))

    @property
    def nodes(self) -> int:
        """How many nodes there are, the depot included."""
        return len(self.travel)

    @property
    def timed(self) -> bool:
        """Whether time is asked about; so it is where nothing else is."""
        return "time windows" in self.constraints

    @property
    def laden(self) -> bool:
        """Whether the load is asked about."""
        return "draft limits" in self.constraints or "a capacity" in self.constraints

    @property
    def integral(self) -> bool:
        """Whether all that is compared with limits is whole, so that no tolerance is needed."""
        return (not self.timed or self.whole_times) and (not self.laden or self.whole_loads)

    @property
    def whole_times(self) -> bool:
        """Whether all times are whole numbers, so that a schedule is exact."""
        columns = (self.travel, self.opens, self.closes, self.service, self.latest)
        spans = [*self.windows.values(), self.breaks]
        return checks.is_integral(*columns, *(np.array(span) for span in spans))

    @property
    def whole_loads(self) -> bool:
        """Whether all loads are whole numbers, so that comparing them with limits is exact."""
        amounts = np.array([self.capacity, self.aboard])
        return checks.is_integral(self.demand, self.loaded, self.draft, amounts)

    @property
    def is_euclidean(self) -> bool:
        """Whether the coordinates give back the travel matrix to the last bit."""
        points = self.coordinates
        return points is not None and np.array_equal(euclidean(points), self.travel)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is unusual about this instance, in sentences."""
        return (*self.unit_notes, *notes.travel_notes(self.travel, self.names))

    @property
    def unit_notes(self) -> tuple[str, ...]:
        """Those of the notes that say that units do not fit or times were not read, which are quick to have."""
        source, points = self.source, self.coordinates
        days = () if source is None else source.day_notes
        on_earth = source is not None and source.geographic and points is not None
        return (*days, *(notes.polar_notes(points) if on_earth else ()), *self._time_notes())

    def _time_notes(self) -> tuple[str, ...]:
        if self.source is not None and not (
            self.windows or _finite(self.closes) or self.opens.any()
        ):
            return self.source.notes
        last = self.closes.copy()
        for node, spans in self.windows.items():
            last[node] = spans[-1][1]
        if not np.isfinite(last[1:]).all():
            return ()
        degrees = notes.unit_notes(self.coordinates, self.travel, self.opens, last)
        if degrees or _finite(self.prize) or _finite(self.late):
            return degrees
        return notes.far_notes(self.travel, self.service, float(last[1:].max() - self.opens.min()))

    @property
    def problem(self) -> str:
        """The classic problem that it is: "tsptw", "tspdl", or "tour" for any other."""
        match self.constraints:
            case ("time windows",):
                return "tsptw"
            case ("draft limits",):
                return "tspdl"
            case _:
                return "tour"

    @property
    def classic(self) -> bool:
        """Whether it has time windows alone or draft limits alone."""
        return self.problem != "tour"

    def restricted(
        self, nodes: Sequence[int], travel: Float[np.ndarray, "K K"] | None = None
    ) -> "Instance":
        """The same asked of some nodes alone, the depot first and an end of its own among them.

        With their own travel, which is what counts then, or with travel and cost between them. What is asked of two
        nodes stays where both do.
        """
        kept = list(nodes)
        place, between = {node: at for at, node in enumerate(kept)}, np.ix_(kept, kept)
        apart = travel is None and self.cost is not self.travel
        return Instance(
            self.travel[between] if travel is None else travel,
            **{column: getattr(self, column)[kept] for column in PER_NODE},
            cost=self.cost[between] if apart else None,
            windows={place[node]: spans for node, spans in self.windows.items() if node in place},
            capacity=self.capacity,
            load=self.load,
            aboard=self.aboard,
            before=[(place[a], place[b]) for a, b in self.before if a in place and b in place],
            pairs=[(place[a], place[b]) for a, b in self.pairs if a in place and b in place],
            breaks=self.breaks,
            end=None if self.end is None else place[self.end],
            coordinates=None if self.coordinates is None else self.coordinates[kept],
            names=None if self.names is None else [self.names[node] for node in kept],
            name=self.name,
            source=None if self.source is None else self.source.restricted(kept),
        )

    def time_text(self, time: float) -> str:
        """A time in a sentence: of day where the file had such, else the number."""
        clock = None if self.source is None else self.source.clock
        return f"{time:.8g}" if clock is None or math.isinf(time) else clock.show(time)

    def duration_text(self, duration: float) -> str:
        """A stretch of time in a sentence: hours and minutes where the file had times of day, else the number."""
        clock = None if self.source is None else self.source.clock
        return f"{duration:.6g}" if clock is None else clock.lasting(duration)

    def resume(
        self,
        visited: Sequence[int],
        at: int | None,
        time: float,
        *,
        aboard: float | None = None,
        rested: Sequence[int] = (),
    ) -> "Instance":
        """What is left of a plan in progress: a tour that starts at a place and time, and ends as this one does.

        Its nodes keep their names, or have their numbers here as names. Breaks that should have begun are over.

        Args:
            visited: The stops that have been served, in order.
            at: The node where the vehicle is; None for the last one visited, or the depot.
            time: When it can leave there.
            aboard: What is on board; by default what the stops visited have brought.
            rested: The breaks that have been taken, as numbers among `breaks`.
        """
        from fairway.problems.resume import resumed

        return resumed(self, visited, at, time, aboard, rested)

    def reversed(self) -> "Instance":
        """The same with the load running the other way: every tour of it is a tour of this one backwards."""
        assert not self.timed, "time runs one way only"
        turned = "shrinking" if self.load == "growing" else "growing"
        return replace(self, travel=self.travel.T, cost=None, load=turned)


def TSPTW(  # noqa: N802 - the problem's own name
    travel: ArrayLike,
    opens: ArrayLike,
    closes: ArrayLike,
    service: ArrayLike = 0.0,
    coordinates: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    name: str = "",
) -> Instance:
    """The travelling salesman with time windows: serve every stop inside its window, at least travel.

    Node 0 is the depot: the tour leaves it when it opens and must be back before it closes. Waiting and service take
    time but cost nothing.
    """
    instance = Instance(
        travel,
        opens=opens,
        closes=closes,
        service=service,
        coordinates=coordinates,
        names=names,
        name=name,
    )
    checks.finite(instance.travel, "travel")
    checks.finite(instance.closes, "closes")
    return instance


def TSPDL(  # noqa: N802 - the problem's own name
    travel: ArrayLike,
    demand: ArrayLike,
    draft: ArrayLike,
    load: str = "growing",
    coordinates: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    name: str = "",
) -> Instance:
    """The travelling salesman with draft limits: call at every port no deeper than its draft allows, at least travel.

    Growing and shrinking loads are the same constraint read from the other end of the tour.
    """
    instance = Instance(
        travel,
        demand=demand,
        draft=draft,
        load=checks.choice(load, "load", ("growing", "shrinking")),
        coordinates=coordinates,
        names=names,
        name=name,
    )
    checks.finite(instance.travel, "travel")
    checks.finite(instance.draft, "draft")
    return instance


def check_classic(instance: Instance, what: str) -> None:
    """Refuse what serves the classic problems alone."""
    if not instance.classic:
        raise InvalidRequest(
            f"the instance asks for {' and '.join(instance.constraints)}; {what} time windows alone or draft limits "
            "alone so far"
        )


def _stated(instance: Instance) -> tuple[str, ...]:
    """All that an instance asks for."""
    limited, drafts = math.isfinite(instance.capacity), _finite(instance.draft)
    laden = limited or drafts or bool(instance.demand.any())
    timed = _finite(instance.closes) or instance.opens.any() or instance.service.any()
    stated = {
        "a cost apart from travel": instance.cost is not instance.travel,
        "closed ways": math.isinf(max(instance.travel.max(), instance.cost.max())),
        "time windows": bool(timed) or not laden or bool(instance.windows),
        "several windows per stop": bool(instance.windows),
        "a price of lateness": _finite(instance.late) or _finite(instance.latest),
        "draft limits": drafts or (laden and not limited),
        "a capacity": limited,
        "signed loads": instance.load == "signed",
        "an order of stops": bool(instance.before),
        "pickups and deliveries": bool(instance.pairs),
        "optional stops": _finite(instance.prize),
        "breaks": bool(instance.breaks),
        "an end of its own": instance.end != 0,
    }
    return tuple(words for words, there in stated.items() if there)


def _finite(values: Vector) -> bool:
    return bool(np.isfinite(values).any())
