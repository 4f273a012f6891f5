"""One instance: proofs where they are cheap, local search where they are not, and both where both can help."""

import math

from fairway.judge import Rejection
from fairway.problems.instance import Instance
from fairway.search.exact import MEMORY, prove
from fairway.search.improve import improve
from fairway.solver.explain.attempt import least_late
from fairway.solver.explain.conflict import plain_reason
from fairway.solver.explain.decision import NARROW, breadth
from fairway.solver.explain.obstacles import obstacle
from fairway.solver.guidance import guided_tours
from fairway.solver.incumbent import Incumbent
from fairway.solver.request import Request
from fairway.solver.results import Result, Watch

FIRST_PROOF = 0.6
"""Of the budget, what a proof may take that is tried before anything else."""
PROVABLE = 12.5
"""The breadth, at 50 nodes, up to which a proof can be expected within a second; ten times as long, four more."""
PATIENT = 2.0
"""Seconds from which on a bound is worth its time even where no proof can be expected."""
STEADY_MEMORY = 1 << 22
"""Bytes for the labels of a proof that no clock ends."""
ATTEMPT_WORK = 1_000_000
"""Nodes looked at for the least late order: a few milliseconds."""
LARGEST_PROVED = 200
"""Nodes up to which such a proof is tried."""


def solve_one(
    instance: Instance,
    request: Request,
    plan: tuple[int, ...] | None = None,
    watch: Watch | None = None,
) -> Result:
    """The answer for one instance; Ctrl-C ends the search and leaves the best so far.

    Args:
        instance: Any instance for which the request has been checked.
        request: How long to work, and for what.
        plan: A tour to start from, feasible or not.
        watch: Told of every improvement as it is found.
    """
    best = Incumbent(instance, request.objective, watch, request.patience)
    interrupted = False
    conflict = obstacle(instance)
    if conflict is not None:
        best.proved = "infeasible"
        _attempt(best, request)
        return best.result(conflict.why, interrupted=False)
    if plan is not None:
        best.offer(plan, "plan")
    try:
        if request.iterations is None:
            _by_the_clock(best, request)
        else:
            _by_iterations(best, request, request.iterations)
    except KeyboardInterrupt:
        interrupted = True
    best.settle()
    if best.proved == "infeasible" and not interrupted:
        _attempt(best, request)
    return best.result(_reason(best, request, interrupted), interrupted=interrupted)


def unsolved(
    instance: Instance,
    request: Request,
    plan: tuple[int, ...] | None,
    reason: str,
    *,
    interrupted: bool,
) -> Result:
    """The answer where no work was done, or none was saved: the plan, if the judge accepts it."""
    best = Incumbent(instance, request.objective, None)
    if plan is not None:
        best.offer(plan, "plan")
    return best.result(reason, interrupted=interrupted)


def _by_the_clock(best: Incumbent, request: Request) -> None:
    """As much of everything as fits into the seconds."""
    if breadth(best.instance) <= NARROW:
        _prove(best, FIRST_PROOF * best.left)
    if best.proved is not None:
        return
    _guide(best, request)
    share = _proof_share(best.instance, request)
    if share > 0:
        _improve(best, request, seconds=_first_slice(best.instance, request))
        _prove(best, share * best.left)
    if best.proved is None:
        _improve(best, request, seconds=best.left)


def _by_iterations(best: Incumbent, request: Request, iterations: int) -> None:
    """The same without a clock: proofs end where their memory does, and so always at the same point."""
    small = best.instance.nodes <= LARGEST_PROVED
    if small and breadth(best.instance) <= NARROW:
        _prove(best, math.inf, STEADY_MEMORY)
    if best.proved is None:
        _guide(best, request)
        _improve(best, request, iterations=iterations)
    if best.proved is None and small:
        _prove(best, math.inf, STEADY_MEMORY)


def _guide(best: Incumbent, request: Request) -> None:
    """What a policy proposes, where there is one."""
    guide = request.guide(best.instance)
    if guide is not None:
        for tour in guided_tours(best.instance, guide, best.left, request.seed):
            best.offer(tour, "policy")


def _prove(best: Incumbent, seconds: float, memory: int = MEMORY) -> None:
    proof = prove(
        best.instance,
        upper=best.value,
        seconds=seconds,
        memory=memory,
        objective=best.objective,
    )
    best.learn(proof)


def _improve(
    best: Incumbent, request: Request, seconds: float = math.inf, iterations: int | None = None
) -> None:
    improved = improve(
        best.instance,
        best.start,
        seconds=seconds,
        iterations=iterations,
        seed=request.seed,
        objective=request.objective,
        found=lambda tour, cost: best.claim(tour, cost, "local search"),
    )
    if improved.feasible:
        best.claim(improved.tour, improved.cost, "local search")
        best.settle()
    elif improved.tour != best.start:
        best.offer(improved.tour, "local search")


def _attempt(best: Incumbent, request: Request) -> None:
    """The least late order of an instance without a tour, as far as it costs next to nothing."""
    known = [] if best.start is None else [best.start]
    until = best.began + request.patience
    judged = least_late(best.instance, until, known, work=ATTEMPT_WORK)
    if isinstance(judged, Rejection):
        best.consider(judged)


def _first_slice(instance: Instance, request: Request) -> float:
    """Seconds of local search before a proof, which needs a good tour to beat."""
    return min(0.0004 * instance.nodes, 0.3 * request.seconds)


def _proof_share(instance: Instance, request: Request) -> float:
    """The share of what is left for a proof: large where it should come to an end, else at most enough for a bound."""
    wide = breadth(instance) * (instance.nodes / 50) ** 0.25
    if wide <= PROVABLE + 4 * math.log10(max(request.seconds, 1e-3)):
        return 0.6
    return 0.2 if request.seconds >= PATIENT else 0.0


def _reason(best: Incumbent, request: Request, interrupted: bool) -> str:
    """Why there is no tour, as far as is known."""
    if best.proved == "infeasible":
        return plain_reason(best.instance, best.until)
    end = "the search was interrupted" if interrupted else "the budget ended"
    return f"{end} before a tour was found or proved impossible"
