"""`python -m benchmarks.exact [--limit N] [--seconds S] [NAMES...]`: proofs per second, labels and seconds per proof.

Every tour is judged, and a proof that disagrees with the reference ends the run: a wrong answer is not worth timing.
"""

import argparse
import json
import math
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from fairway.judge import Rejection, Solution, verify
from fairway.problems.beds import load_bed
from fairway.problems.files import read
from fairway.problems.instance import Instance
from fairway.search.exact import Objective, Proof, prove, warm

SHARED = Path(__file__).parents[2] / "shared"
BEDS = {"tsptw50-hard": 2_000, "tsptw100-hard": 2_000, "tsptw50-medium": 100}
"""How many instances of each are proved by default."""
LIBRARIES = {
    "tsptw/Dumas": ".txt",
    "tsptw/AFG": ".txt",
    "tsptw/SolomonPotvinBengio": ".txt",
    "tspdl/rakke": ".dat",
}
COLUMNS = ("what", "instances", "proved", "a second", "labels", "most", "median", "longest")


def bed(name: str) -> Iterator[tuple[Instance, float, bool]]:
    """Instances of a bed; a published tour that breaks a window is no reference."""
    published = np.load(SHARED / "beds" / f"lkh-{name}.npz")
    tours, costs = published["tour"], published["cost"]
    for index, instance in enumerate(load_bed(name)):
        kept = math.isfinite(costs[index])
        kept = kept and not isinstance(verify(instance, tours[index].tolist()), Rejection)
        yield instance, float(costs[index]) if kept else math.inf, False


def library(family: str, objective: Objective) -> Iterator[tuple[Instance, float, bool]]:
    """The instances of a family with what their best tours cost; drafts and Dumas have proven optima."""
    folder = SHARED / "bench" / family
    for name, best in json.loads((folder / "best_known.json").read_text()).items():
        cost = best["makespan"] if objective == "makespan" else best.get("cost_exact", best["cost"])
        yield read(folder / f"{name}{LIBRARIES[family]}"), float(cost), True


def check(instance: Instance, proof: Proof, best: float, exact: bool, objective: Objective) -> None:
    """End the run on a wrong answer."""
    slack = 1e-6 * best if math.isfinite(best) else 0.0
    if proof.tour is not None:
        judged = verify(instance, proof.tour)
        assert isinstance(judged, Solution), instance.name
        assert (judged.makespan if objective == "makespan" else judged.cost) == proof.cost
    assert proof.lower_bound <= best + slack, instance.name
    if proof.status == "optimal":
        assert proof.cost <= best + slack, instance.name
        assert not exact or proof.cost >= best - slack, instance.name


def row(name: str, cases: list[tuple[Instance, float, bool]], seconds: float) -> list[str]:
    """What it took to prove these."""
    objective: Objective = "makespan" if name.endswith("makespan") else "travel"
    began = time.process_time()
    proofs = [prove(case[0], seconds=seconds, objective=objective) for case in cases]
    spent = time.process_time() - began
    for case, proof in zip(cases, proofs, strict=True):
        check(case[0], proof, *case[1:], objective)
    labels = np.array([proof.statistics.kept for proof in proofs])
    times = np.array([proof.statistics.seconds for proof in proofs])
    proved = sum(proof.status == "optimal" for proof in proofs)
    figures = (f"{np.median(labels):,.0f}", f"{labels.max():,}")
    pace = (f"{1e3 * np.median(times):,.1f} ms", f"{times.max():,.2f} s")
    return [name, f"{len(cases):,}", f"{proved:,}", f"{len(cases) / spent:,.1f}", *figures, *pace]


def main() -> None:
    """Print one row for each bed or family."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.exact", description=__doc__)
    families = {**LIBRARIES, "tsptw/Dumas makespan": ".txt"}
    parser.add_argument("names", nargs="*", metavar="NAMES", help=", ".join([*BEDS, *families]))
    parser.add_argument("--limit", type=int, help="instances of each, the first ones")
    parser.add_argument("--seconds", type=float, default=20.0, help="of one proof, at most")
    asked = parser.parse_args()
    warm()
    table = Table(*COLUMNS, box=box.SIMPLE, title="Exact search, one core, CPU time")
    for name in asked.names or [*BEDS, *families]:
        family = name.removesuffix(" makespan")
        cases = (
            bed(name)
            if name in BEDS
            else library(family, "makespan" if family != name else "travel")
        )
        table.add_row(*row(name, list(islice(cases, asked.limit or BEDS.get(name))), asked.seconds))
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
