"""Solvers in processes of their own, one of which may be lost."""

import multiprocessing
import os
import signal
import threading
import time
from functools import partial

import pytest

from fairway.errors import WorkerLost
from fairway.evaluate.single import by_local_search, by_proof, shared_out
from fairway.problems.generate import generate


def test_instances_are_answered_in_their_order():
    instances = list(generate("tsptw", n=8, hardness="hard", count=3, seed=1))
    with shared_out(partial(by_proof, seconds=5.0), 1) as solve:
        found = list(solve(instances, [None] * 3))
    assert [each.tours.shape for each in found] == [(1, 7)] * 3
    assert all(each.proved and each.seconds > 0 for each in found)


def killed_soon():
    """Kill the first process that this one starts from now on."""
    before = set(multiprocessing.active_children())
    while not (new := set(multiprocessing.active_children()) - before):
        time.sleep(0.05)
    os.kill(new.pop().pid, signal.SIGKILL)


def test_a_killed_process_is_told_in_a_sentence_that_says_to_run_again():
    instances = list(generate("tsptw", n=50, hardness="easy", count=2, seed=1))
    with shared_out(partial(by_local_search, seconds=60.0, seed=0), 1) as solve:
        killer = threading.Thread(target=killed_soon)
        killer.start()
        with pytest.raises(WorkerLost, match=r"\(of 1\) was lost.*run the same command again"):
            list(solve(instances, [None, None]))
        killer.join()
