"""Local moves on a tour that keeps every limit: blocks change places and direction, optional stops come and go.

A move replaces a stretch of the tour. What its legs cost is known at once, and most moves end there; the others are
held against the order, then the loads, then the time, which are followed along the stretch and, where that is not
enough, until all is as before. Each move brings a stop next to one that may well follow it.
"""

import numpy as np
from jaxtyping import Float

from fairway.kernels.compiling import ONE, ZERO, inner
from fairway.kernels.general.insertion import LEGS, OUT, REAL, Draft, refresh, renew, span_of
from fairway.kernels.general.order import Order
from fairway.kernels.general.state import (
    BEST,
    BEST_OUT,
    KEPT,
    KEPT_OUT,
    Search,
    crown,
    keep,
    left_out,
    legs_of,
    load,
    worth,
)
from fairway.kernels.general.tour_model import (
    BARRED,
    COST,
    FOLLOWERS,
    MATES,
    NEEDS,
    PRIZE,
    SPENT_ON,
    TourModel,
)
from fairway.kernels.general.trial import NEW, judged, splice
from fairway.kernels.moves.rng import Random, uniform

FIRST_TURNED, SECOND_TURNED, BOTH_TURNED = 1, 2, 3
"""Which of two blocks that change places also change direction; where both do, a stretch is reversed."""
STRAIGHT = 0.85
"""How often blocks keep their direction where legs cost something else in the other one."""
LED = 0.7
"""How often two adjacent blocks are cut so that two stops come to be followed by one that may well follow."""
DROPPED = 0.05
"""How often a move is to leave a stop out, where it may be."""
HOPELESS = 12.0
"""What is never taken, in temperatures."""

Cuts = tuple[int, int, int]
"""Where two adjacent blocks begin, and what comes after them."""


@inner
def exchange(model: TourModel, search: Search, temperature: float, moves: int) -> None:
    """So many moves on the kept tour, each taken by the rule of simulated annealing."""
    draft, random, after, nodes = search.draft, search.random, search.after, len(model.node)
    load(search)
    if not refresh(model, draft):
        return
    search.values[KEPT] = worth(model, draft)
    slack = _slack(model, search)
    for _ in range(moves):
        last = draft.length[0] - 1
        at, chance = int(uniform(random) * last), uniform(random)
        node = draft.node[at]
        if node >= nodes:
            continue
        near = after[node, int(chance * chance * after.shape[1])]
        if model.node[node, PRIZE] < np.inf and uniform(random) < DROPPED:
            slack = _swap(model, search, OUT, at, temperature, slack)
            continue
        if draft.place[near] == OUT:
            slack = _swap(model, search, near, at + 1, temperature, slack)
            continue
        cuts, turned = _cuts(random, (at, draft.place[near]), last, search.mirrored)
        if turned == 0 and uniform(random) < LED:
            cuts = _led(search, (at, draft.place[near]), last, cuts)
        a, b, c = cuts
        if not 0 < a < b < c <= last or max(draft.node[a], draft.node[b], draft.node[c]) >= nodes:
            continue
        legs = lengthened(model.legs[SPENT_ON], draft, cuts, turned, search.mirrored)
        if legs - slack > HOPELESS * temperature:
            continue
        threshold = -temperature * np.log(1.0 - uniform(random))
        if legs - slack <= threshold and in_order(search.order, draft, cuts, turned):
            arrange(search, cuts, turned)
            slack = _settle(model, search, (a, c, c - a), (legs, 0.0), threshold, slack)


@inner
def _slack(model: TourModel, search: Search) -> float:
    """By how much a move may make a tour better beside what it saves on legs and prizes: lateness, and waiting."""
    if model.objective == COST and not model.soft:
        return 0.0
    return search.values[KEPT] - legs_of(model, search.draft) - left_out(model, search.draft)


