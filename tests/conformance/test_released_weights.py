"""The authors' weights in our policies: their figures, and their forward pass written down a second time."""

import numpy as np
import pytest
import torch
from conformance.released import greedy_figures, policy_of, published_costs, read_weights

from fairway.errors import InvalidFile, InvalidRequest
from fairway.kernels.lookahead import AUTHORS, MaskConfig
from fairway.kernels.pointer.reference import scores
from fairway.policies.attention import Policy
from fairway.policies.config import AM, POMO, PolicyConfig
from fairway.policies.features import features
from fairway.problems.batch import take, to_batch
from fairway.problems.beds import load_bed
from fairway.problems.draw import draw
from fairway.problems.generate import DISTRIBUTIONS, generate
from fairway.train.config import TrainConfig
from fairway.train.validate import validate

WIDTH, HEADS, HIDDEN = 64, 4, 96


@pytest.mark.soak
def test_the_released_am_with_pip_gives_on_its_bed_what_its_authors_logged(shared):
    """The bounds allow for about five instances of 10,000 that float32 decides otherwise."""
    policy = policy_of(read_weights(shared / "reference-weights/am-star-pip-tsptw50-hard.npz"))
    assert policy.config == AM
    costs = published_costs(shared / "beds/lkh-tsptw50-hard.npz", "tsptw50-hard")
    found = greedy_figures(policy, load_bed("tsptw50-hard"), costs)
    assert found.sol_infeasible == found.inst_infeasible == pytest.approx(15.45, abs=0.05)
    assert found.length == pytest.approx(25.8869, abs=0.002)
    assert found.gap == pytest.approx(0.9082, abs=0.005)
    assert found.excess == pytest.approx(10.2587, abs=0.05)
    assert found.broken == pytest.approx(1.0861, abs=0.005)


@pytest.mark.parametrize("problem", ["tsptw", "tspdl"])
def test_pomos_figures_are_those_of_eight_views_with_the_papers_tolerance(problem):
    """As training validates; a gap to costs of one is the length."""
    policy = policy_of(pomo_weights(3, foresight=False))
    instances = generate(problem, n=10, hardness="hard", count=40, seed=1)
    found = greedy_figures(policy, instances, np.ones(40))
    config = TrainConfig("test", problem, "hard", 10, policy=policy.config)
    expected = validate(config, policy, to_batch(instances), MaskConfig(rule=AUTHORS))
    assert found.sol_infeasible == pytest.approx(expected.sol_infeasible)
    assert found.inst_infeasible == pytest.approx(expected.inst_infeasible)
    assert found.inst_infeasible < found.sol_infeasible < 100
    assert found.length == pytest.approx(expected.length) == pytest.approx(1 + found.gap / 100)
    assert found.excess > 0


def some(generator, *shape):
    """Weights about as large as trained ones."""
    return torch.randn(shape, generator=generator) / shape[-1] ** 0.5


def norm_weights(generator, name, *, tracked):
    named = {
        f"{name}.weight": 1 + 0.2 * some(generator, WIDTH),
        f"{name}.bias": some(generator, WIDTH),
    }
    if tracked:
        named |= {
            f"{name}.running_mean": some(generator, WIDTH),
            f"{name}.running_var": 0.5 + torch.rand(WIDTH, generator=generator),
            f"{name}.num_batches_tracked": torch.tensor(7),
        }
    return named


