from fairway.pictures import save
from fairway.pictures.bars import Bar, draw_bars
from fairway.pictures.palette import BLUE, PALE


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
    from matplotlib.colors import to_hex

    rows = [Bar("a", 1.0, 1.0, 1.0, True), Bar("b", 1.0, 1.0, 1.0, False)]
    figure = draw_bars("x", "y", rows)
    assert [to_hex(bar.get_facecolor()) for bar in figure.axes[0].patches] == [PALE, BLUE]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["published", "measured"]
    assert [t.get_text() for t in draw_bars("x", "y", rows[1:]).legends[0].get_texts()] == [
        "measured"
    ]


def test_a_study_of_zeros_is_a_picture_too(tmp_path):
    save(draw_bars("x", "y", [Bar("a", 0.0, None, None, False)]), tmp_path / "bars.png")
