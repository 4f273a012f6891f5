"""Methods side by side on one bed: gaps on what all of them solve, and which differences are more than chance."""

from collections.abc import Sequence
from itertools import combinations, pairwise

import numpy as np

from fairway.evaluate.metrics import Yardstick, broken_at
from fairway.evaluate.outcomes import Results
from fairway.evaluate.significance import Comparison, compare, mean_gap, overlap
from fairway.evaluate.studies import in_order, printed
from fairway.evaluate.tables import Column, Row, Table, Value

OVERLAP = (
    Column("gap", "Gap", "percent"),
    Column("overlap_gap_augmented", "on the overlap", "percent"),
    Column("overlap_gap_plain", "the same, one tour each", "percent"),
    Column("overlap_augmented", "Overlap", "count"),
    Column("overlap_plain", "the same, one tour each", "count"),
)

PAIRS = (
    Column("common", "both solve", "count"),
    Column("better", "the first is better", "count"),
    Column("worse", "the second is", "count"),
    Column("p", "p", "chance"),
    Column("stars", ""),
)

BREAKS = (
    Column("refused", "tours refused", "count"),
    Column("first", "at the first stop", "percent"),
    Column("half", "half of them by stop", "count"),
    Column("most", "nine tenths by stop", "count"),
)

ALL_PAIRS_UP_TO = 5
"""Methods of which every two are compared; of more, those whose gaps are next to each other."""


def overlap_table(
    bed: str, augmented: Sequence[Results], single: Sequence[Results], against: Yardstick | None
) -> Table:
    """Gaps on what all methods solve, as Table 10 has them; the measured ones to valid references alone."""
    said = printed("overlap", bed)
    rows = [Row("published", row.label, {"gap": row.gap, **row.extra}) for row in said]
    families = {"augmented": augmented, "plain": single}
    labels = in_order(said, (each.header.label for each in (*augmented, *single)))
    values: dict[str, dict[str, Value]] = {label: {} for label in labels}
    numbers: dict[str, Value] = {}
    for name, family in families.items():
        common = overlap(family)
        if family:
            numbers[f"overlap_{name}"] = len(common)
        if against is None:
            continue
        for each in family:
            row = values[each.header.label]
            row.setdefault("gap", mean_gap(each, against.valid, each.index[each.solved]))
            row[f"overlap_gap_{name}"] = mean_gap(each, against.valid, common)
    rows += [Row("measured", label, row) for label, row in values.items()]
    if numbers:
        rows.append(Row("measured", "Overlap number", numbers))
    caption = "" if against is None or not labels else f"Measured gaps are to {against.source}."
    return Table(bed, OVERLAP, tuple(rows), caption)


def ranked(results: Sequence[Results], against: Yardstick | None) -> list[Results]:
    """The methods that solve anything, by their mean gaps, or by their mean costs where there is no reference."""
    able = [each for each in results if each.solved.any()]
    if against is None:
        return sorted(able, key=lambda each: float(each.cost[each.solved].mean()))
    return sorted(able, key=lambda each: mean_gap(each, against.valid, each.index[each.solved]))


def comparisons(ranked: Sequence[Results]) -> list[tuple[int, int, Comparison]]:
    """Which methods differ: every two of a few, else the neighbours of a ranking."""
    places = range(len(ranked))
    pairs = combinations(places, 2) if len(ranked) <= ALL_PAIRS_UP_TO else pairwise(places)
    return [(one, other, compare(ranked[one], ranked[other])) for one, other in pairs]


def significance_table(
    bed: str, ranked: Sequence[Results], pairs: Sequence[tuple[int, int, Comparison]]
) -> Table:
    """Wilcoxon's signed ranks between methods."""
    rows = []
    for one, other, found in pairs:
        label = f"{ranked[one].header.label} against {ranked[other].header.label}"
        fields: dict[str, Value] = {
            "common": found.common, "better": found.better, "worse": found.worse,
            "p": found.p, "stars": found.stars,
        }  # fmt: skip
        rows.append(Row("measured", label, fields))
    return Table(bed, PAIRS, tuple(rows))


def breaks_table(bed: str, results: Sequence[Results]) -> Table:
    """By which stop of theirs refused tours have passed a limit."""
    rows = []
    for each in results:
        counts = broken_at(each.outcomes)
        if total := int(counts.sum()):
            half, most = (
                1 + np.searchsorted(counts.cumsum(), share * total) for share in (0.5, 0.9)
            )
            fields: dict[str, Value] = {
                "refused": total, "first": 100 * int(counts[0]) / total,
                "half": int(half), "most": int(most),
            }  # fmt: skip
            rows.append(Row("measured", each.header.label, fields))
    return Table(bed, BREAKS, tuple(rows))
