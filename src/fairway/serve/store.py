"""Jobs in SQLite: what was accepted is on disk before anybody is told, and so is what was found."""

import asyncio
import fcntl
import json
import queue
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from fairway.errors import InvalidRequest

Status = str
"""One of waiting, running, done, stopped and failed."""
Made = TypeVar("Made")
SCHEMA = """
CREATE TABLE IF NOT EXISTS jobs (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    key TEXT UNIQUE,
    digest TEXT NOT NULL,
    body BLOB,
    status TEXT NOT NULL,
    created REAL NOT NULL,
    started REAL,
    ended REAL,
    lost INTEGER NOT NULL DEFAULT 0,
    stopping INTEGER NOT NULL DEFAULT 0,
    result BLOB,
    trace TEXT NOT NULL DEFAULT '[]',
    error TEXT
);
CREATE INDEX IF NOT EXISTS ended ON jobs (ended);
CREATE INDEX IF NOT EXISTS status ON jobs (status);
"""
COLUMNS = "id, status, created, started, ended, result, trace, error, lost"


@dataclass(slots=True)
class Record:
    """A job as it is told."""

    id: str
    status: Status
    created: float
    started: float | None = None
    ended: float | None = None
    result: bytes | None = None
    trace: list[dict[str, Any]] | None = None
    error: str | None = None
    lost: int = 0
    """Processes that died at it."""

    @property
    def over(self) -> bool:
        """Whether nothing will change any more."""
        return self.status in ("done", "stopped", "failed")


class KeyTaken(Exception):
    """The idempotency key was used for another body."""


class StoreFailed(Exception):
    """The database did not take it in: its disk is full, cannot be written, or is broken."""


class Store:
    """One thread owns the database; what comes in together is committed together."""

    def __init__(self, path: Path) -> None:
        self._asked: queue.SimpleQueue[tuple[Callable, asyncio.Future] | None] = queue.SimpleQueue()
        try:
            self._path = path = path.resolve()  # one lock, whatever the file is called
            path.parent.mkdir(parents=True, exist_ok=True)
            self._lock = path.with_name(path.name + ".lock").open("w")
        except OSError as error:
            raise InvalidRequest(f"--store {path}: cannot be used ({error.strerror})") from error
        except RuntimeError as error:
            raise InvalidRequest(f"--store {path}: is a link that leads nowhere") from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with closing(self._opened()) as database:
                self.waiting = _recover(database)
                """The jobs that waited or ran when the last service ended, the oldest first."""
        except BlockingIOError as error:
            self._lock.close()
            raise InvalidRequest(f"--store {path}: is in use by another service") from error
        except (OSError, sqlite3.Error) as error:
            self._lock.close()
            raise InvalidRequest(f"--store {path}: cannot be used ({error})") from error
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    async def accept(self, body: bytes, digest: str, key: str | None) -> Record:
        """A new job, or the one that was accepted under the key before; it is on disk."""
        return await self._call(_accept, body, digest, key)

    async def known(self, key: str, digest: str) -> Record | None:
        """The job that was accepted under the key."""
        return await self._call(_known, key, digest)

    async def get(self, number: str) -> Record | None:
        """One job by its id."""
        return await self._call(_get, number)

    async def page(self, limit: int, after: int | None) -> tuple[list[Record], int | None]:
        """Some jobs, the newest first, without their results; and after what the next page begins."""
        return await self._call(_page, limit, after)

    async def begin(self, number: str) -> bytes | None:
        """Note that a job runs; its body, or None where it is not to be run any more."""
        return await self._call(_begin, number)

    async def finish(self, record: Record) -> None:
        """Note how a job ended."""
        await self._call(_finish, record)

    async def stopping(self, number: str, best: bytes | None) -> None:
        """Note that a job is to end, with the best so far."""
        await self._call(_stopping, number, best)

    async def park(self, number: str, lost: int = 0) -> None:
        """Have a running job wait again, one at which so many processes died."""
        await self._call(_park, number, lost)

    async def expire(self, before: float) -> int:
        """Forget the jobs that ended before then; how many."""
        return await self._call(_expire, before)

    async def close(self) -> None:
        """Commit all that was asked for and let the file go."""
        self._asked.put(None)
        await asyncio.to_thread(self._thread.join)
        self._lock.close()

    async def _call(self, function: Callable[..., Made], *arguments: object) -> Made:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Made] = loop.create_future()
        self._asked.put((lambda database: function(database, *arguments), answer))
        return await answer

    def _opened(self) -> sqlite3.Connection:
        database = sqlite3.connect(self._path, isolation_level=None)
        try:
            database.execute("PRAGMA journal_mode=WAL")
            database.execute("PRAGMA synchronous=FULL")
            database.executescript(SCHEMA)
        except sqlite3.Error:
            database.close()
            raise
        return database

    def _serve(self) -> None:
        database = self._opened()
        ended = False
        while not ended:
            asked = [self._asked.get()]
            while not self._asked.empty():
                asked.append(self._asked.get())
            ended = None in asked
            self._commit(database, [each for each in asked if each is not None])
        database.close()

    def _commit(
        self, database: sqlite3.Connection, asked: list[tuple[Callable, asyncio.Future]]
    ) -> None:
        """Do all in one transaction, and answer once it is on disk; what cannot be done holds up nothing else."""
        answers: list[tuple[asyncio.Future, Any, Exception | None]] = []
        try:
            database.execute("BEGIN")  # what only reads needs no room on the disk
            for function, answer in asked:
                try:
                    answers.append((answer, function(database), None))
                except KeyTaken as error:
                    answers.append((answer, None, error))
            database.execute("COMMIT")
        except Exception as error:  # of the disk or our own: nobody may wait for an answer forever
            if database.in_transaction:
                database.execute("ROLLBACK")
            if len(asked) > 1:
                for each in asked:
                    self._commit(database, [each])
                return
            failed = StoreFailed(str(error)) if isinstance(error, sqlite3.Error) else error
            answers = [(asked[0][1], None, failed)]
        for answer, value, error in answers:
            answer.get_loop().call_soon_threadsafe(_settle, answer, value, error)


