"""When a GPU's memory does not suffice: which batch would fit."""

from collections.abc import Callable
from dataclasses import replace

import torch

from fairway.errors import FairwayError
from fairway.train.config import ColonyConfig
from fairway.train.loop import Budget, train
from fairway.train.processes import DistContext
from fairway.train.run import Config, begin

SPARED = 0.9
"""The share of the memory that a batch may take; the rest goes to fragments and to others."""


class OutOfMemory(FairwayError):
    """The batch is too large for the device."""


def too_large(config: Config, device: torch.device, processes: int) -> OutOfMemory:
    """What to say of a batch that did not fit, with one that would, measured on smaller ones."""
    said = f"a batch of {config.batch} does not fit into the memory of {device}"
    if device.type != "cuda" or isinstance(config, ColonyConfig):
        return OutOfMemory(f"{said}; choose a smaller one with --batch")
    torch.cuda.empty_cache()
    room = int(SPARED * torch.cuda.mem_get_info(device)[1])

    def measure(batch: int) -> int | None:
        return _peak(replace(config, batch=batch), device)

    share = largest_batch(measure, max(1, config.batch // processes), room)
    if share is not None:
        return OutOfMemory(f"{said}; --batch {share * processes} would")
    return OutOfMemory(f"{said}, and not even a batch of 1 would; choose a recipe of fewer nodes")


def largest_batch(measure: Callable[[int], int | None], batch: int, room: int) -> int | None:
    """A batch below the given one that fits into so many bytes, by a straight line through two that do.

    `measure` gives a batch's peak, or None where it does not fit either.
    """
    some = max(1, batch // 8)
    while (low := measure(some)) is None:
        if some == 1:
            return None
        some = max(1, some // 4)
    if some == 1:
        return 1
    half = some // 2
    fewer = measure(half)
    assert fewer is not None, "half of a batch that fits must fit"
    each = max(1, (low - fewer) / (some - half))
    fits = int(some + (room - low) / each)
    below = min(batch - 1, max(some, fits))
    return below - below % 8 if below >= 8 else below


def _peak(config: Config, device: torch.device) -> int | None:
    """The most memory that a few steps reserve, or None where they need more than there is."""
    torch.cuda.reset_peak_memory_stats(device)
    try:
        for _ in train(begin(config, device), Budget(instances=2 * config.batch), DistContext()):
            pass
    except torch.OutOfMemoryError:
        return None
    finally:
        peak = torch.cuda.max_memory_reserved(device)
        torch.cuda.empty_cache()
    return peak
