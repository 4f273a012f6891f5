"""Backtracking: nothing of a feasible tour is refused, and what fails without them fails less with them."""

from dataclasses import fields

import brute
import numpy as np
import pytest
import torch

from fairway.judge import Solution, verify
from fairway.kernels.lookahead import AUTHORS, PAIRS, MaskConfig, ahead, dense
from fairway.kernels.lookahead.table import table
from fairway.kernels.pointer import Facts, Pointer
from fairway.problems.batch import take, to_batch
from fairway.problems.draw import draw
from fairway.problems.generate import DISTRIBUTIONS, generate
from fairway.problems.instance import TSPTW
from fairway.problems.problem import start, step
from fairway.problems.sets import instance_set
from fairway.search import exact
from fairway.search.backtracking import build_with_backtracking, refuses
from fairway.search.decode import build, scoring
from fairway.search.rollout import Rollout


def some_pointer(instances, nodes):
    """Of no meaning but for one: what is due sooner is better."""
    generator = torch.Generator().manual_seed(2)
    states = [0.3 * torch.randn(instances, nodes, 16, generator=generator) for _ in range(4)]
    facts = Facts(torch.tensor([[0.0, 0.0, 1.0, 0.0]]), torch.full((1,), 4.0), torch.tensor([-0.3]))
    return Pointer(
        *states, torch.zeros(instances, 2, nodes), torch.zeros(instances, nodes), 10.0, facts
    )


@pytest.mark.parametrize("hardness", ["easy", "medium", "hard"])
def test_no_choice_of_an_optimal_tour_is_refused(hardness):
    drawn = generate("tsptw", n=12, hardness=hardness, count=20, seed=3)
    tours = {n: tour for n, one in enumerate(drawn) if (tour := exact.prove(one).tour) is not None}
    assert len(tours) > 4, "the test must see feasible instances"
    batch = take(to_batch(drawn), torch.tensor(list(tours)))
    tours = torch.tensor(list(tours.values()))
    known, state = table(batch, PAIRS), start(batch)
    for choice in tours.unbind(1):
        assert not refuses(known, PAIRS, state, choice).any()
        state = step(batch, state, choice[:, None])


def test_a_choice_that_pairs_allow_is_refused_for_what_three_nodes_need_together():
    """All are a unit apart. After 1 each two of 2, 3, 4 fit, but 2 must come next, and 3 and 4 do not both fit then."""
    travel = 1.0 - np.eye(5)
    batch = to_batch(instance_set([TSPTW(travel, 0, [99, 9, 2.5, 3.5, 3.5])]))
    known, begun = table(batch, PAIRS), start(batch)
    assert dense.lookahead(known, begun, PAIRS).allowed[0, 0, 1]
    assert refuses(known, PAIRS, begun, torch.tensor([1])).all()
    assert not refuses(known, PAIRS, begun, torch.tensor([2])).any(), "2, 3, 4, 1 is a tour"


def test_lost_tours_are_built_again_and_others_left_as_they_are():
    batch = draw(DISTRIBUTIONS["tsptw", "hard"], 50, 200, torch.Generator().manual_seed(5))
    pointer, guard = some_pointer(200, 50), MaskConfig(rule=PAIRS)
    plain, careful = build(batch, pointer, guard), build_with_backtracking(batch, pointer, guard)
    lost, still = plain.broken[:, 0] > 0, careful.broken[:, 0] > 0
    assert lost.sum() > 10, "the test must see tours that fail"
    assert still.sum() < 0.1 * lost.sum()
    assert not (still & ~lost).any()
    for field in fields(Rollout):
        assert torch.equal(
            getattr(plain, field.name)[~lost], getattr(careful, field.name)[~lost]
        ), field.name
    stops = careful.tours.sort(-1).values
    assert torch.equal(stops, torch.arange(1, 50).expand_as(stops))


def test_a_tour_comes_of_it_exactly_where_there_is_one():
    """And it is the greedy one: of what looked better on the way, nothing could have been completed."""
    rng = np.random.default_rng(5)
    drawn = instance_set([brute.windows(rng, nodes=8) for _ in range(120)])
    batch, guard, pointer = to_batch(drawn), MaskConfig(rule=PAIRS), some_pointer(120, 8)
    plain, built = build(batch, pointer, guard), build_with_backtracking(batch, pointer, guard)
    feasible = torch.tensor([exact.prove(one).tour is not None for one in drawn])
    assert 20 < feasible.sum() < 100
    assert (feasible & (plain.dead_ends[:, 0] > 0)).sum() > 2, "the test must see tours that fail"
    verdicts = [verify(one, tour[0]) for one, tour in zip(drawn, built.tours.numpy(), strict=True)]
    assert [isinstance(verdict, Solution) for verdict in verdicts] == feasible.tolist()
    look, score, state = ahead(batch, PAIRS), scoring(batch, pointer), start(batch)
    for stop, choice in enumerate(built.tours[:, 0].T):
        mask = look(state)
        scores = score(state, mask)[:, 0].masked_fill(~mask.allowed[:, 0], -torch.inf)
        better = (scores > scores.gather(1, choice[:, None])) & feasible[:, None]
        for one, node in torch.nonzero(better).tolist():
            assert not can_end(drawn[one], [*built.tours[one, 0, :stop].tolist(), node])
        state = step(batch, state, choice[:, None])


def can_end(instance, begun):
    """By trying all that is left, in every order."""
    if isinstance(verify(instance, begun), Solution):
        return True
    now, legs = 0.0, zip([0, *begun], begun, strict=False)
    for here, there in legs:
        now += instance.service[here] + instance.travel[here, there]
        now = max(now, instance.opens[there])
        if now > instance.closes[there] + 1e-9:
            return False
    left = set(range(1, instance.nodes)).difference(begun)
    return any(can_end(instance, [*begun, node]) for node in left)


def test_without_a_budget_there_are_no_second_thoughts():
    batch = draw(DISTRIBUTIONS["tsptw", "hard"], 50, 100, torch.Generator().manual_seed(5))
    pointer, guard = some_pointer(100, 50), MaskConfig(rule=PAIRS)
    plain = build(batch, pointer, guard)
    assert plain.dead_ends.any(), "the test must see tours that fail"
    assert torch.equal(build_with_backtracking(batch, pointer, guard, budget=0).tours, plain.tours)
    assert not build_with_backtracking(batch, pointer, guard, budget=100).dead_ends.any()


def test_where_no_tour_is_lost_none_is_built_again():
    batch = draw(DISTRIBUTIONS["tsptw", "easy"], 20, 6, torch.Generator().manual_seed(5))
    pointer, guard = some_pointer(6, 20), MaskConfig(rule=PAIRS)
    assert not build(batch, pointer, guard).broken.any()
    assert not build_with_backtracking(batch, pointer, guard).broken.any()


@pytest.mark.parametrize(
    "guard",
    [MaskConfig(), MaskConfig("none"), MaskConfig(rule=AUTHORS), MaskConfig(rule=PAIRS, until=5)],
    ids=str,
)
def test_other_guards_have_no_second_thoughts(guard):
    batch = draw(DISTRIBUTIONS["tsptw", "hard"], 30, 20, torch.Generator().manual_seed(5))
    pointer = some_pointer(20, 30)
    assert build(batch, pointer, guard).broken.any(), "the test must see tours that fail"
    assert torch.equal(
        build(batch, pointer, guard).tours, build_with_backtracking(batch, pointer, guard).tours
    )
