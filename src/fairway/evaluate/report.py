"""From a folder of evaluations to a folder of tables and pictures, with an index that links them all."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure

from fairway import atomic
from fairway.errors import InvalidFile
from fairway.evaluate.comparisons import (
    breaks_table,
    comparisons,
    overlap_table,
    ranked,
    significance_table,
)
from fairway.evaluate.dumas import dumas_tables
from fairway.evaluate.figures import boxes_figure, breaks_figure, study_figure
from fairway.evaluate.metrics import ReferenceCosts
from fairway.evaluate.outcomes import Results
from fairway.evaluate.published import published
from fairway.evaluate.published import studies as printed_studies
from fairway.evaluate.studies import (
    TITLES,
    Measured,
    bed_table,
    beds_of,
    measured_of,
    plain,
    speed_table,
)
from fairway.evaluate.tables import Column, Row, Table, comma_separated, markdown, of
from fairway.evaluate.tree import FORESIGHT, Against, Tree, reference_costs_by_bed
from fairway.pictures import save
from fairway.pictures.curves import curve_of, draw_foresight

INDEX = "README.md"

OWN = {
    "significance": "Which differences are more than chance",
    "breaks": "Where infeasibility starts",
    FORESIGHT: "How well PIP-D heads foresee the mask",
    "speed": "How fast inference is",
}
"""Pages that are made of other studies' results."""

UNMEASURED = "Nothing was measured: only the published figures are shown."
TO_DO = """\

## Not measured yet

| | what fills it |
|---|---|
"""

_ON = "--bed tsptw50-hard"
_GREEDY = f"fairway evaluate solver greedy-c {_ON}"
_GUIDED = "fairway evaluate solver fairway --bed tspdl500-hard --study guided"
COMMANDS = {
    "lambda": (
        "fairway train pomo-star-lambda2-tsptw50-hard --full",
        f'fairway evaluate policy runs/pomo-star-lambda2-tsptw50-hard {_ON} --study lambda --label "lambda 2"',
    ),
    "count": (
        "fairway train pomo-star-nocount-tsptw50-hard --full",
        f'fairway evaluate policy runs/pomo-star-nocount-tsptw50-hard {_ON} --study count --label "without J_IN"',
    ),
    "beams": (f"fairway evaluate solver beam {_ON} --study beams",),
    "guided": (
        f"{_GUIDED} --label without",
        f"{_GUIDED} --policy general-tspdl --label 'with the policy'",
    ),
    "significance": (_GREEDY, f"fairway evaluate solver fairway {_ON} --limit 1000"),
    "breaks": (_GREEDY,),
    FORESIGHT: (
        "fairway train pomo-star-pip-d-tsptw50-hard --full",
        f"mkdir -p results/{FORESIGHT}",
        f"cp runs/pomo-star-pip-d-tsptw50-hard/log.jsonl results/{FORESIGHT}/tsptw50-hard.jsonl",
    ),
    "speed": (_GREEDY,),
}
"""What gives a page to a study of which nothing is published."""

WORDS = """\
Rows marked *published* are the figures that their authors printed, times included (one RTX 3090, or 16 cores). Rows
marked *measured* were run here, and every tour of theirs was judged.

- **Sol.**, **Inst.**: percent of all tours, and of all instances, that are infeasible at the paper's tolerance. A
  solver that finds no tour counts as one tour that failed. *Strictly* is at the judge's own tolerance.
- **Obj.**: the mean over the instances solved of the best cost, in the paper's units. **Gap**: over the same instances,
  the mean of the ratios to the reference costs as they stand, which is the paper's way.
- **Gap, valid references** leaves out the instances whose reference the judge refuses. Its 95 % interval is DiCiccio
  and Efron's approximate bootstrap over instances; that of Inst. is Wilson's.
- **Gap, penalised** counts the instances without a tour as well, at a gap that is stated with each table.
- **Time** is for the whole bed; after a tilde it is extrapolated from the instances that were timed.
"""

