"""Many instances on a GPU: local search for all of one size together, proofs and all else on the cores beside it."""

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

from fairway import clock
from fairway.cores import cores
from fairway.errors import InvalidRequest
from fairway.extras import can_learn
from fairway.judge import Solution, verify
from fairway.judge.many import solutions_of
from fairway.problems.instance import Instance
from fairway.problems.sets import InstanceSet, instance_set
from fairway.search.lower_bound import held_karp
from fairway.solver.explain.feasibility import NARROW, breadth
from fairway.solver.incumbent import closed
from fairway.solver.request import Request
from fairway.solver.results import Improvement, Method, Result
from fairway.solver.workers import Job

if TYPE_CHECKING:
    from fairway.search.side_by_side import Found

MOST_NODES, FEWEST_NODES = 1023, 5
"""Of an instance that is searched there."""
LEAST = 0.5
"""Seconds that an instance has at least on a core, where the GPU has no tour of it."""
JUDGED = 2e-6
"""Seconds that a tour takes to be judged and told, for each of its stops."""

Beside = Callable[[Job], Iterator[Result]]
"""Answers a job on the cores of this machine."""


def unavailable() -> str:
    """Why nothing can be searched on a GPU here; empty where it can."""
    if not can_learn():
        return "the search on a GPU needs PyTorch, which is not installed"
    from fairway.search.side_by_side import gpu_here

    return "" if gpu_here() else "torch sees no GPU on this machine"


def suits(instance: Instance, request: Request) -> bool:
    """Whether the GPU searches it: a classic problem, too wide for a proof at once; the least travel."""
    sized = FEWEST_NODES <= instance.nodes <= MOST_NODES
    plain = request.plain(instance) and request.objective != "makespan" and not request.fixed
    return sized and plain and instance.cost is instance.travel and breadth(instance) > NARROW


def served_on_gpu(instances: InstanceSet, request: Request) -> bool:
    """Whether the GPU searches instances of a set, narrow windows or not."""
    sized = FEWEST_NODES <= instances.nodes <= MOST_NODES
    least_travel = request.objective in ("cost", "travel") and not request.fixed
    return sized and least_travel and instances.problem != "tour"


def solved_on_gpu(job: Job, beside: Beside) -> list[Result]:
    """The answers in order; the seconds of the request are for all instances together."""
    if why := unavailable():
        print(f"fairway: {why}; going on with the cores", file=sys.stderr)
        return list(beside(_on_cores(job, len(job.instances))))
    until = clock.now() + job.request.patience
    listed = list(job.instances)
    chosen = [number for number, each in enumerate(listed) if suits(each, job.request)]
    rest = sorted(set(range(len(listed))) - set(chosen))
    with ThreadPoolExecutor(1) as pool:
        others = pool.submit(lambda: list(beside(_part(job, rest))) if rest else [])
        results = dict(_searched(job, listed, chosen, until))
        results.update(zip(rest, others.result(), strict=True))
    left = [number for number in chosen if number not in results]
    if left:
        results.update(zip(left, beside(_part(job, left)), strict=True))
    return [results[number] for number in range(len(listed))]


def tours_on_gpu(
    instances: InstanceSet,
    seconds: float,
    seed: int = 0,
    start: Sequence[tuple[int, ...] | None] | None = None,
    rounds: int | None = None,
) -> "Found":
    """The best tour of each instance of a set, found together in so many seconds or rounds, and not yet judged."""
    if why := unavailable():
        raise InvalidRequest(f"{why}; search on the cores instead")
    from fairway.search.side_by_side import Effort, numbers_of, search, tours_in

    began = clock.now()
    numbers = numbers_of(instances, "cuda")
    first = None if start is None else tours_in(numbers, start)
    left = max(seconds - (clock.now() - began), 0.0)
    return search(numbers, Effort(left, rounds), seed, first)


def _part(job: Job, numbers: list[int]) -> Job:
    """Some instances of a job, for the cores."""
    plans = None if job.plans is None else [job.plans[number] for number in numbers]
    some = Job([job.instances[number] for number in numbers], plans, job.request)
    return _on_cores(some, len(numbers))


def _on_cores(job: Job, count: int) -> Job:
    """The same with as many seconds per instance as all of them have together on as many cores."""
    seconds = max(job.request.seconds * cores() / max(count, 1), LEAST)
    return replace(job, request=replace(job.request, seconds=min(seconds, job.request.seconds)))


def _searched(
    job: Job, listed: list[Instance], chosen: list[int], until: float
) -> Iterator[tuple[int, Result]]:
    """Groups of one problem and size after each other, each with its share of the time; what has a tour."""

    def kind(number: int) -> tuple[str, str, int]:
        return listed[number].problem, listed[number].load, listed[number].nodes

    following = len(chosen)
    for _, group in groupby(sorted(chosen, key=kind), kind):
        numbers = list(group)
        began, share = clock.now(), len(numbers) / following
        due = until if share == 1 else began + share * max(until - began, 0.0)
        plans = None if job.plans is None else [job.plans[number] for number in numbers]
        some = _Group([listed[number] for number in numbers], plans, job.request)
        for number, result in zip(numbers, some.searched(due), strict=True):
            if result is not None:
                yield number, result
        following -= len(numbers)


@dataclass(frozen=True, slots=True, eq=False)
class _Group:
    """Instances of one problem and size that are searched together."""

    instances: list[Instance]
    plans: list[tuple[int, ...] | None] | None
    request: Request

    def searched(self, until: float) -> list[Result | None]:
        """The answers; None where no tour was found. The cores bound the tours meanwhile."""
        began, count = clock.now(), len(self.instances)
        some, request = instance_set(self.instances), self.request
        judging = JUDGED * count * some.nodes
        with ThreadPoolExecutor(max(cores() - 1, 1)) as pool:
            bounds = pool.map(lambda each: held_karp(each, until=until - judging), self.instances)
            left = max(until - judging - clock.now(), 0.0)
            found = tours_on_gpu(some, left, request.seed, self.plans, request.iterations)
            lower = list(bounds)
        solutions = solutions_of(some, found.tours)
        spent = (clock.now() - began) / count
        rows = zip(solutions, found.there, self.plans or [None] * count, lower, strict=True)
        return [
            self._answer(number, solution if there else None, plan, least, spent)
            for number, (solution, there, plan, least) in enumerate(rows)
        ]

    def _answer(
        self,
        number: int,
        solution: Solution | None,
        plan: tuple[int, ...] | None,
        lower: float,
        seconds: float,
    ) -> Result | None:
        """The better of what was found and of a plan of the caller's, if the judge accepts it."""
        instance = self.instances[number]
        method: Method = "local search"
        planned = None if plan is None else verify(instance, plan)
        if isinstance(planned, Solution) and (solution is None or planned.value <= solution.value):
            solution, method = planned, "plan"
        if solution is None:
            return None
        objective, value = self.request.objective, solution.value
        proved = closed(instance, objective, value, lower)
        return Result(
            "optimal" if proved else "feasible",
            seconds,
            objective,
            value if proved else min(lower, value),
            solution,
            method,
            (Improvement(seconds, value, method),),
        )
