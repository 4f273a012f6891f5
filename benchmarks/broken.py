"""Instances made infeasible through one kind of constraint: a drawn tour keeps everything, then one thing changes."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from benchmarks.tours import Drawn, drawn
from fairway.judge import Solution, verify
from fairway.problems.instance import Instance

Random = np.random.Generator


class Kind(NamedTuple):
    """What is drawn first, what is broken, and words one of which names it."""

    base: str
    breaks: Callable[[Drawn, Random], Instance]
    words: tuple[str, ...]


def started(case: Drawn, stop: int) -> float:
    """When the drawn tour serves a stop."""
    judged = verify(case.instance, case.tour)
    assert isinstance(judged, Solution), "the drawn tour keeps everything"
    return next(visit.start for visit in judged.schedule if visit.node == stop)


def column(instance: Instance, name: str, node: int, value: float) -> Instance:
    """One number of a node changed."""
    numbers = getattr(instance, name).copy()
    numbers[node] = value
    return replace(instance, **{name: numbers})


def any_stop(case: Drawn, rng: Random) -> int:
    """One that must be served, in a single hard window."""
    instance = case.instance
    hard = np.isinf(instance.prize) & np.isinf(instance.late)
    return int(rng.choice([s for s in case.tour if hard[s] and s not in instance.windows]))


def closing(case: Drawn, rng: Random) -> Instance:
    """A stop closes before the tour serves it."""
    stop = any_stop(case, rng)
    opens = case.instance.opens[stop]
    return column(
        case.instance, "closes", stop, opens + rng.random() * (started(case, stop) - opens)
    )


def opening(case: Drawn, rng: Random) -> Instance:
    """A stop opens long after the tour serves it, with its closing."""
    stop, instance = any_stop(case, rng), case.instance
    later = 2 * rng.random() * (instance.closes[stop] - instance.opens[stop])
    moved = column(instance, "closes", stop, instance.closes[stop] + later)
    return column(moved, "opens", stop, instance.closes[stop] + later)


def depot(case: Drawn, rng: Random) -> Instance:
    """The depot closes before the tour is back."""
    makespan = verify(case.instance, case.tour).makespan
    return column(case.instance, "closes", 0, makespan * rng.uniform(0.3, 1.0))


def the_end(case: Drawn, rng: Random) -> Instance:
    """The end closes before the tour is there."""
    start = verify(case.instance, case.tour).makespan
    end = case.instance.end
    assert end is not None, "the tour ends somewhere"
    opens = case.instance.opens[end]
    return column(case.instance, "closes", end, opens + rng.random() * max(start - opens, 0.0))


def window(case: Drawn, rng: Random) -> Instance:
    """A stop loses the window in which it is served."""
    stop = int(rng.choice(list(case.instance.windows)))
    start, spans = started(case, stop), case.instance.windows[stop]
    left = [span for span in spans if not span[0] <= start <= span[1]]
    return replace(case.instance, windows={**case.instance.windows, stop: left})


def permitted(case: Drawn, rng: Random) -> Instance:
    """The last permitted start of a stop comes before the tour."""
    soft = np.flatnonzero(np.isfinite(case.instance.late))
    stop = int(rng.choice(soft))
    opens = case.instance.opens[stop]
    last = opens + rng.random() * (started(case, stop) - opens)
    return column(case.instance, "latest", stop, last)


def draft(case: Drawn, rng: Random) -> Instance:
    """A port is shallower than the load of the tour."""
    loads = verify(case.instance, case.tour).schedule
    visit = loads[int(rng.integers(len(loads)))]
    return column(case.instance, "draft", visit.node, np.floor(rng.random() * visit.load))


def capacity(case: Drawn, rng: Random) -> Instance:
    """The vehicle bears less than the tour carries."""
    most = float(verify(case.instance, case.tour).schedule.load.max())
    return replace(case.instance, capacity=math.floor(most * rng.uniform(0.4, 1.0)))


def aboard(case: Drawn, rng: Random) -> Instance:
    """There is less on board at the start, or more."""
    first = case.instance.aboard
    factor = rng.choice([rng.uniform(0, 1), rng.uniform(1, 2)])
    return replace(case.instance, aboard=float(math.floor(first * factor)))


def against(case: Drawn, rng: Random) -> Instance:
    """Two stops are to come in the order in which the tour does not."""
    first, second = sorted(rng.choice(len(case.tour), 2, replace=False))
    pair = (int(case.tour[second]), int(case.tour[first]))
    return replace(case.instance, before=[*case.instance.before, pair])


def turned(case: Drawn, rng: Random) -> Instance:
    """A delivery becomes the pickup of its pair."""
    at = int(rng.integers(len(case.instance.pairs)))
    pairs = list(case.instance.pairs)
    pairs[at] = pairs[at][::-1]
    return replace(case.instance, pairs=pairs)


def longer(case: Drawn, rng: Random) -> Instance:
    """The break takes longer than the tour has time for."""
    ((first, last, length),) = case.instance.breaks
    return replace(case.instance, breaks=[(first, last, math.ceil(length * rng.uniform(2, 12)))])


def barred(case: Drawn, rng: Random) -> Instance:
    """Most ways cannot be taken."""
    ways = case.instance.cost.copy()
    ways[rng.random(ways.shape) < rng.uniform(0.5, 0.9)] = math.inf
    return replace(case.instance, cost=ways)


def needed(case: Drawn, rng: Random) -> Instance:
    """A stop must be served after an optional one that closes too early."""
    optional = np.isfinite(case.instance.prize)
    first = int(rng.choice(np.flatnonzero(optional)))
    second = int(rng.choice(np.flatnonzero(~optional)[1:]))
    late = started(case, first)
    closes = case.instance.opens[first] + rng.random() * (late - case.instance.opens[first])
    return replace(column(case.instance, "closes", first, closes), before=[(first, second)])


WINDOWS, DRAFT = ("opens", "closes"), ("draft", "allows more")
BOARD = (*DRAFT, "capacity", "board", "load")
KINDS = {
    "closing": Kind("cost", closing, WINDOWS),
    "opening": Kind("cost", opening, WINDOWS),
    "open end": Kind("open", closing, WINDOWS),
    "end": Kind("end", the_end, ("where the tour ends",)),
    "depot": Kind("breaks", depot, ("the depot closes",)),
    "windows": Kind("windows", window, (*WINDOWS, "is closed between")),
    "soft": Kind("soft", permitted, ("may be served until",)),
    "drafts": Kind("drafts", draft, DRAFT),
    "shrinking": Kind("shrinking", draft, DRAFT),
    "capacity": Kind("drafts", capacity, ("capacity",)),
    "signed capacity": Kind("capacity", capacity, BOARD),
    "aboard": Kind("capacity", aboard, BOARD),
    "pairs and capacity": Kind("pairs", capacity, BOARD),
    "order": Kind("order", against, ("before",)),
    "pairs": Kind("pairs", turned, ("pickup", "before", *BOARD)),
    "breaks": Kind("breaks", longer, ("break",)),
    "closed ways": Kind("cost", barred, ("way",)),
    "optional": Kind("optional", needed, ("before", "needed")),
    "all": Kind("all", against, ("before", "pickup")),
}


def candidates(kind: Kind, rng: Random):
    """Instances of a kind, of which most have no tour, without end: 5 to 12 stops, and 30 in one of five."""
    while True:
        stops = 30 if rng.random() < 0.2 else int(rng.integers(5, 13))
        case = drawn(kind.base, int(rng.integers(1 << 30)), stops)
        yield kind.breaks(case, rng)
