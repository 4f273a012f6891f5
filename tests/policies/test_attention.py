from dataclasses import replace

import pytest
import torch
from torch import nn

from fairway.errors import InvalidRequest
from fairway.kernels.pointer.reference import scores
from fairway.policies.attention import Decoder, Policy
from fairway.policies.config import AM, POMO, PolicyConfig
from fairway.policies.features import horizon_of
from fairway.problems.batch import Batch, each
from fairway.problems.draw import draw
from fairway.problems.generate import DISTRIBUTIONS

SMALL = {
    "pomo": PolicyConfig(layers=2, width=32, heads=2, hidden=48, foresight=True),
    "am": PolicyConfig("am", 2, 32, 2, 48, "batch", foresight=True),
}
NODES = 9


def some_batch(problem, count=3, nodes=NODES):
    return draw(DISTRIBUTIONS[problem, "hard"], nodes, count, torch.Generator().manual_seed(4))


def some_policy(config):
    """With projections large enough that nothing is nearly zero or nearly even."""
    torch.manual_seed(2)
    policy = Policy(config).eval()
    with torch.no_grad():
        for name, parameter in policy.named_parameters():
            if "decoder" in name or "foresight" in name:
                parameter.mul_(2)
    return policy


def some_states(batch, tours=5):
    generator = torch.Generator().manual_seed(5)
    instances, nodes = batch.latest.shape
    node = torch.randint(nodes, (instances, tours), generator=generator)
    resource = batch.horizon[:, None] * torch.rand(instances, tours, generator=generator)
    allowed = torch.rand(instances, tours, nodes, generator=generator) < 0.5
    allowed[..., 3] = True
    return node, resource, allowed


def unfolded(decoder, nodes, node, told, allowed):
    """Reference-spec 4.1 to 4.3 for one tour of one instance: ask, attend head by head, join, point."""
    query = decoder.query(torch.cat([nodes[node], told[None]]))
    if decoder.context is not None:
        query = query + decoder.context(nodes.mean(0))
    answers = []
    for q, k, v in zip(
        *(x.chunk(decoder.heads, -1) for x in (query, decoder.key(nodes), decoder.value(nodes))),
        strict=True,
    ):
        match = (k @ q) / len(q) ** 0.5
        answers.append(match.masked_fill(~allowed, -torch.inf).softmax(0) @ v)
    out = decoder.join(torch.cat(answers))
    return (nodes if decoder.aim is None else decoder.aim(nodes)) @ out


@pytest.mark.parametrize(
    ("config", "count"),
    [
        (POMO, 1_253_760),
        (PolicyConfig(foresight=True), 1_319_552),
        (PolicyConfig(normalisation="batch"), 1_253_760),
        (PolicyConfig(normalisation="layer"), 1_253_760),
    ],
    ids=["POMO", "POMO with PIP-D", "batch", "layer"],
)
def test_parameters_are_as_many_as_in_the_papers_models(config, count):
    assert sum(parameter.numel() for parameter in Policy(config).parameters()) == count


def test_the_am_has_the_parameters_of_the_released_file():
    """Those of its arrays that are no running statistics."""
    assert sum(parameter.numel() for parameter in Policy(AM).parameters()) == 692_352


@pytest.mark.parametrize("problem", ["tsptw", "tspdl"])
@pytest.mark.parametrize("backbone", ["pomo", "am"])
@torch.no_grad()
def test_folded_scores_are_those_of_the_definition(backbone, problem):
    """The routing decoder attends to what is allowed, and scores 10 tanh(out . h / sqrt(d)) in both papers."""
    policy, batch = some_policy(SMALL[backbone]), some_batch(problem)
    node, resource, allowed = some_states(batch)
    nodes = policy.encode(batch)
    found = scores(policy.point(nodes, batch), node, resource, allowed)
    told = resource if backbone == "am" else resource / batch.horizon[:, None]
    for b, p in torch.cartesian_prod(*(torch.arange(size) for size in node.shape)).tolist():
        plain = unfolded(policy.decoder, nodes[b], node[b, p], told[b, p], allowed[b, p])
        expected = 10 * (plain / 32**0.5).tanh()
        torch.testing.assert_close(found[b, p], expected, rtol=1e-5, atol=1e-5)
    assert found.abs().max() > 0.5


