"""A tour under construction, with all that tells at once where a stop may be put in and what it costs there.

By position, the start first and the end last; breaks are among the stops. Who is served when is simulated; how late
each stop could be served with all that follows in time is one number, with several windows too, since being earlier
never makes anything later.
"""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from fairway.kernels.compiling import ONE, ZERO, inner
from fairway.kernels.general.timing import latest_start, priced, start_at
from fairway.kernels.general.tour_model import (
    DEMAND,
    FOLLOWERS,
    GROWING,
    LOADED,
    MAKESPAN,
    NEEDS,
    PRIZE,
    ROOM,
    SERVICE,
    SHRINKING,
    SPENT_ON,
    TAKEN_BY,
    TourModel,
)  # fmt: skip
from fairway.kernels.moves.rng import Random, uniform

BLINK = 0.01
"""How often a place is overlooked, so that the same ruins do not always end alike."""
OUT: Any = np.int64(-1)
LEGS = 1e-3
"""What a leg counts for where the end of the tour is minimised, so that of equal places the nearer one is taken."""


START, LEAVE, FREE, LATEST, LOAD, ABOVE, BELOW, ROOMY, SPARE, TIMES = range(10)
"""When a position is served; when the tour goes on from there, breaks since then counted as driving; when the last
break since then ends. The last start, of a break the last moment to leave the stop before it, with which all that
follows is in time. The load; how much more may be on board from there on, or up to there where it shrinks; and how much
less; the same up to there, where cargo is loaded for stops. Then how many columns that is."""
REAL, NEXT = range(2)
"""The last node up to a position, and the first from there on, that is no break."""


class Draft(NamedTuple):
    """A tour by position, and room for more stops."""

    node: Int[np.ndarray, " M"]
    around: Int[np.ndarray, "M 2"]
    times: Float[np.ndarray, "M 9"]
    place: Int[np.ndarray, " W"]
    """The position of each node and break, or OUT."""
    length: Int[np.ndarray, " 1"]
    """Positions in use."""
    ahead: Float[np.ndarray, " M"]
    """The least that a stop costs before a position or a later one, and where that is."""
    best: Int[np.ndarray, " M"]


def draft_of(model: TourModel) -> Draft:
    """A tour without stops."""
    nodes, breaks = len(model.node), len(model.breaks)
    rows = nodes + breaks + 1
    node = np.zeros(rows, np.int64)
    node[1] = nodes - 1
    place = np.full(nodes + breaks, OUT)
    around, times = np.zeros((rows, 2), np.int64), np.zeros((rows, TIMES))
    times[:, FREE], times[:, [LATEST, ABOVE, BELOW, ROOMY, SPARE]] = (
        -np.inf,
        np.inf,
    )  # stays where nothing limits
    return Draft(
        node, around, times, place, np.full(1, 2), np.zeros(rows), np.zeros(rows, np.int64)
    )


@inner
def refresh(model: TourModel, draft: Draft) -> bool:
    """Work out all times and loads that matter; whether every limit is kept."""
    return renew(model, draft, ONE, draft.length[0])


@inner
def renew(model: TourModel, draft: Draft, first: int, stop: int) -> bool:
    """The same where only the stops from one position to before another are others than they were."""
    if model.timed:
        kept = _forward(model, draft, first, stop)
        _backward(model, draft, first, stop)
    else:
        kept = _in_order(model, draft, first, stop)
    if not model.laden:
        return kept
    if model.loadable > 0:
        return _room_around(model, draft) and kept
    aboard = draft.times[first - 1, LOAD] if first > 1 else model.aboard
    draft.times[first - 1, LOAD] = aboard
    for at in range(first, stop):
        node = draft.node[at]
        aboard += model.node[node, DEMAND] if node < len(model.node) else 0.0
        draft.times[at, LOAD] = aboard
    if model.load == SHRINKING:
        return _room_before(model, draft, first, stop) and kept
    return _room_after(model, draft, first, stop) and kept


