"""`python -m benchmarks.lookahead`: one mask and whole masked rollouts, against the reference's pair tensors."""

import math
import resource
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable
from functools import partial

import torch
from rich import box
from rich.console import Console
from rich.table import Table as Printed

from fairway.classical.greedy import tightest
from fairway.kernels.lookahead import PAIRS, Mask, MaskFn, MaskRule, ahead, along
from fairway.kernels.lookahead.dense import candidate_resources
from fairway.kernels.lookahead.table import table
from fairway.problems.batch import Batch
from fairway.problems.draw import draw
from fairway.problems.generate import DISTRIBUTIONS
from fairway.problems.problem import State, start, step
from fairway.search.rollout import greedy, rollout

ONE = MaskRule(1)
SIZES = [50, 100, 200, 500]
TOURS = 100


def pair_tensors(batch: Batch) -> MaskFn:
    """The one-step mask the reference's way: all pairs of unvisited nodes, distances made from coordinates each step.

    All tours have as many unvisited nodes, so they are gathered into squares of that size, as its code does.
    """
    known, points = table(batch), batch.geometry.coordinates
    assert points is not None

    def look(state: State) -> Mask:
        left = batch.latest.shape[1] - 1 - look.steps  # type: ignore[attr-defined]
        look.steps = (look.steps + 1) % (batch.latest.shape[1] - 1)  # type: ignore[attr-defined]
        instances, tours, nodes = state.unvisited.shape
        node = torch.arange(nodes, device=state.node.device).expand_as(state.unvisited)
        there = node[state.unvisited].view(instances, tours, left)
        b = torch.arange(instances, device=node.device).view(-1, 1, 1)
        at = points[b, there]
        first = at[:, :, :, None].repeat(1, 1, 1, left, 1)
        second = at[:, :, None].repeat(1, 1, left, 1, 1)
        travel = (first - second).norm(dim=-1)
        opens = batch.earliest[b, there][:, :, None].repeat(1, 1, left, 1)
        closes = batch.latest[b, there][:, :, None].repeat(1, 1, left, 1)
        amount = candidate_resources(known, state)
        after = torch.maximum(
            amount.gather(-1, there)[..., None].repeat(1, 1, 1, left) + travel, opens
        )
        kept = (after <= closes + ONE.tolerance) | torch.eye(
            left, dtype=torch.bool, device=node.device
        )
        passes = kept.all(-1) & (amount.gather(-1, there) <= batch.latest[b, there] + ONE.tolerance)
        allowed = torch.zeros_like(state.unvisited).scatter(-1, there, passes)
        return Mask(amount, amount, allowed)

    look.steps = 0  # type: ignore[attr-defined]
    return look


def drawn(nodes: int, count: int, device: str) -> Batch:
    """Hard instances."""
    return draw(
        DISTRIBUTIONS["tsptw", "hard"], nodes, count, torch.Generator(device).manual_seed(1)
    )


def midway(batch: Batch, tours: int, steps: int) -> State:
    """Tours that have gone on at random for a while."""
    generator = torch.Generator(batch.latest.device).manual_seed(1)
    state = start(batch, tours)
    for _ in range(steps):
        keys = torch.rand(state.unvisited.shape, generator=generator, device=generator.device)
        state = step(batch, state, keys.masked_fill(~state.unvisited, -1).argmax(-1))
    return state


def seconds(work: Callable[[], object], device: str, repeats: int = 3) -> float:
    """The best of a few runs after a first one."""
    work()
    spans = []
    for _ in range(repeats):
        if device == "cuda":
            torch.cuda.synchronize()
        began = time.perf_counter()
        work()
        if device == "cuda":
            torch.cuda.synchronize()
        spans.append(time.perf_counter() - began)
    return min(spans)


