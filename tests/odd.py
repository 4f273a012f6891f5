"""Small instances that break every habit: without the triangle inequality, and with what hardly anybody asks for."""

from dataclasses import replace
from itertools import pairwise

import numpy as np

from fairway.problems.instance import TSPDL, TSPTW


def odd_windows(rng, nodes, width):
    """Whole, asymmetric travel that breaks the triangle inequality, service times, windows around a tour."""
    travel = rng.integers(0, 12, (nodes, nodes)).astype(float)
    service = rng.integers(0, 3, nodes)
    now, here, opens, closes = service[0], 0, np.zeros(nodes), np.full(nodes, 30.0 * nodes)
    for stop in 1 + rng.permutation(nodes - 1):
        now += travel[here, stop]
        opens[stop], closes[stop] = now - rng.integers(0, width), now + rng.integers(0, width)
        now, here = now + service[stop], stop
    return TSPTW(travel, opens, closes, service)


def odd_drafts(rng, nodes, load="growing"):
    demand = np.append(0, rng.integers(0, 4, nodes - 1))
    order = 1 + rng.permutation(nodes - 1)
    draft = np.zeros(nodes)
    draft[order] = np.cumsum(demand[order]) + rng.integers(0, 4, nodes - 1)
    return TSPDL(rng.integers(0, 12, (nodes, nodes)), demand, draft, load)


def bent(rng, instance):
    """An instance with one to three more things that hardly anybody asks for, and that nothing forbids."""
    for bend in rng.choice(len(BENDS), rng.integers(1, 4), replace=False):
        instance = BENDS[bend](rng, instance)
    return instance


def _stops(instance):
    return [node for node in range(1, instance.nodes) if node != instance.end]


def _some(rng, values, chance, other):
    """The values, with another in some places."""
    return np.where(rng.random(np.shape(values)) < chance, other, values)


def _legs(instance, travel):
    """With other travel, and where cost was the same with that for cost."""
    return replace(
        instance,
        travel=travel,
        cost=None if instance.cost is instance.travel else instance.cost,
    )


def _times(instance, changed):
    """With every time changed in the same way, travel and other lengths apart."""
    spans = {
        node: [(changed(a), changed(b)) for a, b in each] for node, each in instance.windows.items()
    }
    columns = {name: changed(getattr(instance, name)) for name in ("opens", "closes", "latest")}
    breaks = [(changed(first), changed(last), length) for first, last, length in instance.breaks]
    return replace(instance, windows=spans, breaks=breaks, **columns)


def _in_another_unit(rng, instance):
    """Times and prices of lateness, or loads, in a unit of which there are many or few."""
    unit = float(rng.choice([1e6, 1024.0, 1 / 64, 1 / 3, 1e-3]))
    if rng.random() < 0.3:
        loads = {
            name: unit * getattr(instance, name)
            for name in ("demand", "loaded", "draft", "capacity")
        }
        return replace(instance, aboard=unit * instance.aboard, **loads)
    scaled = _times(_legs(instance, instance.travel * unit), lambda time: unit * time)
    breaks = [(first, last, unit * length) for first, last, length in scaled.breaks]
    return replace(scaled, service=unit * instance.service, breaks=breaks)


def _before_midnight(rng, instance):
    """The same day, counted from a moment within it, so that times are negative."""
    moment = float(rng.integers(1, 60))
    return _times(instance, lambda time: time - moment)


def _another_end(rng, instance):
    return replace(instance, end=rng.choice([0, None, int(rng.integers(1, instance.nodes))]))


def _few(rng, instance):
    """One stop or two, of which one may be the end."""
    kept = {*rng.choice(np.arange(1, instance.nodes), rng.integers(1, 3), replace=False).tolist()}
    return instance.restricted([0, *sorted(kept | ({instance.end or 0} - {0}))])


def _nothing_to_travel(rng, instance):
    """Legs that take or cost nothing, all of them or some."""
    travel = _some(rng, instance.travel, rng.choice([0.4, 1.0]), 0.0)
    if rng.random() < 0.5:
        return replace(instance, cost=_some(rng, instance.cost, rng.choice([0.4, 1.0]), 0.0))
    return _legs(instance, travel)


