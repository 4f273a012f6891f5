import numpy as np
import pytest

from fairway.pictures.schedule import axis_over, labelled, last_telling


def test_an_axis_shows_all_that_happens_and_what_is_allowed_near_it():
    axis = axis_over((0.0, 100.0), (-5.0, 110.0))
    assert axis.low < -5
    assert axis.high > 110


def test_an_axis_does_not_follow_what_is_allowed_far_away():
    axis = axis_over((0.0, 100.0), (-1e9, 1e9))
    assert -25 < axis.low < 0
    assert 100 < axis.high < 125


def test_an_axis_of_no_length_is_opened():
    axis = axis_over((7.0, 7.0), (7.0, 7.0))
    assert axis.low < 7 < axis.high


def test_a_limit_that_dwarfs_the_others_is_not_telling():
    assert last_telling(np.array([30.0, 1e5, 20.0, 100.0]), 0.0, 0.0) == 100
    assert last_telling(np.array([30.0, 50.0]), 0.0, 0.0) == 50
    assert last_telling(np.array([1e5]), 0.0, 0.0) == 1e5


def test_every_row_is_labelled_where_there_is_room():
    assert labelled(np.zeros(5, bool), spacing=0.9) == [0, 1, 2, 3, 4]


def test_thinned_labels_keep_their_distance_the_last_row_and_the_violated_ones():
    wrong = np.zeros(100, bool)
    wrong[[13, 14, 51]] = True
    chosen = labelled(wrong, spacing=2.5)
    assert {13, 51, 99} <= set(chosen)
    assert min(np.diff(chosen)) == pytest.approx(3)
    assert len(chosen) > 25
