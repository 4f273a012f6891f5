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
from fairway.evaluate.figures import boxes_figure, breaks_figure, study_figure
from fairway.evaluate.outcomes import Results
from fairway.evaluate.published import published
from fairway.evaluate.published import studies as printed_studies
from fairway.evaluate.references import References
from fairway.evaluate.studies import (
    TITLES,
    Measured,
    bed_table,
    beds_of,
    dumas_tables,
    measured_of,
    method_of,
    plain,
    speed_table,
    trainings_table,
)
from fairway.evaluate.tables import LAYOUT, Row, Table, columns_of, comma_separated, markdown, of
from fairway.evaluate.tree import FORESIGHT, Against, Tree, reference_costs_by_bed
from fairway.pictures import save
from fairway.pictures.curves import curve_of, draw_foresight

INDEX = "README.md"

OWN: dict[str, str] = LAYOUT["own"]
"""Pages that are made of other studies' results."""
COMMANDS: dict[str, list[str]] = LAYOUT["commands"]
"""What gives a page to a study of which nothing is published."""
NOTES: dict[str, str] = LAYOUT["notes"]
WORDS: dict[str, str] = LAYOUT["words"]


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """What one bed adds to a page."""

    page: str
    table: Table
    picture: Figure | None = None
    bed: str = ""

    @property
    def file(self) -> str:
        """Of the picture."""
        return f"{self.page}-{self.bed}.png" if self.bed else f"{self.page}.png"


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
    if (trainings := trainings_table(run)).rows:
        parts.append(Part("training-time", trainings))
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
        yield Part(study, table, study_figure(study, bed, table), bed)
        if study == "main":
            yield from _beside(bed, results, costs)


def _beside(bed: str, results: Sequence[Results], against: References | None) -> Iterator[Part]:
    """What else the results of the main tables tell: which methods differ, and where tours fail."""
    order = ranked(results, against)
    if len(order) > 1:
        pairs = comparisons(order)
        boxes = None if against is None else boxes_figure(bed, order, pairs, against)
        yield Part("significance", significance_table(bed, order, pairs), boxes, bed)
    if (picture := breaks_figure(bed, results)) is not None:
        yield Part("breaks", breaks_table(bed, results), picture, bed)


def _overlap(tree: Tree, bed: str, results: Sequence[Results], against: Against) -> Part:
    """Those with one tour per instance are the ones without augmentation; the others may stand in the main table."""
    single = [each for each in results if all(outcome.tours <= 1 for outcome in each.outcomes)]
    augmented = [each for each in results if each not in single]
    if not augmented:
        wanted = {plain(row.label) for row in published("overlap", bed)}
        main = tree.results("main", bed)
        augmented = [each for each in main if method_of(each.header.label) in wanted]
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
        columns = columns_of(FORESIGHT)
        rows = []
        for name, curve in curves:
            last = {each.key: float(getattr(curve, each.key)[-1]) for each in columns}
            rows.append(Row("measured", name, last))
        table = Table("At the end of training", columns, tuple(rows))
        yield Part(FORESIGHT, table, draw_foresight(OWN[FORESIGHT], curves))


def _write_page(out: Path, name: str, parts: Sequence[Part]) -> list[Path]:
    """One page as Markdown and as CSV, and its pictures."""
    texts = [f"# {_title(name)}\n", *(f"{note}\n" for page, note in NOTES.items() if page == name)]
    files = [out / f"{name}.md", out / f"{name}.csv"]
    for part in parts:
        texts.append(markdown(part.table))
        if part.picture is not None:
            save(part.picture, out / part.file)
            files.append(out / part.file)
            texts.append(f"![{part.table.title or _title(name)}]({part.file})\n")
    atomic.write_bytes(files[0], "\n".join(texts).encode())
    atomic.write_bytes(files[1], comma_separated(part.table for part in parts).encode())
    return files


def _index(pages: Mapping[str, Sequence[Part]]) -> str:
    lines = ["# Results\n\n"]
    if not any(map(_measured_rows, pages.values())):
        lines.append(WORDS["unmeasured"])
    lines.append(WORDS["index"])
    for name, parts in pages.items():
        pictures = sum(part.picture is not None for part in parts)
        lines.append(
            f"| [{_title(name)}]({name}.md) | {_measured_rows(parts)} | {pictures} | [csv]({name}.csv) |\n"
        )
    absent = [name for name in COMMANDS if name not in pages]
    lines += [WORDS["to_do"]] if absent else []
    for name in absent:
        commands = "<br>".join(f"`{command}`" for command in COMMANDS[name])
        lines.append(f"| {_title(name)} | {commands} |\n")
    return "".join(lines)


def _measured_rows(parts: Sequence[Part]) -> int:
    return sum(len(of(part.table, "measured")) for part in parts)


def _title(name: str) -> str:
    return TITLES.get(name) or OWN.get(name) or name
