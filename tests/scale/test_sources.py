"""Instances from anywhere, cut into chunks whose names follow from what is in them."""

import json

import numpy as np
import pytest
import zstandard

import fairway
from fairway.errors import InvalidFile, InvalidRequest
from fairway.problems.instance import Instance
from fairway.problems.sets import InstanceSet
from fairway.scale import lines
from fairway.scale.sources import BLOCK, Documents, Drawn, Members, Named, chunks


def points(pieces):
    """The coordinates of all instances."""
    sets = [loaded for piece in pieces for loaded in piece.load()]
    return np.concatenate([each.locations.coordinates for each in sets])


def test_a_drawn_instance_depends_on_its_number_and_the_seed_alone():
    whole = Drawn("tsptw", "hard", 5, 7, 0, 3 * BLOCK + 10)
    known = points([whole])
    assert len(known) == 3 * BLOCK + 10
    assert len(np.unique(known, axis=0)) == len(known)
    for part in (slice(0, 10), slice(BLOCK - 3, BLOCK + 5), slice(2 * BLOCK, 3 * BLOCK + 10)):
        assert np.array_equal(points([whole[part]]), known[part])
        assert list(whole[part].names) == list(whole.names)[part]
    assert not np.array_equal(points([Drawn("tsptw", "hard", 5, 8, 0, 9)]), known[:9])


def test_chunks_hold_every_instance_once_whatever_the_pieces():
    pieces = [Drawn("tsptw", "hard", 4, 1, 0, 23), Members(fairway.generate("tspdl", n=4, count=9))]
    found = list(chunks(iter(pieces), 10))
    assert [(each.number, each.first, len(each)) for each in found] == [
        (0, 0, 10),
        (1, 10, 10),
        (2, 20, 10),
        (3, 30, 2),
    ]
    names = [name for each in found for piece in each.pieces for name in piece.names]
    assert names == [name for piece in pieces for name in piece.names]
    inner = found[2][2:5]
    assert (inner.first, [list(piece.names) for piece in inner.pieces]) == (
        22,
        [["tsptw4-hard-22"], ["tspdl4-0", "tspdl4-1"]],
    )


def test_a_name_follows_from_the_instances_and_the_settings():
    def names(seed, count, settings=b"one"):
        return [
            each.name(settings) for each in chunks([Drawn("tsptw", "hard", 4, seed, 0, count)], 10)
        ]

    assert names(1, 25)[:2] == names(1, 100)[:2], "a part has the names of the whole"
    assert set(names(1, 20)).isdisjoint(names(2, 20))
    assert set(names(1, 20)).isdisjoint(names(1, 20, b"other"))
    sets = [Members(fairway.generate("tsptw", n=4, count=5, seed=seed)) for seed in (1, 1, 2)]
    tokens = [piece.token for piece in sets]
    assert tokens[0] == tokens[1] != tokens[2]


def test_files_folders_sets_and_lines_are_streamed(tmp_path):
    instances = fairway.generate("tsptw", n=4, count=6, seed=3)
    folder = tmp_path / "all"
    folder.mkdir()
    fairway.write(instances, folder / "a.npz")
    for number in range(2):
        fairway.write(instances[number], folder / f"b{number}.json")
    lines = [json.dumps(json.loads((folder / "b0.json").read_text())) for _ in range(3)]
    (folder / "c.jsonl").write_text("\n".join(lines) + "\n\n")
    (folder / "d.jsonl.zst").write_bytes(zstandard.compress(lines[0].encode()))
    (folder / ".hidden").write_text("no instance")
    named = Named(str(folder))
    assert len(named) == 6 + 2 + 3 + 1
    loaded = [each for piece in named.pieces() for each in piece.load()]
    assert isinstance(loaded[0], InstanceSet)
    assert all(isinstance(each, Instance) for each in loaded[1:])
    for each in (loaded[0][0], loaded[1], *loaded[3:]):
        assert np.array_equal(each.travel, instances[0].travel)
    names = [name for piece in named.pieces() for name in piece.names]
    assert names[6:] == [
        "b0.json",
        "b1.json",
        "c.jsonl:1",
        "c.jsonl:2",
        "c.jsonl:3",
        "d.jsonl.zst:1",
    ]


def test_a_set_or_a_stream_that_is_damaged_is_one_that_cannot_be_read(tmp_path):
    fairway.write(fairway.generate("tsptw", n=3)[0], tmp_path / "one.json")
    line = json.dumps(json.loads((tmp_path / "one.json").read_text())).encode() + b"\n"
    (tmp_path / "one.json").unlink()
    (tmp_path / "a.npz").write_bytes(b"PK\x03\x04")
    (tmp_path / "b.jsonl").write_bytes(line)
    packed = zstandard.compress(line * 2)
    (tmp_path / "c.jsonl.zst").write_bytes(2 * packed)
    (tmp_path / "d.jsonl.zst").write_bytes(packed + packed[:-1])
    (tmp_path / "e.jsonl.zst").write_bytes(packed + b"no such frame")
    named = Named(str(tmp_path))
    loaded = [each for piece in named.pieces() for each in piece.load()]
    assert len(named) == len(loaded)
    kinds = "".join("x" if isinstance(each, str) else "." for each in loaded)
    assert kinds == "x" + "." + "...." + "..x" + "..x"
    assert loaded[0].startswith("a.npz: the archive is damaged")
    assert loaded[8].startswith("d.jsonl.zst: cannot be read (it is cut short)")


def test_what_cannot_be_read_says_so_in_its_place():
    (said,) = Documents((("bad.json", b'{"problem": "tsptw"}'),)).load()
    assert said.startswith("bad.json:")
    content = b"id,x,y,open,close,service\ndepot,0,0,0,20,0\na,3,4,0,9,1\n"
    (good,) = Documents((("good.csv", content),)).load()
    assert good.nodes == 2


@pytest.mark.parametrize(
    ("name", "count", "words"),
    [
        ("tsptw:hard:50", None, "give --count"),
        ("tsptw:hard:50", 0, "expected 1 or more"),
        ("tsptw:rough:50", 5, "no distribution"),
        ("tsptw:hard:1", 5, "n is 1"),
        ("tsptw50-hard", 5, "has its own"),
    ],
)
def test_what_cannot_be_drawn_is_refused_at_once(name, count, words):
    with pytest.raises(InvalidRequest, match=words):
        Named(name, count)


def test_a_line_without_an_end_is_not_held_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "LARGEST_TEXT", 1_000)
    with zstandard.open(tmp_path / "a.jsonl.zst", "wb") as file:
        file.write(b" " * 10_000)
    for name, said in (
        (tmp_path / "a.jsonl.zst", "a line has more than 1000 bytes"),
        ("/dev/zero", "it is a device"),
    ):
        (piece,) = Named(str(name)).pieces()
        (answer,) = piece.load()
        assert said in answer


def test_what_is_not_there_is_refused_at_once(tmp_path):
    with pytest.raises(InvalidFile, match="is no file or folder"):
        Named(str(tmp_path / "absent"))
    with pytest.raises(InvalidFile, match="empty folder"):
        len(Named(str(tmp_path)))
