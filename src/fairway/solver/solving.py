"""The verb `solve`, for one instance or many: in this process or over all cores, with a progress bar."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, overload

import numpy as np

from fairway.cores import cores
from fairway.errors import InvalidRequest
from fairway.problems.instance import Instance
from fairway.problems.model import Objective
from fairway.problems.sets import InstanceSet
from fairway.solver.on_gpu import solved_on_gpu
from fairway.solver.relaxed import Relax
from fairway.solver.request import (
    Device,
    Drop,
    Plan,
    Request,
    check_whole,
    checked_beginning,
    checked_plan,
)
from fairway.solver.results import Result, Watch
from fairway.solver.single import solve_one
from fairway.solver.warm_start import choice_of
from fairway.solver.warmup import ready_policies
from fairway.solver.workers import LARGEST_CHUNK, Answer, Interrupts, Job, WorkerPool

if TYPE_CHECKING:
    from rich.progress import Progress

HELP = 1.0
"""Seconds an instance may take at most for this process to work along while others start."""
WORTHWHILE = 2.0
"""Seconds of work from which on other processes are worth their start, about a second, where none are asked for."""


@overload
def solve(
    instances: Instance,
    seconds: float = ...,
    seed: int = ...,
    initial: Plan | None = ...,
    workers: int | None = ...,
    iterations: int | None = ...,
    objective: Objective = ...,
    policy: str | Path | None = ...,
    watch: Watch | None = ...,
    *,
    drop: Drop = ...,
    relax: Relax = ...,
    fixed: Sequence[int] = ...,
    gap: float = ...,
    device: Device = ...,
) -> Result: ...
@overload
def solve(
    instances: Sequence[Instance] | InstanceSet,
    seconds: float = ...,
    seed: int = ...,
    initial: Plan | None = ...,
    workers: int | None = ...,
    iterations: int | None = ...,
    objective: Objective = ...,
    policy: str | Path | None = ...,
    watch: Watch | None = ...,
    *,
    drop: Drop = ...,
    relax: Relax = ...,
    fixed: Sequence[int] = ...,
    gap: float = ...,
    device: Device = ...,
) -> list[Result]: ...
def solve(  # noqa: PLR0913, PLR0917 - the names are the documentation
    instances: Instance | Sequence[Instance] | InstanceSet,
    seconds: float = 1.0,
    seed: int = 0,
    initial: Plan | None = None,
    workers: int | None = None,
    iterations: int | None = None,
    objective: Objective = "cost",
    policy: str | Path | None = "auto",
    watch: Watch | None = None,
    *,
    drop: Drop = "price",
    relax: Relax = "drop",
    fixed: Sequence[int] = (),
    gap: float = 0.0,
    device: Device = "cpu",
) -> Result | list[Result]:
    """The best tour that can be found in the time, with a proof where one is to be had; or a proof that there is none.

    Every tour has passed the judge. Ctrl-C returns what has been found so far.

    Args:
        instances: One instance, or many: a list gives a list, in the same order.
        seconds: For each instance. Less is taken where a proof ends the search; compiling is not counted.
        seed: Equal seeds give equal answers where `iterations` are given.
        initial: A tour to start from, one per instance; the answer is never worse than a feasible one.
        workers: Processes for a list, threads of the proof for one instance; by default as many as there are cores. One
            process stays in this one.
        iterations: Of local search, in place of seconds: the clock then plays no part.
        objective: "cost" (or "travel", which is the same), "makespan" for the earliest end, or "duration" for the least
            time between departure and end, leaving as late as is best.
        policy: What proposes the first tours: the folder of a trained policy or colony, or a shipped one's name; None
            for nothing. "auto" is a shipped one where it was measured to help, within seconds only.
        watch: Told of every better tour and bound as it is found; for one instance only.
        drop: Which optional stops to leave out: by "price", so that the value is least, or the "fewest", then the
            cheapest of them.
        relax: What the plan may give up that is offered where no tour keeps everything (`Result.relaxed`): stops
            ("drop"), punctuality ("late"), or "none" for no such plan.
        fixed: The stops that the tour must begin with, in this order; for one instance only.
        gap: Stop once the tour is proved to be within this part of the best possible: 0.01 for one percent.
        device: "cuda" has a list searched on a GPU, where the seconds are for all its instances together; what the GPU
            has no search for is left to the cores, as all is, with a sentence, where there is no GPU.
    """
    guide, begun = choice_of(policy), checked_beginning(fixed)
    request = Request(seconds, iterations, seed, objective, guide, drop, relax, begun, gap, device)
    if watch is not None and not (callable(watch) and isinstance(instances, Instance)):
        raise InvalidRequest("watch is a function, and is told of one instance; leave it out here")
    pool_size(workers)
    if request.fixed and not isinstance(instances, Instance):
        raise InvalidRequest("fixed names the stops of one instance; leave it out for a list")
    if isinstance(instances, Instance):
        request.check(instances)
        return solved_one(instances, request, initial, watch, workers)
    if request.device == "cuda":
        job = job_of(instances, request, initial)
        return solved_on_gpu(job, lambda others: solved(others, workers))
    return list(solved(job_of(instances, request, initial), workers))


def solved_one(
    instance: Instance,
    request: Request,
    initial: Plan | None,
    watch: Watch | None,
    workers: int | None = None,
) -> Result:
    """The answer for one instance, of which the request has been checked, with so many threads or one per core."""
    plan = None if initial is None else checked_plan(instance, initial)
    ready_policies([instance], request)
    return solve_one(instance, request, plan, watch, pool_size(workers))


def job_of(
    instances: Sequence[Instance] | InstanceSet,
    request: Request,
    initial: Plan | None,
) -> Job:
    """What is asked of many instances, checked."""
    if not isinstance(instances, Sequence | InstanceSet) or isinstance(instances, str | bytes):
        request.check(instances)
    listed = instances if isinstance(instances, InstanceSet) else list(instances)
    for instance in Job(listed, None, request).kinds:
        request.check(instance)
    if initial is None:
        return Job(listed, None, request)
    given = len(initial) if isinstance(initial, Sequence | np.ndarray) else "no list of"
    if given != len(listed):
        raise InvalidRequest(
            f"{given} initial plans were given for {len(listed)} instances; expected one per instance, or None"
        )
    plans = [
        None if plan is None else checked_plan(instance, plan)
        for instance, plan in zip(listed, initial, strict=True)
    ]
    return Job(listed, plans, request)


def pool_size(workers: int | None) -> int:
    """The processes or threads asked for, or one for each core."""
    if workers is None:
        return cores()
    check_whole("workers", workers, least=1)
    return workers


def solved(job: Job, workers: int | None) -> Iterator[Result]:
    """The answers in order, each as soon as those before it are there; what Ctrl-C left unanswered says so.

    So many processes work on them, or as many as there are cores.
    """
    total = len(job.instances)
    shared = workers is not None or total * job.request.patience > WORTHWHILE
    count = min(pool_size(workers), total) if shared else 1
    early: dict[int, Result] = {}
    following = 0
    with _progress() as progress, Interrupts() as interrupts:
        task = progress.add_task("solving", total=total)
        for number, result in _answers(job, count if count > 1 else 0, interrupts):
            progress.advance(task)
            early[number] = result
            while following in early:
                yield early.pop(following)
                following += 1
        why = "the search was interrupted before it came to this instance"
        for number in range(following, total):
            yield early.pop(number, None) or job.unsolved(number, why)


def _answers(job: Job, count: int, interrupts: Interrupts) -> Iterator[Answer]:
    """Work shared with so many other processes; while they start, or where there are none, this one does it."""
    with WorkerPool(job, count) as pool:
        ready_policies(job.kinds, job.request)
        while not (pool.finished or pool.deserted or interrupts.heard):
            helping = pool.starting and job.request.patience <= HELP
            yield from pool.collect(0.0 if helping else 0.1)
            for number in pool.take(1) if helping else ():
                yield number, job.solve(number, interrupts)
        if count > 0 and pool.deserted and not pool.finished:
            why = "no process to solve with could be started; going on in this one"
            print(f"fairway: {why}", file=sys.stderr)
        while not (pool.finished or interrupts.heard):
            yield from job.answers(pool.take(LARGEST_CHUNK), interrupts)
        if interrupts.heard:
            yield from pool.stop()


def _progress() -> "Progress":
    """A bar on stderr, on terminals only, that leaves nothing behind."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
