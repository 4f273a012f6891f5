"""The training loop, for policies and colonies alike: a generator of records.

What to do with them is the caller's business.
"""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn

from fairway.errors import FairwayError
from fairway.train.config import TrainConfig
from fairway.train.epochs import epoch_at, phase_of, settle
from fairway.train.processes import DistContext
from fairway.train.recorded import Queue, off_the_default_stream
from fairway.train.run import Run
from fairway.train.runner import step_runner
from fairway.train.schedule import rate_of
from fairway.train.step import Phase


class Diverged(FairwayError):
    """The loss is no longer a number."""


@dataclass(frozen=True, slots=True)
class Budget:
    """How long a run may go on: whichever ends first; neither means the config's own length."""

    instances: int | None = None
    minutes: float | None = None

    def spent(self, run: Run) -> float:
        """Which share of the run is over, 0 to 1 and beyond."""
        shares = [0.0]
        if self.instances is not None or self.minutes is None:
            shares.append(run.instances / (self.instances or run.config.instances))
        if self.minutes is not None:
            shares.append(run.seconds / (60 * self.minutes))
        return max(shares)


@dataclass(frozen=True, slots=True)
class Record:
    """What happened since the record before."""

    step: int
    """Steps done."""
    instances: int
    seconds: float
    """Spent training so far, over all pieces of the run."""
    spent: float
    """Which share of the budget is over."""
    pace: float
    """Instances per second, since the record before."""
    rate: float
    """The learning rate."""
    phase: str
    figures: dict[str, float]
    """Means over the steps since the record before, by the names of `run.figures`; shares in percent."""


def train(
    run: Run, budget: Budget, world: DistContext, every: float = 1.0, threads: int | None = None
) -> Iterator[Record]:
    """Go on with a run until its budget is spent, with a record about every so many seconds and one at the end.

    Between records nothing is read back from a GPU. At each record the run is in a state that can be saved. So many
    threads search around the tours of ants, by default one per core.
    """
    world.check_share(run.config.batch)
    off_the_default_stream(run.device)
    advance, queue = step_runner(run, world, threads), Queue(run.device)
    run.policy.train()
    metrics = StepMetrics(run)
    began, before = time.monotonic(), run.seconds
    while (spent := budget.spent(run)) < 1:
        epoch = epoch_at(run, spent)
        phase = phase_of(run.config, epoch, spent)
        figures = advance(phase, run.step, spent)
        world.average_gradients(run.policy)
        rate = update(run, phase, spent)
        metrics.add(figures)
        run.epoch_sums += torch.nn.functional.pad(figures, (0, 1), value=1.0)
        run.step += 1
        queue.wait_for_an_older_step()
        run.seconds = before + world.latest(time.monotonic() - began)
        spent = budget.spent(run)
        if (now := epoch_at(run, spent)) != epoch:
            settle(run, phase, spent >= 1 or phase_of(run.config, now, spent) != "online", world)
        if spent >= 1 or run.seconds - metrics.since >= every:
            yield metrics.record(run, phase, rate, spent, world)
            began, before = time.monotonic(), run.seconds
            metrics = StepMetrics(run)


def update(run: Run, phase: Phase, spent: float) -> float:
    """Follow the gradient by one step, and return how far: the learning rate."""
    config = run.config
    rate = rate_of(config, run.step, spent)
    for group in run.optimiser.param_groups:
        group["lr"] = rate
    if config.clip_norm is not None:
        torch.nn.utils.clip_grad_norm_(run.policy.parameters(), config.clip_norm)
    with _head_at_rest(run.policy, phase):
        run.optimiser.step()
    if run.average is not None:
        assert isinstance(config, TrainConfig), "the weights of colonies are not averaged"
        keep = min(config.average, (1 + run.step) / (10 + run.step))
        old, new = ([*part.state_dict().values()] for part in (run.average, run.policy))
        torch._foreach_lerp_(old, new, 1 - keep)
    return rate


@contextmanager
def _head_at_rest(policy: nn.Module, phase: Phase) -> Iterator[None]:
    """Offline the PIP-D head has no gradient, and its moments and weight decay must not move it either."""
    resting = [*policy.get_submodule("foresight").parameters()] if phase == "offline" else []
    gradients = [parameter.grad for parameter in resting]
    for parameter in resting:
        parameter.grad = None
    yield
    for parameter, gradient in zip(resting, gradients, strict=True):
        parameter.grad = gradient


class StepMetrics:
    """Figures summed up on the device, read back only when they are asked for."""

    def __init__(self, run: Run) -> None:
        self._names, self._steps = run.figures, 0
        self._sums = torch.zeros(len(run.figures), device=run.device)
        self._first, self.since = run.step, run.seconds

    def add(self, figures: Float[Tensor, " F"]) -> None:
        """Count one step's figures."""
        self._sums += figures
        self._steps += 1

    def record(
        self, run: Run, phase: Phase, rate: float, spent: float, world: DistContext
    ) -> Record:
        """The record of these steps, over all processes; a loss that is no number ends the run."""
        means = world.total(self._sums) / (world.size * max(self._steps, 1))
        figures = dict(zip(self._names, means.tolist(), strict=True))
        if not math.isfinite(figures["loss"]):
            raise Diverged(
                f"the loss became {figures['loss']} between steps {self._first + 1} and {run.step}; "
                "resume from the last snapshot, or begin anew with another --seed"
            )
        pace = self._steps * run.config.batch / max(run.seconds - self.since, 1e-9)
        return Record(run.step, run.instances, run.seconds, spent, pace, rate, phase, figures)
