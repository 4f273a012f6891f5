"""What an instance asks for, as arrays that compiled code takes: every question, neutral where it is absent."""

import math
from collections.abc import Iterable
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from jaxtyping import Bool, Float, Int

from fairway.problems.instance import TOLERANCE, Instance

COST, MAKESPAN, DURATION = range(3)
GROWING, SHRINKING, SIGNED = range(3)
OBJECTIVES = {"cost": COST, "travel": COST, "makespan": MAKESPAN, "duration": DURATION}
LOADS = {"growing": GROWING, "shrinking": SHRINKING, "signed": SIGNED}


NEVER = (math.inf, -math.inf)
"""The window of a stop that is never open: its last permitted start comes before."""
SPENT_ON, TAKEN_BY = range(2)
"""Of a leg: what it costs and how long it takes."""
SERVICE, DUE, LATE, DEMAND, LOADED, ROOM, PRIZE, BARRED, ASKED = range(9)
"""Of a node: how long it is served; the last closing, from which lateness is counted, and the price of a unit of it, 0
where there must be none; its cargo, what is loaded for it at the start, and the most on board there; the price of
leaving it out, infinite where it must be served; whether it can never be served, or is no stop. Then the number of
columns."""
NEEDS, FOLLOWERS, MATES = range(3)
"""Lists of nodes: those that must come before one, those that it must come before, those that are visited with it."""


class TourModel(NamedTuple):
    """V nodes: the depot as 0, the stops, and the end as V - 1. Breaks are numbered from V on, as if they were stops.

    Few arrays of many columns: compiled code takes each array apart at every call.
    """

    legs: Float[np.ndarray, "2 V V"]
    node: Float[np.ndarray, "V 8"]
    first: Int[np.ndarray, " W"]
    """Where the windows of each node begin."""
    windows: Float[np.ndarray, "K 2"]
    """When service may start, with what the judge forgives; the last window ends with the last permitted start."""
    begin: Int[np.ndarray, "3 W"]
    """Where the list of each node begins, of each kind of list."""
    linked: Int[np.ndarray, " L"]
    breaks: Float[np.ndarray, "B 3"]
    leaving: Float[np.ndarray, "D 2"]
    """When the tour may leave, if the duration counts; else when it does."""
    aboard: float
    spare: float
    """The most that may be loaded for stops at the start, and all that could be."""
    loadable: float
    empty: float
    """The least load, where demands are signed."""
    no_way: float
    """What a leg costs, and takes, that cannot be travelled: more than any tour."""
    objective: int
    load: int
    soft: bool
    """Whether any lateness has a price."""
    timed: bool
    """Whether it matters when anything is served: something closes, or there are breaks, or time is minimised."""
    laden: bool
    """Whether any load has a limit."""
    hopeless: bool
    """Whether what is asked contradicts itself."""


_last: WeakKeyDictionary[Instance, dict[str, TourModel]] = WeakKeyDictionary()


def tour_model_of(instance: Instance, objective: str = "cost") -> TourModel:
    """The arrays of an instance, remembered as long as it lives or until another is asked for."""
    if instance not in _last:
        _last.clear()
    known = _last.setdefault(instance, {})
    if objective not in known:
        known[objective] = _built(instance, objective)
    return known[objective]


