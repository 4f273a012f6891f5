"""How rates, temperatures and sizes move along a run, and what each step draws from."""

import math
from dataclasses import dataclass, replace

from fairway.train.config import ColonyConfig, Rate, TrainConfig

ROUNDED = 1 + 1e-9
"""So that a share that was rounded down still counts as the epoch that it begins."""


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


@dataclass(frozen=True, slots=True)
class Tempo:
    """Where the schedules of a training stand."""

    sharpness: float
    power: float
    credit: float
    rate: float


def sizes_over(config: ColonyConfig, spent: float) -> int:
    """How many of the sizes that instances grow through lie behind."""
    return min(int(spent * len(config.growth) * ROUNDED), len(config.growth) - 1)


def grown(config: ColonyConfig, spent: float) -> ColonyConfig:
    """The config for instances of the size that they have where this share of the run is over.

    The sharpness goes with the size, since lengths do.
    """
    if not config.growth:
        return config
    nodes = config.growth[sizes_over(config, spent)]
    first, last = (sharpness * nodes / config.nodes for sharpness in config.sharpness)
    return replace(config, nodes=nodes, sharpness=(first, last), growth=())


def tempo_at(config: ColonyConfig, spent: float) -> Tempo:
    """The schedules where this share of the run is over; all move from epoch to epoch.

    The sharpness rises with the logarithm of the epoch, power and credit in a straight line.
    """
    moving = max(config.epochs - config.level, 1)
    passed = epochs_over(config, spent)
    straight = min(passed / moving, 1.0)
    curved = min(math.log(passed + 1) / math.log(moving), 1.0) if moving > 1 else 1.0
    fall = 0.5 * (1 - math.cos(math.pi * passed / config.epochs))
    return Tempo(
        _between(config.sharpness, curved),
        _between(config.power, straight),
        _between(config.credit, straight),
        _between(config.rate, fall),
    )


def epochs_over(config: ColonyConfig, spent: float) -> int:
    """How many of the planned epochs lie behind: a run that a clock cuts short has as many, only shorter ones."""
    return min(int(spent * config.epochs * ROUNDED), config.epochs)


def grew_within(config: ColonyConfig, epochs: int, spent: float) -> bool:
    """Whether instances got the size that they have in the last so many epochs."""
    if not config.growth:
        return False
    begun = sizes_over(config, spent) / len(config.growth)
    return epochs_over(config, spent) - epochs_over(config, begun) < epochs


def _between(ends: tuple[float, float], share: float) -> float:
    return ends[0] + (ends[1] - ends[0]) * share
