"""Damaged files of every format: read, they make a valid instance or are refused in a sentence, and soon.

`python -m benchmarks.mutations --count 300000` tries so many; the tests try a few hundred of each format.
"""

import argparse
import io
import json
import pickle
import random
import re
import tempfile
import time
import zipfile
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import openpyxl

from fairway.errors import FairwayError
from fairway.problems.distances import euclidean
from fairway.problems.files import archive, document, matrix, rakke, read, solomon, table, tsplib
from fairway.problems.instance import TSPDL, TSPTW, Instance
from fairway.problems.sets import InstanceSet, Locations
from fairway.problems.source import Clock, Source

SECONDS = 2.0
"""The longest that one read may take."""
SPEED = 40.0

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
TOLD = replace(
    TOUR, source=Source(Clock(), {"phone": ("1", "", "3", "4", "5")}, "km", 0.5, ids=NAMES)
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


CLOCKED = """Customer;Address;Lat;Lon;From;To;Time windows;Duration;After;Priority
Depot;Quay 1;59,91;10,75;07:30;17:00;;;;
Mill;High St;59,93;10,70;8:30 am;10.00;;0:15;;must
"Baker; north";;59.95;10.80;;;"08:00-10:00; 14:00-16:00";1h30;Mill;high
"""
DATED = """id,name,kind,x,y,open,close,load,pickup,capacity,service,end
1,Depot,depot,0,0,2026-11-18T07:00+01:00,2026-11-20T18:00+01:00,,,9,,
2,Mill,,3,4,2026-11-19T07:00Z,,4,,,5,
3,Quay,,6,8,,2026-11-19T12:00+01:00,,2,,10 min,
4,Lunch,break,,,2026-11-18T12:00+01:00,2026-11-18T13:00+01:00,,,,0:30,
"""
VROOM = {
    "vehicles": [
        {
            "id": 1,
            "start_index": 0,
            "end_index": 3,
            "capacity": [6],
            "time_window": [0, 900],
            "speed_factor": 1.2,
            "costs": {"fixed": 5, "per_hour": 7200},
            "breaks": [{"id": 1, "service": 30, "time_windows": [[100, 600]]}],
        }
    ],
    "jobs": [
        {"id": 1, "location_index": 1, "setup": 5, "service": 10, "delivery": [2], "priority": 10},
        {"id": 2, "location_index": 2, "pickup": [1], "time_windows": [[0, 90], [200, 300]]},
    ],
    "shipments": [
        {
            "amount": [2],
            "pickup": {"id": 3, "location_index": 1},
            "delivery": {"id": 3, "location_index": 2},
        }
    ],
    "matrices": {
        "car": {"durations": [[0, 10, 20, 30], [11, 0, 21, 31], [12, 22, 0, 32], [13, 23, 33, 0]]}
    },
}
PLACED = {
    "vehicles": [{"id": 0, "start": [10.7, 59.9]}],
    "jobs": [
        {"id": 4, "location": [10.8, 59.8], "description": "mill"},
        {"id": 5, "location": [10.6, 59.7]},
    ],
}
SOP = """NAME: small
TYPE: SOP
DIMENSION: 4
EDGE_WEIGHT_TYPE: EXPLICIT
EDGE_WEIGHT_FORMAT: FULL_MATRIX
EDGE_WEIGHT_SECTION
4
0 5 6 1000000
-1 0 7 8
-1 -1 0 9
-1 -1 -1 0
EOF
"""
PDTSP = "5\n1 0 0\n2 3 4 0 4\n3 6 8 0 5\n4 0 5 1 2\n5 1 1 1 3\n-999\n"
OPTW = "4 10 2 1\n0 200\n0 0 0 0 0 0 0 0 100\n1 1 1 9 10 1 1 1 5 90\n2 3 4 9 30 1 2 1 2 6 80\n"
GEOJSON = {
    "type": "FeatureCollection",
    "name": "stops",
    "crs": {"type": "name", "properties": {"name": "urn:ogc:def:crs:OGC:1.3:CRS84"}},
    "features": [
        {
            "type": "Feature",
            "id": number,
            "geometry": {"type": "Point", "coordinates": [10.75 + 0.1 * number, 59.91, 3.0]},
            "properties": {"name": name, "from": opens, "to": closes, "service": 5, "phone": None},
        }
        for number, (name, opens, closes) in enumerate(
            [("Depot", "07:30", "17:00"), ("Mill", "8:30 am", None), ("Quay", None, "12:00")]
        )
    ],
}
STOPS = "name,open,close\nDepot,08:00,17:00\nMill,09:00,10:00\nQuay,,\n"
TIMES = [[0, 600, 1200.5], [660, 0, None], [1200, 300, 0]]
OSRM = {
    "code": "Ok",
    "durations": TIMES,
    "distances": TIMES,
    "sources": [{"location": [1.5, 2]}] * 3,
}
VALHALLA = {
    "sources_to_targets": [[{"time": t, "distance": t} for t in row] for row in TIMES],
    "units": "miles",
}
CSV_MATRIX = "from,Mill,Quay,Depot\nMill,0,5,-\nQuay,4,0,2\nDepot,1,2,0\n"


def workbook() -> bytes:
    """A spreadsheet of stops."""
    book = openpyxl.Workbook()
    for row in (line.split(",") for line in DATED.splitlines()):
        book["Sheet"].append([float(cell) if cell.isdigit() else cell for cell in row])
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def archived_matrix() -> bytes:
    """Travel and cost as npz."""
    file = io.BytesIO()
    np.savez(file, travel=np.arange(9.0).reshape(3, 3), cost=np.ones((3, 3)))
    return file.getvalue()


def authors_pickles() -> list[bytes]:
    """Sets as the paper's authors publish them."""
    rows = [(POINTS.tolist(), [0.0] * 5, [0, 1, 2, 300, 70_000], [9e4] * 5)] * 2
    ships = [(POINTS.tolist(), DEMAND.tolist(), [5.0] * 5) for _ in range(3)]
    return [pickle.dumps(pickle.loads(pickle.dumps(d)), p) for d in (rows, ships) for p in (2, 5)]


SEEDS = {
    "json": [document.render(i).encode() for i in (WINDOWS, DRAFTS, SHRINKING, TOLD, LADEN)]
    + [HAND_JSON.encode()],
    "csv": [
        *(table.render(i).encode() for i in (WINDOWS, DRAFTS, TOUR)),
        *(text.encode() for text in (SEMICOLONS, CLOCKED, DATED)),
        CLOCKED.encode("utf-16"),
    ],
    "geojson": [json.dumps(GEOJSON).encode()],
    "xlsx": [workbook()],
    "vroom": [json.dumps(VROOM, indent=1).encode(), json.dumps(PLACED).encode()],
    "sop": [SOP.encode()],
    "pdtsp": [PDTSP.encode()],
    "optw": [OPTW.encode()],
    "beside": [
        *(json.dumps(given).encode() for given in (OSRM, VALHALLA, TIMES)),
        CSV_MATRIX.encode(),
        archived_matrix(),
    ],
    "npz": [archive.render(item) for item in (WINDOWS, TOLD, LADEN, *SETS)],
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

"""Undamaged files; those called "beside" are matrices for the stops of `STOPS`."""
MATRICES = "beside"

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


def flip(data: bytes, rng: random.Random) -> bytes:
    """A bit turned over."""
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1 :]


def delete(data: bytes, rng: random.Random) -> bytes:
    """Some bytes taken out."""
    at = rng.randrange(len(data))
    return data[:at] + data[at + rng.choice((1, 2, 9, 60)) :]


def insert(data: bytes, rng: random.Random) -> bytes:
    """Random bytes put in."""
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.randbytes(rng.choice((1, 2, 8))) + data[at:]


def truncate(data: bytes, rng: random.Random) -> bytes:
    """The rest cut off."""
    return data[: rng.randrange(len(data))]


def splice(data: bytes, rng: random.Random) -> bytes:
    """Something strange put in."""
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice(SPLICES) + data[at + rng.choice((0, 0, 1, 3)) :]


def replace_word(data: bytes, rng: random.Random) -> bytes:
    """Something strange in place of a word."""
    words = data.split(b" ") if rng.random() < 0.5 else data.split(b",")
    words[rng.randrange(len(words))] = rng.choice(SPLICES)
    return (b" " if b" " in data else b",").join(words)


def change_digit(data: bytes, rng: random.Random) -> bytes:
    """Another digit in place of one, which leaves the form as it is."""
    places = [at for at, byte in enumerate(data) if 48 <= byte <= 57]
    at = rng.choice(places or [0])
    return data[:at] + bytes([48 + rng.randrange(10)]) + data[at + 1 :]


def repeat_line(data: bytes, rng: random.Random) -> bytes:
    """A line several times."""
    lines = data.splitlines(keepends=True)
    at = rng.randrange(len(lines))
    return b"".join([*lines[:at], *([lines[at]] * rng.choice((2, 3, 40))), *lines[at + 1 :]])


def drop_line(data: bytes, rng: random.Random) -> bytes:
    """A line taken out."""
    lines = data.splitlines(keepends=True)
    del lines[rng.randrange(len(lines))]
    return b"".join(lines)


def swap_lines(data: bytes, rng: random.Random) -> bytes:
    """Two lines exchanged."""
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
    *(change_digit,) * 6,
    repeat_line,
    drop_line,
    swap_lines,
)


