"""What people see in a terminal, and the JSON lines that programs read instead."""

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
from rich import box
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from fairway.cli.cleaning import cleaned
from fairway.judge import Rejection, Schedule, Solution, Violation
from fairway.outputs import words
from fairway.outputs.document import steps_record
from fairway.outputs.plan import has_times, plan_of
from fairway.problems.instance import Instance

if TYPE_CHECKING:
    from rich.progress import Progress

    from fairway.problems.beds import Bed

WIDE = 200
"""Columns where there is no terminal to fit into, so that nothing is cut on its way to a file."""


class Terminal(Console):
    """A console that lets nothing through that a file could smuggle into a terminal; styles are the console's own."""

    def print(self, *objects: object, **settings: Any) -> None:  # noqa: ANN401
        """Print, a text on one line."""
        super().print(*map(_on_one_line, objects), **settings)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterator[Segment]:
        """The pieces of whatever is shown, on its way to the screen."""
        for text, style, control in super().render(renderable, options):
            lines = text.split("\n")
            yield Segment(text if control else "\n".join(map(cleaned, lines)), style, control)


def _on_one_line(shown: object) -> object:
    if isinstance(shown, Text):
        shown = shown.copy()
        shown.plain = cleaned(shown.plain)
    return cleaned(shown) if isinstance(shown, str) else shown


out = Terminal(highlight=False, markup=False, emoji=False)
err = Terminal(stderr=True, highlight=False, markup=False, emoji=False)
if not out.is_terminal:
    out.width = WIDE


def line(text: str | Text) -> None:
    """Print a line of the answer, however long."""
    out.print(text, soft_wrap=True)


def note(sentence: str) -> None:
    """Say something that is not the answer, on stderr."""
    err.print(f"note: {sentence}", style="dim", soft_wrap=True)


def progress() -> "Progress":
    """A bar on stderr for work that takes a while; it shows on terminals only and leaves nothing behind."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    settings = {"console": err, "transient": True, "disable": not err.is_terminal}
    return Progress(*columns, TimeRemainingColumn(), **settings)


def json_line(label: str, instance: Instance, verdict: Solution | Rejection) -> str:
    """One line for programs: the answer with everything the judge knows; what is not finite is null."""
    plan = None if verdict.schedule is None else plan_of(instance, verdict)
    record = {
        **head(label, instance),
        "status": "refused" if isinstance(verdict, Rejection) else "feasible",
        "cost": verdict.cost,
        "makespan": verdict.makespan,
        **_worth(verdict),
        "tour": list(verdict.tour),
        "violations": [asdict(violation) for violation in _broken(verdict)],
        "schedule": None if verdict.schedule is None else _columns(instance, verdict.schedule),
        **steps_record(plan),
    }
    return json.dumps(record, allow_nan=False)


def _worth(verdict: Solution | Rejection) -> dict[str, Any]:
    """What an accepted tour amounts to beside its cost."""
    if isinstance(verdict, Rejection):
        return {}
    keys = ("value", "duration", "lateness")
    return {key: getattr(verdict, key) for key in keys} | {"unserved": list(verdict.unserved)}


def head(label: str, instance: Instance) -> dict[str, Any]:
    """Which instance a line for programs is of."""
    return {"name": label, "problem": instance.problem, "nodes": instance.nodes}


def verdict_line(label: str, instance: Instance, verdict: Solution | Rejection) -> Text:
    """The answer in one line."""
    what = f"{instance.problem.upper()}, {_counted(instance.nodes - 1, 'stop')}"
    named = Text.assemble((label, "bold"), f"  ({what})  ")
    if isinstance(verdict, Rejection):
        return named.append(
            f"refused: {_counted(len(verdict.violations), 'violation')}", "bold red"
        )
    facts = [f"cost {verdict.cost:.10g}"]
    facts += [f"late by {words.span(instance, verdict.lateness)}"] if verdict.lateness else []
    facts += [f"{len(verdict.unserved)} left out"] if verdict.unserved else []
    if has_times(instance):
        clocked = instance.source is not None and instance.source.clock is not None
        ends = words.time(instance, verdict.makespan) if clocked else f"{verdict.makespan:.10g}"
        facts.append(f"back at the depot at {ends}" if instance.end == 0 else f"over at {ends}")
    return named.append("feasible", "bold green").append("".join(f"  {fact}" for fact in facts))


def tour_line(instance: Instance, tour: Iterable[int]) -> Text:
    """The stops in order from the depot to the end, by name where they have names."""
    names = instance.names or range(instance.nodes)
    end = () if instance.end is None else (instance.end,)
    stops = " > ".join(str(names[node]) for node in (0, *tour, *end))
    return Text(f"  {stops}", style="cyan")


def violation_lines(verdict: Rejection, most: int = 20) -> list[str]:
    """Every reason for a refusal in words, cut off where it would run on."""
    lines = [f"  - {violation.why}" for violation in verdict.violations[:most]]
    if len(verdict.violations) > most:
        lines.append(f"  - and {len(verdict.violations) - most} more (--json lists all)")
    return lines


def bed_table(beds: Iterable["Bed"]) -> Table:
    """The beds, one row each."""
    shown = table("bed", ">nodes", "hardness", ">instances", ">seed", "from")
    for bed in beds:
        hardness = bed.hardness if bed.eta is None else f"{bed.hardness}, eta {bed.eta:g}"
        source = "the paper" if bed.published else "Fairway"
        shown.add_row(bed.name, str(bed.nodes), hardness, f"{bed.count:,}", str(bed.seed), source)
    return shown


def table(*columns: str) -> Table:
    """An empty table; columns whose names begin with > are aligned right."""
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        justify = "right" if column.startswith(">") else "left"
        shown.add_column(column.removeprefix(">"), justify=justify)
    return shown


def _broken(verdict: Solution | Rejection) -> tuple[Violation, ...]:
    return verdict.violations if isinstance(verdict, Rejection) else ()


def _columns(instance: Instance, schedule: Schedule) -> dict[str, list[float | None]]:
    """What a schedule says about all that the instance asks for."""
    times = ("arrival", "wait", "start", "departure") if instance.timed else ()
    loads = ("load", "draft") if instance.laden else ()
    times += ("late",) if instance.timed and np.isfinite(instance.late).any() else ()
    columns = {column: getattr(schedule, column).tolist() for column in ("node", *times, *loads)}
    return {key: [None if math.isinf(e) else e for e in each] for key, each in columns.items()}


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
