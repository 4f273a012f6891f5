"""Is there any tour at all? A tour, a proof that there is none, or neither in time; else the least late order."""

import math
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fairway import clock
from fairway.judge import Rejection, Solution, verify
from fairway.kernels.moves.least_late import ease, look_over, tardy_tour
from fairway.kernels.moves.order import by_deadline
from fairway.kernels.moves.rng import seeded
from fairway.kernels.moves.search_model import search_model_without_neighbours
from fairway.problems.instance import Instance
from fairway.problems.model import model_of
from fairway.problems.table import PROBLEMS
from fairway.search.exact import prove
from fairway.search.general import FEW, Wanted, enumerate_tours, improve_tours
from fairway.search.general_exact import provable, prove_general
from fairway.search.improve import AT_ONCE, FORM_SECONDS, by_limits, improve
from fairway.solver.explain.plain import obstacles as plain_obstacles
from fairway.solver.explain.plain import required
from fairway.solver.explain.trivial import hull, obstacle, subset

NARROW = 6.0
"""The breadth up to which an exact search is so quick that it is tried before anything else."""
QUICK = 0.02
"""Seconds in which most tours are found that are easy to find."""
WORK, MOST_WORK = 2_000, 20_000_000
"""Nodes looked at for the least late order, by default: so many times the square of the nodes, and at most about a
tenth of a second."""
QUANTUM = 500_000
"""The same between two looks at the clock: a few milliseconds."""

Tour = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Decision:
    """What is known: a tour; or that there is none; or the least late attempt."""

    solution: Solution | None = None
    impossible: bool = False
    attempt: Rejection | None = None

    @property
    def open(self) -> bool:
        """Whether it is not known yet."""
        return self.solution is None and not self.impossible


Ask = Callable[[Instance, float], Decision]
"""What is known of an instance after so many seconds."""


def breadth(instance: Instance) -> float:
    """How many stops compete for a place in the order, about: what a proof takes grows with it exponentially."""
    opens, closes = np.sort(instance.opens[1:]), np.sort(instance.closes[1:])
    # When the k-th window opens, k have opened by then, less those that have closed.
    open_then = np.arange(1, len(opens) + 1) - np.searchsorted(closes, opens)
    return float(open_then.mean())


def decide(instance: Instance, until: float) -> Decision:
    """Whether the instance has a tour, as far as that can be said by `until` by `clock.now`."""
    plain = eased(instance)
    if not plain.classic:
        return _decided(instance, _asked(plain, _general(plain), until))
    if obstacle(plain) is not None:
        return Decision(impossible=True)
    narrow = breadth(plain) <= NARROW
    first = [(_proved, 0.5 * (until - clock.now()))] if narrow else []
    asks = (*first, (_searched, QUICK), (_proved, math.inf), (_searched, math.inf))
    return _decided(instance, _asked(plain, asks, until))


def _asked(instance: Instance, asks: Iterable[tuple[Ask, float]], until: float) -> Decision:
    """The first answer, or the last attempt."""
    decision = Decision()
    for ask, most in asks:
        left = until - clock.now()
        if left <= 0 or not decision.open:
            break
        answer = ask(instance, min(most, left))
        decision = replace(answer, attempt=answer.attempt or decision.attempt)
    return decision


def _decided(instance: Instance, decision: Decision) -> Decision:
    """The same with the tour judged as the instance has it."""
    found = decision.solution
    judged = None if found is None else verify(instance, found.tour)
    if isinstance(judged, Rejection):  # by a hair, on which the searches and the judge differ
        return Decision(attempt=judged)
    return replace(decision, solution=judged)


def eased(instance: Instance) -> Instance:
    """The same question in as plain an instance as can be: what a tour is worth plays no part."""
    if instance.classic:
        return instance
    closed, soft = np.isinf(instance.cost), np.isfinite(instance.late)
    fields: dict[str, Any] = {
        "travel": np.where(closed, np.inf, instance.travel) if closed.any() else instance.travel,
        "cost": None,
        "late": np.where(soft, 0.0, np.inf),
        "latest": np.where(soft, instance.latest, np.inf),
        "prize": np.where(np.isfinite(instance.prize), 0.0, np.inf),
    }
    if instance.load != "signed":
        room = np.minimum(instance.draft, instance.capacity)
        free = instance.demand.sum() <= room[1:].min()
        fields |= {"capacity": None, "draft": None if free else room}
        fields |= {"demand": None} if free else {}
    return replace(instance, **fields)


def _general(instance: Instance) -> Iterable[tuple[Ask, float]]:
    """What is asked of an instance with any constraints, and for how long at most."""
    if next(plain_obstacles(instance), None) is not None:
        return [(_impossible, math.inf)]
    few = instance.nodes <= FEW + 1
    return (
        (_gone_through, 0.5 if few else 0.0),
        (_inserted, QUICK),
        (_labelled, 0.5),
        (_proved_by_time, 0.5),
        (_inserted, 10 * QUICK),
        (_labelled, math.inf),
        (_inserted, math.inf),
    )


def _impossible(_instance: Instance, _seconds: float) -> Decision:
    return Decision(impossible=True)