def mutated(seed: bytes, rng: random.Random) -> bytes:
    """A file damaged once or a few times; of an archive, as often, one of the files in it."""
    if seed.startswith(b"PK") and rng.random() < 0.5:
        return _within(seed, rng)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        seed = rng.choice(KINDS)(seed, rng) if seed else seed
    return seed


def _within(seed: bytes, rng: random.Random) -> bytes:
    """An archive that is whole, with one damaged file in it."""
    changed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(seed)) as source, zipfile.ZipFile(changed, "w") as archive:
        chosen = rng.choice(source.namelist())
        for name in source.namelist():
            content = source.read(name)
            archive.writestr(name, mutated(content, rng) if name == chosen else content)
    return changed.getvalue()


def assert_valid(item: Instance | InstanceSet) -> None:
    """Building every instance afresh runs all of its checks again."""
    for instance in [item] if isinstance(item, Instance) else item:
        again = replace(instance)
        assert again.nodes >= 2
        assert (again.travel >= 0).all()
        assert again.problem == "tour" or np.isfinite(again.travel).all()


class Unsound(Exception):
    """What a reader may not do: raise something of its own, take too long, or speak without the file's name."""


def outcome(kind: str, content: bytes, path: Path) -> bool:
    """Whether the content was read, rather than refused as it may be."""
    path.write_bytes(content)
    stops = path.with_name("stops.csv")
    if kind == MATRICES and not stops.exists():
        stops.write_text(STOPS)
    begun = time.process_time()  # which other work on the machine does not lengthen
    item, said = None, ""
    try:
        item = read(stops, matrix=path) if kind == MATRICES else _read(path)
    except FairwayError as error:
        said = str(error)
    except Exception as error:
        raise Unsound(f"{type(error).__name__}: {error}\nfrom {content[:2_000]!r}") from error
    if (took := time.process_time() - begun) > SECONDS:
        raise Unsound(f"took {took:.1f} s, from {content[:2_000]!r}")
    if item is None:
        if not said.startswith((str(path), str(stops))):
            raise Unsound(f"{said}: does not begin with the file, from {content[:2_000]!r}")
        return False
    assert_valid(item)
    return True


def _read(path: Path) -> Instance | InstanceSet:
    """A file with a speed beside it where it can do with one."""
    try:
        return read(path, speed=SPEED)
    except FairwayError as error:
        if not re.search("says itself how|matrices of its own", str(error)):
            raise
    return read(path)


def main() -> None:
    """Damage files of all formats in turn, and print how many of each were read and refused."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutations", description=__doc__)
    parser.add_argument("--count", type=int, default=10_000, help="files in all")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    kinds, refused, rng = list(SEEDS), Counter(), random.Random(asked.seed)
    slowest = 0.0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        for number in range(asked.count):
            kind = kinds[number % len(kinds)]
            begun = time.process_time()
            refused[kind] += not outcome(kind, mutated(rng.choice(SEEDS[kind]), rng), path)
            slowest = max(slowest, time.process_time() - begun)
    for kind in kinds:
        print(f"{kind:8s} {refused[kind]:8d} refused of {asked.count // len(kinds)}")
    print(f"{asked.count} files, nothing but refusals and valid instances; slowest {slowest:.2f} s")


if __name__ == "__main__":
    main()
