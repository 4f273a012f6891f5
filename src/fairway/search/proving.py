"""One search under any constraints, step by step: bounds, and beams below the best tour so far.

What is bounded is a relaxation: the hull of the windows, the order, the prizes.
"""

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from fairway import clock
from fairway.kernels.general import labels
from fairway.kernels.general.beginning import COLUMNS
from fairway.kernels.general.labels import Search
from fairway.kernels.general.layers import History, Layer, compact, relink, room
from fairway.kernels.general.relaxation import (
    Relaxed,
    gaps_of,
    quick_model,
    relaxed_of,
    tight_model,
)
from fairway.kernels.general.tour_model import DURATION, MAKESPAN, TourModel
from fairway.kernels.labels.bound import Bound, assigned_legs
from fairway.kernels.labels.label_model import LabelModel
from fairway.kernels.labels.ng_ascent import suits
from fairway.kernels.labels.ng_sweep import Gaps
from fairway.kernels.labels.relaxed import Effort, affordable, ascended, height
from fairway.kernels.labels.run import Limits, Outcome, run
from fairway.kernels.ordering.order_model import order_model_of
from fairway.kernels.ranking import least
from fairway.problems.model import MARGIN
from fairway.search.climbing import climb
from fairway.search.exact import (
    LABELLING_SECONDS,
    SHARE,
    Proof,
    Stage,
    Statistics,
)
from fairway.search.ordered import both_ways

Run = tuple[float, tuple[int, ...] | None, float, tuple[int, int, int]]
"""Of a beam: what all that it lost is worth at least, its best tour and its value, and labels made, kept and widest."""
QUANTUM = 20_000
"""Work between two looks at the clock, a few milliseconds."""
FIRST = 128
"""Labels for which there is room at first."""
RISING = 0.5
"""Of the time, what it climbs for where it leaves out something that labels know: they go on from wherever it is."""
SMALL = 21
"""Nodes, both ends counted, up to which labels are as fast without preprocessing, which takes long to compile."""
PREPROCESSING_SECONDS = 4e-8
"""What preprocessing takes, about, times the cube of the nodes."""


