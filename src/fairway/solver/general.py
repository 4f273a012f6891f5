"""One instance with any of the constraints: local search, and proofs where they can be expected."""

import math

import numpy as np

from fairway.search.exact import MEMORY
from fairway.search.general import FEW, Wanted, enumerate_tours, improve_tours
from fairway.search.general_exact import provable, prove_general
from fairway.solver.incumbent import Incumbent
from fairway.solver.results import Result

NONE = "no order of the stops keeps every constraint"
STEADY_MEMORY = 1 << 22
"""Bytes for the labels of a proof that no clock ends."""
GLANCE, PATIENT = 0.15, 2.0
"""Of the seconds, what a first proof may take; and from how many seconds on more is worth its time."""
SEARCHED, PROVED, LONGEST = 0.2, 0.6, 10.0
"""Then local search has a part of the seconds first, so long at most, and a proof has a part of what is left."""


def solve_general(best: Incumbent, plan: tuple[int, ...] | None = None) -> Result:
    """The answer for one instance; Ctrl-C leaves the best so far."""
    if plan is not None:
        best.offer(plan, "plan")
    interrupted = False
    try:
        if _stops(best) <= FEW:
            _enumerate(best)
        if best.proved is None:
            _search(best)
    except KeyboardInterrupt:
        interrupted = True
    end = "the search was interrupted" if interrupted else "the budget ended"
    why = NONE if best.proved else f"{end} before a tour was found or proved impossible"
    return best.result(why, interrupted=interrupted)


def _stops(best: Incumbent) -> int:
    return best.instance.nodes - (1 if best.instance.end in (None, 0) else 2)


def _search(best: Incumbent) -> None:
    """Local search and proofs by turns; where iterations are counted, a proof ends where its memory does."""
    if best.request.iterations is not None:
        _improve(best, math.inf)
        _prove(best, math.inf, STEADY_MEMORY)
        return
    seconds = best.request.seconds
    _improve(best, 0.5 * GLANCE * best.left)
    _prove(best, GLANCE * best.left)
    if best.proved is None and seconds >= PATIENT:
        _improve(best, min(SEARCHED * seconds, LONGEST))
        _prove(best, PROVED * best.left)
    if best.proved is None:
        _improve(best, best.left)


def _wanted(best: Incumbent, seconds: float) -> Wanted:
    request = best.request
    fewest = request.drop == "fewest"
    return Wanted(request.objective, fewest, seconds, request.iterations, request.seed)


def _enumerate(best: Incumbent) -> None:
    seconds = math.inf if best.request.iterations is not None else best.left
    found = enumerate_tours(best.instance, _wanted(best, seconds))
    if found.tour is not None:
        best.offer(found.tour, "exact search")
    if found.complete:
        best.proved = "infeasible" if math.isinf(best.value) else "optimal"


def _improve(best: Incumbent, seconds: float) -> None:
    def offered(tour: tuple[int, ...]) -> None:
        best.offer(tour, "local search")

    last = improve_tours(best.instance, _wanted(best, seconds), offered, best.start or ())
    if math.isinf(best.value):
        offered(last)


def _prove(best: Incumbent, seconds: float, memory: int = MEMORY) -> None:
    """Look for a proof; not where as few stops as can be are to be left out, which no bound knows of."""
    instance, objective = best.instance, best.request.objective
    optional = bool(np.isfinite(instance.prize[1:]).any())
    if (best.request.drop == "fewest" and optional) or not provable(instance, objective):
        return
    best.learn(
        prove_general(
            instance, objective=objective, upper=best.value, seconds=seconds, memory=memory
        )
    )
