"""The npz format: instances and sets come back to the last bit, and no archive can do harm."""

import io
import math
import tracemalloc
import zipfile

import numpy as np
import pytest

from fairway.errors import InvalidInstance
from fairway.problems.distances import euclidean
from fairway.problems.files import archive
from fairway.problems.files.text import Unreadable
from fairway.problems.instance import TSPDL, TSPTW, Instance
from fairway.problems.sets import InstanceSet, Locations

RNG = np.random.default_rng(5)
POINTS = RNG.random((4, 3, 2))
COLUMN = RNG.random((4, 3))
MATRIX = RNG.random((4, 3, 3))
DEMAND = np.array([[0.0, 1.0, 2.0]] * 4)

INSTANCES = [
    TSPTW(euclidean(POINTS[0]), COLUMN[0], COLUMN[0] + 1, COLUMN[1], POINTS[0], name="é"),
    TSPTW(MATRIX[0], COLUMN[0], COLUMN[0] + 1, COLUMN[1], names=("a", "b", "c c")),
    TSPDL(MATRIX[0], DEMAND[0], COLUMN[0], "shrinking", POINTS[0], ("x", "y", ""), "d"),
]
SETS = [
    InstanceSet(
        Locations(POINTS), opens=COLUMN, closes=COLUMN + 1, service=COLUMN, name="é", scale=100.0
    ),
    InstanceSet(Locations(None, MATRIX), opens=COLUMN, closes=COLUMN + 1, service=COLUMN),
    InstanceSet(
        Locations(POINTS, MATRIX),
        demand=DEMAND,
        draft=COLUMN,
        load="shrinking",
        name="d",
        scale=1.0,
    ),
]


def changed(item, **arrays):
    """The archive of an item with some arrays replaced, or left out where None is given."""
    with np.load(io.BytesIO(archive.render(item))) as stored:
        kept = dict(stored) | arrays
    file = io.BytesIO()
    np.savez(file, **{name: array for name, array in kept.items() if array is not None})
    return file.getvalue()


