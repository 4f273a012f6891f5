"""A batch into a folder: whatever stops it, a rerun leaves the bytes of a run that nothing stopped."""

import json
import math
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import tasks

import fairway
from benchmarks.scale import family
from fairway.errors import InvalidRequest
from fairway.scale import driver
from fairway.scale.batch import Batch, Shard, run, shard_of
from fairway.scale.results import Folder, files_of, records
from fairway.scale.sources import Named
from fairway.solver.request import Request

QUICK = Request(relax="none")


def batch(out, count=60, chunk=20, source="tsptw:hard:10", **changed):
    named = [Named(source, count, 7)]
    return Batch(named, QUICK, Folder(out, changed.pop("form", "jsonl")), chunk, **changed)


def finished(asked, workers):
    return list(run(asked, workers))[-1]


def contents(folder):
    return {path.name: path.read_bytes() for path in files_of(folder)}


def answers(folder):
    return [record for path in files_of(folder) for record in records(path)]


@pytest.fixture(scope="module")
def whole(workers, tmp_path_factory):
    """A run that nothing stopped."""
    out = tmp_path_factory.mktemp("whole")
    progress = finished(batch(out), workers)
    assert (progress.total, progress.done, progress.resumed) == (60, 60, 0)
    assert progress.statuses == {"optimal": 60}
    return out


def test_every_instance_is_answered_once_with_a_tour_that_the_judge_accepts(whole):
    found = answers(whole)
    assert [record["index"] for record in found] == list(range(60))
    drawn = [
        i for piece in Named("tsptw:hard:10", 60, 7).pieces() for each in piece.load() for i in each
    ]
    for record, instance in zip(found, drawn, strict=True):
        verdict = fairway.verify(instance, record["tour"])
        assert verdict.cost == record["cost"] == record["lower_bound"]
        assert fairway.solve(instance).cost == record["cost"]
    times = [json.loads(path.read_text()) for path in (whole / "times").iterdir()]
    assert [len(each["seconds"]) for each in times] == [20] * 3


def test_how_far_it_is_shows_before_the_first_chunk_is_complete(workers, tmp_path):
    seen = [
        (progress.done, progress.ahead, progress.left)
        for progress in run(batch(tmp_path, count=500, chunk=500), workers)
    ]
    within = [(ahead, left) for done, ahead, left in seen if done == 0 and ahead]
    assert within
    assert all(ahead < 500 and math.isfinite(left) for ahead, left in within)
    assert seen[-1] == (500, 0, 0.0)


def test_a_part_and_shards_have_the_same_bytes(whole, workers, tmp_path):
    known = contents(whole)
    finished(batch(tmp_path / "part", count=40), workers)
    assert contents(tmp_path / "part").items() <= known.items()
    for number in (1, 2):
        progress = finished(batch(tmp_path / "shards", shard=Shard(number, 2)), workers)
        assert progress.done == progress.total == (40, 20)[number - 1]
    assert contents(tmp_path / "shards") == known


def test_a_rerun_answers_what_is_missing_and_no_more(whole, workers, tmp_path):
    finished(batch(tmp_path), workers)
    first, *_ = files_of(tmp_path)
    first.unlink()
    (tmp_path / ".fairway-killed.part").write_bytes(b"half of a file")
    progress = finished(batch(tmp_path), workers)
    assert (progress.done, progress.resumed, progress.statuses) == (60, 40, {"optimal": 60})
    assert contents(tmp_path) == contents(whole)
    assert not list(tmp_path.glob(".fairway*"))


def test_what_is_left_of_other_inputs_is_removed_or_named(whole, workers, tmp_path):
    finished(batch(tmp_path), workers)
    first, second, third = files_of(tmp_path)
    half = tmp_path / f"{first.name[:6]}-{'0' * 16}.jsonl.zst"  # killed before it was removed
    half.write_bytes(first.read_bytes())
    second.rename(tmp_path / f"{second.name[:6]}-{'0' * 16}.jsonl.zst")
    progress = finished(batch(tmp_path, count=40), workers)
    assert (progress.done, progress.resumed) == (40, 20)
    assert progress.beyond == [third.name.partition(".")[0]]
    assert contents(tmp_path) == contents(whole)


LOCK = "import sys; from fairway.scale.results import *\n\
with Folder(Path(sys.argv[1])).alone(2, 2): print(flush=True); sys.stdin.read()"


def test_two_batches_do_not_answer_the_same_into_one_folder(workers, tmp_path):
    words, pipe = [sys.executable, "-c", LOCK, str(tmp_path)], subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe) as other:
        other.stdout.readline()
        for shard in (Shard(), Shard(2, 2)):
            with pytest.raises(InvalidRequest, match="another batch is being answered here"):
                finished(batch(tmp_path, shard=shard), workers)
        finished(batch(tmp_path, shard=Shard(1, 2)), workers)
        other.stdin.close()
    finished(batch(tmp_path), workers)
    assert len(answers(tmp_path)) == 60


def test_an_extended_run_replaces_its_last_file(whole, workers, tmp_path):
    finished(batch(tmp_path, count=30), workers)
    assert len(answers(tmp_path)) == 30
    finished(batch(tmp_path), workers)
    assert contents(tmp_path) == contents(whole)
    assert len(list((tmp_path / "times").iterdir())) == 3


