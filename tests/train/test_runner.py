from dataclasses import replace

import pytest
import torch

from fairway.errors import InvalidRequest
from fairway.train.processes import DistContext
from fairway.train.run import begin
from fairway.train.runner import networks_of, policy_engine
from fairway.train.schedule import seed_of

CPU = torch.device("cpu")


def test_every_step_and_seed_has_a_stream_of_its_own():
    seeds = {seed_of(s, step) for s in range(20) for step in range(-5, 200)}
    assert len(seeds) == 20 * 205


def test_gradients_are_those_of_one_step_only(tiny):
    run = begin(tiny, CPU)
    advance = policy_engine(tiny, networks_of(run), DistContext())
    advance("exact", 3, 0.0)
    alone = [p.grad.clone() for p in run.policy.parameters()]
    advance("exact", 9, 0.0)
    advance("exact", 3, 0.0)
    for before, parameter in zip(alone, run.policy.parameters(), strict=True):
        assert torch.equal(before, parameter.grad)


def test_a_mixture_takes_its_kinds_in_turn(tiny):
    """Each step is that of a run of its kind alone, with the same number."""
    mixed = replace(tiny, mixture=(("hard", 5), ("easy", 7)))
    run = begin(mixed, CPU)
    networks = networks_of(run)
    advance = policy_engine(mixed, networks, DistContext())
    for number, (hardness, nodes) in enumerate([("hard", 5), ("easy", 7), ("hard", 5)]):
        found = advance("exact", number, 0.0)
        alone = policy_engine(
            replace(tiny, hardness=hardness, nodes=nodes), networks, DistContext()
        )
        assert torch.equal(found, alone("exact", number, 0.0))


def test_a_mixture_needs_the_shared_baseline(tiny):
    with pytest.raises(InvalidRequest, match="need the shared baseline"):
        replace(tiny, mixture=(("hard", 5),), baseline="greedy")
