"""What runs tasks on many workers: the protocol, and what is the same for all of them."""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

from fairway.errors import WorkerLost

Task = Callable[[], Any]
"""Work that can be sent elsewhere: a function of a module with its arguments."""
QUEUED = 2
"""Tasks that a worker has at most, the one it is at included, so that it never waits for the next."""
MOST_FAILURES = 3
"""Workers lost in a row while they start, after which no more are tried."""


@dataclass(frozen=True, slots=True)
class Lost:
    """In place of an answer: the worker that was at the task is no more."""

    reason: str


@dataclass(frozen=True, slots=True)
class Failed:
    """In place of an answer: what the task raised."""

    error: Exception


@runtime_checkable
class Executor(Protocol):
    """Workers that tasks are submitted to, and answers collected from, in whatever order they come."""

    @property
    def width(self) -> int:
        """How many workers there are, those that are starting included."""
        ...

    @property
    def room(self) -> int:
        """How many more tasks are worth submitting now."""
        ...

    def submit(self, task: Task) -> int:
        """Have a task done; the ticket under which its answer will come."""
        ...

    def collect(self, seconds: float) -> list[tuple[int, Any]]:
        """Tickets with answers, or `Lost`, after at most so many seconds of waiting; what a task raised is raised."""
        ...


def answer_to(task: Task) -> Any:  # noqa: ANN401 - whatever the task returns
    """What a worker sends back: the answer, or what stands in its place."""
    try:
        return task()
    except MemoryError:
        return Lost("there was not enough memory")
    except Exception as error:
        return Failed(error)


@dataclass(slots=True, eq=False)
class Worker:
    """One that does a task at a time, and what it has still to answer."""

    ready: bool = False
    due: deque[int] = field(default_factory=deque)
    """Tickets, the one it is at first."""


Kind = TypeVar("Kind", bound=Worker)


@dataclass(frozen=True, slots=True)
class Gone:
    """What is heard last of a worker."""

    reason: str


READY = "ready"
"""What is heard first of a worker."""


class Pool(ABC, Generic[Kind]):
    """Workers of any kind: tasks are handed out, and what a lost one leaves behind is done by others."""

    def __init__(self) -> None:
        self._workers: list[Kind] = []
        self._tasks: dict[int, Task] = {}
        """Not yet answered, by ticket."""
        self._waiting: deque[int] = deque()
        self._tickets = 0
        self._failures = 0
        """Workers lost while they started, since the last one that did not fail."""

    def __enter__(self) -> "Pool[Kind]":
        self._staff()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def width(self) -> int:
        """How many workers there are, those that are starting included."""
        return max(len(self._workers), 1)

    @property
    def room(self) -> int:
        """How many more tasks are worth submitting now."""
        return max(0, QUEUED * self.width - len(self._tasks))

    def submit(self, task: Task) -> int:
        """Have a task done; the ticket under which its answer will come."""
        self._tickets += 1
        self._tasks[self._tickets] = task
        self._waiting.append(self._tickets)
        self._hand_out()
        return self._tickets

    def collect(self, seconds: float) -> list[tuple[int, Any]]:
        """Tickets with answers, or `Lost`, after at most so many seconds of waiting; what a task raised is raised."""
        answers = []
        for worker, heard in self._heard(seconds):
            if isinstance(heard, Gone):
                answers += self._buried(worker, heard.reason)
            elif worker.ready:
                ticket = worker.due.popleft()
                del self._tasks[ticket]
                answers.append((ticket, heard))
            else:
                worker.ready, self._failures = True, 0
        self._staff()
        self._hand_out()
        for _, answer in answers:
            if isinstance(answer, Failed):
                raise answer.error
        return answers

    def _buried(self, worker: Kind, reason: str) -> list[tuple[int, Any]]:
        """A dead worker takes with it the task that it was at; the others are done elsewhere."""
        self._workers.remove(worker)
        self._failures += not worker.ready
        if self._failures >= MOST_FAILURES and not self._workers:
            raise WorkerLost(
                f"no worker could be started ({reason}); see that this machine has memory for one"
            )
        if not worker.due:
            return []
        lost = worker.due.popleft()
        self._waiting.extendleft(reversed(worker.due))
        del self._tasks[lost]
        return [(lost, Lost(reason))]

    def _hand_out(self) -> None:
        """Give tasks to whoever has least to do."""
        while self._waiting:
            able = [each for each in self._workers if each.ready and len(each.due) < QUEUED]
            if not able:
                break
            worker = min(able, key=lambda each: len(each.due))
            ticket = self._waiting.popleft()
            worker.due.append(ticket)
            self._send(worker, self._tasks[ticket])

    @abstractmethod
    def _staff(self) -> None:
        """Start workers where some are missing."""

    @abstractmethod
    def _send(self, worker: Kind, task: Task) -> None:
        """Hand a task to a worker, which may be found dead later."""

    @abstractmethod
    def _heard(self, seconds: float) -> list[tuple[Kind, Any]]:
        """Workers with what has been heard of each: READY first, then answers in order, `Gone` last."""

    @abstractmethod
    def close(self) -> None:
        """End all workers, whatever they are at."""
