"""`python -m benchmarks.lookahead`: one mask and whole masked rollouts, against the reference's pair tensors."""

import math
import sys
import time
import tracemalloc
from collections.abc import Callable

import torch
from rich import box
from rich.console import Console
from rich.table import Table as Printed

from fairway.kernels.lookahead import Outlook, Rule, ahead, dense, none
from fairway.kernels.lookahead.table import Table, table
from fairway.problems.batch import TSPTWBatch
from fairway.problems.draw import draw
from fairway.problems.generate import LAWS
from fairway.problems.problem import State, start, step
from fairway.search.rollout import rollout
from fairway.search.select import sampler

ONE, TWO = Rule(1), Rule(2)


def pair_tensors(known: Table, state: State) -> torch.Tensor:
    """The one-step mask the way the reference computes it: every pair of unvisited nodes, spelled out.

    All tours have as many unvisited nodes, so they are gathered into squares of that size, as its code does.
    """
    left = int(state.unvisited[0, 0].sum())
    instances, tours, nodes = state.unvisited.shape
    node = torch.arange(nodes, device=state.node.device).expand_as(state.unvisited)
    open_nodes = node[state.unvisited].view(instances, tours, left)
    first = open_nodes[..., :, None].expand(-1, -1, -1, left)
    second = open_nodes[..., None, :].expand(-1, -1, -1, left)
    b = torch.arange(instances, device=node.device).view(-1, 1, 1, 1)
    level = dense.candidate_levels(known, state).gather(-1, open_nodes)
    after = torch.maximum(level[..., None] + known.lead[b, first, second], known.floor[b, second])
    kept = after <= known.limit[b, second] + ONE.tolerance
    kept |= torch.eye(left, dtype=torch.bool, device=node.device)
    passes = kept.all(-1) & (level <= known.limit[b[..., 0], open_nodes] + ONE.tolerance)
    return torch.zeros_like(state.unvisited).scatter(-1, open_nodes, passes)


def synchronise(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


def seconds(work: Callable[[], object], device: str, repeats: int = 5) -> float:
    """The best of a few runs."""
    work()
    spans = []
    for _ in range(repeats):
        synchronise(device)
        began = time.perf_counter()
        work()
        synchronise(device)
        spans.append(time.perf_counter() - began)
    return min(spans)


def launched(work: Callable[[], object], times: int = 50) -> float:
    """Seconds of one launch among many on a GPU, the host's part hidden in a graph."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        work()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(times):
            work()
    return seconds(graph.replay, "cuda") / times


def midway(batch: TSPTWBatch, tours: int, steps: int) -> State:
    """Tours that have gone on at random for a while."""
    generator = torch.Generator(batch.limit.device).manual_seed(1)
    state = start(batch, tours)
    for _ in range(steps):
        keys = torch.rand(state.unvisited.shape, generator=generator, device=generator.device)
        state = step(batch, state, keys.masked_fill(~state.unvisited, -1).argmax(-1))
    return state


def drawn(nodes: int, count: int, device: str) -> TSPTWBatch:
    batch = draw(LAWS["tsptw", "hard"], nodes, count, torch.Generator(device).manual_seed(1))
    assert isinstance(batch, TSPTWBatch)
    return batch


def evenly(state: State, outlook: Outlook) -> torch.Tensor:
    return torch.zeros_like(outlook.level)
