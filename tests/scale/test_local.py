"""Worker processes of this machine: any of them may die, and nothing is lost."""

from functools import partial

import pytest
import tasks

from fairway.errors import InvalidRequest, WorkerLost
from fairway.scale import local
from fairway.scale.executor import Lost
from fairway.scale.local import LocalPool
from fairway.scale.spread import in_order


@pytest.fixture(scope="module")
def pool():
    with LocalPool(2) as pool:
        yield pool


def collected(pool, tickets):
    found = {}
    while len(found) < len(tickets):
        found.update(pool.collect(1.0))
    return [found[ticket] for ticket in tickets]


def test_answers_come_in_order(pool):
    numbers = range(40)
    assert list(in_order(pool, (partial(tasks.double, n) for n in numbers))) == [
        2 * n for n in numbers
    ]


def test_what_a_task_raises_is_raised_here(pool):
    with pytest.raises(InvalidRequest, match="not this"):
        list(in_order(pool, [tasks.refuse]))


def test_a_lost_worker_takes_one_task_with_it_and_no_more(pool, tmp_path):
    mark = tmp_path / "mark"
    doomed = partial(tasks.die_once, mark)
    tickets = [pool.submit(task) for task in (doomed, *[partial(tasks.double, 4)] * 3)]
    answers = collected(pool, tickets)
    assert answers == [Lost("exit code -9"), 8, 8, 8]
    assert collected(pool, [pool.submit(doomed)]) == ["alive"]
    assert pool.width == 2


def test_a_lost_task_is_tried_again(pool, tmp_path):
    doomed = partial(tasks.die_once, tmp_path / "mark")
    assert list(in_order(pool, [doomed, partial(tasks.double, 3)])) == ["alive", 6]


def test_a_task_that_no_worker_survives_is_told_in_a_sentence(pool):
    with pytest.raises(WorkerLost, match=r"3 workers.*exit code -9.*run the same command again"):
        list(in_order(pool, [tasks.die]))


def test_where_no_process_starts_a_sentence_says_so(monkeypatch):
    monkeypatch.setattr(local, "started", partial(_broken, local.started))
    with (
        LocalPool(1) as pool,
        pytest.raises(WorkerLost, match="no worker could be started"),
    ):
        list(in_order(pool, [partial(tasks.double, 1)]))


def _broken(started, serving):
    return started("fairway.absent")
