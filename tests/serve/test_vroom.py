"""VROOM's problems, beside VROOM itself."""

import json
from itertools import pairwise

import pytest

from benchmarks.service.vroom import by_vroom, drawn, rank, shape
from fairway.errors import InvalidRequest
from fairway.problems.files.text import Unreadable
from fairway.serve.settings import Limits
from fairway.serve.work import Ask, vroom

MATRIX = {"car": {"durations": [[0, 300, 400], [300, 0, 200], [400, 200, 0]]}}
VEHICLE = {"id": 7, "start_index": 0, "end_index": 0}


def _solved(problem: dict, seconds: float = 5.0) -> dict:
    body = json.dumps(problem).encode()
    answer = vroom(Ask(body, Limits(), lambda *_: None, {"seconds": seconds}))
    return json.loads(answer.payload)


@pytest.mark.parametrize("seed", range(6))
def test_plans_have_the_shape_of_vrooms_and_are_never_worse_by_its_own_ranking(seed):
    problem = drawn(seed, stops=6)
    ours, theirs = _solved(problem), by_vroom(problem)
    assert rank(ours) <= rank(theirs)
    if ours["routes"] and theirs["routes"]:
        missing = shape(theirs) - shape(ours)
        assert not {key for key in missing if not key.startswith(".unassigned")}


@pytest.mark.parametrize("seed", range(6))
def test_plans_keep_windows_capacity_and_times_by_vrooms_own_rules(seed):
    problem = drawn(seed, stops=6)
    durations = problem["matrices"]["car"]["durations"]
    windows = {
        (kind, step["id"]): step.get("time_windows")
        for kind, step in [
            *(("job", job) for job in problem["jobs"]),
            *(
                (k, pair[k])
                for pair in problem.get("shipments", [])
                for k in ("pickup", "delivery")
            ),
        ]
    }
    for route in _solved(problem)["routes"]:
        steps = route["steps"]
        for one, two in pairwise(steps):
            leave = one["arrival"] + one["waiting_time"] + one["service"] + one["setup"]
            leg = durations[one["location_index"]][two["location_index"]]
            assert two["arrival"] == leave + leg
        for step in steps:
            spans = windows.get((step["type"], step.get("id")))
            start = step["arrival"] + step["waiting_time"]
            assert spans is None or any(a <= start <= b for a, b in spans)
            assert 0 <= step["load"][0] <= problem["vehicles"][0]["capacity"][0]
        assert route["cost"] == route["duration"] == steps[-1]["duration"]


def test_a_delivery_that_is_not_made_is_not_loaded():
    jobs = [
        {"id": 1, "location_index": 1, "delivery": [3], "priority": 1},
        {"id": 2, "location_index": 2, "delivery": [3]},
        {"id": 3, "location_index": 2, "pickup": [1], "priority": 5},
    ]
    problem = {"vehicles": [{**VEHICLE, "capacity": [4]}], "jobs": jobs, "matrices": MATRIX}
    ours = _solved(problem)
    assert [task["id"] for task in ours["unassigned"]] == [2]
    assert ours["summary"]["priority"] == 6
    assert ours["routes"][0]["steps"][0]["load"] == [3]
    assert rank(ours) == rank(by_vroom(problem))


def test_where_nothing_can_be_served_there_is_no_route():
    job = {"id": 1, "location_index": 1, "time_windows": [[0, 10]]}
    ours = _solved({"vehicles": [VEHICLE], "jobs": [job], "matrices": MATRIX})
    assert ours["routes"] == []
    assert ours["summary"]["unassigned"] == 1
    assert ours["unassigned"][0]["id"] == 1


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"{}", "no problem of VROOM"),
        (b"\xff", "not UTF-8"),
        (b'{"vehicles": [], "jobs": []}', "expected one"),
        (b'{"vehicles": [{"id": 1}], "jobs": [{"id": 1, "location": [8, 47]}]}', "speed"),
        (b'{"vehicles": [{"id": 1}], "jobs": [], "vehicels": 1}', "vehicels"),
    ],
)
def test_what_cannot_be_served_is_refused_in_a_sentence(body, said):
    with pytest.raises((InvalidRequest, Unreadable), match=said):
        vroom(Ask(body, Limits(), lambda *_: None, {"seconds": 1.0}))
