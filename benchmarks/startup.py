"""`python -m benchmarks.startup [--beside SRC | --first]`: what the command line takes to start, median of five runs.

On an idle machine `--help` should be under 0.25 s and `solve` of a file, once kernels are compiled, under 1.2 s. Where
others are at work, compare CPU seconds, or the ratio to another checkout, whose source folder is given by --beside; the
two take turns.

With --first: what the first `solve` of a file takes on a machine where nothing is compiled, and the same once more. The
difference, which is what compiling takes, should be under 10 s for each.
"""

import argparse
import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

import fairway

HERE = Path(__file__).parents[1] / "src"
EXAMPLE = HERE / "fairway" / "examples" / "couriers.csv"
RUNS = {
    "python -c pass": ["-c", "pass"],
    "fairway --help": ["-m", "fairway", "--help"],
    "fairway solve FILE": ["-m", "fairway", "solve", str(EXAMPLE)],
    "fairway solve": ["-m", "fairway", "solve"],
}


def taken(words: list[str], source: Path) -> tuple[float, float]:
    """Seconds by the clock and of the CPU, of one fresh process and those that it starts."""
    # As pip leaves an installation: bytecode is kept.
    environment = {
        name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
    }
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        [sys.executable, *words],
        env={**environment, "PYTHONPATH": str(source)},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    after, span = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - began
    return span, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def planned(stops: int) -> fairway.Instance:
    """Pickups and deliveries, windows, a capacity, a break and optional stops, around a random tour that keeps them."""
    random, nodes = np.random.default_rng(1), stops + 1
    points = random.uniform(0, 100, (nodes, 2))
    travel = np.linalg.norm(points[:, None] - points, axis=-1)
    passed = np.append(0.0, travel[np.arange(stops), np.arange(1, nodes)].cumsum())
    demand, prize = np.zeros(nodes), np.full(nodes, np.inf)
    demand[1], demand[2], prize[0], prize[3::4] = 2, -2, 0, 50
    opens, closes = np.maximum(passed - 100, 0), passed + 200
    opens[0], closes[0] = 0, passed[-1] + 1000
    rest = (passed[stops // 2], passed[-1], 20)
    return fairway.Instance(
        travel, opens=opens, closes=closes, load="signed", demand=demand, capacity=5,
        pairs=[(1, 2)], prize=prize, breaks=[rest],
    )  # fmt: skip


def firsts() -> dict[str, fairway.Instance]:
    """Files that somebody may bring first."""
    free = np.random.default_rng(1).uniform(1, 100, (31, 31))
    return {
        "5 stops, hard windows": fairway.generate("tsptw", n=6, hardness="hard", seed=1)[0],
        "15 stops, wide windows": fairway.generate("tsptw", n=16, hardness="easy", seed=1)[0],
        "15 ports": fairway.generate("tspdl", n=16, hardness="medium", seed=1)[0],
        "15 stops, all constraints": planned(15),
        "30 stops, a matrix alone": fairway.Instance(free),
        "30 stops, all constraints": planned(30),
    }


def first_times() -> None:
    """One row per file."""
    table = Table("file", box=box.SIMPLE)
    for name in ("first", "again", "compiling", "of that CPU"):
        table.add_column(f"{name}, s", justify="right")
    for name, instance in firsts().items():
        with TemporaryDirectory() as folder:
            source, file = Path(folder) / "src", Path(folder) / "file.json"
            unneeded = shutil.ignore_patterns("__pycache__", "*.safetensors")
            shutil.copytree(HERE / "fairway", source / "fairway", ignore=unneeded)
            subprocess.run([sys.executable, "-m", "compileall", "-q", source], check=True)
            fairway.write(instance, file)
            words = ["-m", "fairway", "solve", str(file)]
            os.environ.update(dict.fromkeys(("NUMBA_CACHE_DIR", "FAIRWAY_CACHE", "TMPDIR"), folder))
            (first, busy), (again, rest) = taken(words, source), taken(words, source)
            spans = (first, again, first - again, busy - rest)
            table.add_row(name, *(f"{span:.1f}" for span in spans))
    Console().print(table)


def main() -> None:
    """One row per command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--beside", type=Path, help="The src folder of another checkout.")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--first", action="store_true", help="Where nothing is compiled.")
    asked = parser.parse_args()
    if asked.first:
        return first_times()
    sources = [HERE] if asked.beside is None else [HERE, asked.beside.resolve()]
    table = Table("command", "source", box=box.SIMPLE)
    for name in ("seconds", "CPU seconds"):
        table.add_column(name, justify="right")
    for command, words in RUNS.items():
        for source in sources:
            taken(words, source)  # compiles what is not compiled yet
        rounds = [[taken(words, source) for source in sources] for _ in range(asked.runs)]
        for source, spans in zip(sources, zip(*rounds, strict=True), strict=True):
            clock, cpu = (median(values) for values in zip(*spans, strict=True))
            table.add_row(command, str(source), f"{clock:.2f}", f"{cpu:.2f}")
    return Console().print(table)


if __name__ == "__main__":
    main()
