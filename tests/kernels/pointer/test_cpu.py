"""Rollouts in compiled loops: the tours of the definition, step by step."""

from dataclasses import replace

import pytest
import torch

from fairway.kernels.lookahead import AUTHORS, PAIRS, MaskConfig, MaskRule
from fairway.kernels.pointer import Facts, Pointer, cpu
from fairway.problems.batch import to_batch
from fairway.problems.draw import draw
from fairway.problems.generate import DISTRIBUTIONS
from fairway.problems.instance import TSPTW
from fairway.problems.sets import instance_set
from fairway.search import decode
from fairway.search.rollout import weighed

GUARDS = [
    MaskConfig("none"),
    MaskConfig(rule=MaskRule(0)),
    MaskConfig(),
    MaskConfig(rule=AUTHORS),
    MaskConfig(rule=PAIRS),
    MaskConfig("exact"),
]


def some_pointer(instances, nodes, *, facts=True):
    generator = torch.Generator().manual_seed(1)

    def some(*shape):
        return 0.5 * torch.randn(shape, generator=generator)

    states = [some(instances, nodes, 16) for _ in range(4)]
    known = Facts(some(8, 4), some(8), some(8)) if facts else None
    return Pointer(*states, 0.1 * some(instances, 2, nodes), some(instances, nodes), 10.0, known)


def worlds(guard):
    generator = torch.Generator().manual_seed(7)
    hard = [("tsptw", "hard"), ("tsptw", "medium"), ("tspdl", "hard")]
    for distribution in hard if guard.kind != "exact" else hard[2:]:
        for nodes in (3, 12, 30):
            yield draw(DISTRIBUTIONS[distribution], nodes, 4, generator)
    if guard.kind != "exact":
        yield asymmetric(generator)


def asymmetric(generator):
    """Service times, waits, and ways that are quicker round about."""
    travel = 1 + 9 * torch.rand(4, 9, 9, generator=generator, dtype=torch.float64)
    travel.diagonal(dim1=1, dim2=2).zero_()
    opens = 10 * torch.rand(4, 9, generator=generator, dtype=torch.float64)
    opens[:, 0] = 0
    service = torch.rand(4, 9, generator=generator, dtype=torch.float64)
    arrays = (array.numpy() for array in (travel, opens, opens + 35, service))
    return to_batch(instance_set([TSPTW(*each) for each in zip(*arrays, strict=True)]))


@pytest.mark.parametrize("facts", [True, False], ids=["facts", "plain"])
@pytest.mark.parametrize("sampled", [True, False], ids=["sampled", "greedy"])
@pytest.mark.parametrize("guard", GUARDS, ids=str)
def test_tours_are_those_step_by_step(guard, sampled, facts):
    dead = 0
    for batch in worlds(guard):
        instances, nodes = batch.latest.shape
        pointer = some_pointer(instances, nodes, facts=facts)
        generator = torch.Generator().manual_seed(nodes)
        noise = torch.rand(instances, 5, nodes - 1, generator=generator) if sampled else None
        assert cpu.reaches(batch, pointer, guard)
        walked = cpu.decode(batch, pointer, guard, noise)
        expected, _ = decode.traced(batch, pointer, guard, noise, None)
        found = weighed(batch, walked.tours, walked.resources, walked.dead_ends)
        for name in ("tours", "length", "excess", "worst", "broken", "dead_ends"):
            assert torch.equal(getattr(found, name), getattr(expected, name)), (name, nodes)
        dead += int(found.dead_ends.sum())
    if guard.kind == "ahead":
        assert dead > 0, "dead ends are part of the test"


def test_pauses_change_no_tour(monkeypatch):
    monkeypatch.setattr(cpu, "STEPS", 2)
    for batch in worlds(MaskConfig()):
        instances, nodes = batch.latest.shape
        pointer, heard = some_pointer(instances, nodes), []
        one, other = (
            cpu.decode(batch, pointer, MaskConfig(), None, p) for p in (None, heard.append)
        )
        for name in ("tours", "resources", "dead_ends"):
            assert torch.equal(getattr(one, name), getattr(other, name))
        assert heard == [at / (nodes - 1) for at in range(0, nodes - 1, 2)]


def test_what_is_not_compiled_is_said(monkeypatch):
    batch = next(worlds(MaskConfig()))
    pointer = some_pointer(4, 3)
    assert cpu.reaches(batch, pointer, MaskConfig())
    for guard in (MaskConfig(rule=MaskRule(2)), MaskConfig(until=2), MaskConfig("learned")):
        assert not cpu.reaches(batch, pointer, guard)
    assert not cpu.reaches(batch, replace(pointer, clip=None), MaskConfig())
    monkeypatch.setattr(cpu, "decode", None)
    assert decode.build(batch, pointer, MaskConfig(until=2)).tours.shape == (4, 1, 2)
