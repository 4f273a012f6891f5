"""Some of an instance's stops as an instance of their own, in which no tour of the whole is late."""

import math
import time
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float

from fairway.kernels.paths import shortest
from fairway.problems.instance import Instance


class Leads:
    """The least times from the start of service at one node to the arrival at others, by way of some stops.

    Stops on the way are served, but not waited for.
    """

    def __init__(self, instance: Instance, through: Bool[np.ndarray, " N"]) -> None:
        self.straight = instance.service[:, None] + instance.travel
        self._through = through

    @cached_property
    def backward(self) -> Float[np.ndarray, "N N"]:
        """The straight leads, to the row from the column."""
        return np.ascontiguousarray(self.straight.T)

    def after(self, node: int) -> Float[np.ndarray, " N"]:
        """From the node to every other."""
        return shortest(self.straight, node, self._through)

    def before(self, node: int) -> Float[np.ndarray, " N"]:
        """From every other to the node."""
        return shortest(self.backward, node, self._through)


def by_way_of_all(instance: Instance) -> Leads:
    """By way of any stops."""
    return Leads(instance, np.arange(instance.nodes) > 0)


def subset(instance: Instance, stops: Sequence[int], until: float = math.inf) -> Instance | None:
    """The depot and the given stops, in this order: a relaxation of the whole, and of every subset with more stops.

    Take a tour of the whole and leave out the others: what lay between two stops that stay was a way through some of
    those that go, and the quickest such way is never longer. So the rest of the tour is nowhere later, and what is
    proved infeasible of a subset holds for the whole, whatever the travel matrix. A load does not depend on travel, and
    never rises when ports are left out. None where the time ends before all ways are found.
    """
    nodes = [0, *stops]
    if not instance.timed:
        return instance.restricted(nodes)
    others = np.ones(instance.nodes, dtype=bool)
    others[nodes] = False
    leads = Leads(instance, others)
    lead = np.empty((len(nodes), len(nodes)))
    for row, node in enumerate(nodes):
        if time.monotonic() > until:
            return None
        lead[row] = leads.after(node)[nodes]
    return instance.restricted(nodes, np.maximum(lead - instance.service[nodes, None], 0.0))
