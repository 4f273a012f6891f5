import numpy as np
import pytest
from evaluations import failed, references, results, solved

from fairway.evaluate.comparisons import comparisons
from fairway.evaluate.figures import BARS, BUDGETS, boxes_figure, breaks_figure, study_figure
from fairway.evaluate.studies import TITLES, bed_table

AGAINST = references("a file", np.full(9, 100.0), np.full(9, 100.0))


def labels(figure):
    return [text.get_text() for text in figure.axes[0].get_yticklabels()]


def published(study, bed):
    return study_figure(study, bed, bed_table(study, bed, [], None))


def test_rows_of_one_method_are_told_apart_by_what_differs():
    assert (
        labels(published("schedule", "tsptw50-medium"))[1]
        == "POMO*+PIP-D, first epochs 200, period 500"
    )
    assert labels(published("normalisation", "tsptw50-medium"))[1] == "Batch"
    assert labels(published("mask-steps", "tsptw50-medium"))[2] == "POMO*+PIP, steps 2"


def test_budgets_are_drawn_over_seconds_per_instance():
    figure = published("time-limits", "tsptw100-hard")
    line = next(line for line in figure.axes[0].lines if line.get_label() == "LKH3, published")
    assert line.get_xdata().tolist() == [5.1, 23, 132, 192]
    assert line.get_ydata().tolist() == [53.11, 2.57, 0.19, 0.07]
    longer = published("longer-inference", "tsptw100-hard")
    assert longer.axes[0].lines[0].get_xdata().tolist() == pytest.approx([0.0021, 0.015])
    assert {axes.get_label() for axes in longer.axes} == {"inst", "gap"}


def test_other_studies_have_no_picture_of_their_own():
    assert published("main", "tsptw50-hard") is None
    assert study_figure("lambda", "x", bed_table("lambda", "x", [], None)) is None
    assert set(TITLES) >= BARS | BUDGETS


def test_boxes_need_a_gap_of_every_method():
    one = results(*(solved(at, 101.0 + at) for at in range(9)), label="a")
    other = results(*(solved(at, 110.0 + at) for at in range(9)), label="b")
    pairs = comparisons([one, other])
    figure = boxes_figure("bed", [one, other], pairs, AGAINST)
    assert labels(figure) == ["a", "b"]
    assert any(text.get_text() == "**" for text in figure.axes[0].texts)
    unknown = references("a file", np.full(9, np.nan), np.full(9, np.nan))
    assert boxes_figure("bed", [one, other], pairs, unknown) is None


def test_methods_that_never_fail_have_no_panel():
    failing = results(failed(0, broken_at={2: 8}), label="fails")
    whole = results(solved(0, 1.0), label="whole")
    assert [axes.get_label() for axes in breaks_figure("bed", [failing, whole]).axes] == ["fails"]
    assert breaks_figure("bed", [whole]) is None
