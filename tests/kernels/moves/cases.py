"""Instances of every kind with a tour that keeps their limits."""

from collections.abc import Callable

import numpy as np

from fairway.problems.instance import TSPDL, TSPTW, Instance

Case = tuple[Instance, tuple[int, ...]]


def _tour(rng: np.random.Generator, stops: int) -> tuple[int, ...]:
    return tuple((1 + rng.permutation(stops)).tolist())


def _around(
    rng: np.random.Generator, travel: np.ndarray, service: np.ndarray, width: float
) -> Case:
    """Windows of about this width, in which some tour starts its services."""
    tour, resource, here = _tour(rng, len(travel) - 1), 0.0, 0
    opens, closes = np.zeros(len(travel)), np.zeros(len(travel))
    for there in tour:
        resource += service[here] + travel[here, there]
        wait, room = np.floor(rng.uniform(0, width, 2) * rng.integers(0, 2, 2))
        opens[there], closes[there] = resource + (wait if rng.random() < 0.3 else -wait), resource
        opens[there] = max(opens[there], 0.0)
        resource = max(resource, opens[there])
        closes[there] = resource + room
        here = there
    closes[0] = resource + service[here] + travel[here, 0] + np.floor(rng.uniform(0, width))
    return TSPTW(travel, opens, closes, service=service), tour


def windows(rng: np.random.Generator, stops: int) -> Case:
    """Points in the plane."""
    points = rng.uniform(0, 100, (stops + 1, 2))
    travel = np.linalg.norm(points[:, None] - points, axis=2)
    return _around(rng, travel, np.zeros(stops + 1), width=120)


def one_way(rng: np.random.Generator, stops: int) -> Case:
    """Another way there than back, with service times."""
    travel = rng.uniform(1, 60, (stops + 1, stops + 1))
    np.fill_diagonal(travel, 0)
    return _around(rng, travel, rng.uniform(0, 10, stops + 1), width=150)


def whole(rng: np.random.Generator, stops: int) -> Case:
    """Whole numbers, no triangle inequality, no tolerance."""
    travel = rng.integers(1, 30, (stops + 1, stops + 1)).astype(float)
    np.fill_diagonal(travel, 0)
    service = rng.integers(0, 5, stops + 1).astype(float)
    return _around(rng, travel, service, width=60)


def drafts(rng: np.random.Generator, stops: int, load: str = "growing") -> Case:
    """A ship that collects."""
    points = rng.uniform(0, 1, (stops + 1, 2))
    travel = np.linalg.norm(points[:, None] - points, axis=2)
    travel *= rng.uniform(1, 1.2, travel.shape)
    np.fill_diagonal(travel, 0)
    demand = np.append(0, rng.integers(1, 5, stops)).astype(float)
    tour = _tour(rng, stops)
    order = tour if load == "growing" else tour[::-1]
    draft = np.full(stops + 1, demand.sum())
    for at, port in enumerate(order):
        if rng.random() < 0.7:
            draft[port] = demand[list(order[: at + 1])].sum() + rng.integers(0, 6)
    return TSPDL(travel, demand, draft, load=load), tour


def unloading(rng: np.random.Generator, stops: int) -> Case:
    """A ship that delivers."""
    return drafts(rng, stops, load="shrinking")


KINDS: dict[str, Callable[[np.random.Generator, int], Case]] = {
    "windows": windows,
    "one way": one_way,
    "whole": whole,
    "drafts": drafts,
    "unloading": unloading,
}
