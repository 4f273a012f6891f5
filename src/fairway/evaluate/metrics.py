"""What an evaluation amounts to: the paper's figures as the paper defines them, and beside them those it lacks.

Shares of infeasible tours or instances are in percent, and so are gaps. A figure with nothing to be taken over is NaN.
"""

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

import numpy as np
from jaxtyping import Float, Int

from fairway.evaluate.outcomes import Outcome, Results
from fairway.evaluate.references import References
from fairway.problems.beds import beds
from fairway.problems.table import PROBLEMS

PENALTY = 100.0
"""The gap, in percent, at which an instance without a tour is counted where it is counted at all."""

TEN_THOUSAND = 10_000
"""Instances of a published bed, which is what the paper's times are for."""

CONFIDENCE = NormalDist().inv_cdf(0.975)
"""How many standard deviations leave out a fortieth on either side."""

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Gap:
    """How much longer the best tours are than those of the reference: means over instances of ratios, in percent."""

    source: str
    stated: float
    """Over the solved instances, to costs as they stand: the paper's Gap."""
    valid: float
    """Over those whose reference the judge accepts."""
    interval: Interval
    """Of `valid`, at 95 %."""
    refused: int
    """Of the instances run, those that have a reference which the judge refuses."""
    penalised: float
    """Over all instances with a valid reference, those without a tour counted at the penalty."""


@dataclass(frozen=True, slots=True)
class Speed:
    """How long it took."""

    instances: int
    """That were timed."""
    wall: float
    work: float
    device: str
    workers: int
    at_once: int
    """The instances of the largest group that was timed together: 1 where each was on its own."""

    @property
    def per_instance(self) -> float:
        """Seconds of the clock for each instance."""
        return self.wall / self.instances

    @property
    def work_per_instance(self) -> float:
        """Seconds of all cores together, or of the GPU, for each instance."""
        return self.work / self.instances

    @property
    def per_ten_thousand(self) -> float:
        """Seconds of the clock for as many instances as a published bed has."""
        return self.of(TEN_THOUSAND)

    @property
    def extrapolated(self) -> bool:
        """Whether fewer were timed than a published bed has."""
        return self.instances < TEN_THOUSAND

    def of(self, instances: int) -> float:
        """Seconds of the clock for so many instances."""
        return self.per_instance * instances


@dataclass(frozen=True, slots=True)
class Metrics:
    """The figures of one row of a table."""

    instances: int
    solved: int
    tours: int
    """Proposed for an instance, at most."""
    sol_infeasible: float
    """Of all tours proposed, at the paper's tolerance; a solver that found none counts as one that failed."""
    inst_infeasible: float
    """Of all instances, those without a feasible tour."""
    inst_interval: Interval
    """Of `inst_infeasible`, at 95 %."""
    strict_sol: float
    """The same two as the judge has them by itself."""
    strict_inst: float
    objective: float
    """The mean over solved instances of their best costs, in the paper's units."""
    proved: int
    gap: Gap | None
    speed: Speed | None


def measure(results: Results, against: References | None = None) -> Metrics:
    """The figures of an evaluation, finished or not, with gaps where there are references."""
    outcomes, solved = results.outcomes, results.solved
    strict = ~np.isnan(results.strict_cost)
    proposed = sum(max(outcome.tours, 1) for outcome in outcomes)
    return Metrics(
        instances=len(outcomes),
        solved=int(solved.sum()),
        tours=max((outcome.tours for outcome in outcomes), default=0),
        sol_infeasible=_missing(sum(outcome.accepted for outcome in outcomes), proposed),
        inst_infeasible=_missing(int(solved.sum()), len(outcomes)),
        inst_interval=share_interval(int((~solved).sum()), len(outcomes)),
        strict_sol=_missing(sum(outcome.strict for outcome in outcomes), proposed),
        strict_inst=_missing(int(strict.sum()), len(outcomes)),
        objective=mean(results.cost[solved]) / unit_of(results.header.bed),
        proved=sum(outcome.proved for outcome in outcomes),
        gap=None if against is None else _gap(results, against),
        speed=_speed(results),
    )


