"""`python -m benchmarks.out_of_distribution [FILES]`: policies that ship, on instances unlike those of their training.

Each kind is decoded greedily over the eight symmetries; what counts is how many instances have a tour that the judge
accepts, and how much longer it is than what one second of `fairway.solve` finds without a policy. Files of instances
are a kind of their own, a folder each.
"""

import argparse
from collections.abc import Callable
from itertools import groupby
from pathlib import Path

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from fairway import generate, read, solve
from fairway.inference.config import DecodeConfig
from fairway.inference.model import Model, load_model
from fairway.inference.proposals import propose
from fairway.judge import Solution, verify
from fairway.problems.distances import euclidean
from fairway.problems.instance import TSPDL, TSPTW, Instance
from fairway.problems.sets import instance_set

Kind = Callable[[np.random.Generator], Instance]


def drawn(problem: str, hardness: str, nodes: int) -> Kind:
    """Of a published distribution."""
    return lambda rng: generate(
        problem, n=nodes, hardness=hardness, count=1, seed=int(rng.integers(1 << 31))
    )[0]


def _around(points: np.ndarray, rng: np.random.Generator, service: float) -> TSPTW:
    """Windows around a tour at random, so that there is one that keeps them."""
    travel = euclidean(points)
    order = 1 + rng.permutation(len(points) - 1)
    lasts = np.full(len(points), service)
    lasts[0] = 0.0
    at, here = np.zeros(len(points)), 0
    for stop in order:
        at[stop] = at[here] + lasts[here] + travel[here, stop]
        here = stop
    half = 3 * travel.mean() * (0.5 + rng.random(len(points)))
    opens, closes = np.maximum(at - half, 0.0), at + half
    opens[0], closes[0] = 0.0, closes.max() + travel.max() + service
    return TSPTW(travel, opens, closes, lasts, points)


def clustered(rng: np.random.Generator) -> TSPTW:
    """Five towns."""
    towns = 100 * rng.random((5, 2))
    points = towns[rng.integers(0, 5, 60)] + 4 * rng.standard_normal((60, 2))
    return _around(points, rng, service=0.0)


def in_seconds(rng: np.random.Generator) -> TSPTW:
    """A city in metres and seconds, ten minutes at every stop."""
    return _around(20_000 * rng.random((60, 2)), rng, service=600.0)


def one_way_streets(rng: np.random.Generator) -> TSPTW:
    """Travel that is up to a half longer, by chance and not the same there and back, and no coordinates."""
    whole = drawn("tsptw", "medium", 50)(rng)
    assert whole.timed
    longer = whole.travel * (1 + 0.5 * rng.random(whole.travel.shape))
    return TSPTW(longer, whole.opens, whole.closes * 1.1, 0.0)


def unequal_cargo(rng: np.random.Generator) -> TSPDL:
    """Demands of one to nine where the distribution has ones."""
    nodes = 60
    points = 100 * rng.random((nodes, 2))
    demand = np.array([0, *rng.integers(1, 10, nodes - 1)])
    order = 1 + rng.permutation(nodes - 1)
    draft = np.full(nodes, float(demand.sum()))
    draft[order[: nodes // 2]] = np.cumsum(demand[order])[: nodes // 2] + rng.integers(0, 60)
    return TSPDL(euclidean(points), demand, np.minimum(draft, demand.sum()), coordinates=points)


def _instance(path: Path) -> Instance:
    found = read(path)
    assert isinstance(found, Instance), f"{path} holds several instances"
    return found


KINDS: dict[str, Kind] = {
    "as in training: medium windows, 50 nodes": drawn("tsptw", "medium", 50),
    "medium windows, 20 nodes": drawn("tsptw", "medium", 20),
    "medium windows, 200 nodes": drawn("tsptw", "medium", 200),
    "towns, 60 nodes": clustered,
    "metres and seconds, service times, 60 nodes": in_seconds,
    "one-way streets, no coordinates, 50 nodes": one_way_streets,
    "as in training: medium drafts, 50 nodes": drawn("tspdl", "medium", 50),
    "medium drafts, 200 nodes": drawn("tspdl", "medium", 200),
    "unequal cargo, 60 nodes": unequal_cargo,
}


def best_of(model: Model, instance: Instance) -> float:
    """The cost of the best greedy tour that the judge accepts; infinite where there is none."""
    tours = propose(model, instance_set([instance]), DecodeConfig())[0]
    judged = [verify(instance, tour) for tour in tours]
    return min((one.cost for one in judged if isinstance(one, Solution)), default=np.inf)


def row(name: str, instances: list[Instance], models: dict[str, Model]) -> list[str]:
    """How many have a tour, and by how much it is longer."""
    found = np.array([best_of(models[one.problem], one) for one in instances])
    search = [solve(one, seconds=1.0, workers=1, policy=None) for one in instances]
    costs = np.array([np.inf if one.cost is None else one.cost for one in search])
    both = np.isfinite(found) & np.isfinite(costs)
    gap = f"{100 * (found[both] / costs[both] - 1).mean():.2f} %" if both.any() else "-"
    counts = f"{np.isfinite(found).sum()} of {len(found)}", f"{np.isfinite(costs).sum()}"
    return [name, *counts, gap]


def main() -> None:
    """Measure every kind and print one table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--count", type=int, default=20)
    asked = parser.parse_args()
    models = {problem: load_model(f"general-{problem}") for problem in ("tsptw", "tspdl")}
    table = Table(box=box.SIMPLE, title="greedy x 8, against one second of solve without a policy")
    for column in ("kind", "solved", "by solve", "gap to solve"):
        table.add_column(column, justify="left" if column == "kind" else "right")
    for name, kind in KINDS.items():
        rng = np.random.default_rng(7)
        table.add_row(*row(name, [kind(rng) for _ in range(asked.count)], models))
    for folder, paths in groupby(asked.files, lambda path: path.parent.name):
        table.add_row(*row(folder, [_instance(path) for path in paths], models))
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