def test_a_folder_with_other_answers_is_refused(whole, workers):
    with pytest.raises(InvalidRequest, match="its chunk is 20 and not 30"):
        finished(batch(whole, chunk=30), workers)
    with pytest.raises(InvalidRequest, match=r"its source is \[\"tsptw:hard:10 --seed 7\"\]"):
        finished(batch(whole, source="tsptw:hard:11"), workers)


def test_parquet_holds_the_same_answers(whole, workers, tmp_path):
    finished(batch(tmp_path, form="parquet"), workers)
    known = [{**record, "reason": None} for record in answers(whole)]
    assert answers(tmp_path) == known


def test_an_instance_that_kills_its_workers_is_set_aside_and_named(
    whole, workers, tmp_path, monkeypatch
):
    alone = tmp_path / "alone"
    shot = partial(tasks.poisoned, poison=33, alone=alone)
    monkeypatch.setattr(driver, "answer_pieces", shot)
    progress = finished(batch(tmp_path / "out"), workers)
    assert len(alone.read_text()) == 3  # workers that had nothing else to do
    assert progress.set_aside == ["tsptw10-hard-33"]
    assert progress.statuses == {"optimal": 59, "unknown": 1}
    found, known = answers(tmp_path / "out"), answers(whole)
    assert found[33]["reason"].startswith("set aside: 3 workers were lost at it")
    assert [*found[:33], *found[34:]] == [*known[:33], *known[34:]]


def test_what_cannot_be_read_is_answered_with_the_reason(workers, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "bad.json").write_text('{"problem": "tsptw"}')
    (folder / "good.csv").write_text("id,x,y,open,close,service\ndepot,0,0,0,20,0\na,3,4,0,9,1\n")
    asked = Batch([Named(str(folder))], QUICK, Folder(tmp_path / "out"))
    assert finished(asked, workers).statuses == {"unreadable": 1, "optimal": 1}
    assert answers(tmp_path / "out")[0]["reason"].startswith("bad.json")


@pytest.mark.parametrize("words", ["0/3", "4/3", "1", "a/b"])
def test_a_shard_that_is_none_is_refused(words):
    with pytest.raises(InvalidRequest, match="such as 3/8"):
        shard_of(words)


ENDLESS = 1_000_000
"""Instances: minutes of work and more, so that no batch is over before it is stopped."""


@contextmanager
def started(out, count, engine="local"):
    """A batch in a process of its own, which does not outlive a test that fails."""
    asked = f"batch tsptw:hard:10 --count {count} --seed 7 --chunk 20 --workers 1 --engine {engine} --out"
    words = [sys.executable, "-m", "fairway", *asked.split(), str(out)]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def waited(condition):
    until = time.monotonic() + 120  # kernels may have to be compiled first
    while not condition() and time.monotonic() < until:
        time.sleep(0.005)
    assert condition()


@pytest.mark.slow
def test_killed_and_interrupted_runs_leave_whole_files_and_resume_to_the_same_bytes(
    workers, tmp_path
):
    stopped, there = tmp_path / "stopped", 0
    for number in (signal.SIGKILL, signal.SIGINT):
        with started(stopped, ENDLESS) as process:
            waited(lambda there=there: len(list(stopped.glob("*.zst"))) >= there + 2)
            process.send_signal(number)
            _, said = process.communicate(timeout=30)
        assert process.returncode == (-9 if number == signal.SIGKILL else 130)
        there = len(files_of(stopped))
        assert len(answers(stopped)) == 20 * there
    assert "the same command resumes" in said
    count = answers(stopped)[-1]["index"] + 1 + 40  # however far they came, and two files more
    with started(stopped, count) as process:
        _, said = process.communicate(timeout=60)
    assert process.returncode == 0, said
    assert len(files_of(stopped)) == count // 20 >= there + 2
    request = Request(seed=7, policy="auto", relax="none")  # as the command asks
    finished(replace(batch(tmp_path / "whole", count=count), request=request), workers)
    assert contents(stopped) == contents(tmp_path / "whole")
    assert len(os.listdir(stopped / "times")) == count // 20


def alive(pid):
    with suppress(OSError):
        return bool(Path(f"/proc/{pid}/cmdline").read_bytes())  # empty of one that has ended
    return False


@pytest.mark.slow
def test_ctrl_c_ends_a_ray_that_was_started_here_and_leaves_whole_files(tmp_path):
    with started(tmp_path, ENDLESS, "ray") as process:
        waited(lambda: len(list(tmp_path.glob("*.zst"))) >= 2)
        others = {*family(process.pid)} - {process.pid}
        priorities = {os.getpriority(os.PRIO_PROCESS, each) for each in {process.pid, *others}}
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert "the same command resumes" in said
    assert len(answers(tmp_path)) == 20 * len(files_of(tmp_path))
    assert not list(tmp_path.glob(".fairway*"))
    assert len(others) > 3  # Ray's own, and a worker
    assert (
        len(priorities) == 1
    )  # or Ray would be slower than local processes wherever others compute too
    waited(lambda: not any(map(alive, others)))
