"""VROOM's problem with one vehicle, solved as VROOM means it."""

import math
from dataclasses import replace
from typing import Any

from fairway.errors import InvalidRequest
from fairway.judge import Solution, verify
from fairway.outputs import vroom
from fairway.outputs.plan import plan_of
from fairway.problems.files.legs import Beside
from fairway.problems.files.text import Unreadable
from fairway.problems.files.vroom import parse, recognises
from fairway.problems.instance import Instance
from fairway.serve.requests import of_body
from fairway.serve.solving import Tell, solve_told
from fairway.solver.request import Request

SLACK = 1e-6
"""By which a sum of seconds may fall short of the whole number that it is."""


def problem_of(body: bytes, speed: float | None) -> Instance:
    """The instance of a VROOM problem; where it has no matrices, places are reached at a speed in km/h."""
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidRequest("the body is not UTF-8 text; expected a problem of VROOM") from error
    if not recognises(text):
        raise InvalidRequest(
            "the body is no problem of VROOM; expected 'vehicles', and 'jobs' or 'shipments'"
        )
    try:
        return parse(text, "", None, Beside(speed=speed))
    except Unreadable as error:
        raise InvalidRequest(of_body(error)) from error


def solution_of(instance: Instance, seconds: float, tell: Tell | None) -> dict[str, Any]:
    """VROOM's solution; where no tour is found, nothing is served.

    It leaves as late as helps, unless breaks after the last stop would not fit then.
    """
    request = Request(seconds, policy=None, relax="none")
    tour = solve_told(instance, request, None, tell).tour
    if tour is None:
        return vroom.nothing(instance)
    late, early = (_told(instance, tour, objective) for objective in ("duration", "cost"))
    return late if vroom.breaks_in(late) >= vroom.breaks_in(early) else early


def _told(instance: Instance, tour: tuple[int, ...], objective: str) -> dict[str, Any]:
    judged = verify(instance, tour, objective=objective)
    assert isinstance(judged, Solution), "what was solved is what is asked"
    opens = instance.opens.copy()
    opens[0] = max(opens[0], math.floor(judged.departure + SLACK))
    if (
        opens[0] < judged.departure
    ):  # VROOM leaves at whole seconds, which rounds less of the travel up
        whole = verify(replace(instance, opens=opens), tour)
        judged = whole if isinstance(whole, Solution) else judged
    return vroom.record(plan_of(instance, judged))
