import numpy as np
import pytest
from evaluations import failed, references, results, solved, took
from hypothesis import given
from hypothesis import strategies as st

from fairway.evaluate.metrics import (
    broken_at,
    gaps,
    mean_interval,
    measure,
    share_interval,
    unit_of,
)


def known(*costs, valid=None):
    stated = np.array(costs, float)
    return references("a file", stated, stated if valid is None else np.array(valid, float))


def test_the_gap_is_a_mean_of_ratios_over_solved_instances():
    made = results(solved(0, 110.0), solved(1, 1000.0), failed(2))
    gap = measure(made, known(100, 1000, 1)).gap
    assert gap.stated == pytest.approx(5.0), "10 % and 0 %; lengths added up first would give 0.9 %"
    assert gap.valid == pytest.approx(5.0)
    assert gap.source == "a file"


def test_gaps_belong_to_the_instances_that_were_run():
    made = results(solved(3, 30.0), solved(1, 11.0))
    assert gaps(made, np.array([np.nan, 10, np.nan, 20])).tolist() == pytest.approx([50, 10])


def test_references_that_the_judge_refuses_count_as_stated_only():
    made = results(solved(0, 110.0), solved(1, 120.0), failed(2), solved(3, 7.0))
    against = known(100, 100, 100, np.nan, valid=[100, np.nan, 100, np.nan])
    gap = measure(made, against).gap
    assert gap.stated == pytest.approx(15.0)
    assert gap.valid == pytest.approx(10.0)
    assert gap.refused == 1, "the last has no reference at all"
    assert gap.penalised == pytest.approx((10 + 100) / 2), "of the two valid ones, one has no tour"


def test_rates_are_of_tours_and_of_instances_at_both_tolerances():
    made = results(
        solved(0, 1.0, tours=8, accepted=6, strict=0),
        solved(1, 1.0, tours=8, accepted=2, strict=2),
        failed(2, tours=8),
        failed(3, tours=8),
    )
    figures = measure(made)
    assert (figures.sol_infeasible, figures.inst_infeasible) == (75.0, 50.0)
    assert (figures.strict_sol, figures.strict_inst) == (93.75, 75.0)
    assert (figures.instances, figures.solved) == (4, 2)
    assert figures.gap is None


def test_no_tour_counts_as_one_that_failed():
    made = results(solved(0, 1.0, tours=1), failed(1, tours=0), failed(2, tours=0))
    assert measure(made).sol_infeasible == pytest.approx(200 / 3)
    assert measure(made).sol_infeasible == measure(made).inst_infeasible


def test_the_objective_is_in_the_papers_units():
    assert measure(results(solved(0, 5000.0), solved(1, 5200.0), failed(2))).objective == 51.0
    assert measure(results(solved(0, 13.0), bed="tspdl50-hard")).objective == 13.0
    assert unit_of("n20w20.001") == 1.0


def test_nothing_to_average_is_no_number():
    for made in (results(), results(failed(0))):
        figures = measure(made, known(1.0))
        assert np.isnan([figures.objective, figures.gap.stated, figures.gap.valid]).all()
        assert np.isnan(figures.gap.interval).all()
    assert np.isnan(measure(results()).inst_infeasible)
    assert measure(results(failed(0)), known(1.0)).gap.penalised == 100.0


def test_proofs_are_counted():
    assert measure(results(solved(0, 1.0, proved=True), solved(1, 1.0))).proved == 1


def test_times_are_per_instance_and_for_a_whole_bed():
    groups = (took(0, 100, 3.0, "cuda"), took(100, 50, 1.5, "cuda"))
    speed = measure(results(solved(0, 1.0), timings=groups)).speed
    assert speed.wall == 4.5
    assert speed.per_instance == pytest.approx(0.03)
    assert speed.per_ten_thousand == pytest.approx(300.0)
    assert speed.of(128) == pytest.approx(3.84)
    assert speed.extrapolated
    assert (speed.device, speed.at_once, speed.workers) == ("cuda", 100, 1)
    whole = measure(results(solved(0, 1.0), timings=[took(0, 10_000, 9.0, workers=16)])).speed
    assert not whole.extrapolated
    assert whole.work_per_instance == pytest.approx(16 * whole.per_instance)
    assert measure(results(solved(0, 1.0))).speed is None


def test_the_interval_of_a_mean_is_that_of_the_bias_corrected_bootstrap(rng):
    """BCa by its definition, with enough draws that what remains is the approximation's own error."""
    from statistics import NormalDist

    sample = rng.lognormal(sigma=1.0, size=60)
    normal, n = NormalDist(), len(sample)
    means = np.sort(sample[rng.integers(n, size=(40_000, n))].mean(1))
    bias = normal.inv_cdf(float((means < sample.mean()).mean()))
    deviations = sample.mean() - (sample.sum() - sample) / (n - 1)
    bend = (deviations**3).sum() / (6 * (deviations**2).sum() ** 1.5)
    levels = [
        normal.cdf(bias + (bias + z) / (1 - bend * (bias + z)))
        for z in map(normal.inv_cdf, (0.025, 0.975))
    ]
    expected = np.quantile(means, levels)
    width = expected[1] - expected[0]
    assert np.abs(np.array(mean_interval(sample)) - expected).max() < 0.04 * width
    low, high = mean_interval(sample)
    assert high - sample.mean() > sample.mean() - low, "skewed as the sample is"


@given(st.lists(st.floats(-10, 1000), min_size=2, max_size=40))
def test_the_interval_holds_the_mean(values):
    sample = np.array(values)
    low, high = mean_interval(sample)
    assert low - 1e-6 <= sample.mean() <= high + 1e-6


def test_the_interval_of_one_or_of_equals():
    assert np.isnan(mean_interval(np.array([1.0]))).all()
    assert mean_interval(np.full(9, 0.1)) == pytest.approx((0.1, 0.1))


def test_wilsons_interval_is_his():
    """Newcombe's examples (1998): 81 of 263, and none of 20."""
    assert share_interval(81, 263) == pytest.approx((25.53, 36.62), abs=0.005)
    assert share_interval(0, 20) == pytest.approx((0.0, 16.11), abs=0.005)
    assert share_interval(20, 20) == pytest.approx((83.89, 100.0), abs=0.005)
    assert np.isnan(share_interval(0, 0)).all()


def test_where_infeasibility_starts_is_added_up():
    made = [failed(0, broken_at={1: 3, 4: 1}), failed(1, broken_at={4: 2}), solved(2, 1.0)]
    assert broken_at(made).tolist() == [3, 0, 0, 3]
    assert broken_at([]).tolist() == []
