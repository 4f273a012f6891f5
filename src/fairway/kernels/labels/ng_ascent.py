"""A lower bound from ng-paths with exact resources: multipliers by subgradient ascent, legs fixed against a known tour.

Three things raise it. Multipliers of the visits move until the least path visits every stop about once. Stops on a
cycle of the least path remember the one that closes it. And legs that no path below the known cost takes are left out
for good: paths are found from both ends, those of the second direction only as far as the first can complete them.

Where windows are wide most of the labels of a sweep differ only in what they remember. So steps are taken along paths
of sweeps that keep few of these, which bound nothing; what they lead to is bounded by a sweep that keeps all.
"""

import numpy as np
from jaxtyping import Float, Int, UInt

from fairway import clock
from fairway.kernels.labels import ng_sweep, ng_tours
from fairway.kernels.labels.bound import Bound, assigned_legs
from fairway.kernels.labels.label_model import LabelModel, packed, unpacked
from fairway.kernels.labels.ng_completions import bound_of, lay_stairs
from fairway.kernels.labels.ng_directions import (
    BY_SET_WIDEST,
    directions,
    keep_turned,
    latest,
    no_gaps,
    room,
    scale,
)
from fairway.kernels.labels.ng_sweep import Direction, Gaps, Stairs, Sweep
from fairway.kernels.labels.relaxed import learn

LABELS, BY_SET_LABELS = 400_000, 1_000_000
"""The most labels of one sweep."""
MOST_BY_SET = 200
"""Nodes up to which there is room for paths that are told apart by their stops."""
NEAREST = 8
"""Stops that each remembers from the beginning."""
MOST_TOGETHER, APART_BY = 16, 1e-6
"""Stops at most that a path may go round in no time, and what part of the horizon is no time."""
QUANTUM = 1_000_000
"""Work between two looks at the clock, a few milliseconds."""
PACES, BY_SET_PACES = (0.3, 0.15), (1.5, 0.3)
"""The first step, in steps to the upper bound, and the first once more is remembered; where stops are counted, no step
is too long, since paths cannot go round and round."""
RIVALS, MOST_RIVALS, ALL = (1, 2, 4, 8, 16), 32, 1 << 40
"""How many labels that remember other stops drop one that is dearer and later: at first, at most, and in a bound."""
LEADING, CHECKED = 0.2, 0.1
"""Of the time that is left, what sweeps may take that miss as many, and seconds for a bound where they have led to."""
HASTE, SLOWER, QUICK, SLOW = 1.0, 0.9, 0.02, 4.0
"""The first step of sweeps that bound nothing, what is kept of it where one takes too long, the seconds that it may
take in any case, and how many times as long a sweep for a bound must take for others to be worth it."""
FAR = 0.9
"""Of the upper bound, below what a bound is led by sweeps that miss labels."""
APART = 0.1
"""Of the gap, by how much such a sweep may promise more than a bound holds before it has to miss less."""
PATIENCE, SHORTER, SHORTEST = 5, 0.7, 0.05
"""After so many sweeps without a better bound, by how much steps get shorter; and those that are not worth taking."""
MOMENTUM = 0.7
"""Of the last step's direction, what the next one keeps."""
MEMORIES = (8, 12, 16, 20, 24, 32, 48)
"""Stops that each may remember, one number after the other."""
RETREAT, RETREATS = (0.5, 0.3), 8
"""How much of a step is kept whose sweep takes too long, of one for a bound and of others; and how often in a row
before more has to be remembered."""
FIXING = 15
"""Sweeps between two attempts to fix legs."""
SINGLE, LONGER, AT_ONCE = 0.15, 6.0, 0.05
"""Of the time that is left, what one sweep may take; how many times as long as the last one; and seconds that it may
take in any case."""


def suits(model: LabelModel) -> bool:
    """Whether the paths of a model can be bounded: no two stops are visited at once without end."""
    if model.makespan or len(model.node) < 3:
        return False
    if model.by_set:
        return len(model.node) <= MOST_BY_SET and bool(np.isinf(model.prize).all())
    horizon = latest(model)[1:].max(initial=-np.inf) - model.opens[0]
    finite = bool(np.isfinite(horizon) and np.isfinite(model.closes[0]))
    onward = bool((model.rise + model.stay[:, None]).min() >= 0)
    return finite and onward and float(unpacked(together(model)).sum(1).max()) <= MOST_TOGETHER


