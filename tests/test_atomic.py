import os
import stat
from pathlib import Path

import pytest

from fairway import atomic
from fairway.errors import InvalidFile


def test_a_file_is_written_with_the_permissions_of_a_plain_open(tmp_path):
    path = tmp_path / "file"
    atomic.write_bytes(path, b"text")
    (tmp_path / "plain").write_text("text")
    assert path.read_text() == "text"
    assert path.stat().st_mode == (tmp_path / "plain").stat().st_mode
    path.chmod(0o640)
    atomic.write_bytes(path, b"other")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_failure_keeps_the_old_file_and_leaves_no_part(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_text("old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InvalidFile, match="No space left on device"):
        atomic.write_bytes(path, b"new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_an_interrupt_leaves_no_part(tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        atomic.write_bytes(tmp_path / "file", b"new")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("place", ["absent/file", "blocker/file", ""])
def test_a_place_that_cannot_be_written_is_named(tmp_path, place):
    (tmp_path / "blocker").write_text("")
    with pytest.raises(InvalidFile, match="cannot be written"):
        atomic.write_bytes(tmp_path / place, b"new")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_full_device_is_reported_and_stays_a_device():
    with pytest.raises(InvalidFile, match="No space left"):
        atomic.write_bytes(Path("/dev/full"), b"new")
    assert not Path("/dev/full").is_file()


def test_a_link_is_written_through(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    atomic.write_bytes(tmp_path / "link", b"new")
    assert (tmp_path / "real").read_text() == "new"
    assert (tmp_path / "link").is_symlink()


def test_a_loop_of_links_is_replaced(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    atomic.write_bytes(tmp_path / "a", b"new")
    assert (tmp_path / "a").read_text() == "new"


def test_a_name_as_long_as_names_may_be_is_written(tmp_path):
    atomic.write_bytes(tmp_path / ("x" * 255), b"new")
    assert (tmp_path / ("x" * 255)).read_text() == "new"


def test_only_parts_are_swept_away(tmp_path):
    for name in (".fairway-x1.part", ".fairway-x2.part", "file.part", ".fairway-file"):
        (tmp_path / name).write_text("")
    atomic.sweep(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".fairway-file", "file.part"]


def test_an_impossible_name_is_refused():
    with pytest.raises(InvalidFile, match="cannot be written"):
        atomic.write_bytes(Path("a\0b"), b"new")


def test_want_of_permission_is_not_told_as_want_of_room(tmp_path, monkeypatch):
    def refused(*_args, **_settings):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.mkstemp", refused)
    with pytest.raises(InvalidFile, match="you have no permission to write here") as error:
        atomic.write_bytes(tmp_path / "file", b"new")
    assert "room" not in str(error.value)
