"""Batches on which every version of the look-ahead must agree, and random walks through them."""

import itertools
from collections.abc import Iterator

import numpy as np
import torch

from fairway.kernels.lookahead.table import table
from fairway.problems.batch import Batch, to_batch
from fairway.problems.generate import generate
from fairway.problems.instance import TSPDL, TSPTW
from fairway.problems.problem import State, start, step
from fairway.problems.sets import instance_set

ORDERS = [np.array(list(itertools.permutations(range(m))), int) for m in range(8)]
"""All orders of so many nodes."""


def odd_windows(nodes: int, count: int, seed: int, *, width: int, whole: bool = True) -> Batch:
    """Asymmetric travel that breaks the triangle inequality, service times, windows down to zero width, many ties."""
    rng = np.random.default_rng(seed)
    instances = []
    for _ in range(count):
        travel = rng.integers(0, 12, (nodes, nodes)).astype(float)
        opens = rng.integers(-3, 6 * nodes, nodes).astype(float)
        closes = opens + rng.integers(0, width + 1, nodes)
        opens[0], closes[0] = rng.integers(0, 5), rng.integers(5, 12 * nodes)
        service = rng.integers(0, 4, nodes).astype(float)
        if not whole:
            travel, closes = travel * rng.random(), closes + rng.random(nodes)
        instances.append(TSPTW(travel, opens, closes, service))
    places = instance_set(instances)
    return to_batch(_unscaled(places))


def odd_drafts(nodes: int, count: int, seed: int, *, slack: int) -> Batch:
    """Arbitrary demands, some of them zero, and drafts around what one order needs."""
    rng = np.random.default_rng(seed)
    instances = []
    for _ in range(count):
        demand = np.array([0, *rng.integers(0, 5, nodes - 1)])
        order = 1 + rng.permutation(nodes - 1)
        draft = np.zeros(nodes)
        draft[order] = np.cumsum(demand[order]) + rng.integers(-slack, slack + 1, nodes - 1)
        instances.append(TSPDL(np.ones((nodes, nodes)), demand, np.maximum(draft, 0)))
    return to_batch(instance_set(instances))


def _unscaled(places):
    """Whole numbers stay whole in float32, so that ties are ties."""
    from dataclasses import replace

    return replace(places, scale=1.0)


def worlds(nodes: int, count: int) -> dict[str, Batch]:
    """One batch of each kind."""
    distributions = [
        ("tsptw", "easy"),
        ("tsptw", "medium"),
        ("tsptw", "hard"),
        ("tspdl", "medium"),
        ("tspdl", "hard"),
    ]
    named = {
        f"{problem} {hardness}": to_batch(
            generate(problem, n=nodes, hardness=hardness, count=count, seed=nodes)
        )
        for problem, hardness in distributions
    }
    return named | {
        "odd windows": odd_windows(nodes, count, nodes, width=8 * nodes),
        "odd windows, fractions": odd_windows(nodes, count, nodes, width=8 * nodes, whole=False),
        "zero-width windows": odd_windows(nodes, count, nodes + 1, width=0),
        "hopeless windows": odd_windows(nodes, count, nodes + 2, width=2),
        "odd drafts": odd_drafts(nodes, count, nodes, slack=3),
        "hopeless drafts": odd_drafts(nodes, count, nodes, slack=30),
    }


def walk(batch: Batch, tours: int, seed: int, most_steps: int | None = None) -> Iterator[State]:
    """The states of tours that go on at random, taking no notice of limits half of the time."""
    generator = torch.Generator().manual_seed(seed)
    state = start(batch, tours)
    steps = batch.latest.shape[1] - 1
    for number in range(steps):
        if most_steps is None or number < most_steps or number >= steps - 2:
            yield state
        keys = torch.rand(state.unvisited.shape, generator=generator).to(batch.latest.device)
        late = torch.where(keys[..., :1] < 0.5, batch.latest[:, None, :], 0.0)
        keys = (keys - late).masked_fill(~state.unvisited, -torch.inf)
        state = step(batch, state, keys.argmax(-1))


def possible(batch: Batch, state: State) -> torch.Tensor:
    """The candidates of tour 0 with which some order of the rest keeps all limits and the return: brute force."""
    known, unvisited = table(batch), state.unvisited[:, 0].numpy()
    increment, earliest, latest = (
        known.increment.numpy(),
        known.earliest.numpy(),
        known.latest.numpy(),
    )
    count = len(unvisited)
    left = unvisited.nonzero()[1].reshape(count, -1)
    orders = left[:, ORDERS[left.shape[1]]]
    b = np.arange(count)[:, None]
    resource, here = state.resource[:, :1].numpy(), state.node[:, :1].numpy()
    kept = np.ones(orders.shape[:2], bool)
    for there in np.moveaxis(orders, -1, 0):
        resource = np.maximum(resource + increment[b, here, there], earliest[b, there])
        kept &= resource <= latest[b, there]
        here = there
    kept &= resource + increment[b, here, 0] <= latest[b, 0]
    found = np.zeros_like(unvisited)
    found[kept.nonzero()[0], orders[kept][:, 0]] = True
    return torch.from_numpy(found)
