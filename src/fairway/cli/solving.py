"""The verbs `solve`, `resume`, `explain` and `warmup`."""

from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from fairway.cli import ANSWERED, BAD_INPUT, INTERRUPTED, NOT_FEASIBLE, complain, for_a_moment
from fairway.cli.options import (
    Day,
    Drop,
    File,
    Gap,
    Index,
    Json,
    Objective,
    Out,
    PlanFormat,
    Plot,
    Reading,
    Relax,
    Seconds,
    Workers,
    gap_given,
    spelled_out,
)
from fairway.errors import InvalidRequest

if TYPE_CHECKING:
    from fairway.cli.answers import Answered
    from fairway.cli.inputs import Group
    from fairway.cli.plans import Destination
    from fairway.solver.request import Request
    from fairway.solver.results import Progress, Result, Watch

MOST_TOURS = 20
"""Results whose tours are printed below the table; --json has them all."""


@spelled_out
def solve(
    reading: Reading,
    files: Annotated[
        list[Path] | None, Argument(help="Instance files (default: the examples that ship)")
    ] = None,
    seconds: Seconds = 1.0,
    gap: Gap = "0",
    seed: Annotated[int, Option(help="Random seed")] = 0,
    initial: Annotated[str | None, Option(help="Tour to start from, or a file")] = None,
    iterations: Annotated[int | None, Option(help="Search steps instead of a time limit")] = None,
    workers: Workers = None,
    objective: Objective = "cost",
    drop: Drop = "price",
    relax: Relax = "drop",
    fixed: Annotated[
        str | None, Option(help="Stops that the tour must begin with, in this order")
    ] = None,
    policy: Annotated[str, Option(help="Trained policy or colony: folder, name or none")] = "auto",
    plot: Plot = None,
    pictures: Annotated[Path | None, Option(help="Draw every tour into this folder")] = None,
    out: Out = None,
    form: PlanFormat = None,
    date: Day = None,
    json: Json = False,
) -> None:
    """Find the best tour of each instance in the time given, verified, and proved optimal where possible."""
    for_a_moment()
    from fairway.cli import inputs
    from fairway.cli.plans import Destination
    from fairway.solver.request import Request
    from fairway.solver.solving import job_of, pool_size
    from fairway.solver.warm_start import choice_of

    chosen, within = choice_of(None if policy == "none" else policy), gap_given(gap)
    request = Request(seconds, iterations, seed, objective, chosen, drop, relax, gap=within)
    groups, refused = inputs.groups(files or inputs.bundled_examples(), reading)
    count = len(refused) + sum(len(group.labels) for group in groups)
    if count != 1 and any(each is not None for each in (plot, initial, fixed, out)):
        raise InvalidRequest(
            f"--plot, --out, --initial and --fixed belong to one instance; there are {count}"
        )
    if fixed is not None and groups:
        begin = inputs.tour_given(fixed, groups[0].instances[0])
        request = replace(request, fixed=begin)
    for group in groups:
        job_of(group.instances, request, None)  # what cannot be asked is refused before any work
    pool_size(workers)
    destination = Destination(plot, pictures, out, form, date)
    if out is not None and groups:
        destination.check(groups[0].instances[0])
    codes = {BAD_INPUT} if refused else set()
    for group in groups:
        with closing(_results(group, request, initial, workers)) as results:
            answers = zip(group.labels, group.instances, results, strict=True)
            codes |= _report(answers, destination, json=json)
    for error in refused:
        complain(error)
    # An interruption counts most, then what could not be read.
    raise typer.Exit(max(codes, default=ANSWERED))