def pomo_weights(seed, *, foresight, layers=2, tracked=False):
    """A checkpoint of random numbers under the names of POMO+PIP."""
    generator = torch.Generator().manual_seed(seed)
    named = {
        "encoder.embedding_node.weight": some(generator, WIDTH, 4),
        "encoder.embedding_node.bias": some(generator, WIDTH),
    }
    for i in range(layers):
        at = f"encoder.layers.{i}"
        named |= {f"{at}.{w}.weight": some(generator, WIDTH, WIDTH) for w in ("Wq", "Wk", "Wv")}
        for name, out, read in (
            ("multi_head_combine", WIDTH, WIDTH),
            ("feedForward.W1", HIDDEN, WIDTH),
            ("feedForward.W2", WIDTH, HIDDEN),
        ):
            named[f"{at}.{name}.weight"] = some(generator, out, read)
            named[f"{at}.{name}.bias"] = some(generator, out)
        for number in (1, 2):
            name = f"{at}.addAndNormalization{number}.norm"
            named |= norm_weights(generator, name, tracked=tracked)
    for suffix in ("", "_sl") if foresight else ("",):
        named |= {
            f"decoder.Wq_last{suffix}.weight": some(generator, WIDTH, WIDTH + 1),
            f"decoder.Wk{suffix}.weight": some(generator, WIDTH, WIDTH),
            f"decoder.Wv{suffix}.weight": some(generator, WIDTH, WIDTH),
            f"decoder.multi_head_combine{suffix}.weight": some(generator, WIDTH, WIDTH),
            f"decoder.multi_head_combine{suffix}.bias": some(generator, WIDTH),
        }
    return named


def am_weights(seed, *, foresight, layers=2, tracked=True):
    """A checkpoint of random numbers under the names of AM+PIP."""
    generator = torch.Generator().manual_seed(seed)
    depth = WIDTH // HEADS
    named = {
        "init_embed.weight": some(generator, WIDTH, 4),
        "init_embed.bias": some(generator, WIDTH),
    }
    for i in range(layers):
        at = f"embedder.layers.{i}"
        for part in ("query", "key", "val"):
            named[f"{at}.0.module.W_{part}"] = some(generator, HEADS, WIDTH, depth) / 2
        named[f"{at}.0.module.W_out"] = some(generator, HEADS, depth, WIDTH)
        for number, out, read in ((0, HIDDEN, WIDTH), (2, WIDTH, HIDDEN)):
            named[f"{at}.2.module.{number}.weight"] = some(generator, out, read)
            named[f"{at}.2.module.{number}.bias"] = some(generator, out)
        for number in (1, 3):
            named |= norm_weights(generator, f"{at}.{number}.normalizer", tracked=tracked)
    for suffix in ("", "_sl") if foresight else ("",):
        named |= {
            f"project_node_embeddings{suffix}.weight": some(generator, 3 * WIDTH, WIDTH),
            f"project_fixed_context{suffix}.weight": some(generator, WIDTH, WIDTH),
            f"project_step_context{suffix}.weight": some(generator, WIDTH, WIDTH + 1),
            f"project_out{suffix}.weight": some(generator, WIDTH, WIDTH),
        }
    return named


class Theirs:
    """Reference-spec 4.1 to 4.3 once more, one head and one normalisation at a time, on one instance's features."""

    def __init__(self, named):
        self.w = named

    def linear(self, name, x):
        y = x @ self.w[f"{name}.weight"].T
        return y + self.w[f"{name}.bias"] if f"{name}.bias" in self.w else y

    def norm(self, name, x, whole):
        """By the running statistics where there are any, else by those of the nodes of `whole`."""
        if f"{name}.running_mean" in self.w:
            mean, var = self.w[f"{name}.running_mean"], self.w[f"{name}.running_var"]
        else:
            mean, var = whole.mean(0), whole.var(0, unbiased=False)
        return (x - mean) / (var + 1e-5).sqrt() * self.w[f"{name}.weight"] + self.w[f"{name}.bias"]

    def attended(self, queries, keys, values, allowed=None):
        """Heads side by side."""
        found = []
        for q, k, v in zip(*(x.chunk(HEADS, -1) for x in (queries, keys, values)), strict=True):
            match = q @ k.T / q.shape[-1] ** 0.5
            if allowed is not None:
                match = match.masked_fill(~allowed, -torch.inf)
            found.append(match.softmax(-1) @ v)
        return torch.cat(found, -1)


