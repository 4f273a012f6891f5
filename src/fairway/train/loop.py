"""The training loop: a generator of records. What to do with them is the caller's business."""

import math
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from fairway.errors import FairwayError
from fairway.policies.attention import Policy
from fairway.train.baseline import settle_baseline
from fairway.train.engine import engine
from fairway.train.foresight import phase_of, settle_oracle
from fairway.train.gfacs.run import ColonyRun
from fairway.train.run import Run
from fairway.train.schedule import rate_at
from fairway.train.step import FIGURES, Learners, Phase
from fairway.train.world import World


class Diverged(FairwayError):
    """The loss is no longer a number."""


@dataclass(frozen=True, slots=True)
class Budget:
    """How long a run may go on: whichever ends first; neither means the config's own length."""

    instances: int | None = None
    minutes: float | None = None

    def spent(self, run: Run | ColonyRun) -> float:
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
    """Instances a second, since the record before."""
    rate: float
    """The learning rate."""
    phase: str
    figures: dict[str, float]
    """Means over the steps since the record before, by the names of `step.FIGURES`."""


def train(run: Run, budget: Budget, world: World, every: float = 1.0) -> Iterator[Record]:
    """Go on with a run until its budget is spent, with a record about every so many seconds and one at the end.

    Between records nothing is read back from a GPU. At each record the run is in a state that can be saved.
    """
    world.check_share(run.config.batch)
    off_the_default_stream(next(run.policy.parameters()).device)
    advance = engine(run.config, learners_of(run), world)
    tally = Tally(run)
    began, before, queue = time.monotonic(), run.seconds, Queue()
    while budget.spent(run) < 1:
        spent, epoch = budget.spent(run), run.epoch
        phase = phase_of(run.config, epoch, spent)
        figures = advance(phase, run.step)
        world.average_gradients(run.policy)
        rate = update(run, phase, spent)
        tally.add(figures)
        run.epoch_sums += torch.nn.functional.pad(figures, (0, 1), value=1.0)
        run.step += 1
        queue.wait_for_an_older_step(run)
        run.seconds = before + world.latest(time.monotonic() - began)
        over = budget.spent(run) >= 1
        if run.epoch != epoch:
            ends = over or phase_of(run.config, run.epoch, budget.spent(run)) != "online"
            settle(run, phase, ends, world)
        if over or run.seconds - tally.since >= every:
            record = tally.record(run, phase, rate, budget.spent(run), world)
            yield record
            began, before = time.monotonic(), run.seconds
            tally = Tally(run)


def learners_of(run: Run) -> Learners:
    """The run's networks, with the encoder compiled where there is a GPU."""
    encode = run.policy.encode_nodes
    if next(run.policy.parameters()).is_cuda:
        encode = torch.compile(encode, dynamic=False)
    return Learners(run.policy, encode, run.moving, run.baseline, run.oracle)


def update(run: Run, phase: Phase, spent: float) -> float:
    """Follow the gradient by one step, and return how far: the learning rate."""
    config = run.config
    rate = rate_at(config.rate, run.step, spent)
    for group in run.optimiser.param_groups:
        group["lr"] = rate
    if config.clip_norm is not None:
        torch.nn.utils.clip_grad_norm_(run.policy.parameters(), config.clip_norm)
    with _head_at_rest(run.policy, phase):
        run.optimiser.step()
    if run.average is not None:
        keep = min(config.average, (1 + run.step) / (10 + run.step))
        old, new = ([*part.state_dict().values()] for part in (run.average, run.policy))
        torch._foreach_lerp_(old, new, 1 - keep)
    return rate


@contextmanager
def _head_at_rest(policy: Policy, phase: Phase) -> Iterator[None]:
    """Offline the PIP-D head has no gradient, and its moments and weight decay must not move it either."""
    resting = [*policy.foresight.parameters()] if phase == "offline" else []
    gradients = [parameter.grad for parameter in resting]
    for parameter in resting:
        parameter.grad = None
    yield
    for parameter, gradient in zip(resting, gradients, strict=True):
        parameter.grad = gradient


def settle(run: Run, phase: Phase, block_ends: bool, world: World) -> None:
    """What an epoch's end asks for: a look at the PIP-D head, a challenge of the greedy baseline."""
    if phase == "online":
        *sums, steps = world.total(run.epoch_sums).tolist()
        means = dict(zip(FIGURES, (total / steps for total in sums), strict=True))
        settle_oracle(run, means, block_ends)
    if run.baseline is not None:
        settle_baseline(run)
    run.epoch_sums.zero_()


class Tally:
    """Figures summed up on the device, read back only when they are asked for."""

    def __init__(self, run: Run) -> None:
        device = next(run.policy.parameters()).device
        self._sums, self._steps = torch.zeros(len(FIGURES), device=device), 0
        self._first, self.since = run.step, run.seconds

    def add(self, figures: Float[Tensor, " F"]) -> None:
        """Count one step's figures."""
        self._sums += figures
        self._steps += 1

    def means(self, world: World) -> dict[str, float]:
        """The mean of each figure over the steps counted, and over all processes."""
        means = world.total(self._sums) / (world.size * max(self._steps, 1))
        return dict(zip(FIGURES, means.tolist(), strict=True))

    def record(self, run: Run, phase: Phase, rate: float, spent: float, world: World) -> Record:
        """The record of these steps; a loss that is no number ends the run."""
        figures = self.means(world)
        if not math.isfinite(figures["loss"]):
            raise Diverged(
                f"the loss became {figures['loss']} between steps {self._first + 1} and {run.step}; "
                "resume from the last snapshot with a lower learning rate"
            )
        pace = self._steps * run.config.batch / max(run.seconds - self.since, 1e-9)
        return Record(run.step, run.instances, run.seconds, spent, pace, rate, phase, figures)


class Queue:
    """Keeps the host a few steps ahead of a GPU and no further, so that its clock tells the time of training."""

    def __init__(self, ahead: int = 4) -> None:
        self._events: deque[torch.cuda.Event] = deque()
        self._ahead = ahead

    def wait_for_an_older_step(self, run: Run) -> None:
        """Note that a step was launched, and wait until no more than a few are still under way."""
        if not next(run.policy.parameters()).is_cuda:
            return
        event = torch.cuda.Event()
        event.record()
        self._events.append(event)
        if len(self._events) > self._ahead:
            self._events.popleft().synchronize()


def off_the_default_stream(device: torch.device) -> None:
    """Graphs cannot be recorded where gradients were ever touched on a GPU's default stream."""
    if device.type != "cuda":
        return
    default = torch.cuda.default_stream(device)
    if torch.cuda.current_stream(device) == default:
        stream = torch.cuda.Stream(device)
        stream.wait_stream(default)
        torch.cuda.set_stream(stream)
