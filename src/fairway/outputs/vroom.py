"""A plan in the shape of VROOM's solutions, for programs that read those."""

from typing import Any

from fairway.outputs.layout import laid_out
from fairway.outputs.plan import Plan, Step, name_of

Record = dict[str, Any]
SUMS = ("setup", "service", "duration", "waiting_time", "priority")


def render(plan: Plan) -> str:
    """One route of one vehicle; all numbers whole, and times in seconds where the instance has a clock."""
    instance, seconds = plan.instance, _unit(plan)
    steps = [_step(plan, step, seconds) for step in plan.steps]
    same = instance.cost is instance.travel
    cost = round(plan.steps[-1].cost * (seconds if same else 1.0))
    sums = {key: sum(step[key] for step in steps) for key in SUMS if key in steps[0]}
    sums |= {"duration": steps[-1]["duration"], "priority": _priority(plan)}
    broken = [each for step in steps for each in step["violations"]]
    route = {"vehicle": 0, "cost": cost, **sums, "steps": steps, "violations": broken}
    summary = {"cost": cost, "routes": 1, "unassigned": len(plan.unserved), **sums}
    whole = {
        "code": 0,
        "summary": {**summary, "violations": broken},
        "unassigned": [_task(plan, node) for node in plan.unserved],
        "routes": [route],
    }
    return laid_out(whole) + "\n"


def _unit(plan: Plan) -> float:
    source = plan.instance.source
    return 1.0 if source is None or source.clock is None else source.clock.unit


def _step(plan: Plan, step: Step, seconds: float) -> Record:
    """The start, a task, a break or the end; `arrival` is before waiting, `duration` the travel so far."""
    instance = plan.instance
    leaving = step.kind == "start"  # which VROOM has as the moment of departure
    moments = (step.departure,) * 3 if leaving else (step.arrival, step.start, step.departure)
    arrival, start, departure = (round(each * seconds) for each in moments)
    late = round(step.late * seconds)
    place = {} if step.node is None else _place(plan, step.node)
    if step.kind == "stop":
        assert step.node is not None
        head = _task(plan, step.node)
        head |= {"job": head["id"]} if head["type"] == "job" else {}
    elif step.kind == "break":
        head = {"type": "break", "id": step.number}
    else:
        head = {"type": step.kind, **place}
    load = [round(_on_leaving(plan, step))] if instance.laden else []
    return {
        **head,
        "setup": 0,
        "service": departure - start,
        "waiting_time": start - arrival,
        **({"load": load} if load else {}),
        "arrival": arrival,
        "duration": round(step.driven * seconds),
        "violations": [{"cause": "delay", "duration": late}] if late else [],
    }


def _task(plan: Plan, node: int) -> Record:
    """A job, a pickup or a delivery, by the number that the user's file has for it."""
    pairs = plan.instance.pairs
    kind = "job"
    if node in {pickup for pickup, _ in pairs}:
        kind = "pickup"
    elif node in {delivery for _, delivery in pairs}:
        kind = "delivery"
    source = plan.instance.source
    known = None if source is None or source.ids is None else source.ids[node]
    number = int(known) if known is not None and known.isdecimal() else node
    return {
        "type": kind,
        "id": number,
        "description": name_of(plan.instance, node),
        **_place(plan, node),
    }


def _place(plan: Plan, node: int) -> Record:
    """Coordinates where there are any, and the row of the travel matrix."""
    points = plan.instance.coordinates
    location = {} if points is None else {"location": points[node].tolist()}
    return {**location, "location_index": node}


def _priority(plan: Plan) -> int:
    """The sum of the priorities of all tasks that are served, where the user's file has a column of them."""
    source = plan.instance.source
    given = None if source is None else source.columns.get("priority")
    texts = [] if given is None else [given[step.node] for step in plan.stops if step.node]
    return sum(int(text) for text in texts if text.isdecimal())


def _on_leaving(plan: Plan, step: Step) -> float:
    """The load after a step."""
    shrinks = plan.instance.load == "shrinking" and step.kind != "break" and step.node
    return step.load - float(plan.instance.demand[step.node]) if shrinks else step.load
