"""`python -m benchmarks.ordering`: the paper's models after equal minutes of training, on held-out instances.

Each recipe is trained in a folder of its own below --out (an unfinished one is resumed), then scored greedily over the
eight symmetries with the mask its paper row uses. Meant for a GPU: `--minutes 3` there is what docs/training.md shows.
"""

import argparse
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from fairway.recipes import recipe_named
from fairway.train.loop import Budget
from fairway.train.session import Finished, train_recipe
from fairway.train.snapshot import holds_a_run

MODELS = ("pomo", "pomo-star", "pomo-star-pip", "pomo-star-pip-d", "fairway")


def trained(name: str, out: Path, minutes: float, device: str) -> Finished:
    """Train, or go on training, until the minutes are spent."""
    folder = out / name
    events = train_recipe(
        recipe_named(name),
        folder,
        Budget(minutes=minutes),
        resume=holds_a_run(folder),
        device=device,
    )
    *_, end = events
    assert isinstance(end, Finished)
    return end


def main() -> None:
    """Train what is asked for and print one table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="+", default=MODELS)
    parser.add_argument("--task", default="tsptw50-hard")
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--out", type=Path, default=Path("runs/ordering"))
    parser.add_argument("--device", default="auto")
    asked = parser.parse_args()
    table = Table(box=box.SIMPLE, title=f"{asked.task}, {asked.minutes:g} minutes of training each")
    for column in ("recipe", "instances", "Sol. infeasible %", "Inst. infeasible %", "length"):
        table.add_column(column, justify="left" if column == "recipe" else "right")
    for model in asked.models:
        name = f"{model}-{asked.task}"
        end = trained(name, asked.out, asked.minutes, asked.device)
        score = end.score
        figures = ("-",) * 3
        if score is not None:
            figures = (
                f"{score.sol_infeasible:.2f}", f"{score.inst_infeasible:.2f}", f"{score.length:.4f}"
            )  # fmt: skip
        table.add_row(name, f"{end.instances:,}", *figures)
        Console(width=100).print(table)


if __name__ == "__main__":
    main()
