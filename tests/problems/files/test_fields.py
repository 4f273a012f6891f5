"""Our own formats hold whatever may be asked of a tour, in any combination, and the classic files stay as they were."""

import datetime
import json
import math
import random

import numpy as np
import pytest

from fairway.problems.distances import euclidean
from fairway.problems.files import archive, document, table
from fairway.problems.files.fields import FIELDS, problem_of, stated
from fairway.problems.files.text import Unreadable
from fairway.problems.instance import PER_NODE, TSPDL, TSPTW, Instance
from fairway.problems.source import Clock, Source

POINTS = np.array([[0.0, 0.0], [0.1, 1 / 3], [-7.25, 1e-9], [3.0, 4.0], [6.0, 8.0]])
NODES = len(POINTS)
NAMES = ("Depot", "travel", "opens", 'a "b", [c]', "Ærø: 4")
OF_A_TABLE = ("service", "opens", "closes", "windows", "late", "latest", "demand", "draft")
OF_A_TABLE += ("before", "pairs", "prize", "end", "capacity", "breaks")
SOURCES = (
    None,
    Source(columns={"phone": ("1", "2", "", "3", "+ 4"), "Änderung": ("a", "b", "c", "d", "e")}),
    Source(Clock(datetime.date(2026, 11, 18), several_days=True), ids=("a", "b", "c", "d", "e")),
    Source(Clock(unit=1.0, zone=datetime.UTC), {}, "km", 0.5, geographic=True),
)


def numbers(rng, low, *, endless=False, depot=None):
    """A number for each node, some of them infinite where that is taken."""
    drawn = [
        math.inf if endless and rng.random() < 0.3 else low + rng.choice((1, 0.1, 2 / 3)) * i
        for i in rng.sample(range(9), NODES)
    ]
    return drawn if depot is None else [depot, *drawn[1:]]


def spans(rng, low):
    ends = sorted(rng.sample(range(low, low + 40), 2 * rng.choice((1, 2, 3))))
    ends = [end / 3 for end in ends]
    ends[-1] = rng.choice((ends[-1], math.inf))
    return list(zip(ends[::2], ends[1::2], strict=True))


def linked(rng):
    return sorted(tuple(rng.sample(range(1, NODES), 2)) for _ in range(rng.choice((1, 3))))


def asked(rng, *, of_a_table=False):
    """Random fields, each of which is there in half of the draws."""
    load = rng.choice(("growing", "signed") if of_a_table else ("growing", "shrinking", "signed"))
    signed = -4 if load == "signed" else 0
    drawn = {
        "cost": np.where(np.eye(NODES)[::-1] > 0, math.inf, euclidean(POINTS) * 2),
        "service": numbers(rng, 0),
        "opens": numbers(rng, -20),
        "closes": numbers(rng, 9, endless=True),
        "windows": {
            node: spans(rng, 0 if of_a_table else -9) for node in rng.sample(range(NODES), 2)
        },
        "late": numbers(rng, 0, endless=True),
        "latest": numbers(rng, 30, endless=True),
        "demand": numbers(rng, signed, depot=0),
        "loaded": numbers(rng, 0, depot=0) if signed else [0] * NODES,
        "draft": numbers(rng, 0, endless=True),
        "capacity": rng.choice((7, 1 / 3)),
        "load": load,
        "aboard": 2.5,
        "before": linked(rng),
        "pairs": sorted(linked(rng), key=lambda pair: pair[::-1]),
        "prize": numbers(rng, 0, endless=True),
        "breaks": [(1, 5 / 3, 2), (0, math.inf, 0)],
        "end": rng.choice((None, 2)),
    }
    kept = {key for key in (OF_A_TABLE if of_a_table else drawn) if rng.random() < 0.5}
    if of_a_table and load == "signed":  # a table says so by an amount that is delivered
        drawn["demand"] = [0, -1, *drawn["demand"][2:]]
        kept |= {"demand", "capacity"}
    return {key: drawn[key] for key in drawn if key in kept or (key == "load" and signed)}


def drawn(seed, *, of_a_table=False):
    rng = random.Random(seed)
    given = asked(rng, of_a_table=of_a_table)
    points = POINTS if of_a_table or rng.random() < 0.5 else None
    travel = euclidean(POINTS)
    if not of_a_table and rng.random() < 0.5:
        travel[1, 2] = rng.choice((math.inf, 5))
    names = rng.choice((None, NAMES))
    source = None if of_a_table else rng.choice(SOURCES)
    return Instance(travel, **given, coordinates=points, names=names, name="stem", source=source)


