"""Is there any tour at all? A tour, a proof that there is none, or neither within the time."""

import math
import time
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from fairway.judge import Rejection, Solution, verify
from fairway.problems.instance import Instance
from fairway.search.exact import prove
from fairway.search.improve import improve
from fairway.solver.explain.obstacles import obstacle

NARROW = 6.0
"""The breadth up to which an exact search is so quick that it is tried before anything else."""
QUICK = 0.02
"""Seconds in which most tours are found that are easy to find."""


@dataclass(frozen=True, slots=True, eq=False)
class Decision:
    """What is known: a tour; or that there is none; or the least late attempt."""

    solution: Solution | None = None
    impossible: bool = False
    attempt: Rejection | None = None

    @property
    def open(self) -> bool:
        """Whether it is not known yet."""
        return self.solution is None and not self.impossible


def breadth(instance: Instance) -> float:
    """How many stops compete for a place in the order, about: what a proof takes grows with it exponentially."""
    if not instance.timed:
        return instance.nodes / 2
    opens, closes = np.sort(instance.opens[1:]), np.sort(instance.closes[1:])
    # When the k-th window opens, k have opened by then, less those that have closed.
    open_then = np.arange(1, len(opens) + 1) - np.searchsorted(closes, opens)
    return float(open_then.mean())


def decide(instance: Instance, until: float) -> Decision:
    """Whether the instance has a tour, as far as that can be said by `until` on the monotonic clock."""
    if obstacle(instance) is not None:
        return Decision(impossible=True)
    decision = Decision()
    first = [(_proved, 0.5 * (until - time.monotonic()))] if breadth(instance) <= NARROW else []
    for ask, most in (*first, (_searched, QUICK), (_proved, math.inf), (_searched, math.inf)):
        left = until - time.monotonic()
        if left <= 0 or not decision.open:
            break
        answer = ask(instance, min(most, left))
        decision = replace(answer, attempt=answer.attempt or decision.attempt)
    return decision


def _proved(instance: Instance, seconds: float) -> Decision:
    """What an exact search says. The earliest return asks less of it than the least travel, and decides as much."""
    objective = "makespan" if instance.timed else "travel"
    proof = prove(instance, seconds=seconds, objective=objective)
    judged = None if proof.tour is None else verify(instance, proof.tour)
    return Decision(judged if isinstance(judged, Solution) else None, proof.status == "infeasible")


def _searched(instance: Instance, seconds: float) -> Decision:
    """The first tour that local search finds, or the least late."""
    tours: list[tuple[int, ...]] = []

    def enough(tour: tuple[int, ...], _cost: float) -> None:
        tours.append(tour)
        raise _Enough

    with suppress(_Enough):
        tours.append(improve(instance, seconds=seconds, found=enough).tour)
    judged = verify(instance, tours[0])
    return Decision(judged) if isinstance(judged, Solution) else Decision(attempt=judged)


def share(part: float, until: float) -> float:
    """When a part of the time that is left will have passed."""
    now = time.monotonic()
    return now + part * max(until - now, 0.0)


class _Enough(Exception):
    """There is a tour, and a better one is not asked for."""