class Ascent:
    """The best bound so far, and how to go on from it."""

    def __init__(self, model: LabelModel, upper: float, gaps: Gaps | None = None) -> None:
        self.model, self.upper = model, float(upper)
        self.enough = self.upper
        """A bound that need not be raised further."""
        start = assigned_legs(model)
        self.multiplier = start.multiplier.copy()
        self.ng_memory = start.ng_memory | _nearest(model, NEAREST)
        if not model.by_set:
            self.ng_memory |= together(model)
        self.best, self.best_memory = self.multiplier.copy(), self.ng_memory.copy()
        self.height = -np.inf
        """No tour costs less; infinite where none costs less than the upper bound."""
        self.pace, self._again = BY_SET_PACES if model.by_set else PACES
        self.sweeps, self._took, self._quick = 0, AT_ONCE, 0.0
        self._rivals, self._level = RIVALS[-1], 0
        self._direction = np.zeros(len(model.node) - 1)
        optional = bool(np.isfinite(model.prize[1:]).all())
        self._empty = float(model.price[0, 0]) if optional else np.inf
        """What a tour without any stop costs, where that is one."""
        self.widest = BY_SET_WIDEST
        cells = len(model.node) if model.by_set else 1
        self.out, self.home = directions(model, cells, gaps or no_gaps(len(model.node)))
        most = BY_SET_LABELS if model.by_set else LABELS
        self._rooms = (room(model, cells, most), room(model, cells, most))
        nodes = len(model.node)
        self._all = Stairs(
            *(np.zeros((cells, nodes), np.int64), np.ones((cells, nodes), np.int64)),
            *(np.full(1, -np.inf), np.full(1, -np.inf)),
        )
        self._stairs = Stairs(
            *(np.zeros((cells, nodes), np.int64), np.zeros((cells, nodes), np.int64)),
            *(np.empty(most), np.empty(most)),
        )

    def climb(self, until: float, pause: float = np.inf) -> bool:
        """Raise the bound with ever more stops remembered by each, until a pause; whether there is more to gain."""
        if self.sweeps == 0 and not self.model.by_set:
            self._begin(until)
        while self._level < len(MEMORIES):
            self._climb(MEMORIES[self._level], until, pause)
            if clock.now() >= min(until, pause) or self.height >= self.enough:
                break
            self._level += 1
            self.pace = max(self.pace, self._again)
        return self._level < len(MEMORIES) and self.height < self.enough

    def _begin(self, until: float) -> None:
        """Be led by sweeps that miss ever fewer labels, each followed by one for a bound, if that is as quick."""
        outward = self._outward(until)
        if outward is None:
            return
        self.sweeps = 1
        self._keep(self._least(outward))
        for rivals in RIVALS:
            began = clock.now()
            lead = self._hurry(rivals, MEMORIES[0], began + LEADING * (until - began))
            if lead == -np.inf:
                break  # sweeps that miss less would take longer still
            now = clock.now()
            outward = self._outward(min(until, now + min(now - began, CHECKED)))
            if outward is None:
                continue
            least = self._least(outward)
            if least > self.height:
                self._keep(least)
            if lead - least <= APART * (self.upper - least):
                break

    def _hurry(self, rivals: int, memory: int, until: float, pace: float = HASTE) -> float:
        """Take steps without a bound until they lead nowhere; says what would be a bound if no label were missing."""
        leading, lead, fruitless = self.multiplier.copy(), -np.inf, 0
        self._direction[:] = 0.0
        while fruitless < PATIENCE and (now := clock.now()) < until:
            fruitless += 1
            sweep = self._outward(min(until, now + max(QUICK, PATIENCE * self._quick)), rivals)
            if sweep is None:
                if lead == -np.inf:
                    break  # there is nothing to go back to
                self._retreat(leading, RETREAT[1])
                pace *= SLOWER
                continue
            self._quick, least = clock.now() - now, self._least(sweep)
            if least > lead:
                fruitless = 0 if least > lead + 1e-4 * abs(least) else fruitless
                lead, leading = least, self.multiplier.copy()
            if least == np.inf or not self._step(sweep, least, memory, pace):
                break
        self.multiplier = leading
        return lead

    def _climb(self, memory: int, until: float, pause: float) -> None:
        """Take steps with so many stops remembered by each, until they are too short or the time is up."""
        fruitless = retreats = 0
        if self.model.by_set:
            self.widest = min(memory, BY_SET_WIDEST)
        while self.pace > SHORTEST and retreats < RETREATS and self.height < self.enough:
            lead = self._lead(memory, until)
            now = clock.now()
            if now >= min(until, pause):
                break
            outward = self._outward(min(until, now + self._longest(until - now)))
            if outward is None:
                self._give_way(retreats)
                retreats += 1
                continue
            self._took = max(clock.now() - now, AT_ONCE / LONGER)
            retreats, self.sweeps = 0, self.sweeps + 1
            least = self._least(outward)
            if lead - least > APART * (self.upper - least):
                self._rivals = min(2 * self._rivals, MOST_RIVALS)
            fruitless += 1
            if least > self.height:
                fruitless = 0 if least > self.height + 1e-4 * abs(self.height) else fruitless
                self._keep(least)
            if self.sweeps % FIXING == 0:
                self._fix(outward, until)
            if least == np.inf or not self._step(outward, least, memory, self.pace):
                break
            if fruitless >= PATIENCE:
                self.pace, fruitless = SHORTER * self.pace, 0

    def _lead(self, memory: int, until: float) -> float:
        """Go ahead without a bound where that is much quicker, for as long as a bound takes."""
        now = clock.now()
        if not self._far or self._took <= SLOW * self._quick or now + 2 * self._took >= until:
            return -np.inf
        return self._hurry(self._rivals, memory, now + self._took, HASTE * self.pace / PACES[0])

    @property
    def _far(self) -> bool:
        """Whether the bound is so low that sweeps which miss labels lead further than careful steps."""
        return not self.model.by_set and self.height < FAR * self.upper

    def _longest(self, left: float) -> float:
        """What the next sweep for a bound may take."""
        longest = SINGLE * left + AT_ONCE
        # Where stops are counted, no sweep takes much longer than another.
        return longest if self.model.by_set else min(longest, LONGER * self._took)

    def _give_way(self, retreats: int) -> None:
        """A sweep for a bound took too long: try a shorter step, or be led by sweeps that miss less."""
        self.pace *= SLOWER if self._far else SHORTER
        self._rivals, self._took = min(2 * self._rivals, MOST_RIVALS), 2 * self._took
        if not self._far or self._rivals == MOST_RIVALS or retreats % 3 == 2:
            self._retreat(self.best, RETREAT[0] if self._far else RETREAT[1])
        self._direction[:] = 0.0

    def _retreat(self, good: Float[np.ndarray, " N"], kept: float) -> None:
        """Go back towards multipliers whose sweep came to an end."""
        self.multiplier = good + kept * (self.multiplier - good)
        self._direction[:] = 0.0

    def _least(self, outward: Sweep) -> float:
        """What the least path found says of the whole tour."""
        path = min(float(outward.figures[ng_sweep.LEAST]), self._empty)
        return path + float(self.multiplier.sum())

    def _keep(self, least: float) -> None:
        self.height = least
        self.best[:], self.best_memory[:] = self.multiplier, self.ng_memory

    def _step(self, outward: Sweep, least: float, memory: int, pace: float) -> bool:
        """Learn from the least path; whether there was anything to learn."""
        walk, prize = _walk(outward), self.model.prize[1:]
        off = 1.0 - np.bincount(walk, minlength=len(self.multiplier))[1:]
        off[(off > 0) & (self.multiplier[1:] >= prize)] = 0.0  # rather left out than dearer
        learned = learn(self.ng_memory, walk, np.full(len(self.multiplier), -1), memory)
        if off.any():
            goal = self.upper if self.upper < np.inf else least + 0.05 * abs(least)
            way = self._direction = off + MOMENTUM * self._direction
            self.multiplier[1:] += pace * (goal - least) / max(way @ way, 1e-9) * way
            np.minimum(self.multiplier[1:], prize, out=self.multiplier[1:])
        return learned or bool(off.any())

    def _outward(self, until: float, rivals: int = ALL) -> Sweep | None:
        """Paths from the depot under the present multipliers; None where there was no time or room for them."""
        sweep = self._sweep(self.out, 0, self._all)
        sweep.marks[ng_sweep.RIVALS] = rivals
        return sweep if _done(sweep, np.inf, until) else None

    def _homeward(self, outward: Sweep, until: float) -> Sweep | None:
        """All paths to the depot that complete some of these below the upper bound."""
        lay_stairs(outward, self._stairs)
        sweep = self._sweep(self.home, 1, self._stairs)
        return sweep if _done(sweep, self.upper - self.multiplier.sum(), until) else None

    def _fix(self, outward: Sweep, until: float) -> None:
        """Leave out the legs that no path below the upper bound takes."""
        homeward = self._homeward(outward, until) if self.upper < np.inf else None
        if homeward is None:
            return
        if homeward.marks[ng_sweep.BEST] < 0 and np.isinf(self._empty):
            self.height = np.inf
            return
        self.home.legs[:] = homeward.useful
        keep_turned(self.out.legs, self.home.legs)

    def narrowed(self) -> UInt[np.ndarray, "N W"]:
        """The stops that may come straight after each in a tour that costs less than the upper bound."""
        return self.model.after & np.bitwise_or.reduce(self.out.legs, axis=0)

    def bound(self, until: float) -> Bound | None:
        """What completing a label costs at least, by the best multipliers; None where there was no time for it."""
        self.multiplier[:], self.ng_memory[:] = self.best, self.best_memory
        outward = self._outward(until)
        homeward = None if outward is None else self._homeward(outward, until)
        if homeward is None:
            return None
        bound = bound_of(homeward, self.ng_memory)
        bound.cost[0] = min(bound.cost[0], self._empty)
        return bound

    def _sweep(self, way: Direction, number: int, other: Stairs) -> Sweep:
        labels, kept = self._rooms[number]
        figures, marks = np.zeros(4), np.zeros(7, np.int64)
        marks[ng_sweep.MOST] = len(labels.cost)
        marks[ng_sweep.WIDEST], marks[ng_sweep.RIVALS] = self.widest, ALL
        figures[ng_sweep.LOWEST], figures[ng_sweep.SCALE] = scale(way)
        return Sweep(
            way,
            self.multiplier,
            way.price - self.multiplier,
            self.ng_memory,
            labels,
            *kept,
            np.empty(len(way.legs) if self.model.by_set else ng_sweep.BUCKETS, np.int32),
            marks,
            figures,
            other,
            np.empty_like(way.legs),
            *np.zeros((2, way.legs.shape[2]), np.uint64),
        )


