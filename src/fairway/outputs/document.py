"""A plan as JSON: the result in plain values, and its steps with names, clock times and further columns."""

import math
from typing import Any

from fairway.judge import Solution
from fairway.outputs.layout import laid_out
from fairway.outputs.plan import Plan, Step, name_of
from fairway.outputs.words import Answer

AMOUNTS = ("arrival", "wait", "start", "departure", "late", "load", "driven", "cost", "distance")


def record(plan: Plan, answer: Answer | Solution) -> dict[str, Any]:
    """What is said of a plan besides the result itself: when to leave, and its steps."""
    instance = plan.instance
    found = _judged(answer) if isinstance(answer, Solution) else answer.to_dict()
    head = {"name": instance.name, "problem": instance.problem, "nodes": instance.nodes}
    return {**head, **found, **steps_record(plan)}


def steps_record(plan: Plan | None) -> dict[str, Any]:
    """When to leave, each step, and each stop left out; all null where there is no tour."""
    if plan is None:
        return dict.fromkeys(("departure", "latest_departure", "steps", "left_out"))
    return {
        "departure": _finite(plan.departure),
        "latest_departure": _finite(plan.latest_departure),
        "steps": [_step(plan, step) for step in plan.steps],
        "left_out": [
            {"node": node, "name": name_of(plan.instance, node), **_source(plan, node)}
            for node in plan.unserved
        ],
    }


def render(plan: Plan, answer: Answer | Solution) -> str:
    """The document of a plan."""
    return laid_out(record(plan, answer)) + "\n"


def _step(plan: Plan, step: Step) -> dict[str, Any]:
    """One step; `clock` has its times as they are read, where they came in so."""
    amounts = {key: _finite(getattr(step, key)) for key in AMOUNTS}
    source = plan.instance.source
    clock = None if source is None else source.clock
    shown = {}
    if clock is not None:
        times = ("arrival", "start", "departure")
        shown = {"clock": {key: clock.show(getattr(step, key)) for key in times}}
    head = {"kind": step.kind, "node": step.node, "name": step.name}
    return {**head, **amounts, **shown, **_source(plan, step.node)}


def _source(plan: Plan, node: int | None) -> dict[str, Any]:
    """The id and the further columns of the user's file."""
    source, found = plan.instance.source, {}
    if source is None or node is None:
        return {}
    if source.ids is not None:
        found["id"] = source.ids[node]
    if source.columns:
        found["columns"] = {name: texts[node] for name, texts in source.columns.items()}
    return found


def _judged(solution: Solution) -> dict[str, Any]:
    keys = ("value", "cost", "makespan", "duration", "lateness")
    amounts = {key: _finite(getattr(solution, key)) for key in keys}
    return {**amounts, "unserved": list(solution.unserved), "tour": list(solution.tour)}


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else value
