import numpy as np
import pytest

from fairway.pictures.page import PANEL, Page


def page(rows, has_map=True) -> Page:
    return Page(np.arange(rows), [str(row) for row in range(rows)], np.zeros(rows, bool), has_map)


@pytest.mark.parametrize("rows", [1, 2, PANEL, PANEL + 1, 200, 221, 1001])
def test_the_panels_hold_every_row_once_and_in_order(rows):
    held = [row for span in page(rows).spans for row in range(rows)[span]]
    assert held == list(range(rows))
    assert len(page(rows).spans) <= 4


def test_a_short_schedule_is_in_one_piece():
    assert len(page(PANEL).spans) == 1
    assert len(page(PANEL + 1).spans) == 2


@pytest.mark.parametrize("rows", [1, 20, 200, 1001])
def test_a_label_is_never_too_small_to_read(rows):
    assert page(rows).font >= 6