@inner
def _in_order(model: TourModel, draft: Draft, first: int, stop: int) -> bool:
    """Where every node is, if it does not matter when; whether there is a way from each to the next."""
    kept, here = True, draft.node[first - 1]
    draft.around[0, REAL] = draft.around[0, NEXT] = draft.place[0] = 0
    for at in range(first, min(stop + 1, draft.length[0])):
        node = draft.node[at]
        draft.place[node] = at
        draft.around[at, REAL] = draft.around[at, NEXT] = node
        kept &= model.legs[SPENT_ON, here, node] < model.no_way
        here = node
    return kept


@inner
def _forward(model: TourModel, draft: Draft, first: int, stop: int) -> bool:
    nodes, length = len(model.node), draft.length[0]
    draft.times[0, START] = draft.times[0, LEAVE] = model.leaving[0, 0]
    draft.times[0, FREE] = -np.inf
    draft.around[0, REAL] = draft.place[0] = 0
    kept = True
    for at in range(first, length):
        node, here = draft.node[at], draft.around[at - 1, REAL]
        draft.place[node] = at
        leave, free = draft.times[at - 1, LEAVE], draft.times[at - 1, FREE]
        if node >= nodes:
            rest = model.breaks[node - nodes]
            begin = max(leave, free, rest[0])
            kept &= begin <= rest[1]
            draft.times[at, START], draft.around[at, REAL] = begin, here
            draft.times[at, LEAVE], draft.times[at, FREE] = leave + rest[2], begin + rest[2]
            continue
        start = start_at(model, node, max(leave + model.legs[TAKEN_BY, here, node], free))
        kept &= start < np.inf and model.legs[SPENT_ON, here, node] < model.no_way
        if at >= stop and start == draft.times[at, START]:
            break
        draft.times[at, START], draft.around[at, REAL] = start, node
        draft.times[at, LEAVE] = start + model.node[node, SERVICE]
        draft.times[at, FREE] = -np.inf
    return kept


@inner
def _backward(model: TourModel, draft: Draft, first: int, stop: int) -> None:
    nodes, last = len(model.node), draft.length[0] - 1
    if stop > last:
        draft.around[last, NEXT] = nodes - 1
        draft.times[last, LATEST] = latest_start(model, nodes - 1, np.inf)
    for at in range(min(stop, last) - 1, -1, -1):
        node, after = draft.node[at], draft.node[at + 1]
        if node >= nodes:
            draft.around[at, NEXT] = draft.around[at + 1, NEXT]
            alone = draft.node[at - 1] < nodes
            draft.times[at, LATEST] = _latest_before_breaks(model, draft, at) if alone else -np.inf
            continue
        draft.around[at, NEXT] = node
        bound = draft.times[at + 1, LATEST]
        if after < nodes:
            bound -= model.legs[TAKEN_BY, node, after]
        bound -= model.node[node, SERVICE]
        latest = bound if at == 0 else latest_start(model, node, bound)
        if at < first and latest == draft.times[at, LATEST]:
            break
        draft.times[at, LATEST] = latest


@inner
def _latest_before_breaks(model: TourModel, draft: Draft, at: int) -> float:
    """Before a run of breaks: the last moment to leave the stop before it."""
    nodes, bound, added, ends = len(model.node), np.inf, 0.0, -np.inf
    here = draft.around[at - 1, REAL]
    while draft.node[at] >= nodes:
        rest = model.breaks[draft.node[at] - nodes]
        begin = max(ends, rest[0])
        if begin > rest[1]:
            return -np.inf
        bound = min(bound, rest[1] - added)
        added += rest[2]
        ends = begin + rest[2]
        at += 1
    if ends > draft.times[at, LATEST]:
        return -np.inf
    return min(bound, draft.times[at, LATEST] - added - model.legs[TAKEN_BY, here, draft.node[at]])


@inner
def _room_before(model: TourModel, draft: Draft, first: int, stop: int) -> bool:
    """How much more may be on board up to each position, where the load shrinks; whether none is too full."""
    total, above = draft.times[draft.length[0] - 1, LOAD], np.inf
    if first > 1:
        above = draft.times[first - 1, ABOVE]
    draft.times[first - 1, ABOVE] = above
    for at in range(first, draft.length[0]):
        node = draft.node[at]
        if node < len(model.node):
            above = min(above, model.node[node, ROOM] - (total - draft.times[at - 1, LOAD]))
        if at >= stop and above == draft.times[at, ABOVE]:
            break
        draft.times[at, ABOVE] = above
    return draft.times[draft.length[0] - 1, ABOVE] >= 0


