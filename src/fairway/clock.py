"""The clock of every budget: it stands still while kernels are compiled or loaded, which no search is charged for."""

import time
from threading import Lock


class _StopWatch:
    """One for the whole process; threads that compile at once stop it together."""

    def __init__(self) -> None:
        self._lock, self._stops = Lock(), 0
        self._since = self._stood = 0.0

    def now(self) -> float:
        """Seconds, of which only differences mean something."""
        return (self._since if self._stops else time.monotonic()) - self._stood

    def stop(self) -> None:
        """Stand still until `go_on` has been called as often as this."""
        with self._lock:
            if self._stops == 0:
                self._since = time.monotonic()
            self._stops += 1

    def go_on(self) -> None:
        """Take back one `stop`."""
        with self._lock:
            self._stops -= 1
            if self._stops == 0:
                self._stood += time.monotonic() - self._since


_WATCH = _StopWatch()
now, stop, go_on = _WATCH.now, _WATCH.stop, _WATCH.go_on
