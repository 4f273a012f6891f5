import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.pictures import save
from fairway.pictures.boxes import bracket_lanes, draw_boxes


def marks(figure, label):
    return [mark for mark in figure.axes[0].get_children() if mark.get_label() == label]


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
