"""What a search makes as little as it can."""

from typing import Literal

from fairway.errors import InvalidRequest
from fairway.problems.instance import Instance

Objective = Literal["travel", "makespan"]
MARGIN = 1e-10
"""By which part of its cost a tour must be better than another to count: less is lost in rounding."""


def is_makespan(instance: Instance, objective: str) -> bool:
    """Whether the earliest return is asked for, not the least travel; refused where it cannot be."""
    if objective not in {"travel", "makespan"}:
        raise InvalidRequest(f"the objective is {objective!r}; expected travel or makespan")
    if objective == "makespan" and not instance.timed:
        raise InvalidRequest(
            "a makespan was asked of draft limits; expected an instance with time windows"
        )
    return objective == "makespan"
