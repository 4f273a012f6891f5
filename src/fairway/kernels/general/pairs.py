"""Where a pickup and its delivery cost least together."""

import numpy as np

from fairway.kernels.compiling import inner
from fairway.kernels.general.insertion import (
    ABOVE,
    BELOW,
    BLINK,
    FREE,
    LATEST,
    LEAVE,
    LEGS,
    LOAD,
    NEXT,
    REAL,
    ROOMY,
    SPARE,
    START,
    Draft,
    detour,
    in_time,
    passed,
    served_between,
    span_of,
    surcharge,
)
from fairway.kernels.general.timing import priced, start_at
from fairway.kernels.general.tour_model import (
    DEMAND,
    LOADED,
    MAKESPAN,
    ROOM,
    SERVICE,
    TAKEN_BY,
    TourModel,
)
from fairway.kernels.moves.rng import Random, uniform


@inner
def cheapest_pair(
    model: TourModel, draft: Draft, pickup: int, delivery: int, random: Random
) -> tuple[int, int, float]:
    """Where a pickup and its delivery cost least together: the positions before which they come; 0 where nowhere."""
    first, last = span_of(model, draft, pickup, delivery)
    span = span_of(model, draft, delivery, pickup)
    sooner, later = served_between(model, pickup)
    one, other, least = 0, 0, np.inf
    free, known = (
        not model.timed and not model.laden,
        not model.soft and model.objective != MAKESPAN,
    )
    _look_ahead(model, draft, delivery, span)
    for at in range(first, min(last, span[1])):
        if draft.times[at - 1, LEAVE] > later:
            break
        if passed(model, draft, at, sooner):
            continue
        there = draft.around[at, NEXT]
        spent = detour(model, draft.around[at - 1, REAL], pickup, there)
        together = detour(model, pickup, delivery, there) if at >= span[0] else np.inf
        apart = draft.ahead[max(at + 1, span[0])]
        if known and spent + min(together, apart) >= least:
            continue
        if free:
            position = at if together < apart else draft.best[max(at + 1, span[0])]
            more = spent + min(together, apart)
        else:
            position, more = _delivered(model, draft, (pickup, delivery), at, span, (spent, least))
        if more < least and uniform(random) >= BLINK:
            one, other, least = at, position, more
    return one, other, least


@inner
def _look_ahead(model: TourModel, draft: Draft, node: int, span: tuple[int, int]) -> None:
    """The least that the legs of a stop cost before each position or a later one, and where that is."""
    begin, end = span
    draft.ahead[max(begin, end)], draft.best[max(begin, end)] = np.inf, 0
    for at in range(end - 1, begin - 1, -1):
        more = detour(model, draft.around[at - 1, REAL], node, draft.around[at, NEXT])
        nearer = more < draft.ahead[at + 1]
        draft.ahead[at] = more if nearer else draft.ahead[at + 1]
        draft.best[at] = at if nearer else draft.best[at + 1]


@inner
def _delivered(
    model: TourModel,
    draft: Draft,
    pair: tuple[int, int],
    at: int,
    span: tuple[int, int],
    costs: tuple[float, float],
) -> tuple[int, float]:
    """Where a delivery costs least if its pickup comes before this position, and what both cost."""
    pickup, delivery = pair
    spent, least = costs
    nodes, where = len(model.node), 0
    more = model.node[pickup, LOADED] + model.node[delivery, LOADED]
    if more > draft.times[at - 1, ROOMY] or -more > draft.times[at - 1, SPARE]:
        return 0, np.inf
    amount = model.node[pickup, DEMAND] + more
    known = not model.soft and model.objective != MAKESPAN
    served, close = served_between(model, delivery)
    here, load = draft.around[at - 1, REAL], draft.times[at - 1, LOAD] + amount
    arrival = max(
        draft.times[at - 1, LEAVE] + model.legs[TAKEN_BY, here, pickup], draft.times[at - 1, FREE]
    )
    start = start_at(model, pickup, arrival)
    if load > model.node[pickup, ROOM] or load < model.empty or start == np.inf:
        return 0, np.inf
    here, leave, free = pickup, start + model.node[pickup, SERVICE], -np.inf
    spent = spent * (LEGS if model.objective == MAKESPAN else 1.0) + priced(model, pickup, start)
    for position in range(at, span[1]):
        done = known and position > at and spent + draft.ahead[max(position, span[0])] >= least
        if leave > close or done:
            break
        if position >= span[0] and not passed(model, draft, position, served):
            state = (here, leave, free)
            more = spent + _second(model, draft, delivery, position, state, (load, amount))
            if more < least:
                where, least = position, more
        node = draft.node[position]
        if node >= nodes:
            rest = model.breaks[node - nodes]
            begins = max(leave, free, rest[0])
            if begins > rest[1]:
                break
            leave, free = leave + rest[2], begins + rest[2]
            continue
        start = start_at(model, node, max(leave + model.legs[TAKEN_BY, here, node], free))
        load += model.node[node, DEMAND]
        borne = model.empty <= load <= model.node[node, ROOM]
        if node == nodes - 1 or start > draft.times[position, LATEST] or not borne:
            break
        spent += priced(model, node, start) - priced(model, node, draft.times[position, START])
        here, leave, free = node, start + model.node[node, SERVICE], -np.inf
    return where, least if where > 0 else np.inf


@inner
def _second(
    model: TourModel,
    draft: Draft,
    node: int,
    at: int,
    state: tuple[int, float, float],
    cargo: tuple[float, float],
) -> float:
    """What the delivery costs before this position, its pickup being on board; infinite where it may not be there."""
    here, leave, free = state
    load, change = cargo[0] + model.node[node, DEMAND], cargo[1] + model.node[node, DEMAND]
    if load > model.node[node, ROOM] or load < model.empty:
        return np.inf
    if change > draft.times[at, ABOVE] or -change > draft.times[at, BELOW]:
        return np.inf
    start = start_at(model, node, max(leave + model.legs[TAKEN_BY, here, node], free))
    if not in_time(model, draft, at, node, start + model.node[node, SERVICE]):
        return np.inf
    more = detour(model, here, node, draft.around[at, NEXT])
    return more + surcharge(model, draft, at, node, start, more)