def zipped(**members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as out:
        for name, content in members.items():
            out.writestr(f"{name}.npy", content)
    return file.getvalue()


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


@pytest.mark.parametrize("instance", INSTANCES)
def test_an_instance_comes_back_to_the_last_bit(instance):
    found = archive.parse(archive.render(instance), "stem")
    assert type(found) is type(instance)
    for field in type(instance).__dataclass_fields__:
        assert np.array_equal(getattr(found, field), getattr(instance, field)), field


@pytest.mark.parametrize("item", SETS)
def test_a_set_comes_back_to_the_last_bit_and_keeps_what_it_is_made_of(item):
    found = archive.parse(archive.render(item), "stem")
    assert type(found) is type(item)
    assert (found.name, found.scale, len(found)) == (item.name, item.scale, len(item))
    assert (found.locations.matrix is None) == (item.locations.matrix is None)
    for field in ("opens", "closes", "service", "demand", "draft", "load"):
        if hasattr(item, field):
            assert np.array_equal(getattr(found, field), getattr(item, field)), field
    for mine, theirs in zip(found, item, strict=True):
        assert np.array_equal(mine.travel, theirs.travel)
        assert np.array_equal(mine.coordinates, theirs.coordinates)


@pytest.mark.parametrize("item", [*INSTANCES, *SETS])
def test_equal_items_give_equal_bytes(item):
    assert archive.render(item) == archive.render(item)


def test_whole_numbers_and_short_floats_are_read_as_float64():
    found = archive.parse(
        changed(SETS[0], opens=np.zeros((4, 3), np.int16), closes=np.ones((4, 3), np.float32)), "s"
    )
    assert found.opens.dtype == found.closes.dtype == np.float64
    assert found.closes.tolist() == np.ones((4, 3)).tolist()


def test_the_name_of_the_file_serves_where_the_archive_has_none():
    assert archive.parse(changed(SETS[0], name=None), "stem").name == "stem"


@pytest.mark.parametrize(
    ("item", "arrays", "said"),
    [
        (SETS[0], {"problem": None}, "problem is ''"),
        (SETS[0], {"problem": np.array("vrp")}, "problem is 'vrp'"),
        (SETS[0], {"problem": np.array(["tsptw"])}, "'problem' holds a list"),
        (SETS[0], {"opens": None}, "'opens' is missing"),
        (SETS[0], {"service": np.zeros((4, 4))}, r"'service' has shape \(4, 4\)"),
        (SETS[0], {"opens": np.array(3.0)}, "'opens' has shape"),
        (SETS[0], {"coordinates": None}, "neither coordinates nor travel"),
        (SETS[0], {"coordinates": np.zeros((4, 3, 3))}, "'coordinates' has shape"),
        (SETS[0], {"travel": np.zeros((4, 3, 2))}, "'travel' has shape"),
        (SETS[0], {"scale": np.array(-1.0)}, "'scale' is not"),
        (SETS[0], {"scale": np.ones(2)}, "'scale' is not"),
        (SETS[0], {"opens": np.zeros((4, 3), complex)}, "'opens' has type complex128"),
        (SETS[0], {"opens": np.zeros((4, 3), bool)}, "'opens' has type bool"),
        (SETS[0], {"opens": np.array("soon")}, "'opens' has type <U4"),
        (SETS[0], {"name": np.array(3)}, "'name' has type int64"),
        (SETS[0], {"extra": np.zeros(3)}, "'extra.npy', unknown or twice"),
        (SETS[2], {"load": np.array("sinking")}, "load is 'sinking'"),
        (SETS[0], {"opens": COLUMN + 2}, "instance 0: the window of node 0 closes"),
        (SETS[0], {"coordinates": POINTS * 1e300}, "instance 0: coordinates"),
        (SETS[0], {"coordinates": POINTS * math.nan}, "instance 0: travel"),
        (SETS[2], {"demand": -DEMAND}, "instance 0: demand"),
        (SETS[2], {"demand": DEMAND + 1}, "instance 0: the depot has a demand"),
        (SETS[2], {"travel": -MATRIX}, "instance 0: travel"),
        (INSTANCES[0], {"coordinates": POINTS[0][:0], "opens": np.zeros(0)}, "shape"),
    ],
)
def test_what_is_wrong_is_named(item, arrays, said):
    with pytest.raises((Unreadable, InvalidInstance), match=said):
        archive.parse(changed(item, **arrays), "stem")


TOUR = Instance(
    MATRIX[0], windows={1: [(0, 1), (2, 3)]}, before=[(1, 2)], capacity=2, breaks=[(0, 1, 2)], end=2
)


@pytest.mark.parametrize(
    ("item", "arrays", "said"),
    [
        (TOUR, {"travel": None}, "neither coordinates nor travel"),
        (TOUR, {"coordinates": np.zeros(())}, "'coordinates' has shape"),
        (
            TOUR,
            {"coordinates": np.zeros((3, 3))},
            r"'coordinates' has shape \(3, 3\); expected \(3, 2\)",
        ),
        (TOUR, {"travel": np.zeros(3)}, "travel has shape 3; expected a square matrix"),
        (TOUR, {"late": np.zeros((2, 3))}, "late has shape 2 x 3; expected 3 numbers"),
        (TOUR, {"before": np.zeros(3)}, r"'before' has shape \(3,\); expected rows of 2 numbers"),
        (TOUR, {"before": np.array([[1, 7]])}, "before names node 7"),
        (TOUR, {"before": np.array([[1, 1.5]])}, "'before' names a node by no whole number"),
        (TOUR, {"windows": np.ones((1, 2))}, "'windows' has shape .*; expected rows of 3 numbers"),
        (TOUR, {"windows": np.array([[1, 2, 1]])}, "the windows of node 1 are"),
        (
            TOUR,
            {"windows": np.array([[np.nan, 1, 2]])},
            "'windows' names a node by no whole number",
        ),
        (TOUR, {"breaks": np.array([[3, 2, 1]])}, "a break is"),
        (TOUR, {"capacity": np.ones(2)}, "'capacity' holds a list; expected a single number"),
        (TOUR, {"end": np.array(np.inf)}, "'end' names a node by no whole number"),
        (TOUR, {"end": np.array(9)}, "end names node 9"),
        (TOUR, {"end": np.array("x")}, "'end' has type <U1; expected numbers"),
        (TOUR, {"load": np.array("sinking")}, "load is 'sinking'"),
        (
            INSTANCES[0],
            {"prize": np.zeros(3)},
            "'prize' is unknown for tsptw; expected the problem 'tour'",
        ),
        (SETS[0], {"end": np.array(1)}, "'end' is unknown for tsptw; expected the problem 'tour'"),
    ],
)
def test_what_is_wrong_with_a_tour_is_named(item, arrays, said):
    with pytest.raises((Unreadable, InvalidInstance), match=said):
        archive.parse(changed(item, **arrays), "stem")


def test_a_set_of_nothing_is_refused():
    with pytest.raises((Unreadable, InvalidInstance), match="a set of no instances"):
        archive.parse(archive.render(SETS[0][:0]), "stem")


def test_a_bad_instance_in_a_set_is_named_by_its_index():
    closes = COLUMN + 1
    closes[2, 1] = -1
    with pytest.raises((Unreadable, InvalidInstance), match="instance 2: the window of node 1"):
        archive.parse(changed(SETS[0], closes=closes), "stem")


def test_a_bad_instance_alone_is_refused_by_the_instance():
    with pytest.raises(InvalidInstance, match="the window of node 0"):
        archive.parse(changed(INSTANCES[0], closes=COLUMN[0] - 1), "stem")


def test_objects_are_never_unpickled():
    file = io.BytesIO()
    np.savez(file, problem=np.array([print], dtype=object))
    with pytest.raises((Unreadable, InvalidInstance), match=r"damaged|claims another size"):
        archive.parse(file.getvalue(), "stem")


def test_an_array_that_claims_more_than_it_holds_is_refused_before_it_is_made():
    header = npy(np.zeros(3)).replace(b"(3,)", b"(3000000000000,)")[:-12]
    tracemalloc.start()
    try:
        with pytest.raises(Unreadable):
            archive.parse(zipped(opens=header + bytes(24)), "stem")
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


def test_an_array_of_another_size_than_claimed_is_refused():
    with pytest.raises((Unreadable, InvalidInstance), match="claims another size"):
        archive.parse(zipped(opens=npy(np.zeros(3)) + b"more"), "stem")


def test_an_archive_that_claims_too_much_in_all_is_refused_unread(monkeypatch):
    monkeypatch.setattr(archive, "LARGEST_CONTENT", 1_000)
    with pytest.raises((Unreadable, InvalidInstance), match="expected at most 1000"):
        archive.parse(archive.render(SETS[0]), "stem")


def test_a_member_that_unpacks_to_more_than_it_declares_is_not_unpacked_whole():
    content = bytearray(zipped(opens=bytes(50_000_000)))
    size = (50_000_000).to_bytes(4, "little")
    while (at := content.find(size)) >= 0:
        content[at : at + 4] = (1_000).to_bytes(4, "little")
    tracemalloc.start()
    try:
        with pytest.raises((Unreadable, InvalidInstance), match="damaged"):
            archive.parse(bytes(content), "stem")
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


def test_a_member_given_twice_is_refused():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as out:
        out.writestr("opens.npy", npy(np.zeros(3)))
        with pytest.warns(UserWarning, match="Duplicate"):
            out.writestr("opens.npy", npy(np.ones(3)))
    with pytest.raises((Unreadable, InvalidInstance), match="unknown or twice"):
        archive.parse(file.getvalue(), "stem")


@pytest.mark.parametrize("kept", [5, 30, 200, -30, -1])
def test_an_archive_cut_short_is_damaged(kept):
    with pytest.raises((Unreadable, InvalidInstance), match="damaged"):
        archive.parse(archive.render(SETS[0])[:kept], "stem")


def test_a_flipped_bit_in_the_numbers_is_noticed():
    content = bytearray(changed(SETS[0]))
    content[content.find(npy(COLUMN)) + len(npy(COLUMN)) - 3] ^= 1
    with pytest.raises((Unreadable, InvalidInstance), match="CRC"):
        archive.parse(bytes(content), "stem")


def test_only_a_zip_file_is_recognised():
    assert archive.recognises(archive.render(SETS[0]))
    assert not archive.recognises(b"")
    assert not archive.recognises(b"PKzip")


def test_names_of_characters_beyond_unicode_are_refused():
    letters = np.array([0x110000, 0x41], np.uint32).view("<U2").reshape(())
    for order in "<>":
        with pytest.raises(Unreadable, match="'name' holds characters beyond those of Unicode"):
            archive.parse(changed(INSTANCES[0], name=letters.astype(f"{order}U2")), "stem")


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({"coordinates": np.zeros((15_000, 2)), "opens": np.zeros(15_000)}, "more than 5000 nodes"),
        ({"travel": np.zeros((5_001, 400))}, None),
        ({"travel": np.zeros((300, 6_000), np.int8)}, "more than 5000 nodes"),
        ({"name": np.array("x" * 1_000_000)}, "texts of 1000000 characters; expected at most 1000"),
        ({"travel": np.zeros((400, 300, 300), np.int8)}, None),
        ({"travel": np.zeros((800, 300, 300), np.int8)}, "claims 7200[0-9]+ bytes"),
    ],
)
def test_an_archive_of_too_much_is_refused_by_its_headers(members, said):
    content = zipped(problem=npy(np.array("tsptw")), **{k: npy(v) for k, v in members.items()})
    tracemalloc.start()
    try:
        with pytest.raises(Unreadable, match=said):
            archive.parse(content, "stem")
        assert said is None or tracemalloc.get_traced_memory()[1] < 2**21
    finally:
        tracemalloc.stop()


