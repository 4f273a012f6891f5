"""Where a break is taken."""

import numpy as np

from fairway.kernels.compiling import inner
from fairway.kernels.general.insertion import (
    FREE,
    LATEST,
    LEAVE,
    LEGS,
    REAL,
    START,
    Draft,
    delayed,
)
from fairway.kernels.general.timing import priced, start_at
from fairway.kernels.general.tour_model import SERVICE, TAKEN_BY, TourModel


@inner
def place_for_break(model: TourModel, draft: Draft, number: int) -> int:
    """Where a break delays the end least and makes nothing late, or 0 where nowhere."""
    nodes, rest = len(model.node), model.breaks[number]
    where, least = 0, np.inf
    for at in range(1, draft.length[0]):
        there = draft.node[at]
        begin = max(draft.times[at - 1, LEAVE], draft.times[at - 1, FREE], rest[0])
        if begin > rest[1]:
            break
        if there >= nodes:
            continue
        leave, here = draft.times[at - 1, LEAVE] + rest[2], draft.around[at - 1, REAL]
        start = start_at(
            model, there, max(leave + model.legs[TAKEN_BY, here, there], begin + rest[2])
        )
        if start > draft.times[at, LATEST] or start == np.inf:
            continue
        price, later = priced(model, there, start), start - draft.times[at, START]
        price -= priced(model, there, draft.times[at, START])
        if at + 1 < draft.length[0]:
            leave = start + model.node[there, SERVICE]
            onward, later = delayed(model, draft, at + 1, there, leave, -np.inf)
            price += onward
        if price + LEGS * later < least:
            where, least = at, price + LEGS * later
    return where
