"""`python -m benchmarks`: what the foundation costs, on the CPU and, where there is one, on the GPU."""

import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from rich import box
from rich.console import Console
from rich.table import Table

from fairway.judge import Solution, verify
from fairway.problems.beds import bed_named, digests, draw_bed, load_bed
from fairway.problems.draw import draw
from fairway.problems.generate import DISTRIBUTIONS, LoweredDrafts, TourWindows, generate

COUNT, NODES = 2_000, 50


def seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """The best of a few runs, which is what a noisy machine tells most reliably."""
    spans = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        spans.append(time.perf_counter() - start)
    return min(spans)


def one_by_one_windows(distribution: TourWindows) -> np.ndarray:
    """Hard windows the way the authors' generator works: a permutation drawn for each instance in turn."""
    closes = np.zeros((COUNT, NODES))
    points = torch.rand(COUNT, NODES, 2) * distribution.side
    for index in range(COUNT):
        tour = torch.cat([torch.zeros(1, dtype=torch.long), torch.randperm(NODES - 1) + 1])
        arrivals = points[index, tour].diff(dim=0).norm(dim=-1).cumsum(0)
        closes[index, tour[1:]] = (arrivals + distribution.eta * torch.rand(NODES - 1)).numpy()
    return closes


def one_by_one_drafts(distribution: LoweredDrafts) -> np.ndarray:
    """Draft limits the way the authors' generator works: rejection for each instance in turn."""
    lowered = distribution.lowered(NODES)
    draft = np.full((COUNT, NODES), NODES - 1.0)
    for index in range(COUNT):
        ports = np.random.choice(range(1, NODES), lowered, replace=False)  # noqa: NPY002 - as they do
        while True:
            drafts = torch.randint(1, NODES - 1, (lowered,))
            counts = torch.cumsum(torch.bincount(drafts), 0)
            if (counts <= torch.arange(len(counts))).all():
                break
        draft[index, ports] = drafts
    return draft


def generators(table: Table) -> None:
    """How much faster whole sets are drawn than one instance after the other."""
    devices = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
    loops = {("tsptw", "hard"): one_by_one_windows, ("tspdl", "hard"): one_by_one_drafts}
    for (problem, hardness), loop in loops.items():
        distribution = DISTRIBUTIONS[problem, hardness]
        slow = seconds(partial(loop, distribution), repeats=1)
        paths = {
            "numpy": partial(generate, problem, n=NODES, hardness=distribution, count=COUNT, seed=1)
        }
        for device in devices:
            paths[f"torch, {device}"] = partial(_drawn, distribution, device)
        for name, way in paths.items():
            way()
            table.add_row(
                f"generate {problem} {hardness}, {COUNT:,} x {NODES}, {name}",
                f"{slow / seconds(way):,.0f} x faster than one by one",
            )


def _drawn(distribution: TourWindows | LoweredDrafts, device: str) -> None:
    draw(distribution, NODES, COUNT, torch.Generator(device).manual_seed(1))
    if device == "cuda":
        torch.cuda.synchronize()


def beds(table: Table) -> None:
    """Drawing a bed anew against loading it, and what it takes in memory."""
    bed = bed_named("tsptw100-hard")
    assert digests(draw_bed(bed)) == bed.sha256, "a wrong bed is not worth timing"
    load_bed(bed.name)
    anew, cached = seconds(lambda: draw_bed(bed)), seconds(lambda: load_bed(bed.name))
    table.add_row(
        f"bed {bed.name}, from the cache", f"{anew / cached:.0f} x faster than drawn anew"
    )
    tracemalloc.start()
    held = load_bed(bed.name)
    size = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    matrices = len(held) * held.nodes**2 * 8
    table.add_row(
        f"bed {bed.name}, in memory",
        f"{size / 1e6:.0f} MB, {matrices / size:.0f} x less than with matrices",
    )


def judge(table: Table) -> None:
    """What judging costs beside making the instance to be judged."""
    drafts = load_bed("tspdl50-hard")[:1000]
    tours = [1 + np.argsort(draft[1:], kind="stable") for draft in drafts.draft]
    made = list(drafts)
    assert all(isinstance(verify(i, t), Solution) for i, t in zip(made, tours, strict=True))
    making = seconds(lambda: list(drafts))
    judging = seconds(lambda: [verify(i, t) for i, t in zip(made, tours, strict=True)])
    table.add_row(
        "judge 1,000 tours of 49 stops",
        f"{judging / making:.1f} x the time of making the instances",
    )


def help_page(table: Table) -> None:
    """The help page beside an interpreter that does nothing."""
    bare = seconds(lambda: subprocess.run([sys.executable, "-c", ""], check=True), repeats=7)
    command = [sys.executable, "-m", "fairway", "--help"]
    page = seconds(lambda: subprocess.run(command, check=True, capture_output=True), repeats=7)
    table.add_row("fairway --help", f"{page:.2f} s, {page / bare:.1f} x a bare interpreter")


if __name__ == "__main__":
    results = Table("what", "measured", box=box.SIMPLE)
    for measure in (help_page, beds, judge, generators):
        measure(results)
    Console(width=120).print(results)
