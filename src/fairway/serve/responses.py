"""What comes back, as the OpenAPI document describes it; and how that document is completed."""

from typing import Any, Literal

from fastapi import FastAPI
from pydantic import BaseModel, ConfigDict

from fairway.serve.settings import Limits

TEMPLATE = "#/components/schemas/{model}"
Number = float | None


class Open(BaseModel):
    """A document of which the most important keys are described."""

    model_config = ConfigDict(extra="allow")


class Refusal(BaseModel):
    """Why a request is not served."""

    error: str


class Step(Open):
    """One row of a plan: the start, a stop, a break or the end."""

    kind: Literal["start", "stop", "break", "end"]
    node: int | None
    name: str
    arrival: Number
    wait: Number
    start: Number
    departure: Number
    late: Number
    load: Number


class Improvement(BaseModel):
    """A better plan than any before: when it was found, its value, and what found it."""

    seconds: float
    value: float
    method: str


class Conflict(BaseModel):
    """Stops that cannot be served together."""

    stops: list[int]
    names: list[str]
    why: str


class Plan(Open):
    """A plan, or what is in its way; docs/planning.md has every key."""

    status: Literal["optimal", "feasible", "infeasible", "unknown"]
    words: str
    value: Number
    lower_bound: Number
    gap: Number
    tour: list[int] | None
    steps: list[Step] | None
    trace: list[Improvement]
    reason: str
    conflicts: list[Conflict] = []
    relaxed: dict[str, Any] | None


class Violation(BaseModel):
    """One broken rule: which, where, by how much, and in words."""

    kind: str
    node: int
    name: str
    amount: Number
    why: str


class Verdict(Open):
    """What the judge says of a tour."""

    feasible: bool
    value: Number
    cost: Number
    makespan: Number
    duration: Number
    lateness: Number
    unserved: list[int]
    steps: list[Step] | None
    departure: Number
    latest_departure: Number
    violations: list[Violation]


class Repair(Open):
    """One number that gives way, and the instance as it is then."""

    words: str
    node: int
    field: str
    to: Number
    instance: dict[str, Any]


class Explanation(Open):
    """Why there is no tour, and what would help."""

    status: Literal["feasible", "infeasible", "unknown"]
    why: str
    conflicts: list[Conflict]
    repairs: list[Repair]


class Converted(BaseModel):
    """An instance in Fairway's JSON format, and what is unusual about it."""

    instance: dict[str, Any]
    warnings: list[str]


class Example(BaseModel):
    """An instance to start from."""

    name: str
    title: str
    instance: dict[str, Any]


class Accepted(BaseModel):
    """A job that will be solved, whatever happens."""

    id: str
    status: str


class Summary(Accepted):
    """A job without what it found."""

    created: str
    started: str | None
    ended: str | None
    error: str | None


class Job(Summary):
    """A job: waiting, running, done, stopped or failed."""

    result: Plan | None
    trace: list[Improvement]


class Jobs(BaseModel):
    """Jobs, the newest first."""

    jobs: list[Summary]
    next: int | None


class Health(Open):
    """How the service is."""

    status: str
    ready: bool


class Vroom(Open):
    """A solution as VROOM's own API has it."""

    code: int
    summary: dict[str, Any]
    unassigned: list[dict[str, Any]]
    routes: list[dict[str, Any]]


class VroomRefusal(Refusal):
    """Why a problem is not solved; the code is VROOM's: 2 for what is wrong with it, 1 for the service's own fault."""

    code: int


VROOM_BODY = {
    "requestBody": {
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "properties": {"vehicles": {"type": "array"}},
                    "required": ["vehicles"],
                }
            }
        },
        "required": True,
    }
}
NOT_FOUND = {"model": Refusal, "description": "There is no such job; it may have expired"}
_BODIES: list[type[BaseModel]] = []


def body(model: type[BaseModel]) -> dict[str, Any]:
    """What an endpoint that reads its body itself says of it."""
    _BODIES.append(model)
    schema = {"$ref": TEMPLATE.format(model=model.__name__)}
    return {"requestBody": {"content": {"application/json": {"schema": schema}}, "required": True}}


def complete(app: FastAPI) -> None:
    """Add the bodies to the document, once it is asked for."""
    plain = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = plain()
            for told in (told for path in document["paths"].values() for told in path.values()):
                told["responses"].pop("422", None)  # what FastAPI says; ours is 400
            schemas = document["components"]["schemas"]
            for model in _BODIES:
                found = model.model_json_schema(ref_template=TEMPLATE)
                schemas |= found.pop("$defs", {})
                schemas[model.__name__] = found
            schemas.pop("HTTPValidationError", None)
            schemas.pop("ValidationError", None)
        assert app.openapi_schema is not None
        return app.openapi_schema

    app.openapi = openapi  # pyrefly: ignore[bad-assignment]


def vroom(refusals: dict[int | str, dict[str, Any]]) -> dict[int | str, dict[str, Any]]:
    """The same refusals in the shape of VROOM's."""
    return {
        status: {**told, "model": VroomRefusal}
        for status, told in refusals.items()
        if status != 401
    } | {401: refusals[401]}


def limits(values: Limits) -> dict[str, float]:
    """What a request may ask for at most."""
    return {"stops": values.max_stops, "seconds": values.max_seconds, "body": values.max_body}
