"""One instance with any of the constraints: local search, and proofs where they can be expected."""

import math
from contextlib import suppress
from dataclasses import replace
from functools import partial

import numpy as np

from fairway import clock
from fairway.kernels.general.tour_model import BARRED, tour_model_of
from fairway.search.exact import MEMORY
from fairway.search.general import FEW, TourSearch, Wanted, enumerate_tours
from fairway.search.general_exact import choices, ordered, provable, prove_general, searchable
from fairway.search.indirect import bound_duration, prove_fewest
from fairway.search.stretches import arranged
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
SMALL, AT_ONCE = 20, 0.3
"""Nodes up to which a proof that can be expected comes first, and its part of the time: most end there, and what local
search needs is neither compiled nor loaded."""
CERTAIN, MOST = 16, 0.8
"""The same where labels mostly go through all there is within half a second."""
PATIENT = 1.0
"""Seconds from which on a bound is worth its time even where no proof can be expected."""
GLANCED, TRIED = 0.02, 0.04
"""With so much patience, what local search and a proof have at first: many proofs take hardly any time."""
MANY, LONG_TRIED = 200, 0.3
"""Nodes from which on a proof has more where an order is all that there is: its beams find better tours by then."""
SEARCHED, LONGEST = 0.65, 10.0
"""Then local search has a part of what is left, so long at most."""
ARRANGED = 0.25
"""The last part of that is for the exact search of stretches of its tour."""
ENDURING = 3.0
"""It resumes after a proof, unless it had more than so many times as long then."""
PROVED, BOUNDED, AMPLE = 0.75, 0.5, 20.0
"""Of what is left then, what a proof may take, and what it may where none is expected within so many seconds."""


class _Settled(Exception):
    """The best tour is known to be the best there is."""


def solve_general(best: Incumbent, plan: tuple[int, ...] | None = None) -> Result:
    """The answer for one instance; Ctrl-C leaves the best so far."""
    if plan is not None:
        best.offer(plan, "plan")
    interrupted = False
    try:
        if _stops(best) <= FEW:
            _enumerate(best)
        if best.proved is None:
            with suppress(_Settled):
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
    """How many stops there are that can be served."""
    model = tour_model_of(best.instance, best.request.objective)
    return int(np.count_nonzero(model.node[:, BARRED] == 0))


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
    if best.instance.nodes <= SMALL and _promising(best, seconds, best.until):
        _prove(best, (MOST if best.instance.nodes <= CERTAIN else AT_ONCE) * best.left)
    elif seconds >= PATIENT:
        _improve(best, GLANCED * best.left)
        many = best.instance.nodes >= MANY and ordered(best.instance, best.request.objective)
        _prove(best, (LONG_TRIED if many else TRIED) * best.left)
    if best.enough:
        return
    if _promising(best, seconds, best.until - 0.9 * best.left):
        _improve(best, FIRST * best.left)
        _prove(best, PROVED * best.left)
    elif seconds >= PATIENT:
        _by_turns(best)
        return
    if not best.enough:
        _improve(best, best.left, turn=1)


def _by_turns(best: Incumbent) -> None:
    """One local search with a proof or a bound on its way; after that another one where most of the time is left."""
    offered = partial(_offer, best)
    first = min(SEARCHED * best.left, LONGEST)
    rest = best.left - first
    proof = PROVED if rest > AMPLE else BOUNDED
    whole = first + (1.0 - proof) * rest
    long = whole > ENDURING * first
    search = _begun(best, first if long else whole)
    search.go_on(clock.now() + (1.0 - ARRANGED) * first, offered)
    _arrange(best, ARRANGED * first)
    _prove(best, proof * best.left)
    if not best.enough:
        search = _begun(best, best.left, turn=1) if long else search
        search.go_on(clock.now() + best.left, offered)
    if math.isinf(best.value):
        _offer(best, search.tour)


def _arrange(best: Incumbent, seconds: float) -> None:
    """Exact search on stretches of the best tour, where the legs and an order are all that counts."""
    if best.request.objective in ("cost", "travel") and math.isfinite(best.value):
        tour = arranged(best.instance, best.start or (), clock.now() + seconds)
        best.offer(tour, "exact search")


def _begun(best: Incumbent, seconds: float, turn: int = 0) -> TourSearch:
    """A local search from the best tour so far, by other random numbers at every turn."""
    wanted = replace(_wanted(best, seconds), seed=best.request.seed + turn)
    return TourSearch(best.instance, wanted, best.start or ())


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
    """Local search for so long."""
    until = clock.now() + seconds
    search = _begun(best, seconds, turn)
    search.go_on(until, partial(_offer, best))
    if math.isinf(best.value):
        _offer(best, search.tour)


def _offer(best: Incumbent, tour: tuple[int, ...]) -> None:
    """Have a tour of local search judged, and go no further once it is known to be the best."""
    best.offer(tour, "local search")
    if best.enough:
        raise _Settled


def _prove(best: Incumbent, seconds: float, memory: int = MEMORY) -> None:
    """Look for a proof, or for a bound where labels cannot prove what is asked."""
    instance, objective = best.instance, best.request.objective
    optional = bool(np.isfinite(instance.prize[1:]).any())
    fewest = best.request.drop == "fewest" and optional
    if not (searchable if not fewest else provable)(instance, objective):
        return
    if fewest:
        proof = prove_fewest(
            instance, best.solution, objective=objective, seconds=seconds, memory=memory
        )
    elif provable(instance, objective):
        proof = prove_general(
            instance, objective=objective, upper=best.value, seconds=seconds, memory=memory
        )
    else:
        proof = bound_duration(instance, upper=best.value, seconds=seconds, memory=memory)
    if proof is None:
        return
    if proof.tour is not None:
        best.offer(proof.tour, "exact search")
    best.learn(proof)
