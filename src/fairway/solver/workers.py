"""Many instances over several processes, of which any may die without harm to more than the instance it was at.

Processes are started afresh, not forked, and run nothing of the caller's: a script needs no main guard, and threads of
the caller do no harm. The terminal's Ctrl-C does not reach them; whoever started them tells them when to stop, and they
end when it does.
"""

import math
import os
import pickle
import select
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection, Pipe, wait
from types import FrameType

from fairway.kernels.compiling import hush
from fairway.problems.instance import Instance
from fairway.problems.sets import InstanceSet
from fairway.solver.incumbent import Incumbent
from fairway.solver.narrow import solved_together, suits
from fairway.solver.request import Request
from fairway.solver.results import Result
from fairway.solver.single import solve_one
from fairway.solver.warmup import ready_policies

CHUNK_SECONDS = 0.15
"""Of work that is sent to a process at a time."""
TOLD_SECONDS = 0.02
"""After which a process hands over what it has found; less is not worth a message."""
LARGEST_CHUNK = 256
"""Instances."""
FEWEST_TOGETHER = 8
"""Instances that are worth proving together."""
AHEAD = 1_000
"""Instances that may be answered before an earlier one is, so that few answers wait for their turn."""
MOST_FAILURES = 3
"""Processes lost in a row while they start, after which no more are tried."""
GRACE = 2.0
"""Seconds in which a process that is told to stop hands over what it has."""
GONE = (EOFError, OSError, pickle.UnpicklingError)
"""What is raised where the other end of a line is no more."""

Answer = tuple[int, Result]
"""The number of an instance, and what was found."""


class Interrupts:
    """While this is entered, Ctrl-C is noted, and raised only inside `exposed`."""

    def __init__(self) -> None:
        self.heard = False
        self._exposed = False
        self._before: object = None

    def __enter__(self) -> "Interrupts":
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._hear)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)  # pyrefly: ignore[bad-argument-type]

    @contextmanager
    def exposed(self) -> Iterator[None]:
        """Let a KeyboardInterrupt be raised; one that nobody caught ends the block, and is noted."""
        self._exposed = True
        try:
            yield
        except KeyboardInterrupt:
            self.heard = True
        finally:
            self._exposed = False

    def _hear(self, _signal: int, _frame: FrameType | None) -> None:
        self.heard = True
        if self._exposed:
            self._exposed = False
            raise KeyboardInterrupt


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """Instances, the plans that some of them start from, and what is asked of all."""

    instances: Sequence[Instance] | InstanceSet
    plans: Sequence[tuple[int, ...] | None] | None
    request: Request

    def __getitem__(self, part: slice) -> "Job":
        plans = None if self.plans is None else self.plans[part]
        return Job(self.instances[part], plans, self.request)

    @property
    def kinds(self) -> Iterable[Instance]:
        """Instances of every kind that occurs; a set is of one kind."""
        return self.instances[:1] if isinstance(self.instances, InstanceSet) else self.instances

    def answers(self, part: range, interrupts: Interrupts) -> Iterator[Answer]:
        """The answers for some instances, until Ctrl-C; narrow windows of a set are proved together."""
        known = self._proved(part)
        for number in part:
            if interrupts.heard:
                break
            yield number, known[number] if number in known else self.solve(number, interrupts)

    def _proved(self, part: range) -> dict[int, Result]:
        """The answers of those that a narrow beam proves at once, by their numbers."""
        some = self.instances
        if self.plans is not None or not isinstance(some, InstanceSet):
            return {}
        if len(part) < FEWEST_TOGETHER or not suits(some, self.request):
            return {}
        found = solved_together(some[part.start : part.stop], self.request.objective)
        return {part.start + number: result for number, result in found.items()}

    def solve(self, number: int, interrupts: Interrupts) -> Result:
        """The answer for one instance; the plan, or nothing, where Ctrl-C leaves no more."""
        instance, result = self.instances[number], None
        plan = None if self.plans is None else self.plans[number]
        with interrupts.exposed():
            result = solve_one(instance, self.request, plan)
        return result or self.unsolved(number, "the search was interrupted before it began")

    def unsolved(self, number: int, reason: str, *, interrupted: bool = True) -> Result:
        """The answer where nothing was found: the plan if the judge accepts it."""
        best = Incumbent(self.instances[number], replace(self.request, seconds=math.inf))
        plan = None if self.plans is None else self.plans[number]
        if plan is not None:
            best.offer(plan, "plan")
        return best.result(reason, interrupted=interrupted)


@dataclass(slots=True, eq=False)
class _Worker:
    """A process, and what it has still to answer."""

    process: subprocess.Popen
    line: Connection
    ready: bool = False
    due: deque[int] = field(default_factory=deque)
    """The numbers of its instances, the one it is at first."""


