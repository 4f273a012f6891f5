"""Solving one instance while telling what is found, as a worker process does it."""

import math
import threading
from collections.abc import Callable
from typing import Any

from fairway.judge import Rejection, verify
from fairway.problems.instance import Instance
from fairway.serve.documents import dumped, result_document
from fairway.solver.incumbent import Incumbent
from fairway.solver.request import Request
from fairway.solver.results import Improvement, Progress, Result
from fairway.solver.single import solve_one

PAUSE = 0.1
"""Seconds between two plans that are told: whoever looks on reads no faster."""

Tell = Callable[[dict[str, Any], bytes], None]
"""Takes the head and the payload of a message."""


class Reporter:
    """Tells of the best tour so far from a thread of its own, so that the search does not wait for it.

    Where nobody wants to hear, it only remembers.
    """

    def __init__(self, instance: Instance, objective: Any, tell: Tell | None) -> None:  # noqa: ANN401
        self._instance, self._objective, self._tell = instance, objective, tell
        self._known: Progress | None = None
        self._trace: list[Improvement] = []
        self._news, self._over = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._report, daemon=True)

    def __enter__(self) -> "Reporter":
        if self._tell is not None:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._news.set()
        if self._tell is not None:
            self._thread.join()

    @property
    def known(self) -> Progress | None:
        """The last that was heard."""
        return self._known

    def hear(self, known: Progress) -> None:
        """Note what a search has found."""
        self._known = known
        self._news.set()

    def _report(self) -> None:
        told: Progress | None = None
        while not self._over.wait(PAUSE if told else 0.0):
            self._news.wait()
            self._news.clear()
            known = self._known
            if known is None or self._over.is_set():
                continue
            if told is None or known.tour != told.tour:
                self._improved(known)
            if told is None or known.lower_bound > told.lower_bound:
                self._bounded(known)
            told = known

    def _improved(self, known: Progress) -> None:
        """Tell of a tour, once the judge has accepted it."""
        if known.tour is None or known.method is None or self._tell is None:
            return
        judged = verify(self._instance, known.tour, objective=self._objective)
        if isinstance(judged, Rejection):
            return
        self._trace.append(Improvement(known.seconds, judged.value, known.method))
        result = Result(
            "feasible",
            known.seconds,
            self._objective,
            min(known.lower_bound, judged.value),
            judged,
            known.method,
            tuple(self._trace),
        )
        head = {
            "kind": "improvement",
            "seconds": known.seconds,
            "value": judged.value,
            "method": known.method,
            "lower_bound": _finite(result.lower_bound),
        }
        self._tell(head, dumped(result_document(self._instance, result)))

    def _bounded(self, known: Progress) -> None:
        bound = _finite(known.lower_bound)
        if bound is not None and self._tell is not None:
            value = None if known.tour is None else _finite(known.cost)
            self._tell(
                {"kind": "bound", "seconds": known.seconds, "lower_bound": bound, "value": value},
                b"",
            )


def solve_told(
    instance: Instance, request: Request, initial: tuple[int, ...] | None, tell: Tell | None
) -> Result:
    """The answer for one instance; an interruption leaves the best so far."""
    with Reporter(instance, request.objective, tell) as reporter:
        try:
            return solve_one(instance, request, initial, reporter.hear)
        except KeyboardInterrupt:  # where the search itself did not catch it
            best = Incumbent(instance, request)
            for tour, method in ((initial, "plan"), _last(reporter.known)):
                if tour is not None:
                    best.offer(tour, method)
            reason = "the search was interrupted before a tour was found or proved impossible"
            return best.result(reason, interrupted=True)


def _last(known: Progress | None) -> tuple[tuple[int, ...] | None, Any]:
    return (None, None) if known is None else (known.tour, known.method)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
