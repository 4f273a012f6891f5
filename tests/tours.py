"""What a tour is worth under every constraint, and the best of all tours: slow, and written to be read.

It shares nothing with the judge, the solver or the kernels, so that they can be held against it. Numbers are exact:
floats where all are small multiples of 1/1024, so that no sum is ever rounded, and fractions otherwise.

Two things are chosen freely within a tour: under "duration" the departure, and while waiting the start of a break. Any
start on the way is then either fixed, or the chosen time plus travel, service and breaks. So the value is linear
between the chosen times at which some start meets a mark: an opening, a closing or a bound of a break, or the last
moment at which one that is passed is forgiven. Looking at all these times, and once between each two neighbours,
leaves nothing out.
"""

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from sketches import drawn

__all__ = ["Judgement", "best", "drawn", "judged"]

FORGIVEN = 1e-6
"""By how much a limit may be passed where numbers are not whole, as docs/concepts.md has it of the judge."""


@dataclass(frozen=True)
class Judgement:
    """What a tour that keeps everything is worth, with its best schedule."""

    value: float
    """What is minimised, the prizes of stops left out and the price of lateness included."""
    cost: float
    makespan: float
    duration: float
    lateness: float
    """Total time late, whatever its price."""
    unserved: tuple[int, ...]
    starts: tuple[float, ...]
    """When the service of each stop starts, and last that of an end other than the depot."""
    departure: float
    """When the tour leaves the depot, its service there done."""


class _Case(NamedTuple):
    """An instance in exact numbers; a window is (opens, closes), a break (earliest start, latest start, length)."""

    travel: list
    cost: list
    service: list
    windows: list
    late: list
    latest: list
    demand: list
    loaded: list
    """What is aboard from the start for each node that is visited."""
    deepest: list
    """Most load at each node, of its draft and the capacity."""
    capacity: float
    load: str
    aboard: float
    order: tuple
    """(a, b): b only after a; of `before` and of `pairs`."""
    pairs: tuple
    prize: list
    breaks: tuple
    end: int | None
    tolerance: float
    """By how much a limit on time may be passed."""
    heavier: float
    """By how much a limit on the load may be passed."""

    @property
    def stops(self):
        """All that a tour may list."""
        return [node for node in range(1, len(self.travel)) if node != self.end]

    def route(self, stops):
        """The nodes of a tour from start to end."""
        return (0, *stops) if self.end is None else (0, *stops, self.end)


class _Schedule(NamedTuple):
    """One way to drive a tour. Schedules compare by value first, then by the earlier end."""

    value: float
    makespan: float
    lateness: float
    starts: tuple
    begins: float
    """When service at the depot starts."""


def judged(instance, stops, objective="cost", tolerance=None):
    """What visiting these stops in this order is worth; None where it breaks a constraint.

    Any limit may be passed by the tolerance; if none is given, by what the judge forgives: nothing where times, or
    loads, are whole, else `FORGIVEN`, lest a sum that was rounded on drawing an instance decide.
    """
    case, stops = _case(instance, tolerance), tuple(stops)
    schedule = _scheduled(case, stops, objective)
    if schedule is None:
        return None
    departure = schedule.begins + case.service[0]
    return Judgement(
        value=float(schedule.value),
        cost=float(_cost(case, case.route(stops))),
        makespan=float(schedule.makespan),
        duration=float(schedule.makespan - departure),
        lateness=float(schedule.lateness),
        unserved=tuple(stop for stop in case.stops if stop not in stops),
        starts=tuple(map(float, schedule.starts)),
        departure=float(departure),
    )


