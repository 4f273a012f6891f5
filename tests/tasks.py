"""Tasks for workers in tests: a worker imports them by name."""

import os
import signal
import time
from pathlib import Path

from fairway.scale.answers import answer_pieces


def double(number):
    time.sleep(0.01)
    return 2 * number


def refuse():
    from fairway.errors import InvalidRequest

    raise InvalidRequest("not this")


def die_once(mark):
    """Kill the worker, unless somebody has been here before."""
    if not Path(mark).exists():
        Path(mark).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "alive"


def poisoned(pieces, first, request, poison, alone):
    """As `answer_pieces`, but one instance is the end of every worker; a file counts those that had no other."""
    count = sum(map(len, pieces))
    if first <= poison < first + count:
        with Path(alone).open("a") as file:
            file.write("x" * (count == 1))
        os.kill(os.getpid(), signal.SIGKILL)
    return answer_pieces(pieces, first, request)


def die():
    """Kill the worker."""
    os.kill(os.getpid(), signal.SIGKILL)


def shaky(pieces, first, request, folder, fatal):
    """As `answer_pieces`, slowly, but some instances are the end of the first worker that comes to them."""
    time.sleep(0.1)
    for number in fatal:
        if first <= number < first + sum(map(len, pieces)):
            die_once(Path(folder) / str(number))
    return answer_pieces(pieces, first, request)
