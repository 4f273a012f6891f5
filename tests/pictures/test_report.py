import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_hex

from fairway.pictures import save
from fairway.pictures.palette import BLUE, PALE
from fairway.pictures.report import (
    Bar,
    Point,
    bracket_lanes,
    draw_bars,
    draw_boxes,
    draw_breaks,
    draw_budgets,
)

PRINTED = [
    Point("LKH3", 23.0, 2.57, None, 51.26, True),
    Point("LKH3", 5.1, 53.11, None, 51.65, True),
]


def lines(figure, panel):
    axes = next(axes for axes in figure.axes if axes.get_label() == panel)
    return {line.get_label(): line.get_xydata().tolist() for line in axes.lines}


def marks(figure, label):
    return [mark for mark in figure.axes[0].get_children() if mark.get_label() == label]


def test_each_figure_has_a_panel_and_no_figure_is_a_stroke(tmp_path):
    rows = [Bar("Batch", 4.14, 0.96, 3.1, True), Bar("Batch", None, 0.5, -0.2, False)]
    figure = draw_bars("normalisation", "words", rows)
    sol, inst, gap = figure.axes
    assert [bar.get_width() for bar in sol.patches] == [4.14]
    assert [bar.get_width() for bar in inst.patches] == [0.96, 0.5]
    assert [text.get_text() for text in sol.texts] == ["4.14", "/"]
    assert [text.get_text() for text in gap.texts] == ["3.10", "-0.20"]
    assert gap.get_xlim()[0] < -0.2
    assert sol.get_xlim()[0] == 0.0
    assert [text.get_text() for text in sol.get_yticklabels()] == ["Batch", "Batch"]
    save(figure, tmp_path / "bars.png")


def test_published_bars_are_pale_and_the_key_says_so():
    rows = [Bar("a", 1.0, 1.0, 1.0, True), Bar("b", 1.0, 1.0, 1.0, False)]
    figure = draw_bars("x", "y", rows)
    assert [to_hex(bar.get_facecolor()) for bar in figure.axes[0].patches] == [PALE, BLUE]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["published", "measured"]
    assert [t.get_text() for t in draw_bars("x", "y", rows[1:]).legends[0].get_texts()] == [
        "measured"
    ]


def test_a_study_of_zeros_is_a_picture_too(tmp_path):
    save(draw_bars("x", "y", [Bar("a", 0.0, None, None, False)]), tmp_path / "bars.png")


def test_boxes_show_quartiles_median_and_mean(rng):
    values = rng.gamma(2.0, size=500)
    figure = draw_boxes("gaps", [("a", values), ("b", 2 * values)], [(0, 1, "***")])
    bars = next(bar for bar in figure.axes[0].containers if bar.get_label() == "quartiles")
    q1, q3 = np.quantile(values, (0.25, 0.75))
    assert bars[0].get_x() == pytest.approx(q1)
    assert bars[0].get_width() == pytest.approx(q3 - q1)
    (means,) = marks(figure, "means")
    assert means.get_offsets()[:, 0].tolist() == pytest.approx([values.mean(), 2 * values.mean()])
    assert [text.get_text() for text in marks(figure, "stars")] == ["***"]
    assert figure.axes[0].get_xscale() == "linear"


def test_what_does_not_differ_has_no_bracket(rng):
    values = rng.random(9)
    figure = draw_boxes("gaps", [("a", values), ("b", values)], [(0, 1, "")])
    assert not marks(figure, "differs")


def test_gaps_of_very_different_sizes_bend_the_axis(rng, tmp_path):
    values = rng.random(99)
    rows = [("zero", 0 * values), ("small", 0.01 * values - 0.002), ("large", 300 * values)]
    figure = draw_boxes("gaps", rows, [(0, 1, "*"), (1, 2, "***")])
    assert figure.axes[0].get_xscale() == "symlog"
    low, high = figure.axes[0].get_xlim()
    assert low < -0.002
    assert high > 290
    save(figure, tmp_path / "boxes.png")


@given(st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)).filter(lambda p: p[0] < p[1])))
def test_no_two_brackets_lie_on_each_other(pairs):
    lanes = bracket_lanes([(one, other, "*") for one, other in pairs])
    assert {(one, other) for one, other, *_ in lanes} == pairs
    for at, (a, b, _, lane) in enumerate(lanes):
        for c, d, _, other in lanes[at + 1 :]:
            assert lane != other or b <= c or d <= a


def test_each_method_has_a_panel_on_the_same_logarithmic_axes(tmp_path):
    counts = [(f"method {at}", np.array([1000, 0, 10 + at])) for at in range(4)]
    figure = draw_breaks("where", [*counts, ("longer", np.arange(9))])
    assert [axes.get_label() for axes in figure.axes] == [
        "method 0", "method 1", "method 2", "method 3", "longer",
    ]  # fmt: skip
    first, last = figure.axes[0], figure.axes[-1]
    assert [(bar.get_x() + 0.45, bar.get_height()) for bar in first.patches] == [(1, 1000), (3, 10)]
    assert first.get_title(loc="left") == "method 0:  1,010 tours"
    assert (first.get_xlim(), first.get_ylim()) == (last.get_xlim(), last.get_ylim())
    assert first.get_yscale() == "log"
    save(figure, tmp_path / "breaks.png")
    assert first.yaxis.get_major_formatter()(1000, 0) == "1,000"


def test_a_method_is_a_line_by_ascending_budgets():
    figure = draw_budgets("limits", PRINTED)
    assert lines(figure, "inst") == {"LKH3, published": [[5.1, 53.11], [23.0, 2.57]]}
    assert lines(figure, "objective") == {"LKH3, published": [[5.1, 51.65], [23.0, 51.26]]}


def test_gaps_are_preferred_and_published_points_kept_apart(tmp_path):
    own = [Point("LKH3", 1.0, 9.0, 0.5, 51.3, False)]
    figure = draw_budgets("limits", [*PRINTED, *own])
    assert lines(figure, "gap") == {"LKH3, published": [], "LKH3, measured": [[1.0, 0.5]]}
    first, second = figure.axes
    assert first.get_xlim() == second.get_xlim()
    hollow, filled = first.lines
    assert hollow.get_markerfacecolor() == "white"
    assert filled.get_markerfacecolor() == filled.get_color() == hollow.get_color()
    save(figure, tmp_path / "budgets.png")


def test_a_short_axis_has_more_than_one_number():
    points = [Point("a", seconds, 1.0, 1.0, None, False) for seconds in (0.002, 0.015)]
    axes = draw_budgets("limits", points).axes[0]
    low, high = axes.get_xlim()
    assert sum(low <= tick <= high for tick in axes.get_xticks()) >= 3
