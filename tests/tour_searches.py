"""Searches that have come to a tour, and what a changed tour is worth by going over all of it."""

import math

from tours import drawn

from fairway.kernels.compiling import njit
from fairway.kernels.general import insertion, state
from fairway.kernels.general.annealing import anneal
from fairway.kernels.general.insertion import LEAVE, OUT
from fairway.kernels.general.state import KEPT_OUT
from fairway.kernels.general.tour_model import MATES, NEEDS, PRIZE, tour_model_of
from fairway.search.general import prepared

OBJECTIVES = ("cost", "makespan", "duration")


def opened(function):
    """A way in from Python for what is otherwise called by compiled code alone."""

    @njit(_nrt=False)
    def called(*arguments):
        return function(*arguments)

    return called


load, worth, refresh = opened(state.load), opened(state.worth), opened(insertion.refresh)


def searches(rng, objective, count):
    """Random instances with a search that has come to a tour."""
    for number in range(count):
        instance = drawn(rng, int(rng.integers(3, 8)))
        model, search, _ = prepared(tour_model_of(instance, objective), (), number)
        anneal(model, search, 5.0, 20, 0)
        load(search)
        if refresh(model, search.draft) and search.values[KEPT_OUT] == 0:
            yield instance, model, search


def tour(model, search):
    nodes = search.draft.node[: search.draft.length[0]].tolist()
    return tuple(node for node in nodes if 0 < node < len(model.node) - 1)


def in_order(model, search):
    """Whether all that stops of the changed tour need is there, before them where it must be."""
    draft, kept = search.draft, True
    for node in (*tour(model, search), len(model.node) - 1):
        for kind, ordered in ((NEEDS, True), (MATES, False)):
            for place in range(model.begin[kind, node], model.begin[kind, node + 1]):
                at = draft.place[model.linked[place]]
                kept &= at != OUT and not (ordered and at > draft.place[node])
    return kept


def evaluated(model, search):
    """The value of the changed tour by going over all of it, infinite where it breaks a limit."""
    draft = search.draft
    kept = refresh(model, draft) and in_order(model, search)
    missing = set(range(1, len(model.node) - 1)) - set(tour(model, search))
    kept &= not any(model.node[node, PRIZE] == math.inf for node in missing)
    for number, rest in enumerate(model.breaks):
        late = draft.times[draft.length[0] - 1, LEAVE] > rest[1]
        kept &= not late or draft.place[len(model.node) + number] != OUT
    return worth(model, draft) if kept else math.inf