SPEED_WORDS = "A time after a tilde is extrapolated from the instances that were timed."
BOX_WORDS = "Two-sided signed-rank tests of Wilcoxon between costs on the instances that both methods solve."
FORESIGHT_COLUMNS = (
    Column("instances", "Instances seen", "count"),
    Column("accuracy", "Accuracy", "percent"),
    Column("recall", "Recall", "percent"),
    Column("specificity", "Specificity", "percent"),
)


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """What one bed adds to a page."""

    page: str
    table: Table
    picture: tuple[str, Figure] | None = None
    """With the name of its file."""


@dataclass(frozen=True, slots=True)
class Written:
    """What a report left behind."""

    index: Path
    files: tuple[Path, ...]
    """All others."""
    measured: tuple[Measured, ...]
    """Every evaluation that it is made of."""
    rows: int
    """Of all pages, those that were measured: 0 where there are published figures alone."""


def report(root: Path, out: Path, references: Mapping[str, Path] | None = None) -> Written:
    """Write every table and picture that a folder of evaluations has the results for.

    Args:
        root: Evaluations as `STUDY/BED/LABEL.jsonl.xz`, and logs of trainings as `foresight/NAME.jsonl`.
        out: The folder to write into; it is made where it is missing.
        references: Files of reference costs by bed; for other beds those that ship with Fairway are used.
    """
    tree, against = Tree(root), reference_costs_by_bed(references or {})
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidFile(f"{out}: cannot be made a folder ({error.strerror})") from error
    run: list[Measured] = []
    parts = [part for study in _order(tree) for part in _study(tree, study, against, run.append)]
    parts += _foresight(tree)
    if (speeds := speed_table(run)).rows:
        parts.append(Part("speed", speeds))
    pages = {name: [part for part in parts if part.page == name] for name in _names(parts)}
    files = [path for name, page in pages.items() for path in _write_page(out, name, page)]
    atomic.write_bytes(out / INDEX, _index(pages).encode())
    rows = sum(map(_measured_rows, pages.values()))
    return Written(out / INDEX, tuple(files), tuple(run), rows)


def _order(tree: Tree) -> list[str]:
    known = {*printed_studies(), *tree.studies(), *TITLES}
    return [*TITLES, *sorted(known - set(TITLES))]


def _names(parts: Sequence[Part]) -> list[str]:
    """The pages, those made of other studies' results last."""
    found = dict.fromkeys(part.page for part in parts)
    return [*(name for name in found if name not in OWN), *(name for name in OWN if name in found)]


def _study(
    tree: Tree, study: str, against: Against, keep: Callable[[Measured], None]
) -> Iterator[Part]:
    """The parts of a study, one bed after the other, so that the outcomes of one are in memory at a time."""
    if study == "dumas":
        found = [each for bed in tree.beds(study) for each in tree.results(study, bed)]
        for each in found:
            keep(measured_of(each, None))
        yield from (Part(study, table) for table in dumas_tables(found))
        return
    for bed in beds_of(study, tree.beds(study)):
        results = tree.results(study, bed)
        costs = against(bed) if results else None  # which takes seconds
        measured = [measured_of(each, costs) for each in results]
        for each in measured:
            keep(each)
        if study == "overlap":
            yield _overlap(tree, bed, results, against)
            continue
        table = bed_table(study, bed, measured, None if costs is None else costs.source)
        yield Part(study, table, _named(f"{study}-{bed}", study_figure(study, bed, table)))
        if study == "main":
            yield from _beside(bed, results, costs)


