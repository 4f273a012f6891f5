"""Damaged files of every format: a reader either makes a valid instance or raises a FairwayError, and soon."""

import pickle
import random
import time
from dataclasses import replace

import numpy as np
import pytest

from fairway.errors import FairwayError
from fairway.problems.distances import euclidean
from fairway.problems.files import archive, document, matrix, rakke, read, solomon, table, tsplib
from fairway.problems.instance import TSPDL, TSPTW, Instance
from fairway.problems.sets import InstanceSet, Locations

MUTATIONS = 500
"""Damaged files for each format."""

LENGTH = 100_000
"""Bytes of repetition: enough to make whatever is quadratic take minutes."""

SECONDS = 2.0
"""The longest that one read may take."""

POINTS = np.array([[0.0, 0.0], [30.0, 4.5], [6.0, 80.25], [17.0, 7.0], [5.0, 9.0]])
ZEROS = np.zeros(5)
DEMAND = np.array([0.0, 1.0, 2.0, 1.0, 1.0])
NAMES = ("Depot", "A", "B, north", "4", "x y")
WINDOWS = TSPTW(euclidean(POINTS), ZEROS, ZEROS + 900.5, ZEROS + 3, POINTS, NAMES, "w")
MATRIX = TSPTW(np.arange(25.0).reshape(5, 5), ZEROS, ZEROS + 900, ZEROS, name="m")
DRAFTS = TSPDL(euclidean(POINTS), DEMAND, ZEROS + 5, "growing", POINTS, name="d")
SHRINKING = TSPDL(np.arange(25.0).reshape(5, 5), DEMAND, ZEROS + 5, "shrinking", name="s")
TOUR = Instance(
    euclidean(POINTS),
    opens=[0.0, 1, 2, 3, 4],
    closes=[90, np.inf, 80, 70, 60],
    windows={1: [(8, 10), (14.5, 16)]},
    late=[np.inf, 2, 3, np.inf, 1],
    demand=DEMAND,
    draft=9,
    before=[(1, 2)],
    pairs=[(3, 4)],
    prize=[np.inf, 5, np.inf, np.inf, 6],
    end=4,
    coordinates=POINTS,
    names=NAMES,
)
LADEN = replace(
    TOUR,
    cost=np.where(np.eye(5)[::-1] > 0, np.inf, 3.0),
    load="signed",
    capacity=7,
    aboard=2,
    breaks=[(1, 2, 3)],
    end=None,
)
STACKED = Locations(np.stack([POINTS] * 3))
SETS = [
    InstanceSet(
        STACKED, opens=0.0, closes=np.full((3, 5), 90.0), service=0.0, name="ws", scale=100.0
    ),
    InstanceSet(
        STACKED, demand=np.stack([DEMAND] * 3), draft=np.full((3, 5), 5.0), name="ds", scale=1.0
    ),
]

GEO = """NAME : hand
TYPE : TSPTW
DIMENSION : 3
EDGE_WEIGHT_TYPE : GEO
NODE_COORD_SECTION
1 38.24 20.42
2 39.57 26.15
3 40.56 25.32
TIME_WINDOW_SECTION
1 0 9999
2 0 9999
3 0 9999
"""

SOLOMON = """!! n3 by hand
CUST NO.   XCOORD.   YCOORD.   DEMAND   READY TIME   DUE DATE   SERVICE TIME
1 16.00 23.00 0.00 0.00 408.00 0.00
2 22.00 4.00 1.00 62.00 68.00 0.00
3 12.00 6.00 1.00 181.00 205.00 0.00
999 0.00 0.00 0.00 0.00 0.00 0.00
"""

LOWER = """NAME: low
TYPE: TSP
DIMENSION: 4
EDGE_WEIGHT_TYPE: EXPLICIT
EDGE_WEIGHT_FORMAT: LOWER_DIAG_ROW
EDGE_WEIGHT_SECTION
0
1 0
2 3 0
4 5 6 0
DEMAND_SECTION
1 0
2 1
3 1
4 1
DRAFT_LIMIT_SECTION
1 9
2 2
3 9
4 9
EOF
"""

SEMICOLONS = 'ID;Y;X;Close;Open\n"a;b";0;0;9;0\r\n"c";3;4;9;0\r\n;;;;\r\n'
HAND_JSON = '{"problem": "tspdl", "coordinates": [[0,0],[1,2]], "distances": "F", "demand": [0,1], "draft": [1,1]}'
HAND_MATRIX = "3\n0 1 2\n1 0 3\n2 3 0\n0 10\n0 20 # late\n5 30\n"


def authors_pickles():
    rows = [(POINTS.tolist(), [0.0] * 5, [0, 1, 2, 300, 70_000], [9e4] * 5)] * 2
    ships = [(POINTS.tolist(), DEMAND.tolist(), [5.0] * 5) for _ in range(3)]
    return [pickle.dumps(pickle.loads(pickle.dumps(d)), p) for d in (rows, ships) for p in (2, 5)]


