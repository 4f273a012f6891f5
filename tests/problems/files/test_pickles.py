"""The authors' pickles: their numbers come out, and nothing in them is ever loaded or run."""

import os
import pickle
import struct

import numpy as np
import pytest

from fairway.errors import InvalidInstance
from fairway.problems.files import pickles
from fairway.problems.files.text import Unreadable

PROTOCOLS = range(2, 6)


def windows(count=3, nodes=4):
    rng = np.random.default_rng(7)
    return [
        (
            (rng.random((nodes, 2)) * 100).tolist(),
            [0.0] * nodes,
            rng.integers(0, 50, nodes).tolist(),
            (rng.random(nodes) * 100 + 50).tolist(),
        )
        for _ in range(count)
    ]


def drafts(count=3, nodes=4):
    rng = np.random.default_rng(8)
    load = [0.0] + [1.0] * (nodes - 1)
    return [(rng.random((nodes, 2)).tolist(), load, [3.0] * nodes) for _ in range(count)]


class Attack:
    """Pickles into a call of `os.system`."""

    def __reduce__(self):
        return os.system, ("false",)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_set_with_time_windows_is_read_as_it_is(protocol):
    data = windows()
    found = pickles.parse(pickle.dumps(data, protocol), "bed")
    assert found.timed
    assert (found.name, found.scale, len(found), found.nodes) == ("bed", 100.0, 3, 4)
    xy, service, opens, closes = (
        np.array(column, dtype=float) for column in zip(*data, strict=True)
    )
    assert np.array_equal(found.locations.coordinates, xy)
    assert np.array_equal(found.service, service)
    assert np.array_equal(found.opens, opens)
    assert np.array_equal(found.closes, closes)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_set_with_draft_limits_is_read_as_it_is(protocol):
    data = drafts()
    found = pickles.parse(pickle.dumps(data, protocol), "bed")
    assert found.laden
    assert (found.load, found.scale) == ("growing", 1.0)
    xy, demand, draft = (np.array(column) for column in zip(*data, strict=True))
    assert np.array_equal(found.locations.coordinates, xy)
    assert np.array_equal(found.demand, demand)
    assert np.array_equal(found.draft, draft)


@pytest.mark.parametrize(
    ("value", "opcode"),
    [
        ("text", "UNICODE"),
        (b"bytes", "BYTES"),
        (None, "NONE"),
        (True, "NEWTRUE"),
        ({}, "EMPTY_DICT"),
        ({1}, "EMPTY_SET"),
        (1j, "UNICODE"),
        (np.float64(1), "UNICODE"),
        (Attack(), "UNICODE"),
    ],
)
def test_anything_but_lists_tuples_and_numbers_is_refused_by_name(value, opcode):
    with pytest.raises(
        (Unreadable, InvalidInstance), match=f"uses .*{opcode}; only lists, tuples, floats and ints"
    ):
        pickles.parse(pickle.dumps([value], 4), "bed")


def test_a_name_to_load_is_refused_by_that_name():
    with pytest.raises(
        (Unreadable, InvalidInstance), match=r"asks to load '(posix|nt)\.system'; only lists"
    ):
        pickles.parse(pickle.dumps([Attack()], 2), "bed")


def test_stand_ins_allow_no_other_name():
    with pytest.raises((Unreadable, InvalidInstance), match=r"asks to load '(posix|nt)\.system'"):
        pickles.published_references(pickle.dumps([(Attack(), [1])], 4))


def changed(index, field, value):
    data = [list(row) for row in windows()]
    data[index][field] = value
    return [tuple(row) for row in data]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (7, "no list of instances"),
        ([], "no list of instances"),
        ([7], "instance 0 .* tuple of four lists"),
        ([([[0.0, 0.0]], [0.0])], "instance 0 .* tuple of four lists"),
        ([*windows(2), drafts(1)[0]], "instance 2 .* tuple of 4 lists like the first"),
        ([*windows(2), *windows(1, nodes=5)], "instance 2 .* 4 entries in its coordinates"),
        (changed(1, 2, [0, 1, 2]), "instance 1 .* 4 entries in its opens"),
        (changed(1, 3, 5.0), "instance 1 .* 4 entries in its closes"),
        (changed(1, 1, [0.0, 0.0, [0.0], 0.0]), "instance 1 .* numbers in its service"),
        (changed(2, 0, [[0.0, 1.0]] * 3 + [[0.0]]), "instance 2 .* numbers in its coordinates"),
        (changed(2, 0, [[0.0, 1.0]] * 3 + [4.0]), "instance 2 .* numbers in its coordinates"),
        (changed(2, 0, [[0.0, 1.0]] * 3 + [[0.0, []]]), "instance 2 .* numbers in its coordinates"),
        (changed(2, 3, [-1.0, 99.0, 99.0, 99.0]), "instance 2: the window of node 0"),
        (changed(2, 1, [-1.0, 0.0, 0.0, 0.0]), "instance 2: service"),
        (changed(0, 0, [[1e300, 0.0]] + [[0.0, 0.0]] * 3), "instance 0: coordinates"),
        ([([[0.0, 0.0]], [0.0], [0.0], [1.0])], "instance 0 .* two nodes or more"),
        ([([], [], [], [])], "instance 0 .* two nodes or more"),
    ],
)
def test_ragged_mixed_or_invalid_content_is_named_by_its_instance(data, said):
    with pytest.raises((Unreadable, InvalidInstance), match=said):
        pickles.parse(pickle.dumps(data, 5), "bed")


