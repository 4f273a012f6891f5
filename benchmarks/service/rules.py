"""VROOM's rules by themselves: what is wrong with a solution of a problem with one vehicle and a matrix."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

Record = dict[str, Any]


def faults(problem: Record, solution: Record) -> list[str]:
    """Sentences, each about one rule that a solution breaks."""
    tasks = dict(_tasks(problem))
    told = [(task["type"], task["id"]) for task in solution["unassigned"]]
    for route in solution["routes"]:
        told += [_key(step) for step in route["steps"] if "job" in step]
    found = [] if sorted(told) == sorted(tasks) else ["tasks are missing, or told twice"]
    for route in solution["routes"]:
        found += _of_route(problem, tasks, route)
    return found


def _of_route(problem: Record, tasks: dict[tuple[str, int], Record], route: Record) -> list[str]:
    steps, vehicle = route["steps"], problem["vehicles"][0]
    first, last = vehicle.get("time_window", (0, float("inf")))
    found = [
        *_of_times(problem, steps),
        *_of_tasks(problem, tasks, steps),
        *_of_loads(tasks, vehicle, steps),
        *_of_breaks(vehicle, steps),
    ]
    if (steps[0]["type"], steps[-1]["type"]) != ("start", "end"):
        found.append("it does not go from a start to an end")
    if steps[0]["arrival"] < first or steps[-1]["arrival"] > last:
        found.append("it is not within the hours of the vehicle")
    for key in ("setup", "service", "waiting_time"):
        if route[key] != sum(step[key] for step in steps):
            found.append(f"{key} is not the sum of the steps")
    if route["duration"] != steps[-1]["duration"]:
        found.append("duration is not that of the last step")
    return found


def _of_times(problem: Record, steps: list[Record]) -> Iterator[str]:
    durations = problem.get("matrix") or next(iter(problem["matrices"].values()))["durations"]
    pace = 1 / problem["vehicles"][0].get("speed_factor", 1.0)
    for one, two in pairwise(steps):
        driven = two["duration"] - one["duration"]
        if abs(two["arrival"] - _left(one) - driven) > (pace != 1):  # seconds are rounded
            yield f"{_key(two)} is not reached when it says"
    for one, two in pairwise(step for step in steps if step["type"] != "break"):
        leg = durations[one["location_index"]][two["location_index"]]
        if abs(two["duration"] - one["duration"] - leg * round(pace, 2)) > 1:
            yield f"the way to {_key(two)} is not that of the matrix"


def _of_tasks(
    problem: Record, tasks: dict[tuple[str, int], Record], steps: list[Record]
) -> Iterator[str]:
    vehicle = problem["vehicles"][0]
    have, anywhere = set(vehicle.get("skills", [])), "start_index" not in vehicle
    served = [_key(step) for step in steps]
    for one, two in pairwise(step for step in steps if step["type"] != "break"):
        task = tasks.get(_key(two))
        if task is None:
            continue
        start, spans = two["arrival"] + two["waiting_time"], task.get("time_windows")
        if spans and not any(a <= start <= b for a, b in spans):
            yield f"{_key(two)} begins outside its windows"
        first = anywhere and one["type"] == "start"
        there = one["location_index"] == two["location_index"] and not first
        setup = 0 if there else _length(task, "setup", vehicle)
        if (two["setup"], two["service"]) != (setup, _length(task, "service", vehicle)):
            yield f"{_key(two)} has another setup or service"
        if not set(task["skills"]) <= have:
            yield f"{_key(two)} needs another skill"
        partner = task.get("partner")
        if partner is not None and served.index(_key(two)) > served.index(partner):
            yield f"{partner} comes before its pickup"


def _length(task: Record, key: str, vehicle: Record) -> int:
    return task.get(f"{key}_per_type", {}).get(vehicle.get("type"), task.get(key, 0))


def _of_loads(
    tasks: dict[tuple[str, int], Record], vehicle: Record, steps: list[Record]
) -> Iterator[str]:
    capacity = vehicle.get("capacity")
    if capacity is None:
        return
    zero = [0] * len(capacity)
    jobs = [tasks[_key(step)] for step in steps if step["type"] == "job"]
    load = [sum(parts) for parts in zip(zero, *(job["given"] or zero for job in jobs), strict=True)]
    for step in steps:
        task = tasks.get(_key(step), {"given": [], "taken": []})
        given, taken = task["given"] or zero, task["taken"] or zero
        load = [a - b + c for a, b, c in zip(load, given, taken, strict=True)]
        if step["load"] != load:
            yield f"{_key(step)} leaves with {step['load']}, not {load}"
        if any(a > b for a, b in zip(load, capacity, strict=True)):
            yield f"{_key(step)} leaves with more than fits"


def _of_breaks(vehicle: Record, steps: list[Record]) -> Iterator[str]:
    asked = {each["id"]: each for each in vehicle.get("breaks", [])}
    taken = [step for step in steps if step["type"] == "break"]
    if sorted(step["id"] for step in taken) != sorted(asked):
        yield "breaks are missing, or taken twice"
        return
    for step in taken:
        given, start = asked[step["id"]], step["arrival"] + step["waiting_time"]
        spans = given.get("time_windows")
        if spans and not any(a <= start <= b for a, b in spans):
            yield f"break {step['id']} begins outside its windows"
        if step["service"] != given.get("service", 0):
            yield f"break {step['id']} has another length"


def _tasks(problem: Record) -> Iterator[tuple[tuple[str, int], Record]]:
    """Jobs, pickups and deliveries by what a step calls them, with what each gives and takes."""
    for job in problem.get("jobs", []):
        amounts = {"given": job.get("delivery", job.get("amount")), "taken": job.get("pickup")}
        yield ("job", job["id"]), {**job, **amounts, "skills": job.get("skills", [])}
    for shipment in problem.get("shipments", []):
        amount, skills = shipment.get("amount"), shipment.get("skills", [])
        pickup, delivery = shipment["pickup"], shipment["delivery"]
        partner = ("delivery", delivery["id"])
        own = {"skills": skills, "given": None, "taken": None}
        yield ("pickup", pickup["id"]), {**pickup, **own, "taken": amount, "partner": partner}
        yield partner, {**delivery, **own, "given": amount}


def _key(step: Record) -> tuple[str, int]:
    return step["type"], step.get("id", 0)


def _left(step: Record) -> int:
    return sum(step[key] for key in ("arrival", "waiting_time", "setup", "service"))
