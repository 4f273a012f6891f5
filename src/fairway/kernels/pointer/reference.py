"""The definition of a pointer's scores, in plain torch: for the tours of one step, or for all steps at once."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from fairway.kernels.lookahead.config import Mask
from fairway.kernels.pointer import Facts, Pointer
from fairway.problems.batch import Batch, rows

WITHIN = 1 - 1e-5
"""Sums of rounded numbers may end a little below their total, which noise must not pass."""
LARGEST = 1e6
"""Of slacks, before they are squashed: what is infinite becomes a number."""
FAR = 4.0
"""What slacks approach and never pass, so that beyond a few units only their order counts."""


def scores(
    pointer: Pointer,
    node: Int[Tensor, "B S"],
    resource: Float[Tensor, "B S"],
    allowed: Bool[Tensor, "B S N"] | None = None,
    known: Float[Tensor, "B S N 4"] | None = None,
) -> Float[Tensor, "B S N"]:
    """How good each node is to go to from where S tours stand; heads see only what is allowed, or everything."""
    query, key, value = (
        tensor.unflatten(-1, (pointer.heads, -1)).transpose(1, 2)
        for tensor in (pointer.query[rows(node), node], pointer.key, pointer.value)
    )
    match = (query @ key.mT).float() + resource[:, None, :, None] * pointer.drift[:, :, None, :]
    if allowed is not None:
        match = match.masked_fill(~allowed[:, None], -torch.inf)
    answer = match.softmax(-1).to(value.dtype) @ value
    score = (answer.transpose(1, 2).flatten(2) @ pointer.aim.mT).float() + pointer.bias[:, None, :]
    if pointer.facts is not None:
        assert known is not None, "this pointer reads what is known of the candidates"
        score = score + weighed(pointer.facts, known)
    return score if pointer.clip is None else pointer.clip * score.tanh()


def log_probabilities(
    scored: Float[Tensor, "B S N"], allowed: Bool[Tensor, "B S N"], chosen: Int[Tensor, "B S"]
) -> Float[Tensor, "B S"]:
    """Of what was chosen, among the candidates allowed."""
    among = scored.masked_fill(~allowed, -torch.inf).log_softmax(-1)
    return among.gather(-1, chosen[..., None])[..., 0]


def weighed(facts: Facts, known: Float[Tensor, "B S N 4"]) -> Float[Tensor, "B S N"]:
    """What the facts of each candidate add to its score."""
    hidden = torch.relu(known @ facts.inner.float().mT + facts.shift.float())
    return hidden @ facts.outer.float()


def known_facts(
    batch: Batch, node: Int[Tensor, "B S"], resource: Float[Tensor, "B S"], mask: Mask
) -> Float[Tensor, "B S N 4"]:
    """The way, the wait, the slack to the own limit and to the look-ahead's, of each candidate; never bf16.

    Slacks are small where they matter and huge, or infinite, where they do not.
    """
    there = torch.arange(mask.resource.shape[-1], device=node.device).expand_as(mask.resource)
    here = node[..., None].expand_as(there)
    waiting = mask.resource - (resource[..., None] + batch.increment(here, there))
    own = batch.latest[:, None, :] - mask.resource
    raised = torch.stack([waiting, own, mask.slack], dim=-1)
    raised = squashed(raised / batch.unit[:, None, None, None])
    return torch.cat([batch.travel(here, there)[..., None], raised], dim=-1)


def squashed(slack: Float[Tensor, "*S"]) -> Float[Tensor, "*S"]:
    """A slack whose order alone counts where it is large."""
    slack = slack.clamp(-LARGEST, LARGEST)
    return slack / (1 + slack.abs() / FAR)
