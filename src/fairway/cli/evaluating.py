"""The verb `evaluate`, one command per kind of method."""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer.core import TyperGroup

from fairway.cli import ANSWERED
from fairway.cli.options import Cluster, spelled_out
from fairway.errors import InvalidRequest

if TYPE_CHECKING:
    from rich.table import Table

    from fairway.evaluate.methods import EvalConfig
    from fairway.evaluate.outcomes import Results
    from fairway.evaluate.references import References as Known
    from fairway.kernels.lookahead.config import MaskConfig
    from fairway.problems.sets import InstanceSet

NAMES = {
    "fairway": "Fairway",
    "exact": "Fairway exact",
    "local-search": "Fairway local search",
    "beam": "unguided beam",
    "greedy-l": "Greedy-L",
    "greedy-c": "Greedy-C",
    "pyvrp": "PyVRP",
    "ortools": "OR-Tools",
    "lkh": "LKH3",
}
"""Of rows, as the paper's tables have them."""
UNTIMED = ("beam", "greedy-l", "greedy-c")
BESIDE = ("instances", "strict_sol", "strict_inst", "proved", "instance_seconds")
"""What is shown at once of all that a report says beside the paper's columns."""
RENAMED = {"solve": "fairway", "improve": "local-search"}
"""Solvers by their names in version 0.1."""

Bed = Annotated[str, typer.Option(help="Named test set (fairway bed list), or a file of instances")]
References = Annotated[
    Path | None, typer.Option(help="File of reference tours for gaps (default: those that ship)")
]
Label = Annotated[str | None, typer.Option(help="Name of the row (default: method and settings)")]
Tours = Annotated[bool, typer.Option("--tours", help="Keep the best tour of each instance")]
Trained = Annotated[
    Path, typer.Argument(help="Folder of a training, or the name of a policy that ships")
]
Mask = Annotated[
    Literal["trained", "none", "0", "1", "2", "pairs", "exact"],
    typer.Option(
        help="Mask: as trained, none, steps of look-ahead, pairs, or exact (for draft limits)"
    ),
]
Seed = Annotated[int, typer.Option(help="Random seed")]
Workers = Annotated[int | None, typer.Option(help="Number of processes (default: all cores)")]
Together = Annotated[int, typer.Option(help="Number of instances per batch")]
Device = Annotated[Literal["auto", "cpu", "cuda"], typer.Option(help="Where the network runs")]


@dataclass(frozen=True, slots=True)
class Scope:
    """What is evaluated, and where the lines go: the options that all kinds of methods share."""

    bed: Bed
    limit: Annotated[int | None, typer.Option(help="Evaluate only the first N instances")] = None
    references: References = None
    out: Annotated[Path, typer.Option(help="Folder of all results")] = Path("results")
    study: Annotated[str, typer.Option(help="Table of the report that the row belongs to")] = "main"
    label: Label = None
    tours: Tours = False


@dataclass(frozen=True, slots=True)
class Network:
    """How a trained network is run."""

    polish: Annotated[float, typer.Option(help="Seconds of local search from the best tour")] = 0.0
    polish_on: Annotated[
        Literal["cpu", "cuda"],
        typer.Option(help="Where that search works; on cuda, seconds are for a whole batch"),
    ] = "cpu"
    seed: Seed = 0
    workers: Workers = None
    device: Device = "auto"


class Kinds(TyperGroup):
    """The commands; what was typed as in version 0.1, with --method, is answered with today's words."""

    # typer has a click of its own, whose Context has no public name.
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401
        """Refuse options before a command."""
        if args and args[0].startswith("--") and args[0] != "--help":
            raise InvalidRequest(f"the kind of method comes first; type: {self._today(args)}")
        return super().parse_args(ctx, args)

    def _today(self, words: list[str]) -> str:
        given: dict[str, list[str]] = {}
        for word in words:
            if word.startswith("--"):
                name, sign, value = word.partition("=")
                given[name] = [value] if sign else []
            elif given:
                given[list(given)[-1]].append(word)
        old = "".join(given.pop("--method", []))
        if not old:
            return f"fairway evaluate {' | '.join(self.commands)}, each with --help"
        new = [old]
        if old in ("policy", "ants"):
            new += given.pop("--policy", ["FOLDER"])
        elif old not in self.commands:
            name = old.removesuffix("-seeded")
            new = ["solver", RENAMED.get(name, name)]
            new += ["--seeded"] if name != old and "--policy" not in given else []
        if given.get("--mask") == ["drafts"]:
            given["--mask"] = ["exact"]
        params = self.commands[new[0]].params
        known = {word for each in params for word in (*each.opts, *each.secondary_opts)}
        new += [word for name in given if name in known for word in (name, *given[name])]
        return f"fairway evaluate {shlex.join(new)}"


