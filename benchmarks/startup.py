"""`python -m benchmarks.startup [--beside SRC]`: what the command line takes to start, the median of five runs.

On an idle machine `--help` should be under 0.25 s and `solve` of a file, once kernels are compiled, under 1.2 s. Where
others are at work, compare CPU seconds, or the ratio to another checkout, whose source folder is given by --beside; the
two take turns.
"""

import argparse
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

from rich import box
from rich.console import Console
from rich.table import Table

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


def main() -> None:
    """One row per command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--beside", type=Path, help="The src folder of another checkout.")
    parser.add_argument("--runs", type=int, default=5)
    asked = parser.parse_args()
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
    Console().print(table)


if __name__ == "__main__":
    main()
