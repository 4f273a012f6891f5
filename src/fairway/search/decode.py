"""A policy's tours: whole rollouts of a pointer under a guard, with the log-probabilities that training follows."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from fairway.kernels.lookahead import Mask, MaskConfig, MaskFn, ahead, along, complete, none
from fairway.kernels.lookahead.side import beside
from fairway.kernels.lookahead.table import table
from fairway.kernels.pointer import Pointer, cpu
from fairway.kernels.pointer.reference import known_facts, log_probabilities, scores
from fairway.kernels.pointer.track import MOST_NODES, in_order, lay_out
from fairway.problems.batch import Batch
from fairway.problems.problem import State
from fairway.search.rollout import Rollout, Score, Select, greedy, inverse, rollout, weighed

Noise = Float[Tensor, "B P M"]
"""Uniform in [0, 1), one number for each choice: equal noise samples equal tours, on every device."""


@dataclass(frozen=True, slots=True, eq=False)
class Decoded:
    """Tours, and how likely the policy was to choose them."""

    rollout: Rollout
    resources: Float[Tensor, "B P M"]
    """With which each stop was chosen."""
    log_probability: Float[Tensor, "B P"]


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """Where the tours stood at every step, and what was known of the candidates there."""

    states: list[State]
    masks: list[Mask]


def decode(
    batch: Batch,
    pointer: Pointer,
    guard: MaskConfig,
    noise: Noise | None = None,
    frozen_head: Pointer | None = None,
    *,
    starts: bool = False,
) -> Decoded:
    """One greedy tour per instance, or, sampled by the noise, as many as it has rows; in one launch on a GPU.

    Gradients flow from the log-probabilities into the pointer. The frozen head is what a learned mask asks. With
    starts, there is a tour from each first stop, whatever the mask says of it, and its probability is that of the
    others.
    """
    if _in_the_kernels_reach(batch, guard) and not starts:
        return _in_one_launch(batch, pointer, guard, noise, frozen_head)
    with torch.no_grad():
        built, trace = traced(batch, pointer, guard, noise, frozen_head, starts=starts)
    resources = torch.stack([state.resource for state in trace.states], dim=-1)
    return Decoded(built, resources, follow(batch, pointer, trace, built, first=int(starts)))


@torch.no_grad()
def build(
    batch: Batch,
    pointer: Pointer,
    guard: MaskConfig,
    noise: Noise | None = None,
    *,
    starts: bool = False,
) -> Rollout:
    """The same tours where nobody asks how likely they were, which on a CPU saves most of the time."""
    if _in_the_kernels_reach(batch, guard) and not starts:
        return _in_one_launch(batch, pointer, guard, noise).rollout
    if compiled(batch, pointer, guard) and not starts:
        walked = cpu.decode(batch, pointer, guard, noise)
        return weighed(batch, walked.tours, walked.resources, walked.dead_ends)
    return _rolled_out(batch, guard, scoring(batch, pointer), noise, starts=starts)


def compiled(batch: Batch, pointer: Pointer, guard: MaskConfig) -> bool:
    """Whether the loops that are compiled for a CPU serve: side constraints are in plain torch alone."""
    near = batch.latest.device.type == "cpu" and batch.side is None
    return near and cpu.reaches(batch, pointer, guard)


def traced(
    batch: Batch,
    pointer: Pointer,
    guard: MaskConfig,
    noise: Noise | None,
    frozen_head: Pointer | None,
    *,
    starts: bool = False,
) -> tuple[Rollout, Trace]:
    """The same in plain torch, step by step, keeping everything on the way."""
    trace, score = Trace([], []), scoring(batch, pointer)

    def traced_score(state: State, mask: Mask) -> Float[Tensor, "B P N"]:
        trace.states.append(state)
        trace.masks.append(mask)
        return score(state, mask)

    return _rolled_out(batch, guard, traced_score, noise, frozen_head, starts=starts), trace


def scoring(batch: Batch, pointer: Pointer) -> Score:
    """How good a pointer holds the candidates to be."""

    def score(state: State, mask: Mask) -> Float[Tensor, "B P N"]:
        known = None
        if pointer.facts is not None:
            known = known_facts(batch, state.node, state.resource, mask)
        return scores(pointer, state.node, state.resource, mask.allowed, known)

    return score


def _rolled_out(
    batch: Batch,
    guard: MaskConfig,
    score: Score,
    noise: Noise | None,
    frozen_head: Pointer | None = None,
    *,
    starts: bool = False,
) -> Rollout:
    tours = 1 if noise is None else noise.shape[1]
    select = greedy if noise is None else inverse(noise, in_order(table(batch, guard.rule), guard))
    if starts:
        tours = batch.latest.shape[1] - 1
        select = from_each_stop(select)
    look = watch(batch, guard, tours, frozen_head)
    return rollout(batch, look=look, score=score, select=select, tours=tours)


def from_each_stop(select: Select) -> Select:
    """The same choices, except that in the one rollout that this is for each tour begins with a stop of its own."""
    begun = False

    def choose(scores: Float[Tensor, "B P N"]) -> Int[Tensor, "B P"]:
        nonlocal begun
        if begun:
            return select(scores)
        begun = True
        return torch.arange(1, scores.shape[2], device=scores.device).expand(len(scores), -1)

    return choose


def follow(
    batch: Batch, pointer: Pointer, trace: Trace, built: Rollout, first: int = 0
) -> Float[Tensor, "B P"]:
    """The log-probabilities of tours that were traced, all steps at once, those before the first left out."""
    node = torch.cat([state.node for state in trace.states], dim=1)
    resource = torch.cat([state.resource for state in trace.states], dim=1)
    fields = zip(*((o.resource, o.bound, o.allowed) for o in trace.masks), strict=True)
    mask = Mask(*(torch.cat(field, dim=1) for field in fields))
    scored = scoring(batch, pointer)(State(node, resource, mask.allowed), mask)
    chosen = built.tours.transpose(1, 2).flatten(1)
    likely = log_probabilities(scored, mask.allowed, chosen)
    return likely.unflatten(1, (len(trace.states), -1))[:, first:].sum(1)


def states_along(
    tours: Int[Tensor, "B P M"], resources: Float[Tensor, "B P M"], nodes: int
) -> State:
    """Where tours stood at every step, all steps side by side."""
    here = torch.cat([torch.zeros_like(tours[..., :1]), tours[..., :-1]], dim=-1)
    steps = torch.arange(tours.shape[-1], device=tours.device)
    when = torch.full((*tours.shape[:2], nodes), -1, device=tours.device)
    when = when.scatter(-1, tours, steps.expand_as(tours))
    unvisited = when[:, :, None, :] >= steps[:, None]
    return State(here.flatten(1), resources.flatten(1), unvisited.flatten(1, 2))


def watch(
    batch: Batch, guard: MaskConfig, tours: int | None, frozen_head: Pointer | None = None
) -> MaskFn:
    """The look-ahead of a guard, for one rollout of so many tours, or, without a number, for states in any order."""
    match guard.kind:
        case "none":
            look = none(batch)
        case "ahead":
            look = ahead(batch, guard.rule) if tours is None else along(batch, tours, guard.rule)
        case "exact":
            assert batch.by_set, "the exact mask is for what follows from the stops visited"
            look = complete(batch)
        case "learned":
            assert frozen_head is not None, "a learned mask asks a frozen head"
            look = foretold(
                batch, lambda state: scores(frozen_head, state.node, state.resource) > 0
            )
    if guard.until is not None:
        least = batch.latest.shape[1] - guard.until
        look = relaxed(look, lambda state: state.unvisited.sum(-1, keepdim=True) < least)
    return look if batch.side is None else beside(look, batch.side)


def foretold(batch: Batch, infeasible: Callable[[State], Bool[Tensor, "B P N"]]) -> MaskFn:
    """What is taken to be infeasible is not allowed."""
    free = none(batch)

    def look(state: State) -> Mask:
        mask = free(state)
        return Mask(mask.resource, mask.bound, state.unvisited & ~infeasible(state))

    return look


def relaxed(look: MaskFn, passing: Callable[[State], Bool[Tensor, "B P #N"]]) -> MaskFn:
    """The same mask, except that some candidates pass, where they are unvisited."""

    def lenient(state: State) -> Mask:
        mask, some = look(state), passing(state)
        bound = torch.where(some, torch.inf, mask.bound)
        return Mask(mask.resource, bound, mask.allowed | (some & state.unvisited))

    return lenient


def _in_the_kernels_reach(batch: Batch, guard: MaskConfig) -> bool:
    """The plain loop knows two steps and any size; the kernel is for what is trained and used most."""
    two_steps = guard.kind == "ahead" and guard.rule.steps == 2
    plain = batch.side is None and not two_steps
    return batch.latest.is_cuda and plain and batch.latest.shape[1] <= MOST_NODES


def _in_one_launch(
    batch: Batch,
    pointer: Pointer,
    guard: MaskConfig,
    noise: Noise | None,
    frozen_head: Pointer | None = None,
) -> Decoded:
    """The Triton kernel, which follows the tours while it builds them."""
    from fairway.kernels.pointer import gpu

    instances, nodes = batch.latest.shape
    choice = "greedy" if noise is None else "sample"
    if noise is None:
        noise = torch.empty(instances, 1, nodes - 1, device=batch.latest.device)
    walked = gpu.decode(
        pointer, lay_out(batch, guard), guard, choice, noise, frozen_head=frozen_head
    )
    summed = (walked.length, walked.excess, walked.worst, walked.broken, walked.dead_ends)
    return Decoded(Rollout(walked.tours, *summed), walked.resources, walked.log_probability)
