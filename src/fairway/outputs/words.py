"""Times, spans and standings as people read them."""

import math
from typing import Any, Protocol, runtime_checkable

from fairway.errors import InvalidRequest
from fairway.judge import Solution
from fairway.outputs.plan import Plan, plan_of
from fairway.problems.instance import Instance


@runtime_checkable
class Answer(Protocol):
    """What `solve` hands back, as far as outputs need it."""

    @property
    def solution(self) -> Solution | None:
        """The tour with its schedule."""

    @property
    def status(self) -> str:
        """Optimal, feasible, infeasible or unknown."""

    @property
    def gap(self) -> float:
        """By which part the tour may be dearer than the best one."""

    @property
    def reason(self) -> str:
        """Why there is no tour."""

    def to_dict(self) -> dict[str, Any]:
        """All of it in plain values."""


def planned(instance: Instance, answer: Answer | Solution) -> Plan:
    """The plan of an answer; one without a tour is refused."""
    solution = answer if isinstance(answer, Solution) else answer.solution
    if solution is None:
        assert not isinstance(answer, Solution)
        raise InvalidRequest(
            f"there is no tour to write, since the result is {answer.status}: {answer.reason}"
        )
    return plan_of(instance, solution)


def standing(status: str, gap: float) -> str:
    """How good a tour is known to be: optimal, within some percent of the best, or just feasible."""
    if status != "feasible" or not gap < 1:
        return status
    return f"within {_rounded_up(100 * gap)} %"


def _rounded_up(percent: float) -> str:
    """To two digits, never less."""
    if percent <= 0:
        return "0"
    digits = max(0, 1 - math.floor(math.log10(percent)))
    return f"{math.ceil(percent * 10**digits - 1e-9) / 10**digits:.{digits}f}"


def number(value: float) -> str:
    """To a thousandth, or to six digits where it is small."""
    text = f"{value:.3f}" if abs(value) >= 1 else f"{value:.6g}"
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


def time(instance: Instance, value: float) -> str:
    """A moment: on the clock where times came in so."""
    clock = None if instance.source is None else instance.source.clock
    return number(value) if clock is None or math.isinf(value) else clock.show(value)


def span(instance: Instance, value: float, *, brief: bool = False) -> str:
    """A stretch of time: hours and minutes where times came in on the clock, else a number, brief or not."""
    clock = None if instance.source is None else instance.source.clock
    if clock is None or math.isinf(value):
        return f"{value:.3g}" if brief and abs(value) < 1000 else number(value)
    return clock.lasting(value)
