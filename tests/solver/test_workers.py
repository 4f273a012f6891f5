"""Processes that die, that are interrupted, and scripts that know nothing of either."""

import signal
import subprocess
import sys
import time
from collections import deque
from pathlib import Path
from types import SimpleNamespace

import pytest

import fairway
from fairway.solver import workers
from fairway.solver.request import Request
from fairway.solver.warmup import warm_up
from fairway.solver.workers import Job, WorkerPool


def easy(count):
    return list(fairway.generate("tsptw", n=50, hardness="easy", count=count, seed=2))


def test_a_killed_process_loses_nothing_but_its_instance():
    job = Job(easy(7), None, Request(seconds=0.3))
    warm_up(job.kinds, job.request)
    results = {}
    with WorkerPool(job, 2) as pool:
        victim = pool._workers[0]
        while not victim.due:
            results.update(pool.collect(0.1))
        victim.process.kill()
        while not pool.finished:
            results.update(pool.collect(0.1))
    lost = [result for result in results.values() if result.status == "unknown"]
    assert sorted(results) == list(range(7))
    assert len(lost) == 1
    assert lost[0].reason == "the process that worked on it was lost (exit code -9)"
    assert sum(result.status == "feasible" for result in results.values()) == 6


def test_a_lost_instance_still_has_its_plan():
    instance = easy(1)[0]
    plan = fairway.solve(instance, seconds=0.05).tour
    job = Job([instance], [plan], Request())
    kept = job.unsolved(0, "lost")
    assert (kept.status, kept.tour, kept.method) == ("feasible", plan, "plan")


def test_a_process_killed_while_it_starts_loses_nothing():
    job = Job(easy(4), None, Request(seconds=0.1))
    warm_up(job.kinds, job.request)
    results = {}
    with WorkerPool(job, 2) as pool:
        pool._workers[0].process.kill()
        while not pool.finished:
            results.update(pool.collect(0.1))
    assert sorted(results) == list(range(4))
    assert {result.status for result in results.values()} == {"feasible"}


@pytest.mark.parametrize("interpreter", ["/bin/false", "/absent"])
def test_where_no_process_can_start_this_one_does_it_all_and_says_so(
    monkeypatch, capfd, interpreter
):
    instances = easy(2)
    fairway.solve(instances[0], iterations=1)
    monkeypatch.setattr(workers.sys, "executable", interpreter)
    results = fairway.solve(instances, iterations=1, workers=2)
    assert [result.status for result in results] == ["feasible", "feasible"]
    assert capfd.readouterr().err.count("no process to solve with could be started") == 1


def test_few_answers_wait_for_an_earlier_one():
    pool = WorkerPool(Job(easy(1), None, Request()), 0)
    pool._workers.append(SimpleNamespace(due=deque([7])))
    for start, employs in ((7 + workers.AHEAD - 1, True), (7 + workers.AHEAD, False)):
        pool._todo = deque([range(start, 10_000)])
        assert pool._may_employ() is employs


def alive(pid):
    """Whether a process is still there, and not merely unburied."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def children(pid):
    """The processes that this one has started, by their numbers."""
    words = ["ps", "-o", "pid=", "--ppid", str(pid)]
    return [
        int(word)
        for word in subprocess.run(words, stdout=subprocess.PIPE, check=False).stdout.split()
    ]


def awaited(condition, seconds):
    until = time.monotonic() + seconds
    while not (met := condition()) and time.monotonic() < until:
        time.sleep(0.05)
    return met


WORK = {
    "solve": "solve {set} --seconds 600 --workers 2",
    "evaluate": "evaluate solver local-search --bed {set} --seconds 600 --workers 2",
}


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc")
@pytest.mark.parametrize(
    "ended_by", [signal.SIGKILL, pytest.param(signal.SIGTERM, marks=pytest.mark.soak)]
)
@pytest.mark.parametrize("work", WORK)
def test_processes_end_with_the_one_that_started_them(tmp_path, work, ended_by):
    file = tmp_path / "set.npz"
    fairway.write(fairway.generate("tsptw", n=50, hardness="easy", count=4, seed=1), file)
    words = [sys.executable, "-m", "fairway", *WORK[work].format(set=file).split()]
    with subprocess.Popen(words, cwd=tmp_path) as process:
        assert awaited(lambda: len(children(process.pid)) >= 2, 60)
        time.sleep(3)
        started = children(process.pid)
        process.send_signal(ended_by)
        assert process.wait(timeout=10) == -ended_by
    assert awaited(lambda: not any(map(alive, started)), 60)


def interrupted(tmp_path, code, after):
    """What a script prints that gets Ctrl-C so many seconds after it said 'begun'."""
    script = tmp_path / "script.py"  # without a main guard
    script.write_text(code)
    words = [sys.executable, str(script)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "begun\n", process.communicate()[1]
    time.sleep(after)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    said, errors = process.communicate(timeout=30)
    assert process.returncode == 0, errors
    assert time.monotonic() - began < 10
    return said.split()


DRAWN = "import fairway\nbed = list(fairway.generate('tsptw', n=100, hardness='easy', count=3))\n"


def test_ctrl_c_returns_the_best_so_far(tmp_path):
    code = DRAWN + (
        "def watch(step):\n"
        "    if not seen: print('begun', flush=True)\n"
        "    seen.append(step)\n"
        "seen = []\n"
        "result = fairway.solve(bed[0], seconds=300, watch=watch)\n"
        "print(result.status, result.interrupted, len(seen) == len(result.trace))\n"
    )
    assert interrupted(tmp_path, code, 0.5) == ["feasible", "True", "True"]


def test_ctrl_c_keeps_what_a_list_has(tmp_path):
    code = DRAWN + (
        "fairway.solve(bed[0], seconds=0.01)\n"
        "print('begun', flush=True)\n"
        "for result in fairway.solve(bed, seconds=300, workers=2): print(result.status)\n"
    )
    assert interrupted(tmp_path, code, 4.0) == ["feasible", "feasible", "unknown"]
