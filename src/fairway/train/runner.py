"""How a step runs: as plain calls on a CPU, as recorded CUDA graphs on a GPU."""

from collections.abc import Callable
from functools import partial

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from fairway.cores import cores
from fairway.errors import InvalidRequest
from fairway.policies.attention import Policy
from fairway.train.config import ColonyConfig, TrainConfig
from fairway.train.gfacs.step import Colony
from fairway.train.gfacs.step import learn as learn_from_ants
from fairway.train.processes import DistContext
from fairway.train.recorded import recorded
from fairway.train.run import Run
from fairway.train.schedule import grown, seed_of, tempo_at
from fairway.train.step import Networks, Phase, learn

Figures = Float[Tensor, " F"]
Step = Callable[[Phase, int, float], Figures]
"""From a phase, the number of a step and the share of the run that is over to figures, with the gradient left in the
parameters."""


def step_runner(run: Run, world: DistContext, threads: int | None = None) -> Step:
    """The way of running steps on the device of the run; so many threads, by default one per core, search around ants.

    On a GPU call it, and everything else that touches the gradients, on a stream that is not the default one.
    """
    if isinstance(run.config, ColonyConfig):
        if world.size > 1:
            raise InvalidRequest("ants are trained by one process; leave out torchrun")
        return colony_engine(run.config, Colony(run.policy, run.frozen_head, threads or cores()))
    return policy_engine(run.config, networks_of(run), world)


def networks_of(run: Run[Policy]) -> Networks:
    """The run's networks, with the encoder compiled where there is a GPU."""
    encode = run.policy.encode_nodes
    if run.device.type == "cuda":
        encode = torch.compile(encode, dynamic=False)
    return Networks(run.policy, encode, run.moving, run.baseline, run.frozen_head)


def policy_engine(config: TrainConfig, networks: Networks, world: DistContext) -> Step:
    """Whole steps of a policy, each kind recorded once."""
    device = next(networks.policy.parameters()).device
    generator = Generator(device)
    parts = config.parts
    runs: dict[tuple[Phase, TrainConfig], Callable[[], Figures]] = {}

    def step(phase: Phase, number: int, spent: float) -> Figures:
        kind = phase, parts[number % len(parts)]
        if kind not in runs:
            once = partial(_once, kind[1], networks, phase, generator, world)
            # Where processes talk to each other inside a step, a recording would have to agree on it.
            talks = phase in ("online", "warm") or config.policy.normalisation == "batch"
            if device.type == "cuda" and not (talks and world.size > 1):
                once = recorded(once, generator, [networks.moving, *networks.policy.buffers()])
            runs[kind] = once
        generator.manual_seed(seed_of(config.seed, number))
        return runs[kind]()

    return step


def _once(
    config: TrainConfig, networks: Networks, phase: Phase, generator: Generator, world: DistContext
) -> Figures:
    for parameter in networks.policy.parameters():
        if parameter.grad is not None:
            parameter.grad.zero_()
    return learn(config, networks, phase, generator, world)


def colony_engine(config: ColonyConfig, colony: Colony) -> Step:
    """Steps of a colony, in which the rollouts are recorded and the local search is not."""
    generator = Generator(next(colony.policy.parameters()).device)

    def step(phase: Phase, number: int, spent: float) -> Figures:
        colony.policy.zero_grad()  # to None, so that a resting head is not moved by its moments
        now = grown(config, spent)
        generator.manual_seed(seed_of(config.seed, number))
        return learn_from_ants(now, colony, phase, tempo_at(now, spent), generator)

    return step
