"""Chance that does not depend on company: every instance has a stream of its own, on whatever device it is used.

Drawn on the CPU, so that every device samples the same tours.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor

from fairway.search.select import Select, gumbel


def streams(seed: int, first: int, count: int) -> list[Generator]:
    """One for each of so many instances, by their numbers."""
    numbers = range(first, first + count)
    return [Generator().manual_seed((seed * 1_000_003 + number) % 2**63) for number in numbers]


def uniform(chance: Sequence[Generator], *shape: int) -> Float[Tensor, "B *S"]:
    """Numbers of this shape for each instance, one after the other."""
    return torch.stack([torch.rand(shape, generator=stream) for stream in chance])


def sampled(chance: Sequence[Generator], views: int) -> Select:
    """Candidates in proportion to the exponential of their scores, for instances seen in so many views."""

    def select(scores: Float[Tensor, "B P N"]) -> Int[Tensor, "B P"]:
        drawn = uniform(chance, views, *scores.shape[1:]).transpose(0, 1).flatten(0, 1)
        return (scores + gumbel(drawn).to(scores.device)).argmax(-1)

    return select
