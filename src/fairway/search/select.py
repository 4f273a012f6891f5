"""How the next stop is taken from the scores of the candidates."""

from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor

Select = Callable[[Float[Tensor, "B P N"]], Int[Tensor, "B P"]]
"""From log-probabilities up to a constant, minus infinity where a node is not allowed, to a choice for each tour."""


def greedy(scores: Float[Tensor, "B P N"]) -> Int[Tensor, "B P"]:
    """The best candidate, the lowest number on ties."""
    return scores.argmax(-1)


def sampler(generator: Generator) -> Select:
    """Candidates in proportion to the exponential of their scores, by the Gumbel trick: no host round trip."""

    def sample(scores: Float[Tensor, "B P N"]) -> Int[Tensor, "B P"]:
        uniform = torch.rand(scores.shape, generator=generator, device=scores.device)
        noise = -torch.log(-torch.log(uniform.clamp(1e-20, 1 - 1e-7)))
        return (scores + noise).argmax(-1)

    return sample
