"""`read` finds the format out by itself and puts the file's name before what is wrong; `write` is all or nothing."""

import io
import pickle
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from fairway.errors import FairwayError, InvalidFile
from fairway.problems.distances import euclidean
from fairway.problems.files import SUFFIXES, TEXT, read, write
from fairway.problems.files.tours import read_tour
from fairway.problems.instance import TSPDL, TSPTW, Instance
from fairway.problems.sets import InstanceSet, Locations

POINTS = np.array([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0], [1.0, 7.0]])
ZEROS = np.zeros(4)
WINDOWS = TSPTW(euclidean(POINTS), ZEROS, ZEROS + 90, ZEROS, POINTS, name="stem")
DRAFTS = TSPDL(
    euclidean(POINTS), np.array([0.0, 1, 1, 1]), ZEROS + 3, "growing", POINTS, name="stem"
)
WINDOW_SET = InstanceSet(
    Locations(np.stack([POINTS] * 2)),
    opens=0.0,
    closes=np.full((2, 4), 90.0),
    service=0.0,
    name="s",
)


def assert_same_problem(found, expected):
    assert found.problem == expected.problem
    assert np.array_equal(found.travel, expected.travel)
    columns = ("opens", "closes", "service") if expected.timed else ("demand", "draft", "load")
    for column in columns:
        assert np.array_equal(getattr(found, column), getattr(expected, column)), column


@pytest.mark.parametrize(
    ("instance", "kind"),
    [
        *((WINDOWS, name) for name in ("json", "csv", "npz", "matrix", "solomon", "tsplib")),
        *((DRAFTS, name) for name in ("json", "csv", "npz", "rakke", "tsplib")),
    ],
)
def test_every_format_is_recognised_whatever_the_suffix(instance, kind, tmp_path):
    path = tmp_path / "stem.data"
    write(instance, path, kind)
    assert_same_problem(read(path), instance)


@pytest.mark.parametrize("suffix", [*SUFFIXES, ".JSON"])
def test_the_suffix_chooses_the_format(suffix, tmp_path):
    instance = DRAFTS if suffix in (".dat", ".tspdl") else WINDOWS
    path = tmp_path / f"stem{suffix}"
    write(instance, path)
    by_name = tmp_path / "by name"
    write(instance, by_name, SUFFIXES[suffix.lower()])
    assert path.read_bytes() == by_name.read_bytes()
    assert_same_problem(read(path), instance)


def test_a_set_is_written_as_npz_and_comes_back_as_a_set(tmp_path):
    write(WINDOW_SET, tmp_path / "s.npz")
    found = read(tmp_path / "s.npz")
    assert found.timed
    assert len(found) == 2


def test_the_authors_pickles_are_read_as_sets(tmp_path):
    rows = [(POINTS.tolist(), [0.0, 1.0, 1.0, 1.0], [3.0] * 4)] * 2
    path = tmp_path / "tspdl4.pkl"
    path.write_bytes(pickle.dumps(rows, protocol=5))
    found = read(path)
    assert found.laden
    assert found.name == "tspdl4"


def test_a_byte_order_mark_is_no_part_of_a_text(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"\xef\xbb\xbfid,x,y,open,close\n0,0,0,0,9\n1,3,4,0,9\n")
    assert read(path).nodes == 2


def test_a_standard_input_that_is_closed_is_told_so(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InvalidFile, match=r"-: cannot be read \(there is no standard input\)"):
        read("-")