def _built(instance: Instance, objective: str) -> TourModel:
    nodes, end = instance.nodes, instance.end
    forgiven = 0.0 if instance.whole_times else TOLERANCE
    heavier = 0.0 if instance.whole_loads else TOLERANCE
    spans = [_spans(instance, node, forgiven) for node in range(nodes)]
    shut = [node for node in range(1, nodes) if spans[node][0] == NEVER]
    columns, hopeless = _columns(instance, heavier, shut)
    spans.append(
        [(-math.inf, math.inf)] if end is None else _spans(instance, end, forgiven, end=True)
    )
    windows = np.array([span for each in spans for span in each])
    legs = np.array([_with_end(instance.cost, end), _with_end(instance.travel, end)])
    finite = [np.abs(each[np.isfinite(each)]).sum() for each in (legs, columns, windows)]
    no_way = 1.0 + 4.0 * float(sum(finite))
    begin, linked = _links(instance)
    return TourModel(
        np.where(np.isinf(legs).any(axis=0), no_way, legs),
        columns,
        np.cumsum([0, *map(len, spans)]),
        windows,
        begin,
        linked,
        np.array(
            [(first, last + forgiven, length) for first, last, length in instance.breaks]
        ).reshape(-1, 3),
        _departures(instance, objective),
        float(instance.aboard) if instance.load == "signed" else 0.0,
        max(instance.capacity - instance.aboard, 0.0) + heavier,
        float(instance.loaded.sum()),
        -heavier if instance.load == "signed" else -math.inf,
        no_way,
        OBJECTIVES[objective],
        LOADS[instance.load],
        bool(columns[1:, LATE].any()),
        _timed(instance, columns, windows[len(spans[0]) :]) or objective not in ("cost", "travel"),
        bool((columns[1:, ROOM] < np.inf).any()) or instance.load == "signed",
        hopeless,
    )


def _timed(
    instance: Instance, columns: Float[np.ndarray, "V 8"], windows: Float[np.ndarray, "K 2"]
) -> bool:
    """Whether anything can be late, or a break is to be taken."""
    return bool((windows[:, 1] < np.inf).any() or columns[:, LATE].any() or instance.breaks)


def _columns(
    instance: Instance, heavier: float, shut: list[int]
) -> tuple[Float[np.ndarray, "V 8"], bool]:
    """What is asked of each node, and whether something must be served that cannot be; some are never open."""
    nodes, end = instance.nodes, instance.end
    columns = np.zeros((nodes + 1, ASKED))
    stops = columns[:nodes]
    stops[:, SERVICE], stops[:, DEMAND] = instance.service, instance.demand
    stops[:, LOADED] = instance.loaded
    stops[:, DUE] = [_windows(instance, node)[-1][1] for node in range(nodes)]
    stops[:, LATE] = np.where(np.isfinite(instance.late), instance.late, 0.0)
    stops[:, ROOM] = np.minimum(instance.draft, instance.capacity) + heavier
    columns[nodes] = columns[0 if end is None else end]
    if end is None or end == 0:  # nobody is served there
        columns[nodes, [SERVICE, DEMAND, ROOM]] = 0.0, 0.0, math.inf
    if end is None:
        columns[nodes, [DUE, LATE]] = math.inf, 0.0
    prize, barred, hopeless = _presence(instance, shut)
    columns[:, PRIZE], columns[:, BARRED] = np.append(prize, 0.0), barred
    return columns, hopeless


def _with_end(matrix: Float[np.ndarray, "N N"], end: int | None) -> Float[np.ndarray, "V V"]:
    """The matrix with a column for the end, which nothing leaves."""
    nodes = len(matrix)
    extended = np.full((nodes + 1, nodes + 1), np.inf)
    extended[:nodes, :nodes] = matrix
    extended[:nodes, nodes] = 0.0 if end is None else matrix[:, end]
    return extended


def _windows(instance: Instance, node: int) -> list[tuple[float, float]]:
    single = (float(instance.opens[node]), float(instance.closes[node]))
    return list(instance.windows.get(node, (single,)))


def _spans(
    instance: Instance, node: int, allowance: float, *, end: bool = False
) -> list[tuple[float, float]]:
    """When service may start; on the return to the depot nobody waits."""
    windows = _windows(instance, node)
    soft = math.isfinite(instance.late[node])
    latest = float(instance.latest[node]) if soft else windows[-1][1]
    if end and node == 0:
        return [(-math.inf, latest + allowance)]
    spans = [(opens, min(closes, latest) + allowance) for opens, closes in windows[:-1]]
    spans.append((windows[-1][0], latest + allowance))
    kept = [span for span in spans if span[0] <= span[1]]
    return kept or [NEVER]