@inner
def _room_after(model: TourModel, draft: Draft, first: int, stop: int) -> bool:
    """How much more or less may be on board from each position on; whether none is too full or too empty."""
    above = below = np.inf
    if stop < draft.length[0]:
        above, below = draft.times[stop, ABOVE], draft.times[stop, BELOW]
    for at in range(min(stop, draft.length[0]) - 1, 0, -1):
        node = draft.node[at]
        if node < len(model.node):
            above = min(above, model.node[node, ROOM] - draft.times[at, LOAD])
            below = min(below, draft.times[at, LOAD] - model.empty)
        same = above == draft.times[at, ABOVE] and below == draft.times[at, BELOW]
        if at < first and same:
            break
        draft.times[at, ABOVE], draft.times[at, BELOW] = above, below
    return draft.times[1, ABOVE] >= 0 and draft.times[1, BELOW] >= 0


@inner
def _room_around(model: TourModel, draft: Draft) -> bool:
    """The same where cargo is loaded for stops, and how much more or less may be on board up to each position."""
    nodes, length, loaded = len(model.node), draft.length[0], 0.0
    for at in range(1, length):
        loaded += model.node[draft.node[at], LOADED] if draft.node[at] < nodes else 0.0
    roomy, spare = model.spare - loaded, np.inf
    load = draft.times[0, LOAD] = model.aboard + loaded
    draft.times[0, ROOMY], draft.times[0, SPARE] = roomy, spare
    for at in range(1, length):
        node = draft.node[at]
        if node < nodes:
            load += model.node[node, DEMAND]
            roomy = min(roomy, model.node[node, ROOM] - load)
            spare = min(spare, load - model.empty)
        draft.times[at, LOAD], draft.times[at, ROOMY], draft.times[at, SPARE] = load, roomy, spare
    return _room_after(model, draft, 1, length) and roomy >= 0


@inner
def fits(model: TourModel, draft: Draft, at: int, amount: float, node: int) -> bool:
    """Whether the cargo of a node may come on board before this position."""
    if model.load == SHRINKING:
        total = draft.times[draft.length[0] - 1, LOAD]
        own = total - draft.times[at - 1, LOAD] + amount <= model.node[node, ROOM]
        return own and amount <= draft.times[at - 1, ABOVE]
    more = model.node[node, LOADED]
    amount += more
    load = draft.times[at - 1, LOAD] + amount
    if load > model.node[node, ROOM] or amount > draft.times[at, ABOVE]:
        return False
    if more > draft.times[at - 1, ROOMY] or -more > draft.times[at - 1, SPARE]:
        return False
    return model.load == GROWING or (load >= model.empty and -amount <= draft.times[at, BELOW])


@inner
def insert(draft: Draft, node: int, at: int) -> None:
    """Put a stop or a break before this position; times are still to be worked out."""
    for later in range(draft.length[0], at, -1):
        draft.node[later] = draft.node[later - 1]
    draft.node[at] = node
    draft.length[0] += 1


@inner
def span_of(model: TourModel, draft: Draft, node: int, along: int) -> tuple[int, int]:
    """Before which positions a stop may be put, the last one excluded; none where it needs one that is left out.

    Another stop may come along, which then is not; 0 for none.
    """
    first, last = 1, draft.length[0]
    for place in range(model.begin[NEEDS, node], model.begin[NEEDS, node + 1]):
        needed = model.linked[place]
        if draft.place[needed] >= 0:
            first = max(first, draft.place[needed] + 1)
        elif needed != along and model.node[needed, PRIZE] < np.inf:
            return 1, 1
    for place in range(model.begin[FOLLOWERS, node], model.begin[FOLLOWERS, node + 1]):
        later = model.linked[place]
        if draft.place[later] >= 0:
            last = min(last, draft.place[later] + 1)
    return first, last


