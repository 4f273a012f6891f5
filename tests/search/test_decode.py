from dataclasses import fields

import pytest
import torch

from fairway.kernels.lookahead import AUTHORS, MaskConfig, MaskRule, ahead
from fairway.kernels.pointer import Pointer
from fairway.kernels.pointer.reference import scores
from fairway.problems.batch import take
from fairway.problems.draw import draw
from fairway.problems.generate import DISTRIBUTIONS
from fairway.problems.problem import start
from fairway.search.decode import decode, states_along, traced, watch


def some_pointer(instances, nodes, *, seed=1, width=16, heads=2, clip=10.0):
    generator = torch.Generator().manual_seed(seed)

    def some(*shape):
        return 0.5 * torch.randn(shape, generator=generator)

    states = [some(instances, nodes, width) for _ in range(4)]
    return Pointer(*states, some(instances, heads, nodes), some(instances, nodes), clip)


def some_world(problem="tsptw", nodes=10, tours=6):
    generator = torch.Generator().manual_seed(7)
    batch = draw(DISTRIBUTIONS[problem, "hard"], nodes, 3, generator)
    return batch, some_pointer(3, nodes), torch.rand(3, tours, nodes - 1, generator=generator)


@pytest.mark.parametrize("problem", ["tsptw", "tspdl"])
def test_states_side_by_side_are_those_of_the_loop(problem):
    batch, pointer, noise = some_world(problem)
    decoded = decode(batch, pointer, MaskConfig(rule=AUTHORS), noise)
    _, trace = traced(batch, pointer, MaskConfig(rule=AUTHORS), noise, None)
    states = states_along(decoded.rollout.tours, decoded.resources, nodes=10)
    for name in ("node", "resource", "unvisited"):
        side_by_side = getattr(states, name).unflatten(1, (6, 9))
        for number, state in enumerate(trace.states):
            assert torch.equal(side_by_side[:, :, number], getattr(state, name)), (name, number)


def test_a_guard_guards_as_long_as_it_says():
    """Its mask for so many steps, everything unvisited and no bound after them."""
    batch, pointer, noise = some_world()
    guard = MaskConfig(rule=AUTHORS, until=4)
    _, trace = traced(batch, pointer, guard, noise, None)
    strict = ahead(batch, AUTHORS)
    bound = 0
    for number, (state, mask) in enumerate(zip(trace.states, trace.masks, strict=True)):
        expected = strict(state)
        if number >= 4:
            assert torch.equal(mask.allowed, state.unvisited)
            assert mask.bound.isinf().all()
            continue
        dead = expected.dead[..., None]
        assert torch.equal(mask.allowed, torch.where(dead, state.unvisited, expected.allowed))
        bound += int((mask.allowed != state.unvisited).sum())
    assert bound > 0


def test_a_guard_for_no_steps_at_all_is_none_and_for_all_is_the_whole():
    batch, pointer, noise = some_world()

    def tours(guard):
        return traced(batch, pointer, guard, noise, None)[0].tours

    assert torch.equal(tours(MaskConfig(rule=AUTHORS, until=0)), tours(MaskConfig("none")))
    assert torch.equal(tours(MaskConfig(rule=AUTHORS, until=9)), tours(MaskConfig(rule=AUTHORS)))
    assert not torch.equal(tours(MaskConfig("none")), tours(MaskConfig(rule=AUTHORS)))


def test_a_learned_guard_forbids_what_its_oracle_gives_more_than_an_even_chance_of_failing():
    batch, pointer, noise = some_world()
    frozen_head = some_pointer(3, 10, seed=2, clip=None)
    built, trace = traced(batch, pointer, MaskConfig("learned"), noise, frozen_head)
    fallbacks = 0
    for state, mask in zip(trace.states, trace.masks, strict=True):
        infeasible = scores(frozen_head, state.node, state.resource).sigmoid() > 0.5
        allowed = state.unvisited & ~infeasible
        dead = ~allowed.any(-1, keepdim=True)
        assert torch.equal(mask.allowed, torch.where(dead, state.unvisited, allowed))
        fallbacks += int(dead.sum())
    assert int(built.dead_ends.sum()) == fallbacks > 0


