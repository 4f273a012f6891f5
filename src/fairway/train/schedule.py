"""How the learning rate moves along a run."""

import math

from fairway.train.config import Rate


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
