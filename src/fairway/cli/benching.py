"""The verbs `bench ...`: how fast the parts of Fairway are on this machine."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer
from typer import Option

if TYPE_CHECKING:
    from fairway.train.throughput import Throughput

bench_app = typer.Typer(no_args_is_help=True)


@bench_app.callback()
def bench() -> None:
    """Measure how fast this machine trains policies."""


@bench_app.command("train")
def bench_train(
    device: Annotated[Literal["auto", "cpu", "cuda"], Option(help="Device to run on")] = "auto",
) -> None:
    """Time training steps of POMO*+PIP with and without the mask: instances per second, phases, memory."""
    from fairway.cli import show
    from fairway.train.processes import device_named
    from fairway.train.throughput import REFERENCE, throughputs

    speed = (">nodes", ">batch x tours", ">mask", ">instances/s", ">authors' code")
    phases = (">step ms", ">draw", ">encode", ">rollout", ">gradient", ">memory GB", ">mask adds")
    table = show.table(*speed, *phases)
    unmasked: dict[int, Throughput] = {}
    with show.progress() as progress:
        for found in progress.track(throughputs(device_named(device)), description="measuring"):
            unmasked.setdefault(found.nodes, found)
            table.add_row(*_cells(found, unmasked[found.nodes], REFERENCE.get(found.nodes)))
    show.out.print(table)


def _cells(found: "Throughput", unmasked: "Throughput", reference: float | None) -> list[str]:
    """One size as text; the reference is the authors' code with its mask."""
    compared = found.masked and reference is not None and found.memory > 0  # theirs ran on a GPU
    spans = (found.step, found.draw, found.encode, found.rollout, found.rest)
    return [
        str(found.nodes),
        f"{found.batch} x {found.tours}",
        "1 step" if found.masked else "none",
        f"{found.instances:,.0f}",
        f"{found.instances / reference:,.0f} x {reference:.0f}" if compared else "",
        *(f"{1e3 * span:.2f}" for span in spans),
        f"{found.memory / 1e9:.1f}" if found.memory else "",
        f"{100 * (found.step / unmasked.step - 1):.1f} %" if found.masked else "",
    ]
