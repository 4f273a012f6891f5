"""Second thoughts: greedy tours that ran into a dead end are built again, each choice tried out before it is taken.

A choice is refused where the orders among what would be left leave some node no time. No move of a feasible tour is
refused, so that a tour which ended well would be built the same again: only the others are.
"""

from dataclasses import fields

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from fairway.kernels.lookahead import Guard, along
from fairway.kernels.lookahead.orders import rounding, settled
from fairway.kernels.lookahead.rule import Outlook, Rule
from fairway.kernels.lookahead.table import Table, table
from fairway.kernels.pointer import Pointer
from fairway.problems.batch import TSPDLBatch, TSPTWBatch, take
from fairway.problems.problem import State
from fairway.search.decode import build, scoring
from fairway.search.rollout import Rollout, Score, rollout
from fairway.search.select import greedy

Batch = TSPTWBatch | TSPDLBatch
AT_A_TIME = 2**25
"""Pairs of nodes of the tours that are built again together."""


def build_carefully(batch: Batch, pointer: Pointer, guard: Guard) -> Rollout:
    """One greedy tour an instance; under a guard that asks about pairs, with second thoughts."""
    built = build(batch, pointer, guard)
    if guard.kind != "ahead" or not guard.rule.pairs or guard.until is not None:
        return built
    lost = torch.nonzero(built.broken[:, 0])[:, 0]
    if not len(lost):
        return built
    found = {field.name: getattr(built, field.name).clone() for field in fields(Rollout)}
    for part in lost.split(max(1, AT_A_TIME // batch.limit.shape[1] ** 2)):
        again = _built_again(take(batch, part), pointer.of(part), guard.rule)
        for name, whole in found.items():
            whole[part] = getattr(again, name)
    return Rollout(**found)


@torch.no_grad()
def _built_again(batch: Batch, pointer: Pointer, rule: Rule) -> Rollout:
    score = probing(table(batch, rule), rule, scoring(batch, pointer))
    return rollout(batch, look=along(batch, 1, rule), score=score, select=greedy)


def probing(known: Table, rule: Rule, score: Score) -> Score:
    """The scores of one rollout of one tour an instance, without what was best and is refused."""
    lost = torch.zeros(len(known.limit), dtype=torch.bool, device=known.limit.device)

    def thought_over(state: State, outlook: Outlook) -> Float[Tensor, "B 1 N"]:
        scores = torch.where(outlook.allowed, score(state, outlook), -torch.inf)[:, 0]
        passes = outlook.level <= outlook.bound + rule.tolerance
        hopeful = torch.where(passes[:, 0], scores, -torch.inf)
        asked = torch.nonzero(~lost)[:, 0]
        while len(asked):
            lost[asked] |= hopeful[asked].isneginf().all(-1)
            asked = asked[~lost[asked]]
            choice = hopeful[asked].argmax(-1)
            refused = refuses(known, rule, state, asked, choice)
            asked, choice = asked[refused], choice[refused]
            hopeful[asked, choice] = -torch.inf
        return torch.where(lost[:, None], scores, hopeful)[:, None]

    return thought_over


def refuses(
    known: Table, rule: Rule, state: State, asked: Int[Tensor, " K"], choice: Int[Tensor, " K"]
) -> Bool[Tensor, " K"]:
    """Whether some node left has no time after the choice, windows narrowed from there on; of each only tour."""
    here, level = state.node[asked, 0], state.level[asked, 0]
    level = torch.maximum(level + known.lead[asked, here, choice], known.floor[asked, choice])
    rest = state.unvisited[asked, 0].scatter(1, choice[:, None], value=False)
    way, highest = known.way[asked], known.limit[asked]
    reached = level[:, None] + known.way[asked, choice] - rounding(highest)
    lowest = torch.maximum(known.floor[asked], reached)
    lowest, highest = settled(lowest, highest, way, rest, rule.tolerance)
    return (rest & (lowest > highest + rule.tolerance)).any(-1)
