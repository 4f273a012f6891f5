"""Ruin and recreate, and local moves, over any constraints, kept by the rule of simulated annealing.

Strings of stops around one place leave the tour, and they and all that is left out come back one by one where they cost
least. What finds no place stays out: stops that must be served then count more each time, until one of them is worth
another's place.
"""

import numpy as np

from fairway.kernels.compiling import bare, inner
from fairway.kernels.general.exchange import exchange
from fairway.kernels.general.insertion import (
    LEAVE,
    OUT,
    Draft,
    cheapest,
    insert,
    refresh,
)
from fairway.kernels.general.pairs import cheapest_pair
from fairway.kernels.general.rests import place_for_break
from fairway.kernels.general.state import (
    BEST,
    BEST_OUT,
    KEPT,
    KEPT_OUT,
    Search,
    crown,
    keep,
    load,
    worth,
)
from fairway.kernels.general.tour_model import (
    BARRED,
    DEMAND,
    DUE,
    MATES,
    NEEDS,
    PRIZE,
    SHRINKING,
    SPENT_ON,
    TourModel,
)
from fairway.kernels.moves.rng import Random, uniform

STRINGS, LONGEST = 3, 12
"""The most strings that are taken out at once, and the stops of the longest."""
AT_ONCE = 100
"""The most stops that come back in one round, which so ends soon even where all are out."""
ORDERS = 4
"""In which stops come back: by chance, by their closing, the farthest or the largest first, or what is dear to miss."""


@bare
def anneal(model: TourModel, search: Search, temperature: float, rounds: int, moves: int) -> None:
    """So many rounds, each of one ruin and so many moves."""
    for _ in range(rounds):
        load(search)
        _ruin(model, search)
        count = _gather(model, search)
        _recreate(model, search, min(count, AT_ONCE))
        _judge(model, search, temperature, count <= AT_ONCE)
        if search.values[KEPT] < np.inf:
            exchange(model, search, temperature, moves)


@inner
def _ruin(model: TourModel, search: Search) -> None:
    """Take out strings around one stop, their partners, and each break half of the time."""
    draft, random, nodes = search.draft, search.random, len(model.node)
    seed = 1 + int(uniform(random) * (nodes - 2)) if nodes > 2 else 1
    strings = 1 + int(uniform(random) * STRINGS)
    for turn in range(-1, search.near.shape[1]):
        stop = seed if turn < 0 else search.near[seed, turn]
        at = draft.place[stop]
        if at < 0 or draft.node[at] < 0:
            continue
        length = 1 + int(uniform(random) * LONGEST)
        first = max(1, at - int(uniform(random) * length))
        for place in range(first, min(first + length, draft.length[0] - 1)):
            _drop(model, draft, draft.node[place], place)
        strings -= 1
        if strings == 0:
            break
    for number in range(len(model.breaks)):
        at = draft.place[nodes + number]
        if at > 0 and draft.node[at] >= 0 and uniform(random) < 0.5:
            _drop(model, draft, nodes + number, at)
    _close_up(draft)


@inner
def _drop(model: TourModel, draft: Draft, node: int, at: int) -> None:
    """Leave a gap in a stop's place, and in that of each partner."""
    if node < 0:
        return
    draft.node[at], draft.place[node] = OUT, OUT
    if node < len(model.node):
        for place in range(model.begin[MATES, node], model.begin[MATES, node + 1]):
            mate = model.linked[place]
            where = draft.place[mate]
            if where > 0 and mate < len(model.node) - 1:
                draft.node[where], draft.place[mate] = OUT, OUT


@inner
def _close_up(draft: Draft) -> None:
    standing = 0
    for at in range(draft.length[0]):
        node = draft.node[at]
        if node >= 0:
            draft.node[standing], draft.place[node] = node, standing
            standing += 1
    draft.length[0] = standing


@inner
def _gather(model: TourModel, search: Search) -> int:
    """All stops that are out, in the order in which they come back; how many."""
    draft, random, count = search.draft, search.random, 0
    order, last = int(uniform(random) * ORDERS), len(model.node) - 1
    ordered = model.begin[NEEDS, last + 1] > model.begin[NEEDS, 0]
    if ordered and last - 1 - draft.length[0] > AT_ONCE:
        order = ORDERS  # of those that come back at once none may need one that does not
    for node in range(1, last):
        if draft.place[node] != OUT or model.node[node, BARRED] > 0:
            continue
        rank = uniform(random)
        if order == ORDERS:
            rank += model.begin[NEEDS, node + 1] - model.begin[NEEDS, node]
        elif order == 1:
            rank = model.node[node, DUE] + 1e-9 * rank
        elif order == 2:
            rank = -model.legs[SPENT_ON, 0, node]
        elif order == 3 and not model.laden and model.node[node, PRIZE] < np.inf:
            rank = 1.0 + 1.0 / (model.node[node, PRIZE] * rank + 1e-9)
        elif order == 3:
            rank = -abs(model.node[node, DEMAND]) + 1e-3 * rank
        at = count
        while at > 0 and search.rank[at - 1] > rank:
            search.rank[at], search.out[at] = search.rank[at - 1], search.out[at - 1]
            at -= 1
        search.rank[at], search.out[at] = rank, node
        count += 1
    return count


