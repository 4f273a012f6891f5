"""The verbs. Heavy imports stand inside them, so that --help answers at once."""

from dataclasses import asdict
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from typer import Argument, Option

from fairway.cli import ANSWERED, NOT_FEASIBLE
from fairway.cli.batching import batch, label
from fairway.cli.benching import bench_app
from fairway.cli.evaluating import evaluate_app
from fairway.cli.options import (
    TOUR,
    BedName,
    File,
    Index,
    Json,
    Reading,
    Tour,
    spelled_out,
)
from fairway.cli.reporting import report
from fairway.cli.serving import serve
from fairway.cli.solving import explain, resume, solve, warmup
from fairway.cli.training import train
from fairway.errors import InvalidRequest

if TYPE_CHECKING:
    from fairway.problems.instance import Instance

app = typer.Typer(
    no_args_is_help=True, invoke_without_command=True, add_completion=False, pretty_exceptions_enable=False
)  # fmt: skip
bed_app = typer.Typer(help="Named test sets: list, show, export.", no_args_is_help=True)


@app.callback()
def fairway(
    version: Annotated[bool, Option("--version", help="Print the version and exit")] = False,
) -> None:
    """Short tours of one vehicle that keep hard constraints: time windows, loads, order, breaks, optional stops."""
    if version:
        from fairway import __version__

        print(__version__)
        raise typer.Exit(ANSWERED)


@spelled_out
def verify(
    reading: Reading,
    file: File,
    tour: Tour,
    index: Index = None,
    tolerance: Annotated[float | None, Option(help="Excess allowed over a limit")] = None,
    objective: Annotated[
        Literal["cost", "travel", "makespan", "duration"],
        Option(help="What to value the tour by: cost (or travel), its end, or time on the road"),
    ] = "cost",
    json: Json = False,
) -> None:
    """Verify a tour and print its schedule, or every constraint that it violates."""
    from fairway.cli import inputs, show, timetable
    from fairway.judge import Rejection
    from fairway.judge import verify as judge
    from fairway.outputs.plan import plan_of

    instance = inputs.one_instance(file, index, reading)
    stops = inputs.tour_given(tour, instance)
    verdict = judge(instance, stops, tolerance, objective=objective)
    label = instance.name or file.stem
    if json:
        print(show.json_line(label, instance, verdict))
    else:
        show.line(show.verdict_line(label, instance, verdict))
        if verdict.schedule is not None:
            timetable.print_plan(plan_of(instance, verdict))
        for why in show.violation_lines(verdict) if isinstance(verdict, Rejection) else ():
            show.line(why)
    raise typer.Exit(NOT_FEASIBLE if isinstance(verdict, Rejection) else ANSWERED)


@spelled_out
def plot(
    reading: Reading,
    file: File,
    tour: Annotated[str | None, Option(help=TOUR)] = None,
    output: Annotated[Path | None, Option("--output", "-o", help="Picture, .png or .svg")] = None,
    index: Index = None,
) -> None:
    """Draw an instance, or a tour on the map beside its schedule."""
    from fairway.cli import inputs, show
    from fairway.pictures import draw, save

    instance = inputs.one_instance(file, index, reading)
    stops = None if tour is None else inputs.tour_given(tour, instance)
    place = output or Path(f"{'stdin' if str(file) == '-' else file.stem}.png")
    save(draw(instance, stops), place)
    show.line(str(place))


def generate(
    problem: Annotated[Literal["tsptw", "tspdl"], Argument(help="Problem to draw from")],
    output: Annotated[
        Path | None, Option("--output", "-o", help="File to write; .npz for a set")
    ] = None,
    nodes: Annotated[int, Option("--nodes", "-n", help="Number of nodes, depot included")] = 50,
    hardness: Annotated[Literal["easy", "medium", "hard"], Option(help="Distribution")] = "hard",
    count: Annotated[int, Option(help="Number of instances")] = 1,
    seed: Annotated[int, Option(help="Random seed")] = 0,
    eta: Annotated[float | None, Option(help="Half window width of hard TSPTW")] = None,
    sigma: Annotated[float | None, Option(help="Percentage of lowered drafts, TSPDL")] = None,
) -> None:
    """Generate random instances as in the paper; without --output, print one as JSON."""
    from fairway.problems.files import document, write
    from fairway.problems.generate import LoweredDrafts, TourWindows
    from fairway.problems.generate import generate as draw_set

    if eta is not None and (problem, hardness) != ("tsptw", "hard"):
        raise InvalidRequest("--eta belongs to hard tsptw; leave it out here")
    if sigma is not None and problem != "tspdl":
        raise InvalidRequest("--sigma belongs to tspdl; leave it out here")
    distribution = TourWindows(eta=eta) if eta is not None else hardness
    distribution = LoweredDrafts(sigma=sigma) if sigma is not None else distribution
    instances = draw_set(problem, n=nodes, hardness=distribution, count=count, seed=seed)
    if output is not None:
        write(instances if count > 1 else instances[0], output)
    elif count == 1:
        print(document.render(instances[0]), end="")
    else:
        raise InvalidRequest("a set of instances needs --output with a name that ends in .npz")


