"""Jobs in SQLite."""

import asyncio
import time

import pytest
from apart import run_apart

from fairway.errors import InvalidRequest
from fairway.serve.store import KeyTaken, Record, Store


def _with(path, work):
    """What some work with a store gives."""

    async def run():
        store = Store(path)
        try:
            return await work(store)
        finally:
            await store.close()

    return run_apart(run())


def test_what_was_accepted_and_found_is_there_in_the_next_process(tmp_path):
    async def first(store: Store) -> list[str]:
        jobs = [await store.accept(b"%d" % n, str(n), None) for n in range(4)]
        for job in jobs[:3]:
            assert await store.begin(job.id) is not None
        ended = Record(jobs[0].id, "done", 0.0, 1.0, 2.0, b'{"a":1}', [{"seconds": 1}])
        await store.finish(ended)
        await store.stopping(jobs[1].id, b'{"best":1}')
        return [job.id for job in jobs]

    ids = _with(tmp_path / "jobs.sqlite", first)

    async def second(store: Store) -> list[Record]:
        waiting = store.waiting
        assert [job.id for job in waiting] == ids[2:]
        assert await store.begin(ids[2]) == b"2"
        return [await store.get(job) for job in ids[:2]]

    done, stopped = _with(tmp_path / "jobs.sqlite", second)
    assert (done.status, done.result, done.trace) == ("done", b'{"a":1}', [{"seconds": 1}])
    assert (stopped.status, stopped.result) == ("stopped", b'{"best":1}')


def test_a_job_that_has_ended_cannot_begin_or_end_again(tmp_path):
    async def work(store: Store) -> Record:
        job = await store.accept(b"", "d", None)
        await store.begin(job.id)
        await store.finish(Record(job.id, "done", 0.0, 1.0, 2.0, b"1"))
        await store.finish(Record(job.id, "failed", 0.0, 1.0, 3.0, b"2"))
        assert await store.begin(job.id) is None
        return await store.get(job.id)

    told = _with(tmp_path / "jobs.sqlite", work)
    assert (told.status, told.result, told.ended) == ("done", b"1", 2.0)


def test_one_key_is_one_job_however_many_ask_at_once(tmp_path):
    async def work(store: Store) -> None:
        asked = [store.accept(b"x", "same", "key") for _ in range(50)]
        assert len({job.id for job in await asyncio.gather(*asked)}) == 1
        with pytest.raises(KeyTaken):
            await store.accept(b"y", "other", "key")
        assert len((await store.page(100, None))[0]) == 1

    _with(tmp_path / "jobs.sqlite", work)


def test_jobs_expire_by_when_they_ended_and_never_before(tmp_path):
    async def work(store: Store) -> None:
        jobs = [await store.accept(b"", "d", f"{n}") for n in range(3)]
        for job, ended in zip(jobs, (10.0, time.time()), strict=False):
            await store.finish(Record(job.id, "done", 0.0, 1.0, ended, b"1"))
        assert await store.expire(time.time() - 60) == 1
        left, _ = await store.page(10, None)
        assert [job.id for job in left] == [jobs[2].id, jobs[1].id]
        assert (await store.accept(b"", "other", "0")).id != jobs[0].id

    _with(tmp_path / "jobs.sqlite", work)


def test_pages_go_on_where_the_jobs_before_have_expired(tmp_path):
    async def work(store: Store) -> None:
        jobs = [await store.accept(b"", "d", None) for _ in range(5)]
        first, following = await store.page(2, None)
        for job in jobs[2:]:
            await store.finish(Record(job.id, "done", 0.0, 1.0, 10.0, b"1"))
        assert await store.expire(time.time() - 60) == 3
        second, last = await store.page(3, following)
        assert [job.id for job in (*first, *second)] == [jobs[at].id for at in (4, 3, 1, 0)]
        assert last is None

    _with(tmp_path / "jobs.sqlite", work)


def test_a_store_serves_one_service_at_a_time(tmp_path):
    async def work(_: Store) -> None:
        with pytest.raises(InvalidRequest, match="in use by another service"):
            Store(tmp_path / "jobs.sqlite")
        (tmp_path / "link").symlink_to("jobs.sqlite")
        with pytest.raises(InvalidRequest, match="in use by another service"):
            Store(tmp_path / "link")

    _with(tmp_path / "jobs.sqlite", work)


def test_a_file_that_is_no_store_is_refused(tmp_path):
    (tmp_path / "jobs.sqlite").write_bytes(b"something else entirely, and long enough" * 50)
    with pytest.raises(InvalidRequest, match="cannot be used"):
        Store(tmp_path / "jobs.sqlite")