@inner
def cheapest(model: TourModel, draft: Draft, node: int, random: Random) -> tuple[int, float]:
    """Where a stop costs least and all stays in time, and what it costs there; 0 where there is no such place."""
    first, last = span_of(model, draft, node, ZERO)
    where, least = 0, np.inf
    sooner, later = served_between(model, node)
    for at in range(first, last):
        if draft.times[at - 1, LEAVE] > later:
            break
        if passed(model, draft, at, sooner):
            continue
        more = added(model, draft, node, at, least)
        found = more < least and fits(model, draft, at, model.node[node, DEMAND], node)
        if found and uniform(random) >= BLINK:
            where, least = at, more
    return where, least


@inner
def served_between(model: TourModel, node: int) -> tuple[float, float]:
    """The first moment at which a node can have been served, and the last at which its service can start."""
    first, last = model.first[node], model.first[node + 1] - 1
    return model.windows[first, 0] + model.node[node, SERVICE], model.windows[last, 1]


@inner
def passed(model: TourModel, draft: Draft, at: int, sooner: float) -> bool:
    """Whether the stop at a position must be served before then; of a break its place says nothing yet."""
    return draft.node[at] < len(model.node) and draft.times[at, LATEST] < sooner


@inner
def in_time(model: TourModel, draft: Draft, at: int, node: int, leave: float) -> bool:
    """Whether this position and all after it stay in time, if the tour comes there from a node that it leaves then."""
    free = -np.inf
    while draft.node[at] >= len(model.node):
        rest = model.breaks[draft.node[at] - len(model.node)]
        begin = max(leave, free, rest[0])
        if begin > rest[1]:
            return False
        leave, free = leave + rest[2], begin + rest[2]
        at += 1
    there = draft.node[at]
    start = start_at(model, there, max(leave + model.legs[TAKEN_BY, node, there], free))
    return start < np.inf and start <= draft.times[at, LATEST]


@inner
def detour(model: TourModel, here: int, node: int, there: int) -> float:
    """What a node adds to the legs between two others."""
    legs = model.legs[SPENT_ON]
    return legs[here, node] + legs[node, there] - legs[here, there]


@inner
def added(model: TourModel, draft: Draft, node: int, at: int, enough: float) -> float:
    """What a stop costs before this position; infinite where something would be late, or where it is enough."""
    here, there = draft.around[at - 1, REAL], draft.around[at, NEXT]
    more = detour(model, here, node, there)
    if not model.timed:
        return more
    if model.objective != MAKESPAN and more >= enough and not model.soft:
        return np.inf
    arrival = max(
        draft.times[at - 1, LEAVE] + model.legs[TAKEN_BY, here, node], draft.times[at - 1, FREE]
    )
    start = start_at(model, node, arrival)
    leave = start + model.node[node, SERVICE]
    if not in_time(model, draft, at, node, leave):
        return np.inf
    return more + surcharge(model, draft, at, node, start, more)


@inner
def surcharge(
    model: TourModel, draft: Draft, at: int, node: int, start: float, more: float
) -> float:
    """What serving a node then, before this position, costs beside its legs."""
    if not model.soft and model.objective != MAKESPAN:
        return 0.0
    price, later = delayed(model, draft, at, node, start + model.node[node, SERVICE], -np.inf)
    price += priced(model, node, start)
    return price + later - (1.0 - LEGS) * more if model.objective == MAKESPAN else price


@inner
def delayed(
    model: TourModel, draft: Draft, at: int, here: int, leave: float, free: float
) -> tuple[float, float]:
    """What lateness from this position on costs more, and how much later the tour ends, if it comes so from here."""
    nodes, price = len(model.node), 0.0
    for position in range(at, draft.length[0]):
        node = draft.node[position]
        if node >= nodes:
            rest = model.breaks[node - nodes]
            free = max(leave, free, rest[0]) + rest[2]
            leave += rest[2]
            continue
        start = start_at(model, node, max(leave + model.legs[TAKEN_BY, here, node], free))
        if start == draft.times[position, START]:
            return price, 0.0
        price += priced(model, node, start) - priced(model, node, draft.times[position, START])
        here, leave, free = node, start + model.node[node, SERVICE], -np.inf
    return price, leave - draft.times[draft.length[0] - 1, LEAVE]