def _gone_through(instance: Instance, seconds: float) -> Decision:
    """What going through all orders says, any of which is as good as another."""
    if seconds == 0.0:
        return Decision()
    found = enumerate_tours(_free(instance), Wanted(seconds=seconds))
    judged = None if found.tour is None else verify(instance, found.tour)
    solution = judged if isinstance(judged, Solution) else None
    return Decision(solution, impossible=found.complete and found.tour is None)


def _labelled(instance: Instance, seconds: float) -> Decision:
    """What the exact search by labels says."""
    if not provable(instance, "cost"):
        return Decision()
    proof = prove_general(_free(instance), seconds=seconds)
    judged = None if proof.tour is None else verify(instance, proof.tour)
    solution = judged if isinstance(judged, Solution) else None
    return Decision(solution, proof.status == "infeasible")


def _free(instance: Instance) -> Instance:
    """The same where every tour costs the same, so that the first is as good as any."""
    return replace(instance, cost=np.where(np.isinf(instance.travel), np.inf, 0.0))


def _proved_by_time(instance: Instance, seconds: float) -> Decision:
    """Whether it is impossible to be in time alone, by the exact search for windows: order, loads and breaks left out.

    Only what must be served is asked for, each stop in one window from its first opening to its last closing.
    """
    if instance.end != 0 or np.isinf(instance.travel).any():
        return Decision()
    stops = required(instance)
    opens, last = hull(instance)
    windows = Instance(instance.travel, service=instance.service, opens=opens, closes=last)
    small = subset(windows, stops, clock.now() + 0.5 * seconds) if stops else None
    if small is None or not np.isfinite(small.closes).any():
        return Decision()
    return Decision(impossible=_proved(small, 0.5 * seconds).impossible)


def _inserted(instance: Instance, seconds: float) -> Decision:
    """The first tour that ruin and recreate finds, or one that leaves out what it must serve."""
    tours: list[Tour] = []

    def enough(tour: Tour) -> None:
        if isinstance(verify(instance, tour), Solution):
            tours.append(tour)
            raise _Enough

    with suppress(_Enough):
        tours.append(improve_tours(instance, Wanted(seconds=seconds), enough))
    judged = verify(instance, tours[0])
    return Decision(judged) if isinstance(judged, Solution) else Decision(attempt=judged)


def _proved(instance: Instance, seconds: float) -> Decision:
    """What an exact search says under the objective that asks least of it."""
    proof = prove(instance, seconds=seconds, objective=PROBLEMS[instance.problem].decided_by)
    judged = None if proof.tour is None else verify(instance, proof.tour)
    return Decision(judged if isinstance(judged, Solution) else None, proof.status == "infeasible")


def _searched(instance: Instance, seconds: float) -> Decision:
    """The first tour that local search finds, or the least late."""
    tours: list[Tour] = []

    def enough(tour: Tour, _cost: float) -> None:
        tours.append(tour)
        raise _Enough

    with suppress(_Enough):
        tours.append(improve(instance, seconds=seconds, found=enough).tour)
    judged = verify(instance, tours[0])
    return Decision(judged) if isinstance(judged, Solution) else Decision(attempt=judged)


def nearest(instance: Instance, until: float) -> Solution | Rejection:
    """The tour that leaves out least of what it must serve, or what is wrong with the best that was found."""
    found = _inserted(eased(instance), max(min(until - clock.now(), 5 * QUICK), 0.0))
    best = found.solution or found.attempt
    return verify(instance, () if best is None else best.tour)


def least_late(
    instance: Instance, until: float, known: Iterable[Tour] = (), work: int = MOST_WORK
) -> Solution | Rejection:
    """The order with the least total lateness, or overload, that was found.

    Args:
        instance: Any instance.
        until: When to end, by `clock.now`.
        known: Orders to start from, beside that of the deadlines.
        work: Nodes to look at, at most; it ends a search that no clock does, always at the same point.
    """
    began, orders = clock.now(), list(known)
    least = FORM_SECONDS * instance.nodes**2
    model = legs = None
    if least <= max(until - began, AT_ONCE):
        model = model_of(instance)
        legs = search_model_without_neighbours(model, max(until, clock.now() + AT_ONCE))
    if model is None or legs is None:
        return verify(instance, orders[0] if orders else by_limits(instance))
    search_model = legs._replace(closes=model.resource.latest)  # as stated, without tolerance
    tardy = [tardy_tour(node) for node in (*map(model.inward, orders), by_deadline(search_model))]
    totals = [look_over(search_model, order) for order in tardy]
    best = min(totals)
    work = min(work, WORK * instance.nodes**2)
    order, random = tardy[totals.index(best)], seeded(0)
    until -= clock.now() - began  # the judge takes about as long as all this did
    while work > 0 and clock.now() < until:
        best = ease(search_model, order, random, best, min(work, QUANTUM))
        work = work - QUANTUM if best > 0 else 0
    return verify(instance, model.outward(order.kept[1:-1]))


def share(part: float, until: float) -> float:
    """When a part of the time that is left will have passed."""
    now = clock.now()
    return now + part * max(until - now, 0.0)


class _Enough(Exception):
    """There is a tour, and a better one is not asked for."""
