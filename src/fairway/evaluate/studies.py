"""The paper's studies as tables: what it printed, and below it what was measured, bed by bed."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fairway.evaluate.metrics import Metrics, ReferenceCosts, measure
from fairway.evaluate.outcomes import Header, Results
from fairway.evaluate.published import PublishedRow, published
from fairway.evaluate.tables import Column, Row, Table, Value
from fairway.problems.beds import beds

TITLES = {
    "main": "Tables 1 and 2: TSPTW and TSPDL",
    "large": "Table 3: TSPTW with 500 nodes",
    "mask-steps": "Tables 4 and 5: how far the mask looks ahead",
    "equal-instance-time": "Table 6: LKH-3 with as much time for each instance",
    "equal-total-time": "Table 7: LKH-3 with as much time for the whole bed",
    "overlap": "Table 10: gaps on the instances that all methods solve",
    "time-limits": "Table 11: LKH-3 under time limits",
    "hybrid": "Table 11: LKH-3 started from a policy's tours",
    "fine-tuning": "Table 12: fine-tuning with the mask",
    "longer-inference": "Table 13: more tours for each instance",
    "schedule": "Table 14: when the PIP decoder is updated",
    "normalisation": "Table 14: layers of normalisation",
    "lambda": "The weight of the penalties, lambda",
    "count": "With and without counting the nodes in violation, J_IN",
    "dumas": "Table 15: the instances of Dumas et al.",
    "start-nodes": "POMO's starting nodes",
    "training-time": "How long training takes",
    "beams": "Beams with and without a policy",
    "guided": "Solving with and without a policy",
}
"""In the order of the report; a study that is not here goes by its own name, after these."""

INSTANCE = "instance_seconds"
"""A column of the paper's in some of its tables only."""

FIGURES = (
    Column("sol", "Sol.", "percent"),
    Column("inst", "Inst.", "percent"),
    Column("objective", "Obj.", "number"),
    Column("gap", "Gap", "percent"),
    Column("seconds", "Time", "seconds"),
    Column(INSTANCE, "per instance", "seconds"),
    Column("instances", "Instances", "count"),
    Column("note", "Note"),
)
"""The paper's columns; the time is for the whole bed."""

ASIDE = (
    Column("strict_sol", "Sol., strictly", "percent", aside=True),
    Column("strict_inst", "Inst., strictly", "percent", aside=True),
    Column("inst_interval", "Inst., 95 %", "percent", aside=True),
    Column("gap_valid", "Gap, valid references", "percent", aside=True),
    Column("gap_interval", "its 95 %", "percent", aside=True),
    Column("refused", "references refused", "count", aside=True),
    Column("gap_penalised", "Gap, penalised", "percent", aside=True),
    Column("proved", "proved", "count", aside=True),
    Column("timed", "timed", "count", aside=True),
)
"""What it should have had beside them."""

EXTRAS = {
    "steps": Column("steps", "Steps", "count"),
    "trials": Column("trials", "Trials", "count"),
    "tours": Column("tours", "Tours", "count"),
    "epochs": Column("epochs", "Epochs", "count"),
    "tuning_epochs": Column("tuning_epochs", "Epochs of tuning", "count"),
    "training_seconds": Column("training_seconds", "Training", "seconds"),
    "first_epochs": Column("first_epochs", "First epochs", "count"),
    "period": Column("period", "Period", "count"),
    "update_epochs": Column("update_epochs", "Updates", "count"),
    "last_epochs": Column("last_epochs", "Last epochs", "count"),
    "times_faster": Column("times_faster", "Times faster", "number"),
}
"""What single studies vary; a measured row has it where its settings do."""

SPEED = (
    Column("bed", "bed"),
    Column("device", "device"),
    Column("workers", "workers", "count"),
    Column("mode", "mode"),
    Column("at_once", "timed at once", "count"),
    Column("instance_seconds", "clock, per instance", "seconds"),
    Column("work_seconds", "work, per instance", "seconds"),
    Column("ten_thousand", "clock, per 10,000", "seconds"),
    Column("timed", "timed", "count"),
)


SIDE_BY_SIDE = frozenset({"policy", "ants", "greedy-l", "greedy-c", "reference"})
"""Methods that work on many instances at once; the others, on one after the other in each process."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What was run and what it amounts to, without the outcomes."""

    header: Header
    metrics: Metrics


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
    lines += [Row("measured", m.header.label, values_of(m, keys)) for m in by_place]
    numbers = sorted({row.table for row in rows if row.table})
    title = f"{bed} ({', '.join(numbers)})" if numbers else bed
    caption = _caption(rows, measured, source)
    return Table(title, (*extras, *figures, *ASIDE), tuple(lines), caption)


def values_of(measured: Measured, extras: Iterable[str] = ()) -> dict[str, Value]:
    """A measured row by the keys of its columns."""
    header, metrics = measured.header, measured.metrics
    values: dict[str, Value] = {"tours": metrics.tours}
    values |= {key: setting_of(header.settings, key) for key in extras if key != "tours"}
    values |= {
        "sol": metrics.sol_infeasible,
        "inst": metrics.inst_infeasible,
        "objective": metrics.objective,
        "instances": metrics.instances,
        "strict_sol": metrics.strict_sol,
        "strict_inst": metrics.strict_inst,
        "inst_interval": metrics.inst_interval,
        "proved": metrics.proved,
    }
    if note := _note(measured):
        values["note"] = note
    if (gap := metrics.gap) is not None:
        values |= {
            "gap": gap.stated,
            "gap_valid": gap.valid,
            "gap_interval": gap.interval,
            "refused": gap.refused,
            "gap_penalised": gap.penalised,
        }
    if (speed := metrics.speed) is not None:
        size = beds()[header.bed].count if header.bed in beds() else metrics.instances
        values |= {
            "seconds": speed.of(size),
            "seconds_about": speed.instances < size,
            "instance_seconds": speed.per_instance,
            "timed": speed.instances,
        }
    return values


def _note(measured: Measured) -> str:
    """What a figure should not be read without: what is missing, and where time was not taken on a CPU."""
    count, metrics = measured.header.count, measured.metrics
    notes = []
    if metrics.instances < count:
        notes.append(f"unfinished: {metrics.instances:,} of {count:,}")
    if metrics.speed is not None and metrics.speed.device != "cpu":
        notes.append(f"timed on {metrics.speed.device}")
    return ", ".join(notes)


def speed_table(measured: Iterable[Measured]) -> Table:
    """How fast everything was that was run."""
    rows = []
    for each in measured:
        if (speed := each.metrics.speed) is not None:
            fields: dict[str, Value] = {
                "bed": each.header.bed,
                "device": speed.device,
                "workers": speed.workers,
                "mode": "batch"
                if each.header.method in SIDE_BY_SIDE and speed.at_once > 1
                else "single",
                "at_once": speed.at_once,
                "instance_seconds": speed.per_instance,
                "work_seconds": speed.work_per_instance,
                "ten_thousand": speed.per_ten_thousand,
                "ten_thousand_about": speed.extrapolated,
                "timed": speed.instances,
            }
            rows.append(Row("measured", each.header.label, fields))
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
    figures: dict[str, Value] = {
        "sol": row.sol, "inst": row.inst, "objective": row.objective, "gap": row.gap,
        "seconds": row.seconds, "note": note,
    }  # fmt: skip
    return {**figures, **row.extra}


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
