"""Jobs from acceptance to expiry: solved in the order they came in, looked on at by whoever wants to."""

import asyncio
import hashlib
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any

from fairway.serve.frames import Frame
from fairway.serve.pool import GRACE, Order, Pool, Withdrawn, WorkerGone
from fairway.serve.store import Record, Store, StoreFailed

MOST_LOST = 3
"""Processes that may die at a job before it is given up."""
BEAT = 15.0
"""Seconds after which a stream without news shows that it is alive."""
PATIENCE = 2.0
"""Seconds before something is written to the store again that it did not take in."""
SWEEP = 60.0
"""Seconds between two looks for jobs that have expired."""


class Live:
    """A job that waits or runs: what is known of it, and who wants to hear."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.order: Order
        self.task: asyncio.Task[None]
        self.stopped = self.parked = False
        self.best: bytes | None = None
        """The document of the best plan so far."""
        self.trace: list[dict[str, Any]] = []
        self._improvement: tuple[int, bytes] = (0, b"")
        self._bound: tuple[int, bytes] = (0, b"")
        self._news = asyncio.Event()

    def hear(self, frame: Frame) -> None:
        """Take in news of the worker."""
        head = {key: value for key, value in frame.head.items() if key not in ("kind", "number")}
        if frame.head["kind"] == "bound":
            self._bound = self._bound[0] + 1, json.dumps(head).encode()
        else:
            self.best = frame.payload
            step = {key: head[key] for key in ("seconds", "value", "method")}
            self.trace.append(step)
            data = json.dumps(head).encode()[:-1] + b', "result": ' + frame.payload + b"}"
            self._improvement = self._improvement[0] + 1, data
        self.announce()

    def announce(self) -> None:
        """Wake up whoever looks on."""
        self._news.set()
        self._news = asyncio.Event()

    async def until_over(self, seconds: float) -> None:
        """Wait for the end, for so many seconds at most."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not self.record.over:
                    await self._news.wait()

    async def news(self) -> AsyncIterator[bytes]:
        """Server-sent events until the job is over; who reads slowly is told the latest of each kind."""
        told, status = {b"improvement": 0, b"bound": 0}, ""
        while True:
            news = self._news
            if self.record.status != status and not self.record.over:
                status = self.record.status
                yield event(b"status", json.dumps(_standing(self.record)).encode())
            for kind, (number, data) in (
                (b"improvement", self._improvement),
                (b"bound", self._bound),
            ):
                if number > told[kind]:
                    told[kind] = number
                    yield event(kind, data)
            if self.record.over or self.parked:
                return
            if news is self._news:
                try:
                    await asyncio.wait_for(news.wait(), BEAT)
                except TimeoutError:
                    yield b": still here\n\n"


