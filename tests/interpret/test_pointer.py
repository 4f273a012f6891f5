"""The pointer's Triton kernels against its definition: compiled on a GPU, interpreted elsewhere."""

import os

import pytest
import torch

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # must be there when the kernels are first imported

from fairway.kernels.lookahead import PAIRS, MaskConfig, MaskRule
from fairway.kernels.lookahead.table import table
from fairway.kernels.pointer import Facts, Pointer, gpu
from fairway.kernels.pointer.reference import WITHIN, known_facts, scores
from fairway.kernels.pointer.track import in_order, lay_out
from fairway.problems.draw import draw
from fairway.problems.generate import DISTRIBUTIONS
from fairway.search.decode import follow, traced
from fairway.train.config import TrainConfig
from fairway.train.processes import DistContext
from fairway.train.recorded import off_the_default_stream
from fairway.train.run import begin
from fairway.train.runner import networks_of, policy_engine
from fairway.train.schedule import seed_of
from fairway.train.step import learn

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
AHEAD = [MaskConfig(rule=MaskRule(steps, own)) for steps, own in ((0, True), (1, True), (1, False))]
WINDOWS = [
    MaskConfig("none"),
    *AHEAD,
    MaskConfig(rule=PAIRS),
    MaskConfig(rule=MaskRule(1), until=3),
    MaskConfig("learned"),
]
DRAFTS = [MaskConfig("exact"), MaskConfig(rule=MaskRule(1)), MaskConfig("none")]
NODES = (
    [2, 3, 12, 50, 100] if DEVICE == "cuda" else [8]
)  # interpreted, a step takes a tenth of a second
TASKS = [*(("tsptw", guard) for guard in WINDOWS), *(("tspdl", guard) for guard in DRAFTS)]
WITH_FACTS = (
    TASKS if DEVICE == "cuda" else [("tsptw", MaskConfig()), ("tspdl", MaskConfig("exact"))]
)
CASES = [*((*task, False) for task in TASKS), *((*task, True) for task in WITH_FACTS)]


def some_pointer(instances, nodes, *, facts, seed=1, width=32, heads=2, clip=10.0):
    """Projections of no particular meaning, large enough that softmaxes are far from even."""
    generator = torch.Generator().manual_seed(seed)

    def some(*shape, scale=1.0):
        made = scale * torch.randn(shape, generator=generator)
        return made.to(DEVICE).requires_grad_()

    network = Facts(some(8, 4), some(8), some(8, scale=0.3)) if facts else None
    states = [some(instances, nodes, width, scale=0.5) for _ in range(4)]
    drift = some(instances, heads, nodes, scale=0.3)
    return Pointer(*states, drift, some(instances, nodes, scale=0.3), clip, network)


def leaves(pointer):
    named = {
        name: getattr(pointer, name) for name in ("query", "key", "value", "aim", "drift", "bias")
    }
    if pointer.facts is not None:
        named |= {
            f"facts {name}": getattr(pointer.facts, name) for name in ("inner", "shift", "outer")
        }
    return named


def gradients(pointer, log_probability):
    """Of a sum in which every tour has a weight of its own."""
    weight = torch.linspace(-1, 2, log_probability.numel(), device=DEVICE).view_as(log_probability)
    found = torch.autograd.grad((log_probability * weight).sum(), list(leaves(pointer).values()))
    return dict(zip(leaves(pointer), found, strict=True))


def off_the_edges(batch, pointer, guard, noise, built, trace):
    """The noise moved into the middle half of what it chose: no rounding can make another choice of it there."""
    order = in_order(table(batch, guard.rule), guard)
    moved = []
    for m, (state, mask) in enumerate(zip(trace.states, trace.masks, strict=True)):
        known = None
        if pointer.facts is not None:
            known = known_facts(batch, state.node, state.resource, mask)
        scored = scores(pointer, state.node, state.resource, mask.allowed, known)
        likely = scored.masked_fill(~mask.allowed, -torch.inf).softmax(-1).detach()
        wide, chosen = order[:, None, :].expand_as(likely), built.tours[..., m, None]
        rank = (wide == chosen).int().argmax(-1, keepdim=True)
        end = likely.gather(-1, wide).cumsum(-1).gather(-1, rank)[..., 0]
        share = likely.gather(-1, chosen)[..., 0]
        moved.append(noise[..., m].clamp(end - 0.75 * share, end - 0.25 * share) / WITHIN)
    return torch.stack(moved, dim=-1)


