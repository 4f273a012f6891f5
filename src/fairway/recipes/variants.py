"""The paper's ablations and appendix variants: functions from a config to one that differs in a single respect."""

from dataclasses import replace

from fairway.errors import InvalidRequest
from fairway.policies.norms import Normalisation
from fairway.train.config import TrainConfig
from fairway.train.schedule import rate_at

FINE_TUNING = 100
"""One epoch of fine-tuning for so many of training, as in the paper's shortest setting."""


def guarded_at_first(config: TrainConfig, steps: int) -> TrainConfig:
    """Early stop of the masking: only the first steps of a tour are guarded."""
    if config.guard.kind == "none":
        raise InvalidRequest(
            f"{config.name}: has no mask that could stop after {steps} steps; choose a model with one"
        )
    return replace(config, guard=replace(config.guard, until=steps))


def normalised(config: TrainConfig, by: Normalisation) -> TrainConfig:
    """Another normalisation in the encoder."""
    return replace(config, policy=replace(config.policy, normalisation=by))


def penalised(config: TrainConfig, multiplier: float) -> TrainConfig:
    """Another Lagrangian multiplier."""
    _must_be_penalised(config)
    return replace(config, objective=replace(config.objective, penalty=multiplier))


def without_count(config: TrainConfig) -> TrainConfig:
    """A penalty without J_IN, the number of limits passed."""
    _must_be_penalised(config)
    return replace(config, objective=replace(config.objective, count=False))


def refreshed_every(config: TrainConfig, period: int) -> TrainConfig:
    """Another interval between refreshes of a PIP-D head, with as many online epochs in all."""
    plan = config.foresight
    if plan is None:
        raise InvalidRequest(f"{config.name}: has no learned mask to refresh; choose a pip-d model")
    share = plan.refresh / plan.period
    length = max(1, round(share * period))
    return replace(config, foresight=replace(plan, period=period, refresh=length, last=length))


def fine_tuning(config: TrainConfig) -> TrainConfig:
    """A short run under masks, meant to go on from the weights of a model that was trained without.

    The rate is the one with which such a training ends.
    """
    if config.guard.kind == "none" or config.foresight is not None:
        raise InvalidRequest(
            f"{config.name}: fine-tuning switches an exact mask on; choose a pip model"
        )
    last = replace(
        config.rate, peak=rate_at(config.rate, config.rate.warm_up, 0.95), shape="constant"
    )
    return replace(config, epochs=max(1, config.epochs // FINE_TUNING), rate=last)


def _must_be_penalised(config: TrainConfig) -> None:
    if config.objective.penalty is None:
        raise InvalidRequest(f"{config.name}: has no penalty to change; choose a star model")
