"""Whether one method is better than another, where both have a tour: common instances, and Wilcoxon's signed ranks."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from math import erfc, sqrt

import numpy as np
from jaxtyping import Float, Int

from fairway.evaluate.outcomes import Results

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
    known = instances[~np.isnan(reference[instances])]
    if not len(known):
        return np.nan
    return float((100 * (costs_at(results, known) / reference[known] - 1)).mean())


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
