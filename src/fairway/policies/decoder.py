"""The decoder: the projections that bind a pointer to the nodes of a batch."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from fairway.kernels.pointer import Facts, Pointer
from fairway.policies.config import PolicyConfig
from fairway.policies.features import horizon_of
from fairway.problems.batch import Batch

CLIP = 10.0
"""Scores are 10 tanh(...), in both papers."""


class Decoder(nn.Module):
    """The projections of one pointer: the routing decoder, or the PIP-D head that mirrors it."""

    def __init__(self, config: PolicyConfig, *, clip: float | None, scaled: bool = True) -> None:
        super().__init__()
        width = config.width
        self.heads, self.clip, self.scaled = config.heads, clip, scaled
        self.per_horizon = config.backbone == "pomo"
        self.query = nn.Linear(width + 1, width, bias=False)
        self.key = nn.Linear(width, width, bias=False)
        self.value = nn.Linear(width, width, bias=False)
        self.join = nn.Linear(width, width, bias=config.backbone == "pomo")
        self.context = None if config.backbone == "pomo" else nn.Linear(width, width, bias=False)
        self.aim = None if config.backbone == "pomo" else nn.Linear(width, width, bias=False)

    def forward(
        self, nodes: Float[Tensor, "B N D"], batch: Batch, facts: Facts | None = None
    ) -> Pointer:
        """The decoder bound to a batch, with everything folded in that does not depend on a tour."""
        depth = nodes.shape[-1] // self.heads
        by_node, by_level = self.query.weight[:, :-1], self.query.weight[:, -1]
        query = nn.functional.linear(nodes, by_node)
        if self.context is not None:
            query = query + self.context(nodes.mean(1, keepdim=True))
        key = self.key(nodes)
        drift = key.float().unflatten(-1, (self.heads, depth))
        drift = (drift * by_level.view(self.heads, depth)).sum(-1).transpose(1, 2) / depth**0.5
        if self.per_horizon:
            drift = drift / horizon_of(batch)[:, None, None]
        aimed = nodes if self.aim is None else self.aim(nodes)
        size = nodes.shape[-1] ** -0.5 if self.scaled else 1.0
        aim = nn.functional.linear(aimed * size, self.join.weight.mT)
        off = torch.zeros_like(drift[:, 0])
        if self.join.bias is not None:
            off = (aimed.float() * self.join.bias).sum(-1) * size
        return Pointer(
            query * depth**-0.5, key, self.value(nodes), aim, drift, off, self.clip, facts
        )


def foresight_head(config: PolicyConfig) -> Decoder:
    """The PIP-D head: a decoder of its own that foretells which candidates the look-ahead would mask.

    It mirrors the routing decoder with its own projections over the same encoder, but its heads see every node. The
    sigmoid of its score is the probability that a candidate is infeasible; above one half, which is a score above
    zero, the candidate is masked. The authors' POMO head neither scales nor clips, their AM head does both.
    """
    mirrored = config.backbone == "am"
    return Decoder(config, clip=CLIP if mirrored else None, scaled=mirrored)
