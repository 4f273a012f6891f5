"""How long `POST /solve` of 50 stops with tight windows takes, once the service is warm.

python -m benchmarks.service.latency
"""

import asyncio
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.service.client import Client, percentile
from benchmarks.service.running import Running

COUNT = 200


def tight(seed: int, stops: int = 50) -> dict[str, Any]:
    """An instance whose windows are around the times of a random tour, as the paper's hard ones are."""
    chance = np.random.default_rng(seed)
    points = 100 * chance.random((stops + 1, 2))
    order = [0, *(1 + chance.permutation(stops))]
    along = np.linalg.norm(np.diff(points[order], axis=0), axis=1).cumsum()
    opens, closes = np.zeros(stops + 1), np.zeros(stops + 1)
    opens[order[1:]] = np.maximum(along - chance.uniform(0, 50, stops), 0.0)
    closes[order[1:]] = along + chance.uniform(0, 50, stops)
    closes[0] = 2 * along[-1]
    columns = {"coordinates": points, "opens": opens, "closes": closes}
    return {"problem": "tsptw", **{key: column.tolist() for key, column in columns.items()}}


async def measured(port: int) -> tuple[list[float], int]:
    """Seconds of each request, and how many plans were proved optimal."""
    line, seconds, proved = Client(port), [], 0
    for seed in range(COUNT):
        body = json.dumps({"instance": tight(seed), "seconds": 1.0}).encode()
        began = time.monotonic()
        answer = await line.ask("POST", "/solve", body)
        seconds.append(time.monotonic() - began)
        proved += answer.json()["status"] == "optimal"
    line.close()
    return seconds, proved


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, Running(Path(folder) / "jobs.sqlite") as service:
        seconds, proved = asyncio.run(measured(service.port))
    told = {share: f"{1000 * percentile(seconds, share):.1f} ms" for share in (0.0, 0.5, 0.9, 0.99)}
    print(f"{COUNT} requests, {proved} proved optimal: {told}")


if __name__ == "__main__":
    main()
