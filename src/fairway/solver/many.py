"""Many instances, in this process or over all cores, with a progress bar."""

from collections.abc import Callable, Sequence

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from fairway.cores import cores
from fairway.errors import InvalidRequest
from fairway.problems.instance import Instance, InstanceSet
from fairway.solver.interrupts import Interrupts
from fairway.solver.request import Plan, Request, check_whole, checked_plan
from fairway.solver.results import Result
from fairway.solver.warmup import warm_up
from fairway.solver.workers import Crew, Job

HELP = 1.0
"""Seconds an instance may take at most for this process to work along while others start."""


def job_of(
    instances: Sequence[Instance] | InstanceSet,
    request: Request,
    initial: Plan | None,
) -> Job:
    """What is asked of many instances, checked."""
    if not isinstance(instances, Sequence | InstanceSet):
        request.check(instances)
    listed = instances if isinstance(instances, InstanceSet) else list(instances)
    for instance in Job(listed, None, request).kinds:
        request.check(instance)
    if initial is None:
        return Job(listed, None, request)
    given = len(initial) if isinstance(initial, Sequence | np.ndarray) else "no list of"
    if given != len(listed):
        raise InvalidRequest(
            f"{given} initial plans were given for {len(listed)} instances; expected one an instance, or None"
        )
    plans = [
        None if plan is None else checked_plan(instance, plan)
        for instance, plan in zip(listed, initial, strict=True)
    ]
    return Job(listed, plans, request)


def crew_size(workers: int | None) -> int:
    """The processes asked for, or one for each core."""
    if workers is None:
        return cores()
    check_whole("workers", workers, least=1)
    return workers


def solve_many(job: Job, workers: int | None) -> list[Result]:
    """The answers in order, from so many processes, or from as many as there are cores."""
    count = min(crew_size(workers), len(job.instances))
    with _progress() as progress:
        task = progress.add_task("solving", total=len(job.instances))
        return _all_solved(job, count, lambda: progress.advance(task))


def _all_solved(job: Job, count: int, advance: Callable[[], None]) -> list[Result]:
    """The answers in order; those that Ctrl-C left unanswered say so."""
    results: dict[int, Result] = {}
    with Interrupts() as interrupts:
        if count > 1:
            _shared(job, count, interrupts, results, advance)
        else:
            warm_up(job.kinds, job.request)
            for number in range(len(job.instances)):
                if not interrupts.heard:
                    results[number] = job.solve(number, interrupts)
                    advance()
    why = "the search was interrupted before it came to this instance"
    return [results.get(k) or job.unsolved(k, why) for k in range(len(job.instances))]


def _shared(
    job: Job,
    count: int,
    interrupts: Interrupts,
    results: dict[int, Result],
    advance: Callable[[], None],
) -> None:
    """Work shared with other processes; while they start, this one begins."""
    with Crew(job, count) as crew:
        warm_up(job.kinds, job.request)
        while not crew.finished and not interrupts.heard:
            helping = crew.starting and job.request.patience <= HELP
            for number, result in crew.collect(0.0 if helping else 0.1):
                results[number] = result
                advance()
            for number in crew.take(1) if helping else ():
                results[number] = job.solve(number, interrupts)
                advance()
        if interrupts.heard:
            results.update(crew.stop())


def _progress() -> Progress:
    """A bar on stderr, on terminals only, that leaves nothing behind."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