class TheirPOMO(Theirs):
    def encode(self, read, layers):
        h = self.linear("encoder.embedding_node", read)
        for i in range(layers):
            at = f"encoder.layers.{i}"
            parts = (self.linear(f"{at}.{w}", h) for w in ("Wq", "Wk", "Wv"))
            h = h + self.linear(f"{at}.multi_head_combine", self.attended(*parts))
            h = self.norm(f"{at}.addAndNormalization1.norm", h, h)
            wide = self.linear(f"{at}.feedForward.W1", h).clamp(min=0)
            h = h + self.linear(f"{at}.feedForward.W2", wide)
            h = self.norm(f"{at}.addAndNormalization2.norm", h, h)
        return h

    def scores(self, h, node, share, allowed, suffix=""):
        asked = torch.cat([h[node], share[:, None]], -1)
        q = self.linear(f"decoder.Wq_last{suffix}", asked)
        k, v = (self.linear(f"decoder.{w}{suffix}", h) for w in ("Wk", "Wv"))
        out = self.attended(q, k, v, None if suffix else allowed)
        plain = self.linear(f"decoder.multi_head_combine{suffix}", out) @ h.T
        return plain if suffix else 10 * (plain / WIDTH**0.5).tanh()


class TheirAM(Theirs):
    def encode(self, read, layers):
        h = self.linear("init_embed", read)
        for i in range(layers):
            at = f"embedder.layers.{i}"
            heads = []
            for head in range(HEADS):
                q, k, v = (
                    h @ self.w[f"{at}.0.module.W_{x}"][head] for x in ("query", "key", "val")
                )
                answer = (q @ k.T / q.shape[-1] ** 0.5).softmax(-1) @ v
                heads.append(answer @ self.w[f"{at}.0.module.W_out"][head])
            h = h + sum(heads)
            h = self.norm(f"{at}.1.normalizer", h, h)
            wide = self.linear(f"{at}.2.module.0", h).clamp(min=0)
            h = h + self.linear(f"{at}.2.module.2", wide)
            h = self.norm(f"{at}.3.normalizer", h, h)
        return h

    def scores(self, h, node, time, allowed, suffix=""):
        fixed = self.linear(f"project_fixed_context{suffix}", h.mean(0))
        asked = torch.cat([h[node], time[:, None]], -1)
        q = fixed + self.linear(f"project_step_context{suffix}", asked)
        k, v, aim = self.linear(f"project_node_embeddings{suffix}", h).chunk(3, -1)
        out = self.attended(q, k, v, None if suffix else allowed)
        joined = "project_out_sl" if "project_out_sl.weight" in self.w else "project_out"
        return 10 * (self.linear(joined, out) @ aim.T / WIDTH**0.5).tanh()


def their_features(batch, b):
    """Reference-spec 2, written out."""
    if not batch.by_set:
        lines, whole = (batch.earliest[b], batch.latest[b]), batch.latest[b, 0]
    else:
        lines, whole = (batch.gain[b], batch.latest[b]), batch.gain[b].sum()
    return torch.cat([batch.geometry.coordinates[b], torch.stack(lines, -1) / whole], -1)


def some_states(batch, tours=6):
    """Nodes, levels and masks of no particular tours."""
    generator = torch.Generator().manual_seed(5)
    instances, nodes = batch.latest.shape
    node = torch.randint(nodes, (instances, tours), generator=generator)
    resource = batch.horizon[:, None] * torch.rand(instances, tours, generator=generator)
    allowed = torch.rand(instances, tours, nodes, generator=generator) < 0.5
    allowed[..., -1] = True
    return node, resource, allowed


