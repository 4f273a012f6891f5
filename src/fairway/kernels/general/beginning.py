"""What is known of the beginning of a tour, and how it goes on: to a stop, or to a break.

Times are pairs as in the judge: a tour that leaves at D is somewhere at max(D + ahead, at), for all D from `low` to
`high`. Where the departure is given, `ahead` is minus infinity and times are added up in `at`, leg by leg.
"""

import numpy as np
from jaxtyping import Float

from fairway.kernels.compiling import inner
from fairway.kernels.general.tour_model import (
    DEMAND,
    DUE,
    DURATION,
    LATE,
    LOADED,
    ROOM,
    SERVICE,
    SHRINKING,
    SIGNED,
    SPENT_ON,
    TAKEN_BY,
    TourModel,
)  # fmt: skip

LOW, HIGH, AHEAD, AT, FREE, FREE_AT, SPENT, PRICE, LOAD, TIGHT, SHORT, LEFT, COLUMNS = range(13)
"""Of a beginning: its departures, its time, the end of its last break, what its legs cost and its lateness at least,
the load, and the most that may be on board in all. Where cargo is loaded for stops, the load without that for stops to
come, and of that the most, the least and all that there is. Then how many columns that is."""

State = Float[np.ndarray, " S"]


@inner
def begin(model: TourModel, departure: int, state: State) -> None:
    """Work out the state of a tour that leaves in one of its departures."""
    state[LOW], state[HIGH] = model.leaving[departure, 0], model.leaving[departure, 1]
    state[AHEAD], state[AT] = -np.inf, state[LOW]
    if model.objective == DURATION:
        state[AHEAD], state[AT] = 0.0, -np.inf
    state[FREE] = state[FREE_AT] = -np.inf
    state[SPENT] = state[PRICE] = 0.0
    state[LOAD], state[TIGHT], state[SHORT], state[LEFT] = model.aboard, np.inf, 0.0, model.loadable
    if model.loadable > 0:
        state[TIGHT] = min(model.spare, model.loadable - model.empty)


@inner
def rested(model: TourModel, old: State, new: State, number: int) -> bool:
    """Work out the state after a break that is taken as soon as it may be; whether that is in time."""
    rest = model.breaks[number]
    first, last, length = rest[0], rest[1], rest[2]
    ahead = max(old[AHEAD], old[FREE])
    at = max(old[AT], old[FREE_AT], first)
    high = min(old[HIGH], last - ahead)
    if at > last or old[LOW] > high:
        return False
    for column in range(COLUMNS):
        new[column] = old[column]
    new[HIGH], new[AHEAD], new[AT] = high, old[AHEAD] + length, old[AT] + length
    new[FREE], new[FREE_AT] = ahead + length, at + length
    return True


@inner
def served(model: TourModel, old: State, new: State, leg: tuple[int, int, int]) -> bool:
    """Work out the state after a node, come to from another and served in one of its windows.

    False where there is no departure for it; the load is left to `carried`.
    """
    here, node, window = leg
    travel = model.legs[TAKEN_BY, here, node]
    place = model.first[node] + window
    if travel >= model.no_way or place >= model.first[node + 1]:
        return False
    ahead = max(old[AHEAD] + travel, old[FREE])
    at = max(old[AT] + travel, old[FREE_AT])
    low, high = old[LOW], min(old[HIGH], model.windows[place, 1] - ahead)
    if at > model.windows[place, 1]:
        return False
    for earlier in range(model.first[node], place):
        if at <= model.windows[earlier, 1]:
            if ahead == -np.inf:
                return False
            low = max(low, np.nextafter(model.windows[earlier, 1] - ahead, np.inf))
    if low > high:
        return False
    at = max(at, model.windows[place, 0])
    new[PRICE] = old[PRICE]
    if model.node[node, LATE] > 0:
        late = max(low + ahead, at) - model.node[node, DUE]
        new[PRICE] += model.node[node, LATE] * max(late, 0.0)
    new[LOW], new[HIGH] = low, high
    new[AHEAD], new[AT] = ahead + model.node[node, SERVICE], at + model.node[node, SERVICE]
    new[FREE] = new[FREE_AT] = -np.inf
    new[SPENT] = old[SPENT] + model.legs[SPENT_ON, here, node]
    return True


@inner
def carried(model: TourModel, old: State, new: State, node: int) -> bool:
    """Take the cargo of a node on board; whether it may be there."""
    load = old[LOAD] + model.node[node, DEMAND]
    new[LOAD], new[TIGHT], new[SHORT], new[LEFT] = load, old[TIGHT], old[SHORT], old[LEFT]
    if model.loadable > 0:
        return _loaded(model, old, new, node)
    if model.load == SHRINKING:
        # On arrival all is on board but what was delivered before; the total is known at the end.
        new[TIGHT] = min(old[TIGHT], model.node[node, ROOM] + old[LOAD])
        return load <= new[TIGHT]
    if model.load == SIGNED and load < model.empty:
        return False
    return load <= model.node[node, ROOM]


@inner
def _loaded(model: TourModel, old: State, new: State, node: int) -> bool:
    """The same where cargo is loaded for stops: how much more of it may be on board in all, and must be."""
    more = model.node[node, LOADED]
    load, left = new[LOAD] + more, max(old[LEFT] - more, 0.0)
    new[LOAD], new[LEFT] = load, left
    # What cannot bind any more is levelled, so that one beginning may stand for another.
    new[TIGHT] = min(old[TIGHT] - more, model.node[node, ROOM] - load, left - model.empty)
    new[SHORT] = max(old[SHORT] - more, model.empty - load, 0.0)
    last = node == len(model.node) - 1
    return new[TIGHT] >= 0 and new[SHORT] <= (0.0 if last else left)
