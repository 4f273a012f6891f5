"""How a step runs: as plain calls on a CPU, as one recorded CUDA graph on a GPU."""

from collections.abc import Callable
from functools import partial

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from fairway.train.config import TrainConfig
from fairway.train.schedule import seed_of
from fairway.train.step import Learners, Phase, learn
from fairway.train.world import World

Step = Callable[[Phase, int], Float[Tensor, " F"]]
"""From a phase and the number of a step to its figures, with the gradient left in the policy's parameters."""

WARM_UPS = 3
"""Runs before a graph is recorded, in which kernels are compiled and memory finds its size."""


def engine(config: TrainConfig, learners: Learners, world: World) -> Step:
    """The way of running steps on the device of the policy.

    On a GPU call it, and everything else that touches the gradients, on a stream that is not the default one.
    """
    device = next(learners.policy.parameters()).device
    generator = Generator(device)
    parts = config.parts
    runs: dict[tuple[Phase, TrainConfig], Callable[[], Float[Tensor, " F"]]] = {}

    def step(phase: Phase, number: int) -> Float[Tensor, " F"]:
        kind = phase, parts[number % len(parts)]
        if kind not in runs:
            once = partial(_once, kind[1], learners, phase, generator, world)
            # Where processes talk to each other inside a step, a recording would have to agree on it.
            talks = phase in ("online", "warm") or config.policy.normalisation == "batch"
            recorded = device.type == "cuda" and not (talks and world.size > 1)
            runs[kind] = _recorded(once, learners, generator) if recorded else once
        generator.manual_seed(seed_of(config.seed, number))
        return runs[kind]()

    return step


def _once(
    config: TrainConfig, learners: Learners, phase: Phase, generator: Generator, world: World
) -> Float[Tensor, " F"]:
    for parameter in learners.policy.parameters():
        if parameter.grad is not None:
            parameter.grad.zero_()
    return learn(config, learners, phase, generator, world)


def _recorded(
    once: Callable[[], Float[Tensor, " F"]], learners: Learners, generator: Generator
) -> Callable[[], Float[Tensor, " F"]]:
    """Record a step, so that the host launches all its kernels as one; running statistics stay as they were."""
    moved = [learners.moving, *learners.policy.buffers()]
    before = [tensor.clone() for tensor in moved]
    for _ in range(WARM_UPS):
        once()
    for tensor, value in zip(moved, before, strict=True):
        tensor.copy_(value)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    graph.register_generator_state(generator)
    with torch.cuda.graph(graph, stream=torch.cuda.current_stream()):
        figures = once()

    def replay() -> Float[Tensor, " F"]:
        graph.replay()
        return figures

    return replay
