"""Muon: matrices move along the orthogonal part of their momentum, everything else as Adam has it.

What a step does to a matrix has all singular values about equal, so that rare directions are followed as far as common
ones (Jordan and others, 2024). Steps are scaled to the size of Adam's, so that one rate serves both (Liu and others,
2025).
"""

from collections import defaultdict
from collections.abc import Callable, Iterable

import torch
from jaxtyping import Float
from torch import Tensor

NARROWEST = 64
"""The side from which on a matrix is moved so; smaller ones, such as what reads four features, gain nothing."""
KEEPS = 0.95
"""The share of the old momentum."""
ROUNDS = 5
QUINTIC = (3.4445, -4.7750, 2.0315)
"""Of the polynomial that each round applies to the singular values: it brings those above 1e-3 near one, quickly."""
ADAMS = 0.2
"""What an entry of Adam's steps is, in units of the rate, as a rule."""


def turned(parameter: Tensor) -> bool:
    """Whether a parameter is moved along an orthogonal matrix."""
    return parameter.ndim == 2 and min(parameter.shape) >= NARROWEST


class Muon(torch.optim.Adam):
    """Adam whose matrices are moved otherwise; their momentum is `exp_avg`, beside the `step` that Adam asks for.

    Weight decay is for the matrices alone, which would grow without end: each step leaves out so much of them, in units
    of the rate.
    """

    def __init__(
        self,
        parameters: Iterable[Tensor],
        lr: float,
        weight_decay: float = 0.0,
        *,
        fused: bool | None = None,
    ) -> None:
        super().__init__(parameters, lr=lr, fused=fused)
        self._decay = weight_decay

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> None:
        """Follow the gradients by one step."""
        alike: defaultdict[tuple[torch.Size, float], list[tuple[Tensor, Tensor]]]
        alike = defaultdict(list)
        for group in self.param_groups:
            for parameter in group["params"]:
                if turned(parameter) and parameter.grad is not None:
                    alike[parameter.shape, group["lr"]].append((parameter, parameter.grad))
                    parameter.grad = None  # so that Adam passes it over
        super().step(closure)
        for (_, rate), pairs in alike.items():
            for matrix, gradient in pairs:
                matrix.grad = gradient
            self._turn([matrix for matrix, _ in pairs], [gradient for _, gradient in pairs], rate)

    def _turn(self, matrices: list[Tensor], gradients: list[Tensor], rate: float) -> None:
        """Move matrices of one shape, all together."""
        for matrix in matrices:
            if not self.state[matrix]:
                momentum = torch.zeros_like(matrix)
                self.state[matrix] |= {"exp_avg": momentum, "step": torch.zeros(())}
        momenta = [self.state[matrix]["exp_avg"] for matrix in matrices]
        torch._foreach_lerp_(momenta, gradients, 1 - KEEPS)
        ahead = torch._foreach_lerp(gradients, momenta, KEEPS)  # Nesterov's
        steps = orthogonal(torch.stack(ahead)) * (ADAMS * max(matrices[0].shape) ** 0.5)
        torch._foreach_mul_(matrices, 1 - rate * self._decay)
        torch._foreach_add_(matrices, list(steps.unbind()), alpha=-rate)


def orthogonal(matrices: Float[Tensor, "K R C"]) -> Float[Tensor, "K R C"]:
    """About the nearest matrices with all singular values one, by Newton and Schulz; zero stays zero."""
    found = matrices.bfloat16() if matrices.is_cuda else matrices
    tall = found.shape[-2] > found.shape[-1]
    found = found.mT if tall else found
    found = found / (found.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    once, cubed, fifth = QUINTIC
    for _ in range(ROUNDS):
        square = found @ found.mT
        found = once * found + (cubed * square + fifth * square @ square) @ found
    return (found.mT if tall else found).to(matrices.dtype)