def test_the_distance_rule_reaches_the_reader(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id,x,y,open,close\n0,0,0,0,9\n1,1,1,0,9\n")
    assert read(path, "floor").travel[0, 1] == 1


def test_a_dash_reads_standard_input(monkeypatch):
    text = b"id,x,y,open,close\n0,0,0,0,9\n1,3,oops,0,9\n"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.replace(b"oops", b"4"))))
    assert read("-").nodes == 2
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))
    with pytest.raises(InvalidFile, match=r"^stdin:3: expected 'y'"):
        read("-")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b" \r\n\t", "is empty"),
        (b"hello\nworld\n", ":1: the format is not known; expected one of geojson, vroom, json"),
        (
            b"Company,Address,Telephone\nMill,12 High St,555\n",
            ":1: looks like CSV, but has no columns id or name, x, y or lat, lon, open, close; "
            "found 'company, address, telephone'",
        ),
        (
            b"Name,Address,lat,lon\nMill,12 High St,59.9,10.7\nQuay,1 Low St,59.8,10.8\n",
            "has latitudes and longitudes, and nothing says how fast one travels; give a speed in km/h (--speed 40), "
            "or a matrix of travel times (--matrix)",
        ),
        (
            b'{"code": "Ok", "durations": [[0, 5], [5, 0]], "sources": []}',
            "an OSRM table: give it as --matrix beside a CSV of stops",
        ),
        (b"id,x,y,open,close\n0,0,\0,0,9\n", ":2: holds binary data"),
        (b"id,x,y,open,close\n0,0,0,0,9\n\x81", ":3: holds bytes that are not UTF-8"),
        ("id,x,y,open,close\n0,0,0,0,9\nłąka,3,4,0,9".encode("cp1250"), ":3: holds bytes that are"),
        ("id,x,y,open,close\n0,0,0,0,9\nü".encode() + b"\xfc,3,4,0,9", ":3: holds bytes that are"),
        (b'{"problem": "tsptw",\n,}', ":2: is not JSON"),
        (b"id,x,y,open,close\n0,0,0,9,8\n1,3,4,0,9\n", ":2: the window of node 0 closes"),
        (b"PK\x03\x04 not a zip file", ": the archive is damaged"),
        (b"\x80\x04 not a pickle", ": the pickle is damaged"),
    ],
)
def test_what_is_wrong_with_a_file_starts_with_its_name_and_line(content, said, tmp_path):
    path = tmp_path / "some file.txt"
    path.write_bytes(content)
    with pytest.raises(InvalidFile) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}{said}" if said[0] == ":" else f"{path}: {said}")


def test_a_file_that_is_not_there_or_is_a_folder_is_refused(tmp_path):
    with pytest.raises(InvalidFile, match="cannot be read"):
        read(tmp_path / "missing.json")
    with pytest.raises(InvalidFile, match="cannot be read"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("item", "file", "kind", "said"),
    [
        (WINDOWS, "a.xyz", None, "the suffix .xyz names no format"),
        (WINDOWS, "a", None, r"the suffix \(none\) names no format"),
        (WINDOWS, "a.pkl", None, "the suffix .pkl names no format"),
        (WINDOWS, "a.json", "pickle", "there is no writer for 'pickle'"),
        (WINDOW_SET, "a.json", None, "json holds one instance, not a set"),
        (WINDOWS, "a.dat", None, "draft limits only"),
        (DRAFTS, "a.txt", None, "time windows only"),
        (WINDOWS, "no folder/a.json", None, "cannot be written"),
    ],
)
def test_what_cannot_be_written_is_refused_and_nothing_is_left_behind(
    item, file, kind, said, tmp_path
):
    with pytest.raises(FairwayError, match=said):
        write(item, tmp_path / file, kind)
    assert list(tmp_path.iterdir()) == []


