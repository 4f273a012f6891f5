"""Counters in the text format of Prometheus."""

from collections import Counter, defaultdict
from collections.abc import Iterable

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0)
"""Seconds up to which answers are counted together."""
Sample = tuple[dict[str, str], float]


class Metrics:
    """What has happened since the start."""

    def __init__(self) -> None:
        self._answers: Counter[tuple[str, str, int]] = Counter()
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._buckets: Counter[tuple[str, float]] = Counter()

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Note one answer."""
        self._answers[method, route, status] += 1
        self._seconds[route] += seconds
        for bound in BUCKETS:
            self._buckets[route, bound] += seconds <= bound

    def text(self, gauges: Iterable[tuple[str, str, str, list[Sample]]]) -> str:
        """All of it, with gauges given as name, kind, help and samples."""
        answers: list[Sample] = [
            ({"method": method, "route": route, "status": str(status)}, count)
            for (method, route, status), count in sorted(self._answers.items())
        ]
        lines = _lines("fairway_requests_total", "counter", "Answers by endpoint", answers)
        name = "fairway_request_seconds"
        lines += [f"# HELP {name} Duration of answers", f"# TYPE {name} histogram"]
        totals: Counter[str] = Counter()
        for (_, route, _), count in self._answers.items():
            totals[route] += count
        for route, count in sorted(totals.items()):
            for bound in BUCKETS:
                labels = {"route": route, "le": f"{bound:g}"}
                lines.append(f"{name}_bucket{_braces(labels)} {self._buckets[route, bound]}")
            lines.append(f"{name}_bucket{_braces({'route': route, 'le': '+Inf'})} {count}")
            lines.append(f"{name}_sum{_braces({'route': route})} {self._seconds[route]:.6f}")
            lines.append(f"{name}_count{_braces({'route': route})} {count}")
        for gauge in gauges:
            lines += _lines(*gauge)
        return "\n".join(lines) + "\n"


def _lines(name: str, kind: str, words: str, samples: list[Sample]) -> list[str]:
    head = [f"# HELP {name} {words}", f"# TYPE {name} {kind}"]
    return head + [f"{name}{_braces(labels)} {value:g}" for labels, value in samples]


def _braces(labels: dict[str, str]) -> str:
    """Labels are words of our own, so that nothing has to be escaped."""
    inner = ",".join(f'{name}="{value}"' for name, value in labels.items())
    return f"{{{inner}}}" if inner else ""
