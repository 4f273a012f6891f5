"""One instance with any of the constraints: local search, and proofs where they can be expected."""

import math
from dataclasses import replace

import numpy as np

from fairway.search.exact import MEMORY
from fairway.search.general import FEW, Wanted, enumerate_tours, improve_tours
from fairway.search.general_exact import choices, provable, prove_general
from fairway.solver.explain.narrowing import plain_reason
from fairway.solver.incumbent import Incumbent
from fairway.solver.results import Result

STEADY_MEMORY = 1 << 22
"""Bytes for the labels of a proof that no clock ends."""
FIRST = 0.08
"""Of the seconds, what local search has first: a proof needs a good tour to beat."""
FEW_CHOICES = 14.0
"""Stops that can come straight after one, at 50 nodes, up to which a proof can be expected within a second; ten times
as long, four more."""
LOOKING = 1e-6
"""Seconds per pair of nodes that counting them takes, about."""
PATIENT = 2.0
"""Seconds from which on a bound is worth its time even where no proof can be expected."""
GLANCED, TRIED = 0.02, 0.04
"""With so much patience, what local search and a proof have at first: many proofs take hardly any time."""
SEARCHED, LONGEST = 0.45, 10.0
"""Then local search has a part of the seconds before it, so long at most."""
PROVED, BOUNDED, AMPLE = 0.75, 0.4, 20.0
"""Of what is left then, what a proof may take, and what it may where none is expected within so many seconds."""


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
    return best.result(reason(best, interrupted), interrupted=interrupted)


def reason(best: Incumbent, interrupted: bool) -> str:
    """Why there is no tour, as far as is known."""
    if best.proved == "infeasible":
        return plain_reason(best.instance, best.until)
    end = "the search was interrupted" if interrupted else "the budget ended"
    return f"{end} before a tour was found or proved impossible"


def _stops(best: Incumbent) -> int:
    return best.instance.nodes - (1 if best.instance.end in (None, 0) else 2)


def _search(best: Incumbent) -> None:
    """What a policy proposes, local search and proofs by turns; with iterations a proof ends where its memory does."""
    for tour in best.request.first_tours(best.instance, best.left):
        best.offer(tour, "policy")
    if best.request.iterations is not None:
        _improve(best, math.inf)
        if _promising(best, 1.0, math.inf):
            _prove(best, math.inf, STEADY_MEMORY)
        return
    seconds = best.request.seconds
    if seconds >= PATIENT:
        _improve(best, GLANCED * best.left)
        _prove(best, TRIED * best.left)
        if best.proved is not None:
            return
    if _promising(best, seconds, best.until - 0.9 * best.left):
        _improve(best, FIRST * best.left)
        _prove(best, PROVED * best.left)
    elif seconds >= PATIENT:
        _improve(best, min(SEARCHED * seconds, LONGEST))
        _prove(best, (PROVED if best.left > AMPLE else BOUNDED) * best.left)
    if best.proved is None:
        _improve(best, best.left, turn=1)


def _promising(best: Incumbent, seconds: float, until: float) -> bool:
    """Whether a proof can be expected in so many seconds, as far as that is known by then by `clock.now`."""
    instance = best.instance
    too_long = instance.nodes**2 * LOOKING > 0.1 * seconds
    if too_long or not provable(instance, best.request.objective):
        return False
    found = choices(instance, best.request.objective, until)
    wide = found * (instance.nodes / 50) ** 0.25
    return wide <= FEW_CHOICES + 4 * math.log10(max(seconds, 1e-3))


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


def _improve(best: Incumbent, seconds: float, turn: int = 0) -> None:
    """Local search from the best tour so far, by other random numbers at every turn."""

    def offered(tour: tuple[int, ...]) -> None:
        best.offer(tour, "local search")

    wanted = replace(_wanted(best, seconds), seed=best.request.seed + turn)
    last = improve_tours(best.instance, wanted, offered, best.start or ())
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
