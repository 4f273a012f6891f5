"""The verb `train`: a recipe becomes a run in a folder, with a live panel on terminals and plain lines elsewhere."""

import math
import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from fairway.cli import ANSWERED, INTERRUPTED
from fairway.errors import FairwayError, InvalidRequest

if TYPE_CHECKING:
    from rich.panel import Panel

    from fairway.train.loop import Budget
    from fairway.train.session import Config, Event, Finished, Record, Validation

LINE_EVERY = 10.0
"""Seconds of training between the lines that stand in for the panel where there is no terminal."""
JOURNAL, JOURNAL_EVERY = "train.log", 60.0
"""The file in a run's folder that has such lines too, and the seconds of training between them."""

PHASES = {"warm": "baseline warm-up"}
"""Of training, where their names alone say too little."""


def train(
    recipe: Annotated[
        str, typer.Argument(help="Name of a recipe, such as fairway-tsptw20-hard; see --list")
    ] = "",
    minutes: Annotated[float | None, typer.Option(help="Length of the run in minutes")] = None,
    instances: Annotated[int | None, typer.Option(help="Length of the run in instances")] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Train for the recipe's own length, often days")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the run (default: runs/RECIPE)")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the run in that folder")
    ] = False,
    start: Annotated[
        Path | None, typer.Option("--from", help="Checkpoint whose weights to start from")
    ] = None,
    device: Annotated[
        Literal["auto", "cpu", "cuda"], typer.Option(help="Where the policy trains")
    ] = "auto",
    batch: Annotated[int | None, typer.Option(help="Number of instances per step")] = None,
    epoch: Annotated[
        int | None, typer.Option(help="Number of instances per epoch, the unit of schedules")
    ] = None,
    threads: Annotated[
        int | None, typer.Option(help="Number of CPU threads (default: all cores)")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Random seed (default: the recipe's)")] = None,
    names: Annotated[bool, typer.Option("--list", help="Print the recipes and exit")] = False,
) -> None:
    """Train a policy by a recipe; Ctrl-C saves, --resume continues. Under torchrun, on several devices."""
    if names:
        from fairway.recipes import recipe_names

        print("\n".join(recipe_names()))
        raise typer.Exit(ANSWERED)
    if not recipe:
        raise InvalidRequest("which recipe? name one; fairway train --list prints the usual ones")
    if minutes is not None and not minutes > 0:
        raise InvalidRequest(f"--minutes is {minutes:g}; expected more than 0")
    _check_positive(instances=instances, epoch=epoch, threads=threads)
    if seed is not None and seed < 0:
        raise InvalidRequest(f"--seed is {seed}; expected 0 or more")
    if resume and start is not None:
        raise InvalidRequest("a resumed run has its own weights; leave out --from or --resume")
    from fairway.train.session import train_recipe

    given = {"batch": batch, "epoch": epoch, "seed": seed}
    config = _config(recipe, given, weights=start is not None or resume)
    folder = out or Path("runs") / recipe
    budget = _budget(config, minutes, instances, full, resume)
    again = resume_command(recipe, folder, {**given, "threads": threads})
    events = train_recipe(
        config, folder, budget, resume=resume, device=device, start=start, threads=threads
    )
    end = _shown(config, events, folder, again)
    if end is not None:
        print(end.out / "policy.json")
        raise typer.Exit(INTERRUPTED if end.interrupted else ANSWERED)


def _check_positive(**options: int | None) -> None:
    """Refuse options below one by their names."""
    for name, value in options.items():
        if value is not None and value < 1:
            raise InvalidRequest(f"--{name} is {value}; expected 1 or more")


def _config(recipe: str, given: Mapping[str, int | None], weights: bool) -> "Config":
    from fairway.recipes import needs_weights, recipe_named

    config = recipe_named(recipe)
    if needs_weights(recipe) and not weights:
        raise InvalidRequest(f"{recipe} starts from a trained policy; name it with --from")
    changes: dict[str, Any] = {name: it for name, it in given.items() if it is not None}
    return replace(config, **changes)


def _budget(
    config: "Config", minutes: float | None, instances: int | None, full: bool, resume: bool
) -> "Budget | None":
    """How long to train; None for as long as a resumed run was begun with."""
    from fairway.train.loop import Budget

    limited = minutes is not None or instances is not None
    if full and limited:
        raise InvalidRequest(
            "--full is the recipe's own length; leave out --minutes and --instances"
        )
    if not (full or limited or resume):
        raise InvalidRequest(
            f"how long? give --minutes, --instances, or --full for all {config.instances:,} instances of the recipe"
        )
    return Budget(instances, minutes) if full or limited else None


def resume_command(recipe: str, folder: Path, given: Mapping[str, int | None]) -> str:
    """The command that resumes a run, as it can be pasted into a shell; without the options that are None."""
    words = ["fairway", "train", recipe, "--resume", "--out", str(folder)]
    for name, value in given.items():
        words += [] if value is None else [f"--{name}", str(value)]
    return shlex.join(words)


def _shown(
    config: "Config", events: "Iterator[Event]", folder: Path, again: str
) -> "Finished | None":
    """Show what happens as it does, and return how it ended; None in a process that only lends a hand."""
    from fairway.cli import show
    from fairway.train.session import Finished, Note

    begun, end = False, None
    journal = Lines(_journal(folder / JOURNAL), JOURNAL_EVERY)
    try:
        with _display(config) as display:
            for event in events:
                if isinstance(event, Finished):
                    end = event
                elif isinstance(event, Note):
                    show.note(event.sentence)
                    journal.write(event.sentence)
                else:
                    begun = True
                    journal.tell(event)
                    display(event)
    except FairwayError as error:
        if begun:  # else it was refused, and no run began
            journal.write(f"ended: {error}")
        raise
    if end is not None:
        journal.write(end_line(end, again))
        show.err.print(end_line(end, again), soft_wrap=True)
    return end


class Lines:
    """A run as lines: one for each validation, and one for a record where the last is some seconds of training ago."""

    def __init__(self, write: Callable[[str], None], every: float) -> None:
        self.write, self._every, self._last = write, every, -math.inf

    def tell(self, event: "Record | Validation") -> None:
        """Write of an event what is due."""
        from fairway.train.session import Validation

        if isinstance(event, Validation):
            self.write(validation_line(event))
        elif event.seconds - self._last >= self._every:
            self._last = event.seconds
            self.write(record_line(event))


def _journal(path: Path) -> Callable[[str], None]:
    """Adds lines with the time of day, for whoever comes back to a lost terminal."""

    def write(line: str) -> None:
        # A folder that cannot be written is told of by the run itself.
        with suppress(OSError), path.open("a") as file:
            file.write(f"{datetime.now().astimezone().isoformat(timespec='seconds')}  {line}\n")

    return write


@contextmanager
def _display(config: "Config") -> "Iterator[Callable[[Record | Validation], None]]":
    """A live panel on a terminal; elsewhere lines."""
    from fairway.cli import show
    from fairway.train.session import Record

    if not show.err.is_terminal:
        yield Lines(partial(show.err.print, soft_wrap=True), LINE_EVERY).tell
        return
    from rich.live import Live

    seen: dict[bool, Any] = {}
    with Live(console=show.err, auto_refresh=False) as live:

        def update(event: "Record | Validation") -> None:
            seen[isinstance(event, Record)] = event
            live.update(panel(config, seen.get(True), seen.get(False)), refresh=True)

        yield update


def panel(config: "Config", record: "Record | None", validation: "Validation | None") -> "Panel":
    """Where a run stands: progress, then the same figures in training and in validation, then its pulse."""
    from rich import box
    from rich.console import Group
    from rich.panel import Panel
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    spent = 0.0 if record is None else min(record.spent, 1.0)
    table = Table("", box=box.SIMPLE, pad_edge=False)
    table.add_column("training", justify="right")
    table.add_column("validation", justify="right")
    figures = {} if record is None else record.figures
    score = {} if validation is None else asdict(validation.score)
    for name, field, unit in (
        ("Sol. infeasible", "sol_infeasible", " %"),
        ("Inst. infeasible", "inst_infeasible", " %"),
        ("length", "length", ""),
    ):
        table.add_row(name, *(_number(known.get(field), unit) for known in (figures, score)))
    pulse = "preparing the first step"
    if record is not None:
        pulse = (
            f"{record.pace:,.0f} instances per second, {record.instances:,} so far in {record.step:,} steps\n"
            f"loss {figures['loss']:.4f}  {mood(record)}"
        )
    head = Table.grid(padding=(0, 2))
    bar = ProgressBar(total=1.0, completed=spent, width=36)
    head.add_row(bar, f"{100 * spent:.1f} %", remaining(record))
    return Panel(
        Group(head, table, Text(pulse, style="dim")),
        title=config.name,
        title_align="left",
        width=78,
    )


def mood(record: "Record") -> str:
    """How boldly a run learns, and by what."""
    return f"rate {record.rate:.1e}  phase: {PHASES.get(record.phase, record.phase)}"


def remaining(record: "Record | None") -> str:
    """Time gone and time left, by the pace of the whole run."""
    if record is None or record.spent <= 0:
        return ""
    left = record.seconds * max(0.0, 1 - record.spent) / record.spent
    return f"{_clock(record.seconds)} gone, {_clock(left)} left"


def record_line(record: "Record") -> str:
    """A record where there is no terminal."""
    figures = record.figures
    return (
        f"{100 * record.spent:5.1f} %  step {record.step}  {record.instances:,} instances  "
        f"{record.pace:,.0f}/s  loss {figures['loss']:.4f}  length {figures['length']:.4f}  "
        f"Sol. {figures['sol_infeasible']:.2f} %  Inst. {figures['inst_infeasible']:.2f} %  "
        f"{mood(record)}  {remaining(record)}"
    )


def validation_line(validation: "Validation") -> str:
    """A validation where there is no terminal."""
    score = validation.score
    return (
        f"validation at {validation.instances:,} instances:  Sol. {score.sol_infeasible:.2f} %  "
        f"Inst. {score.inst_infeasible:.2f} %  length {score.length:.4f}"
    )


def end_line(end: "Finished", again: str) -> str:
    """The last word on a run, with the command that resumes it where it was interrupted."""
    what = f"{end.instances:,} instances in {_clock(end.seconds)}"
    if end.interrupted:
        return f"interrupted after {what}; resume with: {again}"
    return f"trained on {what}; policy, log and learning curve are in {end.out}"


def _number(value: float | None, unit: str) -> str:
    if value is None or math.isnan(value):
        return "-"
    return f"{value:.2f}{unit}" if unit else f"{value:.4f}"


def _clock(seconds: float) -> str:
    whole = round(seconds)
    hours, minutes = whole // 3600, whole // 60 % 60
    return f"{hours}:{minutes:02d}:{whole % 60:02d}" if hours else f"{minutes}:{whole % 60:02d}"
