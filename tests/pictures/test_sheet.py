from itertools import pairwise

from fairway.pictures.palette import LOOKS, look
from fairway.pictures.sheet import sheet


def test_no_two_looks_share_a_colour_and_neighbours_share_nothing():
    assert (
        len({each.colour for each in LOOKS}) == len({each.marker for each in LOOKS}) == len(LOOKS)
    )
    for one, other in pairwise(LOOKS):
        assert one.dash != other.dash
    assert look(len(LOOKS)) == look(0)


def test_words_are_cut_to_the_sheet():
    figure = sheet((4.0, 2.0), 9 * "Gaps of the instances solved ", 9 * "filled: measured here; ")
    wide = 4.0 * figure.dpi
    for text in figure.texts:
        assert text.get_text().endswith("…")
        assert text.get_window_extent().x1 < wide
