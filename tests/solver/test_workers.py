"""Processes that die, that are interrupted, and scripts that know nothing of either."""

import signal
import subprocess
import sys
import time

import pytest

import fairway
from fairway.errors import WorkerLost
from fairway.solver import workers
from fairway.solver.request import Request
from fairway.solver.warmup import warm_up
from fairway.solver.workers import Crew, Job


def easy(count):
    return list(fairway.generate("tsptw", n=50, hardness="easy", count=count, seed=2))


def test_a_killed_process_loses_nothing_but_its_instance():
    job = Job(easy(7), None, Request(seconds=0.3))
    warm_up(job.kinds, job.request)
    results = {}
    with Crew(job, 2) as crew:
        victim = crew._workers[0]
        while not victim.due:
            results.update(crew.collect(0.1))
        victim.process.kill()
        while not crew.finished:
            results.update(crew.collect(0.1))
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


def test_processes_that_cannot_start_are_reported_once(monkeypatch):
    monkeypatch.setattr(workers.sys, "executable", "/bin/false")
    with pytest.raises(WorkerLost, match="workers=1 does without"):
        fairway.solve(easy(2), iterations=1, workers=2)


def interrupted(tmp_path, code, after):
    """What a script prints that gets Ctrl-C so many seconds after it said 'begun'."""
    script = tmp_path / "script.py"  # without a main guard
    script.write_text(HEARS_CTRL_C + code)
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


# A shell without job control starts what it puts in the background deaf to Ctrl-C, and that is inherited.
HEARS_CTRL_C = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
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
