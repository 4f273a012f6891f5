"""What the readers and writers of coordinates share: points become travel only once they are sane."""

import numpy as np
from jaxtyping import Float

from fairway.problems import checks
from fairway.problems.checks import MOST_NODES
from fairway.problems.distances import Distances, euclidean, travel_matrix
from fairway.problems.files.text import Unreadable
from fairway.problems.instance import Instance


def travel_between(
    coordinates: Float[np.ndarray, "N 2"], distances: Distances
) -> Float[np.ndarray, "N N"]:
    """Travel by the rule given, after a look at the points, so that no mistake in them overflows."""
    check_size(len(coordinates))
    checks.points(coordinates, len(coordinates))
    return travel_matrix(coordinates, distances)


def check_size(nodes: int) -> None:
    """Refuse more nodes than a travel matrix can sensibly be made for."""
    if nodes > MOST_NODES:
        raise Unreadable(f"holds more than {MOST_NODES} nodes, the most Fairway plans for")


def is_euclidean(instance: Instance) -> bool:
    """Whether the coordinates give back the travel matrix to the last bit."""
    points = instance.coordinates
    return points is not None and bool(np.array_equal(euclidean(points), instance.travel))