def _beside(bed: str, results: Sequence[Results], against: ReferenceCosts | None) -> Iterator[Part]:
    """What else the results of the main tables tell: which methods differ, and where tours fail."""
    order = ranked(results, against)
    if len(order) > 1:
        pairs = comparisons(order)
        boxes = None if against is None else boxes_figure(bed, order, pairs, against)
        table = significance_table(bed, order, pairs)
        yield Part("significance", table, _named(f"significance-{bed}", boxes))
    if (picture := breaks_figure(bed, results)) is not None:
        yield Part("breaks", breaks_table(bed, results), _named(f"breaks-{bed}", picture))


def _overlap(tree: Tree, bed: str, results: Sequence[Results], against: Against) -> Part:
    """Those with one tour an instance are the ones without augmentation; the others may stand in the main table."""
    single = [each for each in results if all(outcome.tours <= 1 for outcome in each.outcomes)]
    augmented = [each for each in results if each not in single]
    if not augmented:
        wanted = {plain(row.label) for row in published("overlap", bed)}
        main = tree.results("main", bed)
        augmented = [each for each in main if plain(each.header.label) in wanted]
    costs = against(bed) if augmented or single else None
    return Part("overlap", overlap_table(bed, augmented, single, costs))


def _foresight(tree: Tree) -> Iterator[Part]:
    curves = []
    for name, entries in tree.logs():
        if (curve := curve_of(entries)) is None:
            raise InvalidFile(
                f"{tree.root / FORESIGHT / name}.jsonl: has no record of a PIP-D head"
            )
        curves.append((name, curve))
    if curves:
        rows = tuple(
            Row("measured", name, {
                "instances": int(curve.instances[-1]), "accuracy": float(curve.accuracy[-1]),
                "recall": float(curve.recall[-1]), "specificity": float(curve.specificity[-1]),
            })
            for name, curve in curves
        )  # fmt: skip
        table = Table("At the end of training", FORESIGHT_COLUMNS, rows)
        yield Part(FORESIGHT, table, (FORESIGHT, draw_foresight(OWN[FORESIGHT], curves)))


def _named(name: str, figure: Figure | None) -> tuple[str, Figure] | None:
    return None if figure is None else (name, figure)


def _write_page(out: Path, name: str, parts: Sequence[Part]) -> list[Path]:
    """One page as Markdown and as CSV, and its pictures."""
    words = {"speed": SPEED_WORDS, "significance": BOX_WORDS}.get(name)
    texts = [f"# {_title(name)}\n", *([f"{words}\n"] if words else [])]
    files = [out / f"{name}.md", out / f"{name}.csv"]
    for part in parts:
        texts.append(markdown(part.table))
        if part.picture is not None:
            file, figure = part.picture
            save(figure, out / f"{file}.png")
            files.append(out / f"{file}.png")
            texts.append(f"![{part.table.title or _title(name)}]({file}.png)\n")
    atomic.write_bytes(files[0], "\n".join(texts).encode())
    atomic.write_bytes(files[1], comma_separated(part.table for part in parts).encode())
    return files


def _index(pages: Mapping[str, Sequence[Part]]) -> str:
    lines = ["# Results\n\n"]
    if not any(map(_measured_rows, pages.values())):
        lines.append(f"**{UNMEASURED}**\n\n")
    lines += [WORDS, "\n| | measured rows | pictures | |\n|---|---:|---:|---|\n"]
    for name, parts in pages.items():
        pictures = sum(part.picture is not None for part in parts)
        lines.append(
            f"| [{_title(name)}]({name}.md) | {_measured_rows(parts)} | {pictures} | [csv]({name}.csv) |\n"
        )
    absent = [name for name in COMMANDS if name not in pages]
    lines += [TO_DO] if absent else []
    for name in absent:
        commands = "<br>".join(f"`{command}`" for command in COMMANDS[name])
        lines.append(f"| {_title(name)} | {commands} |\n")
    return "".join(lines)


def _measured_rows(parts: Sequence[Part]) -> int:
    return sum(len(of(part.table, "measured")) for part in parts)


def _title(name: str) -> str:
    return TITLES.get(name) or OWN.get(name) or name