@pytest.mark.parametrize("problem", ["tsptw", "tspdl"])
@pytest.mark.parametrize("backbone", ["pomo", "am"])
@torch.no_grad()
def test_the_pip_d_head_attends_to_everything_and_only_ams_is_scaled_and_clipped(backbone, problem):
    policy, batch = some_policy(SMALL[backbone]), some_batch(problem)
    node, resource, _ = some_states(batch)
    nodes = policy.encode(batch)
    found = scores(policy.foresee(nodes, batch), node, resource)
    told = resource if backbone == "am" else resource / batch.horizon[:, None]
    everything = torch.ones(NODES, dtype=torch.bool)
    for b, p in torch.cartesian_prod(*(torch.arange(size) for size in node.shape)).tolist():
        plain = unfolded(policy.foresight, nodes[b], node[b, p], told[b, p], everything)
        expected = plain if backbone == "pomo" else 10 * (plain / 32**0.5).tanh()
        torch.testing.assert_close(found[b, p], expected, rtol=1e-5, atol=1e-5)
    assert policy.foresee(nodes, batch).clip == (None if backbone == "pomo" else 10)


@torch.no_grad()
def test_a_layer_attends_adds_normalises_widens_adds_and_normalises():
    """Post-norm, ReLU, against torch's own attention."""
    policy = some_policy(SMALL["pomo"])
    layer, x = policy.layers[0], torch.randn(2, 7, 32)
    attention = nn.MultiheadAttention(32, 2, batch_first=True)
    attention.in_proj_weight.copy_(layer.attend.weight)
    attention.in_proj_bias.zero_()
    attention.out_proj.load_state_dict(layer.join.state_dict())
    heard = layer.first_norm(x + attention(x, x, x, need_weights=False)[0])
    expected = layer.second_norm(heard + layer.narrow(layer.widen(heard).relu()))
    torch.testing.assert_close(layer(x), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("problem", ["tsptw", "tspdl"])
@pytest.mark.parametrize("config", [*SMALL.values(), PolicyConfig("pomo", 2, 32, 2, 48, "layer")])
@torch.no_grad()
def test_renumbering_the_customers_renumbers_the_scores(config, problem):
    policy, batch = some_policy(config), some_batch(problem)
    order = torch.cat([torch.zeros(1, dtype=torch.long), 1 + torch.randperm(NODES - 1)])
    renumbered = each(batch, lambda line: line if line.dim() == 1 else line[:, order])
    node, resource, allowed = some_states(batch)
    one = scores(policy(batch), node, resource, allowed)
    other = scores(policy(renumbered), order.argsort()[node], resource, allowed[..., order])
    torch.testing.assert_close(one[..., order], other, rtol=1e-4, atol=1e-4)


@torch.no_grad()
def test_pomo_asks_with_the_share_of_the_horizon_and_am_with_the_time_itself():
    """Twice as much of everything that is time: POMO's scores stay, AM's do not."""
    batch = some_batch("tsptw")
    slower = Batch(batch.geometry, 2 * batch.earliest, 2 * batch.latest, stay=batch.stay)
    node, resource, allowed = some_states(batch)
    for backbone, same in (("pomo", True), ("am", False)):
        policy = some_policy(SMALL[backbone])
        one = scores(policy(batch), node, resource, allowed)
        other = scores(policy(slower), node, 2 * resource, allowed)
        assert torch.allclose(one, other, atol=1e-4) == same


@pytest.mark.parametrize("facts", [0, 8])
@pytest.mark.parametrize("config", SMALL.values(), ids=SMALL)
def test_a_pointer_has_the_shapes_of_its_batch_and_trains_every_parameter_of_its_decoder(
    config, facts
):
    policy = Policy(PolicyConfig(config.backbone, 1, 48, 3, 16, config.normalisation, facts=facts))
    batch = some_batch("tsptw", count=2)
    pointer = policy(batch)
    assert pointer.heads == 3
    assert pointer.drift.shape == (2, 3, NODES)
    assert pointer.bias.shape == (2, NODES)
    assert all(
        getattr(pointer, part).shape == (2, NODES, 48) for part in ("query", "key", "value", "aim")
    )
    assert (pointer.facts is not None) == bool(facts)
    node, resource, allowed = some_states(batch)
    known = torch.randn(2, 5, NODES, 4) if facts else None
    scores(pointer, node, resource, allowed, known).square().sum().backward()
    idle = [name for name, p in policy.named_parameters() if p.grad is None or not p.grad.any()]
    # Zero weights at the outset keep the facts silent, so that a policy starts as the paper's.
    assert idle == (["facts_inner.weight", "facts_inner.bias"] if facts else [])


@torch.no_grad()
def test_facts_that_have_learnt_nothing_change_nothing():
    torch.manual_seed(3)
    policy = Policy(PolicyConfig(layers=1, width=32, heads=2, hidden=16, facts=8))
    batch = some_batch("tsptw")
    node, resource, allowed = some_states(batch)
    pointer = policy(batch)
    loud = scores(pointer, node, resource, allowed, torch.randn(3, 5, NODES, 4))
    assert torch.equal(loud, scores(pointer, node, resource, allowed, torch.zeros(3, 5, NODES, 4)))


def test_an_instance_without_any_extent_in_time_is_scored():
    """All windows at zero: the horizon is zero, and nothing is divided by it."""
    batch = some_batch("tsptw")
    still = Batch(batch.geometry, 0 * batch.earliest, 0 * batch.latest, stay=batch.stay)
    node, resource, allowed = some_states(batch)
    for config in SMALL.values():
        assert scores(some_policy(config)(still), node, resource, allowed).isfinite().all()


def test_demands_of_zero_are_scored():
    batch = some_batch("tspdl")
    empty = Batch(batch.geometry, batch.earliest, batch.latest, gain=0 * batch.gain)
    assert horizon_of(empty).tolist() == [1, 1, 1]
    node, resource, allowed = some_states(empty)
    assert scores(some_policy(SMALL["pomo"])(empty), node, resource, allowed).isfinite().all()


def test_the_drift_stays_in_float32_where_products_are_halved():
    policy, batch = some_policy(SMALL["pomo"]), some_batch("tsptw")
    with torch.autocast("cpu", torch.bfloat16):
        pointer = policy(batch)
    assert pointer.query.dtype == pointer.key.dtype == torch.bfloat16
    assert pointer.drift.dtype == pointer.bias.dtype == torch.float32


def test_features_are_read_in_float32_where_products_are_halved():
    """A share of the horizon has eight bits in bf16, and a hard window is narrower than the last of them."""
    policy, read = some_policy(SMALL["pomo"]), torch.full((1, 5, 4), 0.75)
    read[0, :, 0] = torch.linspace(0, 1, 5)
    later = read.clone()
    later[0, 2, 3] += 1e-4
    with torch.autocast("cpu", torch.bfloat16), torch.no_grad():
        assert not torch.equal(policy.encode_nodes(read), policy.encode_nodes(later))


@pytest.mark.parametrize(("width", "heads"), [(128, 3), (64, 8), (32, 4)])
def test_heads_that_do_not_fit_the_width_are_refused(width, heads):
    with pytest.raises(InvalidRequest, match="cannot be shared"):
        PolicyConfig(width=width, heads=heads)


def test_two_decoders_of_one_policy_share_no_weights():
    policy = Policy(SMALL["pomo"])
    assert isinstance(policy.foresight, Decoder)
    own = {id(parameter) for parameter in policy.decoder.parameters()}
    assert not own & {id(parameter) for parameter in policy.foresight.parameters()}


def cosines(ones, others):
    return (ones @ others.mT) / (ones.norm(dim=-1)[:, None] * others.norm(dim=-1))


def test_relations_say_whom_to_hear():
    """One layer head by head: the cosine of query and key, sharpened, and what the relation adds, at most twenty."""
    policy = some_policy(replace(SMALL["pomo"], foresight=False, relations=4))
    batch = some_batch("tsptw")
    before = policy.encode(batch)
    with torch.no_grad():
        policy.layers[0].relate.weight.normal_(std=60)
        policy.layers[0].sharpness.copy_(torch.tensor([3.0, 7.0]).view(2, 1, 1))
    assert not torch.allclose(policy.encode(batch), before, atol=1e-2)
    read, related = policy.read(batch)
    nodes, layer = policy.embed(read), policy.layers[0]
    related = torch.relu(policy.relate(related))
    bias = 20 * torch.tanh(layer.relate(related) / 20)
    assert bias.abs().amax() > 15
    query, key, value = layer.attend(nodes)[1].unflatten(-1, (3, layer.heads, -1)).unbind(1)
    heard = torch.stack(
        [
            (sharp * cosines(query[:, h], key[:, h]) + bias[1, :, :, h]).softmax(-1) @ value[:, h]
            for h, sharp in enumerate([3.0, 7.0])
        ],
        dim=1,
    )
    mixed = layer.first_norm((nodes[1] + layer.join(heard.flatten(1)))[None])
    expected = layer.second_norm(mixed + layer.narrow(torch.relu(layer.widen(mixed))))
    found = layer(nodes, related)[1:2]
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
