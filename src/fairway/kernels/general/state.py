"""A search at any moment: the tour it goes on from, the best one, and one that is being changed."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from fairway.kernels.compiling import inner
from fairway.kernels.general.duration import shortest_duration
from fairway.kernels.general.insertion import LEAVE, OUT, REAL, START, Draft
from fairway.kernels.general.order import Order
from fairway.kernels.general.timing import priced
from fairway.kernels.general.tour_model import DURATION, MAKESPAN, PRIZE, SPENT_ON, TourModel
from fairway.kernels.moves.rng import Random

KEPT, KEPT_OUT, BEST, BEST_OUT = range(4)
"""What the kept tour is worth and what it leaves out counts, and the same of the best one."""


class Search(NamedTuple):
    """Two tours, and what the moves need to know."""

    draft: Draft
    kept: Int[np.ndarray, " M"]
    """The tour to go on from."""
    best: Int[np.ndarray, " M"]
    sizes: Int[np.ndarray, " 2"]
    """Positions of the two."""
    values: Float[np.ndarray, " 4"]
    weight: Float[np.ndarray, " V"]
    """What leaving out a stop counts that must be served."""
    near: Int[np.ndarray, "V K"]
    """The stops around each, nearest first."""
    after: Int[np.ndarray, "V S"]
    """What may come after each at little cost, the cheapest first."""
    order: Order
    mirrored: bool
    """Whether all legs cost the same in both directions."""
    out: Int[np.ndarray, " V"]
    rank: Float[np.ndarray, " V"]
    trial: Int[np.ndarray, "2 M"]
    """What is to come into the tour, and what it replaces."""
    random: Random


@inner
def load(search: Search) -> None:
    """Begin to change the kept tour; times are still to be worked out."""
    draft = search.draft
    for node in range(len(draft.place)):
        draft.place[node] = OUT
    for at in range(search.sizes[0]):
        draft.node[at] = search.kept[at]
        draft.place[search.kept[at]] = at
    draft.length[0] = search.sizes[0]


@inner
def keep(search: Search, first: int, stop: int) -> None:
    """Go on from the changed tour, which is another than the kept one only between two positions."""
    search.sizes[0] = search.draft.length[0]
    for at in range(first, stop):
        search.kept[at] = search.draft.node[at]


@inner
def crown(search: Search, value: float, missing: float) -> None:
    """The changed tour is the best."""
    search.values[BEST], search.values[BEST_OUT] = value, missing
    search.sizes[1] = search.draft.length[0]
    for at in range(search.sizes[1]):
        search.best[at] = search.draft.node[at]


@inner
def legs_of(model: TourModel, draft: Draft) -> float:
    """What the legs of a tour cost."""
    total = 0.0
    for at in range(1, draft.length[0]):
        if draft.node[at] < len(model.node):
            total += model.legs[SPENT_ON, draft.around[at - 1, REAL], draft.node[at]]
    return total


@inner
def left_out(model: TourModel, draft: Draft) -> float:
    """The price of what a tour leaves out and may."""
    total = 0.0
    for node in range(1, len(model.node) - 1):
        if draft.place[node] == OUT and model.node[node, PRIZE] < np.inf:
            total += model.node[node, PRIZE]
    return total


@inner
def worth(model: TourModel, draft: Draft) -> float:
    """What a tour that keeps every limit is worth: what is minimised, prices of lateness and of stops left out."""
    value = left_out(model, draft)
    if model.objective == DURATION:
        return value + shortest_duration(model, draft)
    if model.soft:
        for at in range(1, draft.length[0]):
            if draft.node[at] < len(model.node):
                value += priced(model, draft.node[at], draft.times[at, START])
    if model.objective == MAKESPAN:
        return value + draft.times[draft.length[0] - 1, LEAVE]
    return value + legs_of(model, draft)
