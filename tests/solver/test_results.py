"""What a result is as plain values."""

import json

import numpy as np

from fairway.problems.instance import TSPTW
from fairway.solver.solving import solve

TRAVEL = np.array([[0.0, 3, 9], [3, 0, 4], [9, 4, 0]])


def test_a_result_is_ready_for_json_and_cost_means_travel_alone():
    result = solve(TSPTW(TRAVEL, [0, 50, 0], 99), iterations=5, objective="makespan")
    record = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert record["value"] == record["makespan"] == result.makespan
    assert record["cost"] == result.cost != record["value"]
    assert record["tour"] == list(result.tour)
    assert record["schedule"]["start"] == result.schedule.start.tolist()
    assert record["trace"][-1]["value"] == record["value"]
    assert all("cost" not in step for step in record["trace"])


def test_what_is_not_known_is_none():
    record = solve(TSPTW(TRAVEL, 0, 1), iterations=5).to_dict()
    assert record["status"] == "infeasible"
    assert [record[key] for key in ("cost", "value", "gap", "tour", "schedule")] == [None] * 5
    json.dumps(record, allow_nan=False)