def decoded_both_ways(problem, nodes, guard, facts):
    generator = torch.Generator(DEVICE).manual_seed(nodes)
    batch = draw(DISTRIBUTIONS[problem, "hard"], nodes, 3, generator)
    pointer = some_pointer(3, nodes, facts=facts)
    frozen_head = some_pointer(3, nodes, facts=False, seed=2) if guard.kind == "learned" else None
    noise = torch.rand(3, 5, nodes - 1, generator=generator, device=DEVICE)
    built, trace = traced(batch, pointer, guard, noise, frozen_head)
    expected = follow(batch, pointer, trace, built)
    noise = off_the_edges(batch, pointer, guard, noise, built, trace)
    walked = gpu.decode(
        pointer, lay_out(batch, guard), guard, "sample", noise, frozen_head=frozen_head
    )
    return pointer, built, expected, walked


@pytest.mark.parametrize("nodes", NODES)
@pytest.mark.parametrize(("problem", "guard", "facts"), CASES, ids=str)
def test_a_rollout_in_one_launch_is_the_one_step_by_step(problem, guard, facts, nodes):
    """The same tours from the same noise, the same sums, the same log-probabilities, the same gradients."""
    pointer, built, expected, walked = decoded_both_ways(problem, nodes, guard, facts)
    assert torch.equal(walked.tours, built.tours)
    assert torch.equal(walked.broken, built.broken.int())
    assert torch.equal(walked.dead_ends, built.dead_ends)
    for name in ("length", "excess", "worst"):
        torch.testing.assert_close(
            getattr(walked, name), getattr(built, name), rtol=1e-5, atol=1e-5
        )
    torch.testing.assert_close(walked.log_probability, expected, rtol=1e-5, atol=1e-5)
    found, wanted = gradients(pointer, walked.log_probability), gradients(pointer, expected)
    # Against float64, at a hundred nodes the kernel is wrong by 2e-4 at worst, and the loop by 4e-5.
    off = 1e-4 if nodes < 100 else 4e-4
    for name, gradient in wanted.items():
        most = float(gradient.abs().max())
        assert float((found[name] - gradient).abs().max()) < off * most + 1e-5, name


def test_the_last_stops_of_the_smallest_instances():
    _, built, expected, walked = decoded_both_ways("tsptw", 3, MaskConfig(), facts=True)
    assert torch.equal(walked.tours, built.tours)
    torch.testing.assert_close(walked.log_probability, expected, rtol=1e-5, atol=1e-5)


def test_more_nodes_than_a_word_has_bits():
    batch = draw(DISTRIBUTIONS["tsptw", "hard"], 70, 1, torch.Generator(DEVICE).manual_seed(4))
    pointer, noise = some_pointer(1, 70, facts=False), torch.zeros(1, 1, 69, device=DEVICE)
    built, _ = traced(batch, pointer, MaskConfig(), None, None)
    with torch.no_grad():
        walked = gpu.decode(pointer, lay_out(batch, MaskConfig()), MaskConfig(), "greedy", noise)
    assert torch.equal(walked.tours, built.tours)
    assert torch.equal(walked.dead_ends, built.dead_ends)


@pytest.mark.parametrize("choice", ["greedy", "forced"])
def test_tours_may_be_greedy_or_given(choice):
    batch = draw(DISTRIBUTIONS["tsptw", "hard"], 6, 2, torch.Generator(DEVICE).manual_seed(1))
    pointer, noise = some_pointer(2, 6, facts=False), torch.zeros(2, 1, 5, device=DEVICE)
    built, trace = traced(batch, pointer, MaskConfig(), None, None)
    given = built.tours if choice == "forced" else None
    walked = gpu.decode(pointer, lay_out(batch, MaskConfig()), MaskConfig(), choice, noise, given)
    assert torch.equal(walked.tours, built.tours)
    likely = follow(batch, pointer, trace, built)
    torch.testing.assert_close(walked.log_probability, likely, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(walked.resources[..., 0], trace.states[0].resource)


@pytest.mark.cuda
@pytest.mark.filterwarnings("default")  # of the compiler's own
def test_a_step_recorded_as_a_graph_learns_what_plain_calls_learn():
    config = TrainConfig("t", "tsptw", "hard", 20, batch=16, tours=8, half=False)
    run = begin(config, torch.device("cuda"))
    off_the_default_stream(torch.device("cuda"))
    recorded = policy_engine(config, networks_of(run), DistContext())
    figures = [recorded("exact", 5, 0.0).clone() for _ in range(2)]
    graph = [p.grad.clone() for p in run.policy.parameters()]
    assert torch.equal(*figures), "a graph replayed with the same seed draws the same instances"
    generator = torch.Generator("cuda").manual_seed(seed_of(config.seed, 5))
    run.policy.zero_grad()
    plainly = learn(config, networks_of(run), "exact", generator, DistContext())
    torch.testing.assert_close(figures[0], plainly, rtol=1e-4, atol=1e-4)
    for recorded_one, parameter in zip(graph, run.policy.parameters(), strict=True):
        torch.testing.assert_close(recorded_one, parameter.grad, rtol=1e-3, atol=1e-4)
