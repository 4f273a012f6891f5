"""Where stops, pairs and breaks come back is held against going over the whole tour, under every constraint."""

import math
from itertools import pairwise
from operator import itemgetter

import pytest
from tour_searches import OBJECTIVES, in_order, opened, refresh, searches

from fairway.kernels.compiling import njit
from fairway.kernels.general import annealing, insertion, pairs, rests
from fairway.kernels.general.insertion import LEAVE, LEGS, OUT, START
from fairway.kernels.general.tour_model import (
    BARRED,
    DEMAND,
    DUE,
    LATE,
    MAKESPAN,
    MATES,
    NEEDS,
    SHRINKING,
    SPENT_ON,
)

TRIES = 3
"""So often is a place looked for, since at times one is overlooked."""
cheapest, cheapest_pair = opened(insertion.cheapest), opened(pairs.cheapest_pair)
place_for_break = opened(rests.place_for_break)


@njit(_nrt=False)
def added(model, draft, node, at):
    """What a stop is said to cost before a position, infinite where it may not be there."""
    first, last = insertion.span_of(model, draft, node, 0)
    if not (
        first <= at < last and insertion.fits(model, draft, at, model.node[node, DEMAND], node)
    ):
        return math.inf
    more = insertion.added(model, draft, node, at, math.inf)
    return more if more < model.no_way / 2 else math.inf


@njit(_nrt=False)
def insert(draft, node, at):
    insertion.insert(draft, node, at)


@njit(_nrt=False)
def remove(draft, node):
    draft.node[draft.place[node]], draft.place[node] = OUT, OUT
    annealing._close_up(draft)


def counted(model, draft):
    """What decides where a stop comes back: legs, lateness and, where that is minimised, the end of the tour."""
    stops = [at for at in range(draft.length[0]) if draft.node[at] < len(model.node)]
    legs = sum(model.legs[SPENT_ON, draft.node[a], draft.node[b]] for a, b in pairwise(stops))
    price = sum(
        model.node[draft.node[at], LATE]
        * max(draft.times[at, START] - model.node[draft.node[at], DUE], 0.0)
        for at in (stops[1:] if model.soft else ())
    )
    ends = model.objective == MAKESPAN
    return price + (LEGS * legs + draft.times[draft.length[0] - 1, LEAVE] if ends else legs)


def tried(model, search, *places):
    """What is counted once nodes are put in before positions, the last first; infinite where a limit is broken."""
    draft = search.draft
    for node, at in places:
        insert(draft, node, at)
    kept = refresh(model, draft) and in_order(model, search)
    value = counted(model, draft) if kept else math.inf
    for node, _ in places:
        remove(draft, node)
    refresh(model, draft)
    return value


def without(model, search, *nodes):
    """What is counted without some nodes, of the tour or out already; infinite where a limit is broken."""
    for node in nodes:
        if search.draft.place[node] != OUT:
            remove(search.draft, node)
    return counted(model, search.draft) if refresh(model, search.draft) else math.inf


def restored(model, draft, tour):
    """The tour as it was."""
    draft.place[:] = OUT
    draft.node[: len(tour)], draft.length[0] = tour, len(tour)
    draft.place[tour] = range(len(tour))
    refresh(model, draft)


def mates(model, node):
    return model.linked[model.begin[MATES, node] : model.begin[MATES, node + 1]].tolist()


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_stop_costs_what_going_over_the_tour_says_wherever_it_comes_back(rng, objective):
    feasible = refused = 0
    for _, model, search in searches(rng, objective, 25):
        draft, tour = search.draft, search.draft.node[: search.draft.length[0]].copy()
        for node in range(1, len(model.node) - 1):
            if model.node[node, BARRED] or mates(model, node):
                continue
            before = without(model, search, node)
            kept = math.isfinite(before)
            claims = [math.inf]
            for at in range(1, draft.length[0] if kept else 0):
                claimed = added(model, draft, node, at)
                claims.append(claimed)
                after = tried(model, search, (node, at))
                assert claimed == pytest.approx(after - before, abs=1e-6)
                feasible, refused = feasible + (after < math.inf), refused + math.isinf(after)
            if kept:
                found = min(cheapest(model, draft, node, search.random)[1] for _ in range(TRIES))
                assert (found if found < model.no_way / 2 else math.inf) == min(claims)
            restored(model, draft, tour)
    assert min(feasible, refused) > 60


def couples(model):
    """Pickups with their deliveries that have no other partner, where they come back together."""
    for delivery in range(1, len(model.node) - 1 if model.load != SHRINKING else 0):
        needs = model.linked[model.begin[NEEDS, delivery] : model.begin[NEEDS, delivery + 1]]
        partners = mates(model, delivery)
        pickup = partners[0] if len(partners) == 1 else OUT
        alone = pickup in needs and len(mates(model, pickup)) == 1
        if alone and not model.node[[pickup, delivery], BARRED].any():
            yield pickup, delivery


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_pair_comes_back_where_it_costs_least_of_all_places(rng, objective):
    found = 0
    for _, model, search in searches(rng, objective, 120):
        draft, tour = search.draft, search.draft.node[: search.draft.length[0]].copy()
        for pair in couples(model):
            before = without(model, search, *pair)
            if math.isfinite(before):
                places = range(1, draft.length[0])
                values = {
                    (soon, late): tried(model, search, (pair[1], late), (pair[0], soon)) - before
                    for late in places
                    for soon in places[:late]
                }
                claims = [cheapest_pair(model, draft, *pair, search.random) for _ in range(TRIES)]
                soon, late, claimed = min(claims, key=itemgetter(2))
                least = min(values.values())
                if math.isfinite(least):
                    assert claimed == pytest.approx(least, abs=1e-6)
                    assert claimed == pytest.approx(values[soon, late], abs=1e-6)
                assert (claimed < model.no_way / 2) is math.isfinite(least)
                found += math.isfinite(least)
            restored(model, draft, tour)
    assert found > 10


@pytest.mark.parametrize("objective", ["cost", "makespan"])
def test_a_break_comes_back_where_it_delays_least(rng, objective):
    found = 0
    for _, model, search in searches(rng, objective, 60):
        draft, nodes = search.draft, len(model.node)
        tour = draft.node[: draft.length[0]].copy()
        for number in range(len(model.breaks)):
            if math.isinf(without(model, search, nodes + number)):
                restored(model, draft, tour)
                continue
            where = place_for_break(model, draft, number)
            values = {
                at: delay(model, search, nodes + number, at)
                for at in range(1, draft.length[0])
                if draft.node[at] < nodes
            }
            least = min(values.values())
            assert (where > 0) is math.isfinite(least)
            assert where == 0 or values[where] == pytest.approx(least, abs=1e-6)
            found += where > 0
            restored(model, draft, tour)
    assert found > 10


def delay(model, search, node, at):
    """Price of lateness and, a little, the end of the tour with a break before a position; infinite if out of time."""
    draft, value = search.draft, math.inf
    insert(draft, node, at)
    if refresh(model, draft):
        end = draft.times[draft.length[0] - 1, LEAVE]
        value = counted(model, draft) + (LEGS - (model.objective == MAKESPAN)) * end
    remove(draft, node)
    refresh(model, draft)
    return value