class Jobs:
    """All jobs of a service."""

    def __init__(self, store: Store, pool: Pool, seconds: float, keep: float) -> None:
        self._store, self._pool = store, pool
        self._seconds, self._keep = seconds, keep
        self._live: dict[str, Live] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self.ended = {"done": 0, "stopped": 0, "failed": 0}
        """Jobs that came to an end since the start."""

    async def start(self) -> None:
        """Take up what an earlier service left."""
        for record in self._store.waiting:
            self._launch(record)
        self._spawn(self._sweep())

    async def accept(self, body: bytes, key: str | None) -> Record:
        """A new job, or the one that the key stands for."""
        record = await self._store.accept(body, digest_of(body), key)
        if not record.over and record.id not in self._live:
            self._launch(record)
        return record

    async def known(self, key: str, body: bytes) -> Record | None:
        """The job that was accepted under the key."""
        return await self._store.known(key, digest_of(body))

    async def get(self, number: str) -> Record | None:
        """A job as it stands, with the best plan so far."""
        live = self._live.get(number)
        if live is None:
            return await self._store.get(number)
        if not live.record.over:
            live.record.result, live.record.trace = live.best, live.trace
        return live.record

    async def page(self, limit: int, after: int | None) -> tuple[list[Record], int | None]:
        """Some jobs, the newest first, and after what the next page begins."""
        return await self._store.page(limit, after)

    async def stop(self, number: str) -> Record | None:
        """End a job with the best so far; one that is over stays as it is."""
        live = self._live.get(number)
        if live is not None and not live.record.over:
            if not live.stopped:
                live.stopped = True
                try:
                    await self._stop(live)
                except StoreFailed:
                    live.stopped = False
                    raise
            await live.until_over(2 * GRACE)
        return await self.get(number)

    async def _stop(self, live: Live) -> None:
        await self._store.stopping(live.record.id, live.best)
        if live.record.status == "running":
            live.order.stop()
        elif not live.record.over:
            live.task.cancel()
            live.task = self._spawn(self._finish(live, "stopped"))

    async def events(self, number: str) -> AsyncIterator[bytes]:
        """The news of a job until its end, and then the job."""
        live = self._live.get(number)
        if live is not None:
            async for each in live.news():
                yield each
        record = await self.get(number)
        if record is not None and record.over:
            yield event(b"end", document(record))

    async def park(self) -> None:
        """Have what runs wait for the next start; streams end."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for live in self._live.values():
            live.parked = True
            live.announce()
            if live.record.status == "running":
                with suppress(StoreFailed):  # which the next start finds running, and begins again
                    await self._store.park(live.record.id, live.record.lost)

    def _launch(self, record: Record) -> None:
        live = self._live[record.id] = Live(record)
        live.task = self._spawn(self._run(live))

    async def _run(self, live: Live) -> None:
        """Solve one job, again where its process was lost."""
        record = live.record
        while record.lost < MOST_LOST:
            live.order = Order("solve", partial(self._begun, live), self._seconds, live.hear)
            try:
                answer = await self._pool.perform(live.order)
            except Withdrawn:
                return
            except StoreFailed:
                await asyncio.sleep(PATIENCE)
                continue
            except WorkerGone:
                if live.stopped:
                    await self._finish(live, "stopped")
                    return
                record.status, record.lost = "waiting", record.lost + 1
                await self._written(partial(self._store.park, record.id, record.lost))
                continue
            await self._end(live, answer)
            return
        await self._finish(live, "failed", "the processes that worked on it were lost")

    async def _begun(self, live: Live) -> bytes:
        """The body of a job whose turn it is."""
        body = await self._store.begin(live.record.id)
        if body is None:
            raise Withdrawn
        live.record.status, live.record.started = "running", time.time()
        live.announce()
        return body

    async def _end(self, live: Live, answer: Frame) -> None:
        """Take in what a worker handed back."""
        if answer.head["status"] == 200:
            live.best, live.trace = answer.payload, answer.head["trace"]
        if live.stopped:
            await self._finish(live, "stopped")
        elif answer.head["status"] == 200:
            await self._finish(live, "done")
        else:
            await self._finish(live, "failed", answer.head["error"])

    async def _finish(self, live: Live, status: str, error: str | None = None) -> None:
        """Write down how a job ended, and only then tell."""
        known, ended = live.record, time.time()
        times = (known.created, known.started, ended)
        record = Record(known.id, status, *times, live.best, live.trace, error)
        await self._written(partial(self._store.finish, record))
        live.record = record
        self._live.pop(record.id, None)
        self.ended[status] += 1
        live.announce()

    async def _written(self, write: Callable[[], Awaitable[None]]) -> None:
        """Have the store take something in, however long its disk does not."""
        while True:
            try:
                return await write()
            except StoreFailed:
                await asyncio.sleep(PATIENCE)

    async def _sweep(self) -> None:
        while True:
            with suppress(StoreFailed):
                await self._store.expire(time.time() - self._keep)
            await asyncio.sleep(SWEEP)

    def _spawn(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def digest_of(body: bytes) -> str:
    """By which two bodies are told apart."""
    return hashlib.sha256(body).hexdigest()


def summary(record: Record) -> dict[str, Any]:
    """A job without what it found."""
    times = {key: _moment(getattr(record, key)) for key in ("created", "started", "ended")}
    return {"id": record.id, "status": record.status, **times, "error": record.error}


def document(record: Record) -> bytes:
    """A job as it is told; the result is passed on as the worker wrote it."""
    head = json.dumps({**summary(record), "trace": record.trace or []}).encode()
    return head[:-1] + b', "result": ' + (record.result or b"null") + b"}"


def event(kind: bytes, data: bytes) -> bytes:
    """One server-sent event."""
    return b"event: " + kind + b"\ndata: " + data + b"\n\n"


def _standing(record: Record) -> dict[str, Any]:
    """Whether a job waits or runs, and for how many seconds."""
    began = record.started if record.status == "running" else record.created
    assert began is not None
    return {"status": record.status, "seconds": round(max(0.0, time.time() - began), 3)}


def _moment(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