evaluate_app = typer.Typer(
    cls=Kinds,
    help="Run a method over a test set, one line per instance; a rerun resumes.",
    no_args_is_help=True,
)


@evaluate_app.command()
@spelled_out
def policy(
    policy: Trained,
    network: Network,
    scope: Scope,
    cluster: Cluster,
    decode: Annotated[
        Literal["greedy", "starts", "sample", "beam"],
        typer.Option(help="How tours are taken from it"),
    ] = "greedy",
    symmetries: Annotated[
        bool, typer.Option(help="Decode the eight rotations and reflections of each instance")
    ] = True,
    samples: Annotated[int, typer.Option(help="Number of tours sampled per view")] = 1,
    width: Annotated[int, typer.Option(help="Beam width")] = 16,
    budget: Annotated[int, typer.Option(help="Extra steps allowed for backtracking")] = 200,
    mask: Mask = "trained",
    together: Together = 500,
) -> None:
    """Evaluate a trained policy: greedy, sampling or beam search."""
    from fairway.evaluate.methods import PolicyEval
    from fairway.inference.config import DecodeConfig

    how = DecodeConfig(decode, symmetries, samples, width, budget, _guard(mask))
    engine = cluster.workers(network.workers) if cluster.engine == "ray" else None
    config = PolicyEval(
        policy=policy, decode=how, together=together, engine=engine, **asdict(network)
    )
    size = {"sample": f" {samples}", "beam": f" {width}"}.get(decode, "")
    said = [decode + size, "x8" if symmetries else "", *_said(mask, network)]
    _evaluate(config, scope, _trained_name(policy), said)


@evaluate_app.command()
@spelled_out
def ants(
    policy: Trained,
    network: Network,
    scope: Scope,
    ants: Annotated[int, typer.Option(help="Number of ants per iteration")] = 100,
    iterations: Annotated[int, typer.Option(help="Number of iterations")] = 10,
    power: Annotated[
        float, typer.Option(help="Exponent of the heuristic; above 1, ants keep closer to it")
    ] = 1.0,
    search: Annotated[
        Literal["none", "trail", "tours"],
        typer.Option(help="Local search around tours: for the pheromone, or for the tours too"),
    ] = "none",
    last_iteration: Annotated[
        bool, typer.Option("--last-iteration", help="Count only the tours of the last iteration")
    ] = False,
    mask: Mask = "trained",
    together: Together = 32,
) -> None:
    """Evaluate a trained ant colony."""
    from fairway.evaluate.methods import AntsEval
    from fairway.inference.config import ACOConfig

    how = ACOConfig(ants, iterations, search, last_iteration, _guard(mask), power)
    config = AntsEval(policy=policy, aco=how, together=together, **asdict(network))
    said = [
        f"{ants} ants x{iterations}",
        f"power {power:g}" if power != 1 else "",
        f"search {search}" if search != "none" else "",
        "last iteration" if last_iteration else "",
        *_said(mask, network),
    ]
    _evaluate(config, scope, _trained_name(policy), said)


@evaluate_app.command()
@spelled_out
def solver(
    solver: Annotated[
        Literal[
            "fairway", "exact", "local-search", "beam", "greedy-l", "greedy-c", "pyvrp", "ortools", "lkh"
        ],
        typer.Argument(help="Fairway's solver, a part of it, a greedy rule (l: shortest way, c: tightest limit), or "
            "a solver by others"),
    ],
    scope: Scope,
    cluster: Cluster,
    seconds: Annotated[float, typer.Option(help="Time limit per instance")] = 1.0,
    policy: Annotated[
        Path | None, typer.Option(help="Trained policy whose tours the solver starts from")
    ] = None,
    seeded: Annotated[
        bool, typer.Option("--seeded", help="Start from a tour by a greedy rule or by insertion")
    ] = False,
    width: Annotated[int, typer.Option(help="Beam width")] = 16,
    trials: Annotated[
        int, typer.Option(help="Trials of LKH-3 (default: until the time limit)", show_default=False)
    ] = 1_000_000_000,
    seed: Seed = 0,
    workers: Workers = None,
    device: Annotated[
        Literal["cpu", "cuda"],
        typer.Option(help="local-search: cuda searches all instances together in the time limit"),
    ] = "cpu",
) -> None:  # fmt: skip
    """Evaluate a solver: Fairway's own, PyVRP, OR-Tools or LKH-3, or a greedy rule."""
    from fairway.evaluate.solvers import SolverEval

    config = SolverEval(
        solver=solver, seconds=seconds, seed=seed, policy=policy,
        seeded=seeded, width=width, trials=trials, workers=workers, engine=cluster.workers(workers), device=device,
    )  # fmt: skip
    said = [
        str(width) if solver == "beam" else "",
        f"{seconds:g} s" if solver not in UNTIMED else "",
        "on a GPU" if device == "cuda" else "",
        f"from {_trained_name(policy)}" if policy is not None else "",
    ]
    _evaluate(config, scope, NAMES[solver] + " seeded" * config.started, said)