def launched(work: Callable[[], object], times: int = 20) -> float:
    """Seconds of one call among many on a GPU, the host's part hidden in a graph."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        work()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(times):
            work()
    return seconds(graph.replay, "cuda") / times


def exponent(sizes: list[int], spans: list[float]) -> float:
    """The slope of the spans over the sizes, both logarithmic."""
    x, y = [math.log(size) for size in sizes], [math.log(span) for span in spans]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    rise = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return rise / sum((a - mean_x) ** 2 for a in x)


def built_by(batch: Batch, look: MaskFn) -> torch.Tensor:
    """Whole tours with a trivial policy."""
    return rollout(batch, look=look, score=tightest(batch), select=greedy, tours=TOURS).tours


def masks_alone(batch: Batch, states: list[State], rule: MaskRule) -> float:
    """Seconds for all masks of a rollout whose states are known."""
    look = along(batch, TOURS, rule)
    # One answer at a time, as in a rollout: to keep them all would measure fresh memory.
    return seconds(lambda: deque(map(look, states), maxlen=0), "cpu")


def on_cpu(printed: Printed) -> None:
    """Whole rollouts of 1,000 tours against pair tensors, and the growth of the masks' share with n."""
    batch = drawn(100, 10, "cpu")
    ours, pairs = along(batch, TOURS), pair_tensors(batch)
    assert torch.equal(built_by(batch, ours), built_by(batch, pairs)), "not worth timing"
    for threads in sorted({1, torch.get_num_threads()}):
        torch.set_num_threads(threads)  # pair tensors use them all, the look-ahead one
        fast = seconds(partial(built_by, batch, ours), "cpu", repeats=5)
        slow = seconds(partial(built_by, batch, pairs), "cpu", repeats=1)
        printed.add_row(
            f"rollout of 1,000 tours, n = 100, torch on {threads} thread{'s' * (threads > 1)}",
            f"{slow / fast:.0f} x faster, {fast * 1e3:.0f} ms",
        )
    spans = {ONE: [], PAIRS: []}
    for nodes in SIZES:
        batch = drawn(nodes, 2, "cpu")
        states = [start(batch, TOURS)]
        while len(states) < nodes - 1:
            states.append(_onward(batch, states[-1]))
        for rule, known in spans.items():
            known.append(masks_alone(batch, states, rule))
    for rule, known in spans.items():
        shown = ", ".join(f"{span * 1e3:.0f}" for span in known)
        text = f"n^{exponent(SIZES, known):.2f}  ({shown} ms for n = {SIZES})"
        name = "over pairs" if rule.pairs else f"{rule.steps}-step"
        printed.add_row(f"masks of a rollout, {name}, 200 tours, growth", text)
    ours, pairs = (_peak_of(kind, 200) for kind in ("ours", "pairs"))
    text = f"{ours:.0f} MB above the process's own peak, against {pairs:.0f} MB for pair tensors"
    printed.add_row("memory of a rollout of 1,000 tours, n = 200", text)


def _onward(batch: Batch, state: State) -> State:
    """By deadline, with some disorder."""
    noise = torch.rand(
        state.unvisited.shape, generator=torch.Generator().manual_seed(len(batch.latest))
    )
    keys = (batch.latest[:, None, :] + noise).masked_fill(~state.unvisited, torch.inf)
    return step(batch, state, keys.argmin(-1))


def _peak_of(kind: str, nodes: int) -> float:
    """Megabytes that a rollout adds to a process of its own."""
    command = [sys.executable, "-m", "benchmarks.lookahead", kind, str(nodes)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def _added(kind: str, nodes: int) -> float:
    batch = drawn(nodes, 10, "cpu")
    built_by(drawn(5, 1, "cpu"), along(drawn(5, 1, "cpu"), TOURS))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    built_by(batch, along(batch, TOURS) if kind == "ours" else pair_tensors(batch))
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


def on_gpu(printed: Printed) -> None:
    """One mask for all tours of a batch, whole rollouts, and how near to the memory's speed."""
    block = torch.empty(2**28, device="cuda")
    copy = 2 * block.nbytes / launched(block.clone, times=4)
    for nodes in SIZES:
        batch = drawn(nodes, 256 if nodes <= 200 else 32, "cuda")
        state = midway(batch, TOURS, nodes // 3)
        span = launched(partial(ahead(batch, ONE), state))
        cells, count = state.unvisited.numel(), len(batch.latest)
        must_move = cells * (1 + 1 + 4 + 4) + batch.latest.numel() * nodes * 4
        probes = cells * nodes.bit_length()
        printed.add_row(
            f"one mask, B = {count}, P = {TOURS}, n = {nodes}",
            f"{span * 1e6:.0f} us",
        )
        printed.add_row(
            "  what it does",
            f"{probes / 1e6:.0f} M probes at {probes / span / 1e9:.0f} G/s; {must_move / 1e6:.0f} MB must move, "
            f"at {must_move / span / 1e12:.2f} of {copy / 1e12:.2f} TB/s that a copy reaches",
        )
    for nodes in (50, 100, 200):
        batch = drawn(nodes, 32, "cuda")
        ours, pairs = ahead(batch), pair_tensors(batch)
        agree = (built_by(batch, ours) == built_by(batch, pairs)).float().mean()
        assert agree > 0.99, f"{agree}: not worth timing"
        whole = launched(partial(built_by, batch, ours), times=1)
        eager, memory = _watched(partial(built_by, batch, ours))
        slow, much = _watched(partial(built_by, batch, pairs))
        printed.add_row(
            f"rollout, B = 32, P = {TOURS}, n = {nodes}",
            f"{slow / whole:.0f} x faster as one graph ({whole * 1e3:.1f} ms), {slow / eager:.1f} x step by step; "
            f"{memory:.0f} MB against {much:.0f} MB",
        )


def _watched(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds, and the megabytes of GPU memory added at the peak."""
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    span = seconds(work, "cuda")
    return span, (torch.cuda.max_memory_allocated() - before) / 1e6


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(_added(sys.argv[1], int(sys.argv[2])))
    else:
        results = Printed(
            "look-ahead", "measured, against pair tensors in the same run", box=box.SIMPLE
        )
        if torch.cuda.is_available():
            on_gpu(results)
        else:
            on_cpu(results)
        Console(width=140).print(results)
