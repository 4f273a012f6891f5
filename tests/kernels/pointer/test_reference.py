"""The definition: step by step and all steps at once are the same, and so are their gradients."""

import pytest
import torch

from fairway.kernels.lookahead import AUTHORS, PAIRS, MaskConfig, MaskRule, ahead, complete, none
from fairway.kernels.pointer import Facts, Pointer
from fairway.kernels.pointer.reference import (
    FAR,
    known_facts,
    log_probabilities,
    scores,
    weighed,
)
from fairway.problems.batch import to_batch
from fairway.problems.draw import draw
from fairway.problems.generate import DISTRIBUTIONS
from fairway.problems.instance import TSPTW
from fairway.problems.problem import start, step
from fairway.problems.sets import instance_set
from fairway.search.decode import decode, follow, traced

PARTS = ("query", "key", "value", "aim", "drift", "bias")


def some_pointer(instances, nodes, *, facts=False, seed=1, width=16, heads=2, clip=10.0):
    """Projections of no particular meaning, large enough that softmaxes are far from even."""
    generator = torch.Generator().manual_seed(seed)

    def some(*shape, scale=0.5):
        return (scale * torch.randn(shape, generator=generator)).requires_grad_()

    network = Facts(some(8, 4), some(8), some(8)) if facts else None
    states = [some(instances, nodes, width) for _ in range(4)]
    return Pointer(*states, some(instances, heads, nodes), some(instances, nodes), clip, network)


def leaves(pointer):
    found = [getattr(pointer, part) for part in PARTS]
    facts = pointer.facts
    return found if facts is None else [*found, facts.inner, facts.shift, facts.outer]


def one_at_a_time(batch, pointer, look, tours):
    """The log-probabilities of given tours by a loop that only knows scores, states and masks."""
    state, total = start(batch, tours.shape[1]), 0.0
    for chosen in tours.unbind(-1):
        mask = look(state)
        known = None
        if pointer.facts is not None:
            known = known_facts(batch, state.node, state.resource, mask)
        dead = mask.allowed.sum(-1, keepdim=True) == 0
        allowed = torch.where(dead, state.unvisited, mask.allowed)
        likely = scores(pointer, state.node, state.resource, allowed, known)
        likely = likely.masked_fill(~allowed, -torch.inf).log_softmax(-1)
        total = total + likely.gather(-1, chosen[..., None])[..., 0]
        state = step(batch, state, chosen)
    return total


CASES = [
    *(
        ("tsptw", MaskConfig(rule=rule))
        for rule in (MaskRule(0), MaskRule(1), AUTHORS, PAIRS, MaskRule(2))
    ),
    ("tsptw", MaskConfig("none")),
    ("tspdl", MaskConfig(rule=AUTHORS)),
    ("tspdl", MaskConfig("exact")),
]


@pytest.mark.parametrize("facts", [False, True], ids=["plain", "facts"])
@pytest.mark.parametrize(("problem", "guard"), CASES, ids=str)
def test_all_steps_at_once_are_as_likely_as_one_after_the_other(problem, guard, facts):
    """Log-probabilities to 1e-5, gradients equal to autograd's through the loop."""
    generator = torch.Generator().manual_seed(3)
    batch = draw(DISTRIBUTIONS[problem, "hard"], 11, 3, generator)
    pointer = some_pointer(3, 11, facts=facts)
    noise = torch.rand(3, 4, 10, generator=generator)
    with torch.no_grad():
        built, trace = traced(batch, pointer, guard, noise, None)
    at_once = follow(batch, pointer, trace, built)
    looks = {"none": none, "exact": complete, "ahead": lambda of: ahead(of, guard.rule)}
    stepwise = one_at_a_time(batch, pointer, looks[guard.kind](batch), built.tours)
    torch.testing.assert_close(at_once, stepwise, rtol=1e-5, atol=1e-5)
    weight = torch.linspace(-1, 2, 12).view(3, 4)
    found, expected = (
        torch.autograd.grad((total * weight).sum(), leaves(pointer))
        for total in (at_once, stepwise)
    )
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)
        assert one.abs().max() > 0


@pytest.mark.parametrize("noisy", [False, True], ids=["greedy", "sampled"])
def test_decoding_gives_the_traced_tours_with_gradients_in_their_log_probabilities(noisy):
    generator = torch.Generator().manual_seed(3)
    batch = draw(DISTRIBUTIONS["tsptw", "hard"], 8, 3, generator)
    pointer, guard = some_pointer(3, 8), MaskConfig(rule=AUTHORS)
    noise = torch.rand(3, 4, 7, generator=generator) if noisy else None
    decoded = decode(batch, pointer, guard, noise)
    with torch.no_grad():
        built, trace = traced(batch, pointer, guard, noise, None)
    assert torch.equal(decoded.rollout.tours, built.tours)
    assert decoded.rollout.tours.shape == (3, 4 if noisy else 1, 7)
    assert torch.equal(decoded.resources, torch.stack([s.resource for s in trace.states], -1))
    expected = one_at_a_time(batch, pointer, ahead(batch, AUTHORS), built.tours)
    torch.testing.assert_close(decoded.log_probability, expected, rtol=1e-5, atol=1e-5)
    assert decoded.log_probability.requires_grad


