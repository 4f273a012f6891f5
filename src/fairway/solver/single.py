"""One instance: proofs where they are cheap, local search where they are not, and both where both can help."""

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from fairway import clock
from fairway.judge import Rejection
from fairway.problems.instance import Instance
from fairway.problems.model import is_makespan
from fairway.search.exact import LARGEST, MEMORY, prove, raise_bound
from fairway.search.improve import improve
from fairway.solver.explain.feasibility import NARROW, breadth, least_late
from fairway.solver.explain.trivial import obstacle
from fairway.solver.general import reason, solve_general
from fairway.solver.incumbent import Incumbent
from fairway.solver.locks import locked
from fairway.solver.relaxed import Relax, Relaxed, given_up, relaxed_to
from fairway.solver.request import Request
from fairway.solver.results import Result, Watch

RELAXED = 0.4
"""Of the seconds, what a plan may take that gives something up."""
LOOSENED, BEGUN = 2e-7, 5e-7
"""What such instances take to make, and a search to begin, for each pair of nodes on a busy machine."""
LATE, AT_ONCE = 0.1, 0.05
"""Where no time is left, the part of the seconds and the seconds that this may take."""
SMALL = 16
"""Nodes up to which a proof is sooner than a local search, and needs nothing of it compiled."""
FIRST_PROOF = 0.6
"""Of the budget, what a proof may take that is tried before anything else."""
PROVABLE = 12.5
"""The breadth, at 50 nodes, up to which a proof can be expected within a second; ten times as long, four more."""
PATIENT, BRIEF = 2.0, 0.05
"""Seconds from which on a proof is sooner by a bound, and what part of them it may take without one then."""
PROVING, RAISING = 0.6, 0.85
"""Of the seconds that are left, what a proof may take that can be expected, and a bound where there is none."""
SEARCHED = 0.005
"""Seconds per node that are left to local search in any case; a bound is raised in those beyond."""
BEFORE_PROOF, BEFORE_BOUND, BEFORE = 0.0001, 0.01, 0.3
"""Seconds per node of local search before either, and what part of those that are left at most."""
ROUNDS = 6
"""Of local search, each twice as long, until there is a tour to bound."""
STEADY_MEMORY = 1 << 22
"""Bytes for the labels of a proof that no clock ends."""
ATTEMPT_WORK = 1_000_000
"""Nodes looked at for the least late order: a few milliseconds."""
LARGEST_PROVED = 200
"""Nodes up to which such a proof is tried."""


class _Enough(Exception):
    """The best tour is proved to be within the gap that was allowed."""


def solve_one(
    instance: Instance,
    request: Request,
    plan: tuple[int, ...] | None = None,
    watch: Watch | None = None,
    threads: int = 1,
) -> Result:
    """The answer for one instance, of which the request has been checked; Ctrl-C leaves the best so far.

    Where there is no tour a plan is offered that gives something up, in a part of the time that is left. Proofs use all
    of the threads, everything else one.
    """
    asked = locked(instance, request.fixed)
    best = Incumbent(asked, request, watch, threads)
    result = solve_plain(best, plan) if request.plain(asked) else solve_general(best, plan)
    if result.tour is not None or request.relax == "none" or result.interrupted:
        return result
    return replace(result, relaxed=offered(best, result), seconds=best.spent)


def offered(best: Incumbent, result: Result) -> Relaxed | None:
    """The plan that gives up least, as far as there is time; where none is left for a search, the least late order.

    What takes next to no time is done in any case, however late it is: a busy machine may have taken all there was.
    """
    request, known = best.request, None if result.attempt is None else result.attempt.tour
    due, pairs = best.until + max(LATE * request.patience, AT_ONCE), best.instance.nodes**2
    if LOOSENED * pairs > max(due - clock.now(), AT_ONCE):
        return None
    for loose in _loosened(best.instance, request.relax):
        share = min(RELAXED * request.seconds, best.left)
        other = Incumbent(loose, replace(request, seconds=share, relax="none", policy=None))
        if BEGUN * pairs <= max(due - clock.now(), AT_ONCE):
            plan = solve_general(other, known).solution
        else:
            plan = None if known is None else other.offer(known, "plan")
        if plan is not None:
            return Relaxed(request.relax, loose, plan, given_up(best.instance, loose, plan))
    return None


def _loosened(instance: Instance, how: Relax) -> Iterator[Instance]:
    """With more and more that may be given up: stops or punctuality, both, and the end as well."""
    single = relaxed_to(instance, how)
    yield single
    both = relaxed_to(single, "late" if how == "drop" else "drop")
    yield both
    yield replace(both, end=None)


