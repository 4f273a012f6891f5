"""A service that is killed at random moments: nothing accepted is lost, nothing is answered twice differently.

python -m benchmarks.service.kills --kills 50
"""

import argparse
import json
import random
import tempfile
import threading
import time
from pathlib import Path

from benchmarks.service.client import hard_instance
from benchmarks.service.running import Running

CLIENTS = 4


class Memory:
    """What clients were told: jobs by key, and the answers of those that were over."""

    def __init__(self) -> None:
        self.jobs: dict[str, str] = {}
        self.bodies: dict[str, bytes] = {}
        self.answers: dict[str, bytes] = {}


def _client(service: Running, memory: Memory, number: int, ended: threading.Event) -> None:
    """Post jobs, again where it is not known whether one was accepted, and look at those that were."""
    chance = random.Random(number)
    sent = 0
    while not ended.is_set():
        key = f"{number}-{sent}"
        body = {"instance": hard_instance(12), "seconds": chance.choice([0.0, 0.05, 0.3])}
        memory.bodies.setdefault(key, json.dumps({**body, "seed": sent}).encode())
        try:
            answer = service.ask(
                "POST", "/jobs", memory.bodies[key], {"Idempotency-Key": key}, seconds=5
            )
            if answer.status == 202:
                job = answer.json()["id"]
                assert memory.jobs.setdefault(key, job) == job, "one key became two jobs"
                sent += 1
            look(service, memory, chance.choice(list(memory.jobs.values()) or ["none"]))
        except (OSError, TimeoutError, ValueError):
            time.sleep(0.02)
        except Exception as error:  # a connection that was cut off in the middle
            if not type(error).__module__.startswith("http"):
                raise


def look(service: Running, memory: Memory, job: str) -> None:
    """Hold a job that is over against what was told of it before."""
    answer = service.ask("GET", f"/jobs/{job}", seconds=5)
    if job == "none":
        return
    assert answer.status == 200, f"job {job} is lost"
    if answer.json()["status"] not in ("waiting", "running"):
        assert answer.json()["status"] == "done", answer.body
        assert memory.answers.setdefault(job, answer.body) == answer.body, "answered differently"


def killed(store: Path, kills: int, seed: int = 0) -> dict[str, int]:
    """Kill a service so many times; how many jobs were accepted, and how many were known before a kill."""
    chance, memory, ended = random.Random(seed), Memory(), threading.Event()
    service = Running(store, "--workers", "1", "--queue", "20")
    service.start(ready=False)
    threads = [
        threading.Thread(target=_client, args=(service, memory, number, ended))
        for number in range(CLIENTS)
    ]
    for thread in threads:
        thread.start()
    for _ in range(kills):
        time.sleep(chance.uniform(0.0, 5.0))
        service.kill()
        service.start(ready=chance.random() < 0.5)  # the next kill is often while it starts
    ended.set()
    for thread in threads:
        thread.join()
    before = len(memory.answers)
    for job in memory.jobs.values():
        service.finished(job, 300)
        look(service, memory, job)
    assert len(memory.answers) == len(memory.jobs) > 0, "no job was ever accepted"
    service.kill()
    return {"kills": kills, "accepted": len(memory.jobs), "known before the end": before}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(killed(Path(folder) / "jobs.sqlite", asked.kills, asked.seed))


if __name__ == "__main__":
    main()
