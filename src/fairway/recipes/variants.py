"""The paper's ablations and appendix variants: functions from a config to one that differs in a single respect."""

import math
from dataclasses import replace

from fairway.errors import InvalidRequest
from fairway.policies.norms import Normalisation
from fairway.train.config import ColonyConfig, TrainConfig
from fairway.train.schedule import rate_at

FINE_TUNING = 100
"""One epoch of fine-tuning for so many of training, as in the paper's shortest setting."""
NO_PENALTY = "has no penalty to change; choose a star model"
SMALLEST = 20
"""Nodes of the instances with which a colony begins that grows."""


def guarded_at_first(config: TrainConfig, steps: int) -> TrainConfig:
    """Early stop of the masking: only the first steps of a tour are guarded."""
    _need(
        config.guard.kind != "none", config, "has no mask that could stop; choose a model with one"
    )
    return replace(config, guard=replace(config.guard, until=steps))


def normalised(config: TrainConfig, by: Normalisation) -> TrainConfig:
    """Another normalisation in the encoder."""
    return replace(config, policy=replace(config.policy, normalisation=by))


def starting_anywhere(config: TrainConfig) -> TrainConfig:
    """A tour from each first stop, as the original POMO has them, in place of first stops that are chosen."""
    return replace(config, starts=True, tours=config.nodes - 1)


def in_larger_batches(config: TrainConfig, batch: int) -> TrainConfig:
    """Fewer, larger steps, which a GPU takes faster; the rate grows with the root of the batch."""
    rate = replace(config.rate, peak=config.rate.peak * math.sqrt(batch / config.batch))
    return replace(config, batch=batch, rate=rate)


def penalised(config: TrainConfig, multiplier: float) -> TrainConfig:
    """Another Lagrangian multiplier."""
    _need(config.objective.penalty is not None, config, NO_PENALTY)
    return replace(config, objective=replace(config.objective, penalty=multiplier))


def without_count(config: TrainConfig) -> TrainConfig:
    """A penalty without J_IN, the number of limits passed."""
    _need(config.objective.penalty is not None, config, NO_PENALTY)
    return replace(config, objective=replace(config.objective, count=False))


def refreshed_every(config: TrainConfig, period: int) -> TrainConfig:
    """Another interval between refreshes of a PIP-D head, with as many online epochs in all."""
    plan = config.foresight
    if plan is None:
        raise InvalidRequest(f"{config.name}: has no learned mask to refresh; choose a pip-d model")
    length = max(1, round(plan.refresh / plan.period * period))
    return replace(config, foresight=replace(plan, period=period, refresh=length, last=length))


def fine_tuning(config: TrainConfig) -> TrainConfig:
    """A short run under masks, meant to start from the weights of a model that was trained without.

    The rate is the one with which such a training ends.
    """
    exact = config.guard.kind != "none" and config.foresight is None
    _need(exact, config, "fine-tuning switches an exact mask on; choose a pip model")
    peak = rate_at(config.rate, config.rate.warm_up, 0.95)
    rate = replace(config.rate, peak=peak, shape="constant")
    return replace(config, epochs=max(1, config.epochs // FINE_TUNING), rate=rate)


def by_limits(config: ColonyConfig) -> ColonyConfig:
    """The graph as the paper describes it, without the neighbours by distance that the authors' code adds."""
    return replace(config, policy=replace(config.policy, graph="limits"))


def growing(config: ColonyConfig) -> ColonyConfig:
    """Instances of a fifth of the nodes, then of two fifths, then of all: small ones teach most of it, and quickly."""
    sizes = (max(SMALLEST, config.nodes * fifths // 5) for fifths in (1, 2, 5))
    return replace(config, growth=tuple(min(nodes, config.nodes) for nodes in sizes))


def judged_by_search(config: ColonyConfig) -> ColonyConfig:
    """Tours as sampled count as what local search makes of them, from the first step on."""
    return replace(config, credit=(1.0, 1.0))


def judged_by_search_and_growing(config: ColonyConfig) -> ColonyConfig:
    """Both, as the colonies of 500 nodes in our tables are trained."""
    return growing(judged_by_search(config))


def looking_nearby(config: ColonyConfig) -> ColonyConfig:
    """The paper's sparse strategy: the mask looks at the neighbours of the graph alone."""
    _need(config.guard.kind != "none", config, "has no mask to look less far; choose a pip model")
    return replace(config, sparse=True)


def _need(met: bool, config: TrainConfig | ColonyConfig, otherwise: str) -> None:
    if not met:
        raise InvalidRequest(f"{config.name}: {otherwise}")