def assert_same(found, expected):
    for field in type(expected).__dataclass_fields__:
        if field != "source":
            assert np.array_equal(getattr(found, field), getattr(expected, field)), field
    assert found.source == expected.source
    assert (found.cost is found.travel) == (expected.cost is expected.travel)


@pytest.mark.parametrize("seed", range(200))
def test_whatever_is_asked_comes_back_from_json_and_npz_to_the_last_bit(seed):
    instance = drawn(seed)
    text = document.render(instance)
    assert_same(document.parse(text, "other", None), instance)
    assert document.render(document.parse(text, "other", None)) == text
    assert_same(archive.parse(archive.render(instance), "other"), instance)


@pytest.mark.parametrize("seed", range(200))
def test_what_a_table_holds_comes_back_from_it_to_the_last_bit(seed):
    instance = drawn(seed, of_a_table=True)
    text = table.render(instance)
    assert table.recognises(text)
    assert_same(table.parse(text, "stem", None), instance)


def test_the_draws_ask_for_every_field_and_every_combination_of_two():
    pairs = {frozenset((a, b)) for a in FIELDS for b in FIELDS}
    for seed in range(200):
        said = stated(drawn(seed))
        pairs -= {frozenset((a, b)) for a in said for b in said}
    assert not pairs


def test_only_what_says_something_is_written():
    plain = Instance(np.ones((3, 3)), prize=[math.inf, 2, math.inf], closes=math.inf)
    assert list(stated(plain)) == ["prize"]
    assert json.loads(document.render(plain)).keys() == {"problem", "name", "travel", "prize"}
    assert set(PER_NODE) < set(FIELDS)


@pytest.mark.parametrize(
    "instance",
    [
        Instance(np.ones((3, 3))),
        Instance(np.ones((3, 3)), closes=[9, math.inf, 9]),
        Instance(np.ones((3, 3)), closes=9, load="shrinking"),
        Instance(np.ones((3, 3)), demand=[0, 1, 1], draft=9, aboard=1),
        Instance(np.ones((3, 3)), demand=[0, 1, 1]),
    ],
)
def test_what_a_classic_file_would_lose_makes_a_general_one(instance):
    assert instance.problem != "tour"
    assert problem_of(instance) == "tour"
    assert_same(document.parse(document.render(instance), "", None), instance)
    assert_same(archive.parse(archive.render(instance), ""), instance)


def test_the_classic_files_are_written_as_they_always_were():
    matrix = [[0, 1, 2], [1, 0, 3], [2, 3, 0]]
    points = np.array([[0.0, 0], [3, 4], [6, 8]])
    windows = TSPTW(euclidean(points), 0, [9, 8.5, 7], 0, points, ("a", "b", "c"), "w")
    drafts = TSPDL(matrix, [0, 1, 1], [2, 1, 2], "shrinking", name="d")
    assert document.render(windows) == (
        '{\n  "problem": "tsptw",\n  "name": "w",\n  "distances": "float",\n  "coordinates": [\n    [0, 0],\n'
        '    [3, 4],\n    [6, 8]\n  ],\n  "names": ["a", "b", "c"],\n  "opens": [0, 0, 0],\n'
        '  "closes": [9, 8.5, 7],\n  "service": [0, 0, 0]\n}\n'
    )
    assert document.render(drafts) == (
        '{\n  "problem": "tspdl",\n  "name": "d",\n  "travel": [\n    [0, 1, 2],\n    [1, 0, 3],\n    [2, 3, 0]\n'
        '  ],\n  "load": "shrinking",\n  "demand": [0, 1, 1],\n  "draft": [2, 1, 2]\n}\n'
    )
    assert table.render(windows) == (
        "id,x,y,open,close,service\na,0,0,0,9,0\nb,3,4,0,8.5,0\nc,6,8,0,7,0\n"
    )
    growing = TSPDL(euclidean(points), [0, 1, 1], [2, 1, 2], "growing", points)
    assert table.render(growing) == "id,x,y,demand,draft\n0,0,0,0,2\n1,3,4,1,1\n2,6,8,1,2\n"


def test_an_order_of_many_pairs_is_more_than_a_number_for_each_node():
    before = [(a, b) for a in range(1, 120) for b in range(a + 1, 120)]
    instance = Instance(np.ones((120, 120)), before=before)
    assert len(before) > 5_000
    assert_same(document.parse(document.render(instance), "", None), instance)
    assert_same(archive.parse(archive.render(instance), ""), instance)


def test_a_document_that_would_not_be_read_back_is_not_written(monkeypatch):
    monkeypatch.setattr(document, "MOST_ITEMS", 20)
    with pytest.raises(Unreadable, match=r"more numbers than are read back; write .npz"):
        document.render(Instance(np.ones((4, 4)), cost=np.ones((4, 4))))