@inner
def _recreate(model: TourModel, search: Search, count: int) -> None:
    """Put back what finds a place and is worth it, then the breaks that are due."""
    draft, random = search.draft, search.random
    refresh(model, draft)
    for number in range(count):
        node = search.out[number]
        if draft.place[node] != OUT:
            continue
        mates = model.begin[MATES, node + 1] - model.begin[MATES, node]
        mate = model.linked[model.begin[MATES, node]] if mates == 1 else 0
        if 0 < mate < len(model.node) - 1 and draft.place[mate] == OUT:
            _put_in_pair(model, draft, node, mate, random)
            continue
        where, more = cheapest(model, draft, node, random)
        if where > 0 and more < model.node[node, PRIZE]:
            insert(draft, node, where)
            refresh(model, draft)
    _put_in_breaks(model, draft, random)
    if _cascade(model, draft):
        refresh(model, draft)


@inner
def _put_in_pair(model: TourModel, draft: Draft, node: int, mate: int, random: Random) -> None:
    """Put in a stop and its partner, in their order; where the load shrinks one after the other."""
    pickup, delivery = node, mate
    for place in range(model.begin[NEEDS, node], model.begin[NEEDS, node + 1]):
        if model.linked[place] == mate:
            pickup, delivery = mate, node
    worth = model.node[pickup, PRIZE] + model.node[delivery, PRIZE]
    if model.load != SHRINKING:
        one, other, more = cheapest_pair(model, draft, pickup, delivery, random)
        if one > 0 and more < worth:
            insert(draft, delivery, other)
            insert(draft, pickup, one)
            refresh(model, draft)
        return
    one, more = cheapest(model, draft, pickup, random)
    if one > 0:
        insert(draft, pickup, one)
        refresh(model, draft)
        other, besides = cheapest(model, draft, delivery, random)
        if other > 0 and more + besides < worth:
            insert(draft, delivery, other)
        else:
            _take_back(draft, draft.place[pickup])
        refresh(model, draft)


@inner
def _take_back(draft: Draft, at: int) -> None:
    draft.place[draft.node[at]] = OUT
    draft.node[at] = OUT
    _close_up(draft)


@inner
def _put_in_breaks(model: TourModel, draft: Draft, random: Random) -> None:
    """Put in the breaks that are due, whichever first."""
    nodes, breaks = len(model.node), len(model.breaks)
    turn = int(uniform(random) * breaks)
    for count in range(breaks):
        number = (turn + count) % breaks
        late = draft.times[draft.length[0] - 1, LEAVE] > model.breaks[number, 1]
        if draft.place[nodes + number] == OUT and late:
            where = place_for_break(model, draft, number)
            if where > 0:
                insert(draft, nodes + number, where)
                refresh(model, draft)


@inner
def _cascade(model: TourModel, draft: Draft) -> bool:
    """Take out what needs a stop that is left out; whether there was any."""
    nodes, any_out, again = len(model.node), False, True
    while again:
        again = False
        for at in range(1, draft.length[0] - 1):
            node = draft.node[at]
            if node < 0 or node >= nodes:
                continue
            alone = False
            for place in range(model.begin[NEEDS, node], model.begin[NEEDS, node + 1]):
                alone |= draft.place[model.linked[place]] == OUT
            for place in range(model.begin[MATES, node], model.begin[MATES, node + 1]):
                mate = model.linked[place]
                alone |= draft.place[mate] == OUT and mate < nodes - 1
            if alone:
                draft.node[at], draft.place[node] = OUT, OUT
                again = any_out = True
    if any_out:
        _close_up(draft)
    return any_out


@inner
def _judge(model: TourModel, search: Search, temperature: float, tried: bool) -> None:
    """Go on from the new tour, or from the old one; keep it if it is the best."""
    draft, values = search.draft, search.values
    if not refresh(model, draft):
        return
    value, missing, kept_missing = worth(model, draft), 0.0, 0.0
    for node in range(1, len(model.node) - 1):
        if model.node[node, PRIZE] == np.inf and draft.place[node] == OUT:
            missing += search.weight[node]
            search.weight[node] += 1.0 if tried else 0.0
    if values[KEPT_OUT] > 0:
        kept_missing = _missing(model, search)
    for number in range(len(model.breaks)):
        at = draft.place[len(model.node) + number]
        missing += at == OUT and draft.times[draft.length[0] - 1, LEAVE] > model.breaks[number, 1]
    threshold = values[KEPT] - temperature * np.log(1.0 - uniform(search.random))
    if missing < kept_missing or (missing == kept_missing and value <= threshold):
        values[KEPT], values[KEPT_OUT] = value, missing
        keep(search, 0, draft.length[0])
        if missing < values[BEST_OUT] or (missing == values[BEST_OUT] and value < values[BEST]):
            crown(search, value, missing)


@inner
def _missing(model: TourModel, search: Search) -> float:
    """What the kept tour leaves out counts now."""
    total = 0.0
    for node in range(len(search.rank)):
        search.rank[node] = 0.0
    for at in range(search.sizes[0]):
        if search.kept[at] < len(search.rank):
            search.rank[search.kept[at]] = 1.0
    for node in range(1, len(model.node) - 1):
        if model.node[node, PRIZE] == np.inf and search.rank[node] == 0:
            total += search.weight[node]
    return max(total, min(search.values[KEPT_OUT], 1.0))
