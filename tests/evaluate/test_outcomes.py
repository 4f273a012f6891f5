import json
import lzma
from dataclasses import asdict, fields
from pathlib import Path

import pytest
from evaluations import failed, header, results, solved, took, write
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fairway.errors import InvalidFile
from fairway.evaluate import outcomes
from fairway.evaluate.metrics import broken_at, measure
from fairway.evaluate.outcomes import (
    Header,
    Outcome,
    Timing,
    line_of,
    pack,
    packed,
    read_results,
    times_beside,
    whole_lines,
)

COST = st.none() | st.floats(0, 1e6)
FIELDS = st.fixed_dictionaries({
    "index": st.integers(0, 9), "tours": st.integers(0, 8), "accepted": st.integers(0, 8),
    "strict": st.integers(0, 8), "cost": COST, "strict_cost": COST, "proved": st.booleans(),
    "broken_at": st.dictionaries(st.integers(1, 9), st.integers(1, 9)),
    "tour": st.none() | st.lists(st.integers(1, 9)).map(tuple),
})  # fmt: skip


@given(st.lists(FIELDS, max_size=4))
def test_what_is_written_is_read_again(tmp_path_factory, fields):
    outcomes = [Outcome(**each) for each in fields]
    made = results(*outcomes, timings=[took(0, 4, 1.5)], steps=2)
    read = read_results(write(tmp_path_factory.mktemp("tree"), made))
    assert (read.header, read.outcomes, read.timings) == (made.header, outcomes, made.timings)


@given(st.lists(FIELDS, max_size=4))
def test_what_is_packed_is_read_again_and_leaves_no_plain_file(tmp_path_factory, fields):
    made = results(*(Outcome(**each) for each in fields), timings=[took(0, 4, 1.5)], steps=2)
    path = write(tmp_path_factory.mktemp("tree"), made)
    pack(path, made)
    read = read_results(path)
    assert (read.header, read.outcomes, read.timings) == (made.header, made.outcomes, made.timings)
    assert list(path.parent.iterdir()) == [packed(path)]


def test_a_packed_file_that_is_damaged_is_refused_with_its_name(tmp_path):
    path = write(tmp_path, results(solved(0, 1.0)))
    pack(path, read_results(path))
    content = packed(path).read_bytes()
    for wrong in (content[:-9], content[9:], b"", b"x" + content):
        packed(path).write_bytes(wrong)
        with pytest.raises(InvalidFile, match=r"jsonl\.xz: .*; (delete this file|make it anew)"):
            read_results(path)
    packed(path).write_bytes(lzma.compress(line_of(header()).encode() + b'{"first":0}\n'))
    with pytest.raises(InvalidFile, match=r"jsonl\.xz, line 2: has no count; delete this file"):
        read_results(path)


def test_a_file_that_unpacks_to_more_than_any_evaluation_leaves_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(outcomes, "MOST_BYTES", 1_000)
    path = tmp_path / "row.jsonl.xz"
    path.write_bytes(lzma.compress(b" " * 10_000))
    with pytest.raises(InvalidFile, match="unpacks to more than 1000 bytes"):
        read_results(tmp_path / "row.jsonl")
    with pytest.raises(InvalidFile, match="it is a device"):
        outcomes.whole_lines(Path("/dev/zero"))


def test_zeros_are_said_and_nothing_is_not():
    assert line_of(failed(0)) == '{"index":0,"tours":8,"accepted":0,"strict":0}\n'


def test_a_last_line_that_was_cut_off_is_left_out(tmp_path):
    path = write(tmp_path, results(solved(0, 1.0), solved(1, 2.0)))
    path.write_text(path.read_text()[:-9])
    assert read_results(path).index.tolist() == [0]
    assert read_results(path).timings == []
    assert times_beside(path).name == "POMO*.times.jsonl"


def test_what_is_no_file_of_outcomes_is_refused(tmp_path):
    path = tmp_path / "x.jsonl"
    for text, reason in (
        ("", "holds no outcomes"),
        ("{\n", "line 1: is no JSON; delete this line"),
        ("[" * 10**5 + "\n", "line 1: is no JSON; delete this line"),
        ("[1]\n", "line 1: is no JSON object"),
        ('{"a":1}\n', "line 1: has no study, so that this is no file of outcomes; move it"),
        (line_of(header()) + '{"tours":8}\n', "line 2: has no index; delete this line"),
        (
            line_of(header()) + line_of(failed(0))[:-2] + ',"mine":8}\n',
            "has a field 'mine'; delete",
        ),
    ):
        path.write_text(text)
        with pytest.raises(InvalidFile, match=rf"x\.jsonl.*{reason}"):
            read_results(path)


