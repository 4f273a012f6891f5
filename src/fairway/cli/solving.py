"""The verbs `solve`, `explain` and `warmup`."""

import re
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from fairway.cli import ANSWERED, BAD_INPUT, INTERRUPTED, NOT_FEASIBLE, complain
from fairway.cli.options import Distances, File, Index, Json
from fairway.errors import InvalidRequest

if TYPE_CHECKING:
    from fairway.cli.answers import Answered
    from fairway.cli.inputs import Group
    from fairway.errors import FairwayError
    from fairway.problems.instance import Instance
    from fairway.solver.request import Request
    from fairway.solver.results import Improvement, Result, Watch

MOST_TOURS = 20
"""Results whose tours are printed below the table; --json has them all."""


def solve(
    files: Annotated[
        list[Path] | None, typer.Argument(help="Instances; none solves the bundled examples.")
    ] = None,
    seconds: Annotated[
        float, typer.Option(help="Time limit per instance; stops early once proved optimal.")
    ] = 1.0,
    seed: Annotated[int, typer.Option(help="For equal answers, with --iterations.")] = 0,
    initial: Annotated[str | None, typer.Option(help="A plan to start from, or a file.")] = None,
    iterations: Annotated[
        int | None, typer.Option(help="Search steps instead of a time limit.")
    ] = None,
    workers: Annotated[int | None, typer.Option(help="Processes; all cores if none.")] = None,
    objective: Annotated[
        Literal["travel", "makespan"], typer.Option(help="What is to be least.")
    ] = "travel",
    policy: Annotated[
        str, typer.Option(help="A trained policy or colony, a shipped one's name, or none.")
    ] = "auto",
    plot: Annotated[Path | None, typer.Option(help="A .png or .svg of the one tour.")] = None,
    pictures: Annotated[Path | None, typer.Option(help="A folder to draw each tour into.")] = None,
    distances: Distances = None,
    json: Json = False,
) -> None:
    """Find a short tour for each instance, prove it the best where that can be, and print it, verified."""
    from fairway.cli import inputs
    from fairway.solver.guidance import choice_of
    from fairway.solver.request import Request
    from fairway.solver.solving import crew_size, job_of

    chosen = choice_of(None if policy == "none" else policy)
    request = Request(seconds, iterations, seed, objective, chosen)
    groups, refused = inputs.groups(files or inputs.bundled_examples(), distances)
    count = len(refused) + sum(len(group.labels) for group in groups)
    if count != 1 and (plot is not None or initial is not None):
        raise InvalidRequest(f"--plot and --initial belong to one instance; there are {count}")
    for group in groups:
        job_of(group.instances, request, None)  # what cannot be asked is refused before any work
    workers = crew_size(workers)
    places = _picture_places(plot, pictures)
    seen: Counter[str] = Counter()
    for group in groups:
        with closing(_results(group, request, initial, workers)) as results:
            answers = zip(group.labels, group.instances, results, strict=True)
            _report(_noted(answers, seen, places), json=json)
    for error in refused:
        complain(error)
    raise typer.Exit(_exit_code(seen, refused))


def _exit_code(seen: Counter[str], refused: list["FairwayError"]) -> int:
    if seen["interrupted"]:
        return INTERRUPTED
    if refused:
        return BAD_INPUT
    return NOT_FEASIBLE if seen["without a tour"] else ANSWERED


def explain(
    file: File,
    index: Index = None,
    seconds: Annotated[float, typer.Option(help="In all.")] = 10.0,
    distances: Distances = None,
    json: Json = False,
) -> None:
    """Say why an instance has no tour: which stops collide, and the smallest change that would help."""
    from fairway.cli import answers, inputs, show
    from fairway.solver.explain.explanation import explain as find_out

    instance = inputs.one_instance(file, index, distances)
    explanation = find_out(instance, seconds)
    label = instance.name or file.stem
    if json:
        print(answers.explanation_json(label, instance, explanation))
    else:
        for line in answers.explanation_lines(label, instance, explanation):
            show.out.print(line, soft_wrap=True)
    raise typer.Exit(ANSWERED if explanation.status == "feasible" else NOT_FEASIBLE)


def warmup() -> None:
    """Compile ahead of the first `solve`, as when an image is built; users who can only read the result use it too."""
    from fairway.kernels.compiling import kept_in
    from fairway.solver.warmup import warm_up_all

    folder = kept_in()
    if folder is None:
        raise InvalidRequest(
            "compiled code cannot be kept, since no folder for it can be written; set NUMBA_CACHE_DIR to one"
        )
    warm_up_all()
    print(f"compiled code is ready; new code is kept in {folder}")


def _results(
    group: "Group", request: "Request", initial: str | None, workers: int
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
        yield solved_one(instance, request, plan, watch)


def _noted(
    answers: Iterable["Answered"], seen: Counter[str], places: Callable[[str], list[Path]]
) -> Iterator["Answered"]:
    """The answers as they are, counted and drawn on their way."""
    for label, instance, result in answers:
        seen["interrupted"] += result.interrupted
        seen["without a tour"] += result.tour is None
        if result.tour is not None:
            for place in places(label):
                _draw(instance, result.tour, place)
        yield label, instance, result


def _report(answers: Iterable["Answered"], *, json: bool) -> None:
    """JSON lines as they come, or a table with the tours, if there are not too many, below it."""
    from fairway.cli import show
    from fairway.cli.answers import result_json, result_lines, result_table

    if json:
        for answer in answers:
            print(result_json(*answer), flush=True)
        return
    first: list[Answered] = []

    def rows() -> Iterator["Answered"]:
        for answer in answers:
            if len(first) <= MOST_TOURS:  # the others need not be kept
                first.append(answer)
            yield answer

    show.out.print(result_table(rows()))
    for answer in first if len(first) <= MOST_TOURS else ():
        for line in result_lines(*answer):
            show.out.print(line, soft_wrap=True)


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

        def watch(step: "Improvement") -> None:
            live.update(Text(f"{label}: {step.cost:.8g} by {step.method} at {step.seconds:.2f} s"))

        yield watch


def _draw(instance: "Instance", tour: tuple[int, ...], place: Path) -> None:
    from fairway.pictures import draw, save

    save(draw(instance, tour), place)


def _check_picture(place: Path) -> None:
    """Refuse, before any work, what no picture could be saved as."""
    from fairway.pictures import FORMATS

    if place.suffix.lower() not in FORMATS:
        raise InvalidRequest(
            f"--plot {place}: the suffix {place.suffix or '(none)'} names no picture; "
            f"expected {' or '.join(FORMATS)}"
        )
    if not place.parent.is_dir():
        raise InvalidRequest(
            f"--plot {place}: there is no folder {place.parent}; make it, or choose another place"
        )


def _picture_places(plot: Path | None, folder: Path | None) -> Callable[[str], list[Path]]:
    """Where pictures go: to `plot`, and into a file for each label, never outside the folder, never the same twice."""
    if plot is not None:
        _check_picture(plot)
    single = [] if plot is None else [plot]
    if folder is None:
        return lambda _: single
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidRequest(f"{folder}: cannot be made a folder ({error.strerror})") from error
    given: Counter[str] = Counter()

    def places(label: str) -> list[Path]:
        safe = re.sub(r"[^\w.-]", "_", label)
        given[safe] += 1
        number = "" if given[safe] == 1 else f"-{given[safe]}"
        return [folder / f"{safe}{number}.png", *single]

    return places
