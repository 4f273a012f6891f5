from fairway.pictures import save
from fairway.pictures.budgets import Point, draw_budgets

PRINTED = [
    Point("LKH3", 23.0, 2.57, None, 51.26, True),
    Point("LKH3", 5.1, 53.11, None, 51.65, True),
]


def lines(figure, panel):
    axes = next(axes for axes in figure.axes if axes.get_label() == panel)
    return {line.get_label(): line.get_xydata().tolist() for line in axes.lines}


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
