"""Many instances, in this process or over all cores, with a progress bar."""

import sys
from collections.abc import Iterator, Sequence

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from fairway.cores import cores
from fairway.errors import InvalidRequest
from fairway.problems.instance import Instance
from fairway.problems.sets import InstanceSet
from fairway.solver.interrupts import Interrupts
from fairway.solver.request import Plan, Request, check_whole, checked_plan
from fairway.solver.results import Result
from fairway.solver.warmup import warm_up
from fairway.solver.workers import Answer, Crew, Job

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


def solved(job: Job, workers: int | None) -> Iterator[Result]:
    """The answers in order, each as soon as those before it are there; what Ctrl-C left unanswered says so.

    So many processes work on them, or as many as there are cores.
    """
    total = len(job.instances)
    count = min(crew_size(workers), total)
    early: dict[int, Result] = {}
    following = 0
    with _progress() as progress, Interrupts() as interrupts:
        task = progress.add_task("solving", total=total)
        for number, result in (_shared if count > 1 else _alone)(job, count, interrupts):
            progress.advance(task)
            early[number] = result
            while following in early:
                yield early.pop(following)
                following += 1
        why = "the search was interrupted before it came to this instance"
        for number in range(following, total):
            yield early.pop(number, None) or job.unsolved(number, why)


def _alone(job: Job, count: int, interrupts: Interrupts) -> Iterator[Answer]:
    """Answers of this process, which is the one that counts."""
    warm_up(job.kinds, job.request)
    for number in range(len(job.instances)):
        if not interrupts.heard:
            yield number, job.solve(number, interrupts)


def _shared(job: Job, count: int, interrupts: Interrupts) -> Iterator[Answer]:
    """Work shared with other processes; while they start, or where they cannot, this one does some."""
    with Crew(job, count) as crew:
        warm_up(job.kinds, job.request)
        while not (crew.finished or crew.deserted or interrupts.heard):
            helping = crew.starting and job.request.patience <= HELP
            yield from crew.collect(0.0 if helping else 0.1)
            for number in crew.take(1) if helping else ():
                yield number, job.solve(number, interrupts)
        if crew.deserted and not crew.finished:
            print(
                "fairway: no process to solve with could be started; going on in this one",
                file=sys.stderr,
            )
        while not (crew.finished or interrupts.heard):
            for number in crew.take(1):
                yield number, job.solve(number, interrupts)
        if interrupts.heard:
            yield from crew.stop()


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
