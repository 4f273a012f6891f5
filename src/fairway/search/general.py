"""Tours under any constraints: all orders of a few stops; ruin and recreate with local moves for more.

Where the plain kernels know windows alone or drafts alone, and judge a move at once, these simulate the tour.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from fairway import clock
from fairway.kernels.general.annealing import anneal
from fairway.kernels.general.enumeration import Walk, explore, least_spent, walk_of
from fairway.kernels.general.insertion import draft_of
from fairway.kernels.general.order import Order, closed_order, linked_matrix
from fairway.kernels.general.state import BEST, BEST_OUT, KEPT, Search
from fairway.kernels.general.tour_model import (
    BARRED,
    COST,
    FOLLOWERS,
    NEEDS,
    PRIZE,
    SERVICE,
    SPENT_ON,
    TAKEN_BY,
    TourModel,
    tour_model_of,
)
from fairway.kernels.moves.rng import seeded
from fairway.problems.instance import Instance
from fairway.search.tempering import VISIT, Ladder

FEW = 8
"""Stops of which all orders are gone through first."""
STEPS = 20_000
"""Of that between two looks at the clock: a few milliseconds."""
SLICE, PART = 0.005, 0.05
"""Seconds of search between two looks at the clock, and of a small budget the part."""
ROUNDS = 64
"""Rounds of a slice, where they are counted and not seconds."""
AROUND = 40
"""Stops that are known to be around a stop."""
AFTER = 16
"""Of each stop, those that may well follow it."""
WAITING = 0.2
"""What a unit of waiting counts there, in units of cost."""
MOVES, UNTIMED = 2, 5
"""Local moves of a round per stop; they are cheap and fit often where it does not matter when a stop is served."""
FLAT = 1e-3
"""Where no leg costs anything: what a mean leg counts, in mean prizes."""
OTHER, SOME = 5, 400
"""The rank of a successor whose loss is a typical one, and of about how many nodes that is looked at."""
FAR = 3.0
"""Where a few nodes have no good successor, a typical loss is at most so many times the median."""
TIMED = 2.0
"""By how much higher temperatures are where it matters when a stop is served."""
HOT, COLD = 0.5, 0.05
"""Temperatures at the beginning and at the end, in typical losses."""
SPEED = 5e6
"""About how many moves there are in a second."""
THOROUGH, HASTE = 2e4, 0.6
"""Moves per stop with which a search begins hot, and the power of their number by which it begins colder with less."""
ANNEALED = 0.3
"""The part of the budget in which one tour is cooled down; the rest is parallel tempering, if there is enough."""
TOP, BOTTOM, STEP = 0.45, 0.05, 1.6
"""The temperatures of a ladder, in typical losses, and how far its steps are apart, in logarithms, times the root of
the nodes."""
STEEP, EASY, EASED = 30.0, (2.0, 5.0, 12.0, 30.0), 0.6
"""Prizes beyond so many typical losses are eased by turns to so many, in all but the last part of the budget."""
RUNG = 1e4
"""Moves per stop for each step, below which one tour alone is cooled down."""

Found = Callable[[tuple[int, ...]], None]
"""Is told of every better tour."""


@dataclass(frozen=True, slots=True)
class Enumerated:
    """What going through all orders found."""

    tour: tuple[int, ...] | None
    complete: bool


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a tour is to be good for, and how much may be spent on it."""

    objective: str = "cost"
    fewest: bool = False
    """Whether as few stops as can be are left out, whatever that costs."""
    seconds: float = math.inf
    iterations: int | None = None
    """Rounds of the search; the same seed then gives the same answer."""
    seed: int = 0


def enumerate_tours(instance: Instance, request: Wanted) -> Enumerated:
    """The best tour of a few stops, by all their orders, as far as there is time."""
    until = clock.now() + request.seconds
    model = tour_model_of(instance, request.objective)
    if model.hopeless:
        return Enumerated(None, complete=True)
    walk = walk_of(model, math.inf)
    left = True
    while left and clock.now() < until:
        left = explore(model, walk, request.fewest, STEPS)
    return Enumerated(_best(model, walk), complete=not left)


def _best(model: TourModel, walk: Walk) -> tuple[int, ...] | None:
    if walk.place[1] < 0:
        return None
    return _stops(model, walk.best[: walk.place[1]])


