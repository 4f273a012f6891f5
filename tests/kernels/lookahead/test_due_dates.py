import itertools

import pytest
import torch
from chance import sampler
from soaking import hard_fifty_first
from worlds import odd_drafts, possible, walk, worlds

from fairway.kernels.lookahead import MaskRule, complete, dense
from fairway.kernels.lookahead.table import table
from fairway.problems.batch import to_batch
from fairway.problems.beds import load_bed
from fairway.problems.generate import generate
from fairway.search.rollout import rollout


def servable(batch, b, resource, ports):
    """Whether some order of the ports keeps every draft, by trying them all."""
    demand, draft = batch.gain[b].tolist(), batch.latest[b].tolist()
    for order in itertools.permutations(ports):
        load, kept = resource, True
        for port in order:
            load += demand[port]
            kept = kept and load <= draft[port]
        if kept:
            return True
    return False


@pytest.mark.parametrize("nodes", [6, 7, 8])
@pytest.mark.parametrize("slack", [0, 2, 6])
def test_a_port_is_allowed_iff_some_order_serves_the_rest(slack, nodes):
    """Soundness and completeness at once, against brute force, with demands of zero to four."""
    kept = masked = 0
    for seed in range(4):
        batch = odd_drafts(nodes, 100, seed, slack=slack)
        look = complete(batch)
        for state in walk(batch, tours=1, seed=seed):
            allowed = look(state).allowed[:, 0]
            assert torch.equal(allowed, possible(batch, state))
            kept += int(allowed.sum())
            masked += int((state.unvisited[:, 0] & ~allowed).sum())
    assert min(kept, masked) > 50


def test_it_allows_nothing_that_the_one_step_rule_forbids():
    for name in ("tspdl medium", "tspdl hard", "odd drafts"):
        batch = worlds(12, 5)[name]
        known, look = table(batch), complete(batch)
        for state in walk(batch, tours=3, seed=1):
            one_step = dense.lookahead(known, state, MaskRule(1)).allowed
            assert not (look(state).allowed & ~one_step).any()


def test_slack_is_the_cargo_that_could_still_be_added_to_the_port():
    """One more unit at the candidate than its slack, and brute force finds no order any more."""
    batch = odd_drafts(5, 30, 3, slack=3)
    state = next(walk(batch, tours=1, seed=0))
    mask = complete(batch)(state)
    for b, port in mask.allowed[:, 0].nonzero().tolist():
        spare = float(mask.slack[b, 0, port])
        rest = [other for other in range(1, 5) if other != port]
        load = float(mask.resource[b, 0, port])
        assert servable(batch, b, load + spare, rest)
        beyond = load + spare + 1
        assert beyond > float(batch.latest[b, port]) or not servable(batch, b, beyond, rest)


@pytest.mark.parametrize(
    "name", hard_fifty_first(["tspdl50-medium", "tspdl50-hard", "tspdl100-medium", "tspdl100-hard"])
)
def test_under_the_exact_mask_even_a_random_policy_never_fails(name):
    """All 10,000 instances of each published bed."""
    batch = to_batch(load_bed(name))
    tours = rollout(
        batch,
        look=complete(batch),
        score=lambda state, mask: torch.zeros_like(mask.resource),
        select=sampler(torch.Generator().manual_seed(1)),
    )
    assert int(tours.dead_ends.sum()) == 0
    assert int(tours.broken.sum()) == 0


def test_an_instance_without_a_tour_is_dead_from_the_start():
    batch = odd_drafts(6, 200, 1, slack=20)
    mask = complete(batch)(next(walk(batch, tours=1, seed=0)))
    for b in range(200):
        assert bool(mask.dead[b, 0]) == (not servable(batch, b, 0.0, range(1, 6)))
    assert 0 < int(mask.dead.sum()) < 200


def test_generated_instances_are_alive_at_the_start():
    batch = to_batch(generate("tspdl", n=30, count=50, seed=2))
    assert not complete(batch)(next(walk(batch, tours=1, seed=0))).dead.any()