def test_a_refused_write_leaves_the_old_file_as_it_was(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("before")
    with pytest.raises(InvalidFile):
        write(TSPTW(np.ones((4, 4)), ZEROS, ZEROS + 9, ZEROS), path)
    assert path.read_text() == "before"


def examples_of_the_manual():
    manual = Path(__file__).parents[3] / "docs" / "formats.md"
    return re.findall(r"```(?:json|csv|text)\n(.*?)```", manual.read_text("utf-8"), re.DOTALL)


@pytest.mark.parametrize("text", examples_of_the_manual())
def test_every_example_of_the_manual_is_read(text, tmp_path):
    path = tmp_path / "example"
    path.write_text(text)
    assert read(path).nodes >= 3


def test_the_manual_has_an_example_of_every_text_format():
    recognised = {
        name for text in examples_of_the_manual() for name in TEXT if TEXT[name].recognises(text)
    }
    assert recognised == set(TEXT)


def test_a_device_without_an_end_is_not_read():
    with pytest.raises(InvalidFile, match=r"^/dev/zero: cannot be read \(it is a device\)"):
        read("/dev/zero")


def test_a_file_larger_than_any_instance_is_not_read(tmp_path):
    path = tmp_path / "large"
    with path.open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(InvalidFile, match="it has more than 1073741824 bytes"):
        read(path)
    with pytest.raises(InvalidFile, match="cannot be read as a tour"):
        read_tour(path)


def test_text_has_a_limit_of_its_own_in_both_directions(tmp_path, monkeypatch):
    write(WINDOWS, tmp_path / "a.json")
    monkeypatch.setattr("fairway.problems.files.LARGEST_TEXT", 100)
    with pytest.raises(InvalidFile, match="bytes; expected at most 100, or npz"):
        read(tmp_path / "a.json")
    with pytest.raises(InvalidFile, match=r"of which 100 at most are read back; write .npz"):
        write(WINDOWS, tmp_path / "b.json")
    write(WINDOWS, tmp_path / "b.npz")
    assert_same_problem(read(tmp_path / "b.npz"), WINDOWS)


MANY = 5_001
ROWS = "".join(f"{node},0,0,0,9\n" for node in range(MANY))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("id,x,y,open,close\n" + ROWS, "more than 5000 nodes"),
        (f"{MANY}\n0 1\n", "expected 2 to 5000 nodes, found '5001'"),
        (f"N: {MANY}\nDistance: [ 1 ]\nDemand: 1\nDraft: 1\n", "expected 2 to 5000 nodes"),
        (f"DIMENSION : {MANY}\nTYPE : TSPTW\nTIME_WINDOW_SECTION\n", "expected 2 to 5000 nodes"),
        ('{"problem": "tsptw", "opens": [0], "closes": [0], "travel": [' + "[0]," * MANY + "[0]]}",
         "more than 5000 nodes"),
        ('{"a": [' + "0," * 26_000_000 + "0]}", "more numbers than 5000 nodes have"),
    ],
)  # fmt: skip
def test_every_text_format_has_one_limit_of_nodes(text, said, tmp_path):
    (tmp_path / "many").write_text(text)
    with pytest.raises(InvalidFile, match=said):
        read(tmp_path / "many")


@pytest.mark.parametrize("first", ["", "2\n", "N: 2\n", "DIMENSION : 2\n", "id,x,y,open,close\n"])
def test_blank_lines_are_not_looked_at_one_by_one(first, tmp_path):
    (tmp_path / "blank").write_text(first + "\n" * 2_000_000 + "x\n")
    steps = 0

    def count(frame, event, argument):
        nonlocal steps
        steps += 1
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        with pytest.raises(InvalidFile):
            read(tmp_path / "blank")
    finally:
        sys.settrace(before)
    assert steps < 1_000_000


FOREIGN = ("rakke", "matrix", "tsplib", "solomon")


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        (
            {"closes": 9, "demand": [0, 1, 1], "draft": 2},
            "time windows and draft limits; write .json",
        ),
        (
            {"before": [(1, 2)]},
            "this asks for time windows and an order of stops; write .json instead",
        ),
        (
            {"prize": 3, "end": None},
            "time windows and optional stops and an end of its own; write .json",
        ),
        ({"closes": [9, np.inf, 9]}, "cannot hold 'closes' without a limit; write .json instead"),
        (
            {"demand": [0, 1, 1], "draft": [9, np.inf, 9]},
            "cannot hold 'draft' without a limit; write .json",
        ),
    ],
)
def test_what_a_format_of_one_problem_cannot_hold_is_named_and_not_written_in_part(
    asked, named, tmp_path
):
    points = POINTS[:3]
    instance = Instance(euclidean(points), coordinates=points, **asked)
    for form in FOREIGN:
        with pytest.raises(InvalidFile, match=f"a: {form} .*{named}"):
            write(instance, tmp_path / "a", form)
    assert not list(tmp_path.iterdir())
    for form in ("json", "npz"):
        write(instance, tmp_path / "a", form)
        found = read(tmp_path / "a")
        assert found.constraints == instance.constraints


def test_closed_ways_are_held_by_json_and_npz_alone(tmp_path):
    travel = np.ones((3, 3))
    travel[0, 2] = np.inf
    instance = Instance(travel, closes=9)
    for form in ("csv", *FOREIGN):
        with pytest.raises(InvalidFile, match=r"write \.json instead"):
            write(instance, tmp_path / "a", form)
    for form in ("json", "npz"):
        write(instance, tmp_path / "a", form)
        assert read(tmp_path / "a").travel[0, 2] == np.inf


def test_a_set_of_windows_and_drafts_together_is_not_written(tmp_path):
    both = InstanceSet(WINDOW_SET.locations, closes=90.0, demand=0.0, draft=3.0)
    with pytest.raises(InvalidFile, match=r"a set is written with .* write each instance"):
        write(both, tmp_path / "a.npz")
    assert not list(tmp_path.iterdir())
