"""Requests made from the OpenAPI document by schemathesis: none may end in an error of the service's own, or hang.

python -m benchmarks.service.schema --count 10000
"""

import argparse
import tempfile
from collections import Counter
from pathlib import Path

import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings

from benchmarks.service.fuzz import OPTIONS, reason
from benchmarks.service.running import Running

SECONDS = 30.0
"""After which a request counts as hanging."""


def tried(port: int, count: int, number: int = 0) -> Counter[str]:
    """The answers to so many requests or a few more, shared among the endpoints, by status.

    Endpoints that take nothing are asked once each, which leaves more for the others.
    """
    address = f"http://127.0.0.1:{port}"
    schema = schemathesis.openapi.from_url(f"{address}/openapi.json")
    operations = [found.ok() for found in schema.get_all_operations()]
    operations.sort(key=lambda each: bool(each.body) or "{" in each.path)  # many ways to ask: last
    counts: Counter[str] = Counter()
    for left, operation in zip(range(len(operations), 0, -1), operations, strict=True):
        every = max(-(-(count - counts.total()) // left), 1)

        @seed(number)
        @given(case=operation.as_strategy())
        @settings(
            max_examples=every,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        def one(case: schemathesis.Case) -> None:
            answer = case.call(base_url=address, timeout=SECONDS)
            counts[str(answer.status_code)] += 1
            wrong = reason(answer.status_code, answer.content)
            assert wrong is None, f"{case.method} {case.formatted_path}: {wrong}"

        one()
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        service = Running(Path(folder) / "jobs.sqlite", *OPTIONS)
        with service:
            print(dict(tried(service.port, asked.count, asked.seed)))


if __name__ == "__main__":
    main()
