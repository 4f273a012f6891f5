"""`python -m benchmarks.ants`: one iteration of ants with and without the mask, and how it grows with the nodes.

And what the local search around their tours takes on one core, from tours at random and from those that it leaves.
"""

import math
import time

import numpy as np
import torch
from rich import box
from rich.console import Console
from rich.table import Table

from fairway.kernels.lookahead import AUTHORS, MaskConfig
from fairway.kernels.moves.search_model import search_model_of
from fairway.policies.config import HeatmapConfig
from fairway.policies.heatmap import HeatmapNetwork
from fairway.problems.draw import draw
from fairway.problems.generate import DISTRIBUTIONS, generate
from fairway.problems.model import model_of
from fairway.search.ants import construct, cost_to_ants, log_weights, outlook_of, untouched
from fairway.search.polish import polish

ANTS = 100
SIZES = [100, 200, 500, 1000]
INSTANCES = {"cuda": 128, "cpu": 1}
GUARDS = {"none": MaskConfig("none"), "1 step": MaskConfig("ahead", AUTHORS)}


def seconds(nodes: int, device: str) -> tuple[dict[str, float], float]:
    """Of the network, and of an iteration under each mask from noise to new pheromone; and gigabytes at the peak."""
    count = INSTANCES[device]
    generator = torch.Generator(device).manual_seed(1)
    batch = draw(DISTRIBUTIONS["tsptw", "medium"], nodes, count, generator)
    network = HeatmapNetwork(HeatmapConfig()).to(device).eval()
    taken: dict[str, float] = {}
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    with torch.no_grad():
        heuristic = timed(lambda: network(batch).log_heuristic(), "network", taken, device)
        for name, guard in GUARDS.items():

            def iteration(guard: MaskConfig = guard) -> torch.Tensor:
                noise = torch.rand(count, ANTS, nodes - 1, generator=generator, device=device)
                look = outlook_of(batch, guard, ANTS)
                built = construct(batch, look, log_weights(heuristic, untouched(batch)), noise)
                return untouched(batch).after(built.tours, cost_to_ants(batch, built)).amount

            timed(iteration, name, taken, device)
    peak = torch.cuda.max_memory_allocated() / 1e9 if device == "cuda" else 0.0
    return taken, peak


def timed(work, name: str, taken: dict[str, float], device: str) -> torch.Tensor:
    """The result of a second call, and how long it took."""
    work()
    if device == "cuda":
        torch.cuda.synchronize()
    began = time.perf_counter()
    result = work()
    if device == "cuda":
        torch.cuda.synchronize()
    taken[name] = time.perf_counter() - began
    return result


def milliseconds_of_search(nodes: int) -> tuple[float, float]:
    """For a tour at random, and for one that was searched before."""
    count = 20 if nodes <= 200 else 5
    random = np.random.default_rng(0)
    instances = generate("tsptw", n=nodes, hardness="medium", count=2, seed=1)
    search_models = [search_model_of(model_of(instance)) for instance in instances]
    tours = np.stack(
        [[1 + random.permutation(nodes - 1) for _ in range(count)] for _ in search_models]
    )
    polish(search_models, tours[:, :1])  # compiled now
    taken = []
    for _ in range(2):
        began = time.perf_counter()
        tours = polish(search_models, tours)
        taken.append(1e3 * (time.perf_counter() - began) / (count * len(search_models)))
    return taken[0], taken[1]


def main() -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    table = Table(
        "nodes", "network s", "no mask s", "mask s", "ms an ant", "growth since the row before", "GB",
        box=box.MARKDOWN, title=f"{INSTANCES[device]} x {ANTS} ants, medium TSPTW, {device}",
    )  # fmt: skip
    before: tuple[int, float] | None = None
    for nodes in SIZES:
        taken, peak = seconds(nodes, device)
        masked = taken["1 step"]
        growth = "-"
        if before is not None:
            growth = f"n^{math.log(masked / before[1]) / math.log(nodes / before[0]):.2f}"
        before = nodes, masked
        an_ant = 1e3 * masked / (ANTS * INSTANCES[device])
        figures = (taken["network"], taken["none"], masked, an_ant)
        table.add_row(str(nodes), *(f"{figure:.3f}" for figure in figures), growth, f"{peak:.1f}")
    Console(width=120).print(table)
    search = Table(
        "nodes", "ms from a tour at random", "ms from a good tour",
        box=box.MARKDOWN, title="local search of a tour, medium TSPTW, one core",
    )  # fmt: skip
    for nodes in [50, *SIZES]:
        search.add_row(str(nodes), *(f"{figure:.2f}" for figure in milliseconds_of_search(nodes)))
    Console(width=120).print(search)


if __name__ == "__main__":
    main()
