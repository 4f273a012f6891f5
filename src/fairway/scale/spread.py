"""A list of tasks over workers, answered in order."""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from fairway.errors import WorkerLost
from fairway.scale.driver import MOST_LOSSES
from fairway.scale.executor import Executor, Lost, Task
from fairway.solver.results import Result
from fairway.solver.warmup import warm_up
from fairway.solver.workers import Interrupts, Job


def in_order(executor: Executor, tasks: Iterable[Task]) -> Iterator[Any]:
    """The answers to all tasks, each as soon as those before it are there; lost ones are tried a few times."""
    coming = iter(tasks)
    running: dict[int, tuple[int, Task, int]] = {}
    early: dict[int, Any] = {}
    submitted = following = 0
    while True:
        # No further ahead than workers can be, however long an early task takes.
        for _ in range(min(executor.room, 8 * executor.width - (submitted - following))):
            if (task := next(coming, None)) is None:
                break
            running[executor.submit(task)] = submitted, task, 0
            submitted += 1
        if not running:
            return
        for ticket, answer in executor.collect(1.0):
            number, task, losses = running.pop(ticket)
            if not isinstance(answer, Lost):
                early[number] = answer
            elif losses + 1 < MOST_LOSSES:
                running[executor.submit(task)] = number, task, losses + 1
            else:
                raise WorkerLost(
                    f"{MOST_LOSSES} workers in a row (of {executor.width}) were lost at the same work, the last one "
                    f"for this reason: {answer.reason}; run the same command again, which goes on where this one was, "
                    "or with fewer workers"
                )
        while following in early:
            yield early.pop(following)
            following += 1


def solved_on(executor: Executor, job: Job) -> Iterator[Result]:
    """The answers of a job in order, as `solved` gives them in processes of its own."""
    count = len(job.instances)
    return in_order(executor, (partial(_solved, job[at : at + 1]) for at in range(count)))


def _solved(job: Job) -> Result:
    """What a worker does for one instance."""
    warm_up(job.kinds, job.request)
    return job.solve(0, Interrupts())
