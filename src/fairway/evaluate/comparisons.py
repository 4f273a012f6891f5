"""Methods side by side on one bed: gaps on what all of them solve, and which differences are more than chance."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations, pairwise
from math import erfc, sqrt

import numpy as np
from jaxtyping import Float, Int

from fairway.evaluate.metrics import broken_at, gaps, known, mean
from fairway.evaluate.outcomes import Results
from fairway.evaluate.published import published
from fairway.evaluate.references import References
from fairway.evaluate.studies import in_order
from fairway.evaluate.tables import Row, Table, Value, columns_of, values_of

ALL_PAIRS_UP_TO = 5
"""Methods of which every two are compared; of more, those whose gaps are next to each other."""

LEVELS = ((0.001, "***"), (0.01, "**"), (0.05, "*"))
"""Below which probability a difference earns how many stars, as in the paper."""

EXACT_UP_TO = 100
"""Pairs for which every assignment of signs is counted; beyond, the normal law is as good as exact."""

SAME = 1e-9
"""Costs that differ by less, relatively, are one cost added up in two orders."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two methods on the instances that both solve."""

    common: int
    better: int
    """Of those, where the first has the shorter tour."""
    worse: int
    p: float
    """How likely signed ranks as one-sided as these are where neither is better; 1 where no two costs differ."""

    @property
    def stars(self) -> str:
        """Nothing, or up to three stars."""
        return next((mark for level, mark in LEVELS if self.p < level), "")


def overlap_table(
    bed: str,
    augmented: Sequence[Results],
    single: Sequence[Results],
    against: References | None,
) -> Table:
    """Gaps on what all methods solve, as Table 10 has them; the measured ones to valid references alone."""
    said = published("overlap", bed)
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
            row.setdefault("gap", mean(known(gaps(each, against.cost))))
            row[f"overlap_gap_{name}"] = mean_gap(each, against.cost, common)
    rows += [Row("measured", label, row) for label, row in values.items()]
    if numbers:
        rows.append(Row("measured", "Overlap number", numbers))
    caption = "" if against is None or not labels else f"Measured gaps are to {against.source}."
    return Table(bed, columns_of("overlap"), tuple(rows), caption)


def ranked(results: Sequence[Results], against: References | None) -> list[Results]:
    """The methods that solve anything, by their mean gaps, or by their mean costs where there is no reference."""
    able = [each for each in results if each.solved.any()]
    if against is None:
        return sorted(able, key=lambda each: float(each.cost[each.solved].mean()))
    return sorted(able, key=lambda each: mean(known(gaps(each, against.cost))))


def comparisons(ranked: Sequence[Results]) -> list[tuple[int, int, Comparison]]:
    """Which methods differ: every two of a few, else the neighbours of a ranking."""
    places = range(len(ranked))
    pairs = combinations(places, 2) if len(ranked) <= ALL_PAIRS_UP_TO else pairwise(places)
    return [(one, other, compare(ranked[one], ranked[other])) for one, other in pairs]


def significance_table(
    bed: str, ranked: Sequence[Results], pairs: Sequence[tuple[int, int, Comparison]]
) -> Table:
    """Wilcoxon's signed ranks between methods."""
    columns, labels = columns_of("significance"), [each.header.label for each in ranked]
    rows = [
        Row("measured", f"{labels[one]} against {labels[other]}", values_of(found, columns))
        for one, other, found in pairs
    ]
    return Table(bed, columns, tuple(rows))


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
    return Table(bed, columns_of("breaks"), tuple(rows))


def overlap(results: Sequence[Results]) -> Int[np.ndarray, " K"]:
    """The instances that every method solves, in ascending order."""
    if not results:
        return np.zeros(0, np.int64)
    return reduce(np.intersect1d, [each.index[each.solved] for each in results])


def costs_at(results: Results, instances: Int[np.ndarray, " K"]) -> Float[np.ndarray, " K"]:
    """The costs of instances that were all run."""
    order = np.argsort(results.index, kind="stable")
    return results.cost[order][np.searchsorted(results.index[order], instances)]


def mean_gap(
    results: Results, reference: Float[np.ndarray, " B"], instances: Int[np.ndarray, " K"]
) -> float:
    """The mean gap over some of the instances that were run, those without a reference left out, in percent."""
    return mean(known(gaps(results, reference)[np.isin(results.index, instances)]))


def compare(one: Results, other: Results) -> Comparison:
    """Two methods by the costs of their best tours."""
    common = overlap([one, other])
    first, second = costs_at(one, common), costs_at(other, common)
    # The ratio, not the difference: a percent counts the same on a short tour and on a long one.
    change = np.where(np.isclose(first, second, rtol=SAME, atol=0), 0.0, first / second - 1)
    return Comparison(
        len(common), int((change < 0).sum()), int((change > 0).sum()), signed_ranks(change)
    )


def signed_ranks(differences: Float[np.ndarray, " K"]) -> float:
    """The two-sided p-value of Wilcoxon's signed-rank test; zeros are dropped, as by him, and ties share ranks."""
    nonzero = differences[differences != 0]
    if not len(nonzero):
        return 1.0
    doubled = doubled_ranks(np.abs(nonzero))
    positive = int(doubled[nonzero > 0].sum())
    smaller = min(positive, int(doubled.sum()) - positive)
    return _exact(doubled, smaller) if len(nonzero) <= EXACT_UP_TO else _normal(doubled, smaller)


def doubled_ranks(sizes: Float[np.ndarray, " K"]) -> Int[np.ndarray, " K"]:
    """Twice the rank of each size from 1 on, equal ones sharing the mean of theirs: doubled, it is a whole number."""
    _, which, counts = np.unique(sizes, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (2 * last - counts + 1)[which]


def _exact(doubled: Int[np.ndarray, " K"], smaller: int) -> float:
    """Of all assignments of signs, twice the share whose positive ranks add up to no more; each is equally likely."""
    share = np.zeros(int(doubled.sum()) + 1)
    share[0] = 1.0
    for rank in doubled.tolist():
        share[rank:] = (share[rank:] + share[:-rank]) / 2
        share[:rank] /= 2
    return min(1.0, 2 * float(share[: smaller + 1].sum()))


def _normal(doubled: Int[np.ndarray, " K"], smaller: int) -> float:
    """By the normal law with the variance that tied ranks leave, and half a rank for its being continuous."""
    ranks = doubled / 2
    mean, deviation = ranks.sum() / 2, sqrt(float((ranks**2).sum()) / 4)
    return min(1.0, erfc((mean - smaller / 2 - 0.5) / deviation / sqrt(2)))
