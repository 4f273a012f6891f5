"""How the next stop is taken from the scores of the candidates."""

from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import Generator, Tensor

from fairway.kernels.pointer.reference import WITHIN

Select = Callable[[Float[Tensor, "B P N"]], Int[Tensor, "B P"]]
"""From log-probabilities up to a constant, minus infinity where a node is not allowed, to a choice for each tour."""


def greedy(scores: Float[Tensor, "B P N"]) -> Int[Tensor, "B P"]:
    """The best candidate, the lowest number on ties."""
    return scores.argmax(-1)


def sampler(generator: Generator) -> Select:
    """Candidates in proportion to the exponential of their scores, by the Gumbel trick: no host round trip."""

    def sample(scores: Float[Tensor, "B P N"]) -> Int[Tensor, "B P"]:
        uniform = torch.rand(scores.shape, generator=generator, device=scores.device)
        return (scores + gumbel(uniform)).argmax(-1)

    return sample


def gumbel(uniform: Float[Tensor, "*S"]) -> Float[Tensor, "*S"]:
    """Noise with which the best of noisy scores is a sample."""
    return -torch.log(-torch.log(uniform.clamp(1e-20, 1 - 1e-7)))


def inverse(noise: Float[Tensor, "B P M"], order: Int[Tensor, "B N"]) -> Select:
    """Candidates in proportion to the exponential of their scores, each where its number of noise falls; one rollout.

    The order in which candidates share out the numbers is given, since equal noise must choose equal tours everywhere.
    """
    steps = iter(noise.unbind(-1))
    wide = order[:, None, :].expand(-1, noise.shape[1], -1)

    def sample(scores: Float[Tensor, "B P N"]) -> Int[Tensor, "B P"]:
        likely = (scores - scores.amax(-1, keepdim=True)).exp().gather(-1, wide)
        reached = likely.cumsum(-1) > (next(steps) * likely.sum(-1) * WITHIN)[..., None]
        rank = (reached & (likely > 0)).int().argmax(-1, keepdim=True)
        return wide.gather(-1, rank)[..., 0]

    return sample
