"""One instance with any of the constraints: all orders of a few stops, ruin and recreate for more."""

import math

from fairway.search.general import FEW, Wanted, enumerate_tours, improve_tours
from fairway.solver.incumbent import Incumbent
from fairway.solver.results import Result

NONE = "no order of the stops keeps every constraint"


def solve_general(best: Incumbent, plan: tuple[int, ...] | None = None) -> Result:
    """The answer for one instance; Ctrl-C leaves the best so far."""
    if plan is not None:
        best.offer(plan, "plan")
    interrupted = False
    try:
        if _stops(best) <= FEW:
            _enumerate(best)
        if best.proved is None:
            for tour in best.request.first_tours(best.instance, best.left):
                best.offer(tour, "policy")
            _improve(best)
    except KeyboardInterrupt:
        interrupted = True
    end = "the search was interrupted" if interrupted else "the budget ended"
    why = NONE if best.proved else f"{end} before a tour was found or proved impossible"
    return best.result(why, interrupted=interrupted)


def _stops(best: Incumbent) -> int:
    return best.instance.nodes - (1 if best.instance.end in (None, 0) else 2)


def _wanted(best: Incumbent) -> Wanted:
    request = best.request
    seconds = math.inf if request.iterations is not None else best.left
    fewest = request.drop == "fewest"
    return Wanted(request.objective, fewest, seconds, request.iterations, request.seed)


def _enumerate(best: Incumbent) -> None:
    found = enumerate_tours(best.instance, _wanted(best))
    if found.tour is not None:
        best.offer(found.tour, "exact search")
    if found.complete:
        best.proved = "infeasible" if math.isinf(best.value) else "optimal"


def _improve(best: Incumbent) -> None:
    def offered(tour: tuple[int, ...]) -> None:
        best.offer(tour, "local search")

    last = improve_tours(best.instance, _wanted(best), offered, best.start or ())
    if math.isinf(best.value):
        offered(last)
