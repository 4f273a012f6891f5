"""Worker processes as the event loop sees them: who is free takes the next order, who is lost is replaced."""

import asyncio
import itertools
import os
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from typing import Any

from fairway.serve.frames import Frame, receive
from fairway.serve.settings import Limits

GRACE = 3.0
"""Seconds in which a worker that is told to stop hands over what it has."""
LAST = 0.1
"""Share of the last order in what orders take, about."""
AGAIN = 1.0
"""Seconds before another process is started in place of one that failed as it started."""

Body = bytes | Callable[[], Awaitable[bytes]]
"""What is sent with an order, or where it is to be had once a process is free; it may raise Withdrawn."""
Told = Callable[[Frame], None]
"""Takes the news of an order that is being worked on."""


class QueueFull(Exception):
    """As many orders wait as may."""


class WorkerGone(Exception):
    """The process was lost at this order."""


class Withdrawn(Exception):
    """The order is not to be done any more."""


class Process:
    """One worker process."""

    def __init__(self, limits: Limits, niceness: int, solves: bool) -> None:
        here, there = socket.socketpair()
        code = (
            f"import sys; sys.path[:] = {sys.path!r}\n"
            "from fairway.serve.settings import Limits\n"
            "from fairway.serve.worker import main\n"
            f"main({there.fileno()}, {niceness}, Limits(**{asdict(limits)!r}), {solves})"
        )
        threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "agg"}
        self._process = subprocess.Popen(  # noqa: S603 - our own code in our own interpreter
            [sys.executable, "-c", code],
            stdin=subprocess.DEVNULL,
            pass_fds=[there.fileno()],
            start_new_session=True,
            env={**os.environ, **threads},
        )
        there.close()
        self._socket = here
        self._numbers = itertools.count()
        self._number = -1

    async def ready(self) -> None:
        """Return once it can take orders; WorkerGone where it never will."""
        self._reader, self._writer = await asyncio.open_connection(sock=self._socket)
        try:
            await receive(self._reader)
        except (asyncio.IncompleteReadError, OSError) as error:
            raise WorkerGone from error

    async def perform(self, head: dict[str, Any], body: bytes, told: Told) -> Frame:
        """The answer to one order; news on the way are told."""
        self._number = next(self._numbers)
        try:
            order = Frame({**head, "kind": "order", "number": self._number}, body)
            self._writer.write(order.packed())
            await self._writer.drain()
            while True:
                frame = await receive(self._reader)
                if frame.head["kind"] == "end":
                    return frame
                told(frame)
        except (asyncio.IncompleteReadError, OSError) as error:
            raise WorkerGone from error

    def stop(self) -> None:
        """Have the order at hand put down, and what was found so far handed over."""
        with suppress(OSError, RuntimeError):
            self._writer.write(Frame({"kind": "stop", "number": self._number}).packed())

    async def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._socket.close()
        await asyncio.to_thread(self._process.wait)


class Order:
    """One thing to do, which can be stopped at any time."""

    def __init__(
        self,
        verb: str,
        body: Body,
        seconds: float,
        told: Told | None = None,
        options: dict[str, float] | None = None,
    ) -> None:
        self._head = {"verb": verb, "options": options or {}, "news": told is not None}
        self._body, self._seconds, self._told = body, seconds, told or (lambda _: None)
        self._process: Process | None = None
        self._stopped = False

    @property
    def stopped(self) -> bool:
        """Whether it was told to stop."""
        return self._stopped

    def stop(self) -> None:
        """End it soon, with the best so far."""
        self._stopped = True
        if self._process is not None:
            self._process.stop()

    async def run(self, process: Process) -> Frame:
        """Have it done by a process: within its seconds, then stopped, then given up with the process."""
        body = self._body if isinstance(self._body, bytes) else await self._body()
        self._process = process
        work = asyncio.ensure_future(process.perform(self._head, body, self._told))
        try:
            if self._stopped:
                await asyncio.sleep(0)  # until it has been sent
                process.stop()
            done, _ = await asyncio.wait({work}, timeout=self._seconds)
            if not done:
                process.stop()
                done, _ = await asyncio.wait({work}, timeout=GRACE)
            if not done:
                raise WorkerGone
            return await work
        finally:
            self._process = None
            work.cancel()


