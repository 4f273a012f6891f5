"""Small random instances with any combination of the constraints, with a tour and without."""

import itertools
import math

import numpy as np

from fairway.problems.instance import Instance


def drawn(rng, stops):
    """A random instance with any combination of the constraints, around a tour that keeps all of them or most."""
    sketch = _Sketch(rng, stops)
    return Instance(
        sketch.closed(sketch.travel),
        cost=sketch.closed(sketch.legs()) if sketch.perhaps() else None,
        service=sketch.service,
        prize=sketch.some(0, 30) if sketch.perhaps() else None,
        end=sketch.end,
        **_times(sketch),
        **_order(sketch),
    )


class _Sketch:
    """What all constraints are drawn around: travel, and a tour of all stops."""

    def __init__(self, rng, stops):
        self.rng, self.nodes = rng, stops + 1
        self.grain = rng.choice([1, 1, 1, 1, 8, 0])
        self.tour = [int(stop) for stop in 1 + rng.permutation(stops)]
        self.end = rng.choice([0, 0, self.tour[-1], None])
        self.wrong = rng.choice([0.1, 0.3, 0.6])
        self.travel = self.legs()
        self.service = self.numbers(0, 9) if self.perhaps(0.6) else [0.0] * self.nodes

    def perhaps(self, chance=0.4):
        return bool(self.rng.random() < chance)

    def number(self, low, high):
        """From low to high: whole, in eighths, or any."""
        number = self.rng.uniform(low, high)
        return float(np.rint(number * self.grain) / self.grain if self.grain else number)

    def numbers(self, low, high):
        return [self.number(low, high) for _ in range(self.nodes)]

    def some(self, low, high):
        """A number for some nodes, infinity for the others."""
        return [number if self.perhaps(0.6) else math.inf for number in self.numbers(low, high)]

    def legs(self):
        """Of a plane, or asymmetric and not metric."""
        if self.perhaps():
            return np.array([self.numbers(1, 20) for _ in range(self.nodes)])
        points = self.rng.uniform(0, 20, (self.nodes, 2))
        lengths = np.linalg.norm(points[:, None] - points, axis=-1)
        return np.ceil(lengths * self.grain) / self.grain if self.grain else lengths

    def closed(self, legs):
        """The legs, of which in some instances a few are no way."""
        ways = self.rng.random(legs.shape) >= (0.2 if self.perhaps(0.2) else 0)
        return np.where(ways, legs, math.inf)


def _times(sketch):
    """Windows around the times of the tour, breaks that it takes, and prices of lateness."""
    first = sketch.number(0, 20) if sketch.perhaps(0.6) else 0.0
    pausing = sketch.rng.integers(0, len(sketch.tour), 2 if sketch.perhaps() else 1)
    pausing = pausing if sketch.perhaps() else []
    starts, breaks, leaves = {}, [], first + sketch.service[0]
    for a, b in itertools.pairwise((0, *sketch.tour, 0)):
        arrives = leaves + sketch.travel[a, b]
        for _ in range(list(pausing).count(len(starts))):
            length, due = sketch.number(1, 8), sketch.number(leaves, arrives)
            spare = sketch.rng.choice([1, 9])
            breaks.append((due - sketch.number(0, spare), due + sketch.number(0, spare), length))
            arrives += length
        starts[b] = arrives + sketch.number(0, 6) * sketch.perhaps(0.3)
        leaves = starts[b] + sketch.service[b]
    opens, closes = np.zeros(sketch.nodes), np.full(sketch.nodes, math.inf)
    wide, often = sketch.rng.choice([6, 12, 30]), sketch.rng.choice([0, 0.8, 1])
    for node, start in starts.items():
        if sketch.perhaps(often):
            at = sketch.number(first, starts[0]) if sketch.perhaps(sketch.wrong) else start
            opens[node] = max(0.0, at - sketch.number(0, wide))
            closes[node] = at + sketch.number(0, wide)
    opens[0], closes[0] = first, max(first, closes[0])
    chosen = [node for node in range(sketch.nodes) if sketch.perhaps(0.6)]
    windows = {node: _split(sketch, opens[node], closes[node]) for node in chosen}
    late, spare = (sketch.some(0, 4), sketch.some(0, 15)) if sketch.perhaps() else (None, math.inf)
    windows = windows if sketch.perhaps() else {}
    return {
        "opens": opens,
        "closes": closes,
        "windows": windows,
        "breaks": breaks,
        "late": late,
        "latest": closes + spare,
    }


def _split(sketch, opens, closes):
    """One, two or three windows between an opening and a closing."""
    ends = [float(opens), float(closes)]
    for _ in range(sketch.rng.integers(0, 3)):
        cut = sketch.number(opens, min(closes, opens + 20))
        ends += [cut, min(cut + sketch.number(0, 5), closes)]
    ends.sort()
    return list(zip(ends[::2], ends[1::2], strict=True))


def _order(sketch):
    """Pairs and order as on the tour, and loads that it bears."""
    tour, rng = sketch.tour, sketch.rng
    ranks = [sorted(rng.choice(len(tour), 2, replace=False)) for _ in range(rng.integers(1, 4))]
    legs = [(tour[a], tour[b]) for a, b in ranks]
    before = [pair[:: -1 if sketch.perhaps(sketch.wrong) else 1] for pair in legs]
    pairs = [pair for k, pair in enumerate(legs) if not {*itertools.chain(*legs[:k])} & {*pair}]
    asked = {
        "before": before if sketch.perhaps() else (),
        "pairs": pairs if sketch.perhaps() else (),
    }
    if sketch.perhaps():
        return asked
    load = rng.choice(["growing", "shrinking", "signed"])
    demand = [0.0, *sketch.numbers(-3 if load == "signed" else 0, 5)[1:]]
    for pickup, delivery in asked["pairs"] if load == "signed" else ():
        demand[pickup], demand[delivery] = abs(demand[pickup]), -abs(demand[pickup])
    loaded = _loaded(rng.spawn(1)[0], demand) if load == "signed" else None
    carried = np.cumsum([demand[stop] for stop in tour]) + sum(loaded or [])
    aboard = max(0.0, -carried.min()) + sketch.number(0, 2) if load == "signed" else 0.0
    seen = {"growing": carried, "signed": carried + aboard}.get(
        load, carried[-1] - carried + [demand[stop] for stop in tour]
    )
    spare = -1 if sketch.perhaps(sketch.wrong) else sketch.number(0, 4)
    leaving = aboard + sum(loaded or []) - (spare < 0)
    capacity = max(0.0, seen.max() + spare, leaving) if sketch.perhaps(0.6) else None
    draft = np.full(sketch.nodes, math.inf)
    for stop, most in zip(tour, seen, strict=True):
        draft[stop] = most + sketch.number(0, 4) if sketch.perhaps(0.5) else math.inf
    return asked | {
        "load": str(load),
        "demand": demand,
        "loaded": loaded,
        "aboard": aboard,
        "capacity": capacity,
        "draft": draft if sketch.perhaps(0.6) else None,
    }


def _loaded(rng, demand):
    """What is delivered, or any amounts, for some of the stops; by numbers of its own, so that all else stays."""
    if rng.random() < 0.4:
        return None
    any_amount = rng.integers(0, 5, len(demand))
    given = np.maximum(0.0, np.negative(demand)) if rng.random() < 0.6 else any_amount
    more = any_amount * (rng.random(len(demand)) < 0.3)
    loaded = (given + more) * (rng.random(len(demand)) < 0.7)
    return [0.0, *map(float, loaded[1:])]
