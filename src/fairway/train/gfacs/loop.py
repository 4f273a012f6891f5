"""The training loop of ants: a generator of records. What to do with them is the caller's business."""

import math
import time
from collections.abc import Iterator

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from fairway.cores import cores
from fairway.errors import InvalidRequest
from fairway.train.foresight import is_online, settle_oracle
from fairway.train.gfacs.config import (
    ColonyConfig,
    Tempo,
    epochs_over,
    grew_within,
    grown,
    tempo_at,
)
from fairway.train.gfacs.local import check
from fairway.train.gfacs.run import ColonyRun
from fairway.train.gfacs.step import FIGURES, Colony, Phase, learn
from fairway.train.loop import Budget, Diverged, Record
from fairway.train.schedule import seed_of
from fairway.train.world import World


def train(run: ColonyRun, budget: Budget, world: World, every: float = 1.0) -> Iterator[Record]:
    """Go on with a run until its budget is spent, with a record about every so many seconds and one at the end."""
    if world.size > 1:
        raise InvalidRequest("ants are trained by one process; leave out torchrun")
    check(run.config)
    colony = Colony(run.policy, run.oracle, cores())
    generator = Generator(run.device)
    began, before = time.monotonic(), run.seconds
    since, first, sums = run.seconds, run.step, torch.zeros_like(run.epoch_sums)
    run.policy.train()
    while (spent := budget.spent(run)) < 1:
        config = grown(run.config, spent)
        phase, over = phase_of(run.config, spent), epochs_over(run.config, spent)
        tempo = tempo_at(config, spent)
        generator.manual_seed(seed_of(run.config.seed, run.step))
        counted = advance(run, config, colony, phase, tempo, generator)
        sums = sums + counted
        run.epoch_sums += counted
        run.step += 1
        run.seconds = before + time.monotonic() - began
        spent = budget.spent(run)
        if epochs_over(run.config, spent) > over:
            settle(run, phase, spent >= 1 or phase_of(run.config, spent) != "online")
        if spent >= 1 or run.seconds - since >= every:
            means = means_of(sums.tolist())
            if not math.isfinite(means["loss"]):
                raise Diverged(
                    f"the loss became {means['loss']} between steps {first + 1} and {run.step}; "
                    "resume from the last snapshot with a lower learning rate"
                )
            pace = (run.step - first) * run.config.batch / max(run.seconds - since, 1e-9)
            counts = (run.step, run.instances, run.seconds, spent)
            yield Record(*counts, pace, tempo.rate, phase, means)
            began, before = time.monotonic(), run.seconds
            since, first, sums = run.seconds, run.step, torch.zeros_like(sums)


def advance(
    run: ColonyRun,
    config: ColonyConfig,
    colony: Colony,
    phase: Phase,
    tempo: Tempo,
    generator: Generator,
) -> Float[Tensor, " G"]:
    """Follow the gradient of one batch, and return its figures with a 1 for the step itself."""
    run.optimiser.zero_grad()  # to None, so that a resting head is not moved by its moments
    figures = learn(config, colony, phase, tempo, generator)
    torch.nn.utils.clip_grad_norm_(run.policy.parameters(), config.clip_norm)
    for group in run.optimiser.param_groups:
        group["lr"] = tempo.rate
    run.optimiser.step()
    return torch.nn.functional.pad(figures, (0, 1), value=1.0)


def phase_of(config: ColonyConfig, spent: float) -> Phase:
    """When the head learns, and when its best copy masks; without a head the guard is all there is.

    It learns anew whenever instances have grown: what it knows of smaller ones does not hold.
    """
    plan = config.foresight
    if plan is None:
        return "exact"
    planned = is_online(plan, epochs_over(config, spent) + 1, spent)
    return "online" if planned or grew_within(config, plan.refresh, spent) else "offline"


def settle(run: ColonyRun, phase: Phase, block_ends: bool) -> None:
    """After an epoch: a look at the PIP-D head."""
    if phase == "online":
        settle_oracle(run, means_of(run.epoch_sums.tolist()), block_ends)
    run.epoch_sums.zero_()


def means_of(sums: list[float]) -> dict[str, float]:
    """Figures over steps, from their sums and, last, how many steps there were."""
    *totals, steps = sums
    return dict(zip(FIGURES, (total / max(steps, 1) for total in totals), strict=True))
