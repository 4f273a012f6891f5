"""How the learning rate moves along a run, and what each step draws from."""

import math

from fairway.train.config import Rate, TrainConfig
from fairway.train.gfacs.config import ColonyConfig, tempo_at


def rate_of(config: TrainConfig | ColonyConfig, step: int, spent: float) -> float:
    """The learning rate of a run's step, where this share of the run is over."""
    if isinstance(config, ColonyConfig):
        return tempo_at(config, spent).rate
    return rate_at(config.rate, step, spent)


def rate_at(rate: Rate, step: int, spent: float) -> float:
    """The learning rate of a step, where this share of the run is over."""
    rise = min(1.0, (step + 1) / rate.warm_up) if rate.warm_up else 1.0
    match rate.shape:
        case "constant":
            fall = 1.0
        case "step":
            fall = 1.0 if spent < 0.9 else 0.1
        case "cosine":
            fall = 0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * min(spent, 1.0)))
    return rate.peak * rise * fall


def seed_of(seed: int, step: int) -> int:
    """Every step of a run draws from a stream of its own, so that it can be taken up anywhere."""
    return (seed * 1_000_003 + step * 7_919) % 2**63
