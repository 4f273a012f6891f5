"""The paper's studies as tables: what it printed, and below it what was measured, bed by bed."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fairway.evaluate.metrics import Metrics, ReferenceCosts, measure
from fairway.evaluate.outcomes import Header, Results
from fairway.evaluate.published import PublishedRow, published
from fairway.evaluate.tables import LAYOUT, Column, Row, Table, Value, columns_of, values_of
from fairway.problems.beds import beds

TITLES: dict[str, str] = LAYOUT["titles"]
"""In the order of the report; a study that is not here goes by its own name, after these."""
INSTANCE = "instance_seconds"
"""A column of the paper's in some of its tables only."""
FIGURES, ASIDE = columns_of("figures"), columns_of("aside", aside=True)
"""The paper's columns, and what it should have had beside them."""
EXTRAS = {column.key: column for column in columns_of("extras")}
"""What single studies vary; a measured row has it where its settings do."""
SPEED = columns_of("speed")
SIDE_BY_SIDE = frozenset({"policy", "ants", "greedy-l", "greedy-c", "reference"})
"""Methods that work on many instances at once; the others, on one after the other in each process."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What was run and what it amounts to, without the outcomes."""

    header: Header
    metrics: Metrics

    @property
    def size(self) -> int:
        """Instances of the bed, or those that were run of a file."""
        bed = self.header.bed
        return beds()[bed].count if bed in beds() else self.metrics.instances

    @property
    def seconds(self) -> float | None:
        """For the whole bed."""
        return None if self.metrics.speed is None else self.metrics.speed.of(self.size)

    @property
    def mode(self) -> str:
        """Whether instances were worked on side by side."""
        many = self.metrics.speed is not None and self.metrics.speed.at_once > 1
        return "batch" if many and self.header.method in SIDE_BY_SIDE else "single"

    @property
    def note(self) -> str:
        """What a figure should not be read without: what is missing, and where time was not taken on a CPU."""
        count, metrics = self.header.count, self.metrics
        notes = []
        if metrics.instances < count:
            notes.append(f"unfinished: {metrics.instances:,} of {count:,}")
        if metrics.speed is not None and metrics.speed.device != "cpu":
            notes.append(f"timed on {metrics.speed.device}")
        return ", ".join(notes)


def plain(label: str) -> str:
    """A label as it is compared: `POMO* + PIP` and `POMO*+PIP` name one row, and so do `OR-Tools` and `ORTools`."""
    return "".join(label.replace("-", "").split()).casefold()


def method_of(label: str) -> str:
    """The method that a label names, as it is compared; what stands after a comma is its setting."""
    return plain(label.partition(",")[0])


def in_order(rows: Sequence[PublishedRow], labels: Iterable[str]) -> list[str]:
    """Labels as the paper has its rows, then by name."""
    place = {label: at for at, label in enumerate(dict.fromkeys(plain(row.label) for row in rows))}
    last = len(place)
    known = {label: place.get(plain(label), place.get(method_of(label), last)) for label in labels}
    return sorted(known, key=lambda label: (known[label], label))


def beds_of(study: str, found: Iterable[str]) -> list[str]:
    """The beds with published or measured rows, in the order of the beds, then of the tables."""
    known = [*dict.fromkeys([*(row.bed for row in published(study)), *sorted(found)])]
    order = {bed: place for place, bed in enumerate(beds())}
    return sorted(known, key=lambda bed: order.get(bed, len(order)))


def bed_table(study: str, bed: str, measured: Sequence[Measured], source: str | None) -> Table:
    """The rows of one bed, every published one among them.

    Args:
        study: The name of the study.
        bed: The name of the bed.
        measured: What was run on it for this study.
        source: Where the reference costs come from that measured gaps are taken to; None without.
    """
    rows = published(study, bed)
    keys = dict.fromkeys(key for row in rows for key in row.extra)
    figures = tuple(
        replace(column, aside=column.key == INSTANCE and INSTANCE not in keys) for column in FIGURES
    )
    keys = [key for key in keys if key != INSTANCE]
    extras = tuple(EXTRAS.get(key, Column(key, key.replace("_", " "), "number")) for key in keys)
    lines = [Row("published", row.label, _printed_values(row)) for row in rows]
    order = in_order(rows, (m.header.label for m in measured))
    by_place = sorted(measured, key=lambda m: order.index(m.header.label))
    lines += [Row("measured", m.header.label, _measured_values(m, keys)) for m in by_place]
    numbers = sorted({row.table for row in rows if row.table})
    title = f"{bed} ({', '.join(numbers)})" if numbers else bed
    caption = _caption(rows, measured, source)
    return Table(title, (*extras, *figures, *ASIDE), tuple(lines), caption)


def _measured_values(measured: Measured, extras: Iterable[str]) -> dict[str, Value]:
    settings = {key: setting_of(measured.header.settings, key) for key in extras}
    values = {**settings, "tours": measured.metrics.tours}
    if (speed := measured.metrics.speed) is not None:
        values["seconds_about"] = speed.instances < measured.size
    return values | values_of(measured, (*FIGURES, *ASIDE))


def speed_table(measured: Iterable[Measured]) -> Table:
    """How fast everything was that was run."""
    rows = [
        Row("measured", each.header.label, {**values_of(each, SPEED), "ten_thousand_about": speed.extrapolated})
        for each in measured if (speed := each.metrics.speed) is not None
    ]  # fmt: skip
    return Table("", SPEED, tuple(rows))


def measured_of(results: Results, against: ReferenceCosts | None) -> Measured:
    """The same evaluation without its outcomes."""
    return Measured(results.header, measure(results, against))


def setting_of(settings: Mapping[str, Any], key: str) -> float | None:
    """A number among the settings, however deep it stands; None where there is none of that name."""
    value = settings.get(key)
    if isinstance(value, int | float):
        return value
    inner = (setting_of(each, key) for each in settings.values() if isinstance(each, Mapping))
    return next((found for found in inner if found is not None), None)


def _printed_values(row: PublishedRow) -> dict[str, Value]:
    source = "" if row.source == "paper" else row.source
    note = ", ".join(part for part in (source, row.note) if part)
    figures = {key: getattr(row, key) for key in ("sol", "inst", "objective", "gap", "seconds")}
    return {**figures, "note": note, **row.extra}


def _caption(rows: list[PublishedRow], measured: Sequence[Measured], source: str | None) -> str:
    if not measured:
        return "Nothing was measured yet."
    sentences = ["No reference costs are known, so that measured gaps are missing."]
    if source is not None:
        penalties = {m.metrics.gap.penalty for m in measured if m.metrics.gap is not None}
        penalty = ", ".join(f"{each:g} %" for each in sorted(penalties))
        sentences = [
            f"Measured gaps are to {source}; penalised ones count an instance without a tour at {penalty}."
        ]
    run = {name(m.header.label) for m in measured for name in (plain, method_of)}
    absent = dict.fromkeys(row.label for row in rows if plain(row.label) not in run)
    if absent:
        sentences.append(f"Published only: {', '.join(absent)}.")
    return " ".join(sentences)
