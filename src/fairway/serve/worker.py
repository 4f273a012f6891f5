"""A worker process: orders come in over a line, answers and news go out, until the line is closed."""

import os
import queue
import re
import resource
import signal
import threading
from functools import partial
from typing import Any

from fairway.errors import FairwayError
from fairway.kernels.compiling import taking_turns
from fairway.problems.files.text import Unreadable
from fairway.serve import work
from fairway.serve.frames import Channel, Frame
from fairway.serve.logs import log_failure
from fairway.serve.requests import TooLarge
from fairway.serve.settings import Limits
from fairway.serve.work import Ask
from fairway.solver.warmup import warm_up_searches
from fairway.solver.workers import Interrupts

OPTION = re.compile(r" \(--[^)]*\)")
"""How the same is said on the command line."""


class Worker:
    """Does one order after another; what is told to stop ends with the best so far."""

    def __init__(self, channel: Channel, limits: Limits) -> None:
        self._channel, self._limits = channel, limits
        self._orders: queue.SimpleQueue[Frame] = queue.SimpleQueue()
        self._stopped = -1
        """The number of the last order that is to be stopped."""

    def run(self) -> None:
        """Serve until the process ends with its line."""
        threading.Thread(target=self._listen, daemon=True).start()
        with Interrupts() as interrupts:
            self._channel.send(Frame({"kind": "ready"}))
            while True:
                order = self._orders.get()
                self._channel.send(self._answer(order, interrupts))

    def _listen(self) -> None:
        main = threading.main_thread().ident
        assert main is not None
        try:
            while True:
                frame = self._channel.receive()
                if frame.head["kind"] == "stop":
                    self._stopped = frame.head["number"]
                    signal.pthread_kill(main, signal.SIGINT)
                else:
                    self._orders.put(frame)
        except (EOFError, OSError):
            os._exit(0)  # the service is no more

    def _answer(self, order: Frame, interrupts: Interrupts) -> Frame:
        number = order.head["number"]
        answer = None
        try:
            with interrupts.exposed():
                if self._stopped == number:
                    raise KeyboardInterrupt
                verb = work.VERBS[order.head["verb"]]
                tell = partial(self._tell, number) if order.head["news"] else None
                answer = verb(Ask(order.payload, self._limits, tell, order.head["options"]))
        except TooLarge as error:
            return _refused(number, 413, str(error))
        except (FairwayError, Unreadable) as error:
            return _refused(number, 400, str(error))
        except MemoryError:
            return _refused(number, 413, "the request needs more memory than this service gives")
        except Exception as error:
            log_failure(error)
            return _refused(number, 500, "the service failed; its log says where")
        if answer is None:
            return _refused(number, 400, "the request was stopped before it was answered")
        head = {"kind": "end", "number": number, "status": 200, "media": answer.media}
        if answer.trace is not None:
            head |= {"trace": answer.trace}
        return Frame({**head, "name": answer.name}, answer.payload)

    def _tell(self, number: int, head: dict[str, Any], payload: bytes) -> None:
        self._channel.send(Frame({**head, "number": number}, payload))


def main(descriptor: int, niceness: int, limits: Limits, solves: bool) -> None:
    """Prepare the process, whose searches are compiled or loaded if it is to solve, and serve."""
    channel = Channel(descriptor)
    if solves:
        with taking_turns():
            warm_up_searches()
    os.nice(niceness)
    resource.setrlimit(resource.RLIMIT_DATA, (limits.max_memory, limits.max_memory))
    Worker(channel, limits).run()


def _refused(number: int, status: int, sentence: str) -> Frame:
    head = {"kind": "end", "number": number, "status": status, "media": work.JSON, "name": ""}
    said = OPTION.sub("", " ".join(sentence.split()))
    return Frame({**head, "error": said})