def test_a_learned_guard_without_an_oracle_is_our_own_mistake():
    batch, _, _ = some_world()
    with pytest.raises(AssertionError, match="frozen head"):
        watch(batch, MaskConfig("learned"), 1)


def test_the_exact_mask_never_fails_and_is_for_loads_alone():
    batch, pointer, noise = some_world("tspdl")
    assert int(decode(batch, pointer, MaskConfig("exact"), noise).rollout.broken.sum()) == 0
    windows, _, _ = some_world("tsptw")
    with pytest.raises(AssertionError, match="follows from the stops visited"):
        watch(windows, MaskConfig("exact"), 1)


@pytest.mark.parametrize(
    "guard",
    [MaskConfig("none"), MaskConfig(rule=MaskRule(1)), MaskConfig(rule=MaskRule(2))],
    ids=str,
)
def test_a_greedy_tour_takes_the_best_of_what_is_allowed(guard):
    batch, pointer, _ = some_world()
    built, trace = traced(batch, pointer, guard, None, None)
    assert built.tours.shape == (3, 1, 9)
    for number, (state, mask) in enumerate(zip(trace.states, trace.masks, strict=True)):
        scored = scores(pointer, state.node, state.resource, mask.allowed)
        best = scored.masked_fill(~mask.allowed, -torch.inf).argmax(-1)
        assert torch.equal(built.tours[..., number], best)


def test_tours_are_drawn_as_often_as_they_are_likely():
    """Four nodes, six tours: the likelihoods of all sum to one, and 20,000 draws follow them (chi-square, 1e-6)."""
    generator = torch.Generator().manual_seed(1)
    batch = draw(DISTRIBUTIONS["tsptw", "easy"], 4, 1, generator)
    pointer, noise = some_pointer(1, 4, clip=1.0), torch.rand(1, 20_000, 3, generator=generator)
    decoded = decode(batch, pointer, MaskConfig("none"), noise)
    numbers = (decoded.rollout.tours[0] * torch.tensor([100, 10, 1])).sum(-1)
    _, which, counts = numbers.unique(return_inverse=True, return_counts=True)
    likely = torch.zeros(len(counts)).scatter(0, which, decoded.log_probability[0].exp())
    assert len(counts) == 6
    assert float(likely.sum()) == pytest.approx(1, abs=1e-5)
    expected = 20_000 * likely
    assert float(((counts - expected).square() / expected).sum()) < 36


def test_given_starts_are_one_after_the_other_and_not_counted_as_choices():
    """Four nodes: from each first stop the two ways to go on have probabilities that sum to one."""
    generator = torch.Generator().manual_seed(1)
    batch = draw(DISTRIBUTIONS["tsptw", "easy"], 4, 2_000, generator)
    batch = take(batch, torch.zeros(2_000, dtype=torch.long))
    pointer = some_pointer(1, 4, clip=1.0)
    parts = (getattr(pointer, part.name) for part in fields(pointer)[:6])
    pointer = Pointer(*(part.expand(2_000, *part.shape[1:]) for part in parts), 1.0)
    noise = torch.rand(2_000, 3, 3, generator=generator)
    decoded = decode(batch, pointer, MaskConfig("none"), noise, starts=True)
    tours, likely = decoded.rollout.tours, decoded.log_probability.exp()
    assert (tours[..., 0] == torch.arange(1, 4)).all()
    for place in range(3):
        _, which = tours[:, place, 1].unique(return_inverse=True)
        both = [float(likely[:, place][which == way].mean()) for way in (0, 1)]
        assert sum(both) == pytest.approx(1, abs=1e-4)
        assert float((which == 0).float().mean()) == pytest.approx(both[0], abs=0.06)


def test_all_tours_start_where_the_depot_opens():
    batch, pointer, noise = some_world()
    decoded = decode(batch, pointer, MaskConfig(), noise)
    assert torch.equal(decoded.resources[..., 0], start(batch, 6).resource)