def solve_plain(best: Incumbent, plan: tuple[int, ...] | None = None) -> Result:
    """The answer where windows alone or drafts alone are asked for."""
    conflict = obstacle(best.instance) if best.instance.classic else None
    if conflict is not None:
        best.proved = "infeasible"
        _attempt(best)
        return best.result(conflict.why)
    if plan is not None:
        best.offer(plan, "plan")
    interrupted = False
    try:
        if best.request.iterations is None:
            _by_the_clock(best)
        else:
            _by_iterations(best)
    except KeyboardInterrupt:
        interrupted = True
    best.settle()
    if best.proved == "infeasible" and not interrupted:
        _attempt(best)
    return best.result(reason(best, interrupted), interrupted=interrupted)


def _by_the_clock(best: Incumbent) -> None:
    """As much of everything as fits into the seconds."""
    patient = best.request.seconds >= PATIENT or best.request.gap > 0
    # A proof is sooner by a bound that paths with exact times have raised.
    brief = (
        patient
        and SMALL < best.instance.nodes <= LARGEST
        and not is_makespan(best.instance, best.request.objective)
    )
    if best.instance.nodes <= SMALL or breadth(best.instance) <= NARROW:
        _prove(best, (BRIEF if brief else FIRST_PROOF) * best.left)
    if best.enough:
        return
    _guide(best)
    if _provable(best):
        _improve(best, min(BEFORE_PROOF * best.instance.nodes, BEFORE * best.left))
        # Where no tour is known there may be none, which is proved here if anywhere.
        known = math.isfinite(best.value)
        _prove(best, (BRIEF if brief and known else PROVING) * best.left)
    if not best.enough and _for_bound(best) > 0:
        # A bound, which fixes legs against a tour, needs one as good as can be; a proof, one to beat.
        for times in range(ROUNDS):
            _improve(best, min(2**times * BEFORE_BOUND * best.instance.nodes, BEFORE * best.left))
            if math.isfinite(best.value):
                break
        _raise_bound(best, _for_bound(best))
    if not best.enough:
        _improve(best, best.left)


def _for_bound(best: Incumbent) -> float:
    """Of the seconds that are left, those that a bound may take where no proof can be expected."""
    most = RAISING * best.left
    if best.request.gap > 0:  # the search may end as soon as the bound is good enough
        return most
    return min(most, best.left - SEARCHED * best.instance.nodes)


def _by_iterations(best: Incumbent) -> None:
    """The same without a clock: proofs end where their memory does, and so always at the same point."""
    small = best.instance.nodes <= LARGEST_PROVED
    if small and breadth(best.instance) <= NARROW:
        _prove(best, math.inf, STEADY_MEMORY)
    if best.proved is None:
        _guide(best)
        _improve(best, math.inf)
    if best.proved is None and small:
        _prove(best, math.inf, STEADY_MEMORY)


def _guide(best: Incumbent) -> None:
    """What a policy proposes, where there is one."""
    for tour in best.request.first_tours(best.instance, best.left):
        best.offer(tour, "policy")


def _prove(best: Incumbent, seconds: float, memory: int = MEMORY) -> None:
    proof = prove(
        best.instance,
        upper=best.value,
        seconds=seconds,
        memory=memory,
        objective=best.request.objective,
        threads=best.threads,
    )
    best.learn(proof)


def _raise_bound(best: Incumbent, seconds: float) -> None:
    upper, objective = best.value, best.request.objective
    if math.isfinite(upper):
        best.bound()
        raised = raise_bound(
            best.instance,
            upper=upper,
            seconds=seconds,
            objective=objective,
            gap=best.request.gap,
            threads=best.threads,
        )
        best.learn(raised)


def _improve(best: Incumbent, seconds: float) -> None:
    def found(tour: tuple[int, ...], cost: float) -> None:
        best.claim(tour, cost, "local search")
        if best.request.gap > 0 and best.within(cost):
            best.settle()
            if best.enough:
                raise _Enough

    improved = None
    with suppress(_Enough):
        improved = improve(
            best.instance,
            best.start,
            seconds=seconds,
            iterations=best.request.iterations,
            seed=best.request.seed,
            objective=best.request.objective,
            found=found,
        )
    if improved is None:
        return
    if improved.feasible:
        best.claim(improved.tour, improved.cost, "local search")
        best.settle()
    elif improved.tour != best.start:
        best.offer(improved.tour, "local search")


def _attempt(best: Incumbent) -> None:
    """The least late order of an instance without a tour, as far as it costs next to nothing."""
    if not best.instance.classic:
        return
    known = [] if best.start is None else [best.start]
    judged = least_late(best.instance, best.until, known, work=ATTEMPT_WORK)
    if isinstance(judged, Rejection):
        best.consider(judged)


def _provable(best: Incumbent) -> bool:
    """Whether a proof should come to an end within the seconds."""
    wide = breadth(best.instance) * (best.instance.nodes / 50) ** 0.25
    return wide <= PROVABLE + 4 * math.log10(max(best.request.seconds, 1e-3))
