"""What is asked of the solver, checked before any work begins."""

import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from fairway.errors import InvalidRequest, InvalidTour
from fairway.given import is_real, is_whole, is_word_of, listed, shown
from fairway.judge import Rejection, verify
from fairway.problems.instance import Instance
from fairway.problems.model import Objective, check_objective, has_model
from fairway.solver.relaxed import Relax
from fairway.solver.warm_start import Choice, default_policy, guided_tours, model_at, unsuited

Plan = Sequence[Any] | np.ndarray
"""A tour to start from."""
Drop = Literal["price", "fewest"]
"""Which optional stops are left out: those that the value is least without, or as few as can be, then the cheapest."""


Device = Literal["cpu", "cuda"]
"""Where many instances are searched."""


@dataclass(frozen=True, slots=True)
class Request:
    """How long to work on an instance, and for what."""

    seconds: float = 1.0
    iterations: int | None = None
    """Of local search; where they are given, the clock plays no part, so that the answer is always the same."""
    seed: int = 0
    objective: Objective = "cost"
    policy: Choice = None
    """Who proposes first tours."""
    drop: Drop = "price"
    relax: Relax = "drop"
    """What a plan may give up where no tour keeps everything."""
    fixed: tuple[int, ...] = ()
    """The stops that every tour must begin with."""
    gap: float = 0.0
    """The search may stop once the tour is proved to be dearer than the best one by this part at most."""
    device: Device = "cpu"
    """On "cuda" the seconds are for all instances that are searched together."""

    def __post_init__(self) -> None:
        check_objective(self.objective)
        if not is_word_of(self.relax, get_args(Relax)):
            raise InvalidRequest(f"relax is {shown(self.relax)}; expected drop, late or none")
        if not is_word_of(self.drop, get_args(Drop)):
            raise InvalidRequest(f"drop is {shown(self.drop)}; expected price or fewest")
        if not is_word_of(self.device, get_args(Device)):
            raise InvalidRequest(f"there is no device {shown(self.device)}; expected cpu or cuda")
        object.__setattr__(self, "seconds", checked_seconds(self.seconds))
        object.__setattr__(self, "gap", checked_gap(self.gap))
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
        if isinstance(self.policy, Path):
            apart = not instance.classic and unsuited(instance, self.policy)
            return None if apart else self.policy
        usual = instance.classic and self.plain(instance)
        unasked = self.policy == "auto" and self.iterations is None and usual
        return default_policy(instance, self.seconds) if unasked else None

    def first_tours(self, instance: Instance, seconds: float) -> Iterator[tuple[int, ...]]:
        """What a policy proposes within a part of the time, where there is one."""
        guide = self.guide(instance)
        return iter(()) if guide is None else guided_tours(instance, guide, seconds, self.seed)

    def check(self, instance: object) -> None:
        """That this can be asked of the instance."""
        if not isinstance(instance, Instance):
            raise InvalidRequest(
                f"solve takes an instance, or a list of them; this is a {type(instance).__name__}"
            )
        if not isinstance(self.policy, Path):
            return
        if instance.classic:
            model_at(self.policy).check(instance)
        elif why := unsuited(instance, self.policy):
            print(
                f"fairway: {self.policy.name} cannot propose tours here, since {why}; going without",
                file=sys.stderr,
            )

    def plain(self, instance: Instance) -> bool:
        """Whether the searches of the classic problems serve it, with this objective."""
        timed = instance.timed and instance.classic
        served = ("cost", "travel", "makespan") if timed else ("cost", "travel")
        return has_model(instance) and self.objective in served


def checked_seconds(seconds: float) -> float:
    """A budget as a float, which may be infinite."""
    if not is_real(seconds) or not seconds >= 0:
        raise InvalidRequest(f"seconds is {shown(seconds)}; expected a number, zero or more")
    try:
        return float(seconds)
    except OverflowError:
        return math.inf


def checked_gap(gap: float) -> float:
    """A gap as a float."""
    if not is_real(gap) or not 0 <= gap <= sys.float_info.max:
        raise InvalidRequest(
            f"gap is {shown(gap)}; expected a part of the cost such as 0.01, zero or more"
        )
    return float(gap)


def checked_beginning(fixed: object) -> tuple[int, ...]:
    """The stops that a tour must begin with; whether the instance has them is seen later."""
    stops = listed(fixed)
    if stops is None or not all(map(is_whole, stops)):
        raise InvalidRequest(
            f"fixed is {shown(fixed)}; expected numbers of stops in the order in which they are served"
        )
    return tuple(map(int, stops))


def check_whole(name: str, value: object, least: int = 0) -> None:
    """Refuse what is no whole number of that size."""
    if not is_whole(value) or value < least:
        raise InvalidRequest(f"{name} is {shown(value)}; expected a whole number, {least} or more")


def checked_plan(instance: Instance, plan: Plan) -> tuple[int, ...]:
    """The plan as a tour: it may be late or too deep, but must name every stop once."""
    judged = verify(instance, plan)
    if judged.schedule is None and isinstance(judged, Rejection):
        raise InvalidTour(f"the initial plan is not a tour: {judged.violations[0].why}")
    return judged.tour