def test_a_name_that_would_lose_its_end_is_not_written():
    spoilt = [
        TSPTW(MATRIX[0], COLUMN[0], COLUMN[0] + 1, name="a\0"),
        TSPTW(MATRIX[0], COLUMN[0], COLUMN[0] + 1, names=("a", "b\0", "c")),
        InstanceSet(
            Locations(POINTS), opens=COLUMN, closes=COLUMN + 1, labels=("a", "b", "c", "d\0")
        ),
    ]
    for item in spoilt:
        with pytest.raises(Unreadable, match=r"ends in a NUL character; write .json instead"):
            archive.render(item)


def test_headers_of_old_pythons_are_read_without_a_word(recwarn):
    kept = io.BytesIO()
    np.savez(kept, travel=MATRIX[0], opens=COLUMN[0], closes=COLUMN[0] + 1)
    with zipfile.ZipFile(kept) as known:
        members = {name: known.read(name) for name in known.namelist()}
    old = io.BytesIO()
    with zipfile.ZipFile(old, "w") as changed:
        for name, content in members.items():
            changed.writestr(name, content.replace(b"(3, 3), }  ", b"(3L, 3L), }"))
    assert old.getvalue() != kept.getvalue()
    arrays = archive.arrays_of(old.getvalue())
    assert np.array_equal(arrays["travel"], MATRIX[0])
    assert not recwarn.list
