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
    START,
    Draft,
    detour,
    in_time,
    served_between,
    span_of,
    surcharge,
)
from fairway.kernels.general.timing import priced, start_at
from fairway.kernels.general.tour_model import DEMAND, MAKESPAN, ROOM, SERVICE, TAKEN_BY, TourModel
from fairway.kernels.moves.rng import Random, uniform


@inner
def cheapest_pair(
    model: TourModel, draft: Draft, pickup: int, delivery: int, random: Random
) -> tuple[int, int, float]:
    """Where a pickup and its delivery cost least together: the positions before which they come; 0 where nowhere."""
    amount, nodes = model.node[pickup, DEMAND], len(model.node)
    first, last = span_of(model, draft, pickup)
    begin, end = span_of(model, draft, delivery)
    one, other, least = 0, 0, np.inf
    sooner, later = served_between(model, pickup)
    served, close = served_between(model, delivery)
    _look_ahead(model, draft, delivery, begin, end)
    for at in range(first, min(last, end)):
        if draft.times[at - 1, LEAVE] > later:
            break
        if draft.times[at, LATEST] < sooner:
            continue
        load = draft.times[at - 1, LOAD] + amount
        here, there = draft.around[at - 1, REAL], draft.around[at, NEXT]
        spent = detour(model, here, pickup, there)
        spent *= LEGS if model.objective == MAKESPAN else 1.0
        together = detour(model, pickup, delivery, there)
        if spent + min(draft.ahead[max(at, begin)], together) >= least:
            continue
        arrival = max(
            draft.times[at - 1, LEAVE] + model.legs[TAKEN_BY, here, pickup],
            draft.times[at - 1, FREE],
        )
        start = start_at(model, pickup, arrival)
        leave, free = start + model.node[pickup, SERVICE], -np.inf
        if load > model.node[pickup, ROOM] or load < model.empty or start == np.inf:
            continue
        spent += priced(model, pickup, start)
        here = pickup
        for position in range(at, end):
            if leave > close:
                break
            if spent + draft.ahead[max(position, begin)] >= least and position > at:
                break
            if position >= begin and draft.times[position, LATEST] >= served:
                state = (here, leave, free)
                more = spent + _second(model, draft, delivery, position, state, (load, amount))
                if more < least and uniform(random) >= BLINK:
                    one, other, least = at, position, more
            node = draft.node[position]
            if node >= nodes:
                rest = model.breaks[node - nodes]
                begins = max(leave, free, rest[0])
                if begins > rest[1]:
                    break
                leave, free = leave + rest[2], begins + rest[2]
                continue
            if node == nodes - 1:
                break
            start = start_at(model, node, max(leave + model.legs[TAKEN_BY, here, node], free))
            load += model.node[node, DEMAND]
            if (
                start > draft.times[position, LATEST]
                or load > model.node[node, ROOM]
                or load < model.empty
            ):
                break
            spent += priced(model, node, start) - priced(model, node, draft.times[position, START])
            here, leave, free = node, start + model.node[node, SERVICE], -np.inf
    return one, other, least


@inner
def _look_ahead(model: TourModel, draft: Draft, node: int, begin: int, end: int) -> None:
    """The least that a stop can cost before each position or a later one, by its legs; unknown where time has a price."""
    draft.ahead[end] = least = np.inf
    for at in range(end - 1, begin - 1, -1):
        more = detour(model, draft.around[at - 1, REAL], node, draft.around[at, NEXT])
        least = min(least, more)
        draft.ahead[at] = -np.inf if model.soft or model.objective == MAKESPAN else least


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
