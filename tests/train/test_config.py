from dataclasses import replace

import pytest

from fairway.errors import InvalidRequest
from fairway.policies.config import HeatmapConfig
from fairway.train.config import ColonyConfig, Foresight
from fairway.train.schedule import grown, tempo_at

COLONY = ColonyConfig("some", "tsptw", "medium", 500)


def at_epoch(epoch):
    return tempo_at(COLONY, (epoch - 1) / 50)


def test_schedules_move_as_the_authors_do():
    first, last = at_epoch(1), tempo_at(COLONY, 1.0)
    assert (first.sharpness, first.power, first.credit) == (500, 0.8, 0.5)
    assert (last.sharpness, last.power, last.credit) == (2000, 1.0, 1.0)
    assert at_epoch(10).power == pytest.approx(0.8 + 0.2 * 9 / 45)
    assert at_epoch(10).credit == pytest.approx(0.5 + 0.5 * 9 / 45)
    assert at_epoch(45).sharpness == pytest.approx(2000)
    assert at_epoch(46) == replace(at_epoch(50), rate=at_epoch(46).rate)
    assert at_epoch(6).sharpness - 500 == pytest.approx(1500 * 0.4707, rel=1e-3)


def test_the_rate_falls_by_a_cosine_to_a_tenth():
    assert at_epoch(1).rate == 5e-4
    assert at_epoch(26).rate == pytest.approx((5e-4 + 5e-5) / 2)
    assert tempo_at(COLONY, 1.0).rate == pytest.approx(5e-5)


def test_schedules_stand_still_within_an_epoch():
    assert tempo_at(COLONY, 0.1) == tempo_at(COLONY, 0.1199)
    assert tempo_at(COLONY, 0.1) != tempo_at(COLONY, 0.12)


def test_instances_grow_in_equal_shares_and_their_sharpness_with_them():
    growing = replace(COLONY, growth=(100, 200, 500))
    sizes = [grown(growing, spent).nodes for spent in (0, 0.33, 1 / 3, 0.66, 2 / 3, 0.99, 1, 1.2)]
    assert sizes == [100, 100, 200, 200, 500, 500, 500, 500]
    assert grown(growing, 0.0).sharpness == (100, 400)
    assert grown(growing, 1.0) == COLONY
    assert grown(COLONY, 0.0) == COLONY


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"ants": 1}, "2 ants"),
        ({"nodes": 2}, "3 nodes"),
        ({"growth": (2, 500)}, "at least 3"),
        ({"growth": (100, 200)}, "500 at last"),
        ({"foresight": Foresight(1, 1, 1, 1)}, "come together"),
        ({"policy": HeatmapConfig(foresight=True)}, "come together"),
    ],
)
def test_what_cannot_be_trained_is_refused(change, said):
    with pytest.raises(InvalidRequest, match=said):
        replace(COLONY, **change)
