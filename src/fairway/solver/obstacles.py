"""Why there can be no tour, where that can be seen without a search."""

import math
import time
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from fairway.judge import TOLERANCE
from fairway.kernels.pruning.network import allowance_of, rounding
from fairway.problems.instance import Instance
from fairway.problems.tspdl import TSPDL
from fairway.problems.tsptw import TSPTW

Vector = Float[np.ndarray, " N"]


@dataclass(frozen=True, slots=True)
class Conflict:
    """Stops that cannot be served together, and why, in a sentence."""

    stops: tuple[int, ...]
    why: str


def obstacle(instance: Instance, until: float = math.inf) -> Conflict | None:
    """What a look at each stop, or at the drafts in order, shows by then; cheap where there is nothing to see."""
    return overload(instance) if isinstance(instance, TSPDL) else closed_too_early(instance, until)


def label(instance: Instance, node: int) -> str:
    """The number of a stop, and its name where it has one."""
    return str(node) if instance.names is None else f"{node} ({instance.names[node]})"


def listed(instance: Instance, nodes: tuple[int, ...], *others: str) -> str:
    """Stops, and what else there is, as people list them."""
    *most, last = (*(label(instance, node) for node in nodes), *others)
    return f"{', '.join(most)} and {last}" if most else last


def lateness_forgiven(instance: TSPTW) -> float:
    """What the judge forgives, and room for sums that are taken in another order than the judge's."""
    allowance = allowance_of(instance)
    return allowance + instance.nodes * rounding(instance, allowance)


def closed_too_early(instance: TSPTW, until: float = math.inf) -> Conflict | None:
    """A stop that closes before it can be reached, or from which the depot cannot be; as far as is known by then."""
    straight = instance.service[0] + instance.travel[0], instance.service + instance.travel[:, 0]
    if _late(instance, *straight, 0.0) is None:
        return None
    lead = instance.service[:, None] + instance.travel
    # A way round may be quicker than the leg itself.
    there, back = _soonest(lead, until), _soonest(np.ascontiguousarray(lead.T), until)
    if there is None or back is None:
        return None
    forgiven = lateness_forgiven(instance)
    stop = _late(instance, there, back, forgiven)
    if stop is None:
        return None
    name, closes = label(instance, stop), instance.closes
    arrival = instance.opens[0] + there[stop]
    if arrival > closes[stop] + forgiven:
        why = f"stop {name} closes at {closes[stop]:.8g} but cannot be reached before {arrival:.8g}"
    else:
        start = max(arrival, instance.opens[stop])
        why = (
            f"the depot closes at {closes[0]:.8g} but cannot be reached before {start + back[stop]:.8g} "
            f"from stop {name}, where service starts at {start:.8g} at the earliest"
        )
    return Conflict((stop,), why)


def _soonest(lead: Float[np.ndarray, "N N"], until: float) -> Vector | None:
    """The least sum of leads from the depot to each node, by way of any stops (Dijkstra); None if time runs out."""
    soonest, left = lead[0].copy(), np.ones(len(lead), bool)
    soonest[0], left[0] = 0.0, False
    for _ in range(len(lead) - 1):
        if time.monotonic() >= until:
            return None
        stop = int(np.where(left, soonest, np.inf).argmin())
        left[stop] = False
        np.minimum(soonest, soonest[stop] + lead[stop], out=soonest)
    return soonest


def overload(instance: TSPDL, forgiven: float | None = None) -> Conflict | None:
    """The fewest ports whose cargo together lies deeper than any of them allows.

    At whichever of them the ship calls last (or first, where the load shrinks) it carries at least their cargo. Where
    there is no such set, calling in the order of drafts keeps them all: so this is complete.

    Args:
        instance: The ports.
        forgiven: How much deeper is still allowed; None for a little more than the judge does, whose sums may be
            taken in another order.
    """
    best: tuple[int, ...] | None = None
    if forgiven is None:
        forgiven = 0.0 if instance.integral else TOLERANCE * (1 + 1e-6)
    if _all_afloat(instance, forgiven):
        return None
    for draft in np.unique(instance.draft[1:]):
        ports = 1 + np.flatnonzero(instance.draft[1:] <= draft)
        ports = ports[np.argsort(-instance.demand[ports], kind="stable")]
        deep = np.cumsum(instance.demand[ports]) > draft + forgiven
        count = int(deep.argmax()) + 1
        if deep.any() and (best is None or count < len(best)):
            best = tuple(sorted(ports[:count].tolist()))
    return None if best is None else Conflict(best, _too_deep(instance, best))


def _all_afloat(instance: TSPDL, forgiven: float) -> bool:
    """Whether calling in the order of drafts keeps them all, and by more than sums in another order may differ."""
    ports = 1 + np.argsort(instance.draft[1:], kind="stable")
    loads = np.cumsum(instance.demand[ports])
    rounding_errors = 0.0 if instance.integral else 1e-15 * len(ports) * loads[-1]
    return bool((loads + rounding_errors <= instance.draft[ports] + forgiven).all())


def _too_deep(instance: TSPDL, ports: tuple[int, ...]) -> str:
    total, deepest = instance.demand[list(ports)].sum(), instance.draft[list(ports)].max()
    names = listed(instance, ports)
    if len(ports) == 1:
        return f"port {names} has a draft of {deepest:.8g}, below its own cargo of {total:.8g}"
    end = "last" if instance.load == "growing" else "first"
    return (
        f"ports {names} have {total:.8g} of cargo together, which is on board where the {end} of them is called at; "
        f"none of them allows more than {deepest:.8g}"
    )


def _late(instance: TSPTW, there: Vector, back: Vector, forgiven: float) -> int | None:
    """The first stop that cannot be on a tour even by itself, given the times from and to the depot."""
    arrival = instance.opens[0] + there
    home = np.maximum(arrival, instance.opens) + back
    late = (arrival > instance.closes + forgiven) | (home > instance.closes[0] + forgiven)
    late[0] = False
    return int(late.argmax()) if late.any() else None
