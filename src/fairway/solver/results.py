"""What `solve` hands back."""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from fairway.judge import Rejection, Schedule, Solution
from fairway.problems.model import Objective
from fairway.solver.relaxed import Relaxed

Status = Literal["optimal", "feasible", "infeasible", "unknown"]
Method = Literal["plan", "policy", "local search", "exact search"]
"""What can bring a tour: the plan that was given, a trained policy, or one of the searches."""


@dataclass(frozen=True, slots=True)
class Improvement:
    """A better tour than any before: when it was found, what it costs by the objective, and what found it."""

    seconds: float
    cost: float
    method: Method


@dataclass(frozen=True, slots=True)
class Progress:
    """What is known while an instance is being solved: the best tour so far, and the bound."""

    seconds: float
    cost: float
    """Of the tour by the objective; infinite while there is none."""
    method: Method | None
    tour: tuple[int, ...] | None
    """As a search claims it: ask the judge before it is handed on."""
    lower_bound: float


Watch = Callable[[Progress], None]
"""Told of every better tour and of every better bound as it is found."""


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """The answer for one instance.

    Optimal: no tour is better than this one. Feasible: a tour the judge has accepted. Infeasible: it is proved that
    there is none, and `reason` says why. Unknown: none was found, which proves nothing. Without a tour,
    `attempt` is the least late order.
    """

    status: Status
    seconds: float
    """Of work on this instance; compiling, which happens once, is not counted."""
    objective: Objective
    lower_bound: float
    """No tour costs less by the objective; infinite where there is none."""
    solution: Solution | None = None
    """The tour with its schedule, as the judge has it."""
    method: Method | None = None
    """What found the tour."""
    trace: tuple[Improvement, ...] = ()
    """How the tour came about, each step better than the one before."""
    reason: str = ""
    """Why there is no tour, in a sentence, where the status is infeasible or unknown."""
    attempt: Rejection | None = None
    """Where no tour was found, or there is none: the least late order found, with every violation."""
    interrupted: bool = False
    """Whether Ctrl-C ended the search before its time."""
    relaxed: Relaxed | None = field(default=None, kw_only=True)
    """Where no tour was found, or there is none: a plan that gives something up, and what."""

    @property
    def tour(self) -> tuple[int, ...] | None:
        """The stops in order, or None."""
        return None if self.solution is None else self.solution.tour

    @property
    def cost(self) -> float:
        """Of travel, whatever the objective; infinite without a tour."""
        return math.inf if self.solution is None else self.solution.cost

    @property
    def makespan(self) -> float:
        """When the tour is back at the depot; infinite without a tour."""
        return math.inf if self.solution is None else self.solution.makespan

    @property
    def schedule(self) -> Schedule | None:
        """When each stop is served, or how deep the ship lies there."""
        return None if self.solution is None else self.solution.schedule

    @property
    def value(self) -> float:
        """What was minimised, prices of lateness and of stops left out included; infinite without a tour."""
        return math.inf if self.solution is None else self.solution.value

    @property
    def duration(self) -> float:
        """From the departure to the end of the tour; infinite without a tour."""
        return math.inf if self.solution is None else self.solution.duration

    @property
    def departure(self) -> float:
        """When the tour leaves the depot; infinite without a tour."""
        return math.inf if self.solution is None else self.solution.departure

    @property
    def lateness(self) -> float:
        """How late the tour is in all, where lateness has a price; infinite without a tour."""
        return math.inf if self.solution is None else self.solution.lateness

    @property
    def unserved(self) -> tuple[int, ...]:
        """The stops that the tour leaves out; none without a tour."""
        return () if self.solution is None else self.solution.unserved

    def to_dict(self) -> dict[str, Any]:
        """The result in plain lists, texts and numbers, ready for JSON; what is not known, or not finite, is None."""
        record = {
            "status": self.status,
            "objective": self.objective,
            "value": self.value,
            "cost": self.cost,
            "makespan": self.makespan,
            "duration": self.duration,
            "departure": self.departure,
            "lateness": self.lateness,
            "unserved": list(self.unserved),
            "lower_bound": self.lower_bound,
            "gap": self.gap,
            "seconds": self.seconds,
            "method": self.method,
            **tour_record(self.solution),
            "trace": [
                {"seconds": step.seconds, "value": step.cost, "method": step.method}
                for step in self.trace
            ],
            "reason": self.reason,
            "attempt": attempt_record(self.attempt),
            "relaxed": relaxed_record(self.relaxed),
            "interrupted": self.interrupted,
        }
        return {key: _finite(value) for key, value in record.items()}

    @property
    def gap(self) -> float:
        """By which part the tour may be dearer than the best one: 0 where it is optimal."""
        if self.status == "optimal":
            return 0.0
        known = self.solution is not None and self.lower_bound > 0
        return self.value / self.lower_bound - 1 if known else math.inf


def _finite(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def tour_record(solution: Solution | None) -> dict[str, Any]:
    """A tour and its schedule, ready for JSON."""
    if solution is None:
        return {"tour": None, "schedule": None}
    columns = asdict(solution.schedule)
    schedule = {name: [*map(_finite, column.tolist())] for name, column in columns.items()}
    return {"tour": list(solution.tour), "schedule": schedule}


def attempt_record(attempt: Rejection | None) -> dict[str, Any] | None:
    """A tour that was refused, with every reason, ready for JSON."""
    if attempt is None:
        return None
    violations = [asdict(violation) for violation in attempt.violations]
    return {"tour": list(attempt.tour), "violations": violations}


def relaxed_record(relaxed: Relaxed | None) -> dict[str, Any] | None:
    """A plan that gives something up, ready for JSON."""
    if relaxed is None:
        return None
    return {
        "how": relaxed.how,
        "given_up": list(relaxed.given_up),
        "unserved": list(relaxed.solution.unserved),
        "lateness": relaxed.solution.lateness,
        **tour_record(relaxed.solution),
    }
