"""A tour under any constraints as a labelling model: the hull of its windows, its order and its prizes.

What the labelling model forbids is part of no tour that keeps every constraint. Loads and breaks are left out of it.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from fairway import clock
from fairway.kernels.general.tour_model import (
    BARRED,
    COST,
    MAKESPAN,
    NEEDS,
    PRIZE,
    ROOM,
    SERVICE,
    SPENT_ON,
    TAKEN_BY,
    TourModel,
)
from fairway.kernels.labels.label_model import LabelModel, label_model_of, shortest_paths
from fairway.kernels.labels.ng_sweep import Gaps
from fairway.kernels.preprocessing import preprocess
from fairway.problems.checks import is_integral
from fairway.problems.model import HOME, START, Model, Resource

ROUNDING = 64 * np.finfo(np.float64).eps
"""By how much sums of times may differ that are taken in another order, as a part of the largest."""


class Relaxed(NamedTuple):
    """The relaxation of a tour: a model of the start, all stops that can be served, and the end."""

    model: Model
    node: Int[np.ndarray, " V"]
    """The nodes of the tour model that the nodes of the model are."""
    offset: float
    """What every tour is worth besides its legs: prices of stops that can never be served, and the departure."""
    whole: bool
    """Whether every tour is worth a whole number."""
    exact: bool
    """Whether nothing was left out of it, a tour is worth what its legs cost, and has stops."""


def relaxed_of(tour: TourModel) -> Relaxed | None:
    """The relaxation of a tour model; None where a stop that must be served can never be."""
    first, last = tour.windows[tour.first[:-1], 0], tour.windows[tour.first[1:] - 1, 1]
    barred = (tour.node[:, BARRED] > 0) | (first > last)
    stops = np.arange(len(barred))[1:-1]
    lost = tour.node[stops[barred[stops]], PRIZE].sum()
    if tour.hopeless or not np.isfinite(lost):
        return None
    node = np.concatenate(([0], stops[~barred[stops]], [len(barred) - 1]))
    time = _time(tour, node)
    prize = tour.node[node, PRIZE].copy()
    prize[[START, HOME]] = np.inf
    optional = np.isfinite(prize).any()
    departure = float(tour.leaving[0, 0]) if tour.objective == MAKESPAN else 0.0
    priced = tour.legs[SPENT_ON] if tour.objective == COST else tour.leaving
    amounts = (np.where(priced >= tour.no_way, 0.0, priced), prize[np.isfinite(prize)])
    whole = (tour.objective == COST or time.guard == 0) and is_integral(*amounts)
    before = _order(tour, node)
    return Relaxed(
        Model(
            _cost(tour, node, time),
            time,
            None,
            turned=False,
            before=before if before[1:HOME, 1:HOME].any() else None,
            prize=prize if optional else None,
        ),
        node,
        lost + departure,
        bool(whole and not tour.soft and float(lost).is_integer()),
        bool(_single(tour) and not optional and len(node) > 2),
    )


def _single(tour: TourModel) -> bool:
    """Whether a tour has nothing but windows and an order to keep, and its legs to pay."""
    laden = np.isfinite(tour.node[1:-1, ROOM]).any() or np.isfinite(tour.empty)
    timed = tour.soft or len(tour.breaks) > 0 or len(tour.windows) > len(tour.node)
    return not (laden or timed or tour.objective != COST)


def _time(tour: TourModel, node: Int[np.ndarray, " V"]) -> Resource:
    """When service starts, between the first opening and the last permitted start."""
    first, last = tour.windows[tour.first[:-1], 0], tour.windows[tour.first[1:] - 1, 1]
    leaving, travel = tour.leaving, tour.legs[TAKEN_BY]
    stay = tour.node[node, SERVICE].copy()
    stay[[START, HOME]] = 0.0  # what the depot takes is part of the departure
    legs = travel[np.ix_(node, node)]
    finite = np.where(legs >= tour.no_way, 0.0, legs)
    moments = np.concatenate((tour.windows[:, 0], leaving[:, 0], tour.breaks[:, 0]))
    latest_opening = max(float(moments[np.isfinite(moments)].max()), 0.0)
    spent = finite.max(axis=1).sum() + tour.node[:, SERVICE].sum() + tour.breaks[:, 2].sum()
    ceiling = float(latest_opening + spent + 1)
    rise = np.where(legs >= tour.no_way, 4 * ceiling, legs)
    rise[:, START] = rise[HOME] = 0.0
    earliest, latest = first[node], np.minimum(last[node], ceiling)
    earliest[START] = leaving[0, 0]
    earliest[HOME] = max(earliest[HOME], earliest[START])
    latest[START] = min(leaving[-1, 1], max(ceiling, leaving[0, 0]))
    several = np.diff(tour.first)[node] > 1
    idles = np.where(several, tour.windows[tour.first[1:] - 1, 0][node], -np.inf)
    if len(tour.breaks):
        idles[:] = np.inf
    bounded = [each[np.isfinite(each)] for each in (tour.windows, leaving)]
    exact = is_integral(finite, stay, tour.breaks, *bounded)
    guard = 0.0 if exact else float(ROUNDING * max(ceiling, np.abs(earliest).max()))
    asleep = several.any() or len(tour.breaks) > 0
    return Resource(
        stay,
        rise,
        earliest,
        latest,
        allowance=0.0,
        guard=guard,
        ceiling=ceiling,
        by_set=False,
        idles=idles if asleep else None,
    )


def _cost(tour: TourModel, node: Int[np.ndarray, " V"], time: Resource) -> Float[np.ndarray, "V V"]:
    """What each leg adds to the value at least."""
    if tour.objective == COST:
        cost = tour.legs[SPENT_ON][np.ix_(node, node)]
    else:
        cost = time.increment.copy()
        cost[:, HOME] += tour.node[-1, SERVICE]
    cost[:, START] = cost[HOME] = 0.0
    return cost


def _order(tour: TourModel, node: Int[np.ndarray, " V"]) -> Bool[np.ndarray, "V V"]:
    """Who comes before whom, by way of others too."""
    before = np.zeros((len(tour.node),) * 2, dtype=bool)
    for late in node[1:]:
        begin, end = tour.begin[NEEDS, late], tour.begin[NEEDS, late + 1]
        before[tour.linked[begin:end], late] = True
    before = before[np.ix_(node, node)]
    for between in range(1, len(node) - 1):
        before |= before[:, between, None] & before[between]
    return before


def gaps_of(tour: TourModel, node: Int[np.ndarray, " N"]) -> Gaps | None:
    """When these nodes are shut between two of their windows, the depot apart; None where none has several."""
    if len(tour.windows) == len(tour.node):
        return None
    shut = [
        np.column_stack((spans[:-1, 1], spans[1:, 0]))
        for spans in (tour.windows[tour.first[each] : tour.first[each + 1]] for each in node[1:])
    ]
    begin = np.cumsum([0, 0, *map(len, shut)])
    return Gaps(begin, np.concatenate(shut))


def quick_model(relaxed: Relaxed, until: float) -> LabelModel | None:
    """The labelling model that shortest paths give; None where there is no time for them."""
    assert relaxed.model.time is not None, "a relaxation keeps times"
    paths = shortest_paths(relaxed.model.time, until)
    return None if paths is None else label_model_of(relaxed.model, paths=paths)


def tight_model(relaxed: Relaxed, until: float) -> LabelModel | str | None:
    """The labelling model that preprocessing leaves, why there is no tour, or None where there is no time.

    Its rules are for stops that all must be visited.
    """
    if relaxed.model.prize is not None:
        return None
    pruned = preprocess(relaxed.model, until)
    if pruned.infeasible is not None:
        return pruned.infeasible
    return label_model_of(relaxed.model, pruned=pruned) if clock.now() < until else None
