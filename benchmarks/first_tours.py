"""`python -m benchmarks.first_tours`: what a shipped policy's first tours are worth to `solve` at equal seconds.

Instances are drawn, medium and hard by turns. Each is solved with the policy and without it, one after the other.
"""

import argparse

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from fairway import generate, solve


def differences(problem: str, nodes: int, count: int, seconds: float) -> np.ndarray:
    """By how much the policy changes the cost of each instance, in percent; NaN where either finds no tour."""
    found = []
    for number in range(count):
        hardness = ("medium", "hard")[number % 2]
        one = generate(problem, n=nodes, hardness=hardness, count=1, seed=900 + number)[0]
        costs = [
            solve(one, seconds=seconds, workers=1, policy=policy).cost
            for policy in (None, f"general-{problem}")
        ]
        plain, guided = (np.nan if cost is None else cost for cost in costs)
        found.append(100 * (guided / plain - 1))
    return np.array(found)


def main() -> None:
    """One row per size: the mean difference and its standard error."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problem", choices=["tsptw", "tspdl"], default="tspdl")
    parser.add_argument("--nodes", type=int, nargs="+", default=[100, 200, 300, 500])
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=1.0)
    asked = parser.parse_args()
    solve(generate(asked.problem, n=20, hardness="hard", count=1)[0], seconds=0.1)
    table = Table("nodes", "difference", "standard error", box=box.MARKDOWN)
    for nodes in asked.nodes:
        found = differences(asked.problem, nodes, asked.count, asked.seconds)
        spread = found.std(ddof=1) / np.sqrt(len(found))
        table.add_row(f"{nodes}", f"{found.mean():+.2f} %", f"{spread:.2f} %")
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
