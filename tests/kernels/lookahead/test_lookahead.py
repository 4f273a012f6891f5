"""Every fast version against the definition, and the definition against brute force."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
import torch
from worlds import odd_drafts, odd_windows, possible, walk, worlds

from fairway.kernels.lookahead import cpu, dense, reference
from fairway.kernels.lookahead.config import AUTHORS, PAIRS, TOLERANCE, MaskRule
from fairway.kernels.lookahead.table import closed, table
from fairway.problems.batch import to_batch
from fairway.problems.generate import generate
from fairway.problems.problem import extend, start, step

RULES = [MaskRule(steps, own) for steps in (0, 1, 2) for own in (True, False)] + [PAIRS]


@pytest.mark.parametrize("nodes", [2, 3, 8])
@pytest.mark.parametrize("rule", RULES, ids=str)
def test_dense_equals_the_definition(nodes, rule):
    for name, batch in worlds(nodes, count=3).items():
        known = table(batch, rule)
        for state in walk(batch, tours=2, seed=nodes):
            mask = dense.lookahead(known, state, rule)
            assert torch.equal(mask.allowed, reference.lookahead(batch, state, rule)), name


@pytest.mark.slow
@pytest.mark.parametrize("nodes", [50, 100])
def test_dense_equals_the_definition_at_full_size(nodes):
    for name, batch in worlds(nodes, count=1).items():
        for state in itertools.islice(walk(batch, tours=1, seed=nodes, most_steps=3), 0, None, 2):
            for rule in RULES[2:]:
                known, expected = table(batch, rule), reference.lookahead(batch, state, rule)
                assert torch.equal(dense.lookahead(known, state, rule).allowed, expected), name


def test_slices_make_no_difference(monkeypatch):
    batch = odd_windows(9, 3, 1, width=60)
    known = table(batch)
    whole = [dense.lookahead(known, state, MaskRule(2)).allowed for state in walk(batch, 5, seed=1)]
    monkeypatch.setattr(dense, "PAIRS", 1)
    sliced = [
        dense.lookahead(known, state, MaskRule(2)).allowed for state in walk(batch, 5, seed=1)
    ]
    assert all(map(torch.equal, whole, sliced))


WORLDS = {
    "windows": lambda nodes, seed: odd_windows(nodes, 100, seed, width=40),
    "wide windows": lambda nodes, seed: odd_windows(nodes, 100, seed, width=15 * nodes),
    "drafts": lambda nodes, seed: odd_drafts(nodes, 100, seed, slack=4),
    "metric": lambda nodes, seed: to_batch(
        generate("tsptw", n=nodes, hardness="medium", count=100, seed=seed)
    ),
}


@pytest.mark.parametrize("nodes", [6, 7, 8])
@pytest.mark.parametrize("world", WORLDS)
def test_no_move_of_a_feasible_tour_is_ever_masked(world, nodes):
    """By brute force over all orders, on instances most of which keep no triangle inequality."""
    # Sums of whole numbers are exact; the others are rounded, each in its own order.
    tolerance = TOLERANCE if world == "metric" else 0.0
    rules = [replace(rule, tolerance=tolerance) for rule in RULES]
    feasible = masked = 0
    for seed in range(8):
        batch = WORLDS[world](nodes, seed)
        tables = [table(batch, rule) for rule in rules]
        rows_of = [cpu.rows_of(known) for known in tables]
        in_time = torch.ones(len(batch.latest), dtype=torch.bool)
        for state in walk(batch, tours=1, seed=seed):
            firsts = possible(batch, state)
            feasible += int(firsts.sum())
            in_time &= state.resource[:, 0] <= tables[0].latest.gather(1, state.node)[:, 0]
            for rule, known, rows in zip(rules, tables, rows_of, strict=True):
                allowed = dense.lookahead(known, state, rule).allowed[:, 0]
                # Windows are narrowed by what a whole tour keeps: nothing is said of one that is late already.
                of_tours = firsts & in_time[:, None] if rule.pairs else firsts
                assert not (of_tours & ~allowed).any(), rule
                if rule.steps < 2:
                    compiled = cpu.lookahead(rows, state, rule).allowed[:, 0]
                    assert torch.equal(compiled, allowed), rule
                masked += int((state.unvisited[:, 0] & ~allowed).sum())
    assert feasible > 300, "the test must see feasible tours"
    assert masked > 1000, "and masks that do something"


def test_without_closing_the_matrix_a_feasible_move_would_be_masked():
    """Why the closure is needed: 1 to 3 is far, but by way of 2 it is not."""
    from fairway.problems.instance import TSPTW
    from fairway.problems.sets import instance_set

    travel = [[0, 1, 9, 9], [9, 0, 1, 9], [9, 9, 0, 1], [1, 9, 9, 0]]
    batch = to_batch(instance_set([TSPTW(travel, 0, [99, 5, 5, 5])]))
    known = table(batch)
    assert dense.lookahead(known, start(batch), MaskRule(1)).allowed[0, 0, 1]
    open_latest = known.latest[:, None, :] - known.increment
    assert not open_latest[0, 1, 3] >= 1 / batch.geometry.scale[0]


def test_the_closure_is_the_shortest_path(rng):
    increment = torch.tensor(rng.integers(0, 20, (2, 5, 5)), dtype=torch.float32)
    found = closed(increment)
    for b, i, j in itertools.product(range(2), range(5), range(5)):
        middles = [
            m for size in range(4) for m in itertools.permutations(set(range(5)) - {i, j}, size)
        ]
        paths = ((i, *middle, j) for middle in middles)
        shortest = min(
            sum(float(increment[b, x, y]) for x, y in itertools.pairwise(path)) for path in paths
        )
        assert float(found[b, i, j]) == shortest or i == j


def test_two_steps_see_more_than_one_and_one_more_than_none():
    batch = odd_windows(8, 60, 3, width=50)
    known = table(batch)
    kept = [0, 0, 0]
    for state in walk(batch, tours=4, seed=2):
        for steps in (0, 1, 2):
            kept[steps] += int(dense.lookahead(known, state, MaskRule(steps)).allowed.sum())
    assert kept[0] > kept[1] > kept[2] > 0


def test_the_authors_rule_forces_the_one_late_node():
    """A node that is already late masks every other one, and is not masked itself."""
    from fairway.problems.instance import TSPTW
    from fairway.problems.sets import instance_set

    batch = to_batch(instance_set([TSPTW(np.ones((4, 4)), 0, [99, 0.5, 50, 50])]))
    known = table(batch)
    authors = dense.lookahead(known, start(batch), AUTHORS)
    assert authors.allowed.tolist() == [[[False, True, False, False]]]
    assert dense.lookahead(known, start(batch), MaskRule(1)).dead.all()


def test_slack_is_how_much_later_one_could_be():
    batch = odd_windows(7, 30, 5, width=60)
    known = table(batch)
    for state in walk(batch, tours=2, seed=3):
        mask = dense.lookahead(known, state, MaskRule(1, tolerance=0.0))
        assert torch.equal(mask.allowed, state.unvisited & (mask.slack >= 0))
        here, there = (
            state.node[..., None].expand_as(mask.resource),
            torch.arange(7).expand_as(mask.resource),
        )
        assert torch.equal(
            mask.resource, extend(batch, state.resource[..., None].expand_as(there), here, there)
        )


def test_step_and_table_speak_the_same_law():
    batch = odd_windows(5, 3, 1, width=40, whole=False)
    known = table(batch)
    state = start(batch)
    expected = dense.candidate_resources(known, state)[:, 0, 2]
    assert torch.equal(step(batch, state, torch.full((3, 1), 2)).resource[:, 0], expected)