def _stops(model: TourModel, nodes: Int[np.ndarray, " M"]) -> tuple[int, ...]:
    """Without breaks, the start and the end."""
    return tuple(node for node in nodes.tolist() if 0 < node < len(model.node) - 1)


def least_value(instance: Instance, objective: str = "cost") -> float:
    """No tour is worth less: every stop is come to once, from somewhere, or its price is paid."""
    model = tour_model_of(instance, objective)
    least = float(least_spent(model)[1:].sum())
    return least + float(model.leaving[0, 0]) if objective == "makespan" else least


def improve_tours(
    instance: Instance,
    request: Wanted,
    found: Found,
    initial: tuple[int, ...] = (),
) -> tuple[int, ...]:
    """Better and better tours within the budget; the last one may still leave out what it must serve."""
    until = clock.now() + request.seconds
    search = TourSearch(instance, request, initial)
    search.go_on(until, found)
    return search.tour


class TourSearch:
    """A search that can be left and taken up again: it cools down once for the whole of its budget."""

    def __init__(self, instance: Instance, request: Wanted, initial: tuple[int, ...] = ()) -> None:
        self._budget = _Budget(request)
        model = tour_model_of(instance, request.objective)
        if request.fewest:
            model = _keeping(model)
        self._model, self._search, self._scale = prepared(model, initial, request.seed)
        nodes = len(model.node)
        self._moves = (MOVES if model.timed else UNTIMED) * nodes
        ample = self._budget.moves(self._moves) / nodes
        self._hot = HOT * min(1.0, ample / THOROUGH) ** HASTE
        self._easier = _easier(self._model, self._scale)
        self._temperatures = _temperatures(self._scale, nodes, ample)
        self._ladder: Ladder | None = None
        self._seed = request.seed
        self._budget.leave()

    @property
    def tour(self) -> tuple[int, ...]:
        """The best so far, which may still leave out what it must serve."""
        return _stops(self._model, self._search.best[: self._search.sizes[1]])

    def go_on(self, until: float, found: Found) -> None:
        """Search until then by `clock.now`, or until the rounds of the budget are done."""
        values, budget = self._search.values, self._budget
        budget.enter(until)
        while (rounds := budget.slice()) > 0:
            value, missing = values[BEST], values[BEST_OUT]
            self._advance(rounds)
            better = values[BEST] < value or values[BEST_OUT] < missing
            if better and values[BEST_OUT] == 0:
                found(self.tour)
        budget.leave()

    def _advance(self, rounds: int) -> None:
        """Some rounds of cooling down, or after that of parallel tempering."""
        model, search, moves = self._model, self._search, self._moves
        steep = bool(self._easier) and _leaves_out(model, search)
        used = 1.0 - self._budget.left
        done = used / (ANNEALED if self._temperatures and not steep else 1.0)
        temperature = self._scale * self._hot * (COLD / HOT) ** done
        if steep and done < EASED:
            self._easier = [*self._easier[1:], self._easier[0]]
            _wander(self._easier[-1], search, temperature, rounds, moves)
        if steep or done < 1.0 or not self._temperatures:
            anneal(model, search, temperature, rounds, moves)
            return
        self._ladder = self._ladder or Ladder(search, self._temperatures, self._seed)
        for _ in range(max(1, rounds // VISIT)):
            self._ladder.visit(model, search, moves)


def _easier(model: TourModel, scale: float) -> list[TourModel]:
    """The same with prizes that temperatures reach, where they are far beyond; none where they are not."""
    optional = np.isfinite(model.node[:, PRIZE]) & (model.node[:, BARRED] == 0)
    prize = float(model.node[optional, PRIZE].mean()) if optional.any() else 0.0
    if not prize > STEEP * scale > 0:
        return []
    models = []
    for part in EASY:
        columns = model.node.copy()
        columns[optional, PRIZE] *= part * scale / prize
        models.append(model._replace(node=columns))
    return models


def _leaves_out(model: TourModel, search: Search) -> bool:
    """Whether the best tour so far leaves out a stop that could be served."""
    servable = np.count_nonzero(model.node[:, BARRED] == 0)
    served = len(_stops(model, search.best[: search.sizes[1]]))
    return bool(search.values[BEST] < np.inf and served < servable)


def _wander(model: TourModel, search: Search, temperature: float, rounds: int, moves: int) -> None:
    """Go on under another model; the best stays what it is under the first, and the kept tour is valued anew."""
    values, best, size = search.values, search.best.copy(), search.sizes[1]
    known = values[[BEST, BEST_OUT]]
    values[KEPT] = np.inf
    anneal(model, search, temperature, rounds, moves)
    search.best[:], search.sizes[1], values[[BEST, BEST_OUT]] = best, size, known
    values[KEPT] = np.inf


def _temperatures(scale: float, nodes: int, ample: float) -> list[float]:
    """Of a ladder, the coldest first and the closer the larger the tour; none where there are too few moves for it."""
    step = STEP / math.sqrt(nodes)
    rungs = 1 + int(math.log(TOP / BOTTOM) / step)
    enough = scale > 0 and ample >= RUNG * rungs
    return [scale * BOTTOM * math.exp(step * rung) for rung in range(rungs * enough)]


def _guiding(model: TourModel) -> tuple[TourModel, float]:
    """The same with legs that guide the search, and the mean prize where legs cost nothing, else 0.

    Where time is minimised they are time, and a little of it where no leg costs anything.
    """
    spent, taken = model.legs[SPENT_ON], model.legs[TAKEN_BY] + model.node[:, SERVICE]
    there = spent < model.no_way
    if model.objective == COST and spent[there].any():
        return model, 0.0
    prize = 0.0
    if model.objective == COST:
        prizes = model.node[np.isfinite(model.node[:, PRIZE]), PRIZE]
        prize = float(prizes.mean())
        taken = taken * (FLAT * prize / max(float(taken[there].mean()), 1e-9))
    guide = np.where(there, taken, model.no_way)
    return model._replace(legs=np.array([guide, model.legs[TAKEN_BY]])), prize


def _scale(model: TourModel) -> float:
    """What it costs on average that a node is followed by one of the next best, whenever that may be.

    Beside what each node costs at least; more where time matters, since tours then freeze at higher temperatures.
    """
    legs = np.where(model.legs[SPENT_ON] < model.no_way, model.legs[SPENT_ON], np.inf)
    np.fill_diagonal(legs, np.inf)
    legs[:, model.node[:, BARRED] > 0] = np.inf
    least = legs.min(axis=0)
    rows = legs[:: 1 + len(legs) // SOME] - np.where(np.isfinite(least), least, 0.0)
    other = np.partition(rows, min(OTHER, len(legs) - 1), axis=1)[:, min(OTHER, len(legs) - 1)]
    typical = other[np.isfinite(other)]
    mean = float(min(typical.mean(), FAR * np.median(typical))) if typical.size else 0.0
    return mean * (TIMED if model.timed else 1.0)


class _Budget:
    """Seconds or rounds, and how many to do until the next look at the clock, which stands still outside a search."""

    def __init__(self, request: Wanted) -> None:
        self._request, self._spent, self._looked = request, 0.0, clock.now()
        self._rounds, self._done, self._until, self._going = 1, 0, math.inf, False

    def moves(self, per_round: int) -> float:
        """About how many local moves there will be."""
        rounds, seconds = self._request.iterations, self._request.seconds
        return per_round * rounds if rounds is not None else SPEED * seconds

    @property
    def left(self) -> float:
        """The part that is left, from 1 to 0."""
        timed = 1.0 - self._spent / max(self._request.seconds, 1e-9)
        if self._request.iterations is None:
            return max(timed, 0.0)
        return max(min(timed, 1.0 - self._done / max(self._request.iterations, 1)), 0.0)

    def enter(self, until: float) -> None:
        """Begin, or go on, until then."""
        self._looked, self._until, self._going = clock.now(), until, False

    def leave(self) -> None:
        """Count the time since the last look."""
        now = clock.now()
        self._spent, self._looked = self._spent + now - self._looked, now

    def slice(self) -> int:
        """How many rounds to do now, none at the end; they count as done."""
        before, request = self._looked, self._request
        self.leave()
        if self._looked >= self._until or request.iterations == self._done:
            return 0
        if request.iterations is not None:
            self._rounds = min(ROUNDS, request.iterations - self._done)
        elif self._going:
            taken = max(self._looked - before, 1e-9)
            wanted = self._rounds * min(SLICE, PART * request.seconds) / taken
            self._rounds = max(1, min(int(wanted), 4 * self._rounds))
        self._done, self._going = self._done + self._rounds, True
        return self._rounds


def _keeping(model: TourModel) -> TourModel:
    """The same with prizes so high that every stop more counts first, then their price, then all else."""
    columns = model.node.copy()
    prize = columns[:, PRIZE]
    optional = np.isfinite(prize) & (columns[:, BARRED] == 0)
    prize[optional] = 1e3 * (prize[optional] + 1.0 + model.no_way)
    return model._replace(node=columns)


def prepared(
    model: TourModel, initial: tuple[int, ...], seed: int
) -> tuple[TourModel, Search, float]:
    """The model that guides a search, its state at the beginning, and what a typical change costs."""
    model, prize = _guiding(model)
    model, order = closed_order(model)
    loss = _following(model, order)
    nodes, rows = len(model.node), len(model.node) + len(model.breaks) + 1
    kept = np.zeros(rows, np.int64)
    stops = [stop for stop in initial if not model.node[stop, BARRED]]
    kept[1 : len(stops) + 1], kept[len(stops) + 1] = stops, nodes - 1
    both = model.legs[TAKEN_BY] + model.legs[TAKEN_BY].T
    np.fill_diagonal(both, np.inf)
    both[:, 0] = both[:, -1] = np.inf
    mirrored = np.array_equal(model.legs[SPENT_ON, :-1, :-1], model.legs[SPENT_ON, :-1, :-1].T)
    search = Search(
        draft_of(model),
        kept,
        kept.copy(),
        np.array([len(stops) + 2] * 2),
        np.full(4, np.inf),
        np.ones(nodes),
        _least(both, min(AROUND, max(nodes - 3, 0))),
        _least(loss, min(AFTER, nodes - 1)),
        order,
        mirrored,
        np.zeros(nodes, np.int64),
        np.zeros(rows),
        np.zeros((2, rows), np.int64),
        seeded(seed),
    )
    return model, search, max(prize, _scale(model))


def _following(model: TourModel, order: Order) -> Float[np.ndarray, "V V"]:
    """How much is lost if one node comes directly after another, beside what each node costs at least."""
    first, last = model.first[:-1], model.first[1:] - 1
    opens, closes = model.windows[first, 0], model.windows[last, 1]
    there = model.node[:, SERVICE, None] + model.legs[TAKEN_BY]
    ready = closes[:, None] + there
    bounded = np.isfinite(opens) & np.isfinite(ready)  # neither ever nor never
    waiting = np.subtract(opens, ready, out=np.zeros_like(ready), where=bounded)
    loss = model.legs[SPENT_ON] + WAITING * np.maximum(waiting, 0.0)
    barred = model.node[:, BARRED] > 0
    barred[-1] = False
    loss[:, barred] = loss[opens[:, None] + there > closes] = np.inf
    loss[model.legs[SPENT_ON] >= model.no_way] = np.inf
    between = linked_matrix(model.begin, model.linked, FOLLOWERS)
    between &= ~linked_matrix(order.begin, order.linked, FOLLOWERS)
    loss[between | linked_matrix(model.begin, model.linked, NEEDS)] = np.inf
    np.fill_diagonal(loss, np.inf)
    least = loss.min(axis=0)
    return loss - np.where(np.isfinite(least), least, 0.0)


def _least(matrix: Float[np.ndarray, "V V"], count: int) -> Int[np.ndarray, "V K"]:
    """The columns of so many least entries of each row, the least first."""
    chosen = (
        np.argpartition(matrix, count, axis=1)[:, :count]
        if count < len(matrix)
        else np.argsort(matrix, axis=1)
    )
    order = np.take_along_axis(matrix, chosen, 1).argsort(axis=1)
    return np.take_along_axis(chosen, order, 1)


def warm() -> None:
    """Compile all that these searches need, or load what has been compiled."""
    sample = Instance(1.0 - np.eye(4), breaks=[(0.0, 9.0, 1.0)], pairs=[(1, 2)], prize=9.0)
    enumerate_tours(sample, Wanted())
    improve_tours(sample, Wanted(iterations=2), lambda _tour: None)