def unit_of(bed: str) -> float:
    """By what lengths are divided in tables; those of library instances stay as they are."""
    return PROBLEMS[beds()[bed].problem].scale if bed in beds() else 1.0


def gaps(results: Results, reference: Float[np.ndarray, " B"]) -> Float[np.ndarray, " K"]:
    """The gap of each instance that was run in percent; NaN where it has no tour or no reference."""
    known = reference[results.index]
    return 100 * (results.cost - known) / known


def mean_interval(sample: Float[np.ndarray, " K"]) -> Interval:
    """At 95 %, for the mean of what the sample was drawn from: DiCiccio and Efron's approximate bootstrap (1992).

    Gaps are skewed, so that an interval symmetric about the mean would leave out too much on one side. This one is as
    accurate as the bias-corrected bootstrap that it approximates, and needs no random draws: for a mean, its bias
    correction and its acceleration are the same number.
    """
    if len(sample) < 2:
        return np.nan, np.nan
    centre, spread = float(sample.mean()), float(sample.std())
    if spread <= 1e-12 * abs(centre):
        return centre, centre
    skewness = float((((sample - centre) / spread) ** 3).mean())
    error, bend = spread / sqrt(len(sample)), skewness / (6 * sqrt(len(sample)))
    low, high = (
        centre + error * (bend + z) / (1 - bend * (bend + z)) ** 2
        for z in (-CONFIDENCE, CONFIDENCE)
    )
    return low, high


def share_interval(count: int, of: int) -> Interval:
    """At 95 %, for a share in percent of which a count was seen: Wilson's, which holds where none or all were."""
    if not of:
        return np.nan, np.nan
    share, weight = count / of, CONFIDENCE**2 / of
    centre = (share + weight / 2) / (1 + weight)
    half = CONFIDENCE * sqrt(share * (1 - share) / of + weight / (4 * of)) / (1 + weight)
    low, high = 100 * (centre - half), 100 * (centre + half)
    return low if count else 0.0, high if count < of else 100.0  # exactly, not but for rounding


def broken_at(outcomes: list[Outcome]) -> Int[np.ndarray, " N"]:
    """Of all tours refused, how many first pass a limit at stop 1, 2, ..."""
    last = max((at for outcome in outcomes for at in outcome.broken_at), default=0)
    counts = np.zeros(last, np.int64)
    for outcome in outcomes:
        for at, count in outcome.broken_at.items():
            counts[at - 1] += count
    return counts


def _gap(results: Results, against: References) -> Gap:
    stated, valid = (gaps(results, costs) for costs in (against.stated, against.cost))
    has_stated, has_valid = (
        ~np.isnan(costs[results.index]) for costs in (against.stated, against.cost)
    )
    return Gap(
        source=against.source,
        stated=mean(known(stated)),
        valid=mean(known(valid)),
        interval=mean_interval(known(valid)),
        refused=int((has_stated & ~has_valid).sum()),
        penalised=mean(np.where(results.solved, valid, PENALTY)[has_valid]),
    )


def _speed(results: Results) -> Speed | None:
    timings = results.timings
    if not sum(timing.count for timing in timings):
        return None
    return Speed(
        instances=sum(timing.count for timing in timings),
        wall=sum(timing.wall for timing in timings),
        work=sum(timing.work for timing in timings),
        device=" and ".join(sorted({timing.device for timing in timings})),
        workers=max(timing.workers for timing in timings),
        at_once=max(timing.count for timing in timings),
    )


def _missing(found: int, of: int) -> float:
    return 100 * (of - found) / of if of else np.nan


def known(values: Float[np.ndarray, " K"]) -> Float[np.ndarray, " L"]:
    """Those that are numbers."""
    return values[~np.isnan(values)]


def mean(values: Float[np.ndarray, " K"]) -> float:
    """NaN where there is nothing to be averaged."""
    return float(values.mean()) if len(values) else np.nan
