"""Many clients at once: every accepted job is answered once, what is beyond the queue is refused, the rest stays quick.

python -m benchmarks.service.load --clients 200 --seconds 60 --jobs 10000
"""

import argparse
import asyncio
import json
import tempfile
import time
from collections import Counter
from pathlib import Path

from benchmarks.service.client import Client, hard_instance, percentile
from benchmarks.service.running import Running

JOB_SECONDS = 0.2
PAUSE = 0.25
"""Seconds between two looks at a job, or after a refusal."""


async def crowd(port: int, clients: int, seconds: float) -> dict[str, object]:
    """What so many clients that post jobs and wait for them get to see."""
    until = time.monotonic() + seconds
    counts: Counter[str] = Counter()
    results: dict[str, bytes] = {}
    health: list[float] = []

    async def client(number: int) -> None:
        line, sent = Client(port), 0
        while time.monotonic() < until:
            seed = number * 100_000 + sent
            body = {"instance": hard_instance(20), "seconds": JOB_SECONDS, "seed": seed}
            answer = await line.ask("POST", "/jobs", json.dumps(body).encode())
            counts[str(answer.status)] += 1
            if answer.status != 202:
                assert answer.status == 429, answer.body
                assert int(answer.headers["retry-after"]) >= 1
                await asyncio.sleep(PAUSE)
                continue
            sent += 1
            results[await _finished(line, answer.json()["id"])] = b""
        line.close()

    async def watcher() -> None:
        line = Client(port)
        while time.monotonic() < until:
            began = time.monotonic()
            assert (await line.ask("GET", "/health")).status == 200
            health.append(time.monotonic() - began)
            await asyncio.sleep(0.05)
        line.close()

    await asyncio.gather(*(client(number) for number in range(clients)), watcher())
    assert len(results) == counts["202"], "a job was lost, or answered under another id"
    return {
        "accepted and answered": counts["202"],
        "refused with 429": counts["429"],
        "health p50 ms": round(1000 * percentile(health, 0.5), 1),
        "health p99 ms": round(1000 * percentile(health, 0.99), 1),
        "health max ms": round(1000 * max(health), 1),
    }


async def _finished(line: Client, job: str) -> str:
    """The id of a job, once it is over and its answer stays the same."""
    while True:
        told = await line.ask("GET", f"/jobs/{job}")
        if told.json()["status"] not in ("waiting", "running"):
            assert told.json()["status"] == "done", told.body
            again = await line.ask("GET", f"/jobs/{job}")
            assert again.body == told.body, "a job was answered twice differently"
            return job
        await asyncio.sleep(PAUSE)


async def many(port: int, jobs: int, processes: list[int]) -> list[int]:
    """Megabytes that the service and its workers hold, at the beginning, after warm-up and at the end of many jobs."""
    body = {"instance": hard_instance(8), "seconds": 0.0}
    held, line = [_megabytes(processes)], Client(port)
    for number in range(jobs):
        while True:
            sent = {**body, "seed": number}
            answer = await line.ask("POST", "/jobs", json.dumps(sent).encode())
            if answer.status == 202:
                break
            await asyncio.sleep(0.02)
        if (number + 1) % max(jobs // 10, 1) == 0:
            held.append(_megabytes(processes))
    line.close()
    return held


def family(pid: int) -> list[int]:
    """A process and those that it started."""
    children = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        children += [int(each) for each in (task / "children").read_text().split()]
    return [pid, *children]


def _megabytes(processes: list[int]) -> int:
    pages = sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in processes)
    return pages * 4096 >> 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--jobs", type=int, default=10_000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Running(Path(folder) / "jobs.sqlite") as service:
        print(asyncio.run(crowd(service.port, asked.clients, asked.seconds)), flush=True)
        held = asyncio.run(many(service.port, asked.jobs, family(service.pid)))
        print(f"megabytes over {asked.jobs} jobs: {held}")


if __name__ == "__main__":
    main()
