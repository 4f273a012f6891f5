import datetime
import math
from dataclasses import replace

import numpy as np
import pytest

from fairway.errors import FairwayError, InvalidInstance
from fairway.problems.instance import TSPTW, Instance
from fairway.problems.source import Clock, Source

DATE = datetime.date(2026, 11, 18)


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("08:30", 510),
        ("8:30", 510),
        ("8.30", 510),
        ("8h30", 510),
        ("8h", 480),
        ("8", 480),
        ("8:30 pm", 1230),
        ("8:30PM", 1230),
        ("12 am", 0),
        ("12:15 p.m.", 735),
        ("8:30:15", 510.25),
        ("24:00", 1440),
        ("day 2 08:30", 1950),
    ],
)
def test_times_of_day_are_read_as_people_write_them(text, minutes):
    assert Clock().time(text) == minutes


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("2026-11-18T08:30", 510),
        ("2026-11-18 08:30:30", 510.5),
        ("2026-11-19T00:00", 1440),
        ("2026-11-19", 1440),
        ("2026-11-17T23:00", -60),
    ],
)
def test_stamps_count_from_midnight_of_the_first_day(text, minutes):
    assert Clock(DATE).time(text) == minutes


def test_stamps_with_a_zone_are_brought_to_the_one_zone_of_the_clock():
    clock = Clock(DATE, zone=datetime.timezone(datetime.timedelta(hours=1)))
    assert clock.time("2026-11-18T08:30+01:00") == 510
    assert clock.time("2026-11-18T07:30Z") == 510
    assert clock.time("2026-11-18 02:30 -05:00") == 510
    assert clock.moment(510).isoformat() == "2026-11-18T08:30:00+01:00"


@pytest.mark.parametrize(
    "text",
    ["", "noon", "25:00", "24:01", "8:75", "8:3", "0 am", "13 pm", "day 0 8:00", "2026-02-30"],
)
def test_what_is_no_time_is_refused_in_a_sentence(text):
    with pytest.raises(FairwayError, match="expected a time of day like 08:30"):
        Clock(DATE).time(text)


def test_stamps_fit_the_clock_or_are_refused():
    with pytest.raises(FairwayError, match="has a date, and the other times have none"):
        Clock().time("2026-11-18T08:30")
    with pytest.raises(FairwayError, match="differ in whether they have a time zone"):
        Clock(DATE).time("2026-11-18T08:30Z")


@pytest.mark.parametrize(
    ("clock", "time", "text"),
    [
        (Clock(), 510, "08:30"),
        (Clock(), 510.25, "08:30:15"),
        (Clock(), 510.001, "08:30"),
        (Clock(unit=1), 30600, "08:30"),
        (Clock(), 1950, "day 2 08:30"),
        (Clock(DATE), 510, "08:30"),
        (Clock(DATE), 1950, "2026-11-19 08:30"),
        (Clock(DATE, several_days=True), 510, "2026-11-18 08:30"),
        (Clock(several_days=True), 510, "day 1 08:30"),
        (Clock(), math.inf, ""),
    ],
)
def test_times_are_shown_with_seconds_and_days_only_where_they_say_something(clock, time, text):
    assert clock.show(time) == text


@pytest.mark.parametrize(
    "clock", [Clock(), Clock(several_days=True), Clock(DATE), Clock(DATE, 1.0)]
)
def test_what_is_shown_is_read_back(clock):
    for seconds in range(0, 3 * 86_400, 997):
        assert clock.time(clock.show(seconds / clock.unit)) == seconds / clock.unit


def test_a_moment_needs_a_date():
    assert Clock(DATE).moment(1950) == datetime.datetime(2026, 11, 19, 8, 30)
    with pytest.raises(FairwayError, match="the date of the plan is not known"):
        Clock().moment(0)


def test_a_source_stays_with_its_instance():
    source = Source(Clock(DATE), {"phone": ("1", "2", "3")}, ids=("a", "b", "c"))
    instance = Instance(np.ones((3, 3)), closes=9, source=source)
    assert replace(instance, service=1.0).source == source
    kept = instance.restricted([0, 2]).source
    assert kept is not None
    assert kept.columns == {"phone": ("1", "3")}
    assert kept.ids == ("a", "c")
    assert TSPTW(np.ones((3, 3)), 0, 9).source is None


def test_a_column_has_a_text_for_each_node():
    with pytest.raises(InvalidInstance, match="'phone' of the source has 2 texts; expected 3"):
        Instance(np.ones((3, 3)), source=Source(columns={"phone": ("1", "2")}))


def test_distances_are_told_apart_from_costs():
    travel, cost = np.ones((2, 2)), np.full((2, 2), 5.0)
    assert Source().distances(travel, cost) is None
    assert Source(distance_unit="m").distances(travel, cost) is cost
    assert np.array_equal(Source(distance_unit="km", speed=2).distances(travel, travel), 2 * travel)