class Proving:
    """What has been found out so far about the best tour below an upper bound."""

    relaxed: Relaxed
    label_model: LabelModel
    bound: Bound

    def __init__(self, tour: TourModel, upper: float, memory: int, seconds: float) -> None:
        self.model, self.upper, self.memory = tour, float(upper), memory
        self.began = clock.now()
        self.until = self.began + seconds
        self.tour: tuple[int, ...] | None = None
        self.value, self.lower = math.inf, -math.inf
        self.proved = self.tightened = False
        self.made = self.kept = self.widest = 0

    @property
    def ended(self) -> bool:
        """Whether there is nothing more to prove, or no more time."""
        return self.proved or clock.now() >= self.until

    @property
    def below(self) -> float:
        """What a bound must stay under for a tour that is better, without what every tour is worth."""
        best = min(self.value, self.upper)
        if math.isinf(best):
            return best
        rounding = MARGIN * max(abs(best), 1.0)
        whole = math.ceil(best) - 1 + min(rounding, 0.5)
        return (whole if self.relaxed.whole else best - rounding) - self.relaxed.offset

    @property
    def ordered(self) -> bool:
        """Whether an order is all that a tour has to keep."""
        return self.relaxed.exact and not self.model.timed and not self.proved

    def begun(self) -> bool:
        """Whether there is something to search, and was time for the bounds that can be had at once."""
        if len(self.model.node) ** 3 * LABELLING_SECONDS > self.until - self.began:
            return False
        if not self._relax():
            return False
        if self._hurry() and not self._relax():
            return False
        model = quick_model(self.relaxed, self.until)
        if model is None:
            return False
        self.label_model, self.bound = model, assigned_legs(model)
        self.learn(height(self.bound))
        return True

    def _relax(self) -> bool:
        """Have the relaxation of the model as it is; whether a tour may be left."""
        relaxed = relaxed_of(self.model)
        if relaxed is None:
            self.proved = True
            return False
        self.relaxed = relaxed
        return True

    def _hurry(self) -> bool:
        """Have the deadline that the best tour sets, where being back early counts; whether that is a new one."""
        best, (opens, closes) = min(self.value, self.upper), self.model.windows[-1].tolist()
        if self.model.objective != MAKESPAN or math.isinf(best):
            return False
        deadline = math.ceil(best) - 1.0 if self.relaxed.whole else best
        if not opens <= deadline < closes:
            return False
        windows = self.model.windows.copy()
        windows[-1, 1] = deadline
        self.model = self.model._replace(windows=windows)
        return True

    def through(self, stages: Sequence[Stage]) -> None:
        """Search by beams of growing width, until there is nothing more to prove, no time, or no room for more."""
        if not self.begun():
            return
        if self.ordered:
            self.run_sets()
            return
        for number, stage in enumerate(stages):
            if stage.sweeps > 0 and self.climbs:
                self._tighten()
                if not self.ended:
                    climb(self, math.inf, 1.0 if self.relaxed.exact else RISING)
                break
            if number > 0:
                self.sharpen(stage)
            self.run(stage.width)
            if self.ended or stage.width >= _widest(len(self.model.node), self.memory):
                break

    @property
    def climbs(self) -> bool:
        """Whether a bound that paths with exact times raise is better than wider beams."""
        limited = self.model.timed and math.isfinite(self.until)
        return limited and math.isfinite(self.goal) and suits(self.label_model)

    @property
    def gaps(self) -> Gaps | None:
        """When stops with several windows are shut between them, by the numbers of the labelling model."""
        return gaps_of(self.model, self.relaxed.node[self.label_model.node])

    @property
    def goal(self) -> float:
        """What the best tour is worth, without what every tour is worth."""
        return min(self.value, self.upper) - self.relaxed.offset

    def reach(self, least: float) -> None:
        """Take over a bound as `learn` does, less what sums may be off by."""
        safe = least - MARGIN * abs(least) if math.isfinite(least) else least
        self.lower = max(self.lower, min(safe, self.goal) + self.relaxed.offset)
        self.proved = self.proved or bool(least >= self.below)

    def learn(self, least: float) -> None:
        """Take over a bound on all tours, given without what every tour is worth."""
        self.lower = max(self.lower, least + self.relaxed.offset)
        self.proved = self.proved or bool(least >= self.below)

    def sharpen(self, stage: Stage) -> None:
        """Have tighter windows and better bounds, as far as there is time for them; no tour may be left."""
        if self._hurry():
            self.tightened = False
            if not self._relax():
                return
        if not self.tightened:
            self._tighten()
        if self.proved or stage.sweeps == 0:
            return
        now = clock.now()
        wanted = Effort(stage.paths, stage.memory, stage.sweeps, now + SHARE * (self.until - now))
        effort = affordable(self.label_model, wanted, self.memory // 4)
        if effort is not None:
            self.bound = ascended(self.label_model, self.bound, self.below, effort)
            self.learn(height(self.bound))

    def _tighten(self) -> None:
        """Go on with what preprocessing leaves, where it is worth its time and there is time for it."""
        if len(self.model.node) <= SMALL:
            return
        if len(self.model.node) ** 3 * PREPROCESSING_SECONDS > self.until - clock.now():
            return
        model = tight_model(self.relaxed, self.until)
        if isinstance(model, str):
            self.proved = True
        elif model is not None:
            self.label_model, self.bound = model, assigned_legs(model)
        self.tightened = True

    def run(self, width: int, *, until: float = math.inf) -> None:
        """Search with so many labels of a layer."""
        if self.ended:
            return
        by_labels = self._run_plain if self.relaxed.exact else self._run_states
        self._take(by_labels(width, min(until, self.until)))

    def run_sets(self) -> None:
        """Search over sets of stops, where an order is all that there is to keep."""

        def limits(width: int, share: float) -> Limits:
            now = clock.now()
            return Limits(width, self.below, self.memory, now + share * (self.until - now))

        for outcome in both_ways(order_model_of(self.label_model, self.model.no_way), limits):
            self._take(self._plain(outcome))
            if self.ended:
                return

    def _take(self, found: Run) -> None:
        """Go on from what a beam has found."""
        open_bound, tour, value, tallies = found
        if tour is not None:
            self.tour, self.value = tour, value + self.relaxed.offset
        self.proved = bool(open_bound >= self.below)
        if not self.proved:
            best = min(self.value, self.upper) - self.relaxed.offset
            self.lower = max(self.lower, min(open_bound, best) + self.relaxed.offset)
        self.made, self.kept = self.made + tallies[0], self.kept + tallies[1]
        self.widest = max(self.widest, tallies[2])

    def _run_plain(self, width: int, until: float) -> Run:
        """By the labels of the classic problems, where they are all that is asked."""
        limits = Limits(width, self.below, self.memory, until)
        return self._plain(run(self.label_model, self.bound, limits))

    def _plain(self, outcome: Outcome) -> Run:
        """The same by the tour model's own numbers."""
        tour = None if outcome.tour is None else tuple(self.relaxed.node[outcome.tour].tolist())
        return outcome.open, tour, outcome.cost, (outcome.made, outcome.kept, outcome.widest)

    def _run_states(self, width: int, until: float) -> Run:
        """By labels that are whole states."""
        width = min(width, _widest(len(self.model.node), self.memory))
        search = _started(self.model, self.relaxed, self.label_model, self.bound)
        labels.start(search, len(self.model.leaving), self.below)
        search, done = _run(search, width, self.memory, until)
        counters = search.counters
        tour = labels.tour_of(search) if counters[labels.BEST] >= 0 else None
        made, kept, widest = map(int, counters[labels.MADE : labels.BEST])
        value = float(search.figures[labels.FOUND])
        return _open(search, done=done), tour, value, (made, kept, widest)

    def proof(self) -> Proof:
        """What is known."""
        status = "truncated"
        if self.proved:
            without = "infeasible" if math.isinf(self.upper) else "bounded"
            status = without if self.tour is None else "optimal"
        lower = min(self.value, self.upper) if self.proved else self.lower
        spent = clock.now() - self.began
        statistics = Statistics(self.made, self.kept, self.widest, spent)
        return Proof(status, self.tour, float(self.value), float(lower), statistics)


def _widest(nodes: int, memory: int) -> int:
    """The most labels that can be kept of a layer."""
    return _most(nodes, memory) // 2


def _most(nodes: int, memory: int) -> int:
    """Rows of a layer: a sixth of the memory is left to the history, the rest to two layers, their table and ranks."""
    row = 2 * (8 * ((nodes + 63) // 64) + 8 * COLUMNS + 36) + 32
    return max(memory * 5 // 6 // row, 2 * (FIRST + nodes))


def _table(rows: int) -> int:
    """A power of two, at most half of it taken."""
    return 1 << (2 * rows - 1).bit_length()


def _started(tour: TourModel, relaxed: Relaxed, model: LabelModel, bound: Bound) -> Search:
    words, nodes = model.needs.shape[1], len(model.node)
    windows = int(np.diff(tour.first).max()) if tour.objective == DURATION else 1
    rows = FIRST + (nodes + len(tour.breaks)) * windows + len(tour.leaving)
    history = History(
        np.empty(8 * rows, np.int32),
        np.empty(8 * rows, np.int32),
        np.zeros(nodes + len(tour.breaks) + 2, np.int64),
    )
    return Search(
        tour,
        model,
        relaxed.node[model.node],
        bound,
        (room(rows, words), room(rows, words)),
        np.empty(_table(rows), np.int32),
        history,
        np.zeros(10, np.int64),
        np.zeros(3),
        np.zeros(COLUMNS),
        windows,
    )


def _run(search: Search, width: int, memory: int, until: float) -> tuple[Search, bool]:
    """Search until the end, the deadline or the end of memory; whether it came to the end."""
    nodes, counters = len(search.node), search.counters
    entries = max(memory // 48, len(search.history.parent))
    options = (nodes + len(search.tour.breaks)) * search.windows
    crowd = min(_most(nodes, memory), 4 * width + 2 * options)
    stopped = labels.advance(search, width, QUANTUM)
    while stopped != labels.DONE:
        reserve = 4e-7 * float(counters[labels.COUNT] + counters[labels.NEXT])
        if clock.now() + reserve >= until:
            return search, False
        full = stopped == labels.CROWDED and len(_next(search).key) >= crowd
        if stopped == labels.LAID or full:
            _cut(search, width)
        elif stopped == labels.CROWDED:
            search = _roomier(search, crowd)
        elif stopped == labels.LONG:
            if len(search.history.parent) == entries:
                return search, False
            search = _longer(search, entries)
        stopped = labels.advance(search, width, QUANTUM)
    return search, True


def _next(search: Search) -> Layer:
    """The layer that is being filled."""
    return search.layers[1 - int(search.counters[labels.LAYER]) % 2]


def _roomier(search: Search, most: int) -> Search:
    """The same with more room in the next layer."""
    place = 1 - int(search.counters[labels.LAYER]) % 2
    crowded, count = search.layers[place], int(search.counters[labels.NEXT])
    rows = min(4 * len(crowded.key), most)
    wide = room(rows, crowded.visited.shape[1])
    for old, new in zip(crowded, wide, strict=True):
        new[:count] = old[:count]
    slots = search.slots
    if len(slots) < _table(rows):
        slots = np.empty(_table(rows), np.int32)
    relink(wide, count, slots)
    pair = (wide, search.layers[1]) if place == 0 else (search.layers[0], wide)
    return search._replace(layers=pair, slots=slots)


def _longer(search: Search, most: int) -> Search:
    """The same with room for more history."""
    history, used = search.history, int(search.counters[labels.USED])
    rows = min(max(4 * len(history.parent), used + int(search.counters[labels.NEXT])), most)
    parent, key = np.empty(rows, np.int32), np.empty(rows, np.int32)
    parent[:used], key[:used] = history.parent[:used], history.key[:used]
    return search._replace(history=History(parent, key, history.begins))


def _cut(search: Search, width: int) -> None:
    """Keep the labels of the next layer of least bound, and note the least bound of the others."""
    layer, counters = _next(search), search.counters
    count = compact(layer, int(counters[labels.NEXT]))
    if count > width:
        bounds = _bounds(search, layer, 0, count)
        lost = ~least(bounds, width)
        figures = search.figures
        figures[labels.DROPPED] = min(figures[labels.DROPPED], float(bounds[lost].min()))
        layer.key[:count][lost] = -1
        count = compact(layer, count)
    counters[labels.NEXT] = count
    relink(layer, count, search.slots)


def _bounds(search: Search, layer: Layer, first: int, last: int) -> Float[np.ndarray, " L"]:
    least = np.empty(last - first)
    labels.lower_bounds(search, layer, first, least)
    return least


def _open(search: Search, *, done: bool) -> float:
    """What no tour that was lost, or is still to be looked at, can be worth less than."""
    least, counters = float(search.figures[labels.DROPPED]), search.counters
    if not done:
        layer = int(counters[labels.LAYER])
        here, there = search.layers[layer % 2], search.layers[1 - layer % 2]
        bounds = (
            _bounds(search, here, int(counters[labels.TRY]), int(counters[labels.COUNT])),
            _bounds(search, there, 0, int(counters[labels.NEXT])),
        )
        least = min(least, *(float(found.min(initial=np.inf)) for found in bounds))
    return least
