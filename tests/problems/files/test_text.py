"""What the text readers share: where a number stands, and how an instance's complaint gets that line."""

import copy
import pickle

import numpy as np
import pytest

from fairway.errors import InvalidInstance
from fairway.problems.files.decoding import decoded
from fairway.problems.files.text import Unreadable, by_row, line_of_word, lines, located
from fairway.problems.instance import TSPDL, TSPTW

SPREAD = list(lines("0 1\n\n2 # 3\n4 5 6\n", "#"))


def complaint(make):
    with pytest.raises(InvalidInstance) as refused:
        make()
    return refused.value


@pytest.mark.parametrize(
    ("make", "field", "index"),
    [
        (lambda: TSPTW([[0, 1], [-1, 0]], 0, 9), "travel", (1, 0)),
        (lambda: TSPTW([[0, np.inf], [1, 0]], 0, 9), "travel", (0, 1)),
        (lambda: TSPTW([[0]], 0, 9), "travel", ()),
        (lambda: TSPTW([[0, 1]], 0, 9), "travel", ()),
        (lambda: TSPTW(np.ones((2, 2)), 0, [9, 1e16]), "closes", (1,)),
        (lambda: TSPTW(np.ones((2, 2)), [0, 9], [9, 8]), "closes", (1,)),
        (lambda: TSPTW(np.ones((2, 2)), [0, 0, 0], 9), "opens", ()),
        (lambda: TSPTW(np.ones((2, 2)), "soon", 9), "opens", ()),
        (lambda: TSPTW(np.ones((2, 2)), 0, 9, [0, -1]), "service", (1,)),
        (lambda: TSPTW(np.ones((2, 2)), 0, 9, 0, [[0, 0], [0, np.nan]]), "coordinates", (1, 1)),
        (lambda: TSPTW(np.ones((2, 2)), 0, 9, 0, [0, 0]), "coordinates", ()),
        (lambda: TSPTW(np.ones((3, 3)), 0, 9, names=["a", "b", "a"]), "names", (2,)),
        (lambda: TSPTW(np.ones((3, 3)), 0, 9, names=["a"]), "names", ()),
        (lambda: TSPDL(np.ones((2, 2)), [1, 0], 9), "demand", (0,)),
        (lambda: TSPDL(np.ones((2, 2)), [0, 1], [9, -9]), "draft", (1,)),
    ],
)
def test_an_instance_says_which_of_its_numbers_is_to_blame(make, field, index):
    error = complaint(make)
    assert (error.field, error.index) == (field, index)


@pytest.mark.parametrize("copied", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))])
def test_a_copy_of_a_complaint_still_says_which_number_it_is_about(copied):
    error = complaint(lambda: TSPTW([[0, 1], [-1, 0]], 0, 9))
    again = copied(error)
    assert type(again) is InvalidInstance
    assert str(again) == str(error) == "travel[1, 0] is -1; expected zero or more"
    assert (again.field, again.index) == ("travel", (1, 0))


def test_a_complaint_gets_the_line_of_its_number():
    with pytest.raises(Unreadable) as refused, located(lambda field, index: len(field) + index[0]):
        raise InvalidInstance("too deep", "draft", (7,))
    assert refused.value.line == 12
    assert refused.value.message == "too deep"


def test_a_complaint_about_no_field_has_no_line():
    with pytest.raises(Unreadable) as refused, located(by_row([1])):
        raise InvalidInstance("load is 'odd'")
    assert refused.value.line is None


def test_what_concerns_no_row_is_seen_at_the_last():
    assert by_row([4, 6, 9])("closes", (1,)) == 6
    assert by_row([4, 6, 9])("travel", (0, 2)) == 4
    assert by_row([4, 6, 9])("travel", ()) == 9


def test_a_word_is_found_on_its_line_however_the_lines_are_filled():
    assert [line_of_word(SPREAD, at) for at in range(7)] == [1, 1, 3, 4, 4, 4, None]


@pytest.mark.parametrize(
    ("names", "coding"),
    [
        ("Müller Straße, Ölmühle", "cp1252"),
        ("Café de l\u2019Opéra \u2013 Châtelet", "cp1252"),
        ("Café Glück, Zürich; Ça va, Genève; Città", "cp1252"),
        ("Peña Ñuñoa", "latin-1"),
        ("Smørrebrød, Åkeshov", "cp1252"),
        ("Дмитров, 東京", "utf-16"),
        ("Дмитров, 東京", "utf-8-sig"),
    ],
)
def test_the_codings_of_spreadsheets_are_told_apart(names, coding):
    assert decoded(f"name;x;y\n{names}\n\x1a".encode(coding)) == f"name;x;y\n{names}"


@pytest.mark.parametrize(
    ("names", "coding"),
    [
        ("Łódź", "cp1250"),
        ("Dvořákovo nábřeží", "cp1250"),
        ("Москва", "cp1251"),
        ("Αθήνα", "cp1253"),
        ("Şişli", "cp1254"),
        ("東京", "shift-jis"),
    ],
)
def test_other_codings_are_refused_and_not_guessed_at(names, coding):
    with pytest.raises(Unreadable, match="not UTF-8 text; save it as UTF-8") as refused:
        decoded(f"name;x;y\n{names}\n".encode(coding))
    assert refused.value.line == 2
