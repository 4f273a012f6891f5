"""A plan in the shape of VROOM's solutions, for programs that read those.

Where the instance was read from a VROOM problem, its ids, types, descriptions and places are VROOM's own, which the
source carries as columns. Otherwise jobs are called by their node.
"""

from typing import Any

from fairway.outputs.layout import laid_out
from fairway.outputs.plan import Plan, Step, name_of

Record = dict[str, Any]
METRES = {"m": 1.0, "km": 1000.0, "mi": 1609.344}


def render(plan: Plan) -> str:
    """One route of one vehicle; all numbers whole, and times in seconds where the instance has a clock."""
    instance, seconds = plan.instance, _unit(plan)
    steps = [_step(plan, step, seconds) for step in plan.steps if not _nowhere(plan, step)]
    same = instance.cost is instance.travel
    cost = round(plan.steps[-1].cost * (seconds if same else 1.0))
    sums = {key: sum(step[key] for step in steps) for key in ("setup", "service", "waiting_time")}
    sums |= {"duration": round(plan.steps[-1].driven * seconds), "priority": _priority(plan)}
    sums |= {key: steps[-1][key] for key in ("distance",) if steps and key in steps[-1]}
    broken = [each for step in steps for each in step["violations"]]
    vehicle = _number(plan, 0, 0)
    route = {"vehicle": vehicle, "cost": cost, **sums, "steps": steps, "violations": broken}
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


def _column(plan: Plan, name: str, node: int) -> str:
    """What a column of the user's file says of a node; nothing where there is none."""
    source = plan.instance.source
    texts = None if source is None else source.columns.get(name)
    return "" if texts is None else texts[node]


def _number(plan: Plan, node: int, otherwise: int) -> int:
    """The id of a node in the user's file, where that is a number."""
    source = plan.instance.source
    known = "" if source is None or source.ids is None else source.ids[node]
    return int(known) if known.isdecimal() else otherwise


def _nowhere(plan: Plan, step: Step) -> bool:
    """Whether it is the start of a vehicle that starts at its first task, which VROOM does not list."""
    return (
        step.kind == "start"
        and bool(_column(plan, "type", 0))
        and not plan.instance.travel[0].any()
    )


def _step(plan: Plan, step: Step, seconds: float) -> Record:
    """The start, a task, a break or the end; `arrival` is before waiting, `duration` the travel so far."""
    leaving = step.kind == "start"  # which VROOM has as the moment of departure
    moments = (step.departure,) * 3 if leaving else (step.arrival, step.start, step.departure)
    arrival, start, departure = (round(each * seconds) for each in moments)
    late = round(step.late * seconds)
    if step.kind == "break":
        head: Record = {"type": "break", "id": step.number}
    elif step.node is not None and step.kind == "stop":
        head = _task(plan, step.node)
        head |= {"job": head["id"]} if head["type"] == "job" else {}
    else:
        head = {"type": step.kind, **_place(plan, step.node or 0)}
    setup = min(_setup(plan, step), departure - start)
    return {
        **head,
        "setup": setup,
        "service": departure - start - setup,
        "waiting_time": start - arrival,
        **({"load": [round(_on_leaving(plan, step))]} if plan.instance.laden else {}),
        "arrival": arrival,
        "duration": round(step.driven * seconds),
        **_distance(plan, step),
        "violations": [{"cause": "delay", "duration": late}] if late else [],
    }


def _task(plan: Plan, node: int) -> Record:
    """A job, a pickup or a delivery."""
    pairs = plan.instance.pairs
    kind = _column(plan, "type", node) or "job"
    if kind == "job" and node in {pickup for pickup, _ in pairs}:
        kind = "pickup"
    elif kind == "job" and node in {delivery for _, delivery in pairs}:
        kind = "delivery"
    own = bool(_column(plan, "type", node))
    said = _column(plan, "description", node) if own else name_of(plan.instance, node)
    description = {"description": said} if said else {}
    return {
        "type": kind, "id": _number(plan, node, node), **description, **_place(plan, node)
    }  # fmt: skip


def _place(plan: Plan, node: int) -> Record:
    """Coordinates where there are any, and the row of the matrix."""
    points, row = plan.instance.coordinates, _column(plan, "location_index", node)
    location = {} if points is None else {"location": points[node].tolist()}
    if row.isdecimal():
        return {**location, "location_index": int(row)}
    return location or {"location_index": node}


def _setup(plan: Plan, step: Step) -> int:
    """Setup is part of the service, unless several tasks are at one place, where it is part of the way."""
    if step.kind != "stop" or step.node is None:
        return 0
    text, place = _column(plan, "setup", step.node), _place(plan, step.node)
    nodes = range(plan.instance.nodes)
    alone = sum(_place(plan, node) == place for node in nodes) == 1 if text else False
    return int(text) if text.isdecimal() and alone else 0


def _distance(plan: Plan, step: Step) -> Record:
    """In metres, where distances are known."""
    source = plan.instance.source
    unit = None if source is None else METRES.get(source.distance_unit)
    return (
        {} if unit is None or step.distance is None else {"distance": round(step.distance * unit)}
    )


def _priority(plan: Plan) -> int:
    """The sum of the priorities of all tasks that are served, where the user's file has a column of them."""
    texts = [_column(plan, "priority", step.node) for step in plan.stops if step.node]
    return sum(int(text) for text in texts if text.isdecimal())


def _on_leaving(plan: Plan, step: Step) -> float:
    """The load after a step."""
    shrinks = plan.instance.load == "shrinking" and step.kind != "break" and step.node
    return step.load - float(plan.instance.demand[step.node]) if shrinks else step.load
