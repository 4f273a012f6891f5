"""What a worker process does: one function per verb, from the body of a request to the body of its answer."""

import datetime
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from fairway import outputs
from fairway.errors import InvalidRequest
from fairway.judge import Rejection, verify
from fairway.problems.files import tours, written
from fairway.problems.instance import Instance
from fairway.serve import documents, examples
from fairway.serve.documents import dumped
from fairway.serve.requests import (
    Convert,
    Explain,
    Solve,
    Stop,
    Verify,
    body_of,
    check_seconds,
    check_stops,
)
from fairway.serve.settings import Limits
from fairway.serve.solving import Tell, solve_told
from fairway.serve.vroom import problem_of, solution_of
from fairway.solver.explain.explanation import explain
from fairway.solver.request import Request, checked_plan

JSON = "application/json"
EXPLAINED = 5.0
"""Seconds at most for the conflicts of an instance that was proved to have no tour, out of what its search left."""
PLANS = {"csv": "csv", "json": "json", "geojson": "geojson", "ics": "ical", "vroom.json": "vroom"}
"""The outputs of a plan, by suffix."""
PICTURES = ("svg", "png")
SUFFIXES = {"rakke": "dat", "matrix": "txt", "solomon": "txt", "tsplib": "tsp"}
MEDIA = {
    "json": JSON,
    "vroom.json": JSON,
    "csv": "text/csv; charset=utf-8",
    "geojson": "application/geo+json",
    "ics": "text/calendar; charset=utf-8",
    "svg": "image/svg+xml",
    "png": "image/png",
    "npz": "application/octet-stream",
}


class Ask(NamedTuple):
    """A request as a worker gets it."""

    body: bytes
    limits: Limits
    tell: Tell | None
    """Who wants to hear of better plans on the way, if anybody."""
    options: dict[str, float]
    """What was asked for in the address."""


class Answer(NamedTuple):
    """The body of an answer, and how it is to be read."""

    payload: bytes
    media: str = JSON
    name: str = ""
    """Of the file that it is, where it is one."""
    trace: list[dict[str, object]] | None = None
    """How a tour came about, for a job."""


def solve(ask: Ask) -> Answer:
    """The plan document of the best tour found; where there is none, what is in the way."""
    asked = body_of(Solve, ask.body)
    check_seconds(asked.seconds, ask.limits)
    instance = asked.read(ask.limits)
    result = solve_told(
        instance, request_of(asked, instance), initial_of(asked, instance), ask.tell
    )
    found = documents.result_document(instance, result)
    left = min(EXPLAINED, asked.seconds - result.seconds)
    if result.status == "infeasible":
        named = explain(instance, left).conflicts if left > 0 and not result.interrupted else ()
        found["conflicts"] = [documents.conflict_document(instance, each) for each in named]
    return Answer(dumped(found), trace=found["trace"])


def check(ask: Ask) -> Answer:
    """Nothing, of a body that `solve` would take; anything else is refused."""
    asked = body_of(Solve, ask.body)
    check_seconds(asked.seconds, ask.limits)
    instance = asked.read(ask.limits)
    request_of(asked, instance)
    initial_of(asked, instance)
    return Answer(b"{}")


def judge(ask: Ask) -> Answer:
    """What the judge says of a tour."""
    asked = body_of(Verify, ask.body)
    instance = asked.read(ask.limits)
    judged = verify(instance, nodes_of(asked.tour, instance), objective=asked.objective)
    return Answer(dumped(documents.verdict_document(instance, judged)))


def why(ask: Ask) -> Answer:
    """Why there is no tour, and what would help."""
    asked = body_of(Explain, ask.body)
    check_seconds(asked.seconds, ask.limits)
    instance = asked.read(ask.limits)
    found = explain(instance, asked.seconds)
    return Answer(dumped(documents.explanation_document(instance, found)))


def convert(ask: Ask) -> Answer:
    """An instance, or the plan of a tour of it, in another format."""
    asked = body_of(Convert, ask.body)
    instance = asked.read(ask.limits)
    if asked.tour is not None:
        return _plan(asked, instance, nodes_of(asked.tour, instance))
    if asked.to == "json":
        notes = [sentence.strip() for sentence in instance.notes]
        found = {"instance": documents.instance_document(instance), "warnings": notes}
        return Answer(dumped(found))
    if asked.to in (*PICTURES, "geojson", "ics", "vroom.json"):
        raise InvalidRequest(f"{asked.to} is of a plan; give the 'tour' too")
    name = f"instance.{SUFFIXES.get(asked.to, asked.to)}"
    content = written(instance, Path(name), asked.to)
    return Answer(content, MEDIA.get(asked.to, "text/plain; charset=utf-8"), name)


def listed(_: Ask) -> Answer:
    """The examples to start from."""
    return Answer(dumped(examples.listed()))


def request_of(asked: Solve, instance: Instance) -> Request:
    """What is asked of the solver."""
    fixed = nodes_of(asked.fixed, instance)
    return Request(
        asked.seconds,
        None,
        asked.seed,
        asked.objective,
        None,
        asked.drop,
        asked.relax,
        fixed,
    )


def initial_of(asked: Solve, instance: Instance) -> tuple[int, ...] | None:
    """The order to start from, if one is given."""
    if asked.initial is None:
        return None
    return checked_plan(instance, nodes_of(asked.initial, instance))


def nodes_of(stops: Sequence[Stop], instance: Instance) -> tuple[int, ...]:
    """Stops as the user knows them, as node numbers."""
    return tours.resolve(stops, instance) if stops else ()


def _plan(asked: Convert, instance: Instance, tour: tuple[int, ...]) -> Answer:
    judged = verify(instance, tour, objective=asked.objective)
    if asked.to in PICTURES:
        from fairway.pictures import draw
        from fairway.pictures import rendered as drawn

        picture = drawn(draw(instance, tour), f".{asked.to}")
        return Answer(picture, MEDIA[asked.to], f"plan.{asked.to}")
    if asked.to not in PLANS:
        raise InvalidRequest(
            f"a plan is not written as {asked.to}; expected one of {', '.join((*PLANS, *PICTURES))}"
        )
    if isinstance(judged, Rejection):
        raise InvalidRequest(f"the tour is not feasible: {judged.violations[0].why}")
    text = outputs.rendered(instance, judged, PLANS[asked.to], _date(asked.date))
    content = text.encode("utf-8", "backslashreplace")
    return Answer(content, MEDIA[asked.to], f"plan.{asked.to}")


def _date(text: str | None) -> datetime.date | None:
    try:
        return None if text is None else datetime.date.fromisoformat(text)
    except ValueError as error:
        raise InvalidRequest("'date' is no day like 2026-11-18") from error


def vroom(ask: Ask) -> Answer:
    """VROOM's solution of VROOM's problem with one vehicle."""
    seconds, speed = ask.options["seconds"], ask.options.get("speed")
    check_seconds(seconds, ask.limits)
    began = time.monotonic()
    instance = check_stops(problem_of(ask.body, speed), ask.limits)
    times = {"loading": time.monotonic() - began, "routing": 0.0}
    found = solution_of(instance, seconds, ask.tell)
    times["solving"] = time.monotonic() - began - times["loading"]
    found["summary"]["computing_times"] = {key: round(1000 * each) for key, each in times.items()}
    return Answer(dumped(found))


Verb = Callable[[Ask], Answer]
"""From a request to its answer, telling on the way what is found."""
VERBS: dict[str, Verb] = {
    "solve": solve,
    "check": check,
    "verify": judge,
    "explain": why,
    "convert": convert,
    "examples": listed,
    "vroom": vroom,
}