def _done(sweep: Sweep, upper: float, until: float) -> bool:
    """Find all paths below the upper bound; whether there was time and room for it."""
    ng_tours.begin(sweep, upper)
    used = -1
    while ng_tours.advance(sweep, QUANTUM):
        full = used == sweep.marks[ng_sweep.USED] and _crowded(sweep)
        used = int(sweep.marks[ng_sweep.USED])
        if full or clock.now() >= until:
            return False
    return not sweep.marks[ng_sweep.LOST]


def _crowded(sweep: Sweep) -> bool:
    return bool(sweep.marks[ng_sweep.USED] + len(sweep.multiplier) > sweep.marks[ng_sweep.MOST])


def _walk(sweep: Sweep) -> Int[np.ndarray, " M"]:
    """The stops of the least path, in its order."""
    walk, label = [], int(sweep.marks[ng_sweep.BEST])
    while label > 0:
        walk.append(sweep.labels.stop[label])
        label = sweep.labels.parent[label]
    return np.array(walk[::-1], np.int64)


def _nearest(model: LabelModel, most: int) -> UInt[np.ndarray, "N W"]:
    """The stops that are nearest to each, there and back."""
    way = model.price + model.price.T
    np.fill_diagonal(way, np.inf)
    way[:, 0] = np.inf
    near = np.zeros(way.shape, dtype=bool)
    np.put_along_axis(near, np.argsort(way, axis=1, kind="stable")[:, :most], True, axis=1)
    return packed(near & np.isfinite(way))


def together(model: LabelModel) -> UInt[np.ndarray, "N W"]:
    """Of each stop those that a path could go round with it in no time, if it did not remember them."""
    growth = model.rise + model.stay[:, None]
    horizon = latest(model)[1:].max(initial=-np.inf) - model.opens[0]
    onward = unpacked(model.after) & (growth <= APART_BY * max(horizon, 1e-9))
    onward[0] = False
    legs = 0
    while legs < onward.sum():
        legs = onward.sum()
        onward |= onward.astype(np.float32) @ onward.astype(np.float32) > 0
    round_trip = onward & onward.T
    np.fill_diagonal(round_trip, False)
    return packed(round_trip)