def best(instance, objective="cost", drop="price", tolerance=None):
    """The least value and a tour that has it, of all orders of all stops that may be visited; None without a tour.

    The tolerance is that of `judged`. With drop="fewest" as few stops as possible are left out, then at the least
    price, then at the least value. Orders are given up where their beginning alone is refused, or worth no less than a
    whole tour that is known.
    """
    case = _case(instance, tolerance)
    rank = {left: (len(left) * (drop == "fewest"), _prizes(case, left)) for left in _left_out(case)}
    least, found, found_rank = math.inf, None, None

    def extend(begun, rest, left):
        nonlocal least, found, found_rank
        bound = _bound(case, begun, rest, objective)
        if bound is None or bound + _prizes(case, left) >= least:
            return
        for stop in sorted(rest):
            extend((*begun, stop), rest - {stop}, left)
        if rest or not _promising(case, begun, objective, least):
            return
        schedule = _scheduled(case, begun, objective)
        if schedule and schedule.value < least:
            least, found, found_rank = schedule.value, begun, rank[left]

    for left in sorted(rank, key=rank.get):
        if found is None or drop == "price" or rank[left] == found_rank:
            extend((), frozenset(case.stops).difference(left), left)
    return None if found is None else (float(least), found)


def _left_out(case):
    """All sets of stops that may be left out together, as far as their prizes say."""
    optional = [stop for stop in case.stops if case.prize[stop] < math.inf]
    counts = range(len(optional) + 1)
    return itertools.chain(*(itertools.combinations(optional, count) for count in counts))


def _bound(case, begun, rest, objective):
    """What any tour that begins so and visits the rest is worth at least, less its prizes; None where there is none.

    Leaving at once and without breaks makes every start as early as it can be.
    """
    route, end = (0, *begun), () if case.end in {None, 0} else (case.end,)
    cost, spent = _cost(case, route), _elapsed(case, route)
    in_order = all(a not in rest for a, b in case.order if b in begun)
    if not in_order or math.inf in {cost, spent} or not _fits(case, begun, (*rest, *end)):
        return None
    easier = case._replace(breaks=(), end=None)
    earliest = min(_schedules(easier, route, case.windows[0][0][0]), default=None)
    if earliest is None:
        return None
    return earliest.value + {"makespan": earliest.makespan, "duration": spent}.get(objective, cost)


def _promising(case, stops, objective, least):
    """Whether the tour could be better than what is known if no break had to be taken: breaks only delay."""
    if not case.breaks:
        return True
    schedule = _scheduled(case._replace(breaks=()), stops, objective)
    return schedule is not None and schedule.value < least


# What a tour must keep apart from time


def _kept(case, stops):
    """Whether the tour lists stops, each once, keeps order and loads, and leaves out only what it may."""
    unserved = [stop for stop in case.stops if stop not in stops]
    visited = case.route(stops)[1:]
    return (
        sorted((*stops, *unserved)) == case.stops
        and all(case.prize[stop] < math.inf for stop in unserved)
        and all(a in visited[: visited.index(b)] for a, b in case.order if b in visited)
        and all((a in visited) == (b in visited) for a, b in case.pairs)
        and _fits(case, visited)
    )


def _fits(case, visited, later=()):
    """Whether no stop sees more load than it bears, with what else is visited later; the depot bears everything."""
    slack = case.heavier
    aboard = {
        "growing": 0,
        "shrinking": sum(case.demand[node] for node in (*visited, *later)),
        "signed": case.aboard + sum(case.loaded[node] for node in (*visited, *later)),
    }[case.load]
    if case.load == "signed" and aboard > max(case.aboard, case.capacity) + slack:
        return False
    for node in visited:
        after = aboard + case.demand[node] * (-1 if case.load == "shrinking" else 1)
        seen = aboard if case.load == "shrinking" else after
        if node != 0 and (seen > case.deepest[node] + slack or after < -slack):
            return False
        aboard = after
    return True


def _cost(case, route):
    return sum(case.cost[a][b] for a, b in itertools.pairwise(route))


def _prizes(case, unserved):
    return sum(case.prize[stop] for stop in unserved)


def _elapsed(case, route):
    """Time that a route takes from its departure, nobody waiting."""
    returning = len(route) > 1 and route[-1] == 0
    services = route[1:-1] if returning else route[1:]
    legs = (case.travel[a][b] for a, b in itertools.pairwise(route))
    return sum(legs) + sum(case.service[node] for node in services)


# Time


