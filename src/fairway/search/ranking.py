"""How the labels of an exact search are ranked by functions from outside: what they are shown, and in which numbers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float, Int

from fairway.kernels.labels.law import Law
from fairway.kernels.labels.layers import Layer
from fairway.kernels.labels.run import Guide, Rank


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """The labels of a layer, for a function that ranks them: partial tours of equally many stops.

    Stops have the instance's own numbers. A shrinking load is read from the end of the tour.
    """

    visited: Bool[np.ndarray, "L N"]
    last: Int[np.ndarray, " L"]
    level: Float[np.ndarray, " L"]
    """When service starts at the last stop, or the load there."""
    cost: Float[np.ndarray, " L"]
    bound: Float[np.ndarray, " L"]
    """No tour that goes on from the label costs less."""


Ranking = Callable[[Labels], Float[np.ndarray, " L"]]
"""Gives each label a rank; a beam keeps the least."""


@runtime_checkable
class Guidance(Protocol):
    """Ranks labels by how they came about, layer after layer."""

    def rank(
        self, parents: Labels, labels: Labels, parent: Int[np.ndarray, " L"]
    ) -> Float[np.ndarray, " L"]:
        """Of labels that each extend one of the parents, by its place among them; the least are kept."""
        ...

    def keep(self, kept: Bool[np.ndarray, " L"]) -> None:
        """Told which of the labels ranked last are the parents of the next, in this order."""
        ...


def ranked_by(rank: Ranking | Guidance) -> Rank | Guide:
    """The function, or the guide, as the kernels call it."""
    if not callable(rank):
        return _Guide(rank)

    def ranked(law: Law, layer: Layer, bounds: Float[np.ndarray, " L"]) -> Float[np.ndarray, " L"]:
        return np.asarray(rank(_labels(law, layer, bounds)), np.float64)

    return ranked


@dataclass(frozen=True, slots=True)
class _Guide:
    """A guide that is shown labels by the instance's own numbers."""

    guidance: Guidance

    def rank(
        self, law: Law, parents: Layer, layer: Layer, bounds: Float[np.ndarray, " L"]
    ) -> Float[np.ndarray, " L"]:
        """Hand the question on."""
        before = _labels(law, parents, np.full(len(parents.last), np.nan))
        ranks = self.guidance.rank(before, _labels(law, layer, bounds), layer.parent)
        return np.asarray(ranks, np.float64)

    def keep(self, kept: Bool[np.ndarray, " L"]) -> None:
        """Hand the answer on."""
        self.guidance.keep(kept)


def _labels(law: Law, layer: Layer, bounds: Float[np.ndarray, " L"]) -> Labels:
    bits = np.unpackbits(layer.visited.view(np.uint8), axis=1, bitorder="little")
    visited = np.empty((len(bounds), len(law.node)), dtype=bool)
    visited[:, law.node] = bits[:, : len(law.node)]
    return Labels(visited, law.node[layer.last], layer.level, layer.cost, bounds)
