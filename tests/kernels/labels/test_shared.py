"""Layers filled by several threads, against one thread, the definition, and the clock."""

import itertools
import math
import random
import time
from types import SimpleNamespace

import pytest
from odd import odd_drafts, odd_windows

from fairway import clock
from fairway.judge import Solution, verify
from fairway.kernels.labels import layers, reference, run, shared, space
from fairway.kernels.labels.bound import cheapest_legs
from fairway.kernels.labels.label_model import label_model_of
from fairway.kernels.labels.run import Limits
from fairway.problems.generate import generate
from fairway.problems.model import model_of

WHOLE = (1 << 31, math.inf, 1 << 26, math.inf)


@pytest.fixture
def all_shared(monkeypatch):
    """Every layer is shared, through boxes that hold one label's worth, in parts that begin with next to no room."""
    monkeypatch.setattr(shared, "WORTHWHILE", 1)
    monkeypatch.setattr(shared, "LETTERS", 1)
    monkeypatch.setattr(run, "FIRST", 1)
    monkeypatch.setattr(run, "QUANTUM", 1)


def views(rng, kind, nodes=9):
    """An instance, its labelling model, and a bound."""
    instance = (
        odd_drafts(rng, nodes, kind)
        if kind in ("growing", "shrinking")
        else odd_windows(rng, nodes, 25)
    )
    model = label_model_of(model_of(instance), makespan=kind == "makespan")
    return instance, model, cheapest_legs(model)


def accepted(instance, outcome):
    return isinstance(verify(instance, model_of(instance).outward(outcome.tour)), Solution)


def told(outcome):
    """All of it."""
    tour = None if outcome.tour is None else tuple(outcome.tour.tolist())
    return tour, outcome.cost, outcome.open, outcome.made, outcome.kept, outcome.widest


def watched(monkeypatch, owner, name):
    """Have calls of a method counted."""
    calls, method = [], getattr(owner, name)

    def counted(*given):
        calls.append(name)
        return method(*given)

    monkeypatch.setattr(owner, name, counted)
    return calls


@pytest.mark.parametrize("kind", ["travel", "makespan", "growing", "shrinking"])
def test_several_threads_prove_what_one_does_with_the_same_labels(
    rng, kind, all_shared, monkeypatch
):
    grown = watched(monkeypatch, shared, "roomier")
    turns = watched(monkeypatch, shared, "_await")
    for _ in range(3):
        instance, model, bound = views(rng, kind)
        best = reference.best(instance, makespan=kind == "makespan")
        assert best is not None
        for upper in (math.inf, best.cost + 0.5, best.cost):
            one, *others = (
                run.run(model, bound, Limits(1 << 31, upper, 1 << 26, math.inf, threads))
                for threads in (1, 2, 3)
            )
            assert one.cost == (best.cost if best.cost < upper else math.inf)
            for outcome in others:
                assert told(outcome)[1:] == told(one)[1:]
                assert outcome.tour is None or accepted(instance, outcome)
    assert len(grown) > 10
    assert len(turns) > 100


@pytest.mark.parametrize("threads", [2, 3])
def test_a_beam_that_is_shared_keeps_no_more_than_its_width_and_knows_what_it_lost(
    rng, threads, all_shared, monkeypatch
):
    monkeypatch.setattr(space, "FIRST", 1)  # of which the least memory follows
    midway, cut = [], space.Room.cut

    def heard(room, parts, over=map):
        midway.append(any(part.counters[layers.AT] < part.counters[layers.COUNT] for part in parts))
        cut(room, parts, over)

    monkeypatch.setattr(space.Room, "cut", heard)
    lost = found = 0
    given = [views(rng, kind) for kind in ("travel", "growing", "travel")]
    bests = [reference.best(instance).cost for instance, _, _ in given]
    for ((instance, model, bound), best), memory, width in itertools.product(
        list(zip(given, bests, strict=True)), (1, 20_000, 1 << 26), (1, 2, 5, 30, 1 << 31)
    ):
        outcome = run.run(model, bound, Limits(width, math.inf, memory, math.inf, threads))
        assert min(outcome.cost, outcome.open) <= best + 1e-9
        assert outcome.widest <= min(width, space.widest(instance.nodes, memory))
        lost += outcome.open < math.inf
        if outcome.tour is not None:
            found += 1
            assert outcome.cost >= best
            assert accepted(instance, outcome)
    assert min(lost, found, sum(midway)) > 8


def test_what_is_found_does_not_depend_on_how_fast_threads_are(rng, all_shared, monkeypatch):
    quick = shared.take_turn

    def now_and_then_late(*given):
        time.sleep(random.choice([0.0, 0.001]))
        quick(*given)

    for kind, width in itertools.product(("travel", "growing"), (4, 1 << 31)):
        _, model, bound = views(rng, kind)
        limits = Limits(width, math.inf, 1 << 26, math.inf, 3)
        monkeypatch.setattr(shared, "take_turn", quick)
        once = told(run.run(model, bound, limits))
        monkeypatch.setattr(shared, "take_turn", now_and_then_late)
        assert told(run.run(model, bound, limits)) == once


def test_a_layer_that_threads_leave_in_the_middle_is_completed_by_one(rng, all_shared, monkeypatch):
    """As if every round were cut short, though there is time for the search."""
    monkeypatch.setattr(shared, "clock", SimpleNamespace(now=lambda: math.inf))
    left = []
    relink = layers.relink
    monkeypatch.setattr(shared.layers, "relink", lambda *given: (left.append(1), relink(*given)))
    for kind in ("travel", "makespan", "growing"):
        instance, model, bound = views(rng, kind)
        outcome = run.run(model, bound, Limits(*WHOLE, threads=2))
        best = reference.best(instance, makespan=kind == "makespan")
        assert (outcome.cost, outcome.open) == (best.cost, math.inf)
        assert accepted(instance, outcome)
    assert left


def test_threads_that_share_a_wide_layer_stop_at_the_deadline_with_an_honest_bound(monkeypatch):
    instance = generate("tspdl", n=60, hardness="medium", count=1, seed=2)[0]
    model = label_model_of(model_of(instance))
    bound = cheapest_legs(model)
    run.warm(model, bound)
    turns = watched(monkeypatch, shared, "_await")
    bounds = []
    for seconds in (0.0, 0.1, 0.4):
        began = time.monotonic()
        limits = Limits(1 << 31, math.inf, 1 << 30, clock.now() + seconds, 2)
        outcome = run.run(model, bound, limits)
        assert time.monotonic() - began < seconds + 0.25
        assert outcome.tour is None
        bounds.append(outcome.open)
    assert turns
    assert bounds == sorted(bounds)
    assert 0 < bounds[-1] < math.inf


def test_narrow_layers_are_not_shared(rng, monkeypatch):
    turns = watched(monkeypatch, shared, "_await")
    _, model, bound = views(rng, "travel")
    run.run(model, bound, Limits(*WHOLE, threads=4))
    assert not turns