@spelled_out
def resume(
    reading: Reading,
    file: File,
    done: Annotated[
        str, Option(help="Stops served so far, in order, such as 3,1 or by name, and breaks taken")
    ],
    now: Annotated[str, Option(help="When the vehicle can leave where it is, such as 11:40")],
    at: Annotated[
        str | None, Option(help="Stop where the vehicle is (default: the last one served)")
    ] = None,
    aboard: Annotated[
        float | None, Option(help="Load on board (default: what the stops served brought)")
    ] = None,
    seconds: Annotated[float, Option(help="Time limit; stops early once proved optimal")] = 1.0,
    seed: Annotated[int, Option(help="Random seed")] = 0,
    objective: Objective = "cost",
    drop: Drop = "price",
    relax: Relax = "drop",
    plot: Plot = None,
    out: Out = None,
    form: PlanFormat = None,
    date: Day = None,
    json: Json = False,
) -> None:
    """Plan the rest of a tour that is under way: from where the vehicle is, at the time that it is."""
    for_a_moment()
    from fairway.cli import inputs
    from fairway.cli.plans import Destination
    from fairway.problems.files import tours
    from fairway.solver.request import Request

    request = Request(seconds, None, seed, objective, None, drop, relax)
    instance = inputs.one_instance(file, None, reading)
    served, taken = inputs.done_given(done, instance)
    where = None if at is None else tours.place(at, instance)
    moment = inputs.time_given(now, instance)
    rest = instance.resume(served, where, moment, aboard=aboard, rested=taken)
    destination = Destination(plot, None, out, form, date)
    if out is not None:
        destination.check(rest)
    group = inputs.Group([f"the rest of {instance.name or file.stem}"], [rest])
    with closing(_results(group, request, None, None)) as results:
        answers = zip(group.labels, group.instances, results, strict=True)
        codes = _report(answers, destination, json=json)
    raise typer.Exit(max(codes))


@spelled_out
def explain(
    reading: Reading,
    file: File,
    index: Index = None,
    seconds: Annotated[float, Option(help="Time limit")] = 10.0,
    json: Json = False,
) -> None:
    """Explain why an instance has no tour: the stops in conflict, and the smallest change that would help."""
    for_a_moment()
    from fairway.cli import answers, inputs, show
    from fairway.solver.explain.explanation import explain as find_out

    instance = inputs.one_instance(file, index, reading)
    explanation = find_out(instance, seconds)
    label = instance.name or file.stem
    if json:
        print(answers.explanation_json(label, instance, explanation))
    else:
        for line in answers.explanation_lines(label, instance, explanation):
            show.line(line)
    raise typer.Exit(ANSWERED if explanation.status == "feasible" else NOT_FEASIBLE)


def warmup() -> None:
    """Compile everything ahead of the first solve, for example when building an image."""
    from fairway.kernels.compiling import kept_in
    from fairway.solver.warmup import compile_all

    folder = kept_in()
    if folder is None:
        raise InvalidRequest(
            "compiled code cannot be kept, since no folder for it can be written; set NUMBA_CACHE_DIR to one"
        )
    compile_all()
    print(f"compiled code is ready; new code is kept in {folder}")


def _results(
    group: "Group", request: "Request", initial: str | None, workers: int | None
) -> Generator["Result", None, None]:
    """The results of a group as they come; a single instance shows how its tour improves."""
    from fairway.cli import inputs
    from fairway.solver.solving import job_of, solved, solved_one

    if len(group.labels) > 1:
        yield from solved(job_of(group.instances, request, None), workers)
        return
    instance = group.instances[0]
    plan = None if initial is None else inputs.tour_given(initial, instance)
    with _live(group.labels[0]) as watch:
        yield solved_one(instance, request, plan, watch, workers)


def _report(answers: Iterable["Answered"], destination: "Destination", *, json: bool) -> set[int]:
    """Keep plans and print JSON lines as they come, or a table and, if they are few, the tours; the exit codes."""
    from fairway.cli import show
    from fairway.cli.answers import print_result, result_json, result_table

    codes, kept = set(), []
    for label, instance, result in answers:
        without = ANSWERED if result.tour is not None else NOT_FEASIBLE
        codes.add(INTERRUPTED if result.interrupted else without)
        if result.tour is not None:
            destination.keep(label, instance, result)
        if json:
            print(result_json(label, instance, result), flush=True)
        else:
            kept.append((label, instance, result))
    if kept:
        show.out.print(result_table(kept))
    for answer in kept if len(kept) <= MOST_TOURS else ():
        print_result(*answer, scheduled=len(kept) == 1)
    return codes


@contextmanager
def _live(label: str) -> Iterator["Watch | None"]:
    """A line on stderr with the best tour so far, on terminals only; it leaves nothing behind."""
    from rich.live import Live
    from rich.text import Text

    from fairway.cli import show

    if not show.err.is_terminal:
        yield None
        return
    with Live(Text(f"{label}: searching"), console=show.err, transient=True) as live:

        def watch(known: "Progress") -> None:
            if known.tour is not None:
                found = f"{known.cost:.8g} by {known.method} at {known.seconds:.2f} s"
                live.update(Text(f"{label}: {found}"))

        yield watch