@inner
def _settle(
    model: TourModel,
    search: Search,
    stretch: tuple[int, int, int],
    added: tuple[float, float],
    threshold: float,
    slack: float,
) -> float:
    """Put the trial in place of a stretch if that keeps every limit and costs no more than this; the slack then."""
    draft, values, legs = search.draft, search.values, added[0]
    more = judged(model, search, stretch, legs, added[1])
    if more + (0.0 if model.objective == COST else LEGS * legs) > threshold:
        return slack
    start, stop, count = stretch
    splice(search, start, stop, count, NEW)
    if count == stop - start:
        kept = renew(model, draft, start, stop)
    else:
        start, stop, kept = ONE, draft.length[0], refresh(model, draft)
    if not kept:  # by a rounding error
        load(search)
        refresh(model, draft)
        return slack
    values[KEPT] += more
    keep(search, start, stop)
    if values[KEPT_OUT] == 0 and (values[BEST_OUT] > 0 or values[KEPT] < values[BEST]):
        crown(search, values[KEPT], 0.0)
    if model.objective == COST and not model.soft:
        return 0.0
    return slack + more - legs - added[1]


@inner
def _cuts(random: Random, joined: tuple[int, int], last: int, mirrored: bool) -> tuple[Cuts, int]:
    """Where to cut so that the stop at one position comes to be followed by that at the other, and what is turned."""
    place, near = joined
    chance, shape, kind = uniform(random), uniform(random), 0
    reach = 1 + int(last * chance * chance * chance)
    if mirrored:
        kind = int(5 * shape)
    elif shape > STRAIGHT:
        kind = 2 + int(3 * (shape - STRAIGHT) / (1.0 - STRAIGHT))
    else:
        kind = int(2 * shape / STRAIGHT)
    if place < near:
        cuts, turned = (place, min(place + reach, near - 1), near), FIRST_TURNED
        if kind == 0:
            cuts, turned = (place + 1, near, min(near + reach, last)), 0
        elif kind == 1:
            cuts, turned = (max(place + 1 - reach, 1), place + 1, near), 0
        elif kind == 2:
            cuts, turned = (place + 1, near, near + 1), BOTH_TURNED
        elif kind == 3:
            middle = max(near + 1 - reach, place + 2)
            cuts, turned = (place + 1, middle, near + 1), SECOND_TURNED
        return cuts, turned
    cuts, turned = (near, place, min(place + reach, last)), SECOND_TURNED
    if kind == 0:
        cuts, turned = (near, max(place + 1 - reach, near + 1), place + 1), 0
    elif kind == 1:
        cuts, turned = (near, min(near + reach, place), place + 1), 0
    elif kind == 2:
        cuts, turned = (near + 1, place, place + 1), BOTH_TURNED
    elif kind == 3:
        cuts, turned = (max(near + 1 - reach, 1), near + 1, place + 1), FIRST_TURNED
    return cuts, turned


@inner
def _led(search: Search, joined: tuple[int, int], last: int, cuts: Cuts) -> Cuts:
    """The same with the third cut where it brings a stop that may well follow behind the one before the block."""
    draft, after, chance = search.draft, search.after, uniform(search.random)
    place, near = joined
    node = draft.around[near - 1, REAL]
    there = draft.place[after[node, int(chance * chance * after.shape[1])]]
    if place < near:
        if near < there <= last:
            return place + 1, near, there
        if 0 < there <= place:
            return there, place + 1, near
    elif near < there <= place:
        return near, there, place + 1
    return cuts


@inner
def lengthened(
    legs: Float[np.ndarray, "V V"], draft: Draft, cuts: Cuts, turned: int, mirrored: bool
) -> float:
    """What the legs cost more if two adjacent blocks change places; each begins with a stop, and so does the rest."""
    a, b, c = cuts
    node, around = draft.node, draft.around
    before, after = around[a - 1, REAL], node[c]
    first, first_end = node[a], around[b - 1, REAL]
    second, second_end = node[b], around[c - 1, REAL]
    more = -legs[before, first] - legs[first_end, second] - legs[second_end, after]
    if turned & FIRST_TURNED:
        first, first_end = first_end, first
        if not mirrored:
            more += _backwards(legs, draft, a, b)
    if turned & SECOND_TURNED:
        second, second_end = second_end, second
        if not mirrored:
            more += _backwards(legs, draft, b, c)
    return more + legs[before, second] + legs[second_end, first] + legs[first_end, after]


@inner
def _backwards(legs: Float[np.ndarray, "V V"], draft: Draft, start: int, stop: int) -> float:
    """What the legs within a block cost more in the other direction."""
    more = 0.0
    for at in range(start + 1, stop):
        here, there = draft.around[at - 1, REAL], draft.node[at]
        if there < len(legs):
            more += legs[there, here] - legs[here, there]
    return more


