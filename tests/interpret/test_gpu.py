"""The Triton kernels: compiled on a GPU, interpreted elsewhere.

In a folder of its own because run-time type checks wrap functions, which the interpreter cannot look through.
"""

import os
from itertools import chain

import pytest
import torch
from worlds import walk, worlds

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # must be there when the kernels are first imported

from fairway.classical.greedy import tightest
from fairway.kernels.lookahead import PAIRS, MaskRule, ahead, along, dense, gpu, orders
from fairway.kernels.lookahead.gpu import orders as in_one_launch
from fairway.kernels.lookahead.table import table
from fairway.problems.batch import to_batch
from fairway.problems.generate import generate
from fairway.search.rollout import greedy, rollout

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
RULES = [MaskRule(1, own) for own in (True, False)]
NODES = [2, 3, 8, 70, 140] if DEVICE == "cuda" else [2, 3, 8, 70]


def moved(known, state):
    """A table and a state on the device of the kernels."""
    tables = (known.increment, known.earliest, known.shortest, known.latest, known.cutoff)
    states = (state.node, state.resource, state.unvisited)
    return type(known)(*(t.to(DEVICE) for t in tables)), type(state)(
        *(t.to(DEVICE) for t in states)
    )


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("nodes", NODES)
def test_triton_equals_dense(nodes, rule):
    """To the last bit, resources and bounds included."""
    tours, most_steps = (70, None) if DEVICE == "cuda" else (3, 1)
    for name, batch in worlds(nodes, count=2 if nodes < 50 or DEVICE == "cuda" else 1).items():
        known = table(batch)
        for state in walk(batch, tours=tours, seed=nodes, most_steps=most_steps):
            expected = dense.lookahead(known, state, rule)
            there, at = moved(known, state)
            found = gpu.lookahead(gpu.ranks(there), at, rule)
            assert torch.equal(found.allowed.cpu(), expected.allowed), name
            assert torch.equal(found.resource.cpu(), expected.resource), name
            assert torch.equal(found.bound.cpu(), expected.bound), name


@pytest.mark.parametrize("rounds", [1, 16])
@pytest.mark.parametrize("nodes", [2, 3, 8] if DEVICE == "cpu" else [2, 3, 8, 50, 100, 140])
def test_windows_narrowed_in_one_launch_are_those_of_the_plain_loop(nodes, rounds, monkeypatch):
    """To the last bit, also among some of the nodes alone."""
    monkeypatch.setattr(orders, "ROUNDS", rounds)
    narrower = 0
    for name, batch in worlds(nodes, count=3).items():
        known, tolerance = table(batch), 1e-5
        among = torch.rand(batch.latest.shape, generator=torch.Generator().manual_seed(3)) < 0.8
        lowest, highest = orders.settled(
            known.earliest, known.latest, known.shortest, among, tolerance
        )
        margin = orders.rounding(known.latest)
        both = among[:, :, None] & among[:, None, :] & ~torch.eye(nodes, dtype=torch.bool)
        back = torch.where(both, known.shortest.mT, -torch.inf)
        given = (known.earliest, known.latest, known.shortest, back, margin, tolerance + margin)
        found = in_one_launch.settled(*(tensor.to(DEVICE) for tensor in given), rounds)
        assert torch.equal(found[0].cpu(), lowest), name
        assert torch.equal(found[1].cpu(), highest), name
        narrower += int((highest < known.latest).sum())
    assert nodes < 3 or narrower > 0


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("nodes", [2, 3, 8] if DEVICE == "cpu" else [2, 3, 8, 140])
def test_a_walk_that_keeps_its_place_equals_dense_at_every_step(nodes, own):
    """To the last bit, from the first choice to the last, and again on a second way."""
    rule = MaskRule(1, own)
    for name, batch in worlds(nodes, count=2 if nodes < 10 or DEVICE == "cuda" else 1).items():
        known, steps = table(batch), None
        for state in chain(*(walk(batch, tours=3, seed=seed) for seed in (nodes, nodes + 1))):
            expected = dense.lookahead(known, state, rule)
            there, at = moved(known, state)
            steps = steps or gpu.Walk(there, 3, rule)
            found = steps(at)
            assert torch.equal(found.allowed.cpu(), expected.allowed), name
            assert torch.equal(found.resource.cpu(), expected.resource), name
            assert torch.equal(found.bound.cpu(), expected.bound), name


@pytest.mark.cuda
@pytest.mark.parametrize("rule", [MaskRule(1), MaskRule(2), PAIRS], ids=str)
def test_a_rollout_on_the_gpu_is_the_one_on_the_cpu(rule):
    """Greedy by limit, which knows no ties here, so that tours must agree stop for stop."""
    instances = generate("tsptw", n=60, hardness="hard", count=50, seed=1)
    tours = []
    for device in ("cpu", "cuda"):
        batch = to_batch(instances, device)
        for look in (ahead(batch, rule), along(batch, 1, rule)):
            built = rollout(batch, look=look, score=tightest(batch), select=greedy)
            tours.append(built.tours.cpu())
    assert all(torch.equal(tours[0], other) for other in tours[1:])
