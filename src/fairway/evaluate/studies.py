"""The paper's studies as tables: what it printed, and below it what was measured, bed by bed."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fairway.errors import InvalidFile
from fairway.evaluate.metrics import PENALTY, Metrics, measure
from fairway.evaluate.outcomes import Header, Results
from fairway.evaluate.published import PublishedRow, published
from fairway.evaluate.references import References
from fairway.evaluate.tables import LAYOUT, Column, Kind, Row, Table, Value, columns_of, values_of
from fairway.problems.beds import beds

TITLES: dict[str, str] = LAYOUT["titles"]
"""In the order of the report; a study that is not here goes by its own name, after these."""
INSTANCE = "instance_seconds"
"""A column of the paper's in some of its tables only."""
FIGURES, ASIDE = columns_of("figures"), columns_of("aside", aside=True)
"""The paper's columns, and what it should have had beside them."""
EXTRAS = {column.key: column for column in columns_of("extras")}
"""What single studies vary; a measured row has it where its settings do."""
SPEED, TRAININGS = columns_of("speed"), columns_of("trainings")
SIDE_BY_SIDE = frozenset({"policy", "ants", "greedy-l", "greedy-c", "reference"})
"""Methods that work on many instances at once; the others, on one after the other in each process."""

Costs = Mapping[str, float | None]
"""By the name of the instance; None where there is no tour."""

DUMAS = "Gaps are to the optimum; published rows are made of the costs that are printed for the instances."


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
        """What a figure should not be read without: a policy's training, what is missing, times not of a CPU."""
        count, metrics = self.header.count, self.metrics
        notes = []
        training = ("training_instances", "training_seconds")
        seen, seconds = (setting_of(self.header.settings, key) for key in training)
        if seen is not None and seconds is not None:
            notes.append(f"trained on {seen:,} instances in {seconds / 60:.3g} min")
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
    """The rows of one bed, every published one among them; the source is that of the references, if there are any."""
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


def trainings_table(measured: Iterable[Measured]) -> Table:
    """How long every network was trained that was evaluated, and on how many instances."""
    rows: dict[str, Row] = {}
    for each in measured:
        settings = each.header.settings
        values = {column.key: setting_of(settings, column.key) for column in TRAININGS}
        if "weights" in settings and None not in values.values():
            rows.setdefault(settings["weights"], Row("measured", str(settings["policy"]), values))
    ordered = sorted(rows.values(), key=lambda row: row.label)
    return Table("The trainings behind the measured rows", TRAININGS, tuple(ordered))


def measured_of(results: Results, against: References | None) -> Measured:
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
    if not measured and any(
        "training_seconds" in it.extra or "times_faster" in it.extra for it in rows
    ):
        return "Measured trainings are in the last table of this page."
    if not measured:
        return "Nothing was measured yet."
    sentences = ["No reference costs are known, so that measured gaps are missing."]
    if source is not None:
        penalised = f"penalised ones count an instance without a tour at {PENALTY:g} %"
        sentences = [f"Measured gaps are to {source}; {penalised}."]
    run = {name(m.header.label) for m in measured for name in (plain, method_of)}
    absent = dict.fromkeys(row.label for row in rows if plain(row.label) not in run)
    if absent:
        sentences.append(f"Published only: {', '.join(absent)}.")
    return " ".join(sentences)


def dumas_tables(results: Sequence[Results]) -> list[Table]:
    """How many instances of Dumas et al. each method solves and how well, then instance by instance."""
    rows = [row for row in published("dumas") if "optimum" in row.extra]
    optimum = {row.bed: row.extra["optimum"] for row in rows}
    said = {
        label: {row.bed: row.objective for row in rows if row.label == label}
        for label in dict.fromkeys(row.label for row in rows)
    }
    found: dict[str, dict[str, float | None]] = {}
    for each in results:
        found.setdefault(each.header.label, {}).update(_by_name(each))
    overall = [
        Row(kind, label, _summed(costs, optimum))
        for kind, methods in (("published", said), ("measured", found))
        for label, costs in methods.items()
    ]
    columns = tuple(column for column in FIGURES if column.key in ("inst", "gap", "instances"))
    tables = [Table("All instances", columns, tuple(overall), DUMAS)]
    tables.append(_by_instance("Instance by instance, published", "published", said, optimum))
    if found:
        tables.append(_by_instance("Instance by instance, measured", "measured", found, optimum))
    return tables


def _by_name(results: Results) -> dict[str, float | None]:
    """A file of the library is a bed by itself, and its one instance goes by the name of that bed."""
    header, outcomes = results.header, results.outcomes
    if any(outcome.index > 0 for outcome in outcomes):
        raise InvalidFile(
            f"dumas/{header.bed}, {header.label!r}: holds more than the one instance of a file of Dumas et al.; "
            "delete it, and run fairway evaluate solver fairway --study dumas --bed FILE for each of them"
        )
    return {header.bed: outcomes[0].cost} if outcomes else {}


def _summed(costs: Costs, optimum: Mapping[str, float]) -> dict[str, Value]:
    solved = [(cost, optimum.get(name, np.nan)) for name, cost in costs.items() if cost is not None]
    gaps = [100 * (cost / best - 1) for cost, best in solved if not np.isnan(best)]
    return {
        "inst": round(100 * (1 - len(solved) / len(costs)), 2) if costs else np.nan,
        "gap": round(float(np.mean(gaps)), 2) if gaps else np.nan,
        "instances": len(costs),
    }


def _by_instance(
    title: str, kind: Kind, methods: Mapping[str, Costs], optimum: Mapping[str, float]
) -> Table:
    """One row per instance, a pair of columns per method."""
    columns = [Column("optimum", "Opt.", "count")]
    for label in methods:
        columns.append(Column(f"{label} cost", label, "count"))
        columns.append(Column(f"{label} gap", "Gap", "percent"))
    names = dict.fromkeys(name for costs in methods.values() for name in costs)
    rows = []
    for name in names:
        best = optimum.get(name)
        values: dict[str, Value] = {"optimum": best}
        for label, costs in methods.items():
            values[f"{label} cost"] = cost = costs.get(name)
            if cost is not None and best is not None:
                values[f"{label} gap"] = round(100 * (cost / best - 1), 2)
        rows.append(Row(kind, name, values))
    return Table(title, tuple(columns), tuple(rows))