SEEDS = {
    "json": [document.render(i).encode() for i in (WINDOWS, DRAFTS, SHRINKING, TOUR, LADEN)]
    + [HAND_JSON.encode()],
    "csv": [*(table.render(i).encode() for i in (WINDOWS, DRAFTS, TOUR)), SEMICOLONS.encode()],
    "npz": [archive.render(item) for item in (WINDOWS, SHRINKING, LADEN, *SETS)],
    "pickle": authors_pickles(),
    "matrix": [matrix.render(MATRIX).encode(), HAND_MATRIX.encode()],
    "solomon": [solomon.render(WINDOWS).encode(), SOLOMON.encode()],
    "tsplib": [
        *(tsplib.render(i).encode() for i in (WINDOWS, DRAFTS, MATRIX)),
        GEO.encode(),
        LOWER.encode(),
    ],
    "rakke": [rakke.render(DRAFTS).encode(), rakke.render(SHRINKING).encode()],
}

SPLICES = [
    *(
        b"nan",
        b"inf",
        b"-inf",
        b"NaN",
        b"Infinity",
        b"-1",
        b"0",
        b"1e400",
        b"1e308",
        b"-1e308",
        b"1e15",
    ),
    *(b"9" * 30, b"9" * 5_000, b"-" + b"9" * 400, b"2147483648", b"99999999", b"1_000", b"0x10"),
    *(
        b"\0",
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        b"\n",
        b"\r",
        b"\r\n",
        b",",
        b";",
        b'"',
        b"[",
        b"]",
        b"{}",
        b" ",
    ),
    *(
        b"true",
        b"null",
        b"EOF",
        b"#",
        b":",
        b"-",
        b".",
        "\u0663\u2003\u2028".encode(),
        b"999",
        b"1 " * 500,
    ),
]


def flip(data, rng):
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :]


def delete(data, rng):
    at = rng.randrange(len(data))
    return data[:at] + data[at + rng.choice((1, 2, 9, 60)) :]


def insert(data, rng):
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.randbytes(rng.choice((1, 2, 8))) + data[at:]


def truncate(data, rng):
    return data[: rng.randrange(len(data))]


def splice(data, rng):
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(SPLICES) + data[at + rng.choice((0, 0, 1, 3)) :]


def replace_word(data, rng):
    words = data.split(b" ") if rng.random() < 0.5 else data.split(b",")
    words[rng.randrange(len(words))] = rng.choice(SPLICES)
    return (b" " if b" " in data else b",").join(words)


def repeat_line(data, rng):
    lines = data.splitlines(keepends=True)
    at = rng.randrange(len(lines))
    return b"".join([*lines[:at], *([lines[at]] * rng.choice((2, 3, 40))), *lines[at + 1 :]])


def drop_line(data, rng):
    lines = data.splitlines(keepends=True)
    del lines[rng.randrange(len(lines))]
    return b"".join(lines)


def swap_lines(data, rng):
    lines = data.splitlines(keepends=True)
    one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return b"".join(lines)


KINDS = (
    flip,
    delete,
    insert,
    truncate,
    splice,
    splice,
    replace_word,
    repeat_line,
    drop_line,
    swap_lines,
)


def mutated(seed, rng):
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        seed = rng.choice(KINDS)(seed, rng) if seed else seed
    return seed


def assert_valid(item):
    """Building every instance afresh runs all of its checks again."""
    for instance in [item] if isinstance(item, Instance) else item:
        again = replace(instance)
        assert again.nodes >= 2
        assert (again.travel >= 0).all()
        assert again.problem == "tour" or np.isfinite(again.travel).all()


def read_or_refuse(path, content):
    """Whether the content was read; anything raised that is no FairwayError fails the test with the content."""
    path.write_bytes(content)
    begun = time.perf_counter()
    item, said = None, ""
    try:
        item = read(path)
    except FairwayError as error:
        said = str(error)
    except Exception as error:
        pytest.fail(f"{type(error).__name__}: {error}\nfrom {content[:2_000]!r}")
    assert time.perf_counter() - begun < SECONDS, content[:2_000]
    if item is None:
        assert said.startswith(str(path))
        return False
    assert_valid(item)
    return True


@pytest.mark.parametrize("kind", SEEDS)
def test_the_undamaged_files_are_read(kind, tmp_path):
    for seed in SEEDS[kind]:
        assert read_or_refuse(tmp_path / "file", seed)


@pytest.mark.parametrize("kind", SEEDS)
def test_a_damaged_file_is_refused_or_still_valid(kind, tmp_path):
    rng = random.Random(f"fairway {kind}")
    refused = 0
    for _ in range(MUTATIONS):
        content = mutated(rng.choice(SEEDS[kind]), rng)
        refused += not read_or_refuse(tmp_path / "file", content)
    assert refused > MUTATIONS / 4


@pytest.mark.parametrize("kind", SEEDS)
def test_every_shortening_of_a_file_is_refused_or_still_valid(kind, tmp_path):
    seed = min(SEEDS[kind], key=len)
    step = max(1, len(seed) // 100)
    for end in range(1, len(seed), step):
        read_or_refuse(tmp_path / "file", seed[:end])


@pytest.mark.parametrize(
    "filler", [b"\0", b"0", b"0 ", b"0\n", b"9", b"[", b"(", b'"', b",", b"-1\n", b"a,"]
)
@pytest.mark.parametrize("kind", SEEDS)
def test_endless_repetition_after_a_beginning_is_read_or_refused_soon(kind, filler, tmp_path):
    seed = min(SEEDS[kind], key=len)
    content = seed[: len(seed) // 2] + filler * (LENGTH // len(filler))
    read_or_refuse(tmp_path / "file", content)


def test_eight_megabytes_of_zeros_are_refused(tmp_path):
    for zeros in (bytes(8_000_000), b"0" * 8_000_000):
        assert not read_or_refuse(tmp_path / "file", zeros)
