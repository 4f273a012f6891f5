"""What is asked of the solver, checked before any work begins."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np

from fairway.errors import InvalidRequest, InvalidTour
from fairway.judge import verify
from fairway.problems.instance import Instance, check_supported
from fairway.problems.model import Objective, is_makespan
from fairway.solver.warm_start import Choice, default_policy, model_at

Plan = Sequence[Any] | np.ndarray
"""A tour to start from."""


@dataclass(frozen=True, slots=True)
class Request:
    """How long to work on an instance, and for what."""

    seconds: float = 1.0
    iterations: int | None = None
    """Of local search; where they are given, the clock plays no part, so that the answer is always the same."""
    seed: int = 0
    objective: Objective = "travel"
    policy: Choice = None
    """Who proposes first tours."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "seconds", checked_seconds(self.seconds))
        if self.iterations is not None:
            check_whole("iterations", self.iterations)
        check_whole("the seed", self.seed)

    @property
    def patience(self) -> float:
        """Seconds that an instance may take."""
        return self.seconds if self.iterations is None else math.inf

    def guide(self, instance: Instance) -> Path | None:
        """The policy that proposes first tours for it, if there is to be one.

        With iterations the usual one is not used: what a network says differs a little between machines, and so would
        the answers.
        """
        if self.policy != "auto":
            return self.policy
        return default_policy(instance, self.seconds) if self.iterations is None else None

    def check(self, instance: object) -> None:
        """That this can be asked of the instance."""
        if not isinstance(instance, Instance):
            raise InvalidRequest(
                f"solve takes an instance, or a list of them; this is a {type(instance).__name__}"
            )
        check_supported(instance)
        is_makespan(instance, self.objective)
        if isinstance(self.policy, Path):
            model_at(self.policy).check(instance)


def checked_seconds(seconds: float) -> float:
    """A budget as a float, which may be infinite."""
    if not isinstance(seconds, Real) or not seconds >= 0:
        raise InvalidRequest(f"seconds is {seconds!r}; expected a number, zero or more")
    try:
        return float(seconds)
    except OverflowError:
        return math.inf


def check_whole(name: str, value: object, least: int = 0) -> None:
    """Refuse what is no whole number of that size."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InvalidRequest(f"{name} is {value!r}; expected a whole number, {least} or more")


def checked_plan(instance: Instance, plan: Plan) -> tuple[int, ...]:
    """The plan as a tour: it may be late or too deep, but must name every stop once."""
    judged = verify(instance, plan)
    if judged.schedule is None:
        raise InvalidTour(f"the initial plan is not a tour: {judged.violations[0].why}")
    return judged.tour
