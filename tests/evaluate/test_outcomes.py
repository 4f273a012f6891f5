import pytest
from evaluations import failed, header, results, solved, took, write
from hypothesis import given
from hypothesis import strategies as st

from fairway.errors import InvalidFile
from fairway.evaluate.outcomes import Outcome, line_of, read_results, times_beside

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
        ("{\n", "line 1: is no JSON"),
        ("[1]\n", "line 1: is no JSON object"),
        ('{"a":1}\n', "is no file of outcomes"),
        (line_of(header()) + '{"tours":8}\n', "is no file of outcomes"),
    ):
        path.write_text(text)
        with pytest.raises(InvalidFile, match=reason):
            read_results(path)