@inner
def in_order(order: Order, draft: Draft, cuts: Cuts, turned: int) -> bool:
    """Whether two adjacent blocks may change places; direct precedences suffice, since the tour keeps all."""
    if len(order.linked) == 0:
        return True
    a, b, c = cuts
    if b - a <= c - b:
        wrong = _linked_into(order, draft, FOLLOWERS, (a, b), (b, c))
    else:
        wrong = _linked_into(order, draft, NEEDS, (b, c), (a, b))
    if turned & FIRST_TURNED:
        wrong = wrong or _linked_into(order, draft, NEEDS, (a, b), (a, b))
    if turned & SECOND_TURNED:
        wrong = wrong or _linked_into(order, draft, NEEDS, (b, c), (b, c))
    return not wrong


@inner
def _linked_into(
    order: Order, draft: Draft, kind: int, block: tuple[int, int], other: tuple[int, int]
) -> bool:
    """Whether a list of any node of one block has a node of the other."""
    begin, linked = order
    for at in range(block[0], block[1]):
        node = draft.node[at]
        if node < begin.shape[1] - 1:
            for place in range(begin[kind, node], begin[kind, node + 1]):
                if other[0] <= draft.place[linked[place]] < other[1]:
                    return True
    return False


@inner
def arrange(search: Search, cuts: Cuts, turned: int) -> None:
    """Write the blocks into the trial, the second one first."""
    node, trial, count = search.draft.node, search.trial, 0
    a, b, c = cuts
    for at in range(b, c):
        trial[NEW, count] = node[b + c - 1 - at if turned & SECOND_TURNED else at]
        count += 1
    for at in range(a, b):
        trial[NEW, count] = node[a + b - 1 - at if turned & FIRST_TURNED else at]
        count += 1


@inner
def _swap(
    model: TourModel, search: Search, node: int, at: int, temperature: float, slack: float
) -> float:
    """Leave out the stop at a position, or put one that is out before it or in its place; the slack then."""
    alone = node == OUT or uniform(search.random) < 0.5
    stop = at + 1 if alone else at
    if not swappable(model, search, node, at, stop):
        return slack
    legs, prizes = swapped(model, search, node, at, stop)
    threshold = -temperature * np.log(1.0 - uniform(search.random))
    if legs + prizes - slack > threshold:
        return slack
    search.trial[NEW, 0] = node
    stretch = (at, stop, int(node != OUT))
    return _settle(model, search, stretch, (legs, prizes), threshold, slack)


@inner
def swapped(model: TourModel, search: Search, node: int, at: int, stop: int) -> tuple[float, float]:
    """What a node in place of a stretch of at most one stop adds to legs and prizes; OUT is no node."""
    draft, legs = search.draft, model.legs[SPENT_ON]
    here, there, prizes = draft.around[at - 1, REAL], draft.node[stop], 0.0
    more = -legs[here, there]
    if stop > at:
        leaver = draft.node[at]
        prizes += model.node[leaver, PRIZE]
        more = -legs[here, leaver] - legs[leaver, there]
    if node == OUT:
        return more + legs[here, there], prizes
    return more + legs[here, node] + legs[node, there], prizes - model.node[node, PRIZE]


@inner
def swappable(model: TourModel, search: Search, node: int, at: int, stop: int) -> bool:
    """Whether the order and the prizes let a node take the place of a stretch of at most one stop."""
    draft, nodes = search.draft, len(model.node)
    if at == 0 or stop >= draft.length[0] or draft.node[stop] >= nodes:
        return False
    if stop > at and not _spare(model, draft, at):
        return False
    if node == OUT:
        return True
    if model.node[node, BARRED] > 0 or model.node[node, PRIZE] == np.inf:
        return False
    first, end = span_of(model, draft, node, ZERO)
    alone = model.begin[MATES, node] == model.begin[MATES, node + 1]
    return alone and first <= at < end


@inner
def _spare(model: TourModel, draft: Draft, at: int) -> bool:
    """Whether the stop at a position may be left out alone: nothing on the tour needs it."""
    node = draft.node[at]
    if node >= len(model.node) - 1 or model.node[node, PRIZE] == np.inf:
        return False
    if model.begin[MATES, node] < model.begin[MATES, node + 1]:
        return False
    for place in range(model.begin[FOLLOWERS, node], model.begin[FOLLOWERS, node + 1]):
        if draft.place[model.linked[place]] != OUT:
            return False
    return True
