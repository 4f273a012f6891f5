"""Side constraints, held against all tours of small instances."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
import torch
from tours import drawn, judged

from fairway.kernels.lookahead.config import strongest
from fairway.problems.batch import view_batch
from fairway.problems.classic_view import classic_view, nearest_problem
from fairway.problems.instance import Instance
from fairway.problems.problem import start, step
from fairway.search.decode import watch


def masked(instance):
    """What a policy sees of an instance: its tensors, and the look-ahead."""
    batch = view_batch(classic_view(instance))
    return batch, watch(batch, strongest(nearest_problem(instance)), None)


def all_tours(instance):
    """Every order of all stops, as it is built: the end last, and backwards where a load shrinks and no time counts."""
    view, end = classic_view(instance), instance.end
    stops = [stop for stop in range(1, instance.nodes) if stop != end]
    backwards = nearest_problem(instance) == "tspdl" and instance.load == "shrinking"
    for order in itertools.permutations(stops):
        whole = order if end in {None, 0} else (*order, end)
        assert view.end == end or instance.classic
        yield order, whole[::-1] if backwards else whole


def refused(instance, tours):
    """The first tour of which the look-ahead masks a move."""
    batch, look = masked(instance)
    stops, state = torch.tensor(tours)[None], start(batch, len(tours))
    for node in stops.unbind(-1):
        passed = look(state).allowed.gather(-1, node[..., None])[0, :, 0]
        if not passed.all():
            return tours[int(passed.int().argmin())]
        state = step(batch, state, node)
    return None


def test_no_move_of_a_tour_that_keeps_everything_is_masked():
    """All combinations of all constraints, every order of at most five stops; tours that leave nothing out."""
    rng, seen = np.random.default_rng(1), {"tsptw": 0, "tspdl": 0}
    for _ in range(150):
        instance = drawn(rng, int(rng.integers(2, 6)))
        problem = nearest_problem(instance)
        if problem is None:
            continue
        kept = [
            built for tour, built in all_tours(instance) if judged(instance, tour, tolerance=1e-6)
        ]
        assert not kept or refused(instance, kept) is None, instance.constraints
        seen[problem] += len(kept)
    assert seen["tsptw"] > 60
    assert seen["tspdl"] > 10


def possible(tours):
    """All beginnings of tours."""
    return {tour[:length] for tour in tours for length in range(len(tour) + 1)}


def ordered(rng, load, *, timed):
    """Loads around those of one order of the stops, precedences along it, and windows that never close, or none."""
    nodes = 6
    demand = np.array([0, *rng.integers(0, 5, nodes - 1)])
    order = 1 + rng.permutation(nodes - 1)
    loads = np.cumsum(demand[order])
    loads = loads if load == "growing" else loads[-1] - loads + demand[order]
    draft = np.zeros(nodes)
    draft[order] = np.maximum(loads + rng.integers(-1, 4, nodes - 1), 0)
    places = [sorted(rng.choice(nodes - 1, 2, replace=False)) for _ in range(3)]
    before = [(int(order[a]), int(order[b])) for a, b in places]
    closes = 1e3 if timed else None
    travel = rng.integers(1, 9, (nodes, nodes))
    return Instance(
        travel, closes=closes, demand=demand, draft=draft, load=load, before=before, capacity=40
    )


@pytest.mark.parametrize("timed", [False, True])
@pytest.mark.parametrize("load", ["growing", "shrinking"])
def test_order_with_a_load_that_runs_one_way_is_exact(load, timed):
    """A stop is allowed iff some order of the rest keeps everything."""
    rng, allowed, masks = np.random.default_rng(2), 0, 0
    for _ in range(20):
        instance = ordered(rng, load, timed=timed)
        hopeful = possible(built for tour, built in all_tours(instance) if judged(instance, tour))
        batch, look = masked(instance)
        for begun in hopeful:
            state = start(batch)
            for node in begun:
                state = step(batch, state, torch.tensor([[node]]))
            said = set(look(state).allowed[0, 0].nonzero()[:, 0].tolist())
            true = {tour[-1] for tour in hopeful if tour[:-1] == begun and tour}
            assert said == true
            allowed += len(true)
            masks += instance.nodes - 1 - len(begun) - len(true)
    assert min(allowed, masks) > 100


def test_service_starts_in_the_next_window_and_not_between_two():
    travel = np.array([[0, 3, 9], [3, 0, 9], [9, 9, 0]])
    instance = Instance(travel, closes=99, windows={1: [(0, 2), (10, 12), (30, 99)]})
    batch, _ = masked(instance)
    state = step(batch, start(batch), torch.tensor([[1]]))
    assert float(state.resource[0] * batch.geometry.scale) == pytest.approx(10)


def test_without_a_limit_in_time_or_on_a_load_that_runs_one_way_nothing_is_near():
    travel = np.ones((4, 4))
    assert nearest_problem(Instance(travel, before=[(1, 2)])) is None
    signed = Instance(travel, demand=[0, 1, -1, 1], load="signed", capacity=2)
    assert nearest_problem(signed) is None
    assert nearest_problem(replace(signed, cost=None, closes=9)) == "tsptw"
    priced = Instance(travel, closes=9, late=1.0)
    assert nearest_problem(priced) is None, "whoever is late pays, and may be ever so late"
    assert nearest_problem(replace(priced, cost=None, latest=20)) == "tsptw"


def test_what_a_classic_instance_asks_for_is_all_there_is():
    instance = Instance(np.ones((4, 4)), closes=9)
    assert classic_view(instance).instance is instance
    assert view_batch(classic_view(instance)).side is None
    dearer = replace(instance, cost=2 * np.ones((4, 4)))
    assert view_batch(classic_view(dearer)).side is None
