import json
import math
import sys
from contextlib import closing
from types import SimpleNamespace

import pytest

from fairway.errors import InvalidFile
from fairway.train.log import LINES, Log, Validation, as_line
from fairway.train.loop import Record
from fairway.train.validate import Score


def record(step, loss=0.5):
    return Record(
        step, 4 * step, 0.1 * step, 0.5, 40.0, 1e-4, "exact", {"loss": loss, "length": 2.0}
    )


def validation(step, length=3.0):
    return Validation(step, 4 * step, 0.1 * step, Score(12.5, 1.0, length))


def lines(folder):
    return [json.loads(line) for line in (folder / LINES).read_text().splitlines()]


def test_every_entry_is_a_line_on_disk_at_once(tmp_path):
    with closing(Log(tmp_path, 0)) as log:
        for number, entry in enumerate((validation(0), record(1), record(2), validation(2)), 1):
            log.write(entry)
            assert len(lines(tmp_path)) == number
    assert [line["kind"] for line in lines(tmp_path)] == ["validation", "record", "record", "validation"]  # fmt: skip
    assert lines(tmp_path)[1] == as_line(record(1))
    assert lines(tmp_path)[1]["loss"] == 0.5
    assert lines(tmp_path)[0]["sol_infeasible"] == 12.5


def test_what_is_no_number_is_null(tmp_path):
    with closing(Log(tmp_path, 0)) as log:
        log.write(validation(3, length=math.nan))
    assert "NaN" not in (tmp_path / LINES).read_text()
    assert lines(tmp_path)[0]["length"] is None


def test_going_on_drops_what_comes_after_the_step_and_what_was_cut_short(tmp_path):
    with closing(Log(tmp_path, 0)) as log:
        for step in range(1, 6):
            log.write(record(step))
        log.write(validation(5))
    with (tmp_path / LINES).open("a") as file:
        file.write('{"kind": "record", "step": 3, "lo')
    with closing(Log(tmp_path, 3)) as log:
        assert [line["step"] for line in lines(tmp_path)] == [1, 2, 3]
        log.write(record(4, loss=0.25))
    assert [line["loss"] for line in lines(tmp_path)] == [0.5, 0.5, 0.5, 0.25]


def test_tensorboard_gets_the_same_figures(tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    with closing(Log(tmp_path, 0)) as log:
        assert log.has_board
        log.write(record(1, loss=0.25))
        log.write(validation(1, length=math.nan))
    events = EventAccumulator(str(tmp_path / "tensorboard"))
    events.Reload()
    assert [(event.step, event.value) for event in events.Scalars("record/loss")] == [(1, 0.25)]
    assert events.Scalars("validation/sol_infeasible")[0].value == 12.5
    assert "validation/length" not in events.Tags()["scalars"]


def test_without_tensorboard_the_lines_are_written_all_the_same(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with closing(Log(tmp_path, 0)) as log:
        assert not log.has_board
        log.write(record(1))
    assert len(lines(tmp_path)) == 1
    assert not (tmp_path / "tensorboard").exists()


def test_a_full_disk_is_told_with_the_way_out(tmp_path, monkeypatch):
    def full(_):
        raise OSError(28, "No space left on device")

    with closing(Log(tmp_path, 0)) as log:
        monkeypatch.setattr(log, "_file", SimpleNamespace(write=full, close=log._file.close))
        with pytest.raises(InvalidFile, match=r"No space left on device\); make room, .* --resume"):
            log.write(record(1))
