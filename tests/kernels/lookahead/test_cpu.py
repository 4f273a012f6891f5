"""The compiled look-ahead against the definition and the plain torch version, bit for bit, along whole rollouts."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from worlds import walk, worlds

from fairway.kernels.lookahead import dense, reference
from fairway.kernels.lookahead.config import PAIRS, MaskRule
from fairway.kernels.lookahead.cpu import Walk, lookahead, rows_of
from fairway.kernels.lookahead.table import table
from fairway.problems.batch import rows as instances_of
from fairway.problems.batch import to_batch
from fairway.problems.generate import generate
from fairway.problems.instance import TSPTW
from fairway.problems.problem import start, step
from fairway.problems.sets import instance_set

RULES = [MaskRule(steps, own) for steps in (0, 1) for own in (True, False)] + [PAIRS]
TOLERANCES = [0.0, 1e-5, 0.37]
NOT_ONE_ON = "one step on"


def same(mask, expected):
    """Equal to the last bit in all three parts."""
    return (
        torch.equal(mask.resource, expected.resource)
        and torch.equal(mask.bound, expected.bound)
        and torch.equal(mask.allowed, expected.allowed)
    )


def masked_rollout(batch, tours, known, rule, seed=0):
    """Every state, the finished one included, of tours that take random candidates from among the allowed."""
    generator = torch.Generator().manual_seed(seed)
    states = [start(batch, tours)]
    for _ in range(batch.latest.shape[1] - 1):
        state = states[-1]
        allowed = dense.lookahead(known, state, rule).allowed
        allowed = torch.where(allowed.any(-1, keepdim=True), allowed, state.unvisited)
        keys = torch.rand(allowed.shape, generator=generator).masked_fill(~allowed, -1.0)
        states.append(step(batch, state, keys.argmax(-1)))
    return states


def medium(nodes=12, dtype=torch.float32):
    """A batch with its table, and the states of two tours an instance through it."""
    instances = generate("tsptw", n=nodes, hardness="medium", count=3, seed=5)
    batch = to_batch(instances, dtype=dtype)
    known = table(batch)
    return known, masked_rollout(batch, 2, known, MaskRule())


@pytest.mark.parametrize("nodes", [2, 3, 7])
@pytest.mark.parametrize("rule", RULES, ids=str)
def test_stateless_and_walk_equal_the_definition(nodes, rule):
    for name, batch in worlds(nodes, count=2).items():
        rows = rows_of(table(batch, rule))
        along = Walk(rows, tours=2, rule=rule)
        for state in walk(batch, tours=2, seed=nodes):
            expected = reference.lookahead(batch, state, rule)
            assert torch.equal(lookahead(rows, state, rule).allowed, expected), name
            assert torch.equal(along(state).allowed, expected), name


@pytest.mark.parametrize("nodes", [2, 3, 50, 100])
@pytest.mark.parametrize("rule", RULES, ids=str)
def test_levels_bounds_and_allowed_equal_the_dense_version_along_random_walks(nodes, rule):
    tours = 3 if nodes < 100 else 1
    for number, (name, batch) in enumerate(worlds(nodes, count=2).items()):
        judged = replace(rule, tolerance=TOLERANCES[number % 3])
        known = table(batch, judged)
        rows = rows_of(known)
        along = Walk(rows, tours=tours, rule=judged)
        for state in walk(batch, tours=tours, seed=number):
            expected = dense.lookahead(known, state, judged)
            assert same(lookahead(rows, state, judged), expected), name
            assert same(along(state), expected), name


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("problem", ["tsptw", "tspdl"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_rollouts_that_obey_the_mask_see_the_dense_version_to_their_end(rule, problem, dtype):
    for hardness in ("easy", "medium", "hard"):
        instances = generate(problem, n=30, hardness=hardness, count=3, seed=9)
        batch = to_batch(instances, dtype=dtype)
        known = table(batch, rule)
        rows = rows_of(known)
        along = Walk(rows, tours=4, rule=rule)
        for state in masked_rollout(batch, 4, known, rule):
            expected = dense.lookahead(known, state, rule)
            assert expected.resource.dtype == dtype
            assert same(lookahead(rows, state, rule), expected), hardness
            assert same(along(state), expected), hardness


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("rule", RULES, ids=str)
def test_levels_within_three_ulps_of_a_bound_fall_on_the_same_side_as_in_torch(dtype, rule):
    """Also shows that the cases are sharp: with sums in double width some float32 answers would differ."""
    known, states = medium(nodes=40, dtype=dtype)
    generator = torch.Generator().manual_seed(3)
    answers, widened = [], []
    for state in states[:-1]:
        target = torch.rand(state.unvisited.shape, generator=generator)
        target = target.masked_fill(~state.unvisited, -1.0).argmax(-1)
        bound = dense.lookahead(known, state, rule).bound
        bound = bound.gather(-1, target[..., None])[..., 0].clamp(max=9.0)
        resource = (
            bound + rule.tolerance - known.increment[instances_of(target), state.node, target]
        )
        for ulps in range(-3, 4):
            toward = torch.full_like(resource, torch.inf if ulps > 0 else -torch.inf)
            near = resource
            for _ in range(abs(ulps)):
                near = torch.nextafter(near, toward)
            close = replace(state, resource=near)
            expected = dense.lookahead(known, close, rule)
            rows = rows_of(known)
            found = lookahead(rows, close, rule)
            assert same(found, expected)
            assert same(Walk(rows, tours=2, rule=rule)(close), expected)
            exact = found.resource.double() <= found.bound.double() + rule.tolerance
            at = target[..., None]
            answers.append(found.allowed.gather(-1, at))
            widened.append((exact & state.unvisited).gather(-1, at))
    answers, widened = torch.cat(answers), torch.cat(widened)
    assert answers.any()
    assert not answers.all()
    assert torch.equal(answers, widened) == (dtype == torch.float64)


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_where_all_close_at_once_and_every_column_decides_the_dense_version_is_equalled(rule, rng):
    """No column can be left out: each is the nearest of some row."""
    travel = rng.random((4, 20, 20))
    batch = to_batch(instance_set([TSPTW(matrix, 0, 6.0) for matrix in travel]))
    known = table(batch, rule)
    rows = rows_of(known)
    along = Walk(rows, tours=3, rule=rule)
    for state in walk(batch, tours=3, seed=1):
        expected = dense.lookahead(known, state, rule)
        assert same(lookahead(rows, state, rule), expected)
        assert same(along(state), expected)


def test_a_walk_begins_anew_with_a_second_rollout():
    batch = to_batch(generate("tsptw", n=20, hardness="hard", count=2, seed=3))
    for rule in RULES:
        known = table(batch, rule)
        rows = rows_of(known)
        along = Walk(rows, tours=3, rule=rule)
        for seed in (1, 2):
            for state in masked_rollout(batch, 3, known, rule, seed)[: 12 * seed]:
                assert same(along(state), dense.lookahead(known, state, rule))


def test_a_walk_may_begin_in_the_middle_of_its_tours():
    known, states = medium()
    for rule in RULES:
        along = Walk(rows_of(known), tours=2, rule=rule)
        for state in states[4:]:
            assert same(along(state), dense.lookahead(known, state, rule))


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize(("after", "then"), [(3, 3), (3, 5), (3, 2)])
def test_a_walk_refuses_to_stand_still_to_skip_and_to_go_back(rule, after, then):
    known, states = medium()
    along = Walk(rows_of(known), tours=2, rule=rule)
    for state in states[: after + 1]:
        along(state)
    with pytest.raises(AssertionError, match=NOT_ONE_ON):
        along(states[then])


def test_a_walk_notices_another_tour_of_the_same_length_wherever_it_stands_in_the_batch():
    known, states = medium()
    along = Walk(rows_of(known), tours=2, rule=MaskRule())
    for state in states[:4]:
        along(state)
    changed = states[4].unvisited.clone()
    changed[2, 1, changed[2, 1].nonzero()[0]] = False
    changed[2, 1, states[3].node[2, 1]] = True
    with pytest.raises(AssertionError, match=NOT_ONE_ON):
        along(replace(states[4], unvisited=changed))


def test_a_walk_that_refused_a_state_can_go_on_with_the_right_one():
    known, states = medium()
    rule = MaskRule()
    along = Walk(rows_of(known), tours=2, rule=rule)
    along(states[0])
    with pytest.raises(AssertionError, match=NOT_ONE_ON):
        along(states[2])
    for state in states[1:]:
        assert same(along(state), dense.lookahead(known, state, rule))


def test_a_walk_refuses_another_number_of_tours():
    known, states = medium()
    with pytest.raises(AssertionError, match="was given a state over"):
        Walk(rows_of(known), tours=3, rule=MaskRule())(states[0])


def test_levels_in_another_precision_than_the_table_are_refused():
    known, states = medium()
    widened = replace(states[1], resource=states[1].resource.double())
    with pytest.raises(AssertionError, match="resources are float64"):
        lookahead(rows_of(known), widened, MaskRule())


def test_two_steps_are_refused_rather_than_answered_as_one():
    known, states = medium()
    with pytest.raises(AssertionError, match="look one step ahead"):
        lookahead(rows_of(known), states[0], MaskRule(steps=2))


def test_asking_changes_neither_the_state_nor_an_earlier_answer():
    known, states = medium()
    rows = rows_of(known)
    along = Walk(rows, tours=2, rule=MaskRule())
    kept = [state.unvisited.clone() for state in states]
    answers = [along(state) for state in states]
    for state, answer, unvisited in zip(states, answers, kept, strict=True):
        assert torch.equal(state.unvisited, unvisited)
        assert same(answer, dense.lookahead(known, state, MaskRule()))


def test_columns_are_in_order_of_their_least_entries_and_share_the_tables_memory():
    known, _ = medium()
    rows = rows_of(known)
    order = torch.from_numpy(rows.order).long()
    assert (rows.low[:, 1:] >= rows.low[:, :-1]).all()
    assert order.sort(-1).values.eq(torch.arange(12)).all()
    for b, at in np.ndindex(*order.shape):
        column = known.cutoff[b, :, order[b, at]]
        assert rows.low[b, at] == column.min()
        assert rows.high[b, at] == column[column < torch.inf].max()
    assert rows.cutoff.ctypes.data == known.cutoff.data_ptr()


def test_importing_compiles_nothing():
    """Only the first call may take seconds; reading the package must not."""
    code = (
        "from fairway.kernels.lookahead import cpu\n"
        "compiled = [v for v in vars(cpu).values() if getattr(v, 'signatures', None)]\n"
        "assert hasattr(cpu.first_step, 'signatures')\n"
        "raise SystemExit(len(compiled))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
