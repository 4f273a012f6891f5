"""VROOM problems with one vehicle, drawn at random, solved by VROOM and by `/vroom`, ranked as VROOM ranks plans.

python -m benchmarks.service.vroom --count 100 --seconds 3 --seed 0
"""

import argparse
import json
import random
import tempfile
from pathlib import Path

import vroom

from benchmarks.service.rules import faults
from benchmarks.service.running import Running


def drawn(seed: int, stops: int = 14) -> dict:
    """Jobs and shipments with service, priorities and several windows, more than fit into the hours.

    In every second problem deliveries are aboard from the start beside loads that come and go.
    """
    rng = random.Random(seed)
    jobs, shipments = rng.randint(3, stops), rng.randint(0, 4)
    places = 1 + jobs + 2 * shipments
    points = [(rng.randint(0, 1000), rng.randint(0, 1000)) for _ in range(places)]
    durations = [
        [round(((a - c) ** 2 + (b - d) ** 2) ** 0.5) for c, d in points] for a, b in points
    ]
    for row in durations:  # one-way streets
        for at in range(places):
            row[at] += rng.randint(0, 40) if row[at] else 0
    horizon = rng.randint(2000, 7000)
    numbers = iter(range(1, places))

    def step(at: int) -> dict:
        told = {"id": at, "location_index": at, "service": rng.randint(0, 200)}
        if rng.random() < 0.6:
            edges = sorted(rng.sample(range(horizon), 2 * rng.choice([1, 1, 2, 3])))
            told["time_windows"] = [[a, b] for a, b in zip(edges[::2], edges[1::2], strict=True)]
        return told

    mixed = seed % 2 == 1
    amount = {"delivery": mixed or not shipments, "pickup": mixed or bool(shipments)}
    tasks = []
    for _ in range(jobs):
        job = step(next(numbers))
        job |= {key: [rng.randint(0, 3)] for key, wanted in amount.items() if wanted}
        if rng.random() < 0.5:
            job["priority"] = rng.choice([1, 5, 10, 60])
        tasks.append(job)
    pairs = []
    for _ in range(shipments):
        pair = {"amount": [rng.randint(1, 4)]}
        pair |= {key: step(next(numbers)) for key in ("pickup", "delivery")}
        if rng.random() < 0.5:
            pair["priority"] = rng.choice([1, 5, 10, 60])
        pairs.append(pair)
    carried = sum(job.get("delivery", [0])[0] for job in tasks)
    vehicle = {"id": 7, "start_index": 0, "time_window": [0, horizon]}
    vehicle["capacity"] = [max(carried, 4) + rng.randint(0, 6)]
    if rng.random() < 0.8:
        vehicle["end_index"] = 0
    problem = {"vehicles": [vehicle], "jobs": tasks, "matrices": {"car": {"durations": durations}}}
    return problem | ({"shipments": pairs} if pairs else {})


def by_vroom(problem: dict, exploration: int = 5) -> dict:
    """VROOM's own solution."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "problem.json"
        file.write_text(json.dumps(problem))
        return vroom.Input.from_json(file).solve(exploration, nb_threads=1).to_dict()


def rank(solution: dict) -> tuple[int, int, int]:
    """What VROOM minimises: priorities first, then tasks that are left out, then the cost."""
    summary = solution["summary"]
    return -summary["priority"], summary["unassigned"], summary["cost"]


def shape(value: object, path: str = "") -> set[str]:
    """The keys of a document, wherever they stand."""
    if isinstance(value, dict):
        inner = [shape(each, f"{path}.{key}") for key, each in value.items()]
        return {f"{path}.{key}" for key in value}.union(*inner)
    if isinstance(value, list):
        return set().union(*(shape(each, f"{path}[]") for each in value))
    return set()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--seed", type=int, default=0, help="Seed of the first problem")
    asked = parser.parse_args()
    better, worse = 0, {"one kind of load": [], "both kinds": []}
    with tempfile.TemporaryDirectory() as folder, Running(Path(folder) / "jobs.sqlite") as service:
        for seed in range(asked.seed, asked.seed + asked.count):
            problem = drawn(seed)
            ours = service.ask("POST", f"/vroom?seconds={asked.seconds}", problem).json()
            assert not (found := faults(problem, ours)), f"problem {seed}: {found}"
            mine, theirs = rank(ours), rank(by_vroom(problem))
            better += mine < theirs
            if mine > theirs:
                worse["both kinds" if seed % 2 else "one kind of load"].append(seed)
    print(f"{asked.count} problems, {asked.seconds:g} s each: better {better}, worse {worse}")


if __name__ == "__main__":
    main()
