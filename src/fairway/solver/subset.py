"""Some of an instance's stops as an instance of their own, in which no tour of the whole is late."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
from jaxtyping import Float

from fairway.problems.tspdl import TSPDL
from fairway.problems.tsptw import TSPTW

Some = TypeVar("Some", bound=TSPTW | TSPDL)


def quickest(instance: TSPTW, by_way_of: Iterable[int]) -> Float[np.ndarray, "N N"]:
    """The least time from the start of service at the row to the arrival at the column, by way of any of these stops.

    Stops on the way are served, but not waited for.
    """
    lead = instance.service[:, None] + instance.travel
    for stop in by_way_of:
        np.minimum(lead, lead[:, stop, None] + lead[stop], out=lead)
    np.fill_diagonal(lead, 0.0)
    return lead


def subset(instance: Some, stops: Sequence[int]) -> Some:
    """The depot and the given stops, in this order: a relaxation of the whole, and of every subset with more stops.

    Take a tour of the whole and leave out the others: what lay between two stops that stay was a way through some of
    those that go, and the quickest such way is never longer. So the rest of the tour is nowhere later, and what is
    proved infeasible of a subset holds for the whole, whatever the travel matrix. A load does not depend on travel, and
    never rises when ports are left out.
    """
    nodes = [0, *stops]
    common = {
        "coordinates": None if instance.coordinates is None else instance.coordinates[nodes],
        "names": None if instance.names is None else [instance.names[node] for node in nodes],
    }
    square = np.ix_(nodes, nodes)
    if isinstance(instance, TSPDL):
        loads = {"demand": instance.demand[nodes], "draft": instance.draft[nodes]}
        return replace(instance, travel=instance.travel[square], **loads, **common)
    others = sorted(set(range(instance.nodes)) - set(nodes))
    windows = {
        "opens": instance.opens[nodes],
        "closes": instance.closes[nodes],
        "service": instance.service[nodes],
    }
    lead = quickest(instance, others)[square]
    travel = np.maximum(lead - windows["service"][:, None], 0.0)
    return replace(instance, travel=travel, **windows, **common)
