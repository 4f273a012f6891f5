import numpy as np

from fairway.pictures import save
from fairway.pictures.breaks import draw_breaks


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
