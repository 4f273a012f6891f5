import pytest

from fairway.train.config import Rate
from fairway.train.schedule import rate_at


def test_the_papers_rate_falls_to_a_tenth_for_the_last_tenth():
    rate = Rate(1e-4)
    assert [rate_at(rate, 7, spent) for spent in (0, 0.5, 0.899)] == [1e-4] * 3
    assert rate_at(rate, 7, 0.9) == pytest.approx(1e-5)


def test_a_warm_up_rises_step_by_step_and_the_cosine_ends_at_a_hundredth():
    rate = Rate(1.0, warm_up=4, shape="cosine")
    assert [rate_at(rate, step, 0) for step in range(5)] == [0.25, 0.5, 0.75, 1, 1]
    assert rate_at(rate, 9, 0.5) == pytest.approx(0.505)
    assert rate_at(rate, 9, 1.0) == pytest.approx(0.01)
    assert rate_at(rate, 9, 1.2) == pytest.approx(0.01)


def test_a_constant_rate_stays():
    assert rate_at(Rate(3e-4, shape="constant"), 0, 0.99) == 3e-4
