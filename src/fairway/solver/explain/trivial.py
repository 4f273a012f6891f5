"""Why there can be no tour, where that can be seen without a search, and some stops as an instance of their own."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int

from fairway import clock
from fairway.judge import TOLERANCE
from fairway.judge.timetable import windows_of
from fairway.kernels.paths import shortest
from fairway.problems.instance import Instance
from fairway.problems.model import model_of

Vector = Float[np.ndarray, " N"]
Matrix = Float[np.ndarray, "N N"]


@dataclass(frozen=True, slots=True)
class Conflict:
    """Stops that cannot be served together, and why, in a sentence."""

    stops: tuple[int, ...]
    why: str


def obstacle(instance: Instance) -> Conflict | None:
    """What a look at each stop, or at the drafts in order, shows; cheap where there is nothing to see."""
    return next(obstacles(instance), None)


def obstacles(instance: Instance) -> Iterator[Conflict]:
    """All that can be seen in this way; no stop is in two of them."""
    if instance.laden:
        yield from overloads(instance)
    if instance.timed:
        yield from closed_too_early(instance)


def label(instance: Instance, node: int) -> str:
    """The number of a stop, and its name where it has one."""
    return str(node) if instance.names is None else f"{node} ({instance.names[node]})"


def listed(instance: Instance, nodes: tuple[int, ...], *others: str) -> str:
    """Stops, and what else there is, as people list them."""
    *most, last = (*(label(instance, node) for node in nodes), *others)
    return f"{', '.join(most)} and {last}" if most else last


def lateness_forgiven(instance: Instance) -> float:
    """What the judge forgives, and room for sums that are taken in another order than the judge's."""
    if not instance.classic:
        return 0.0 if instance.whole_times else 2 * TOLERANCE
    resource = model_of(instance).resource
    return resource.allowance + instance.nodes * resource.guard


def hull(instance: Instance) -> tuple[Vector, Vector]:
    """The first opening of each node, and its last permitted start, soft or hard."""
    opens, last = instance.opens.copy(), instance.closes.copy()
    for node in instance.windows:
        spans = windows_of(instance, node)
        opens[node], last[node] = spans[0][0], spans[-1][1]
    return opens, np.where(np.isfinite(instance.late), instance.latest, last)


def increments(instance: Instance) -> tuple[Matrix, Matrix]:
    """The times from the start of service at the row to the arrival at the column, and the other way round."""
    increment = instance.service[:, None] + instance.travel
    if instance.cost is not instance.travel:
        increment[np.isinf(instance.cost)] = np.inf
    return increment, np.ascontiguousarray(increment.T)


def quickest(increments: tuple[Matrix, Matrix], node: int, end: int = 0) -> tuple[Vector, Vector]:
    """The least times from the node and to it by way of any stops, which are served, but not waited for."""
    stops = np.arange(len(increments[0])) > 0
    stops[end] = False
    return shortest(increments[0], node, stops), shortest(increments[1], node, stops)


def closed_too_early(instance: Instance) -> Iterator[Conflict]:
    """Each stop that closes before it can be reached, or from which the depot cannot be."""
    straight = instance.service[0] + instance.travel[0], instance.service + instance.travel[:, 0]
    if not _late(instance, *straight, 0.0).any():
        return
    forgiven, told = lateness_forgiven(instance), instance.time_text
    # A way round may be quicker than the leg itself.
    there, back = quickest(increments(instance), 0)
    for stop in np.flatnonzero(_late(instance, there, back, forgiven)).tolist():
        name, closes = label(instance, stop), instance.closes
        arrival = instance.opens[0] + there[stop]
        if arrival > closes[stop] + forgiven:
            why = f"stop {name} closes at {told(closes[stop])} but cannot be reached before {told(arrival)}"
        else:
            start = max(arrival, instance.opens[stop])
            why = (
                f"the depot closes at {told(closes[0])} but cannot be reached before {told(start + back[stop])} "
                f"from stop {name}, where service starts at {told(start)} at the earliest"
            )
        yield Conflict((stop,), why)


def overloads(instance: Instance) -> Iterator[Conflict]:
    """Ports that are too much together, the fewest first, then the fewest of those that are left."""
    ports = np.arange(1, instance.nodes)
    while (found := overload(instance, ports)) is not None:
        yield found
        ports = np.setdiff1d(ports, found.stops)


