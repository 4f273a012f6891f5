"""Mutated bodies over the wire: each gets a sentence or a valid answer, and none an error of the service's own.

python -m benchmarks.service.fuzz --count 100000
"""

import argparse
import asyncio
import json
import random
import tempfile
from collections import Counter
from copy import deepcopy
from pathlib import Path
from typing import Any

from benchmarks.service.client import Client, hard_instance
from benchmarks.service.running import Running

OPTIONS = ("--workers", "2", "--max-seconds", "0.05", "--max-stops", "200", "--max-body", "1")
CSV = "id,x,y,open,close,service\ndepot,0,0,08:00,17:00,\na,3,4,09:00,10:00,5\nb,6,8,,12:00,5\n"
WINDOWS = {
    "problem": "tsptw",
    "coordinates": [[0, 0], [3, 4], [6, 8], [0, 5]],
    "names": ["Depot", "<b>North</b>", "=1+1", "Dock \x1b[31m 7"],
    "opens": [0, 10, 0, 0],
    "closes": [100, 20, 60, 60],
}
VROOM = {
    "vehicles": [{"id": 1, "start_index": 0, "end_index": 0, "capacity": [4]}],
    "jobs": [{"id": 1, "location_index": 1, "delivery": [1], "time_windows": [[0, 900]]}],
    "shipments": [
        {
            "amount": [1],
            "pickup": {"id": 2, "location_index": 1},
            "delivery": {"id": 3, "location_index": 2},
        }
    ],
    "matrices": {"car": {"durations": [[0, 300, 400], [300, 0, 200], [400, 200, 0]]}},
}
SOLVE = {"instance": WINDOWS, "seconds": 0.01, "seed": 1, "objective": "cost", "fixed": [1]}
BODIES: list[tuple[str, dict[str, Any]]] = [
    ("/solve", SOLVE),
    ("/solve", {"instance": hard_instance(6), "seconds": 0.01, "drop": "fewest"}),
    ("/solve", {"file": {"name": "stops.csv", "text": CSV}, "seconds": 0.01, "relax": "late"}),
    ("/jobs", SOLVE),
    ("/verify", {"instance": WINDOWS, "tour": [1, 2, 3]}),
    ("/verify", {"instance": hard_instance(6), "tour": [1, 2, 3, 4, 5, 6], "objective": "cost"}),
    ("/explain", {"instance": {**WINDOWS, "closes": [100, 20, 2, 2]}, "seconds": 0.05}),
    ("/convert", {"instance": WINDOWS, "to": "csv"}),
    ("/convert", {"instance": hard_instance(4), "to": "geojson", "tour": [1, 2, 3, 4]}),
    ("/vroom?seconds=0.05", VROOM),
]
JUNK: list[Any] = [
    None, True, False, -1, 0, 1, 1e15, 1e-300, 1e999, -1e999, 2**70, 0.5, "", "x", "\ud800", "\0",
    "<script>alert(1)</script>", "=cmd()", "\x1b[2J", "../../etc/passwd", [], {}, [[]], [None],
    {"a": 1}, "9" * 400, [0] * 300,
]  # fmt: skip


def mutated(body: dict[str, Any], chance: random.Random) -> bytes:
    """A body with a few of its values, keys or bytes replaced."""
    value = json.loads(json.dumps(body))
    for _ in range(chance.randint(1, 3)):
        _change(value, chance)
    content = bytearray(json.dumps(value).encode())
    if chance.random() < 0.3:
        for _ in range(chance.randint(1, 5)):
            at = chance.randrange(len(content) + 1)
            content[at : at + chance.randint(0, 3)] = chance.randbytes(chance.randint(0, 3))
    return bytes(content) or b" "


def _change(value: Any, chance: random.Random) -> None:
    """Change something somewhere in a value."""
    while True:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        if not keys:
            return
        key = chance.choice(keys)
        if isinstance(value[key], dict | list) and value[key] and chance.random() < 0.7:
            value = value[key]
            continue
        break
    match chance.randrange(4):
        case 0 if isinstance(value, dict):
            value[f"{key}x" if chance.random() < 0.5 else str(chance.choice(JUNK))] = value.pop(key)
        case 1:
            del value[key]
        case 2 if isinstance(value, list):
            value.insert(key, deepcopy(chance.choice(JUNK)))
        case _:
            value[key] = deepcopy(chance.choice(JUNK))


def reason(status: int, body: bytes) -> str | None:
    """Why an answer is not one that a mutated body may get."""
    if 200 <= status < 300:
        return None
    if not 400 <= status < 500:
        return f"status {status}: {body[:200]!r}"
    try:
        sentence = json.loads(body)["error"]
    except (ValueError, KeyError, TypeError):
        return f"status {status} without a sentence: {body[:200]!r}"
    fine = (
        isinstance(sentence, str)
        and sentence
        and "\n" not in sentence
        and "Traceback" not in sentence
    )
    return None if fine else f"status {status} with {sentence!r}"


async def sent(port: int, count: int, seed: int, clients: int = 8) -> Counter[str]:
    """How so many mutated bodies were answered, by status; AssertionError for an answer that may not be."""
    counts: Counter[str] = Counter()

    async def client(number: int) -> None:
        chance, line = random.Random(seed * 1000 + number), Client(port)
        for _ in range(count // clients):
            path, body = chance.choice(BODIES)
            content = mutated(body, chance)
            while (answer := await line.ask("POST", path, content)).status == 429:
                await asyncio.sleep(0.05)
            wrong = reason(answer.status, answer.body)
            assert wrong is None, f"{path}: {wrong} for {content!r}"
            counts[str(answer.status)] += 1
        line.close()

    await asyncio.gather(*(client(number) for number in range(clients)))
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        Running(Path(folder) / "jobs.sqlite", *OPTIONS) as service,
    ):
        print(dict(asyncio.run(sent(service.port, asked.count, asked.seed))))


if __name__ == "__main__":
    main()