@spelled_out
def convert(
    reading: Reading,
    file: File,
    output: Annotated[Path, Argument(help="File to write")],
    form: Annotated[str | None, Option("--format", help="Format (default: by the suffix)")] = None,
    index: Index = None,
) -> None:
    """Convert an instance or a set from one file format to another."""
    from fairway.cli import inputs, show
    from fairway.problems.files import write
    from fairway.problems.instance import Instance

    item = (
        inputs.item_of(file, reading)
        if index is None
        else inputs.one_instance(file, index, reading)
    )
    write(item, output, form)
    if isinstance(item, Instance):
        for sentence in (*item.notes, *_losses(item, output)):
            show.note(sentence)


@bed_app.command("list")
def bed_list(
    json: Annotated[bool, Option("--json", help="Print one JSON line per test set")] = False,
) -> None:
    """List the test sets that can be named."""
    from fairway.cli import show
    from fairway.problems.beds import beds

    if json:
        for bed in beds().values():
            print(dumps(asdict(bed)))
    else:
        show.out.print(show.bed_table(beds().values()))


@bed_app.command("show")
def bed_show(
    name: BedName,
    references: Annotated[Path | None, Option(help="File of reference tours, .pkl or .npz")] = None,
) -> None:
    """Load a test set, check its hashes, and print what is known about it."""
    from fairway.cli import show
    from fairway.evaluate.references import load_references
    from fairway.problems.beds import bed_named, load_bed

    bed, instances = bed_named(name), load_bed(name)
    known = None if references is None else load_references(name, references)
    show.out.print(show.bed_table([bed]))
    for array, digest in bed.sha256.items():
        show.line(f"{array:12s} sha256 {digest}  as expected")
    if known is not None:
        usable, refused = len(instances) - len(known.refused), known.refused.tolist()
        show.line(
            f"references   {known.source}: {usable} usable, {len(refused)} refused by the judge {refused}"
        )


@bed_app.command("export")
def bed_export(
    name: BedName,
    output: Annotated[Path, Argument(help="File to write")],
    index: Index = None,
) -> None:
    """Write a test set as .npz, or one of its instances in any format."""
    from fairway.cli.inputs import member
    from fairway.problems.beds import load_bed
    from fairway.problems.files import write

    instances = load_bed(name)
    write(instances if index is None else member(instances, index, name), output)


def _losses(item: "Instance", output: Path) -> list[str]:
    """What the format written could not hold."""
    from fairway.problems.files import read
    from fairway.problems.instance import Instance

    kept = read(output) if output.is_file() else item
    losses = []
    if item.source is not None and getattr(kept, "source", None) != item.source:
        losses.append("times of day, further columns and ids are not all kept in this format")
    if item.names is not None and getattr(kept, "names", None) != item.names:
        losses.append("the names of the stops are not kept in this format")
    if isinstance(kept, Instance) and (kept.service != item.service).any():
        rise = item.service.sum()
        losses.append(f"service is folded into travel, so that every tour costs {rise:g} more")
    return losses


PLAN, MANY, RESEARCH = "Plan a tour", "Many instances", "Research"
PANELS = {
    PLAN: (solve, explain, resume, verify, plot, convert, serve, warmup),
    MANY: (batch, generate, label),
    RESEARCH: (train, report),
}
"""The verbs as the help groups them."""
for panel, members in PANELS.items():
    for verb in members:
        app.command(rich_help_panel=panel)(verb)
app.add_typer(evaluate_app, name="evaluate", rich_help_panel=RESEARCH)
app.add_typer(bed_app, name="bed", rich_help_panel=RESEARCH)
app.add_typer(bench_app, name="bench", rich_help_panel=RESEARCH)
