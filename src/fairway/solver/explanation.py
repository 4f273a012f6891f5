"""Why there is no tour: which stops collide, by how much, and which single change would help."""

import time
from dataclasses import dataclass
from typing import Literal

from fairway.errors import InvalidRequest
from fairway.judge import Rejection, Solution
from fairway.problems.instance import Instance
from fairway.solver.conflict import conflict_of, impossible
from fairway.solver.decision import decide
from fairway.solver.obstacles import Conflict
from fairway.solver.repair import Repair, repair_of
from fairway.solver.request import Request, checked_seconds
from fairway.solver.warmup import warm_up

DECIDING, NARROWING = 0.4, 0.4
"""Of the time, what may go into the question itself, and of what is left, into the set of stops."""
AGAIN = 30.0
"""Seconds in which a set must be proved once more to collide; else all stops are named, of which it is known."""


@dataclass(frozen=True, slots=True, eq=False)
class Explanation:
    """What stands in the way of a tour, or the tour that shows that nothing does; `print` it to read it."""

    status: Literal["feasible", "infeasible", "unknown"]
    why: str
    """In a sentence."""
    stops: tuple[int, ...] = ()
    """Where there is no tour: stops that cannot be served together, even if all others are left out."""
    repair: Repair | None = None
    """The smallest change of a single window or draft that was found to make a tour possible."""
    advice: str = ""
    """The repair in a sentence."""
    solution: Solution | None = None
    """Where there is a tour: the one that was found."""
    attempt: Rejection | None = None
    """Where nothing is known: the least late sequence, with every violation."""

    def __str__(self) -> str:
        lines = [f"{self.status}: {self.why}", self.advice]
        if self.solution is not None:
            lines.append("tour: " + " > ".join(map(str, (0, *self.solution.tour, 0))))
        if self.attempt is not None:
            lines.append("least late: " + " > ".join(map(str, (0, *self.attempt.tour, 0))))
            lines += [f"- {violation.why}" for violation in self.attempt.violations]
        return "\n".join(line for line in lines if line)


def explain(instance: Instance, seconds: float = 10.0) -> Explanation:
    """Say why an instance has no tour: the stops that collide, and the smallest change of one limit that would help.

    An instance that has a tour gets it, not the best one; where neither is found out in time, the least late sequence.

    Args:
        instance: Any instance.
        seconds: In all; most explanations take a fraction of a second.
    """
    if not isinstance(instance, Instance):
        raise InvalidRequest("explain takes one instance at a time; index a set to get one")
    seconds = checked_seconds(seconds)
    objective = "makespan" if instance.problem == "tsptw" else "travel"
    warm_up([instance], Request(objective=objective))
    began = time.monotonic()
    decision = decide(instance, began + DECIDING * seconds)
    if decision.solution is not None:
        return Explanation(
            "feasible", "there is a tour that keeps every limit", solution=decision.solution
        )
    if decision.impossible:
        return _explained(instance, began + seconds)
    why = "no tour was found, and none proved impossible, in the time"
    return Explanation("unknown", why, attempt=decision.attempt)


def _explained(instance: Instance, until: float) -> Explanation:
    """Of an instance without a tour."""
    now = time.monotonic()
    conflict = conflict_of(instance, now + NARROWING * (until - now))
    if not impossible(instance, conflict.stops, AGAIN):
        everyone = tuple(range(1, instance.nodes))
        conflict = Conflict(everyone, "a search over all orders found none that keeps every limit")
    repair = repair_of(instance, conflict.stops, until)
    advice = "" if repair is None else repair.words(instance)
    return Explanation("infeasible", conflict.why, conflict.stops, repair, advice)