def _scheduled(case, stops, objective):
    """The best schedule of a tour, under "duration" the last to leave of all that are best; None where it has none."""
    if not _kept(case, stops):
        return None
    route = case.route(stops)
    cost = _cost(case, route)
    if math.inf in {cost, _elapsed(case, route)}:
        return None
    prizes = _prizes(case, [stop for stop in case.stops if stop not in stops])

    def worth(schedule):
        duration = schedule.makespan - schedule.begins - case.service[0]
        paid = {"makespan": schedule.makespan, "duration": duration}.get(objective, cost)
        return schedule._replace(value=paid + schedule.value + prizes)

    def at(begins):
        return min(map(worth, _schedules(case, route, begins)), default=None)

    if objective != "duration":
        return at(case.windows[0][0][0])
    points, forever = _departures(case, route)
    tried = [at(begins) for begins in points]
    least = min((schedule.value for schedule in tried if schedule), default=None)
    good = [schedule is not None and schedule.value == least for schedule in tried]
    if True not in good:
        return None
    last = len(good) - 1 - good[::-1].index(True)
    while forever and good[-1] and last > 0 and good[last - 1]:
        last -= 1
    return tried[last]


def _departures(case, route):
    """All starts at the depot worth a look, in order, and whether the last stands for all later ones."""
    moments = set(_moments(case, route, 0, case.breaks))
    limit = _last_beginning(case, route) + case.tolerance
    points = set()
    for opens, closes in case.windows[0]:
        points.update(_spread(moments, opens, min(closes, limit)))
    return sorted(points), min(case.windows[0][-1][1], limit) == math.inf


def _last_beginning(case, route):
    """After it some window is missed for good, or a break whose latest start has passed is due, come what may."""
    passed = case.service[0]
    limit = min((latest for _, latest, _ in case.breaks), default=math.inf) - passed
    for a, b in itertools.pairwise(route):
        passed += case.travel[a][b]
        limit = min(limit, _last_start(case, b) - passed)
        passed += case.service[b]
    return limit


def _schedules(case, route, begins):
    """All ways to drive a route whose service at the depot starts then; their value is the price of lateness alone.

    States are what later stops ask about: the time, the breaks not yet taken, the lateness and its price.
    """
    states = {(begins + case.service[0], case.breaks, 0, 0): ()}
    for at in range(1, len(route)):
        reached = {}
        for (time, breaks, lateness, charge), starts in states.items():
            for start, left in _starts(case, route, at, time, breaks):
                node = route[at]
                if start > _last_start(case, node) + case.tolerance:
                    continue
                soft = case.late[node] < math.inf
                late = max(0, start - case.windows[node][-1][1]) if soft else 0
                price = late * case.late[node] if soft else 0
                leaves = start + case.service[node] if node else start
                state = (leaves, left, lateness + late, charge + price)
                shown = (*starts, start) if node else starts
                reached[state] = min(reached.get(state, shown), shown)
        states = reached
    for (makespan, breaks, lateness, charge), starts in states.items():
        if all(makespan <= latest + case.tolerance for _, latest, _ in breaks):
            yield _Schedule(charge, makespan, lateness, starts, begins)


def _last_start(case, node):
    """When service at a node, or the return to the depot, may be at the latest."""
    soft = case.late[node] < math.inf
    return case.latest[node] if soft else case.windows[node][-1][1]


def _starts(case, route, at, time, breaks):
    """When service at the next place can start, leaving the last at a time, each with the breaks not yet taken."""
    previous, node = route[at - 1], route[at]
    for arrival, left in _arrivals(case, time, case.travel[previous][node], breaks):
        yield from [(arrival, left)] if node == 0 else _waits(case, node, arrival, left)


def _arrivals(case, time, drive, breaks):
    """Arrivals after a drive, on which breaks may be taken, each as early as the order of breaks allows."""
    yield time + drive, breaks
    for (earliest, latest, length), left in _each(breaks):
        start = max(time, earliest)
        if start <= min(time + drive, latest) + case.tolerance:
            yield from _arrivals(case, start + length, max(0, drive - (start - time)), left)


