"""Cores are those that the scheduler and the container leave us."""

import os

import pytest

from fairway import cores


@pytest.fixture
def groups(tmp_path, monkeypatch):
    """A system with 64 cores, whose control groups a test can lay out."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(64)))
    monkeypatch.setattr(cores, "GROUPS", tmp_path / "groups")
    monkeypatch.setattr(cores, "MEMBERSHIP", tmp_path / "membership")

    def lay_out(membership, **files):
        (tmp_path / "membership").write_text(membership)
        for name, content in files.items():
            file = tmp_path / "groups" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content)

    return lay_out


def test_without_groups_it_is_the_affinity(groups):
    assert cores.cores() == 64


@pytest.mark.parametrize(
    ("quota", "expected"),
    [("max", 64), ("400000", 4), ("250000", 2), ("50000", 1), ("9900000", 64)],
)
def test_a_container_of_version_2_is_limited_by_its_quota(groups, quota, expected):
    groups("0::/\n", **{"cpu.max": f"{quota} 100000\n"})
    assert cores.cores() == expected


def test_the_least_quota_on_the_way_up_counts(groups):
    files = {"a/cpu.max": "300000 100000", "a/b/cpu.max": "max 100000"}
    groups("0::/a/b\n", **files)
    assert cores.cores() == 3


@pytest.mark.parametrize("path", ["/", "/docker/0123"])
@pytest.mark.parametrize(("quota", "expected"), [("-1", 64), ("200000", 2)])
def test_a_container_of_version_1_is_too(groups, path, quota, expected):
    files = {"cpu,cpuacct/cpu.cfs_quota_us": quota, "cpu,cpuacct/cpu.cfs_period_us": "100000"}
    groups(f"5:memory:/x\n4:cpu,cpuacct:{path}\n0::/\n", **files)
    assert cores.cores() == expected


def test_a_group_that_cannot_be_made_sense_of_is_no_limit(groups):
    groups("0::/\n", **{"cpu.max": "lots\n"})
    assert cores.cores() == 64
