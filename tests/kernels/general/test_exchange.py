"""Whatever a local move is said to cost must be what the changed tour is worth, under every constraint."""

import math
from itertools import combinations

import numpy as np
import pytest
from tour_searches import OBJECTIVES, evaluated, load, opened, refresh, searches, tour, worth

from fairway.judge import Solution, verify
from fairway.kernels.compiling import njit
from fairway.kernels.general import exchange, trial
from fairway.kernels.general.insertion import OUT
from fairway.kernels.general.state import KEPT
from fairway.kernels.general.tour_model import PRIZE, SPENT_ON

TURNED = range(4)


moves = opened(exchange.exchange)
swappable, swapped = opened(exchange.swappable), opened(exchange.swapped)
splice, judged = opened(trial.splice), opened(trial.judged)


@njit(_nrt=False)
def proposed(model, search, cuts, turned):
    """What the legs of a move cost more, and whether it keeps the order; the blocks go to the trial."""
    draft = search.draft
    legs = exchange.lengthened(model.legs[SPENT_ON], draft, cuts, turned, search.mirrored)
    exchange.arrange(search, cuts, turned)
    return legs, exchange.in_order(search.order, draft, cuts, turned)


def held(instance, model, search, stretch, claimed, objective):
    """Whether a claimed change of value is what full evaluation, and the judge, make of it; its feasibility."""
    before = worth(model, search.draft)
    splice(search, *stretch, trial.NEW)
    after = evaluated(model, search)
    changed = tour(model, search)
    splice(search, stretch[0], stretch[0] + stretch[2], stretch[1] - stretch[0], trial.OLD)
    refresh(model, search.draft)
    assert claimed == pytest.approx(after - before, abs=1e-6)
    verdict = verify(instance, changed, objective=objective)
    if math.isfinite(after):
        assert isinstance(verdict, Solution)
    if not instance.breaks:  # else the judge may take them elsewhere
        assert isinstance(verdict, Solution) is math.isfinite(after)
        if math.isfinite(after) and instance.cost.any():
            assert verdict.value == pytest.approx(after)
    return math.isfinite(after)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_blocks_that_change_places_cost_what_the_changed_tour_is_worth(rng, objective):
    feasible = dict.fromkeys(TURNED, 0)
    for instance, model, search in searches(rng, objective, 16):
        nodes, last = search.draft.node, search.draft.length[0] - 1
        for cuts in combinations(range(1, last + 1), 3):
            if max(nodes[list(cuts)]) >= len(model.node):
                continue
            for turned in TURNED:
                legs, ordered = proposed(model, search, cuts, turned)
                stretch = (cuts[0], cuts[2], cuts[2] - cuts[0])
                claimed = judged(model, search, stretch, legs, 0.0) if ordered else math.inf
                claimed = math.inf if legs > model.no_way / 2 else claimed
                feasible[turned] += held(instance, model, search, stretch, claimed, objective)
    assert min(feasible.values()) > 20


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_stops_that_come_and_go_cost_what_the_changed_tour_is_worth(rng, objective):
    feasible = {(0, True): 0, (1, False): 0, (1, True): 0}
    for instance, model, search in searches(rng, objective, 80):
        out = [n for n in range(1, len(model.node) - 1) if search.draft.place[n] == OUT]
        out = [OUT, *(node for node in out if model.node[node, PRIZE] < np.inf)]
        for node in out:
            for at in range(1, search.draft.length[0] - 1):
                for stop in (at, at + 1):
                    if node == stop - at - 1 or not swappable(model, search, node, at, stop):
                        continue
                    legs, prizes = swapped(model, search, node, at, stop)
                    search.trial[trial.NEW, 0] = node
                    stretch = (at, stop, int(node != OUT))
                    claimed = judged(model, search, stretch, legs, prizes)
                    claimed = math.inf if legs > model.no_way / 2 else claimed
                    kind = (stretch[2], stop > at)
                    feasible[kind] += held(instance, model, search, stretch, claimed, objective)
    assert min(feasible.values()) > 10


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_many_moves_lead_to_a_tour_of_the_stated_value(rng, objective):
    changed = 0
    for instance, model, search in searches(rng, objective, 30):
        before = tour(model, search)
        moves(model, search, 5.0, 300)
        load(search)
        assert refresh(model, search.draft)
        assert search.values[KEPT] == pytest.approx(evaluated(model, search))
        assert isinstance(verify(instance, tour(model, search), objective=objective), Solution)
        changed += tour(model, search) != before
    assert changed > 5
