"""What ends processes early: Ctrl-C, let through only where it does no harm, and the death of a parent."""

import os
import select
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupts:
    """While this is entered, Ctrl-C is noted, and raised only inside `exposed`."""

    def __init__(self) -> None:
        self.heard = False
        self._exposed = False
        self._before: object = None

    def __enter__(self) -> "Interrupts":
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._hear)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)  # pyrefly: ignore[bad-argument-type]

    @contextmanager
    def exposed(self) -> Iterator[None]:
        """Let a KeyboardInterrupt be raised; one that nobody caught ends the block, and is noted."""
        self._exposed = True
        try:
            yield
        except KeyboardInterrupt:
            self.heard = True
        finally:
            self._exposed = False

    def _hear(self, _signal: int, _frame: FrameType | None) -> None:
        self.heard = True
        if self._exposed:
            self._exposed = False
            raise KeyboardInterrupt


def end_with_parent(descriptor: int) -> None:
    """End this process as soon as nobody holds the other end of a pipe or socket, however its parent came to die."""

    def wait() -> None:
        end = select.poll()
        end.register(descriptor, 0)  # no data, only that the other end is closed
        end.poll()
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()
