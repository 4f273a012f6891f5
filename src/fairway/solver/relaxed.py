"""Where no tour keeps everything: the plan that gives up least, and what it gives up."""

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from fairway.judge import Solution
from fairway.judge.rules import label
from fairway.problems.instance import Instance

Relax = Literal["drop", "late", "none"]
"""What a plan may give up where no tour keeps everything: stops, or punctuality, or nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class Relaxed:
    """A plan for an instance without a tour, judged by what it was relaxed to."""

    how: Relax
    instance: Instance
    """As it was relaxed: every stop may be left out, or every window be missed, at a price beyond all others.

    Where that is not enough, both; and where the end cannot be reached by any tour, without it.
    """
    solution: Solution
    given_up: tuple[str, ...]
    """What the plan does not do that the instance asks for, a sentence each."""


def relaxed_to(instance: Instance, how: Relax) -> Instance:
    """The instance with a price so high for what is given up that as little as can be is."""
    if how == "drop":
        return replace(
            instance, prize=np.where(np.isinf(instance.prize), _beyond(instance), instance.prize)
        )
    late = np.where(np.isinf(instance.late), _beyond(instance), instance.late)
    return replace(instance, late=late, latest=np.full(instance.nodes, math.inf))


def _beyond(instance: Instance) -> float:
    """More than any tour is worth by what it costs and leaves out."""
    costs = np.where(np.isfinite(instance.cost), instance.cost, 0.0).max(axis=1).sum()
    times = np.where(np.isfinite(instance.travel), instance.travel, 0.0).max(axis=1).sum()
    prizes = instance.prize[np.isfinite(instance.prize)].sum()
    return float(math.ceil(1.0 + costs + times + instance.service.sum() + prizes))


def given_up(instance: Instance, loose: Instance, solution: Solution) -> tuple[str, ...]:
    """The stops left out that must be served, those served later than they may be, and an end that is not reached."""
    lost = [stop for stop in solution.unserved if math.isinf(instance.prize[stop])]
    words = [f"stop {label(instance, stop)} is left out" for stop in lost]
    for visit in solution.schedule:
        hard, last = math.isinf(instance.late[visit.node]), instance.latest[visit.node]
        if visit.late > 0 and (hard or visit.start > last):
            name = f"stop {label(instance, visit.node)}"
            served = "reached" if visit.node == instance.end else "served"
            words.append(f"{name} is {served} {instance.duration_text(visit.late)} late")
    home = solution.lateness - float(solution.schedule.late.sum())
    hard = math.isinf(instance.late[0]) or solution.makespan > instance.latest[0]
    if instance.end == 0 and home > 0 and hard:
        words.append(f"the return is {instance.duration_text(home)} late")
    if loose.end != instance.end:
        where = f"at stop {label(instance, instance.end)}" if instance.end else "back at the depot"
        words.append(f"the tour ends at its last stop, not {where}")
    return tuple(words)
