"""Trajectory balance: tours should be sampled in proportion to exp(-sharpness x cost), whoever proposed them.

A tour from the depot in its direction is built in one way only, so that the probability of having built it so, given
the tour, is one. The authors' constant for it, log 2, is left to log Z, which takes it up.
"""

from jaxtyping import Float
from torch import Tensor


def energy(cost: Float[Tensor, "B P"]) -> Float[Tensor, "B P"]:
    """What tours cost beyond the mean of their instance; no gradient flows."""
    return (cost - cost.mean(1, keepdim=True)).detach()


def shared_energy(
    sampled: Float[Tensor, "B P"], searched: Float[Tensor, "B P"], credit: float
) -> Float[Tensor, "B P"]:
    """The energy of tours as sampled, in part judged by what local search made of each."""
    return credit * energy(searched) + (1 - credit) * energy(sampled)


def balance_loss(
    log_forward: Float[Tensor, "B P"],
    log_z: Float[Tensor, " B"],
    energies: Float[Tensor, "B P"],
    sharpness: float,
) -> Float[Tensor, ""]:
    """By how much the flow into tours differs from what they deserve, squared, over all tours."""
    return (log_forward + log_z[:, None] + sharpness * energies).square().mean()
