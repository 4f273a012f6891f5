"""Greedy rules, built through the same loop as a learned policy's tours."""

from collections.abc import Callable

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from fairway.judge import Rejection, Solution, verify
from fairway.kernels.lookahead import Mask, none, strongest
from fairway.problems.batch import Batch, forwards, to_batch
from fairway.problems.instance import Instance
from fairway.problems.problem import State
from fairway.problems.sets import InstanceSet, instance_set
from fairway.search.rollout import Score, greedy, rollout


def nearest(batch: Batch) -> Score:
    """Greedy-L: the shortest way on."""

    def score(state: State, mask: Mask) -> Float[Tensor, "B P N"]:
        there = torch.arange(mask.resource.shape[-1], device=mask.resource.device)
        here = state.node[..., None].expand_as(mask.resource)
        return -batch.travel(here, there.expand_as(here))

    return score


def tightest(batch: Batch) -> Score:
    """Greedy-C: the window that closes first, or the smallest draft."""
    urgency = -batch.latest[:, None, :]
    return lambda state, mask: urgency.expand_as(mask.resource)


def soonest(batch: Batch) -> Score:
    """The lowest resource on being served: what can start first."""
    return lambda state, mask: -mask.resource


RULES: dict[str, Callable[[Batch], Score]] = {
    "nearest": nearest,
    "tightest": tightest,
    "soonest": soonest,
}


def tours_by_rule(rule: str, instances: InstanceSet) -> Int[np.ndarray, "B 1 M"]:
    """One tour of every instance by a rule alone, without any look-ahead, in the direction of the instances."""
    batch = to_batch(instances)
    built = rollout(batch, look=none(batch), score=RULES[rule](batch), select=greedy)
    return forwards(instances, built.tours.numpy())


def best_of_rules(instance: Instance) -> Solution | Rejection:
    """The shortest tour that a rule constructs under the look-ahead and the judge accepts, else the first refusal."""
    instances = instance_set([instance])
    batch = to_batch(instances)
    look = strongest(batch)
    tours = (
        rollout(batch, look=look, score=rule(batch), select=greedy).tours for rule in RULES.values()
    )
    verdicts = [verify(instance, forwards(instances, tour.numpy())[0, 0]) for tour in tours]
    accepted = [verdict for verdict in verdicts if isinstance(verdict, Solution)]
    return min(accepted, key=lambda solution: solution.cost) if accepted else verdicts[0]
