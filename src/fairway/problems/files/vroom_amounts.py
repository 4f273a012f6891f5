"""Amounts of several components in a VROOM problem, brought down to the one that can bind."""

import math
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from fairway.problems.files.text import Unreadable, digits

AMOUNTS = ("amount", "delivery", "pickup")


def single_amounts(document: dict[str, Any]) -> dict[str, Any]:
    """The same problem with amounts of one component; refused where more than one can bind.

    Anything that is no list of equally many numbers stays as it is, for whoever reads the field to refuse.
    """
    vehicles, tasks = document.get("vehicles"), _carriers(document)
    if not isinstance(vehicles, list) or len(vehicles) != 1 or not isinstance(vehicles[0], dict):
        return document
    capacity = vehicles[0].get("capacity") or []
    amounts = [task[key] for task in tasks for key in AMOUNTS if isinstance(task.get(key), list)]
    if not _numbers(capacity) or len(capacity) < 2:
        return document
    if not all(_numbers(each) and len(each) == len(capacity) for each in amounts):
        return document
    carried = np.array(amounts).reshape(-1, len(capacity))
    kept = np.flatnonzero(_binding(carried, np.array(capacity)))
    if kept.size > 1:
        raise Unreadable(
            f"components {kept[0] + 1} and {kept[1] + 1} of 'capacity' can both bind; one component is served"
        )
    one = int(kept[0]) if kept.size else 0
    vehicle = {**vehicles[0], "capacity": [capacity[one]]}
    lists = {key: document[key] for key in ("jobs", "shipments") if document.get(key)}
    reduced = {key: [_only(each, one) for each in value] for key, value in lists.items()}
    return {**document, "vehicles": [vehicle], **reduced}


def amount_columns(document: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    """All components of what each node delivers and picks up, and of the capacity at the start, as texts.

    The nodes are the start, the jobs, then the pickup and the delivery of each shipment; the numbers have been checked.
    """
    capacity = document["vehicles"][0].get("capacity")
    delivery, pickup = [""], [""]
    for job in document.get("jobs") or ():
        old = {} if {"delivery", "pickup"} & job.keys() else {"delivery": job.get("amount")}
        delivery.append(_text({**job, **old}.get("delivery")))
        pickup.append(_text(job.get("pickup")))
    for shipment in document.get("shipments") or ():
        amount = _text(shipment.get("amount"))
        delivery += ["", amount]
        pickup += [amount, ""]
    first = (" ".join(map(digits, capacity or ())), *[""] * (len(delivery) - 1))
    return {"capacity": first, "delivery": tuple(delivery), "pickup": tuple(pickup)}


def _text(amounts: list[float] | None) -> str:
    """Components with blanks between; nothing where all are zero."""
    return " ".join(map(digits, amounts)) if amounts and any(amounts) else ""


def _binding(
    amounts: Float[np.ndarray, "T K"], capacity: Float[np.ndarray, " K"]
) -> Bool[np.ndarray, " K"]:
    """Which components can be exceeded where no other is.

    A component never binds where everything fits at once; nor where each of its amounts takes no larger a part of the
    capacity than the same task's amount of another component does.
    """
    binds = amounts.sum(axis=0) > capacity
    for one in np.flatnonzero(binds):
        for other in np.flatnonzero(binds & (capacity > 0)):
            less = amounts[:, one] * capacity[other] <= amounts[:, other] * capacity[one]
            if one != other and less.all():
                binds[one] = False
                break
    return binds


def _carriers(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Jobs and shipments."""
    found = [document.get(key) for key in ("jobs", "shipments")]
    lists = [each for each in found if isinstance(each, list)]
    return [task for each in lists for task in each if isinstance(task, dict)]


def _numbers(value: object) -> bool:
    """Whether it is a list of finite numbers, zero or more."""
    return isinstance(value, list) and all(
        type(part) is float and 0 <= part < math.inf for part in value
    )


def _only(task: object, component: int) -> object:
    """A job or shipment with one component of its amounts."""
    if not isinstance(task, dict):
        return task
    amounts = {key: [task[key][component]] for key in AMOUNTS if isinstance(task.get(key), list)}
    return {**task, **amounts}