def _settle(answer: asyncio.Future, value: object, error: Exception | None) -> None:
    if answer.done():
        return
    if error is None:
        answer.set_result(value)
    else:
        answer.set_exception(error)


def _record(row: tuple) -> Record:
    named = dict(zip(COLUMNS.split(", "), row, strict=True))
    return Record(**{**named, "trace": json.loads(named["trace"])})


def _accept(database: sqlite3.Connection, body: bytes, digest: str, key: str | None) -> Record:
    if key is not None and (before := _known(database, key, digest)) is not None:
        return before
    record = Record(secrets.token_urlsafe(12), "waiting", time.time(), trace=[])
    database.execute(
        "INSERT INTO jobs (id, key, digest, body, status, created) VALUES (?, ?, ?, ?, ?, ?)",
        (record.id, key, digest, body, record.status, record.created),
    )
    return record


def _known(database: sqlite3.Connection, key: str, digest: str) -> Record | None:
    row = database.execute(
        f"SELECT digest, {COLUMNS} FROM jobs WHERE key = ?",  # noqa: S608 - our own columns
        (key,),
    ).fetchone()
    if row is not None and row[0] != digest:
        raise KeyTaken
    return None if row is None else _record(row[1:])


def _get(database: sqlite3.Connection, number: str) -> Record | None:
    row = database.execute(
        f"SELECT {COLUMNS} FROM jobs WHERE id = ?",  # noqa: S608
        (number,),
    ).fetchone()
    return None if row is None else _record(row)


def _page(
    database: sqlite3.Connection, limit: int, after: int | None
) -> tuple[list[Record], int | None]:
    rows = database.execute(
        "SELECT number, id, status, created, started, ended, NULL, '[]', error, lost FROM jobs "
        "WHERE ?1 IS NULL OR number < ?1 ORDER BY number DESC LIMIT ?2",
        (after, limit),
    ).fetchall()
    return [_record(row[1:]) for row in rows], rows[-1][0] if len(rows) == limit else None


def _begin(database: sqlite3.Connection, number: str) -> bytes | None:
    row = database.execute(
        "UPDATE jobs SET status = 'running', started = ? "
        "WHERE id = ? AND status = 'waiting' RETURNING body",
        (time.time(), number),
    ).fetchone()
    return None if row is None else row[0]


def _finish(database: sqlite3.Connection, record: Record) -> None:
    database.execute(
        "UPDATE jobs SET status = ?, ended = ?, result = ?, trace = ?, error = ?, body = NULL "
        "WHERE id = ? AND ended IS NULL",
        (
            record.status,
            record.ended,
            record.result,
            json.dumps(record.trace or []),
            record.error,
            record.id,
        ),
    )


def _stopping(database: sqlite3.Connection, number: str, best: bytes | None) -> None:
    database.execute(
        "UPDATE jobs SET stopping = 1, result = ? WHERE id = ? AND ended IS NULL", (best, number)
    )


def _park(database: sqlite3.Connection, number: str, lost: int) -> None:
    database.execute(
        "UPDATE jobs SET status = 'waiting', started = NULL, lost = ? WHERE id = ? AND status = 'running'",
        (lost, number),
    )


def _recover(database: sqlite3.Connection) -> list[Record]:
    database.execute(
        "UPDATE jobs SET status = 'stopped', ended = ?, body = NULL WHERE stopping AND ended IS NULL",
        (time.time(),),
    )
    database.execute("UPDATE jobs SET status = 'waiting', started = NULL WHERE status = 'running'")
    rows = database.execute(
        "SELECT id, status, created, started, ended, NULL, '[]', error, lost FROM jobs "
        "WHERE status = 'waiting' ORDER BY number"
    )
    return [_record(row) for row in rows]


def _expire(database: sqlite3.Connection, before: float) -> int:
    return database.execute("DELETE FROM jobs WHERE ended < ?", (before,)).rowcount
