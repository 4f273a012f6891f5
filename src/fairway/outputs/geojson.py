"""A plan as GeoJSON: a point per step with its times, and a line for the tour, for any map."""

from typing import Any

from fairway.errors import InvalidRequest
from fairway.judge import Solution
from fairway.outputs.document import record
from fairway.outputs.layout import laid_out
from fairway.outputs.plan import Plan
from fairway.outputs.words import Answer
from fairway.problems.instance import Instance

LARGE = ("tour", "schedule", "trace", "attempt", "steps", "left_out")
"""What is said by the features themselves, or is none of the tour's properties."""


def render(plan: Plan, answer: Answer | Solution) -> str:
    """A FeatureCollection; breaks, which are nowhere in particular, have no geometry."""
    instance, said = plan.instance, record(plan, answer)
    points = points_of(instance)
    line = [points[step.node] for step in plan.steps if step.node is not None]
    tour = {key: value for key, value in said.items() if key not in LARGE}
    features = [_feature("LineString", line if len(line) > 1 else None, {"kind": "tour", **tour})]
    for number, step in enumerate(said["steps"]):
        where = None if step["node"] is None else points[step["node"]]
        features.append(_feature("Point", where, {"step": number, **step}))
    for stop in said["left_out"]:
        features.append(_feature("Point", points[stop["node"]], {"kind": "left out", **stop}))
    source = instance.source
    degrees = source is not None and source.geographic
    meaning = "longitude, latitude" if degrees else "x, y of the instance, no degrees"
    whole = {"type": "FeatureCollection", "coordinates_are": meaning, "features": features}
    return laid_out(whole) + "\n"


def points_of(instance: Instance) -> list[list[float]]:
    """Where the nodes are; an instance that does not say is refused."""
    if instance.coordinates is None:
        raise InvalidRequest(
            "GeoJSON needs coordinates, and the instance has travel alone; write .json or .csv"
        )
    return instance.coordinates.tolist()


def _feature(kind: str, where: list[Any] | None, properties: dict[str, Any]) -> dict[str, Any]:
    """One feature; further columns of the user's file are properties like any other."""
    given = properties.pop("columns", {})
    flat = {**{name: text for name, text in given.items() if name not in properties}, **properties}
    geometry = None if where is None else {"type": kind, "coordinates": where}
    return {"type": "Feature", "geometry": geometry, "properties": flat}
