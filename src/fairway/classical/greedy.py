"""Greedy rules, built through the same loop as a learned policy's tours."""

from collections.abc import Callable

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from fairway.judge import Rejection, Solution, verify
from fairway.kernels.lookahead import Outlook, ahead, complete, none
from fairway.problems.batch import TSPDLBatch, to_batch
from fairway.problems.instance import Instance, InstanceSet, instance_set
from fairway.problems.problem import Batch, State
from fairway.problems.tspdl import TSPDL, TSPDLSet
from fairway.search.rollout import Score, rollout
from fairway.search.select import greedy


def nearest(batch: Batch) -> Score:
    """Greedy-L: the shortest way on."""

    def score(state: State, outlook: Outlook) -> Float[Tensor, "B P N"]:
        there = torch.arange(outlook.level.shape[-1], device=outlook.level.device)
        here = state.node[..., None].expand_as(outlook.level)
        return -batch.travel(here, there.expand_as(here))

    return score


def tightest(batch: Batch) -> Score:
    """Greedy-C: the window that closes first, or the smallest draft."""
    urgency = -batch.limit[:, None, :]
    return lambda state, outlook: urgency.expand_as(outlook.level)


def soonest(batch: Batch) -> Score:
    """The lowest level on being served: what can start first."""
    return lambda state, outlook: -outlook.level


RULES: dict[str, Callable[[Batch], Score]] = {
    "nearest": nearest,
    "tightest": tightest,
    "soonest": soonest,
}


def tours_by_rule(rule: str, instances: InstanceSet) -> Int[np.ndarray, "B 1 M"]:
    """One tour of every instance by a rule alone, without any look-ahead, in the direction of the instances."""
    batch = to_batch(instances)
    built = rollout(batch, look=none(batch), score=RULES[rule](batch), select=greedy)
    backwards = isinstance(instances, TSPDLSet) and instances.load == "shrinking"
    return built.tours.numpy()[..., :: -1 if backwards else 1]


def best_of_rules(instance: Instance) -> Solution | Rejection:
    """The shortest tour that a rule constructs under the look-ahead and the judge accepts, else the first refusal."""
    batch = to_batch(instance_set([instance]))
    look = complete(batch) if isinstance(batch, TSPDLBatch) else ahead(batch)
    tours = (
        rollout(batch, look=look, score=rule(batch), select=greedy).tours for rule in RULES.values()
    )
    verdicts = [verify(instance, _own_direction(instance, tour)) for tour in tours]
    accepted = [verdict for verdict in verdicts if isinstance(verdict, Solution)]
    return min(accepted, key=lambda solution: solution.cost) if accepted else verdicts[0]


def _own_direction(instance: Instance, tours: Int[Tensor, "1 1 M"]) -> list[int]:
    """Batches of draft limits always grow; a shrinking instance is sailed the other way round."""
    tour = tours[0, 0].tolist()
    backwards = isinstance(instance, TSPDL) and instance.load == "shrinking"
    return tour[::-1] if backwards else tour
