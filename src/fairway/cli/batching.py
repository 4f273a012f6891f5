"""The verb `batch`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from typer import Argument, Option

from fairway import clock
from fairway.cli import ANSWERED, BAD_INPUT, INTERRUPTED, NOT_FEASIBLE
from fairway.cli.options import Cluster, Drop, Objective, Relax, Seconds, spelled_out

if TYPE_CHECKING:
    from fairway.scale.batch import Progress

Place = Literal["cpu", "cuda"]
Device = Annotated[
    Place, Option(help="cuda: search on a GPU, with the time limit for a whole file of instances")
]
LINE_EVERY = 30.0
"""Seconds between lines where there is no terminal for a bar."""
MOST_NAMED = 10
"""Instances or files that are named at the end; the results have them all."""


@spelled_out
def batch(
    sources: Annotated[
        list[str],
        Argument(
            metavar="IN...", help="Files, folders, test sets, or distributions: tsptw:hard:50"
        ),
    ],
    cluster: Cluster,
    out: Annotated[Path, Option(help="Folder of results; the same command resumes it")],
    count: Annotated[int | None, Option(help="Number of instances of a distribution")] = None,
    seed: Annotated[int, Option(help="Random seed of what is drawn, and of the search")] = 0,
    seconds: Seconds = 1.0,
    iterations: Annotated[int | None, Option(help="Search steps instead of a time limit")] = None,
    objective: Objective = "cost",
    drop: Drop = "price",
    relax: Relax = "none",
    policy: Annotated[str, Option(help="Trained policy or colony: folder, name or none")] = "auto",
    workers: Annotated[int | None, Option(help="Number of workers (default: all cores)")] = None,
    chunk: Annotated[int, Option(help="Number of instances per file")] = 1024,
    form: Annotated[
        Literal["jsonl", "parquet"], Option("--format", help="JSON lines (zstd), or Parquet")
    ] = "jsonl",
    shard: Annotated[str, Option(help="Only every n-th file: 3/8 is the third of eight")] = "1/1",
    device: Device = "cpu",
) -> None:
    """Solve any number of instances into a folder of files; run again, it resumes where it was, even after a crash."""
    from fairway.scale.batch import Batch, run, shard_of
    from fairway.scale.results import Folder
    from fairway.scale.sources import Named
    from fairway.solver.request import Request
    from fairway.solver.warm_start import choice_of

    chosen = choice_of(None if policy == "none" else policy)
    place = _device(device)
    request = Request(seconds, iterations, seed, objective, chosen, drop, relax, device=place)
    named = [Named(name, count, seed) for name in sources]
    asked = Batch(named, request, Folder(out, form), chunk, shard_of(shard))
    # One process has the GPU to itself.
    engine = cluster.workers(1 if place == "cuda" and workers is None else workers)
    progress = None
    try:
        with _watching() as tell:
            for progress in run(asked, engine):
                tell(progress)
    except KeyboardInterrupt:
        from fairway.cli import show

        kept = (
            "nothing" if progress is None else f"{progress.done:,} of {progress.total:,} instances"
        )
        show.note(f"interrupted; {kept} kept; the same command resumes")
        raise typer.Exit(INTERRUPTED) from None
    assert progress is not None
    raise typer.Exit(_ended(progress, out))


def label(
    source: Annotated[
        str, Argument(metavar="DISTRIBUTION", help="What to draw from: tsptw:easy:100")
    ],
    out: Annotated[Path, Option(help="Folder for instances.npz and tours.npz")],
    count: Annotated[int, Option(help="Number of instances")] = 10_000,
    seed: Annotated[int, Option(help="Random seed of what is drawn, and of the search")] = 0,
    seconds: Annotated[
        float, Option(help="Time limit per instance; on cuda, per 10,000 instances")
    ] = 1.0,
    device: Device = "cpu",
) -> None:
    """Draw instances and write near-optimal tours beside them, as supervised training needs them."""
    from fairway.cli import show
    from fairway.scale.labels import labels, save

    began, chunks = clock.now(), []
    for chunk in labels(source, count, seconds, seed, device):
        chunks.append(chunk)
        done = sum(len(each.cost) for each in chunks)
        show.note(
            f"{done:,} of {count:,} instances, {done / (clock.now() - began):,.0f} per second"
        )
    save(chunks, out)
    without = sum(int((~each.tour.any(axis=1)).sum()) for each in chunks)
    show.line(f"{count:,} instances, {without:,} without a tour; {out}")
    raise typer.Exit(NOT_FEASIBLE if without else ANSWERED)


def _device(asked: Place) -> Place:
    """The GPU where one is asked for and there; else the cores, with a sentence."""
    if asked == "cuda":
        from fairway.cli import show
        from fairway.solver.on_gpu import unavailable

        if why := unavailable():
            show.note(f"{why}; going on with the cores")
            return "cpu"
    return asked


@contextmanager
def _watching() -> Iterator[Callable[["Progress"], None]]:
    """Tells how far a batch is: by a bar on a terminal, by a line now and then elsewhere."""
    from rich import progress as rich

    from fairway.cli import show

    if not show.err.is_terminal:
        last = clock.now()

        def line(progress: "Progress") -> None:
            nonlocal last
            if clock.now() - last >= LINE_EVERY:
                last = clock.now()
                show.note(state(progress))

        yield line
        return
    text = rich.TextColumn("{task.description}")
    columns = (rich.BarColumn(), rich.MofNCompleteColumn(), text)
    with rich.Progress(*columns, console=show.err, transient=True) as bar:
        task = bar.add_task("")

        def update(progress: "Progress") -> None:
            pace = _pace(progress)
            bar.update(
                task,
                total=progress.total,
                completed=progress.done + progress.ahead,
                description=pace,
            )

        yield update


def state(progress: "Progress") -> str:
    """How far a batch is, in words."""
    return f"{progress.done + progress.ahead:,} of {progress.total:,} instances answered, {_pace(progress)}"


def _pace(progress: "Progress") -> str:
    if not progress.fresh:
        return "starting"
    whole = round(progress.left)
    left = f"{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}"
    end = (datetime.now() + timedelta(seconds=whole)).strftime("%H:%M")
    return f"{progress.rate:,.0f} per second, {left} left (until {end})"


def _some(names: list[str], between: str = ", ") -> str:
    more = len(names) - MOST_NAMED
    return between.join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _ended(progress: "Progress", out: Path) -> int:
    """Say what there is; the exit code."""
    from fairway.cli import show

    counts = ", ".join(f"{count:,} {status}" for status, count in progress.statuses.most_common())
    show.line(f"{progress.done:,} instances: {counts}")
    fresh = progress.done - progress.resumed
    spent = clock.now() - progress.began
    pace = f", {progress.rate:,.0f} per second" if fresh else ""
    show.line(f"{fresh:,} answered in {spent:.1f} s{pace}; {out}")
    if progress.set_aside:
        show.note(
            f"set aside, since worker after worker was lost at them: {_some(progress.set_aside)}"
        )
    if progress.beyond:
        show.note(f"left alone, of an earlier run with more instances: {_some(progress.beyond)}")
    if progress.unreadable:
        show.note(f"unreadable: {_some(progress.unreadable, '; ')}")
    if progress.statuses["unreadable"]:
        return BAD_INPUT
    bad = progress.statuses["infeasible"] + progress.statuses["unknown"]
    return NOT_FEASIBLE if bad else ANSWERED