def test_a_line_that_is_no_text_is_named(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_bytes(line_of(header()).encode() + b'{"index":0,"t\xff":1}\n')
    with pytest.raises(InvalidFile, match=r"x\.jsonl, line 2: is no JSON"):
        read_results(path)
    with pytest.raises(InvalidFile, match=r"cannot be read \(Is a directory\); make it a file"):
        whole_lines(tmp_path)


LINES = (
    asdict(header(steps=2)),
    asdict(solved(0, 1.5, broken_at={3: 1}, tour=(2, 1), proved=True)),
    asdict(took(0, 1, 2.0)),
)


def put(folder, at, name, value):
    """Three good lines in their two files, but that a field of one of them is another."""
    lines = [dict(line) for line in LINES]
    lines[at][name] = value
    first, second, times = (f"{json.dumps(line)}\n" for line in lines)
    path = folder / "x.jsonl"
    path.write_text(first + second)
    times_beside(path).write_text(times)
    return path


@pytest.mark.parametrize(("at", "name", "value", "expected"), [
    (0, "label", 5, "a text"), (0, "label", "\ud800", "a text"), (0, "settings", [], "an object"),
    (0, "versions", {"fairway": 1}, "an object of texts"), (0, "count", -1, "a whole number, zero"),
    (0, "tolerance", None, "a finite number"), (0, "strict", True, "a finite number"),
    (1, "index", "x", "a whole number"), (1, "index", True, "a whole number"),
    (1, "index", 10**30, "a whole number"), (1, "tours", "q", "a whole number"),
    (1, "accepted", 1.0, "a whole number"), (1, "strict", None, "a whole number"),
    (1, "cost", "abc", "a finite number or null"), (1, "cost", float("inf"), "a finite number"),
    (1, "cost", float("nan"), "a finite number"), (1, "cost", 10**400, "a finite number"),
    (1, "strict_cost", [1.0], "a finite number or null"), (1, "proved", 1, "true or false"),
    (1, "broken_at", {"1": "x"}, "an object of counts by stop"), (1, "broken_at", {"0": 1}, "an object"),
    (1, "broken_at", {"x": 1}, "an object"), (1, "broken_at", {"9" * 12: 1}, "an object"),
    (1, "broken_at", None, "an object"), (1, "tour", "12", "a list of stops"),
    (1, "tour", [1, "2"], "a list of stops"),
])  # fmt: skip
def test_every_field_of_another_type_is_refused_with_its_line(tmp_path, at, name, value, expected):
    path = put(tmp_path, at, name, value)
    with pytest.raises(InvalidFile) as refused:
        read_results(path)
    said = str(refused.value)
    assert said.startswith(f"{path}, line {at + 1}: {name} is ")
    assert f", expected {expected}" in said
    assert said.endswith("; delete this line and all after it, and run the evaluation again")
    assert len(said) < len(str(path)) + 220


@pytest.mark.parametrize(("name", "value"), [
    ("first", "x"), ("count", 1.5), ("wall", "x"), ("work", float("nan")), ("device", None), ("workers", -1)
])  # fmt: skip
def test_bad_times_are_to_be_deleted_alone(tmp_path, name, value):
    path = put(tmp_path, 2, name, value)
    wrong = rf"x\.times\.jsonl, line 1: {name} is .*; delete this file of times alone"
    with pytest.raises(InvalidFile, match=wrong):
        read_results(path)
    times_beside(path).write_text("{\n")
    with pytest.raises(InvalidFile, match=r"line 1: is no JSON; delete this file of times alone"):
        read_results(path)
    times_beside(path).unlink()
    assert read_results(path).index.tolist() == [0]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["1", "x", "-1"]), inner),
    max_leaves=4,
)


@settings(deadline=None)
@given(st.integers(0, 2), st.data(), JSON)
def test_whatever_a_field_holds_is_refused_or_can_be_measured(tmp_path_factory, at, data, value):
    field = data.draw(st.sampled_from(fields((Header, Outcome, Timing)[at])))
    assume(not (type(value) is int and float in (field.type, *getattr(field.type, "__args__", ()))))
    path = put(tmp_path_factory.mktemp("tree"), at, field.name, value)
    try:
        read = read_results(path)
    except InvalidFile:
        return
    measure(read)
    broken_at(read.outcomes)
    line_of(read.header)
