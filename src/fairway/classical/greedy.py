"""Greedy construction under the one-step look-ahead: the stand-in for the solver until there is one."""

from collections.abc import Callable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from fairway.judge import Rejection, Solution, verify
from fairway.problems.batch import to_batch
from fairway.problems.instance import Instance, instance_set
from fairway.problems.problem import Batch, State, extend, start, step
from fairway.problems.tspdl import TSPDL

Rule = Callable[[Batch, State], Float[Tensor, "B P N"]]
"""What a step costs for each node; the cheapest allowed one is taken, the lowest number on ties."""

Mask = Callable[[Batch, State], Bool[Tensor, "B P N"]]
"""Which nodes a tour may go on to: True = allowed."""

ROUNDING = 1e-5
"""Float32 error in normalised units that the look-ahead forgives; the judge has the last word."""


def nearest(batch: Batch, state: State) -> Float[Tensor, "B P N"]:
    """Greedy-L: the shortest way on."""
    here, there = _pairs(state)
    return batch.travel(here, there)


def tightest(batch: Batch, state: State) -> Float[Tensor, "B P N"]:
    """Greedy-C: the window that closes first, or the smallest draft."""
    return batch.limit[:, None, :].expand_as(state.unvisited)


def soonest(batch: Batch, state: State) -> Float[Tensor, "B P N"]:
    """The lowest level on being served: what can start first."""
    here, there = _pairs(state)
    return extend(batch, state.level[..., None].expand_as(there), here, there)


RULES: dict[str, Rule] = {"nearest": nearest, "tightest": tightest, "soonest": soonest}


def unvisited(batch: Batch, state: State) -> Bool[Tensor, "B P N"]:
    """No look-ahead: every node that is still to be visited."""
    return state.unvisited


def best_of_rules(instance: Instance) -> Solution | Rejection:
    """The shortest tour that any rule constructs and the judge accepts; if it accepts none, the first refusal."""
    batch = to_batch(instance_set([instance]))
    verdicts = [
        verify(instance, _own_direction(instance, construct(batch, rule, one_step)))
        for rule in RULES.values()
    ]
    accepted = [verdict for verdict in verdicts if isinstance(verdict, Solution)]
    return min(accepted, key=lambda solution: solution.cost) if accepted else verdicts[0]


def construct(batch: Batch, rule: Rule, mask: Mask) -> Int[Tensor, "B P M"]:
    """One tour an instance, step by step; where the mask leaves nothing, any unvisited node will do."""
    state = start(batch)
    actions = []
    for _ in range(batch.limit.shape[1] - 1):
        allowed = mask(batch, state)
        allowed = torch.where(allowed.any(-1, keepdim=True), allowed, state.unvisited)
        action = rule(batch, state).masked_fill(~allowed, torch.inf).argmin(-1)
        actions.append(action)
        state = step(batch, state, action)
    return torch.stack(actions, dim=-1)


def one_step(batch: Batch, state: State) -> Bool[Tensor, "B P N"]:
    """Which unvisited nodes are in time themselves and leave every other unvisited node in time right after them."""
    _, there = _pairs(state)
    level = soonest(batch, state)
    instances, tours, nodes = there.shape
    square = (instances, tours, nodes, nodes)
    after = extend(
        batch,
        level[..., None].expand(square),
        there[..., None].expand(square),
        there[:, :, None, :].expand(square),
    )
    kept = after <= batch.limit[:, None, None, :] + ROUNDING
    others = state.unvisited[:, :, None, :] & ~torch.eye(
        nodes, dtype=torch.bool, device=level.device
    )
    own = level <= batch.limit[:, None, :] + ROUNDING
    return state.unvisited & own & (kept | ~others).all(-1)


def _pairs(state: State) -> tuple[Int[Tensor, "B P N"], Int[Tensor, "B P N"]]:
    """From where each tour stands to every node."""
    shape = state.unvisited.shape
    there = torch.arange(shape[-1], device=state.node.device).expand(shape)
    return state.node[..., None].expand(shape), there


def _own_direction(instance: Instance, tours: Int[Tensor, "1 1 M"]) -> list[int]:
    """Batches of draft limits always grow; a shrinking instance is sailed the other way round."""
    tour = tours[0, 0].tolist()
    backwards = isinstance(instance, TSPDL) and instance.load == "shrinking"
    return tour[::-1] if backwards else tour
