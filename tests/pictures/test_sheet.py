from itertools import pairwise

import numpy as np
import pytest

from fairway.judge import verify
from fairway.outputs.plan import plan_of
from fairway.pictures import stop_labels
from fairway.pictures.heading import number, title, verdict
from fairway.pictures.palette import LOOKS
from fairway.pictures.sheet import gutter, sheet, shortened, width
from fairway.problems.instance import TSPDL


@pytest.mark.parametrize(
    "text", ["short", "exactly ten", "x" * 50, "東京都港区六本木", "東x京x都", ""]
)
@pytest.mark.parametrize("limit", [5, 10])
def test_a_shortened_text_is_never_wider_than_its_limit(text, limit):
    short = shortened(text, limit)
    assert width(short) <= limit
    assert short == text or (short.endswith("…") and text.startswith(short[:-1]))


def test_what_cannot_be_printed_becomes_a_blank():
    assert shortened("a\nb\x00c\ud800d", 20) == "a b c d"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (378.0, "378"),
        (1234567.0, "1234567"),
        (390.971234, "390.971"),
        (1e15, "1e+15"),
        (-0.5, "-0.5"),
    ],
)
def test_numbers_have_the_digits_a_reader_wants(value, text):
    assert number(value) == text


def ports(**given) -> TSPDL:
    return TSPDL(np.ones((3, 3)), np.array([0.0, 1, 1]), np.array([0.0, 1, 2]), **given)


def test_nodes_are_called_by_name_else_by_number_and_a_blank_name_by_its_number():
    assert stop_labels(ports(), 9) == ["depot", "1", "2"]
    assert stop_labels(ports(names=("Home", "A very long name", " ")), 9) == [
        "Home",
        "A very l…",
        "2",
    ]


def test_an_instance_without_a_name_is_headed_by_its_problem():
    assert title(ports()).startswith("draft limits (TSPDL)")
    assert title(ports(name="P1")).startswith("P1 ")


def said(tour) -> str:
    instance = ports()
    plan = None if tour is None else plan_of(instance, verify(instance, tour))
    return verdict(instance, plan, "feasible")


def test_the_verdict_on_a_draft_tour_gives_the_cost_alone():
    assert said([1, 2]) == "feasible:  cost 3"
    assert said(None) == "no tour"


def test_one_violation_is_not_called_violations():
    assert said([2, 1]).startswith("REFUSED: 1 violation: the load at port 1 is 2")


def test_longer_labels_need_more_room():
    assert gutter([]) < gutter(["a"]) < gutter(["a", "a long label"])


def test_no_two_looks_share_a_colour_and_neighbours_share_nothing():
    colours, markers, dashes = zip(*LOOKS, strict=True)
    assert len(set(colours)) == len(set(markers)) == len(LOOKS)
    assert all(one != other for one, other in pairwise(dashes))


def test_words_are_cut_to_the_sheet():
    figure = sheet((4.0, 2.0), 9 * "Gaps of the instances solved ", 9 * "filled: measured here; ")
    wide = 4.0 * figure.dpi
    for text in figure.texts:
        assert text.get_text().endswith("…")
        assert text.get_window_extent().x1 < wide
