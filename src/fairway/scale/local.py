"""Worker processes on this machine."""

import signal
import subprocess
import threading
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from queue import SimpleQueue
from typing import Any

from fairway.kernels.compiling import hush
from fairway.scale.executor import MOST_FAILURES, READY, Gone, Pool, Task, Worker, answer_to
from fairway.solver.solving import pool_size
from fairway.solver.workers import GONE, end_with_parent, started


@dataclass(slots=True, eq=False, kw_only=True)
class Process(Worker):
    """A process and the line to it."""

    process: subprocess.Popen
    line: Connection


class LocalPool(Pool[Process]):
    """So many processes, or one for each core. They end when the one that started them does, however that ends."""

    def __init__(self, workers: int | None = None) -> None:
        super().__init__()
        self._count = pool_size(workers)

    def _staff(self) -> None:
        while len(self._workers) < self._count and self._failures < MOST_FAILURES:
            process, line = started(__name__)
            self._workers.append(Process(process=process, line=line))

    def _send(self, worker: Process, task: Task) -> None:
        with suppress(*GONE):  # which the next look at its line will tell
            worker.line.send(task)

    def _heard(self, seconds: float) -> list[tuple[Process, Any]]:
        by_line = {worker.line: worker for worker in self._workers}
        return [
            (by_line[line], self._received(by_line[line]))
            for line in wait(list(by_line), seconds)
            if isinstance(line, Connection)
        ]

    def _received(self, worker: Process) -> Any:  # noqa: ANN401 - whatever a task returns
        try:
            return worker.line.recv()
        except GONE:
            worker.line.close()
            return Gone(f"exit code {worker.process.wait()}")

    def close(self) -> None:
        """End all processes, whatever they are at."""
        for worker in self._workers:
            worker.line.close()
            worker.process.kill()
            worker.process.wait()
        self._workers.clear()


def serve(descriptor: int) -> None:
    """What a process does: tasks come in over a line, also while it is at one, and answers go out in order."""
    end_with_parent(descriptor)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    hush()
    line, tasks = Connection(descriptor), SimpleQueue()
    threading.Thread(target=_listen, args=(line, tasks), daemon=True).start()
    with suppress(*GONE):
        line.send(READY)
        while (task := tasks.get()) is not None:
            line.send(answer_to(task))


def _listen(line: Connection, tasks: SimpleQueue) -> None:
    """Take tasks off the line at once, so that whoever sends them never waits for an answer to be sent."""
    with suppress(*GONE):
        while True:
            tasks.put(line.recv())
    tasks.put(None)
