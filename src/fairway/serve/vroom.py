"""VROOM's problem with one vehicle, solved as VROOM means it."""

from typing import Any

from fairway.errors import InvalidRequest
from fairway.judge import Solution, verify
from fairway.outputs import vroom
from fairway.outputs.plan import plan_of
from fairway.problems.files.legs import Beside
from fairway.problems.files.vroom import parse, recognises
from fairway.problems.instance import Instance
from fairway.serve.solving import Tell, solve_told
from fairway.solver.request import Request


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
    return parse(text, "", None, Beside(speed=speed))


def solution_of(instance: Instance, seconds: float, tell: Tell | None) -> dict[str, Any]:
    """VROOM's solution: it leaves as late as helps; where no tour is found, nothing is served."""
    request = Request(seconds, policy=None, relax="none")
    tour = solve_told(instance, request, None, tell).tour
    if tour is None:
        return vroom.nothing(instance)
    judged = verify(instance, tour, objective="duration")
    assert isinstance(judged, Solution), "what was solved is what is asked"
    return vroom.record(plan_of(instance, judged))
