"""What follows from an order of stops, and what of it follows from the rest."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int

from fairway.kernels.general.tour_model import MATES, NEEDS, TourModel


class Order(NamedTuple):
    """Lists of nodes as a model has them, by kind: where the list of each begins, and all lists."""

    begin: Int[np.ndarray, "K W"]
    linked: Int[np.ndarray, " L"]


def closed_order(model: TourModel) -> tuple[TourModel, Order]:
    """The model with all precedences that follow from its own, and the few from which all follow."""
    needs = linked_matrix(model.begin, model.linked, NEEDS)
    if not needs.any():
        return model, Order(model.begin[:MATES], np.zeros(0, np.int64))
    closed, direct = needs.copy(), needs.copy()
    for node in _sorted(needs):
        given = np.flatnonzero(needs[node])
        if len(given):
            inherited = closed[given].any(axis=0)
            closed[node] |= inherited
            direct[node] &= ~inherited
    mates = linked_matrix(model.begin, model.linked, MATES)
    begin, linked = _lists(closed, closed.T, mates)
    return model._replace(begin=begin, linked=linked), _lists(direct, direct.T)


def linked_matrix(
    begin: Int[np.ndarray, "K W"], linked: Int[np.ndarray, " L"], kind: int
) -> Bool[np.ndarray, "V V"]:
    """Whether a node, by row, has another in its list."""
    starts = begin[kind]
    matrix = np.zeros((len(starts) - 1, len(starts) - 1), bool)
    rows = np.repeat(np.arange(len(matrix)), np.diff(starts))
    matrix[rows, linked[starts[0] : starts[-1]]] = True
    return matrix


def _sorted(needs: Bool[np.ndarray, "V V"]) -> list[int]:
    """The nodes, each after all that it needs; without those that need themselves, or one of these."""
    waiting = needs.sum(axis=1)
    free = np.flatnonzero(waiting == 0).tolist()
    for node in free:  # grows as others become free
        followers = np.flatnonzero(needs[:, node])
        waiting[followers] -= 1
        free += followers[waiting[followers] == 0].tolist()
    return free


def _lists(*matrices: Bool[np.ndarray, "V V"]) -> Order:
    begin, linked, total = np.zeros((len(matrices), len(matrices[0]) + 1), np.int64), [], 0
    for kind, matrix in enumerate(matrices):
        begin[kind] = total + np.append(0, np.cumsum(matrix.sum(axis=1)))
        linked.append(np.nonzero(matrix)[1])
        total += len(linked[-1])
    return Order(begin, np.concatenate(linked))