class WorkerPool:
    """Processes that share a job. What they find is collected; what they leave behind is done by others."""

    def __init__(self, job: Job, count: int) -> None:
        self._job = job
        self._count = count
        self._todo = deque([range(len(job.instances))])
        self._workers: list[_Worker] = []
        self._failures = 0
        """Processes lost while they started, since the last one that did not fail."""
        self._pace = 0.0
        """Seconds that an instance takes, about."""
        for _ in range(count):
            self._hire()

    def __enter__(self) -> "WorkerPool":
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.line.close()
            worker.process.kill()
            worker.process.wait()

    @property
    def finished(self) -> bool:
        """Whether there is nothing left to answer."""
        return not self._todo and not any(worker.due for worker in self._workers)

    @property
    def deserted(self) -> bool:
        """Whether no process is left, since none could be started."""
        return not self._workers

    @property
    def starting(self) -> bool:
        """Whether some process is not ready yet."""
        return not all(worker.ready for worker in self._workers)

    def take(self, count: int) -> range:
        """The next instances, no longer to be done by others; perhaps none."""
        if not self._todo:
            return range(0)
        following = self._todo.popleft()
        if len(following) > count:
            self._todo.appendleft(following[count:])
        return following[:count]

    def collect(self, seconds: float) -> list[Answer]:
        """What has been found, after at most so many seconds of waiting; whoever is idle gets more to do."""
        answers = []
        for line in wait([worker.line for worker in self._workers], seconds):
            worker = next(worker for worker in self._workers if worker.line is line)
            try:
                answers += self._received(worker)
            except GONE:
                answers += self._buried(worker)
        for worker in list(self._workers):
            if worker.ready and not worker.due and self._may_employ():
                answers += self._employed(worker)
        return answers

    def stop(self) -> list[Answer]:
        """What is found until all processes have put down their work, or their time is up."""
        answers = []
        self._todo.clear()
        for worker in self._workers:
            worker.process.send_signal(signal.SIGINT)
        until = time.monotonic() + GRACE
        while not self.finished and time.monotonic() < until:
            for worker in self._workers:
                with suppress(*GONE):
                    while worker.due and worker.line.poll(0.01):
                        answers += self._received(worker)
                if worker.process.poll() is not None and not worker.line.poll():
                    worker.due.clear()
        return answers

    def _received(self, worker: _Worker) -> list[Answer]:
        results = worker.line.recv()
        if not worker.ready:
            worker.ready = True
            self._failures = 0
            return []
        for each in results:
            self._pace = each.seconds if self._pace == 0 else 0.9 * self._pace + 0.1 * each.seconds
        return [(worker.due.popleft(), each) for each in results]

    def _hire(self) -> None:
        """Start a process, unless that has failed too often: what is left is then up to the others."""
        if self._failures < MOST_FAILURES:
            try:
                self._workers.append(_Worker(*started(__name__)))
            except OSError:
                self._failures += 1

    def _may_employ(self) -> bool:
        """Whether there is something to do that is not too far ahead of what is still being worked on."""
        due = [worker.due[0] for worker in self._workers if worker.due]
        return bool(self._todo) and self._todo[0].start - min(due, default=math.inf) < AHEAD

    def _employed(self, worker: _Worker) -> list[Answer]:
        """Give an idle process something to do; it may be found dead."""
        left = sum(map(len, self._todo))
        share = math.ceil(left / (2 * self._count))
        fitting = int(CHUNK_SECONDS / self._pace) if self._pace > 0 else 1
        part = self.take(max(1, min(share, fitting, LARGEST_CHUNK)))
        worker.due.extend(part)
        try:
            worker.line.send(self._job[part.start : part.stop])
        except GONE:
            return self._buried(worker)
        return []

    def _buried(self, worker: _Worker) -> list[Answer]:
        """A dead process is replaced; the instance it was at is lost, the others are done by another."""
        worker.line.close()
        code = worker.process.wait()
        self._workers.remove(worker)
        self._failures += not worker.ready
        answers = []
        if worker.due:
            reason = f"the process that worked on it was lost (exit code {code})"
            number = worker.due.popleft()
            answers.append((number, self._job.unsolved(number, reason, interrupted=False)))
        if worker.due:
            self._todo.appendleft(range(worker.due[0], worker.due[-1] + 1))
        if self._todo:
            self._hire()
        return answers


def end_with_parent(descriptor: int) -> None:
    """End this process as soon as nobody holds the other end of a pipe or socket, however its parent came to die."""

    def wait() -> None:
        end = select.poll()
        end.register(descriptor, 0)  # no data, only that the other end is closed
        end.poll()
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def serve(descriptor: int) -> None:
    """What a process does: jobs come in over a line, answers go out as they are found, until the line is closed."""
    end_with_parent(descriptor)
    hush()
    line = Connection(descriptor)
    with Interrupts() as interrupts, suppress(*GONE):
        line.send(None)
        while not interrupts.heard:
            job = line.recv()
            ready_policies(job.kinds, job.request)
            found, sent = [], time.monotonic()
            for _, result in job.answers(range(len(job.instances)), interrupts):
                found.append(result)
                if (now := time.monotonic()) - sent > TOLD_SECONDS:
                    line.send(found)
                    found, sent = [], now
            line.send(found)


def started(serving: str) -> tuple[subprocess.Popen, Connection]:
    """A process of ours that runs a function `serve(descriptor)` of a module, and the line to it."""
    here, there = Pipe()
    code = (
        f"import sys; sys.path[:] = {sys.path!r}\n"
        f"from {serving} import serve; serve({there.fileno()})"
    )
    process = subprocess.Popen(  # noqa: S603 - our own code in our own interpreter
        [sys.executable, "-c", code],
        stdin=subprocess.DEVNULL,
        pass_fds=[there.fileno()],
        start_new_session=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    there.close()
    return process, here
