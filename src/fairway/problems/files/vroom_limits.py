"""The limits of the vehicle in a VROOM problem: loads, how many tasks, and how long and how far it may travel."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from fairway.problems.files.text import Unreadable
from fairway.problems.files.vroom_tasks import Task, Vehicle
from fairway.problems.files.vroom_travel import Ways


def loads_of(tasks: Sequence[Task | None], vehicle: Vehicle) -> dict[str, Any]:
    """What is carried by each node, within the capacity; or the tasks so far, where their number is what is limited.

    Deliveries of jobs that are served are aboard from the start, pickups stay aboard; shipments come and go.
    """
    delivery = np.array([0.0 if task is None else task.delivery for task in tasks])
    pickup = np.array([0.0 if task is None else task.pickup for task in tasks])
    are_tasks = [task is not None for task in tasks]
    if vehicle.capacity is None and (delivery.any() or pickup.any()):
        raise Unreadable("the vehicle has no 'capacity' where tasks have amounts; expected one")
    if vehicle.max_tasks < sum(are_tasks):
        if vehicle.capacity is not None and delivery.sum() + pickup.sum() > vehicle.capacity:
            raise Unreadable("'max_tasks' and 'capacity' can both bind; one of them is served")
        most = math.floor(vehicle.max_tasks)
        return {"demand": np.array(are_tasks, float), "capacity": most, "load": "growing"}
    if vehicle.capacity is None:
        return {}
    shipped = any(task is not None and task.pair is not None for task in tasks)
    if not shipped and not delivery.any():
        return {"demand": pickup, "capacity": vehicle.capacity, "load": "growing"}
    if not shipped and not pickup.any():
        return {"demand": delivery, "capacity": vehicle.capacity, "load": "shrinking"}
    of_jobs = [task is not None and task.pair is None for task in tasks]
    return {
        "demand": pickup - delivery,
        "loaded": np.where(of_jobs, delivery, 0.0),
        "capacity": vehicle.capacity,
        "load": "signed",
    }


def check_way(vehicle: Vehicle, ways: Ways) -> None:
    """Refuse limits on how long or how far the vehicle travels, unless no tour within its hours can exceed them."""
    first, last = vehicle.hours
    if min(_longest(ways.travel), last - first) > vehicle.max_travel_time:
        raise Unreadable(
            f"'max_travel_time' is {vehicle.max_travel_time:g} and can bind, which is not served; give the vehicle a "
            "'time_window' instead"
        )
    metres = math.inf if ways.metres is None else _longest(ways.metres)
    if metres > vehicle.max_distance:
        raise Unreadable(
            f"'max_distance' is {vehicle.max_distance:g} and can bind, which is not served; leave it out"
        )


def _longest(legs: Float[np.ndarray, "N N"]) -> float:
    """No tour is longer: each node is left once at most."""
    return float((legs - np.diag(np.diag(legs))).max(axis=1).sum())