class Pool:
    """Processes of one kind, and a line of orders that wait for them."""

    def __init__(
        self, count: int, queue: int, limits: Limits, niceness: int, *, solves: bool
    ) -> None:
        self._count, self._queue = count, queue
        self._limits, self._niceness, self._solves = limits, niceness, solves
        self._idle: deque[Process] = deque()
        self._line: deque[asyncio.Future[Process]] = deque()
        self._all: set[Process] = set()
        self._background: set[asyncio.Task[None]] = set()
        self._held = 0
        """Places for orders that are on their way into the line."""
        self.busy = 0
        self.lost = 0
        """Processes that died at their work or were given up."""
        self.pace = 1.0
        """Seconds that an order takes a process, about."""

    @property
    def waiting(self) -> int:
        """Orders that wait for a process."""
        return len(self._line)

    @contextmanager
    def place(self) -> Iterator[None]:
        """Hold a place in the line while an order is being prepared; QueueFull where there is none."""
        self._check()
        self._held += 1
        try:
            yield
        finally:
            self._held -= 1

    @property
    def ready(self) -> int:
        """Processes that take orders."""
        return len(self._idle) + self.busy

    def _check(self) -> None:
        if self.waiting + self._held >= self._queue:
            raise QueueFull

    def start(self) -> None:
        """Start all processes; orders may come at once, and wait for them."""
        for _ in range(self._count):
            self._spawn(self._hire())

    async def perform(self, order: Order, *, bounded: bool = False) -> Frame:
        """Wait for a free process and have it done; cancelling frees the process.

        Where the line is bounded, QueueFull is raised if too many wait.
        """
        if bounded and not self._idle:
            self._check()
        process = await self._taken()
        began = time.monotonic()
        self.busy += 1
        work = asyncio.ensure_future(order.run(process))
        try:
            answer = await asyncio.shield(work)
        except asyncio.CancelledError:
            order.stop()
            self._spawn(self._freed(process, work))
            raise
        except WorkerGone:
            self._spawn(self._replaced(process))
            raise
        except BaseException:
            self._put_back(process)
            raise
        self.pace += LAST * (time.monotonic() - began - self.pace)
        self._put_back(process)
        return answer

    async def close(self) -> None:
        """End all processes."""
        for task in self._background:
            task.cancel()
        await asyncio.gather(*(process.end() for process in self._all), return_exceptions=True)

    async def _taken(self) -> Process:
        if self._idle:
            return self._idle.popleft()
        turn = asyncio.get_running_loop().create_future()
        self._line.append(turn)
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._offer(turn.result())
            else:
                with suppress(ValueError):
                    self._line.remove(turn)
            raise

    def _offer(self, process: Process) -> None:
        """Give a free process to whoever waits longest."""
        while self._line:
            turn = self._line.popleft()
            if not turn.done():
                turn.set_result(process)
                return
        self._idle.append(process)

    def _put_back(self, process: Process) -> None:
        self.busy -= 1
        self._offer(process)

    async def _freed(self, process: Process, work: asyncio.Future[Frame]) -> None:
        """Wait for an order that nobody wants any more to be put down."""
        done, _ = await asyncio.wait({work}, timeout=GRACE)
        if done and not isinstance(work.exception(), WorkerGone):
            self._put_back(process)
        else:
            work.cancel()
            await self._replaced(process)

    async def _replaced(self, process: Process) -> None:
        self.busy -= 1
        self.lost += 1
        self._all.discard(process)
        await process.end()
        await self._hire()

    async def _hire(self) -> None:
        while True:
            process = Process(self._limits, self._niceness, self._solves)
            self._all.add(process)
            try:
                await process.ready()
            except WorkerGone:
                self._all.discard(process)
                await process.end()
                await asyncio.sleep(AGAIN)
            else:
                self._offer(process)
                return

    def _spawn(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.ensure_future(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
