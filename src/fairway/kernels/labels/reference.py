"""The definition of the search over labels, without bounds or look-ahead, to be read rather than run."""

import math
from typing import NamedTuple

from fairway.judge import TOLERANCE
from fairway.problems.instance import Instance


class Label(NamedTuple):
    """A partial tour: its resource is the time at which its last stop is served, or the load there."""

    tour: tuple[int, ...]
    resource: float
    cost: float


def best(instance: Instance, *, makespan: bool = False) -> Label | None:
    """The best tour, with its cost; by travel, or by the time of the return."""
    if instance.load == "shrinking":
        found = best(instance.reversed())
        return None if found is None else found._replace(tour=found.tour[::-1])
    start = float(instance.opens[0])
    layer = [Label((), start, start if makespan else 0.0)]
    for _ in range(instance.nodes - 1):
        longer = [
            extended(instance, label, stop, makespan)
            for label in layer
            for stop in range(1, instance.nodes)
            if stop not in label.tour
        ]
        layer = undominated([label for label in longer if label is not None])
    closed = [extended(instance, label, 0, makespan) for label in layer]
    return min((label for label in closed if label), key=lambda label: label.cost, default=None)


def extended(instance: Instance, label: Label, stop: int, makespan: bool) -> Label | None:
    """The label one stop further, or back at the depot; None where that breaks a limit."""
    here = label.tour[-1] if label.tour else 0
    allowance = 0.0 if instance.integral else TOLERANCE
    if instance.timed:
        arrival = (
            label.resource + float(instance.service[here]) + float(instance.travel[here, stop])
        )
        resource = max(arrival, float(instance.opens[stop])) if stop > 0 else arrival
        limit = float(instance.closes[stop])
    else:
        resource = label.resource + float(instance.demand[stop])
        limit = float(instance.draft[stop]) if stop > 0 else math.inf
    if resource - limit > allowance:
        return None
    tour = (*label.tour, stop) if stop > 0 else label.tour
    return Label(
        tour, resource, resource if makespan else label.cost + float(instance.cost[here, stop])
    )


def undominated(labels: list[Label]) -> list[Label]:
    """Of labels with the same stops and the same last one, those that are not both as late and as dear as another."""
    kept: dict[tuple[frozenset[int], int], list[Label]] = {}
    for label in sorted(labels, key=lambda label: (label.resource, label.cost)):
        rivals = kept.setdefault((frozenset(label.tour), label.tour[-1]), [])
        if all(rival.cost > label.cost for rival in rivals):
            rivals.append(label)
    return [label for rivals in kept.values() for label in rivals]


def least_ng_path(instance: Instance, multiplier: list[float], ng_memory: list[set[int]]) -> float:
    """What the least ng-path of an instance with time windows costs, less the multipliers of its visits.

    It leaves the depot, keeps all windows, and ends there. What it remembers at a stop is that stop and, of what it
    remembered before, what the stop has in its ng-memory; it goes to nothing that it remembers.
    """
    best, start = math.inf, Label((), float(instance.opens[0]), 0.0)
    waiting: list[tuple[Label, frozenset[int]]] = [(start, frozenset())]
    while waiting:
        label, memory = waiting.pop()
        closed = extended(instance, label, 0, makespan=False) if label.tour else None
        best = best if closed is None else min(best, closed.cost)
        for stop in set(range(1, instance.nodes)) - memory:
            longer = extended(instance, label, stop, makespan=False)
            if longer is not None:
                longer = longer._replace(cost=longer.cost - multiplier[stop])
                waiting.append((longer, frozenset(memory & ng_memory[stop]) | {stop}))
    return best
