"""The limits that take part in a conflict: an instance without some of them, each in words, and its numbers."""

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from fairway.judge.timetable import windows_of
from fairway.problems.instance import Instance
from fairway.solver.explain.numbers import Spot
from fairway.solver.explain.trivial import hull, label, lifted

Kind = Literal[
    "opens", "closes", "gaps", "ways", "draft", "capacity", "empty", "before", "pairs", "break"
]
MOST_WAYS = 6
"""Closed ways that are named."""


WORDED = (
    "before", "pairs", "opens", "closes", "gaps", "draft", "capacity", "empty", "break", "ways"
)  # fmt: skip
"""The order in which limits are told."""


@dataclass(frozen=True, slots=True)
class Limit:
    """One thing that is asked: of a node, or the one of its kind with this number."""

    kind: Kind
    at: int = 0


def limits_of(instance: Instance, stops: Iterable[int]) -> list[Limit]:
    """All limits that these stops, the depot and the end meet with."""
    ends = [instance.end] if instance.end else []
    nodes = sorted({*stops, *ends})
    opens, last = hull(instance)
    limits = [Limit("closes", node) for node in nodes if math.isfinite(last[node])]
    limits += [Limit("closes", 0)] if instance.end == 0 and math.isfinite(last[0]) else []
    limits += [Limit("opens", node) for node in nodes if opens[node] > opens[0]]
    limits += [Limit("gaps", node) for node in nodes if len(windows_of(instance, node)) > 1]
    limits += [Limit("break", number) for number in range(len(instance.breaks))]
    limits += [Limit("draft", node) for node in nodes if math.isfinite(instance.draft[node])]
    limits += [Limit("capacity")] if math.isfinite(instance.capacity) else []
    limits += [Limit("empty")] if instance.load == "signed" else []
    limits += [Limit("ways")] if "closed ways" in instance.constraints else []
    for kind, pairs in (("before", instance.before), ("pairs", instance.pairs)):
        limits += [Limit(kind, at) for at, pair in enumerate(pairs) if set(pair) <= set(nodes)]
    return limits


def without(instance: Instance, dropped: Collection[Limit]) -> Instance:
    """The same instance with nothing asked by these limits."""
    gone: dict[Kind, set[int]] = {}
    for limit in dropped:
        gone.setdefault(limit.kind, set()).add(limit.at)

    def left(kind: Kind) -> list:
        rows = instance.breaks if kind == "break" else getattr(instance, kind)
        return [row for at, row in enumerate(rows) if at not in gone.get(kind, ())]

    draft = instance.draft.copy()
    draft[list(gone.get("draft", ()))] = math.inf
    fields: dict[str, Any] = {
        "draft": draft,
        "capacity": math.inf if "capacity" in gone else instance.capacity,
        "before": left("before"),
        "pairs": left("pairs"),
        "breaks": left("break"),
    }
    fields |= _widened(instance, gone) | (_open_ways(instance) if "ways" in gone else {})
    eased = replace(instance, **fields)
    taken_off = -float(np.minimum(eased.demand, 0).sum())
    return lifted(eased, taken_off, 0.0) if "empty" in gone else eased


def _open_ways(instance: Instance) -> dict[str, Any]:
    """Travel on which closed ways take no time."""
    closed = np.isinf(instance.travel) | np.isinf(instance.cost)
    return {"travel": np.where(closed, 0.0, instance.travel), "cost": None}


def _widened(instance: Instance, gone: dict[Kind, set[int]]) -> dict[str, Any]:
    """The windows without some of their ends."""
    nodes = set().union(*(gone.get(kind, ()) for kind in ("opens", "closes", "gaps")))
    opens, closes, latest = (instance.opens.copy(), instance.closes.copy(), instance.latest.copy())
    windows, first = dict(instance.windows), windows_of(instance, 0)[0][0]
    for node in nodes:
        spans = [list(span) for span in windows_of(instance, node)]
        spans = [[spans[0][0], spans[-1][1]]] if node in gone.get("gaps", ()) else spans
        if node in gone.get("closes", ()):
            spans[-1][1], latest[node] = math.inf, math.inf
        if node in gone.get("opens", ()):
            spans[0][0] = min(first, spans[0][0])
        windows.pop(node, None)
        if len(spans) > 1:
            windows[node] = tuple((low, high) for low, high in spans)
        opens[node], closes[node] = spans[0][0], spans[-1][1]
    return {"opens": opens, "closes": closes, "latest": latest, "windows": windows}


