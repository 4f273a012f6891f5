"""Parallel tempering: tours at rising temperatures that change places, so that none stays where it froze."""

import math

import numpy as np

from fairway.kernels.general.annealing import anneal
from fairway.kernels.general.state import KEPT, KEPT_OUT, Search
from fairway.kernels.general.tour_model import TourModel

VISIT = 8
"""Rounds of search at one temperature before the next one's turn."""


class Ladder:
    """A tour for each temperature, the coldest first; all begin as the kept tour of a search."""

    def __init__(self, search: Search, temperatures: list[float], seed: int) -> None:
        self._temperatures, self._random, self._at = temperatures, np.random.default_rng(seed), 0
        self._tours = np.tile(search.kept, (len(temperatures), 1))
        self._sizes = [int(search.sizes[0])] * len(temperatures)
        self._values = np.tile(search.values[[KEPT_OUT, KEPT]], (len(temperatures), 1))

    def visit(self, model: TourModel, search: Search, moves: int) -> None:
        """Some rounds at the next temperature; after the last one neighbours may change places."""
        at = self._at
        search.kept[:], search.sizes[0] = self._tours[at], self._sizes[at]
        search.values[[KEPT_OUT, KEPT]] = self._values[at]
        anneal(model, search, self._temperatures[at], VISIT, moves)
        self._tours[at], self._sizes[at] = search.kept, int(search.sizes[0])
        self._values[at] = search.values[[KEPT_OUT, KEPT]]
        self._at = (at + 1) % len(self._temperatures)
        if self._at == 0:
            for cold in range(len(self._temperatures) - 1):
                self._change_places(cold)

    def _change_places(self, cold: int) -> None:
        """By the rule of tempering, of a temperature and the next; first of all what must be served counts."""
        hot = cold + 1
        (out, value), (other_out, other) = self._values[cold], self._values[hot]
        if out == other_out and math.isfinite(value) and math.isfinite(other):
            colder = 1.0 / self._temperatures[cold] - 1.0 / self._temperatures[hot]
            chance = math.exp(min((value - other) * colder, 0.0))
        else:
            chance = float(other_out < out)
        if self._random.random() < chance:
            both, swapped = [cold, hot], [hot, cold]
            self._tours[both], self._values[both] = self._tours[swapped], self._values[swapped]
            self._sizes[cold], self._sizes[hot] = self._sizes[hot], self._sizes[cold]
