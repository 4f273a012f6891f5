"""A plan in the shape of VROOM's solutions, for programs that read those.

Where the instance was read from a VROOM problem, its ids, types, descriptions and places are VROOM's own, which the
source carries as columns. Otherwise jobs are called by their node.
"""

from typing import Any

from fairway.outputs.layout import laid_out
from fairway.outputs.plan import Plan, Step, name_of
from fairway.problems.instance import Instance

Record = dict[str, Any]
METRES = {"m": 1.0, "km": 1000.0, "mi": 1609.344}


def render(plan: Plan) -> str:
    """The text of the solution."""
    return laid_out(record(plan)) + "\n"


def record(plan: Plan) -> Record:
    """One route of one vehicle; all numbers whole, and times in seconds where the instance has a clock."""
    instance, seconds = plan.instance, _unit(plan.instance)
    if not plan.stops:
        return nothing(instance)
    steps = [_step(plan, step, seconds) for step in plan.steps if not _nowhere(instance, step)]
    same = instance.cost is instance.travel
    cost = round(plan.steps[-1].cost * (seconds if same else 1.0))
    sums = {key: sum(step[key] for step in steps) for key in ("setup", "service", "waiting_time")}
    sums |= {"duration": round(plan.steps[-1].driven * seconds), "priority": _priority(plan)}
    sums |= {key: steps[-1][key] for key in ("distance",) if steps and key in steps[-1]}
    sums = {**_amounts(plan), **sums}
    broken = [each for step in steps for each in step["violations"]]
    vehicle = _number(instance, 0, 0)
    route = {"vehicle": vehicle, "cost": cost, **sums, "steps": steps, "violations": broken}
    summary = {"cost": cost, "routes": 1, "unassigned": len(plan.unserved), **sums}
    return {
        "code": 0,
        "summary": {**summary, "violations": broken},
        "unassigned": [_task(instance, node) for node in plan.unserved],
        "routes": [route],
    }


def nothing(instance: Instance) -> Record:
    """The solution that serves nothing, which has no route."""
    nodes = [node for node in range(1, instance.nodes) if node != instance.end]
    sums = ("setup", "service", "duration", "waiting_time", "priority")
    summary = {"cost": 0, "routes": 0, "unassigned": len(nodes), **dict.fromkeys(sums, 0)}
    return {
        "code": 0,
        "summary": {**summary, "violations": []},
        "unassigned": [_task(instance, node) for node in nodes],
        "routes": [],
    }


def _unit(instance: Instance) -> float:
    source = instance.source
    return 1.0 if source is None or source.clock is None else source.clock.unit


def _column(instance: Instance, name: str, node: int) -> str:
    """What a column of the user's file says of a node; nothing where there is none."""
    source = instance.source
    texts = None if source is None else source.columns.get(name)
    return "" if texts is None else texts[node]


def _number(instance: Instance, node: int, otherwise: int) -> int:
    """The id of a node in the user's file, where that is a number."""
    source = instance.source
    known = "" if source is None or source.ids is None else source.ids[node]
    return int(known) if known.isdecimal() else otherwise


def _nowhere(instance: Instance, step: Step) -> bool:
    """Whether it is the start of a vehicle that starts at its first task, which VROOM does not list."""
    return (
        step.kind == "start" and bool(_column(instance, "type", 0)) and not instance.travel[0].any()
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
        head = _task(plan.instance, step.node)
        head |= {"job": head["id"]}
    else:
        head = {"type": step.kind, **_place(plan.instance, step.node or 0)}
    setup = min(_setup(plan.instance, step), departure - start)
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


def _task(instance: Instance, node: int) -> Record:
    """A job, a pickup or a delivery."""
    pairs = instance.pairs
    kind = _column(instance, "type", node) or "job"
    if kind == "job" and node in {pickup for pickup, _ in pairs}:
        kind = "pickup"
    elif kind == "job" and node in {delivery for _, delivery in pairs}:
        kind = "delivery"
    own = bool(_column(instance, "type", node))
    said = _column(instance, "description", node) if own else name_of(instance, node)
    description = {"description": said} if said else {}
    return {
        "type": kind, "id": _number(instance, node, node), **description, **_place(instance, node)
    }  # fmt: skip


def _place(instance: Instance, node: int) -> Record:
    """Coordinates where there are any, and the row of the matrix."""
    points, row = instance.coordinates, _column(instance, "location_index", node)
    location = {} if points is None else {"location": points[node].tolist()}
    if row.isdecimal():
        return {**location, "location_index": int(row)}
    return location or {"location_index": node}


def _setup(instance: Instance, step: Step) -> int:
    """Setup is part of the service, unless several tasks are at one place, where it is part of the way."""
    if step.kind != "stop" or step.node is None:
        return 0
    text, place = _column(instance, "setup", step.node), _place(instance, step.node)
    nodes = range(instance.nodes)
    alone = sum(_place(instance, node) == place for node in nodes) == 1 if text else False
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
    texts = [_column(plan.instance, "priority", step.node) for step in plan.stops if step.node]
    return sum(int(text) for text in texts if text.isdecimal())


def _amounts(plan: Plan) -> Record:
    """What is delivered and picked up in all, where loads count; VROOM has the first also by its old name."""
    if not plan.instance.laden:
        return {}
    nodes = [step.node for step in plan.stops if step.node]
    totals = {
        kind: round(sum(_amount(plan.instance, kind, node) for node in nodes))
        for kind in ("delivery", "pickup")
    }
    delivery, pickup = [totals["delivery"]], [totals["pickup"]]
    return {"delivery": delivery, "amount": delivery, "pickup": pickup}


def _amount(instance: Instance, kind: str, node: int) -> float:
    """By the user's file, else by the sign of the demand and the way of the load."""
    if _column(instance, "type", node):
        text = _column(instance, kind, node)
        return float(text) if text.replace(".", "", 1).isdecimal() else 0.0
    demand = float(instance.demand[node])
    delivered = demand if instance.load == "shrinking" else -demand
    return max(delivered if kind == "delivery" else -delivered, 0.0)


def _on_leaving(plan: Plan, step: Step) -> float:
    """The load after a step."""
    shrinks = plan.instance.load == "shrinking" and step.kind != "break" and step.node
    return step.load - float(plan.instance.demand[step.node]) if shrinks else step.load
