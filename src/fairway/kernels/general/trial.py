"""A stretch of a tour and what is to replace it: what that costs, and whether every limit is kept."""

import numpy as np

from fairway.kernels.compiling import inner
from fairway.kernels.general.duration import shortest_duration
from fairway.kernels.general.insertion import (
    ABOVE,
    BELOW,
    FREE,
    LATEST,
    LEAVE,
    LOAD,
    OUT,
    REAL,
    ROOMY,
    SPARE,
    START,
    delayed,
)
from fairway.kernels.general.state import Search
from fairway.kernels.general.timing import priced, start_at
from fairway.kernels.general.tour_model import (
    COST,
    DEMAND,
    DURATION,
    LOADED,
    MAKESPAN,
    ROOM,
    SERVICE,
    SHRINKING,
    TAKEN_BY,
    TourModel,
)

NEW, OLD = range(2)
"""Rows of the trial: what comes into the tour, and what it replaces."""


@inner
def judged(
    model: TourModel, search: Search, stretch: tuple[int, int, int], legs: float, prizes: float
) -> float:
    """What the tour is worth more with the trial in place of a stretch; infinite where it breaks a limit."""
    start, stop, count = stretch
    if model.laden and not _borne(model, search, stretch):
        return np.inf
    if not model.timed:
        return legs + prizes
    later = _late(model, search, stretch)
    if later == np.inf:
        return np.inf
    if model.objective == DURATION:
        old = shortest_duration(model, search.draft)
        splice(search, start, stop, count, NEW)
        more = shortest_duration(model, search.draft) - old
        splice(search, start, start + count, stop - start, OLD)
        return more + prizes
    return later + prizes + (legs if model.objective == COST else 0.0)


@inner
def _borne(model: TourModel, search: Search, stretch: tuple[int, int, int]) -> bool:
    """Whether the loads stay within all limits."""
    draft, nodes = search.draft, len(model.node)
    start, stop, count = stretch
    aboard = draft.times[start - 1, LOAD]
    change = aboard - draft.times[stop - 1, LOAD]
    for place in range(count):
        node = search.trial[NEW, place]
        change += model.node[node, DEMAND] if node < nodes else 0.0
    if model.load == SHRINKING:
        if change > draft.times[start - 1, ABOVE]:
            return False
        aboard = draft.times[draft.length[0] - 1, LOAD] + change - aboard
    else:
        more = _loaded_more(model, search, stretch) if model.loadable > 0 else 0.0
        if more > draft.times[start - 1, ROOMY] or -more > draft.times[start - 1, SPARE]:
            return False
        aboard, change = aboard + more, change + more
        if change > draft.times[stop, ABOVE] or -change > draft.times[stop, BELOW]:
            return False
    for place in range(count):
        node = search.trial[NEW, place]
        if node >= nodes:
            continue
        if model.load == SHRINKING:
            if aboard > model.node[node, ROOM]:
                return False
            aboard -= model.node[node, DEMAND]
        else:
            aboard += model.node[node, DEMAND]
            if aboard > model.node[node, ROOM] or aboard < model.empty:
                return False
    return True


@inner
def _loaded_more(model: TourModel, search: Search, stretch: tuple[int, int, int]) -> float:
    """How much more is loaded at the start for the trial than for the stretch."""
    nodes, more = len(model.node), 0.0
    start, stop, count = stretch
    for place in range(count):
        node = search.trial[NEW, place]
        more += model.node[node, LOADED] if node < nodes else 0.0
    for at in range(start, stop):
        node = search.draft.node[at]
        more -= model.node[node, LOADED] if node < nodes else 0.0
    return more


@inner
def _late(model: TourModel, search: Search, stretch: tuple[int, int, int]) -> float:
    """What lateness and, where that counts, the end of the tour cost more; infinite where a limit is broken."""
    draft, nodes, price = search.draft, len(model.node), 0.0
    start, stop, count = stretch
    here, leave = draft.around[start - 1, REAL], draft.times[start - 1, LEAVE]
    free = draft.times[start - 1, FREE]
    for place in range(count):
        node = search.trial[NEW, place]
        if node >= nodes:
            rest = model.breaks[node - nodes]
            begin = max(leave, free, rest[0])
            if begin > rest[1]:
                return np.inf
            leave, free = leave + rest[2], begin + rest[2]
            continue
        begin = start_at(model, node, max(leave + model.legs[TAKEN_BY, here, node], free))
        if begin == np.inf:
            return np.inf
        price += priced(model, node, begin)
        here, leave, free = node, begin + model.node[node, SERVICE], -np.inf
    there = draft.node[stop]
    begin = start_at(model, there, max(leave + model.legs[TAKEN_BY, here, there], free))
    if begin > draft.times[stop, LATEST] or begin == np.inf:
        return np.inf
    if not model.soft and model.objective != MAKESPAN and len(model.breaks) == 0:
        return 0.0
    if model.soft:
        for at in range(start, stop):
            if draft.node[at] < nodes:
                price -= priced(model, draft.node[at], draft.times[at, START])
    dearer, later = delayed(model, draft, stop, here, leave, free)
    if model.objective != DURATION and _due(model, search, later):
        return np.inf
    return price + dearer + (later if model.objective == MAKESPAN else 0.0)


@inner
def _due(model: TourModel, search: Search, later: float) -> bool:
    """Whether a break that is not taken would be due if the tour ended so much later."""
    draft = search.draft
    end = draft.times[draft.length[0] - 1, LEAVE] + later
    for number in range(len(model.breaks)):
        if draft.place[len(model.node) + number] == OUT and end > model.breaks[number, 1]:
            return True
    return False


@inner
def splice(search: Search, start: int, stop: int, count: int, row: int) -> None:
    """Put so many nodes of a row of the trial in place of a stretch, and that into the other row."""
    draft, trial, length = search.draft, search.trial, search.draft.length[0]
    for at in range(start, stop):
        trial[1 - row, at - start] = draft.node[at]
        draft.place[draft.node[at]] = OUT
    shift = count - (stop - start)
    if shift > 0:
        for at in range(length - 1, stop - 1, -1):
            draft.node[at + shift] = draft.node[at]
    elif shift < 0:
        for at in range(stop, length):
            draft.node[at + shift] = draft.node[at]
    draft.length[0] = length + shift
    for place in range(count):
        draft.node[start + place] = trial[row, place]
        draft.place[trial[row, place]] = start + place
