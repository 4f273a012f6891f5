"""The verb `evaluate`."""

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from fairway.cli import ANSWERED
from fairway.errors import InvalidRequest

if TYPE_CHECKING:
    from rich.table import Table

    from fairway.evaluate.methods import EvalConfig
    from fairway.evaluate.metrics import Yardstick
    from fairway.evaluate.outcomes import Results
    from fairway.kernels.lookahead.rule import Guard
    from fairway.problems.sets import InstanceSet

NAMES = {
    "greedy-l": "Greedy-L",
    "greedy-c": "Greedy-C",
    "beam": "unguided beam",
    "exact": "Fairway exact",
    "improve": "Fairway local search",
    "solve": "Fairway",
    "pyvrp": "PyVRP",
    "ortools": "OR-Tools",
    "ortools-seeded": "OR-Tools seeded",
    "lkh": "LKH3",
    "lkh-seeded": "LKH3 seeded",
}
"""Of rows, as the paper's tables have them."""
TIMED = (
    "exact", "improve", "solve", "pyvrp", "ortools", "ortools-seeded", "lkh", "lkh-seeded"
)  # fmt: skip
BESIDE = ("instances", "strict_sol", "strict_inst", "proved", "instance_seconds")
"""What is shown at once of all that a report says beside the paper's columns."""

Power = Annotated[
    float, typer.Option(help="Of a colony's heuristic; above 1, ants keep closer to it.")
]
Searched = Annotated[
    Literal["none", "trail", "tours"],
    typer.Option(help="Local search around ants' tours: for pheromone, or for the tours too."),
]
CostsForGaps = Annotated[Path | None, typer.Option(help="Costs for gaps; ours if none is given.")]
LastAlone = Annotated[
    bool, typer.Option("--last-iteration", help="Count a colony's last tours alone.")
]


def evaluate(
    method: Annotated[str, typer.Option(help=f"{', '.join(NAMES)}, policy, ants or reference.")],
    bed: Annotated[str, typer.Option(help="A named bed, or a file of instances.")],
    limit: Annotated[int | None, typer.Option(help="Only so many, the first ones.")] = None,
    seconds: Annotated[float, typer.Option(help="Of a solver, for each instance.")] = 1.0,
    policy: Annotated[
        Path | None, typer.Option(help="A trained policy's folder, or a shipped one's name.")
    ] = None,
    decode: Annotated[
        Literal["greedy", "sample", "beam"],
        typer.Option(help="How a policy is used."),
    ] = "greedy",
    symmetries: Annotated[bool, typer.Option(help="See instances in eight ways.")] = True,
    samples: Annotated[int, typer.Option(help="Tours sampled, of each view.")] = 1,
    width: Annotated[int, typer.Option(help="Of a beam.")] = 16,
    budget: Annotated[int, typer.Option(help="Extra steps allowed for backtracking.")] = 200,
    mask: Annotated[
        Literal["trained", "none", "0", "1", "2", "pairs", "drafts"],
        typer.Option(help="Steps of look-ahead, over pairs, or the exact one for drafts."),
    ] = "trained",
    ants: Annotated[int, typer.Option(help="Of a colony, in each iteration.")] = 100,
    iterations: Annotated[int, typer.Option(help="Of a colony.")] = 10,
    power: Power = 1.0,
    search: Searched = "none",
    last_iteration: LastAlone = False,
    polish: Annotated[float, typer.Option(help="Seconds of local search at the end.")] = 0.0,
    trials: Annotated[int | None, typer.Option(help="Of LKH-3.")] = None,
    references: CostsForGaps = None,
    out: Annotated[Path, typer.Option(help="The folder of all results.")] = Path("results"),
    study: Annotated[str, typer.Option(help="The table that it belongs to.")] = "main",
    label: Annotated[str | None, typer.Option(help="The name of its row.")] = None,
    tours: Annotated[bool, typer.Option(help="Keep the best tours too.")] = False,
    seed: Annotated[int, typer.Option(help="Of all chance.")] = 0,
    workers: Annotated[int | None, typer.Option(help="Processes; all cores if none.")] = None,
    together: Annotated[int, typer.Option(help="Instances decoded side by side.")] = 500,
    device: Annotated[Literal["auto", "cpu", "cuda"], typer.Option()] = "auto",
) -> None:
    """Run a method over a bed, a line an instance; what is there already is gone on with."""
    from fairway.cli import show
    from fairway.evaluate.methods import EvalConfig
    from fairway.evaluate.run import Place
    from fairway.evaluate.run import evaluate as run
    from fairway.inference.config import ACOConfig, DecodeConfig

    _check(seconds=seconds, polish=polish, together=together, workers=workers, seed=seed)
    mode = DecodeConfig(decode, symmetries, samples, width, budget, _guard(mask))
    foraging = ACOConfig(ants, iterations, search, last_iteration, _guard(mask), power)
    asked = EvalConfig(
        method, seconds, seed, policy, mode, polish, trials, references, workers, device, together, foraging
    )  # fmt: skip
    instances = _instances(bed)
    place = Place(out, study, instances.name, label or _label(asked))
    against = _against(instances.name, references)
    count = len(instances) if limit is None else min(limit, len(instances))
    last = _watched(run(asked, instances, place, limit, tours=tours), place.label, count)
    show.out.print(_summary(last, against))
    show.out.print(str(place.path), soft_wrap=True)
    raise typer.Exit(ANSWERED)


