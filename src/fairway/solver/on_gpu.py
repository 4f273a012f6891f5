"""Many instances on a GPU: local search for all of one size together, proofs and all else on the cores beside it."""

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from fairway import clock
from fairway.cores import cores
from fairway.errors import InvalidRequest
from fairway.extras import can_learn
from fairway.problems.instance import Instance
from fairway.problems.sets import InstanceSet, instance_set
from fairway.solver.explain.feasibility import NARROW, breadth
from fairway.solver.incumbent import Incumbent
from fairway.solver.request import Request
from fairway.solver.results import Result
from fairway.solver.workers import Job

if TYPE_CHECKING:
    from fairway.search.side_by_side import Found

MOST_NODES, FEWEST_NODES = 1023, 5
"""Of an instance that is searched there."""
LEAST = 0.5
"""Seconds that an instance has at least on a core, where the GPU has no tour of it."""

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
    listed = list(job.instances)
    chosen = [number for number, each in enumerate(listed) if suits(each, job.request)]
    rest = sorted(set(range(len(listed))) - set(chosen))
    results: dict[int, Result] = {}
    with ThreadPoolExecutor(1) as pool:
        others = pool.submit(lambda: list(beside(_part(job, rest))) if rest else [])
        for number, result in _searched(job, listed, chosen):
            results[number] = result
        results.update(zip(rest, others.result(), strict=True))
    left = [number for number in chosen if results[number].tour is None]
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


def _searched(job: Job, listed: list[Instance], chosen: list[int]) -> Iterator[tuple[int, Result]]:
    """Groups of one problem and size after each other, each with its share of the seconds."""
    request = job.request

    def kind(number: int) -> tuple[str, str, int]:
        return listed[number].problem, listed[number].load, listed[number].nodes

    for _, group in groupby(sorted(chosen, key=kind), kind):
        numbers = list(group)
        plans = None if job.plans is None else [job.plans[number] for number in numbers]
        some = instance_set([listed[number] for number in numbers])
        began, share = clock.now(), len(numbers) / len(chosen)
        seconds, rounds, seed = request.seconds * share, request.iterations, request.seed
        found = tours_on_gpu(some, seconds, seed, plans, rounds)
        spent = (clock.now() - began) / len(numbers)
        for row, number in enumerate(numbers):
            tour = tuple(found.tours[row].tolist()) if found.there[row] else None
            plan = None if plans is None else plans[row]
            yield number, _judged(listed[number], request, plan, tour, spent)


def _judged(
    instance: Instance,
    request: Request,
    plan: tuple[int, ...] | None,
    tour: tuple[int, ...] | None,
    spent: float,
) -> Result:
    """The better of a plan of the caller's and of what was found, if the judge accepts it."""
    best = Incumbent(instance, replace(request, relax="none"))
    if plan is not None:
        best.offer(plan, "plan")
    if tour is not None:
        best.offer(tour, "local search")
    return replace(best.result("no tour was found on the GPU"), seconds=spent)
