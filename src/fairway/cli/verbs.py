"""The verbs. Heavy imports stand inside them, so that --help answers at once."""

from dataclasses import asdict
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from fairway.cli import ANSWERED, NOT_FEASIBLE
from fairway.cli.benching import bench_app
from fairway.cli.evaluating import evaluate_app
from fairway.cli.options import Distances, File, Index, Json, Tour
from fairway.cli.reporting import report
from fairway.cli.solving import explain, solve, warmup
from fairway.cli.training import train
from fairway.errors import InvalidRequest

if TYPE_CHECKING:
    from fairway.problems.instance import Instance

app = typer.Typer(
    no_args_is_help=True,
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
bed_app = typer.Typer(help="The named test beds: list, show, export.", no_args_is_help=True)
app.add_typer(bed_app, name="bed")
for verb in (solve, explain, warmup, train):
    app.command()(verb)
app.add_typer(evaluate_app, name="evaluate")
app.command()(report)
app.add_typer(bench_app, name="bench")


@app.callback()
def fairway(
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    """Tours that keep hard constraints: time windows (TSPTW) and draft limits (TSPDL)."""
    if version:
        from fairway import __version__

        print(__version__)
        raise typer.Exit(ANSWERED)


@app.command()
def verify(
    file: File,
    tour: Tour,
    index: Index = None,
    distances: Distances = None,
    tolerance: Annotated[float | None, typer.Option(help="How far a limit may be passed.")] = None,
    json: Json = False,
) -> None:
    """Judge a tour: every stop once, every limit kept, the schedule in full."""
    from fairway.cli import inputs, show
    from fairway.judge import Rejection
    from fairway.judge import verify as judge

    instance = inputs.one_instance(file, index, distances)
    verdict = judge(instance, inputs.tour_given(tour, instance), tolerance)
    label = instance.name or file.stem
    if json:
        print(show.json_line(label, instance, verdict))
    else:
        show.out.print(show.verdict_line(label, instance, verdict), soft_wrap=True)
        if (table := show.schedule_table(instance, verdict)) is not None:
            show.out.print(table)
        for line in show.violation_lines(verdict) if isinstance(verdict, Rejection) else ():
            show.out.print(line, soft_wrap=True)
    raise typer.Exit(NOT_FEASIBLE if isinstance(verdict, Rejection) else ANSWERED)


@app.command()
def plot(
    file: File,
    tour: Annotated[str | None, typer.Option(help="Stops such as 3,1,2, or a file.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="A .png or .svg.")] = None,
    index: Index = None,
    distances: Distances = None,
) -> None:
    """Draw the tour on the map beside its schedule."""
    from fairway.cli import inputs, show
    from fairway.pictures import draw, save

    instance = inputs.one_instance(file, index, distances)
    stops = None if tour is None else inputs.tour_given(tour, instance)
    place = output or Path(f"{'stdin' if str(file) == '-' else file.stem}.png")
    save(draw(instance, stops), place)
    show.out.print(str(place), soft_wrap=True)


@app.command()
def generate(
    problem: Annotated[Literal["tsptw", "tspdl"], typer.Argument(help="Which problem.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to; a set needs .npz.")
    ] = None,
    nodes: Annotated[int, typer.Option("--nodes", "-n", help="The depot included.")] = 50,
    hardness: Annotated[Literal["easy", "medium", "hard"], typer.Option()] = "hard",
    count: Annotated[int, typer.Option(help="How many instances.")] = 1,
    seed: Annotated[int, typer.Option(help="Equal seeds give equal instances.")] = 0,
    eta: Annotated[float | None, typer.Option(help="Window half-width of hard TSPTW.")] = None,
    sigma: Annotated[float | None, typer.Option(help="Percent of lowered drafts, TSPDL.")] = None,
) -> None:
    """Draw instances from the paper's laws; without --output one instance goes to stdout as JSON."""
    from fairway.problems.files import write
    from fairway.problems.generate import LoweredDrafts, TourWindows
    from fairway.problems.generate import generate as draw_set

    if eta is not None and (problem, hardness) != ("tsptw", "hard"):
        raise InvalidRequest("--eta belongs to the hard law of tsptw; leave it out here")
    if sigma is not None and problem != "tspdl":
        raise InvalidRequest("--sigma belongs to tspdl; leave it out here")
    law = TourWindows(eta=eta) if eta is not None else hardness
    law = LoweredDrafts(sigma=sigma) if sigma is not None else law
    instances = draw_set(problem, n=nodes, hardness=law, count=count, seed=seed)
    if output is not None:
        write(instances if count > 1 else instances[0], output)
    elif count == 1:
        from fairway.problems.files import document

        print(document.render(instances[0]), end="")
    else:
        raise InvalidRequest("a set of instances needs --output with a name that ends in .npz")


@app.command()
def convert(
    file: File,
    output: Annotated[Path, typer.Argument(help="The file to write.")],
    form: Annotated[
        str | None, typer.Option("--format", help="A format, whatever the suffix of OUTPUT.")
    ] = None,
    index: Index = None,
    distances: Distances = None,
) -> None:
    """Read an instance or a set in one format and write it in another."""
    from fairway.cli import inputs, show
    from fairway.problems.files import read, write
    from fairway.problems.instance import Instance

    item = read(file, distances) if index is None else inputs.one_instance(file, index, distances)
    write(item, output, form)
    if isinstance(item, Instance):
        for sentence in (*item.notes, *_losses(item, output)):
            show.note(sentence)


@bed_app.command("list")
def bed_list(json: Json = False) -> None:
    """The beds that can be loaded by name."""
    from fairway.cli import show
    from fairway.problems.beds import beds

    if json:
        for bed in beds().values():
            print(dumps(asdict(bed)))
    else:
        show.out.print(show.bed_table(beds().values()))


@bed_app.command("show")
def bed_show(
    name: str,
    references: Annotated[
        Path | None, typer.Option(help="The authors' lkh_*.pkl, or .npz.")
    ] = None,
) -> None:
    """Load a bed, check its hashes, and say what is known about it."""
    from fairway.cli import show
    from fairway.evaluate.references import load_references
    from fairway.problems.beds import bed_named, load_bed

    bed, instances = bed_named(name), load_bed(name)
    known = None if references is None else load_references(name, references)
    show.out.print(show.bed_table([bed]))
    for array, digest in bed.sha256.items():
        show.out.print(f"{array:12s} sha256 {digest}  as expected", soft_wrap=True)
    if known is not None:
        show.out.print(
            f"references   {known.source}: {len(instances) - len(known.refused)} usable, "
            f"{len(known.refused)} refused by the judge {known.refused.tolist()}",
            soft_wrap=True,
        )


@bed_app.command("export")
def bed_export(name: str, output: Path, index: Index = None) -> None:
    """Write a bed as .npz, or one of its instances in any format."""
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
    if item.names is not None and getattr(kept, "names", None) != item.names:
        losses.append("the names of the stops are not kept in this format")
    if isinstance(kept, Instance) and (kept.service != item.service).any():
        rise = item.service.sum()
        losses.append(f"service is folded into travel, so that every tour costs {rise:g} more")
    return losses
