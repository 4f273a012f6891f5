"""Whole rollouts of a pointer in one Triton launch, and the gradient of their log-probabilities in another.

A program runs a few tours of one instance from the depot to the end. What it learns on the way - the softmaxes of the
heads and their answers, and by how much each score would raise the log-probability of what was chosen - is all that
the gradient needs, so nothing is computed forwards a second time. Resources, slacks and softmaxes are float32; products
run in the dtype of the pointer.
"""

from dataclasses import dataclass
from typing import Literal

import torch
import triton
from jaxtyping import Float, Int
from torch import Tensor

from fairway.kernels.lookahead.config import MaskConfig
from fairway.kernels.pointer import Pointer
from fairway.kernels.pointer.gpu.facts import facts_gradient
from fairway.kernels.pointer.gpu.gradient import gradient
from fairway.kernels.pointer.gpu.walk import walk
from fairway.kernels.pointer.track import Track

Choice = Literal["greedy", "sample", "forced"]
CHOICES = {"greedy": 0, "sample": 1, "forced": 2}

FEWEST = 16
"""Tours of one program: products of matrices want as many rows, even where one tour is asked for."""
STEPS = 64
"""Steps of tours that the gradient takes at a time."""
BLOCK = 64
"""Nodes of one program of the gradient."""
SHARES = 4
"""Into how many parts an instance's steps are split for the gradient of the facts."""


@dataclass(frozen=True, slots=True, eq=False)
class Walked:
    """P finished tours of each instance, and what the kernel summed up along them."""

    tours: Int[Tensor, "B P M"]
    resources: Float[Tensor, "B P M"]
    log_probability: Float[Tensor, "B P"]
    length: Float[Tensor, "B P"]
    excess: Float[Tensor, "B P"]
    worst: Float[Tensor, "B P"]
    broken: Int[Tensor, "B P"]
    dead_ends: Int[Tensor, "B P"]


@dataclass(frozen=True, slots=True)
class Asked:
    """How tours are to be built, apart from tensors."""

    guard: MaskConfig
    choice: Choice
    clip: float


def decode(
    pointer: Pointer,
    track: Track,
    guard: MaskConfig,
    choice: Choice,
    noise: Float[Tensor, "B P M"],
    tours: Int[Tensor, "B P M"] | None = None,
    frozen_head: Pointer | None = None,
) -> Walked:
    """Tours chosen greedily, by the noise (uniform in [0, 1)), or given; gradients flow from the log-probabilities."""
    assert pointer.clip is not None, "the kernel clips"
    said = _by_rank(pointer, track)
    by_step = noise.transpose(1, 2).contiguous()
    ranks = torch.empty(by_step.shape, dtype=torch.int32, device=noise.device)
    if tours is not None:
        chosen = track.rank[:, None, :].expand(-1, noise.shape[1], -1).gather(2, tours)
        ranks = chosen.transpose(1, 2).int().contiguous()
    seer = said if frozen_head is None else _by_rank(frozen_head, track)
    facts = pointer.facts
    network = (
        (noise.new_empty(0),) * 3 if facts is None else (facts.inner, facts.shift, facts.outer)
    )
    asked = Asked(guard, choice, pointer.clip)
    sums, ranks, resources = _Walk.apply(*said, *network, seer, track, by_step, ranks, asked)
    wide = track.order[:, None, :].expand(-1, ranks.shape[1], -1)
    stops = wide.gather(2, ranks.long()).transpose(1, 2)
    log_probability, length, excess, worst, broken, dead_ends = sums.unbind(-1)
    counts = (broken.detach().long(), dead_ends.detach().long())
    summed = (length.detach(), excess.detach(), worst.detach(), *counts)
    return Walked(stops, resources.transpose(1, 2), log_probability, *summed)


def _by_rank(
    pointer: Pointer, track: Track
) -> tuple[Float[Tensor, "B 4 WD"], Float[Tensor, "B H W"], Float[Tensor, "B W"]]:
    """What a pointer says of the nodes, in the order of their ranks; keys and aims lie by component, then by node."""
    wide = track.order
    states = torch.stack([pointer.query, pointer.value, pointer.key, pointer.aim], dim=1)
    states = states.take_along_dim(wide[:, None, :, None], 2)
    crossed = states[:, 2:].transpose(2, 3).flatten(2)
    return (
        torch.cat([states[:, :2].flatten(2), crossed], dim=1),
        pointer.drift.float().take_along_dim(wide[:, None, :], 2).contiguous(),
        pointer.bias.float().gather(1, wide),
    )