LEAST = {"seconds": 0, "polish": 0, "together": 1, "workers": 1, "seed": 0}


def _check(**given: float | None) -> None:
    """Refuse numbers that no evaluation can have, not-a-numbers among them."""
    for name, value in given.items():
        if value is not None and not LEAST[name] <= value < math.inf:
            raise InvalidRequest(f"--{name} is {value}; expected {LEAST[name]} or more")


def _instances(bed: str) -> "InstanceSet":
    """A named bed, or the instances of a file, called by the file's name."""
    from fairway.problems.beds import beds, load_bed
    from fairway.problems.files import read
    from fairway.problems.instance import Instance
    from fairway.problems.sets import instance_set

    path = Path(bed)
    if bed in beds() or not (path.exists() or path.suffix):
        return load_bed(bed)
    found = read(path)
    # A file named like a bed is not that bed, and its results are not to be taken for the bed's.
    name = f"{path.stem}{path.suffix or '-file'}" if path.stem in beds() else path.stem
    if isinstance(found, Instance):
        return instance_set([found], name)
    return replace(found, name=name)


def _guard(mask: str) -> "Guard | None":
    from fairway.kernels.lookahead.rule import PAIRS, Guard, Rule

    if mask == "trained":
        return None
    if mask in ("none", "drafts"):
        return Guard("none" if mask == "none" else "drafts")
    steps: dict[str, Literal[0, 1, 2]] = {"0": 0, "1": 1, "2": 2}
    return Guard("ahead", PAIRS if mask == "pairs" else Rule(steps[mask]))


def _label(asked: "EvalConfig") -> str:
    """The name of a row where none was given: the method as tables name it, and after a comma what it was given."""
    mode, said = asked.mode, NAMES.get(asked.method, asked.method)
    settings = []
    if asked.method == "reference":
        return "best known" if asked.references is None else "LKH3"
    if asked.method == "policy" and asked.policy is not None:
        said = _trained_name(asked.policy)
        sizes = {"sample": mode.samples, "beam": mode.width}
        settings.append(f"{mode.kind} {sizes.get(mode.kind, '')}".strip())
        settings += ["x8"] if mode.views > 1 else []
        settings += _masks(mode.guard)
    elif asked.method == "ants" and asked.policy is not None:
        said, foraging = _trained_name(asked.policy), asked.foraging
        settings.append(f"{foraging.ants} ants x{foraging.iterations}")
        settings += [f"power {foraging.power:g}"] if foraging.power != 1 else []
        settings += [f"search {foraging.search}"] if foraging.search != "none" else []
        settings += ["last iteration"] if foraging.last else []
        settings += _masks(foraging.guard)
    elif asked.method == "beam":
        settings.append(str(mode.width))
    elif asked.method in TIMED:
        settings.append(f"{asked.seconds:g} s")
        settings += [f"from {_trained_name(asked.policy)}"] if asked.policy is not None else []
    settings += [f"local search {asked.polish:g} s"] if asked.polish else []
    return ", ".join([said, " ".join(settings)]) if settings else said


def _trained_name(folder: Path) -> str:
    """The paper's name of a model where it is one of the paper's, else that of its folder."""
    from fairway.policies.checkpoint import facts_of
    from fairway.recipes import paper_name

    return paper_name(str(facts_of(folder).get("policy"))) or folder.resolve().name


def _masks(guard: "Guard | None") -> list[str]:
    if guard is None:
        return []
    ahead = "pairs" if guard.rule.pairs else guard.rule.steps
    return [f"mask {ahead if guard.kind == 'ahead' else guard.kind}"]


def _watched(runs: Iterator["Results"], label: str, count: int) -> "Results":
    """Show how far a run is, and hand back where it ends."""
    from fairway.cli import show

    with show.progress() as progress:
        task = progress.add_task(label, total=count)
        for results in runs:
            progress.update(task, completed=len(results.outcomes))
    return results


def _against(bed: str, references: Path | None) -> "Yardstick | None":
    """What costs are compared with, read before any work is done."""
    from fairway.evaluate.tree import yardsticks
    from fairway.problems.beds import beds

    if references is not None and bed not in beds():
        raise InvalidRequest(
            f"--references are for named beds; {bed} is a file of yours, whose costs stand alone"
        )
    return yardsticks({} if references is None else {bed: references})(bed)


def _summary(results: "Results", against: "Yardstick | None") -> "Table":
    """The row that was measured."""
    from fairway.evaluate.studies import bed_table, measured_of
    from fairway.evaluate.tables import filled, of, terminal

    header = results.header
    source = None if against is None else against.source
    table = bed_table(header.study, header.bed, [measured_of(results, against)], source)
    shown = tuple(c for c in table.columns if not c.aside or c.key in BESIDE)
    return terminal(filled(replace(table, columns=shown, rows=of(table, "measured"), caption="")))