def _ways_missing(rng, instance):
    """Legs without a way, of travel or of a cost apart from it."""
    if rng.random() < 0.5:
        return replace(instance, cost=_some(rng, instance.cost, 0.15, np.inf))
    return _legs(instance, _some(rng, instance.travel, 0.15, np.inf))


def _all_optional(rng, instance):
    """Each stop for nothing, for next to nothing, for a fortune, or for a price like others."""
    prize = rng.choice([0.0, 1e-3, 5.0, 15.0, 1e6], instance.nodes)
    return replace(instance, prize=rng.choice([prize, np.full(instance.nodes, prize[-1])]))


def _moments(rng, instance):
    """Windows of no width, alone, many, or that touch."""
    spans, leaves = {}, float(instance.opens[0])
    for node in rng.permutation(instance.nodes).tolist():
        leaves += float(rng.integers(0, 20))
        touching = [
            (leaves, leaves),
            (leaves, leaves + 3),
            (leaves + 3, leaves + 3),
            (leaves + 9, np.inf),
        ]
        if rng.random() < 0.4:
            spans[node] = touching[rng.integers(3) : rng.integers(3, 5)]
    return replace(instance, windows=instance.windows | spans)


def _depot_by_hours(rng, instance):
    """A depot with several windows, of which the first may be before all others."""
    ends = np.sort(rng.integers(0, 60, 2 * rng.integers(1, 4))).astype(float)
    last = np.inf if rng.random() < 0.3 else ends[-1] + 40.0 * rng.integers(0, 2)
    spans = np.append(ends[:-1], last).reshape(-1, 2).tolist()
    return replace(instance, windows=instance.windows | {0: list(map(tuple, spans))})


def _lateness(rng, instance):
    """Prices of lateness from nothing to a fortune, and last starts before the closing, or none."""
    nodes = instance.nodes
    late = rng.choice([0.0, 1e-3, 1.0, 50.0, np.inf], nodes)
    latest = np.minimum(instance.closes, 80.0) + rng.choice([-5.0, 0.0, 9.0, np.inf], nodes)
    return replace(instance, late=late, latest=latest)


def _breaks(rng, instance):
    """Breaks without a length, without a choice of when, without a last start, twice the same, or at once."""
    first = float(instance.opens[0] + rng.integers(0, 20))
    kinds = [
        *[(first, first + 9, 0.0), (first, first, 2.0), (first, np.inf, 3.0), (first, first, 0.0)],
        *[(first - 30, first + 2, 4.0), (first - 30, first - 5, 1.0)],
    ]
    chosen = [kinds[kind] for kind in rng.choice(len(kinds), rng.integers(1, 3), p=WEIGHTS)]
    return replace(instance, breaks=chosen)


WEIGHTS = (0.25, 0.2, 0.15, 0.15, 0.2, 0.05)


def _tangled(rng, instance):
    """Chains and repetitions of an order, stops in several pairs, and all of it beside an end of its own."""
    chain = [1 + node for node in rng.permutation(instance.nodes - 1).tolist()]
    links = [(a, b) for a, b in pairwise(chain) if rng.random() < 0.5]
    if rng.random() < 0.5:
        return replace(instance, before=[*links, *links[:1], *instance.before])
    return replace(instance, pairs=[*instance.pairs, *links[:2]])


def _other_loads(rng, instance):
    """Stops that bear or bring nothing, and loads in every direction with what is aboard."""
    load, nodes = str(rng.choice(["growing", "shrinking", "signed"])), instance.nodes
    signed = load == "signed"
    demand = rng.integers(-4 if signed else 0, 5, nodes) * float(rng.choice([1.0, 0.1]))
    demand[0] = 0.0
    loaded = np.maximum(0.0, -demand) * rng.integers(0, 2, nodes) if signed else None
    return replace(
        instance,
        load=load,
        demand=demand,
        loaded=loaded,
        aboard=float(rng.integers(0, 9)),
        capacity=float(rng.choice([0.0, 3.0, 8.0, 20.0, np.inf])),
        draft=_some(rng, np.full(nodes, np.inf), rng.choice([0, 0.3]), rng.integers(0, 12)),
    )


BENDS = (
    *(_in_another_unit, _before_midnight, _another_end, _few, _nothing_to_travel, _ways_missing),
    *(_all_optional, _moments, _depot_by_hours, _lateness, _breaks, _tangled, _other_loads),
)
