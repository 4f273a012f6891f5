"""What our own formats share: which fields of an instance say something, and under which problem it is written."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from fairway.problems.files.text import Unreadable, shortened
from fairway.problems.instance import PER_NODE, Instance
from fairway.problems.table import PROBLEMS

TOUR = "tour"
"""What is written for the problem of an instance that is none of the classic ones."""
NEUTRAL = Instance(np.zeros((2, 2)))
FIELDS = tuple(
    each.name
    for each in fields(Instance)
    if each.init and each.name not in ("travel", "coordinates", "names", "name", "source")
)
"""All that can be asked of a tour, besides where its nodes are and what they are called."""
ENDLESS = frozenset(name for name in PER_NODE if getattr(NEUTRAL, name)[0] == np.inf)
"""The fields of a number for each node that are infinite where nothing is asked."""


def stated(instance: Instance) -> dict[str, Any]:
    """The fields that say something, in the order of the class."""
    return {name: getattr(instance, name) for name in FIELDS if _says(instance, name)}


def held_by(problem: str) -> tuple[str, ...]:
    """The fields that a file of this problem holds."""
    if problem == TOUR:
        return FIELDS
    return PROBLEMS[problem].columns + (() if problem == "tsptw" else ("load",))


def problem_of(instance: Instance) -> str:
    """The classic problem whose files hold all of the instance, else "tour"."""
    problem, asked = instance.problem, stated(instance)
    if problem == TOUR or not asked.keys() <= set(held_by(problem)):
        return TOUR
    columns = [getattr(instance, column) for column in PROBLEMS[problem].columns]
    return problem if np.isfinite(columns).all() else TOUR


def check_held(instance: Instance, form: str) -> None:
    """Refuse to write what the format of a classic problem has no place for."""
    if instance.problem == TOUR:
        raise Unreadable(
            f"{form} holds time windows alone or draft limits alone, and this asks for "
            f"{' and '.join(instance.constraints)}; write .json instead"
        )
    for column in PROBLEMS[instance.problem].columns:
        if np.isinf(getattr(instance, column)).any():
            raise Unreadable(f"{form} cannot hold {column!r} without a limit; write .json instead")


def node_of(text: str, known: Mapping[str, int], what: str, line: int | None = None) -> int:
    """The node of this name, or of this number where nodes have no names."""
    if text not in known:
        some = shortened(list(known)[-1])
        message = f"{what} names {shortened(text)}, which is no stop; expected one like {some}"
        raise Unreadable(message, line)
    return known[text]


def _says(instance: Instance, name: str) -> bool:
    value, neutral = getattr(instance, name), getattr(NEUTRAL, name)
    if name == "cost":
        return value is not instance.travel
    return bool((value != neutral[0]).any()) if name in PER_NODE else value != neutral
