"""`python -m benchmarks.masks`: what share of the shipped policy's greedy tours break a window, under which mask."""

import torch
from rich import box
from rich.console import Console
from rich.table import Table

from fairway.inference.model import load_model
from fairway.kernels.lookahead import PAIRS, MaskConfig
from fairway.problems.augment import symmetries
from fairway.problems.draw import draw
from fairway.problems.generate import DISTRIBUTIONS
from fairway.search.backtracking import build_with_backtracking
from fairway.search.decode import build
from fairway.train.losses import infeasible

COUNT = 200
KINDS = [("hard", 50), ("medium", 50), ("hard", 100), ("medium", 100)]
WAYS = {
    "one step": (build, MaskConfig()),
    "pairs": (build, MaskConfig(rule=PAIRS)),
    "pairs, with backtracking": (build_with_backtracking, MaskConfig(rule=PAIRS)),
}


@torch.no_grad()
def shares(hardness: str, nodes: int) -> list[float]:
    """Of the tours of all views, in percent, one figure a mask."""
    drawn = draw(DISTRIBUTIONS["tsptw", hardness], nodes, COUNT, torch.Generator().manual_seed(5))
    views = symmetries(drawn)
    pointer = load_model("general-tsptw").policy(views)
    return [
        100 * float(infeasible(built(views, pointer, guard)).float().mean())
        for built, guard in WAYS.values()
    ]


def main() -> None:
    """One column a kind of instances, one row a mask."""
    columns = [shares(*kind) for kind in KINDS]
    names = [f"{hardness}, n = {nodes}" for hardness, nodes in KINDS]
    table = Table("mask", *names, box=box.MARKDOWN)
    for way, figures in zip(WAYS, zip(*columns, strict=True), strict=True):
        table.add_row(way, *(f"{figure:.1f} %" for figure in figures))
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
