"""Chance that does not depend on company: every instance has a stream of its own, on whatever device it is used.

Drawn on the CPU, so that every device samples the same tours.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Generator, Tensor


def streams(seed: int, first: int, count: int) -> list[Generator]:
    """One for each of so many instances, by their numbers."""
    numbers = range(first, first + count)
    return [Generator().manual_seed((seed * 1_000_003 + number) % 2**63) for number in numbers]


def uniform(chance: Sequence[Generator], *shape: int) -> Float[Tensor, "B *S"]:
    """Numbers of this shape for each instance, one after the other."""
    return torch.stack([torch.rand(shape, generator=stream) for stream in chance])
