"""A day of a dispatcher: clock times, degrees, a break, lateness, a stop left out, further columns."""

import datetime

import numpy as np

from fairway import Instance, verify
from fairway.problems.source import Clock, Source

NAMES = ("Depot", "=Ames, Ltd", "Boone", "Cary", "Dale")
DEGREES = np.array([(10.75, 59.91), (10.71, 59.93), (10.80, 59.88), (10.76, 59.95), (10.70, 59.90)])


def source(clock=None, **given):
    asked = {
        "columns": {"phone": ("", "+47 22", "555", "-7", "x"), "load": ("", "a", "b", "c", "d")},
        "distance_unit": "km",
        "speed": 0.5,
        "geographic": True,
        "ids": ("100", "7", "8", "9", "10"),
    }
    return Source(clock, **asked | given)


def day(clock=Clock(datetime.date(2026, 11, 18)), **given):  # noqa: B008 - frozen
    """Minutes; 1, 2 and 3 are 20 apart and from the depot, whose service takes 5; Cary is late by 10."""
    asked = {
        "opens": [480, 510, 600, 600, 480],
        "closes": [1020, 540, 620, 610, 490],
        "service": [5, 10, 10, 10, 10],
        "late": [np.inf, 1, 1, 2, np.inf],
        "prize": [np.inf, np.inf, np.inf, np.inf, 3],
        "demand": [0, 3, -2, 4, 1],
        "capacity": 9,
        "load": "signed",
        "aboard": 2,
        "breaks": [(545, 560, 30)],
        "coordinates": DEGREES,
        "names": NAMES,
        "name": "day",
        "source": source(clock),
    }
    travel = np.full((5, 5), 20.0)
    np.fill_diagonal(travel, 0)
    return Instance(travel, **asked | given)


def solution(instance=None):
    """Ames at 08:30, a break on the way from 09:05 on, Boone at 10:00, Cary at 10:30, late by 20, Dale left out."""
    return verify(day() if instance is None else instance, [1, 2, 3])
