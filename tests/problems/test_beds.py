import json
from pathlib import Path

import numpy as np
import pytest

from fairway.errors import CorruptBed, InvalidRequest
from fairway.folders import cache_folder
from fairway.judge import Solution, verify
from fairway.problems import beds as module
from fairway.problems.beds import bed_named, beds, digests, draw_bed, load_bed
from fairway.problems.generate import RandomWindows, TourWindows

PUBLISHED = [name for name, bed in beds().items() if bed.published]


@pytest.mark.parametrize("name", list(beds()))
def test_every_bed_is_drawn_with_its_hashes(name):
    bed = bed_named(name)
    assert digests(draw_bed(bed)) == bed.sha256
    instances = load_bed(name)
    assert (len(instances), instances.nodes, instances.name) == (bed.count, bed.nodes, name)


def test_the_hashes_are_the_published_ones(shared):
    """Against the file that names the original pickles' arrays."""
    arrays = {
        "node_xy": "coordinates",
        "tw_start": "opens",
        "tw_end": "closes",
        "demand": "demand",
        "draft_limit": "draft",
    }
    published = json.loads((shared / "beds/sha256.json").read_text())
    assert set(published) == set(PUBLISHED)
    for name, expected in published.items():
        assert {arrays[key]: digest for key, digest in expected.items()} == bed_named(name).sha256


def test_instances_have_the_published_units():
    windows, drafts = load_bed("tsptw50-medium")[0], load_bed("tspdl50-hard")[0]
    assert windows.closes[0] == 5500
    assert windows.coordinates.max() > 90
    assert not windows.service.any()
    assert drafts.demand.tolist() == [0, *[1] * 49]
    assert (drafts.draft < 49).sum() <= 45
    assert drafts.load == "growing"


def test_a_damaged_or_foreign_cache_is_drawn_anew(tmp_path, monkeypatch):
    monkeypatch.setenv("FAIRWAY_CACHE", str(tmp_path))
    kept = tmp_path / "tsptw500-medium.npz"
    kept.write_bytes(b"PK\x03\x04 no archive")
    first = load_bed("tsptw500-medium")
    assert kept.stat().st_size > 1000
    with np.load(kept) as file:
        arrays = dict(file)
    arrays["opens"][0, 1] += 1
    np.savez(kept, **arrays)
    assert np.array_equal(load_bed("tsptw500-medium").opens, first.opens)
    assert list(tmp_path.iterdir()) == [kept], "no partial file is left behind"


def test_a_cache_that_cannot_be_written_costs_nothing_but_time(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FAIRWAY_CACHE", str(tmp_path / "file" / "folder"))
    assert len(load_bed("tsptw500-medium")) == 128


def test_the_cache_goes_where_the_user_keeps_caches(tmp_path, monkeypatch):
    monkeypatch.delenv("FAIRWAY_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    load_bed("tsptw500-medium")
    assert (tmp_path / "fairway/tsptw500-medium.npz").exists()
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert cache_folder() == tmp_path / ".cache/fairway"


def test_other_bits_than_expected_are_refused(monkeypatch, tmp_path):
    monkeypatch.setenv("FAIRWAY_CACHE", str(tmp_path))
    monkeypatch.setattr(module, "draw_bed", lambda bed: {"opens": np.zeros((2, 2), np.float32)})
    with pytest.raises(CorruptBed, match="tsptw500-medium"):
        load_bed("tsptw500-medium")


def test_an_unknown_bed_is_refused_with_the_known_names():
    with pytest.raises(InvalidRequest, match="tsptw50-easy, tsptw50-medium"):
        load_bed("tsptw51-easy")


def test_wider_windows_come_from_the_same_hidden_tours():
    """Only eta differs between our own hard beds, so a tour that keeps the narrow windows keeps the wide ones."""
    narrow, wide = load_bed("tsptw100-hard-eta100"), load_bed("tsptw100-hard-eta200")
    assert bed_named(wide.name).distribution == TourWindows(eta=200.0)
    assert np.array_equal(narrow.locations.coordinates, wide.locations.coordinates)
    widths = [(each.closes - each.opens)[:, 1:].mean() for each in (narrow, wide)]
    assert widths == pytest.approx([100, 200], rel=0.01)
    assert isinstance(bed_named("tsptw500-medium").distribution, RandomWindows)


def test_a_bed_instance_can_be_judged():
    """The draft limits of the beds are built so that serving by draft is feasible."""
    instance = load_bed("tspdl100-hard")[17]
    assert isinstance(verify(instance, 1 + np.argsort(instance.draft[1:], kind="stable")), Solution)


def test_a_user_without_a_home_still_gets_beds(monkeypatch):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("FAIRWAY_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    assert cache_folder().name.startswith("fairway-")