@pytest.mark.parametrize("foresight", [False, True], ids=["plain", "PIP-D"])
@pytest.mark.parametrize("tracked", [False, True], ids=["instance", "batch"])
@pytest.mark.parametrize(
    ("backbone", "problem"), [("pomo", "tsptw"), ("pomo", "tspdl"), ("am", "tsptw")]
)
@torch.no_grad()
def test_weights_under_the_authors_names_score_as_their_forward_pass(
    backbone, problem, tracked, foresight
):
    make, theirs = (pomo_weights, TheirPOMO) if backbone == "pomo" else (am_weights, TheirAM)
    named = make(3, foresight=foresight, tracked=tracked)
    policy, theirs = policy_of({k: v.numpy() for k, v in named.items()}), theirs(named)
    kind = "batch" if tracked else "instance"
    assert policy.config == PolicyConfig(backbone, 2, WIDTH, HEADS, HIDDEN, kind, foresight)
    batch = draw(DISTRIBUTIONS[problem, "hard"], 20, 3, torch.Generator().manual_seed(1))
    node, resource, allowed = some_states(batch)
    h = policy.encode(batch)
    routing = scores(policy.point(h, batch), node, resource, allowed)
    head = scores(policy.foresee(h, batch), node, resource) if foresight else None
    for b in range(3):
        expected = theirs.encode(their_features(batch, b), 2)
        torch.testing.assert_close(h[b], expected, rtol=1e-5, atol=1e-5)
        told = resource[b] if backbone == "am" else resource[b] / batch.horizon[b]
        found, wanted = (
            s.masked_fill(~allowed[b], -torch.inf).log_softmax(-1)
            for s in (routing[b], theirs.scores(expected, node[b], told, allowed[b]))
        )
        # Sums in float32 differ from processor to processor.
        torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-4)
        if head is not None:
            foretold = theirs.scores(expected, node[b], told, None, "_sl").sigmoid()
            torch.testing.assert_close(head[b].sigmoid(), foretold, rtol=1e-5, atol=1e-5)


@torch.no_grad()
def test_batch_normalisation_that_tracks_nothing_uses_the_batch_it_sees():
    """As the authors' code of today has it: what an instance becomes then depends on its company."""
    policy = policy_of(am_weights(3, foresight=False, tracked=False), normalisation="batch")
    batch = draw(DISTRIBUTIONS["tsptw", "hard"], 20, 4, torch.Generator().manual_seed(1))
    norm, nodes = policy.layers[0].first_norm, policy.embed(features(batch))
    torch.testing.assert_close(norm(nodes).mean((0, 1)), norm.bias, rtol=0, atol=1e-5)
    alone = policy.encode(take(batch, slice(2)))
    assert (alone - policy.encode(batch)[:2]).abs().max() > 0.01


@pytest.mark.parametrize("wrapper", [None, "model", "model_state_dict"])
@pytest.mark.parametrize("prefix", ["", "module."])
def test_checkpoints_of_torch_are_read_however_they_were_wrapped(tmp_path, wrapper, prefix):
    named = pomo_weights(2, foresight=True)
    state = {prefix + name: tensor for name, tensor in named.items()}
    torch.save(state if wrapper is None else {"epoch": 10, wrapper: state}, tmp_path / "file.pt")
    found, expected = policy_of(read_weights(tmp_path / "file.pt")), policy_of(named)
    for (name, one), (_, other) in zip(
        found.state_dict().items(), expected.state_dict().items(), strict=True
    ):
        assert torch.equal(one, other), name


def test_a_file_with_more_than_tensors_is_refused_unrun(tmp_path):
    torch.save(
        {"model": pomo_weights(1, foresight=False), "baseline": Policy(POMO)}, tmp_path / "a.pt"
    )
    with pytest.raises(InvalidFile, match="more than tensors"):
        read_weights(tmp_path / "a.pt")


def test_a_tensor_too_few_or_too_many_is_named():
    named = pomo_weights(1, foresight=True)
    with pytest.raises(InvalidRequest, match=r"no decoder\.Wk_sl\.weight"):
        policy_of({k: v for k, v in named.items() if k != "decoder.Wk_sl.weight"})
    with pytest.raises(InvalidRequest, match=r"decoder\.Wq_1\.weight"):
        policy_of(named | {"decoder.Wq_1.weight": torch.zeros(WIDTH, WIDTH)})
    with pytest.raises(InvalidRequest, match="among the weights"):
        policy_of({"weight": np.zeros(3)})
    with pytest.raises(InvalidRequest, match="5 features"):
        policy_of(named | {"encoder.embedding_node.weight": torch.zeros(WIDTH, 5)})