@evaluate_app.command()
@spelled_out
def reference(scope: Scope) -> None:
    """Evaluate the reference tours themselves, published or shipped."""
    from fairway.evaluate.methods import ReferenceEval

    row = "best known" if scope.references is None else "LKH3"
    _evaluate(ReferenceEval(references=scope.references), scope, row)


def _evaluate(config: "EvalConfig", scope: Scope, name: str, settings: Sequence[str] = ()) -> None:
    """Run a method, show how far it is, and print its row and where its lines are.

    A row without a label has the name of its method and, after a comma, its settings.
    """
    from fairway.cli import show
    from fairway.evaluate.outcomes import packed
    from fairway.evaluate.run import Place, evaluate

    row = ", ".join(filter(None, (name, " ".join(filter(None, settings)))))
    instances = _instances(scope.bed)
    place = Place(scope.out, scope.study, instances.name, scope.label or row)
    against = _against(instances.name, scope.references)
    count = len(instances) if scope.limit is None else min(scope.limit, len(instances))
    runs = evaluate(config, instances, place, scope.limit, tours=scope.tours)
    show.out.print(_summary(_watched(runs, place.label, count), against))
    show.out.print(str(packed(place.path)), soft_wrap=True)
    raise typer.Exit(ANSWERED)


def _instances(bed: str) -> "InstanceSet":
    """A named bed, or the instances of a file, called by the file's name."""
    from fairway.problems.beds import beds, load_bed
    from fairway.problems.files import read
    from fairway.problems.instance import Instance
    from fairway.problems.sets import instance_set

    path = Path(bed)
    if bed in beds() or not (path.exists() or path.suffix):
        return load_bed(bed)
    # What is known of a named bed, its references above all, is not known of a file that is called like it.
    name = path.stem if path.stem not in beds() else path.stem + (path.suffix or ".file")
    found = read(path)
    return instance_set([found], name) if isinstance(found, Instance) else replace(found, name=name)


def _guard(mask: str) -> "MaskConfig | None":
    from fairway.kernels.lookahead.config import PAIRS, MaskConfig, MaskRule

    plain = {"trained": None, "none": MaskConfig("none"), "exact": MaskConfig("exact")}
    rules = {"0": MaskRule(0), "1": MaskRule(1), "2": MaskRule(2), "pairs": PAIRS}
    return MaskConfig(rule=rules[mask]) if mask in rules else plain[mask]


def _said(mask: str, network: Network) -> list[str]:
    where = " on a GPU" if network.polish_on == "cuda" else ""
    return [
        f"mask {mask}" if mask != "trained" else "",
        f"local search {network.polish:g} s{where}" if network.polish else "",
    ]


def _trained_name(folder: Path) -> str:
    """The paper's name of a model where it is one of the paper's, else that of its folder."""
    from fairway.policies.checkpoint import facts_of
    from fairway.recipes import paper_name

    return paper_name(str(facts_of(folder).get("policy"))) or folder.resolve().name


def _watched(runs: Iterator["Results"], label: str, count: int) -> "Results":
    """Show how far a run is, and hand back where it ends."""
    from fairway.cli import show

    with show.progress() as progress:
        task = progress.add_task(label, total=count)
        for results in runs:
            progress.update(task, completed=len(results.outcomes))
    return results


def _against(bed: str, references: Path | None) -> "Known | None":
    """What costs are compared with, read before any work is done."""
    from fairway.evaluate.tree import reference_costs_by_bed
    from fairway.problems.beds import beds

    if references is not None and bed not in beds():
        raise InvalidRequest(
            f"--references are for named beds; {bed} is a file of yours, whose costs stand alone"
        )
    return reference_costs_by_bed({} if references is None else {bed: references})(bed)


def _summary(results: "Results", against: "Known | None") -> "Table":
    """The row that was measured."""
    from fairway.evaluate.studies import bed_table, measured_of
    from fairway.evaluate.tables import filled, of, terminal

    header = results.header
    source = None if against is None else against.source
    table = bed_table(header.study, header.bed, [measured_of(results, against)], source)
    shown = tuple(c for c in table.columns if not c.aside or c.key in BESIDE)
    return terminal(filled(replace(table, columns=shown, rows=of(table, "measured"), caption="")))
