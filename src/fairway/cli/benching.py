"""The verbs `bench ...`: how fast the parts of Fairway are on this machine."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer
from typer import Option

if TYPE_CHECKING:
    from fairway.train.throughput import Pace

bench_app = typer.Typer(no_args_is_help=True)


@bench_app.callback()
def bench() -> None:
    """Measure the speed of this machine: train."""


@bench_app.command("train")
def bench_train(
    device: Annotated[Literal["auto", "cpu", "cuda"], Option(help="Device to run on")] = "auto",
) -> None:
    """Time training steps of POMO*+PIP with and without the mask: instances per second, phases, memory."""
    from fairway.cli import show
    from fairway.train.processes import device_named
    from fairway.train.throughput import REFERENCE, paces

    speed = (">nodes", ">batch x tours", ">mask", ">instances/s", ">authors' code")
    phases = (">step ms", ">draw", ">encode", ">rollout", ">gradient", ">memory GB", ">mask adds")
    table = show.table(*speed, *phases)
    unmasked: dict[int, Pace] = {}
    with show.progress() as progress:
        for pace in progress.track(paces(device_named(device)), description="measuring"):
            unmasked.setdefault(pace.nodes, pace)
            table.add_row(*_cells(pace, unmasked[pace.nodes], REFERENCE.get(pace.nodes)))
    show.out.print(table)


def _cells(pace: "Pace", unmasked: "Pace", reference: float | None) -> list[str]:
    """One size as text; the reference is the authors' code with its mask."""
    compared = pace.masked and reference is not None and pace.memory > 0  # theirs ran on a GPU
    spans = (pace.step, pace.draw, pace.encode, pace.rollout, pace.rest)
    return [
        str(pace.nodes),
        f"{pace.batch} x {pace.tours}",
        "1 step" if pace.masked else "none",
        f"{pace.instances:,.0f}",
        f"{pace.instances / reference:,.0f} x {reference:.0f}" if compared else "",
        *(f"{1e3 * span:.2f}" for span in spans),
        f"{pace.memory / 1e9:.1f}" if pace.memory else "",
        f"{100 * (pace.step / unmasked.step - 1):.1f} %" if pace.masked else "",
    ]
