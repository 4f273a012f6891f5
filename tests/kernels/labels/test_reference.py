"""The definition against the judge, and the compiled search against the definition."""

import itertools
import math

import numpy as np
import pytest
from odd import odd_drafts, odd_windows

from fairway import clock
from fairway.judge import Solution, verify
from fairway.kernels.labels import reference
from fairway.kernels.labels.bound import cheapest_legs
from fairway.kernels.labels.label_model import label_model_of, shortest_paths
from fairway.kernels.labels.relaxed import Effort, affordable, ascended
from fairway.kernels.labels.run import Limits, run
from fairway.kernels.preprocessing import preprocess
from fairway.problems.generate import generate
from fairway.problems.instance import TSPTW
from fairway.problems.model import model_of


def judged(instance, *, makespan):
    """The best of all tours that the judge accepts."""
    tours = itertools.permutations(range(1, instance.nodes))
    verdicts = [verify(instance, tour) for tour in tours]
    kept = [verdict for verdict in verdicts if isinstance(verdict, Solution)]
    return min((v.makespan if makespan else v.cost for v in kept), default=math.inf)


@pytest.mark.parametrize("kind", ["travel", "makespan", "growing", "shrinking"])
def test_the_definition_finds_the_best_tour_that_the_judge_accepts(rng, kind):
    for _ in range(12):
        windows = kind in ("travel", "makespan")
        instance = odd_windows(rng, 6, 20) if windows else odd_drafts(rng, 6, kind)
        found = reference.best(instance, makespan=kind == "makespan")
        best = judged(instance, makespan=kind == "makespan")
        assert best == (math.inf if found is None else found.cost)
        if found is not None:
            assert isinstance(verify(instance, found.tour), Solution)


def views(instance, makespan):
    """A labelling model and a bound for it, from the quickest to the most thorough."""
    if instance.laden:
        label_models = [label_model_of(model_of(instance))]
    else:
        pruned = preprocess(model_of(instance))
        label_models = [label_model_of(model_of(instance), makespan=makespan)]
        if pruned.infeasible is None:
            label_models.append(
                label_model_of(model_of(instance), makespan=makespan, pruned=pruned)
            )
    for label_model in label_models:
        plain = cheapest_legs(label_model)
        yield label_model, plain
        for paths, memory in ((1, 0), (1, 3), (7, 2)):
            effort = affordable(label_model, Effort(paths, memory, 20, math.inf), 1 << 26)
            yield label_model, ascended(label_model, plain, math.inf, effort)


@pytest.mark.parametrize("kind", ["travel", "makespan", "drafts"])
def test_every_law_and_bound_leads_to_the_cost_of_the_definition(rng, kind):
    makespan = kind == "makespan"
    for _ in range(6):
        instance = odd_drafts(rng, 9) if kind == "drafts" else odd_windows(rng, 9, 25)
        best = reference.best(instance, makespan=makespan)
        for label_model, bound in views(instance, makespan):
            for upper in (math.inf, best.cost + 0.5):
                outcome = run(label_model, bound, Limits(1 << 31, upper, 1 << 26, math.inf))
                assert outcome.cost == best.cost
                assert outcome.open == math.inf
                assert isinstance(verify(instance, outcome.tour), Solution)


def test_what_a_narrow_search_loses_is_never_below_its_open_bound(rng):
    lost = 0
    for _ in range(6):
        instance = odd_windows(rng, 9, 25)
        best = reference.best(instance)
        for (label_model, bound), width in itertools.product(
            views(instance, makespan=False), [1, 2, 5, 30]
        ):
            outcome = run(label_model, bound, Limits(width, math.inf, 1 << 26, math.inf))
            assert min(outcome.cost, outcome.open) <= best.cost + 1e-9
            assert outcome.widest <= width
            lost += outcome.open < math.inf
    assert lost > 0


def height(bound):
    """What the bound says of the whole tour."""
    return bound.cost[bound.begin[0, 0]] + bound.multiplier.sum()


def test_sweeps_ways_and_memories_raise_the_bound_and_never_above_the_best_tour():
    for seed in range(3):
        instance = generate("tsptw", n=20, hardness="hard", count=1, seed=seed)[0]
        wide = (np.maximum(instance.opens - 150, 0), instance.closes + 150)
        instance = TSPTW(instance.travel, *wide)
        label_model = label_model_of(
            model_of(instance), makespan=False, pruned=preprocess(model_of(instance))
        )
        best = run(
            label_model, cheapest_legs(label_model), Limits(1 << 31, math.inf, 1 << 26, math.inf)
        ).cost
        heights = []
        for paths, memory, sweeps in ((1, 0, 1), (1, 0, 60), (16, 0, 60), (16, 5, 60)):
            effort = Effort(paths, memory, sweeps, math.inf)
            heights.append(
                height(ascended(label_model, cheapest_legs(label_model), math.inf, effort))
            )
        assert heights == sorted(heights)
        assert heights[0] < heights[-1] <= best + 1e-9


def test_a_search_without_time_leaves_the_bound_of_the_whole_tour():
    instance = generate("tspdl", n=40, hardness="hard", count=1, seed=1)[0]
    label_model = label_model_of(model_of(instance))
    bound = ascended(label_model, cheapest_legs(label_model), math.inf, Effort(1, 3, 30, math.inf))
    outcome = run(label_model, bound, Limits(1 << 31, math.inf, 1 << 26, clock.now()))
    assert outcome.tour is None
    assert 0 < outcome.open < math.inf
    assert outcome.open >= height(bound) - 1e-9


def test_ways_stop_where_the_time_is_up_and_are_the_same_with_more_looks_at_the_clock(
    rng, monkeypatch
):
    resource = model_of(odd_windows(rng, 9, 20)).resource
    assert shortest_paths(resource, until=0.0) is None
    whole = shortest_paths(resource)
    monkeypatch.setattr("fairway.kernels.labels.label_model.PATHS", 1)
    assert np.array_equal(shortest_paths(resource), whole)
