"""A plan in the shape of VROOM's solutions, for programs that read those.

Where the instance was read from a VROOM problem, its ids, types, descriptions and places are VROOM's own, which the
source carries as columns. Otherwise jobs are called by their node.
"""

import math
from itertools import pairwise
from typing import Any

from fairway.outputs.layout import laid_out
from fairway.outputs.plan import Plan, Step, name_of
from fairway.problems.instance import Instance
from fairway.problems.source import break_name

Record = dict[str, Any]
ROUNDING = 1e-6
"""By which a sum of costs may fall short of the whole number that it is."""
HOUR = 3600.0
ANYWHERE = "anywhere"
"""The type of the start of a vehicle that has none."""
METRES = {"m": 1.0, "km": 1000.0, "mi": 1609.344}


def render(plan: Plan) -> str:
    """The text of the solution."""
    return laid_out(record(plan)) + "\n"


def record(plan: Plan) -> Record:
    """One route of one vehicle; all numbers whole, and times in seconds where the instance has a clock."""
    instance, seconds = plan.instance, _unit(plan.instance)
    if not plan.judged.tour:
        return nothing(instance)
    steps = _steps(plan, seconds)
    sums = {key: sum(step[key] for step in steps) for key in ("setup", "service", "waiting_time")}
    sums |= {"duration": steps[-1]["duration"], "priority": _priority(plan)}
    sums |= {key: steps[-1][key] for key in ("distance",) if key in steps[-1]}
    cost, sums = _cost(plan, steps, sums), {**_amounts(plan), **sums}
    broken = [each for step in steps for each in step["violations"]]
    said = _column(instance, "description", 0) if _own(instance) else ""
    route = {"vehicle": _number(instance, 0, 0), "cost": cost}
    route |= {"description": said} if said else {}
    summary = {"cost": cost, "routes": 1, "unassigned": len(plan.unserved), **sums}
    return {
        "code": 0,
        "summary": {**summary, "violations": broken},
        "unassigned": [_task(instance, node) for node in plan.unserved],
        "routes": [{**route, **sums, "steps": steps, "violations": broken}],
    }


def breaks_in(solution: Record) -> int:
    """How many breaks its route has."""
    steps = [step for route in solution["routes"] for step in route["steps"]]
    return sum(step["type"] == "break" for step in steps)


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


def _cost(plan: Plan, steps: list[Record], sums: dict[str, int]) -> int:
    """What the plan costs; of a VROOM problem, as VROOM counts it.

    That is travel with all else that legs cost, the time at tasks and in breaks, and what the vehicle costs as such.
    With windows travel is that between whole seconds, and rounded; else it is cut off, as the time at tasks is. Setup
    counts where the stop before is elsewhere.
    """
    instance, exact = plan.instance, plan.steps[-1].cost
    if not _own(instance):
        return round(exact * (_unit(instance) if instance.cost is instance.travel else 1.0))
    rates = _column(instance, "costs", 0).split() or ("3600", "0", "0")
    per_hour, per_task_hour, fixed, *without_windows = map(float, rates)
    legs = [*pairwise([0, *(step.node for step in plan.steps[1:] if step.node is not None)])]
    setup = sum(_setup_due(instance, "setup", *leg) for leg in legs)
    rests = sum(step["service"] for step in steps if step["type"] == "break")
    tasks = per_task_hour / HOUR * (setup + sums["service"] - rests)
    driven = plan.steps[-1].driven - sum(_setup_due(instance, "setup_on_leg", *leg) for leg in legs)
    apart = exact - fixed - tasks - driven * per_hour / HOUR
    if without_windows:
        travel = driven * without_windows[0] / HOUR + apart
    else:
        travel = sums["duration"] * per_hour / HOUR + apart + 0.5
    return round(fixed) + _cut(travel) + _cut(per_task_hour / HOUR * (setup + sums["service"]))


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


def _own(instance: Instance) -> bool:
    """Whether it was read from a VROOM problem."""
    return bool(_column(instance, "type", 0))


