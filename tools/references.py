"""`python tools/references.py BED ... [--count N] [--seconds S] [--engine ray]`: make or better reference tours.

What is proved optimal is left alone, and a tour is only ever replaced by a better one. About every minute what is done
is saved, so a run that was stopped goes on where it was, and a longer budget betters what a shorter one left.
"""

import argparse
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import numpy as np
from rich.progress import track

from fairway import load_bed
from fairway.evaluate.references import FOLDER, Shipped, read_shipped, write_shipped
from fairway.problems.sets import InstanceSet
from fairway.scale.engine import Engine
from fairway.scale.executor import Executor
from fairway.scale.spread import solved_on
from fairway.solver.request import Request
from fairway.solver.solving import job_of
from fairway.solver.warm_start import choice_of

AT_MOST = 500
A_GROUP = 60.0
"""Seconds of one core that are lost at worst when a run is stopped."""


def better(
    executor: Executor, instances: InstanceSet, indices: list[int], seconds: float, shipped: Shipped
) -> None:
    """Search for these tours, from the ones that are there; zeros where there are none yet."""
    plans = [shipped.tour[i].tolist() if shipped.tour[i].any() else None for i in indices]
    request = Request(seconds, policy=choice_of("auto"))
    results = solved_on(executor, job_of([instances[i] for i in indices], request, plans))
    for index, result in zip(indices, results, strict=True):
        if result.tour is None:
            raise SystemExit(f"{instances.name}, instance {index}: {result.reason}")
        shipped.tour[index] = result.tour
        shipped.proved[index] = result.status == "optimal"


def begun(instances: InstanceSet, count: int, path: Path, seconds: float) -> Shipped:
    """What there is so far, with room for the rest."""
    made_by = (
        f"fairway {version('fairway')}, python tools/references.py {instances.name} "
        f"--count {count} --seconds {seconds:g}"
    )
    tour, proved = np.zeros((count, instances.nodes - 1), np.int64), np.zeros(count, bool)
    if path.exists():
        old = read_shipped(instances, path)
        if len(old.tour) > count:
            raise SystemExit(
                f"{path}: already holds {len(old.tour)} tours; expected a count no lower"
            )
        tour[: len(old.tour)], proved[: len(old.tour)] = old.tour, old.proved
    return Shipped(tour, proved, made_by)


def main() -> None:
    """Go through the beds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("beds", nargs="+")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--engine", choices=["local", "ray"], default="local")
    parser.add_argument("--workers", type=int)
    parser.add_argument("--address")
    asked = parser.parse_args()
    with Engine(asked.engine, asked.workers, asked.address).opened() as executor:
        for bed in asked.beds:
            one(executor, bed, asked.count, asked.seconds)


def one(executor: Executor, bed: str, count: int, seconds: float) -> None:
    """Better the references of a bed."""
    instances, path = load_bed(bed), FOLDER / f"{bed}.npz"
    shipped = begun(instances, min(count, len(instances)), path, seconds)
    still = np.flatnonzero(~shipped.proved).tolist()
    missing = (~shipped.tour.any(axis=1)).sum()
    together = min(AT_MOST, max(1, round(A_GROUP / seconds)))
    for first in track(range(0, len(still), together), description=bed):
        better(executor, instances, still[first : first + together], seconds, shipped)
        whole = shipped.tour.any(axis=1)
        done = len(whole) if whole.all() else int(whole.argmin())
        write_shipped(
            instances,
            path,
            replace(shipped, tour=shipped.tour[:done], proved=shipped.proved[:done]),
        )
    size = f"{path.stat().st_size:,} bytes"
    print(f"{bed}: {shipped.proved.sum()} of {len(shipped.proved)} proved, {missing} new, {size}")


if __name__ == "__main__":
    main()
