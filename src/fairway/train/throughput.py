"""How fast training runs, and where its time goes: what `fairway bench train` prints."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Generator

from fairway.kernels.lookahead import MaskConfig
from fairway.kernels.pointer import Pointer
from fairway.policies.attention import Policy
from fairway.problems.batch import Batch
from fairway.problems.draw import draw
from fairway.search.decode import decode
from fairway.train.config import TrainConfig
from fairway.train.loop import update
from fairway.train.processes import DistContext
from fairway.train.recorded import off_the_default_stream, recorded
from fairway.train.run import Run, begin
from fairway.train.runner import networks_of, policy_engine
from fairway.train.step import in_half

REFERENCE = {50: 170.0, 100: 57.0}
"""Instances per second of the authors' code on an H200, POMO*+PIP at its own batch of 64."""
SIZES = {50: (512, 50), 100: (256, 100), 200: (64, 100)}
"""Nodes, and the batch and the tours of an instance that they are measured with on a GPU."""
SMALL = {20: (32, 20), 50: (16, 20)}
"""The same where there is no GPU."""


@dataclass(frozen=True, slots=True)
class Throughput:
    """How fast one size is trained."""

    nodes: int
    batch: int
    tours: int
    masked: bool
    step: float
    """Seconds, from drawing instances to the optimiser's step."""
    draw: float
    encode: float
    """Forwards, the decoder's projections included."""
    rollout: float
    """All tours, with everything that the gradient will need."""
    memory: float
    """Bytes at the peak on the GPU; 0 on a CPU."""

    @property
    def instances(self) -> float:
        """Per second."""
        return self.batch / self.step

    @property
    def rest(self) -> float:
        """Seconds of the gradient and the optimiser."""
        return self.step - self.draw - self.encode - self.rollout


def throughputs(device: torch.device) -> Iterator[Throughput]:
    """POMO*+PIP with and without its mask, size after size."""
    sizes = SIZES if device.type == "cuda" else SMALL
    for nodes, (batch, tours) in sizes.items():
        for masked in (False, True):
            guard = MaskConfig("ahead" if masked else "none")
            task = ("bench", "tsptw", "hard", nodes)
            yield throughput(TrainConfig(*task, guard=guard, batch=batch, tours=tours), device)


def throughput(config: TrainConfig, device: torch.device) -> Throughput:
    """One size: whole steps as they run in training, and their parts up to the rollout by themselves."""
    run = begin(config, device)
    off_the_default_stream(device)
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats()
    advance = policy_engine(config, networks_of(run), DistContext())

    def step() -> None:
        advance("exact", run.step, 0.0)
        update(run, "exact", 0.0)
        run.step += 1

    whole = _seconds(step, device, times=20 if device.type == "cuda" else 3)
    memory = torch.cuda.max_memory_allocated() if device.type == "cuda" else 0
    drawn, read, rolled = (_seconds(part, device, 5) for part in _parts(config, run, device))
    sizes = (config.nodes, config.batch, config.tours, config.guard.kind != "none")
    return Throughput(*sizes, whole, drawn, read - drawn, rolled - read, float(memory))


def _parts(
    config: TrainConfig, run: Run[Policy], device: torch.device
) -> list[Callable[[], object]]:
    """Drawing; drawing and encoding; drawing, encoding and rolling out: each recorded where there is a GPU."""
    generator, encode = Generator(device), networks_of(run).encode

    def drawn() -> Batch:
        return draw(config.distribution, config.nodes, config.batch, generator)

    def encoded() -> tuple[Batch, Pointer]:
        batch = drawn()
        with in_half(config, batch):
            pointer = run.policy.point(encode(*run.policy.read(batch)), batch)
        return batch, pointer

    def rolled() -> object:
        batch, pointer = encoded()
        steps = (config.batch, config.tours, config.nodes - 1)
        noise = torch.rand(steps, generator=generator, device=device)
        return decode(batch, pointer, config.guard, noise)

    parts = [drawn, encoded, rolled]
    return parts if device.type == "cpu" else [recorded(part, generator) for part in parts]


def _seconds(work: Callable[[], object], device: torch.device, times: int) -> float:
    """The mean of some calls after two others."""
    began = 0.0
    for count in (2, times):
        began = time.perf_counter()
        for _ in range(count):
            work()
        if device.type == "cuda":
            torch.cuda.synchronize()
    return (time.perf_counter() - began) / times