def test_a_small_pickle_that_repeats_itself_into_a_huge_set_is_refused_at_once():
    row = windows(1, nodes=1_000)[0]
    with pytest.raises((Unreadable, InvalidInstance), match="repeats an instance by reference"):
        pickles.parse(pickle.dumps([row] * 100_000, 5), "bed")


def test_millions_of_empty_lists_are_refused_before_they_are_all_made():
    with pytest.raises(Unreadable, match="made of little but empty lists"):
        pickles.parse(b"\x80\x04" + b"]" * 6_000_000 + b".", "bed")


def test_a_list_that_holds_itself_is_refused():
    loop = [1.0]
    loop[0] = loop
    with pytest.raises((Unreadable, InvalidInstance), match="instance 1"):
        pickles.parse(pickle.dumps(changed(1, 0, [loop] * 4), 5), "bed")


def test_lists_nested_into_billions_are_refused_without_being_walked():
    nest = [0.0]
    for _ in range(60):
        nest = [nest, nest]
    with pytest.raises((Unreadable, InvalidInstance), match="instance 1"):
        pickles.parse(pickle.dumps(changed(1, 0, [nest] * 4), 5), "bed")


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("core", [b"numpy.core.", b"numpy._core."])
def test_reference_costs_and_tours_are_read_under_both_names_of_numpy(protocol, core):
    rows = [(np.float64(1.5), [2, 1, 3]), (np.float64(2.5), np.array([1, 2, 3])), (3.5, [3, 2, 1])]
    content = _renamed(pickle.dumps(rows, protocol), core)
    costs, tours = pickles.published_references(content)
    assert costs.tolist() == [1.5, 2.5, 3.5]
    assert tours.tolist() == [[2, 1, 3], [1, 2, 3], [3, 2, 1]]
    assert costs.dtype == np.float64
    assert tours.dtype == np.int64


def _renamed(content, core):
    """The pickle as another version of numpy would have written it: name lengths and frames adjusted."""
    here = b"numpy._core." if b"numpy._core." in content else b"numpy.core."
    for module in (b"multiarray", b"numeric"):
        old, new = here + module, core + module
        content = content.replace(
            b"\x8c" + bytes([len(old)]) + old, b"\x8c" + bytes([len(new)]) + new
        )
        content = content.replace(b"c" + old + b"\n", b"c" + new + b"\n")
    if content[1] >= 4:
        content = content[:3] + struct.pack("<Q", len(content) - 11) + content[11:]
    return content


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint8])
def test_tours_of_every_whole_number_type_are_read(dtype):
    tour = np.array([2, 1, 3], dtype=dtype)
    for value in (tour, tour[::1], list(tour)):
        content = pickle.dumps([(np.float32(1.5), value)], 4)
        costs, tours = pickles.published_references(content)
        assert (costs.tolist(), tours.tolist()) == ([1.5], [[2, 1, 3]])


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([(1.0, [1, 2]), (1.0, [1, 2, 3])], "instance 1 .* tour of 2 stops"),
        ([(1.0, [1, 2]), 5], "instance 1 .* a pair"),
        ([(1.0, [1, 2]), (None, [1, 2])], "instance 1 .* the cost a number"),
        ([(float("nan"), [1, 2])], "instance 0 .* the cost a number"),
        ([(1.0, [1, 1])], "instance 0 .* visits every stop once"),
        ([(1.0, [0, 1])], "instance 0 .* visits every stop once"),
        ([(1.0, [1.0, 2.0])], "instance 0 .* node numbers"),
        ([(1.0, np.array([1.0, 2.0]))], "instance 0 .* node numbers"),
        ([(1.0, np.array([[1, 2]]))], "instance 0 .* node numbers"),
        ([(1.0, [])], "instance 0 .* node numbers"),
        ([(1.0, np.array([1, 2], dtype=">i8"))], "damaged"),
        ([(1.0, np.array(["a"]))], "damaged"),
        ([(1.0, np.array([None]))], "damaged"),
        ([(np.array([1.0]), [1, 2])], "instance 0 .* the cost a number"),
    ],
)
@pytest.mark.parametrize("protocol", [2, 5])
def test_references_that_are_not_the_authors_are_refused(rows, said, protocol):
    with pytest.raises((Unreadable, InvalidInstance), match=said):
        pickles.published_references(pickle.dumps(rows, protocol))


def test_only_pickles_since_protocol_2_are_recognised():
    for protocol in PROTOCOLS:
        assert pickles.recognises(pickle.dumps(windows(), protocol))
    assert not pickles.recognises(b"")
    assert not pickles.recognises(b"\x80")
    assert not pickles.recognises(pickle.dumps(windows(), 0))