class _Walk(torch.autograd.Function):
    """The kernels as one step of autograd: from what the decoder says of the nodes to log-probabilities."""

    @staticmethod
    def forward(ctx, said, drift, bias, inner, shift, outer, seer, track, noise, ranks, asked):
        batch, steps, tours = noise.shape
        heads, width, units = drift.shape[1], drift.shape[2], len(shift)
        depth = said.shape[2] // width
        saving = any(ctx.needs_input_grad)

        def room(last: int, dtype: torch.dtype, needed: bool = saving) -> Tensor:
            shape = (*noise.shape, last) if needed else (1,)
            return torch.empty(shape, dtype=dtype, device=noise.device)

        answers = room(depth, said.dtype)
        softmaxes, grades = room(heads, torch.float32), room(width, said.dtype)
        slacks = room(width, said.dtype, saving and units > 0)
        resources, sums = torch.empty_like(noise), noise.new_empty(batch, tours, 6)
        guard = asked.guard
        ahead = 5 if guard.rule.pairs else 1 + guard.rule.steps
        mask = {"none": 0, "ahead": ahead, "exact": 3, "learned": 4}[guard.kind]
        chosen = ranks.clone()
        together, stages = _shape(width, units > 0)
        together = min(together, max(FEWEST, triton.next_power_of_2(tours)))
        walk[(triton.cdiv(tours, together), batch)](
            said, drift, bias, *seer, inner, shift, outer, track.lines, track.squares, track.starts,
            track.pairs, track.sooner, noise, chosen, resources, answers, softmaxes, grades, slacks, sums,
            tours, steps, track.pairs.shape[2], steps if guard.until is None else guard.until,
            guard.rule.tolerance, asked.clip,
            depth, heads, width, together, units, mask, CHOICES[asked.choice], saving, _exact(said),
            num_warps=4 if width <= 128 else 8, num_stages=stages,
        )  # fmt: skip
        ctx.save_for_backward(
            said, drift, inner, shift, outer, track.lines, track.squares, track.starts,
            chosen, resources, answers, softmaxes, grades, slacks,
        )  # fmt: skip
        ctx.mark_non_differentiable(chosen, resources)
        return sums, chosen, resources

    @staticmethod
    def backward(ctx, d_sums, *_):
        (
            said, drift, inner, shift, outer, lines, squares, starts,
            ranks, resources, answers, softmaxes, grades, slacks,
        ) = ctx.saved_tensors  # fmt: skip
        weight = d_sums[..., 0].contiguous()
        batch, steps, tours = ranks.shape
        heads, width, units = drift.shape[1], drift.shape[2], len(shift)
        depth, block = said.shape[2] // width, min(width, BLOCK)
        d_query = weight.new_empty(batch, width // block, width * depth)
        d_value_key = weight.new_empty(batch, 2, width * depth)
        d_drift = torch.empty_like(drift)
        # What concerns the aims is plain products over all heads at once.
        grades_flat, answers_flat = grades.flatten(1, 2), answers.flatten(1, 2)
        backs = grades_flat @ said[:, 3].view(batch, depth, width).mT
        each = weight[:, None, :].expand(-1, steps, -1).flatten(1).to(said.dtype)
        d_aim = (answers_flat * each[..., None]).mT @ grades_flat
        d_bias = (each[:, None, :] @ grades_flat)[:, 0].float()
        gradient[(heads, batch, width // block)](
            said, drift, ranks, resources, answers, backs, softmaxes, grades, weight,
            d_query, d_value_key, d_drift, tours, steps,
            depth, heads, width, block, STEPS, _exact(said), num_warps=4, num_stages=2,
        )  # fmt: skip
        d_said = [d_query.sum(1, keepdim=True), d_value_key, d_aim.flatten(1)[:, None].float()]
        d_said = torch.cat(d_said, dim=1).to(said.dtype)
        d_network = (None, None, None)
        if units:
            parts = weight.new_empty(batch, SHARES, units, 6)
            facts_gradient[(SHARES, batch)](
                inner, shift, outer, lines, squares, starts, ranks, resources, slacks, grades, weight,
                parts, tours, steps, width, units, STEPS, SHARES, num_warps=8,
            )  # fmt: skip
            whole = parts.sum((0, 1))
            d_network = (whole[:, :4].contiguous(), whole[:, 4], whole[:, 5])
        return d_said, d_drift, d_bias, *d_network, *(None,) * 5


def _shape(width: int, facts: bool) -> tuple[int, int]:
    """How many tours one program takes, and in how many stages it fetches what its heads read: as measured."""
    if width <= 64:
        return 64, 2
    if width == 128:
        return (16, 2) if facts else (64, 1)
    return (32, 2) if width == 256 else (16, 2)


def _exact(states: Tensor) -> str:
    """How products of float32 are to be made, where there are any."""
    return "ieee" if states.dtype == torch.float32 else "tf32"