def clauses(instance: Instance, stops: Sequence[int], limits: Iterable[Limit]) -> list[str]:
    """The limits in words, as people state them; closings and openings of a stop together."""
    found = sorted(limits, key=lambda limit: (WORDED.index(limit.kind), limit.at == 0, limit.at))
    opened = {limit.at for limit in found if limit.kind == "opens"}
    words = []
    for limit in found:
        if limit.kind == "opens" and Limit("closes", limit.at) in found:
            continue
        words.append(_clause(instance, stops, limit, also=limit.at in opened))
    return words


def _clause(instance: Instance, stops: Sequence[int], limit: Limit, also: bool) -> str:
    at = limit.at
    if limit.kind in ("before", "pairs"):
        first, second = (label(instance, node) for node in getattr(instance, limit.kind)[at])
        what = "must come before" if limit.kind == "before" else "is the pickup for"
        return f"stop {first} {what} stop {second}"
    if limit.kind == "break":
        first, last, length = instance.breaks[at]
        within = f"between {instance.time_text(first)} and {instance.time_text(last)}"
        return f"a break of {instance.duration_text(length)} must start {within}"
    if limit.kind in ("opens", "closes", "gaps", "draft"):
        return f"{_who(instance, at)} {_asked(instance, limit, also)}"
    return {
        "capacity": f"the capacity is {instance.capacity:.8g}",
        "empty": f"no more can be taken off than is on board, {_first(instance, stops):.8g} at first",
        "ways": _closed(instance, stops),
    }[limit.kind]


def _first(instance: Instance, stops: Sequence[int]) -> float:
    """The load on leaving the depot for these stops."""
    ends = [instance.end] if instance.end else []
    return instance.aboard + float(instance.loaded[sorted({*stops, *ends})].sum())


def _who(instance: Instance, node: int) -> str:
    if node == 0:
        return "the depot"
    ends = ", where the tour ends," if node == instance.end else ""
    return f"stop {label(instance, node)}{ends}"


def _asked(instance: Instance, limit: Limit, also: bool) -> str:
    """What a limit asks of its node."""
    node = limit.at
    opens, last = hull(instance)
    if limit.kind == "draft":
        return f"has a draft of {instance.draft[node]:.8g}"
    if limit.kind == "opens":
        return f"opens at {instance.time_text(opens[node])}"
    if limit.kind == "closes":
        what = "closes at" if math.isinf(instance.late[node]) else "may be served until"
        first = f"opens at {instance.time_text(opens[node])} and " if also and node else ""
        return f"{first}{what} {instance.time_text(last[node])}"
    spans = windows_of(instance, node)
    shut = [
        f"{instance.time_text(a[1])} and {instance.time_text(b[0])}" for a, b in pairwise(spans)
    ]
    return f"is closed between {', between '.join(shut)}"


def _closed(instance: Instance, stops: Sequence[int]) -> str:
    """Ways between these stops that cannot be taken."""
    ends = [instance.end] if instance.end else []
    nodes = [0, *(stop for stop in stops if stop != instance.end), *ends]
    names = ["the depot", *(label(instance, node) for node in nodes[1:])]
    closed = np.isinf(instance.travel) | np.isinf(instance.cost)
    legs = [
        f"from {names[a]} to {names[b]}"
        for a, b in np.argwhere(closed[np.ix_(nodes, nodes)]).tolist()
        if not (nodes[a] in ends or (b == 0 and instance.end != 0))
    ]
    if not 0 < len(legs) <= MOST_WAYS:
        return "ways between them are closed"
    return f"there is no way {' or '.join(legs)}"


def spots_of(instance: Instance, limits: Collection[Limit]) -> list[Spot]:
    """The numbers whose change may end a conflict of these limits."""
    kinds, spots = {limit.kind for limit in limits}, []
    for kind, at in ((limit.kind, limit.at) for limit in limits):
        match kind:
            case "gaps":
                gaps = range(1, len(windows_of(instance, at)))
                spots += [Spot("closes", at, gap - 1) for gap in gaps]
                spots += [Spot("opens", at, gap) for gap in gaps]
            case "closes" if math.isfinite(instance.late[at]):
                spots.append(Spot("latest", at))
            case "closes":
                spots.append(Spot("closes", at, len(windows_of(instance, at)) - 1))
            case "opens" | "draft" | "capacity":
                spots.append(Spot(kind, at))
            case "empty":
                spots.append(Spot("aboard"))
            case "break":
                spots += [Spot("break until", at), Spot("break from", at), Spot("break length", at)]
    if instance.load == "signed" and kinds & {"capacity", "draft"}:
        spots.append(Spot("aboard"))
    if kinds & {"closes", "gaps", "break"}:
        spots.append(Spot("opens", 0))
    return list(dict.fromkeys(spots))