def _steps(plan: Plan, seconds: float) -> list[Record]:
    """The start, tasks and breaks in order, and the end; a route that starts or ends anywhere does so at a task."""
    instance, loads = plan.instance, _loads(plan)
    found, setups, before = [], 0.0, 0
    for step, load in zip(plan.steps, loads, strict=True):
        on_leg = (
            0.0 if step.node is None else _setup_due(instance, "setup_on_leg", before, step.node)
        )
        setups, before = setups + on_leg, before if step.node is None else step.node
        found.append(_step(plan, step, seconds, (on_leg, setups)) | load)
    if _own(instance):
        _count_whole(found)
    first, last = plan.stops[0].node, plan.stops[-1].node
    if _nowhere(instance, 0):
        found[0] |= _place(instance, first or 0)
    if instance.end is None:
        leaves = {"arrival": _left(found[-1]), "setup": 0, "service": 0, "waiting_time": 0}
        place = {"type": "end", **_place(instance, last or 0)}
        kept = {key: found[-1][key] for key in ("load", "duration", "distance") if key in found[-1]}
        found.append({**place, **leaves, **kept, "violations": []})
    return _with_all_breaks(plan, found) if _own(instance) else found


def _count_whole(steps: list[Record]) -> None:
    """Have the travel so far be that between the whole seconds that are told, as VROOM has it."""
    for before, step in pairwise(steps):
        step["duration"] = before["duration"] + step["arrival"] - _left(before)


def _step(plan: Plan, step: Step, seconds: float, setups: tuple[float, float]) -> Record:
    """The start, a task, a break or the end; `arrival` is before waiting, `duration` the travel so far.

    Setup that the instance counts as travel, here and in all so far, is told apart again.
    """
    on_leg, so_far = setups
    leaving = step.kind == "start"  # which VROOM has as the moment of departure
    moments = (step.departure,) * 3 if leaving else (step.arrival, step.start, step.departure)
    shift = 0 if leaving else on_leg
    told = _cut if _own(plan.instance) else round
    arrival, start = (told((each - shift) * seconds) for each in moments[:2])
    departure, late = told(moments[2] * seconds), round(step.late * seconds)
    if step.kind == "break":
        head: Record = _break(plan.instance, step.number or 0)
    elif step.node is not None and step.kind == "stop":
        head = _task(plan.instance, step.node)
        head |= {"job": head["id"]}
    else:
        head = {"type": step.kind, **_place(plan.instance, step.node or 0)}
    setup = round(on_leg) or min(_setup(plan.instance, step), departure - start)
    return {
        **head,
        "setup": setup,
        "service": departure - start - setup,
        "waiting_time": start - arrival,
        "arrival": arrival,
        "duration": round((step.driven - so_far) * seconds),
        **_distance(plan, step),
        "violations": [{"cause": "delay", "duration": late}] if late else [],
    }


def _cut(value: float) -> int:
    """A whole number of seconds, as VROOM cuts them off."""
    return math.floor(value + ROUNDING)


def _left(step: Record) -> int:
    """When a step is over."""
    return sum(step[key] for key in ("arrival", "waiting_time", "setup", "service"))


def _break(instance: Instance, number: int) -> Record:
    """A break by the id and the description that it has in the user's file."""
    source = instance.source
    ids = () if source is None else source.break_ids
    if source is None or len(ids) != len(instance.breaks):
        return {"type": "break", "id": number}
    said = break_name(source, instance.breaks, number)
    return {"type": "break", "id": int(ids[number])} | ({"description": said} if said else {})


