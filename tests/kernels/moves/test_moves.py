"""Whatever the moves know in constant time must be what walking the whole tour again gives."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels.moves.cases import KINDS

from fairway.judge import Solution, verify
from fairway.kernels.compiling import njit
from fairway.kernels.moves import descent, reference, ruin, swap
from fairway.kernels.moves.descent import descend, push, queue_for
from fairway.kernels.moves.order import by_deadline, deferred
from fairway.kernels.moves.rng import seeded
from fairway.kernels.moves.ruin import inserted
from fairway.kernels.moves.search_model import (
    search_model_of,
    search_model_without_neighbours,
    with_neighbours,
)
from fairway.kernels.moves.site import insertion_buffer
from fairway.kernels.moves.time_warp import late_tour, lateness, repair_lateness
from fairway.kernels.moves.tour_state import refresh, tour_state_of
from fairway.problems.instance import TSPDL
from fairway.problems.model import model_of


def opened(function):
    """A way in from Python for what is otherwise called by compiled code alone."""

    @njit(_nrt=False)
    def called(*arguments):
        return function(*arguments)

    return called


change, arrival, finish = map(opened, (swap.change, swap.arrival, swap.finish))
rearrange, apply = map(opened, (swap.rearrange, swap.apply))
offer_all, rebuild = opened(descent.offer_all), opened(ruin.rebuild)

ANY = {
    "kind": st.sampled_from(sorted(KINDS)),
    "stops": st.integers(2, 9),
    "seed": st.integers(0, 10**6),
}


def keeps(search_model, tour_state, each):
    """Whether a swap leaves the tour feasible, in constant time."""
    return arrival(search_model, tour_state, *each) <= tour_state.latest[each[2] + 1]


def laid_out(kind, seed, stops):
    """A search model, and its feasible tour as nodes by position in the direction in which resources grow."""
    instance, tour = KINDS[kind](np.random.default_rng(seed), stops)
    inner = tour[::-1] if kind == "unloading" else tour
    return (
        instance,
        search_model_of(model_of(instance)),
        np.array([0, *inner, instance.nodes], np.uint32),
    )


def feasible_for_the_judge(instance, kind, node):
    tour = node[1:-1].tolist()
    return isinstance(verify(instance, tour[::-1] if kind == "unloading" else tour), Solution)


@given(**ANY)
@settings(max_examples=60)
def test_every_swap_changes_cost_and_levels_as_walking_says(kind, stops, seed):
    instance, search_model, node = laid_out(kind, seed, stops)
    tour_state, before = tour_state_of(search_model, node), reference.walk(search_model, node)
    assert before.feasible
    for each in reference.swaps(len(node)):
        after = reference.swapped(node, each)
        walked = reference.walk(search_model, after)
        assert change(search_model, tour_state, *each) == pytest.approx(
            walked.cost - before.cost, abs=1e-9
        )
        assert keeps(search_model, tour_state, each) == walked.feasible
        assert walked.feasible == feasible_for_the_judge(instance, kind, after)
        if walked.feasible:
            resource = arrival(search_model, tour_state, *each)
            assert finish(search_model, tour_state, each[2] + 1, resource) == pytest.approx(
                walked.resources[-1]
            )
        carried_out = node.copy()
        rearrange(carried_out, *each)
        assert np.array_equal(carried_out, after)


@given(**ANY, steps=st.integers(1, 6))
@settings(max_examples=60)
def test_a_line_that_was_swapped_is_the_line_of_the_swapped_tour(kind, stops, seed, steps):
    _, search_model, node = laid_out(kind, seed, stops)
    rng = np.random.default_rng(seed)
    tour_state = tour_state_of(search_model, node)
    swaps = reference.swaps(len(node))
    for _ in range(steps):
        possible = [s for s in swaps if keeps(search_model, tour_state, s)]
        if not possible:
            return
        apply(search_model, tour_state, *possible[rng.integers(len(possible))])
        new = tour_state_of(search_model, tour_state.node)
        for name in ("place", "start", "latest", "span", "length", "turn"):
            assert np.allclose(getattr(tour_state, name), getattr(new, name)), name


@given(**ANY)
@settings(max_examples=60)
def test_all_offers_are_swaps_at_what_they_are_worth(kind, stops, seed):
    _, search_model, node = laid_out(kind, seed, stops)
    tour_state, queue = tour_state_of(search_model, node), queue_for(len(node))
    before = reference.walk(search_model, node)
    for least in (np.inf, -1e-9):
        for each in range(len(node)):
            offer_all(search_model, tour_state, queue.offers, each, least)
            for number in range(queue.offers.count[0]):
                after = reference.swapped(node, tuple(queue.offers.swap[number].tolist()))
                worth = reference.walk(search_model, after).cost - before.cost
                assert queue.offers.worth[number] == pytest.approx(worth, abs=1e-9)
                assert worth < least + 1e-9


@given(**ANY, by_resource=st.booleans())
@settings(max_examples=60)
def test_descent_ends_feasible_and_no_worse_with_an_empty_queue(kind, stops, seed, by_resource):
    instance, search_model, node = laid_out(kind, seed, stops)
    tour_state, queue, before = (
        tour_state_of(search_model, node),
        queue_for(len(node)),
        reference.walk(search_model, node),
    )
    for each in node:
        push(queue, each)
    descend(search_model, tour_state, queue, (1e-9, by_resource), 10**6)
    after = reference.walk(search_model, tour_state.node)
    assert queue.ends[1] == 0
    assert not queue.waiting.any()
    assert feasible_for_the_judge(instance, kind, tour_state.node)
    if by_resource:
        assert after.resources[-1] <= before.resources[-1] + 1e-3
    else:
        assert after.cost <= before.cost + 1e-9
        assert tour_state.length[0, -1] == pytest.approx(after.cost)


@given(**ANY)
@settings(max_examples=60)
def test_what_is_rebuilt_is_a_feasible_tour_and_the_site_is_left_clean(kind, stops, seed):
    instance, search_model, node = laid_out(kind, seed, stops)
    tour_state, site, random = (
        tour_state_of(search_model, node),
        insertion_buffer(len(node)),
        seeded(seed),
    )
    for _ in range(20):
        count = rebuild(search_model, tour_state, site, random)
        assert not site.missing.any()
        assert count > 0 or instance.timed, "every port that is out keeps a place"
        if count > 0:
            assert len(set(site.out[:count].tolist())) == count
            assert sorted(site.node) == sorted(node)
            assert feasible_for_the_judge(instance, kind, site.node)
            resources = reference.walk(search_model, site.node).resources
            assert np.allclose(site.start, resources)
            tour_state.node[:] = site.node
            refresh(search_model, tour_state, 0, len(node) - 1)
            assert instance.laden or np.allclose(site.latest, tour_state.latest)


@given(**ANY)
@settings(max_examples=60)
def test_lateness_is_the_time_warp_and_hurrying_never_adds_to_it(kind, stops, seed):
    _, search_model, node = laid_out(kind, seed, stops)
    rng = np.random.default_rng(seed)
    node[1:-1] = node[1 + rng.permutation(stops)]
    late = lateness(search_model, node)
    assert late == pytest.approx(reference.walk(search_model, node).late)
    state = late_tour(node)
    for _ in range(5):
        new = repair_lateness(search_model, state, seeded(seed), 20)
        assert new == pytest.approx(reference.walk(search_model, state.kept).late)
        assert new <= late + 1e-9
        assert sorted(state.kept) == sorted(node)
        late = new


@given(**ANY)
@settings(max_examples=60)
def test_insertion_gives_a_feasible_tour_or_none(kind, stops, seed):
    instance, search_model, _ = laid_out(kind, seed, stops)
    node = inserted(search_model, by_deadline(search_model), seeded(seed))
    assert node is None or feasible_for_the_judge(instance, kind, node)
    assert sorted(by_deadline(search_model)) == list(range(stops + 2))


@given(kind=st.sampled_from(["drafts", "unloading"]), stops=ANY["stops"], seed=ANY["seed"])
@settings(max_examples=60)
def test_ports_are_put_off_only_where_they_must_be(kind, stops, seed):
    """A feasible order stays as it is, any other becomes feasible, and without the first port put off it is not."""
    instance, search_model, node = laid_out(kind, seed, stops)
    assert np.array_equal(deferred(search_model, node), node)
    shuffled = node.copy()
    shuffled[1:-1] = node[1 + np.random.default_rng(seed).permutation(stops)]
    repaired = deferred(search_model, shuffled)
    assert feasible_for_the_judge(instance, kind, repaired)
    changed = np.flatnonzero(repaired != shuffled)
    if len(changed):
        at, first = changed[0], shuffled[changed[0]]
        rest = [each for each in by_deadline(search_model)[1:-1] if each not in shuffled[: at + 1]]
        forced = np.array([*shuffled[:at], first, *rest, len(node) - 1], np.uint32)
        assert not feasible_for_the_judge(instance, kind, forced)


def test_where_a_load_is_too_much_in_any_order_nothing_is_put_off():
    heavy = TSPDL(np.ones((3, 3)), [0, 2, 2], [9, 3, 3])
    assert deferred(search_model_of(model_of(heavy)), np.array([0, 1, 2, 3], np.uint32)) is None


@pytest.mark.parametrize("kind", KINDS)
def test_looks_at_the_clock_change_nothing(kind, rng, monkeypatch):
    instance, _ = KINDS[kind](rng, 15)
    whole = search_model_of(model_of(instance))
    tour = inserted(whole, by_deadline(whole), seeded(3))
    monkeypatch.setattr("fairway.kernels.moves.search_model.PART", 1)
    monkeypatch.setattr(ruin, "TOGETHER", 1)
    lonely = search_model_without_neighbours(model_of(instance))
    again = inserted(lonely, by_deadline(lonely), seeded(3))
    assert all(map(np.array_equal, search_model_of(model_of(instance)), whole))
    assert (tour is None) == (again is None)
    assert tour is None or np.array_equal(tour, again)


@pytest.mark.parametrize("kind", ["drafts", "unloading"])
def test_what_has_no_time_left_stops(kind, rng, monkeypatch):
    instance, _ = KINDS[kind](rng, 9)
    monkeypatch.setattr(ruin, "TOGETHER", 1)
    search_model = search_model_without_neighbours(model_of(instance))
    assert search_model_without_neighbours(model_of(instance), until=0.0) is None
    assert with_neighbours(search_model, until=0.0) is None
    assert inserted(search_model, by_deadline(search_model), seeded(3), until=0.0) is None
    backwards = np.array([0, *range(instance.nodes - 1, 0, -1), instance.nodes], np.uint32)
    assert np.array_equal(deferred(search_model, backwards, until=0.0), by_deadline(search_model))