def _departures(instance: Instance, objective: str) -> Float[np.ndarray, "D 2"]:
    windows = _windows(instance, 0)
    served = float(instance.service[0])
    if objective != "duration":
        windows = [(windows[0][0], windows[0][0])]
    return np.array([(opens + served, closes + served) for opens, closes in windows])


def _presence(
    instance: Instance, shut: list[int]
) -> tuple[Float[np.ndarray, " N"], Bool[np.ndarray, " V"], bool]:
    """The prizes, infinite for all that others need; the stops that can never be served; whether the two meet."""
    nodes, end = instance.nodes, instance.end
    visited = set() if end in (None, 0) else {end}
    before = [*instance.before, *instance.pairs]
    prize, barred = np.array(instance.prize), np.zeros(nodes + 1, dtype=bool)
    prize[[0, *visited]] = 0.0
    requires = _lists(nodes, [(b, a) for a, b in before] + list(instance.pairs))
    required_by = _lists(nodes, before + [(b, a) for a, b in instance.pairs])
    stops = [node for node in range(1, nodes) if node not in visited]
    served = _spread(requires, [*visited, *(node for node in stops if np.isinf(prize[node]))])
    prize[[node for node in served if node not in visited]] = np.inf
    late = [second for first, second in before if first in visited]
    lost = _spread(required_by, [*_in_circles(nodes, before), *late, *shut])
    hopeless = bool(visited.intersection(shut)) or any(a in visited for a, _ in instance.pairs)
    lost -= visited
    barred[[0, nodes, *visited, *lost]] = True
    return prize, barred, hopeless or bool(np.isinf(prize[list(lost)]).any())


def _lists(nodes: int, pairs: Iterable[tuple[int, int]]) -> list[list[int]]:
    """For each node that comes first in a pair, those that come second."""
    lists: list[list[int]] = [[] for _ in range(nodes)]
    for one, other in sorted(set(pairs)):
        lists[one].append(other)
    return lists


def _spread(lists: list[list[int]], start: Iterable[int]) -> set[int]:
    """All nodes that can be come to from some, themselves included."""
    reached, waiting = set(), list(start)
    while waiting:
        node = waiting.pop()
        if node not in reached:
            reached.add(node)
            waiting += lists[node]
    return reached


def _in_circles(nodes: int, before: list[tuple[int, int]]) -> list[int]:
    """The stops that would have to come before themselves, and all that need one of them."""
    followers, needed = _lists(nodes, before), np.zeros(nodes, np.int64)
    for _, second in set(before):
        needed[second] += 1
    free = np.flatnonzero(needed == 0).tolist()
    for node in free:  # grows as others become free
        for other in followers[node]:
            needed[other] -= 1
            if needed[other] == 0:
                free.append(other)
    return np.flatnonzero(needed > 0).tolist()


def _links(instance: Instance) -> tuple[Int[np.ndarray, "3 W"], Int[np.ndarray, " L"]]:
    """The lists of nodes, one after the other, and where each begins; the end stands for its stop."""
    nodes, end = instance.nodes, instance.end

    def renamed(pairs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        return [(nodes if a == end else a, nodes if b == end else b) for a, b in pairs]

    before, pairs = renamed((*instance.before, *instance.pairs)), renamed(instance.pairs)
    kinds = ([(b, a) for a, b in before], before, [*pairs, *((b, a) for a, b in pairs)])
    begin, linked = np.zeros((3, nodes + 2), np.int64), []
    for kind, given in enumerate(kinds):
        lists = _lists(nodes + 1, given)
        begin[kind] = len(linked) + np.cumsum([0, *map(len, lists)])
        linked += [node for each in lists for node in each]
    return begin, np.array(linked, np.int64)