def test_scores_are_those_of_the_sentence():
    """Softmax of query . key + t drift, the sum of values, clip tanh(answer . aim + bias): head by head."""
    pointer = some_pointer(2, 6)
    node, resource = torch.tensor([[0, 4], [2, 2]]), torch.tensor([[0.0, 1.5], [3.0, 0.2]])
    allowed = torch.rand(2, 2, 6) < 0.6
    allowed[..., 5] = True
    found = scores(pointer, node, resource, allowed)
    for b in range(2):
        for s in range(2):
            answer = []
            for head in range(2):
                mine = slice(8 * head, 8 * head + 8)
                match = pointer.key[b, :, mine] @ pointer.query[b, node[b, s], mine]
                match = match + resource[b, s] * pointer.drift[b, head]
                shares = torch.where(allowed[b, s], match.exp(), 0.0)
                answer.append((shares / shares.sum()) @ pointer.value[b, :, mine])
            plain = pointer.aim[b] @ torch.cat(answer) + pointer.bias[b]
            torch.testing.assert_close(found[b, s], 10 * plain.tanh(), rtol=1e-5, atol=1e-5)


def test_scores_are_clipped_or_left_as_they_are():
    node, resource = torch.zeros(2, 1, dtype=torch.long), torch.ones(2, 1)
    clipped = scores(some_pointer(2, 6, clip=10.0), node, resource)
    free = scores(some_pointer(2, 6, clip=None), node, resource)
    torch.testing.assert_close(clipped, 10 * free.tanh())


def test_what_is_not_allowed_changes_neither_scores_nor_probabilities():
    pointer, node = some_pointer(2, 6), torch.zeros(2, 1, dtype=torch.long)
    allowed = torch.tensor([False, True, True, False, True, False]).expand(2, 1, 6)
    one = scores(pointer, node, torch.ones(2, 1), allowed)
    with torch.no_grad():
        pointer.key[:, 3] = 99
        pointer.value[:, 3] = -99
    other = scores(pointer, node, torch.ones(2, 1), allowed)
    assert torch.equal(one[..., [1, 2, 4]], other[..., [1, 2, 4]])
    total = sum(log_probabilities(other, allowed, torch.full((2, 1), j)).exp() for j in (1, 2, 4))
    torch.testing.assert_close(total, torch.ones(2, 1))


def test_facts_are_weighed_by_a_network_with_one_hidden_layer():
    facts = some_pointer(1, 3, facts=True).facts
    known = torch.randn(2, 3, 5, 4)
    network = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    with torch.no_grad():
        network[0].weight.copy_(facts.inner)
        network[0].bias.copy_(facts.shift)
        network[2].weight.copy_(facts.outer[None])
        network[2].bias.zero_()
    torch.testing.assert_close(weighed(facts, known), network(known)[..., 0])
    pointer = some_pointer(2, 5, facts=True, clip=None)
    silent = Pointer(*(getattr(pointer, part) for part in PARTS), None)
    node, resource = torch.zeros(2, 3, dtype=torch.long), torch.ones(2, 3)
    added = scores(pointer, node, resource, None, known) - scores(silent, node, resource)
    torch.testing.assert_close(added, weighed(pointer.facts, known), rtol=1e-4, atol=1e-5)


def squashed(slack):
    return slack / (1 + slack.abs() / FAR)


def test_the_facts_of_a_candidate_are_way_wait_and_slacks():
    """By hand: at the depot at time 0, ways 3 and 4 out; service 1 at node 1, which opens at 5 and closes at 9."""
    travel = [[0, 3, 4], [7, 0, 2], [1, 6, 0]]
    instance = TSPTW(travel, [0, 5, 0], [60, 9, 20], service=[0, 1, 0])
    batch = to_batch(instance_set([instance]))
    unit = float(batch.geometry.scale[0])
    state, look = start(batch), ahead(batch, AUTHORS)
    found = known_facts(batch, state.node, state.resource, look(state))[0, 0]
    ways, waits = torch.tensor([3, 4]) / unit, torch.tensor([2, 0]) / unit
    own = torch.tensor([9 - 5, 20 - 4]) / unit
    # From 1 at 5 to 2 by 20 takes 1 + 2; from 2 at 4 to 1 by 9 takes 6, or 1 + 3 by way of the depot.
    left = torch.tensor([20 - 3 - 5, 9 - 4 - 4]) / unit
    expected = torch.stack([ways, *(squashed(slack) for slack in (waits, own, left))], -1)
    torch.testing.assert_close(found[1:], expected, rtol=1e-5, atol=1e-5)


def test_slacks_without_end_come_to_the_far_end():
    """With one node left nothing bounds it."""
    batch = draw(DISTRIBUTIONS["tsptw", "hard"], 3, 2, torch.Generator().manual_seed(1))
    state = step(batch, start(batch), torch.ones(2, 1, dtype=torch.long))
    mask = ahead(batch, AUTHORS)(state)
    assert mask.slack[:, 0, 2].isinf().all()
    found = known_facts(batch, state.node, state.resource, mask)
    assert found[:, 0, 2, 3].tolist() == pytest.approx([FAR, FAR], rel=1e-4)
    assert found.isfinite().all()


def test_facts_of_loads_are_counted_in_mean_demands():
    batch = draw(DISTRIBUTIONS["tspdl", "hard"], 6, 2, torch.Generator().manual_seed(1))
    state = start(batch)
    found = known_facts(batch, state.node, state.resource, ahead(batch, AUTHORS)(state))
    assert found[:, 0, 1:, 1].abs().max() == 0  # a ship never waits
    torch.testing.assert_close(found[:, 0, 1:, 2], squashed(batch.latest[:, 1:] - 1))
