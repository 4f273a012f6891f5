"""The least time between departure and end of a tour, the departure being free."""

import numpy as np

from fairway.kernels.compiling import inner
from fairway.kernels.general.insertion import OUT, Draft
from fairway.kernels.general.timing import priced
from fairway.kernels.general.tour_model import DUE, LATE, SERVICE, TAKEN_BY, TourModel

STEP = 1e-9
"""From the last departure for some windows to the first for others; the smallest step could be lost in a sum."""


@inner
def shortest_duration(model: TourModel, draft: Draft) -> float:
    """The least duration and price of lateness over all departures, found from one bend to the next."""
    least = np.inf
    for window in range(len(model.leaving)):
        low, end = model.leaving[window, 0], model.leaving[window, 1]
        while low <= end:
            value, high = _piece(model, draft, low, end)
            least = min(least, value)
            if not high < end:
                break
            low = max(low, high) + STEP * max(1.0, abs(high))
    return least


@inner
def _piece(model: TourModel, draft: Draft, low: float, end: float) -> tuple[float, float]:
    """The value of leaving as late as all windows stay the same, or at once, and when that is."""
    nodes = len(model.node)
    ahead, at, free, free_at, high, here = 0.0, -np.inf, -np.inf, -np.inf, end, 0
    for position in range(1, draft.length[0]):
        node = draft.node[position]
        if node >= nodes:
            rest = model.breaks[node - nodes]
            begin, begin_at = max(ahead, free), max(at, free_at, rest[0])
            if begin_at > rest[1] or low + begin > rest[1]:
                return np.inf, np.inf
            high = min(high, rest[1] - begin)
            free, free_at = begin + rest[2], begin_at + rest[2]
            ahead, at = ahead + rest[2], at + rest[2]
            continue
        ahead = max(ahead + model.legs[TAKEN_BY, here, node], free)
        at = max(at + model.legs[TAKEN_BY, here, node], free_at)
        arrival, found = max(low + ahead, at), False
        for window in range(model.first[node], model.first[node + 1]):
            if arrival <= model.windows[window, 1]:
                high = min(high, model.windows[window, 1] - ahead)
                at = max(at, model.windows[window, 0])
                found = True
                break
        if not found:
            return np.inf, np.inf
        ahead, at, free, free_at = (
            ahead + model.node[node, SERVICE], at + model.node[node, SERVICE], -np.inf, -np.inf,
        )  # fmt: skip
        here = node
    for number in range(len(model.breaks)):
        if draft.place[nodes + number] == OUT:
            if max(low + ahead, at) > model.breaks[number, 1]:
                return np.inf, np.inf
            high = min(high, model.breaks[number, 1] - ahead)
    value = max(ahead, at - high if high < np.inf else -np.inf)
    if model.soft:
        value = _with_lateness(model, draft, low, min(high, max(low, at - ahead)))
    return value, high


@inner
def _with_lateness(model: TourModel, draft: Draft, low: float, last: float) -> float:
    """The least duration and price of lateness between two departures with the same windows: a convex function."""
    least, departure = np.inf, low
    while True:
        value, slope, bend = _at_departure(model, draft, low, departure)
        least = min(least, value)
        if departure >= last or slope >= 0:
            return least
        departure = min(bend, last)


@inner
def _at_departure(
    model: TourModel, draft: Draft, low: float, departure: float
) -> tuple[float, float, float]:
    """The duration and the price of lateness of a departure, with the windows of another; slope and next bend."""
    nodes, here, price, slope, bend = len(model.node), 0, 0.0, 0.0, np.inf
    ahead, at, free, free_at = 0.0, -np.inf, -np.inf, -np.inf
    for position in range(1, draft.length[0]):
        node = draft.node[position]
        if node >= nodes:
            rest = model.breaks[node - nodes]
            free, free_at = max(ahead, free) + rest[2], max(at, free_at, rest[0]) + rest[2]
            ahead, at = ahead + rest[2], at + rest[2]
            continue
        ahead = max(ahead + model.legs[TAKEN_BY, here, node], free)
        at = max(at + model.legs[TAKEN_BY, here, node], free_at)
        at = max(at, _opening(model, node, max(low + ahead, at)))
        if model.node[node, LATE] > 0:
            price += priced(model, node, max(departure + ahead, at))
            turn = max(at, model.node[node, DUE]) - ahead
            if turn <= departure:
                slope += model.node[node, LATE]
            else:
                bend = min(bend, turn)
        ahead, at = ahead + model.node[node, SERVICE], at + model.node[node, SERVICE]
        here, free, free_at = node, -np.inf, -np.inf
    if departure + ahead < at:
        slope, bend = slope - 1.0, min(bend, at - ahead)
    return price + max(departure + ahead, at) - departure, slope, bend


@inner
def _opening(model: TourModel, node: int, arrival: float) -> float:
    """When the window opens in which a node is served."""
    for window in range(model.first[node], model.first[node + 1]):
        if arrival <= model.windows[window, 1]:
            return model.windows[window, 0]
    return np.inf