def _with_all_breaks(plan: Plan, steps: list[Record]) -> list[Record]:
    """The same with the breaks that are not due before the tour is over, taken before its last step ends.

    VROOM lists every break. Where several are left that cannot all be taken one after the other, some are not listed.
    """
    taken = {step.number for step in plan.steps if step.kind == "break"}
    *found, end = steps
    breaks = sorted(
        (latest, earliest, length, number)
        for number, (earliest, latest, length) in enumerate(plan.instance.breaks)
        if number not in taken
    )
    for latest, earliest, length, number in breaks:
        ready = end["arrival"]
        start = max(ready, round(earliest))
        if start > latest:
            continue
        times = {"setup": 0, "service": round(length), "waiting_time": start - ready}
        kept = {key: end[key] for key in ("load", "duration", "distance") if key in end}
        head = _break(plan.instance, number)
        found.append({**head, **times, **kept, "arrival": ready, "violations": []})
        end = {**end, "arrival": start + round(length)}
    return [*found, end]


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
    """Setup that is part of the service."""
    if step.kind != "stop" or step.node is None or _column(instance, "setup_on_leg", step.node):
        return 0
    text = _column(instance, "setup", step.node) if _own(instance) else ""
    return round(float(text)) if text else 0


def _setup_due(instance: Instance, column: str, before: int, node: int) -> float:
    """Setup by one of the columns that have it, which is due at a node where the node before is elsewhere."""
    text = _column(instance, column, node) if _own(instance) else ""
    alike = _place(instance, before) == _place(instance, node) and not _nowhere(instance, before)
    return float(text) if text and not alike else 0.0


def _nowhere(instance: Instance, node: int) -> bool:
    """Whether it is the start of a vehicle that starts at its first task."""
    return node == 0 and _column(instance, "type", 0) == ANYWHERE


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
    if not _laden(plan.instance):
        return {}
    nodes = [step.node for step in plan.stops if step.node]
    totals = {
        kind: _sum(plan.instance, [_amount(plan.instance, kind, node) for node in nodes])
        for kind in ("delivery", "pickup")
    }
    return {
        "delivery": totals["delivery"],
        "amount": totals["delivery"],
        "pickup": totals["pickup"],
    }


def _loads(plan: Plan) -> list[Record]:
    """The load on leaving each step, component by component."""
    instance = plan.instance
    if not _laden(instance):
        return [{} for _ in plan.steps]
    if not _own(instance):
        return [{"load": [round(_on_leaving(plan, step))]} for step in plan.steps]
    jobs = [
        step.node
        for step in plan.stops
        if step.node and _column(instance, "type", step.node) == "job"
    ]
    load = _sum(instance, [_amount(instance, "delivery", node) for node in jobs])
    loads: list[Record] = []
    for step in plan.steps:
        if step.node:
            taken, given = (_amount(instance, kind, step.node) for kind in ("pickup", "delivery"))
            load = [a + b - c for a, b, c in zip(load, taken, given, strict=True)]
        loads.append({"load": [round(each) for each in load]})
    return loads


def _laden(instance: Instance) -> bool:
    """Whether loads count; a VROOM problem may count tasks as such in place of amounts."""
    return bool(_column(instance, "capacity", 0)) if _own(instance) else instance.laden


def _sum(instance: Instance, amounts: list[list[float]]) -> list[int]:
    nothing = [0.0] * _components(instance)
    return [round(sum(parts)) for parts in zip(nothing, *amounts, strict=True)]


def _components(instance: Instance) -> int:
    """Of which the capacity of the vehicle is made."""
    return len(_column(instance, "capacity", 0).split()) or 1 if _own(instance) else 1


def _amount(instance: Instance, kind: str, node: int) -> list[float]:
    """By the user's file, else by the sign of the demand and the way of the load."""
    if _own(instance):
        given = list(map(float, _column(instance, kind, node).split()))
        return given or [0.0] * _components(instance)
    demand = float(instance.demand[node])
    delivered = demand if instance.load == "shrinking" else -demand
    return [max(delivered if kind == "delivery" else -delivered, 0.0)]


def _on_leaving(plan: Plan, step: Step) -> float:
    """The load after a step."""
    shrinks = plan.instance.load == "shrinking" and step.kind != "break" and step.node
    return step.load - float(plan.instance.demand[step.node]) if shrinks else step.load
