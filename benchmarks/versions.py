"""`python -m benchmarks.versions --beside SRC`: the tables at 0.1 s and 1 s of this checkout beside those of another.

The same instances of all published beds, the same seconds, one process each on a core of its own, at the same time;
halfway they change cores. Tours are judged by this checkout. A difference counts where it is more than two standard
errors of the paired differences away from zero.
"""

import argparse
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
from rich import box
from rich.console import Console
from rich.progress import track
from rich.table import Table

from fairway.judge import Solution, verify
from fairway.problems.beds import beds, load_bed
from fairway.problems.sets import InstanceSet

HERE = Path(__file__).parents[1] / "src"
ANSWER = """
import functools, json, os, sys
import fairway
load_bed = functools.cache(fairway.load_bed)
for line in sys.stdin:
    bed, number, seconds, core = json.loads(line)
    os.sched_setaffinity(0, {core})
    tour = fairway.solve(load_bed(bed)[number], seconds=seconds, workers=1, policy=None).tour
    print(json.dumps(tour), flush=True)
"""


@cache
def bed_of(name: str) -> InstanceSet:
    """The instances of a bed, loaded once."""
    return load_bed(name)


class Version:
    """A process that solves what it is told to with the sources of one checkout."""

    def __init__(self, source: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", ANSWER],
            env={**os.environ, "PYTHONPATH": str(source)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, *question: object) -> None:
        """Begin with an instance."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()

    def answer(self) -> list[int] | None:
        """The tour, once it is there."""
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())


def costs(
    versions: list[Version], bed: str, number: int, seconds: float, cores: list[int]
) -> list[float]:
    """What the tours of one instance cost by the judge; infinite without one that it accepts."""
    for version, core in zip(versions, cores, strict=True):
        version.ask(bed, number, seconds, core)
    tours = [version.answer() for version in versions]
    instance = bed_of(bed)[number]
    judged = [None if tour is None else verify(instance, tour) for tour in tours]
    return [each.cost if isinstance(each, Solution) else float("inf") for each in judged]


def main() -> None:
    """One row per bed and budget."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--beside", type=Path, required=True, help="src folder of another checkout")
    parser.add_argument("--beds", nargs="+", help="by default all published ones")
    parser.add_argument("--count", type=int, default=40, help="instances per bed")
    parser.add_argument("--seconds", type=float, nargs="+", default=[0.1, 1.0])
    asked = parser.parse_args()
    versions = [Version(HERE), Version(asked.beside.resolve())]
    cores = sorted(os.sched_getaffinity(0))[:2]
    table = Table("bed", "seconds", "no tour", "theirs", box=box.SIMPLE)
    for name in ("mean cost", "theirs", "difference %", "standard error"):
        table.add_column(name, justify="right")
    names = asked.beds or [name for name, bed in beds().items() if bed.published]
    for name in names:
        costs(versions, name, 0, 0.1, cores)  # compiled, loaded and warm
    for name in track(names, console=Console(stderr=True)):
        for seconds in asked.seconds:
            rows = []
            for number in range(min(asked.count, len(bed_of(name)))):
                order = cores if number % 2 == 0 else cores[::-1]
                rows.append(costs(versions, name, number, seconds, order))
            found = np.array(rows)
            both = found[np.isfinite(found).all(axis=1)]
            apart = 100 * (both[:, 0] / both[:, 1] - 1)
            table.add_row(
                name,
                f"{seconds:g}",
                *(str(int(np.isinf(column).sum())) for column in found.T),
                *(f"{mean:.3f}" for mean in both.mean(axis=0)),
                f"{apart.mean():+.3f}",
                f"{apart.std(ddof=1) / len(apart) ** 0.5:.3f}",
            )
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
