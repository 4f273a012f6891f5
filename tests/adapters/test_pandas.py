import io
import sys

import pandas as pd
import pytest

import fairway
from fairway.adapters import needing
from fairway.adapters.pandas import plan_frame, read_frame
from fairway.errors import InvalidFile, InvalidRequest

STOPS = """Customer,Lat,Lon,From,To,Minutes,Phone,prize
Depot,59.91,10.75,07:30,17:00,,555 100,
Mill,59.93,10.70,08:30,10:00,15,555 101,
Bakery,59.95,10.80,13:00,15:30,10,,
School,59.88,10.79,09:15,12:00,90,555 103,
Far,61.00,12.00,09:15,09:20,90,,1
"""


def the_same(one, other):
    columns = ("travel", "opens", "closes", "service", "prize", "coordinates")
    return one.names == other.names and all(
        getattr(one, column).tolist() == getattr(other, column).tolist() for column in columns
    )


@pytest.fixture
def written(tmp_path):
    (tmp_path / "stops.csv").write_text(STOPS)
    return fairway.read(tmp_path / "stops.csv", speed=40)


def test_a_frame_means_what_its_csv_means(written):
    frame = pd.read_csv(io.StringIO(STOPS))
    assert frame["Minutes"].dtype == float, "with a blank among whole numbers"
    instance = read_frame(frame, speed=40)
    assert the_same(instance, written)
    assert instance.name == "frame"
    assert instance.source.columns["Phone"][2] == ""


def test_times_may_be_timestamps(written):
    frame = pd.read_csv(io.StringIO(STOPS))
    for column in ("From", "To"):
        frame[column] = pd.to_datetime("2026-11-18 " + frame[column])
    frame["Minutes"] = pd.to_timedelta(frame["Minutes"], unit="min")
    instance = read_frame(frame, speed=40)
    assert the_same(instance, written)
    plan = plan_frame(instance, fairway.solve(instance))
    assert plan.loc[1, "start"] == pd.Timestamp("2026-11-18 08:30")


def test_a_plan_has_a_row_per_step_with_times_and_further_columns(written):
    plan = plan_frame(written, fairway.solve(written))
    assert plan["step"].tolist() == ["start", "stop", "stop", "stop", "end", "left out"]
    assert plan["name"].tolist() == ["Depot", "Mill", "School", "Bakery", "Depot", "Far"]
    mill = plan.loc[1]
    assert mill["start"] == pd.Timedelta("8:30:00")
    assert mill["wait"] == mill["start"] - mill["arrival"]
    assert mill["Phone"] == "555 101"
    assert plan["start"].isna().tolist() == [False] * 5 + [True]
    assert plan["distance"].iloc[4] == pytest.approx(24.106, abs=1e-3)
    assert "load" not in plan


def test_loads_and_plain_numbers_stay_numbers():
    frame = pd.DataFrame(
        {"id": ["d", "a", "b"], "x": [0, 3, 3], "y": [0, 4, 0], "demand": [0, 2, 3]}
    )
    frame["draft"] = [9, 2, 5]
    instance = read_frame(frame)
    plan = plan_frame(instance, fairway.solve(instance))
    assert plan["load"].tolist() == [0, 2, 5, 5]
    assert plan["cost"].tolist() == [0, 5, 9, 12]


def test_what_is_wrong_is_said_with_its_row():
    frame = pd.DataFrame({"id": ["d", "a"], "x": [0, 1], "y": [0, "east"]})
    with pytest.raises(InvalidFile, match=r"^frame\.csv:3: .*'y'.*'east'"):
        read_frame(frame)
    with pytest.raises(InvalidFile, match=r"^frame\.csv: is empty"):
        read_frame(pd.DataFrame())


def test_what_is_not_installed_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with (
        pytest.raises(InvalidRequest, match=r"needs gymnasium; .*'fairway\[gym\]'"),
        needing("gym", "gymnasium"),
    ):
        import gymnasium  # noqa: F401
    with pytest.raises(ModuleNotFoundError, match="nonsense"), needing("gym", "gymnasium"):
        import nonsense  # noqa: F401
