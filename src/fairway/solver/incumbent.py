"""The best tour so far. Searches say what they found; nothing counts before the judge has seen it."""

import math
from dataclasses import replace

import numpy as np

from fairway import clock
from fairway.judge import Rejection, Solution, verify
from fairway.problems.checks import is_integral
from fairway.problems.instance import Instance
from fairway.problems.model import MARGIN
from fairway.search.exact import Proof
from fairway.search.general_exact import least_general
from fairway.search.lower_bound import held_karp
from fairway.solver.request import Request
from fairway.solver.results import Improvement, Method, Progress, Result, Status, Watch

RESERVED = 0.05
"""Of the seconds, the most that is kept for the judge and a last bound."""
BELATED = 0.02
"""Seconds by which the last bound may be late."""
JUDGED, PAIR_SECONDS = 0.005, 5e-8
"""What these take, and what they take besides for each pair of nodes."""


class Incumbent:
    """What is known about one instance while it is being solved."""

    def __init__(
        self,
        instance: Instance,
        request: Request,
        watch: Watch | None = None,
        threads: int = 1,
    ) -> None:
        self.instance, self.request = instance, request
        self.threads = threads if request.iterations is None else 1
        """That a proof may use: one where the answer must always be the same."""
        self.began = clock.now()
        seconds = request.patience
        self.until = self.began + seconds
        """When the answer is due, by `clock.now`."""
        self._reserve = min(RESERVED * seconds, JUDGED + PAIR_SECONDS * instance.nodes**2)
        self.lower = -math.inf
        self.proved: Status | None = None
        """Optimal or infeasible, once that is certain."""
        self._bounded = False
        self._watch = watch
        self._solution: Solution | None = None
        self._attempt: Rejection | None = None
        self._trace: list[Improvement] = []
        self._claims: list[tuple[tuple[int, ...], Improvement]] = []
        """Tours that a search says are better, not yet judged."""

    @property
    def spent(self) -> float:
        """Seconds since the work began."""
        return clock.now() - self.began

    @property
    def left(self) -> float:
        """Seconds of search until what follows it must begin."""
        return max(self.until - self._reserve - clock.now(), 0.0)

    @property
    def value(self) -> float:
        """Of the best tour that the judge has accepted."""
        return math.inf if self._solution is None else self._solution.value

    @property
    def solution(self) -> Solution | None:
        """The best tour that the judge has accepted."""
        return self._solution

    @property
    def enough(self) -> bool:
        """Whether no more is asked for: a proof, or a bound within the gap that was allowed."""
        return self.proved is not None or self.within(self.value)

    def within(self, value: float) -> bool:
        """Whether a tour of that value is proved to be within the gap that was allowed."""
        return 0 < self.lower < math.inf and value <= (1 + self.request.gap) * self.lower

    @property
    def start(self) -> tuple[int, ...] | None:
        """The tour to go on from: the best one, or the least late."""
        best = self._solution or self._attempt
        return None if best is None else best.tour

    def claim(self, tour: tuple[int, ...], cost: float, method: Method) -> None:
        """Note a tour that a search holds to be better than all before; the judge is asked later."""
        if cost >= (self._claims[-1][1].cost if self._claims else self.value):
            return
        step = Improvement(self.spent, cost, method)
        self._claims.append((tour, step))
        self._tell(step, tour)

    def settle(self) -> None:
        """Have the claims judged, from the best down, until one is accepted."""
        while self._claims:
            tour, step = self._claims.pop()
            judged = self._judged(tour)
            if isinstance(judged, Rejection):
                self.consider(judged)
            elif self._rank(judged) < self._rank(self._solution):
                self._accept(judged, step)

    def offer(self, tour: tuple[int, ...], method: Method) -> Solution | None:
        """Have a tour judged that may be good or late; the best one that is known after that."""
        judged = self._judged(tour)
        if isinstance(judged, Rejection):
            self.consider(judged)
        elif self._rank(judged) < self._rank(self._solution):
            step = Improvement(self.spent, judged.value, method)
            self._tell(step, tour)
            self._accept(judged, step)
        return self._solution

    def consider(self, rejection: Rejection) -> None:
        """Keep what breaks the rules least."""
        if self._attempt is None or _broken(rejection) < _broken(self._attempt):
            self._attempt = rejection

    def learn(self, proof: Proof) -> None:
        """Take over what an exact search below the best value has found and proved."""
        if proof.tour is not None:
            self.claim(proof.tour, proof.cost, "exact search")
            self.settle()
        if proof.lower_bound > self.lower:
            self.lower = proof.lower_bound
            self._tell(self._trace[-1] if self._trace else None, self.start)
        if proof.status == "infeasible":
            self.proved = "infeasible"
        elif proof.status == "bounded" or (
            # Only of the tour that the judge has accepted as the best.
            proof.status == "optimal" and self._solution and self._solution.tour == proof.tour
        ):
            self.proved = "optimal"
        self._close()

    def _close(self) -> None:
        """The best tour is optimal once no value between it and the lower bound is left."""
        found, value = self._solution, self.value
        if (
            self.proved is not None
            or found is None
            or (self.request.drop == "fewest" and found.unserved)
        ):
            return
        if closed(self.instance, self.request.objective, value, self.lower):
            self.proved = "optimal"

    def _tell(self, step: Improvement | None, tour: tuple[int, ...] | None) -> None:
        """Tell whoever watches of a better tour or bound."""
        if self._watch is None:
            return
        cost, method = (math.inf, None) if step is None else (step.cost, step.method)
        known = None if step is None else tour
        self._watch(Progress(self.spent, cost, method, known, min(self.lower, cost)))

    def bound(self) -> None:
        """Have the bound that takes milliseconds, once; with little time left it says little."""
        if self._bounded:
            return
        self._bounded = True
        instance, objective = self.instance, self.request.objective
        until = self.until + min(self._reserve, BELATED)
        plain = instance.classic and self.request.plain(instance)
        if plain or (objective in ("cost", "travel") and _round_trip(instance)):
            self.lower = max(self.lower, held_karp(instance, objective, self.value, until))
        if not plain:
            self.lower = max(self.lower, least_general(instance, objective, until))

    def result(self, reason: str, *, interrupted: bool = False) -> Result:
        """The answer as things stand; the reason is given where there is no tour."""
        if self.proved is None:
            self.bound()
            self.lower = min(self.lower, self.value)
            self._close()
        found, proved = self._solution is not None, self.proved
        sure = self.value if proved == "optimal" else math.inf
        lower = self.lower if proved is None else sure
        return Result(
            proved or ("feasible" if found else "unknown"),
            self.spent,
            self.request.objective,
            lower,
            self._solution,
            self._trace[-1].method if found else None,
            tuple(self._trace),
            reason="" if found else reason,
            attempt=None if found else self._attempt,
            interrupted=interrupted,
        )

    def _judged(self, tour: tuple[int, ...]) -> Solution | Rejection:
        return verify(self.instance, tour, objective=self.request.objective)

    def _rank(self, solution: Solution | None) -> tuple[float, float, float]:
        """What counts, most important first: where as few as can be are left out, their number and their price."""
        if solution is None:
            return math.inf, math.inf, math.inf
        if self.request.drop == "price":
            return 0.0, 0.0, solution.value
        price = math.fsum(self.instance.prize[list(solution.unserved)])
        return len(solution.unserved), float(f"{price:.13e}"), solution.value

    def _accept(self, solution: Solution, step: Improvement) -> None:
        """Earlier claims are of worse tours: they stay in the trace unjudged."""
        self._solution = solution
        steps = [step for _, step in self._claims if step.cost > solution.value]
        self._claims.clear()
        self._trace += [*steps, replace(step, cost=solution.value)]
        self._close()


def _round_trip(instance: Instance) -> bool:
    """Whether every tour visits all stops and comes back, on legs that can all be travelled."""
    everywhere = np.isinf(instance.prize[1:]).all() and np.isfinite(instance.cost).all()
    return bool(instance.end == 0 and everywhere)


def closed(instance: Instance, objective: str, value: float, lower: float) -> bool:
    """Whether no value is left between that of a tour and a lower bound."""
    rounding = MARGIN * max(abs(value), 1.0)
    if lower >= value - rounding:
        return True
    return lower > value - 1.0 + rounding and _whole(instance, objective)


def _whole(instance: Instance, objective: str) -> bool:
    """Whether every tour is worth a whole number."""
    if np.isfinite(instance.late).any() or not is_integral(instance.prize):
        return False
    timed = objective in ("makespan", "duration")
    return instance.whole_times if timed else is_integral(instance.cost)


def _broken(rejection: Rejection) -> float:
    return sum(violation.amount for violation in rejection.violations)