def overload(
    instance: Instance, among: Int[np.ndarray, " M"] | None = None, forgiven: float | None = None
) -> Conflict | None:
    """The fewest ports whose cargo together lies deeper than any of them allows.

    At whichever of them the ship calls last (or first, where the load shrinks) it carries at least their cargo. Where
    there is no such set, calling in the order of drafts keeps them all: so this is complete.

    Args:
        instance: The ports.
        among: Those to look at; all by default.
        forgiven: How much deeper is still allowed; None for a little more than the judge does, whose sums may be
            taken in another order.
    """
    best: tuple[int, ...] | None = None
    if forgiven is None:
        forgiven = 0.0 if instance.integral else TOLERANCE * (1 + 1e-6)
    ports = np.arange(1, instance.nodes) if among is None else among
    ports = ports[np.argsort(-instance.demand[ports], kind="stable")]
    demand, draft = instance.demand[ports], instance.draft[ports]
    drafts, last = np.unique(np.sort(draft)[::-1], return_index=True)
    total = np.cumsum(demand[np.argsort(draft, kind="stable")])[len(draft) - 1 - last]
    for deepest in drafts[total * (1 + 1e-9) > drafts + forgiven]:  # sums differ by their order
        shallow = draft <= deepest
        deep = np.cumsum(demand[shallow]) > deepest + forgiven
        count = int(deep.argmax()) + 1
        if deep.any() and (best is None or count < len(best)):
            best = tuple(sorted(ports[shallow][:count].tolist()))
    return None if best is None else Conflict(best, _too_deep(instance, best))


def _too_deep(instance: Instance, ports: tuple[int, ...]) -> str:
    total, deepest = instance.demand[list(ports)].sum(), instance.draft[list(ports)].max()
    names = listed(instance, ports)
    if len(ports) == 1:
        return f"port {names} has a draft of {deepest:.8g}, below its own cargo of {total:.8g}"
    end = "last" if instance.load == "growing" else "first"
    return (
        f"ports {names} have {total:.8g} of cargo together, which is on board where the {end} of them is called at; "
        f"none of them allows more than {deepest:.8g}"
    )


def _late(
    instance: Instance, there: Vector, back: Vector, forgiven: float
) -> Bool[np.ndarray, " N"]:
    """Which stops cannot be on a tour even by themselves, given the times from and to the depot."""
    arrival = instance.opens[0] + there
    home = np.maximum(arrival, instance.opens) + back
    late = (arrival > instance.closes + forgiven) | (home > instance.closes[0] + forgiven)
    late[0] = False
    return late


def subset(instance: Instance, stops: Sequence[int], until: float = math.inf) -> Instance | None:
    """The depot and the given stops, in this order, and an end of its own: a relaxation of the whole.

    Take a tour of the whole and leave out the others: what lay between two stops that stay was a way through some of
    those that go, and the quickest such way is never longer. So the rest of the tour is nowhere later, and what is
    proved infeasible of a subset holds for the whole, and for every subset with more stops, whatever the travel matrix.
    A growing or shrinking load does not rise when ports are left out, and a signed one gets the room that those may
    make. None where the time ends before all ways are found.
    """
    nodes = [0, *stops]
    if instance.end is not None and instance.end not in nodes:
        nodes.append(instance.end)
    if instance.classic and not instance.timed:
        return instance.restricted(nodes)
    others = np.ones(instance.nodes, dtype=bool)
    others[nodes] = False
    straight, _ = increments(instance)
    increment = np.empty((len(nodes), len(nodes)))
    for row, node in enumerate(nodes):
        if clock.now() > until:
            return None
        increment[row] = shortest(straight, node, others)[nodes]
    travel = np.maximum(increment - instance.service[nodes, None], 0.0)
    small = instance.restricted(nodes, travel)
    if instance.load != "signed":
        return small
    return lifted(small, *_helped(instance, np.flatnonzero(others).tolist()))


def lifted(instance: Instance, low: float, high: float) -> Instance:
    """The same with a signed load that may be lower and higher by so much."""
    return replace(
        instance,
        aboard=instance.aboard + low,
        capacity=instance.capacity + low + high,
        draft=instance.draft + low + high,
    )


def _helped(instance: Instance, others: Sequence[int]) -> tuple[float, float]:
    """By how much stops may raise a signed load, and lower it: what is taken off after it is put on lowers nothing."""
    demand = {node: float((instance.demand + instance.loaded)[node]) for node in others}
    raised = sum(max(each, float(instance.loaded[node])) for node, each in demand.items())
    lowered = -sum(min(each, 0.0) for each in demand.values())
    for first, second in (*instance.pairs, *instance.before):
        if first in demand and second in demand and demand[first] > 0 > demand[second]:
            lowered -= min(demand.pop(first), -demand.pop(second))
    return raised, lowered
