"""What the paper and its data say about the ten published beds, found again instance by instance."""

import numpy as np
import pytest
from soaking import hard_fifty_first

from fairway.classical.greedy import tightest
from fairway.evaluate.references import load_references
from fairway.judge import Rejection, verify
from fairway.kernels.lookahead import none
from fairway.problems.batch import to_batch
from fairway.problems.beds import load_bed
from fairway.search.rollout import greedy, rollout

GREEDY_C = {
    "tsptw50-easy": 0, "tsptw50-medium": 4752, "tsptw50-hard": 7255,
    "tsptw100-easy": 0, "tsptw100-medium": 2034, "tsptw100-hard": 9338,
    "tspdl50-medium": 0, "tspdl50-hard": 0, "tspdl100-medium": 0, "tspdl100-hard": 0,
}  # fmt: skip
"""Infeasible instances of 10,000, the paper's rates to the digit."""

REFUSED = {
    "tsptw50-easy": (0, 0), "tsptw50-medium": (3, 1), "tsptw50-hard": (14, 13),
    "tsptw100-easy": (0, 0), "tsptw100-medium": (4, 3), "tsptw100-hard": (7, 7),
}  # fmt: skip
"""Published LKH-3 tours that float64 refuses, at zero tolerance and at 1e-3 raw units."""

NO_TOURS = {
    "tsptw50-hard": [921, 929, 1975, 1999, 3015, 3297, 7361, 7431, 8129, 8515, 9457, 9797],
    "tsptw100-hard": [5475, 5539, 7229, 7314, 7426, 9341, 9730],
}
"""Where LKH-3 found nothing, and the published file holds the stops in the order of their numbers."""


def refusals(instances, tours, tolerance=None):
    verdicts = (verify(i, t.tolist(), tolerance) for i, t in zip(instances, tours, strict=True))
    return [verdict for verdict in verdicts if isinstance(verdict, Rejection)]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "infeasible"), hard_fifty_first(GREEDY_C.items()))
def test_greedy_c_without_a_mask_fails_exactly_as_often_as_in_the_paper(name, infeasible):
    instances = load_bed(name)
    batch = to_batch(instances)
    built = rollout(batch, look=none(batch), score=tightest(batch), select=greedy)
    assert len(refusals(instances, built.tours[:, 0].numpy())) == infeasible


@pytest.mark.slow
@pytest.mark.parametrize(("name", "expected"), hard_fifty_first(REFUSED.items()))
def test_the_judge_refuses_the_published_tours_that_break_a_window(shared, name, expected):
    with np.load(shared / f"beds/lkh-{name}.npz") as file:
        refused = refusals(load_bed(name), file["tour"].astype(int), tolerance=0)
    worst = [max(violation.amount for violation in verdict.violations) for verdict in refused]
    assert (len(worst), sum(amount > 1e-3 for amount in worst)) == expected


@pytest.mark.slow
@pytest.mark.parametrize("name", hard_fifty_first(name for name in GREEDY_C if "tspdl" in name))
def test_published_draft_tours_are_right_in_load_order_and_all_wrong_the_other_way(shared, name):
    path = shared / f"beds/lkh-{name}.npz"
    with np.load(path) as file:
        stored = file["tour"].astype(int)
    assert len(refusals(load_bed(name), stored)) == 10_000
    references = load_references(name, path)
    assert len(references.refused) == 0
    assert np.array_equal(references.tour, stored[:, ::-1])


@pytest.mark.slow
@pytest.mark.parametrize("name", list(NO_TOURS))
def test_no_reference_that_is_not_a_tour_gets_a_cost(shared, name):
    references = load_references(name, shared / f"beds/lkh-{name}.npz")
    assert set(NO_TOURS[name]) <= set(references.refused.tolist())
    assert len(references.refused) == REFUSED[name][1]
    assert np.isnan(references.cost).sum() == REFUSED[name][1]
