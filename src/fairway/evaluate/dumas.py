"""The library instances of Dumas et al., of which the paper prints every one."""

from collections.abc import Mapping, Sequence

import numpy as np

from fairway.errors import InvalidFile
from fairway.evaluate.outcomes import Results
from fairway.evaluate.published import published
from fairway.evaluate.studies import FIGURES
from fairway.evaluate.tables import Column, Kind, Row, Table, Value

Costs = Mapping[str, float | None]
"""By the name of the instance; None where there is no tour."""

CAPTION = "Gaps are to the optimum; published rows are made of the costs that are printed for the instances."


def dumas_tables(results: Sequence[Results]) -> list[Table]:
    """How many of the library's instances each method solves and how well, then instance by instance."""
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
    tables = [Table("All instances", columns, tuple(overall), CAPTION)]
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
    """A row an instance, a pair of columns a method."""
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