def _waits(case, node, time, breaks):
    """Starts of a service, being there at a time; a break may be taken before it, if need be after idling for it."""
    yield _opening(case, node, time), breaks
    for (earliest, latest, length), left in _each(breaks):
        first = max(time, earliest)
        if first <= latest + case.tolerance:
            yield from _waits(case, node, first + length, left)


def _opening(case, node, time):
    """The start in the first window that is still open; at once where none is."""
    for opens, closes in case.windows[node]:
        if time <= closes + case.tolerance:
            return max(time, opens)
    return time


def _each(breaks):
    """Each break, with the others."""
    return [(taken, breaks[:k] + breaks[k + 1 :]) for k, taken in enumerate(breaks)]


def _moments(case, route, at, breaks):
    """The times of being ready at one place of a route from which, without a wait, a later start meets a mark."""
    forgiven = [latest + case.tolerance for _, latest, _ in breaks]
    bounds = [*(bound for each in breaks for bound in each[:2]), *forgiven]
    lengths = [length for _, _, length in breaks]
    counts = range(len(lengths) + 1)
    pauses = {sum(some) for count in counts for some in itertools.combinations(lengths, count)}
    passed = 0
    for here in range(at, len(route)):
        node = route[here]
        closings = [*(closes for _, closes in case.windows[node]), case.latest[node]]
        openings = [opens for opens, _ in case.windows[node]]
        marks = [*openings, *closings, *(each + case.tolerance for each in closings), *bounds]
        served = 0 if here and node == 0 else case.service[node]
        for pause in pauses:
            yield from (mark - passed - pause for mark in marks)
            yield from (bound - passed - served - pause for bound in bounds)
        if here + 1 < len(route):
            passed += served + case.travel[node][route[here + 1]]


def _spread(moments, low, high):
    """The moments from low to high with both ends, one between each two, and one for all later ones without end."""
    within = sorted({moment for moment in moments if low < moment < high} | {low})
    if low > high:
        return []
    within.append(high if high < math.inf else within[-1] + 1)
    return [*within, *((a + b) / 2 for a, b in itertools.pairwise(within))]


# Exact numbers


def _case(instance, tolerance):
    """The instance in numbers that add up exactly."""
    if tolerance is None:
        whole = (instance.whole_times, instance.whole_loads)
        forgiven, heavier = (0.0 if each else FORGIVEN for each in whole)
    else:
        forgiven = heavier = tolerance
    arrays = [np.asarray(getattr(instance, name)) for name in _NUMBERS]
    spans = instance.windows.values()
    numbers = np.concatenate(
        [np.ravel(each) for each in (*arrays, *spans, instance.breaks, forgiven, heavier)]
    )
    finite = numbers[np.isfinite(numbers)]
    small = np.all(finite * 1024 == np.rint(finite * 1024)) and np.all(np.abs(finite) < 1e6)

    def exact(number):
        return float(number) if small or math.isinf(number) else Fraction(float(number))

    def row(values):
        return list(map(exact, values))

    windows = [
        [tuple(row(window)) for window in instance.windows.get(node, [(opens, closes)])]
        for node, (opens, closes) in enumerate(zip(instance.opens, instance.closes, strict=True))
    ]
    return _Case(
        travel=list(map(row, instance.travel)),
        cost=list(map(row, instance.cost)),
        windows=windows,
        deepest=row(np.minimum(instance.draft, instance.capacity)),
        capacity=exact(instance.capacity),
        load=instance.load,
        aboard=exact(instance.aboard),
        order=(*instance.before, *instance.pairs),
        pairs=instance.pairs,
        breaks=tuple(tuple(row(taken)) for taken in instance.breaks),
        end=instance.end,
        tolerance=exact(forgiven),
        heavier=exact(heavier),
        **{
            name: row(getattr(instance, name))
            for name in ("service", "late", "latest", "demand", "loaded", "prize")
        },
    )


_NUMBERS = (
    *("travel", "cost", "service", "opens", "closes", "late", "latest"),
    *("demand", "loaded", "draft", "capacity", "aboard", "prize"),
)
