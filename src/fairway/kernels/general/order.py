"""What follows from an order of stops, and what of it follows from the rest."""

import numpy as np
from jaxtyping import Bool, Int

from fairway.kernels.general.tour_model import MATES, NEEDS, TourModel

Lists = tuple[Int[np.ndarray, "K W"], Int[np.ndarray, " L"]]
"""Where the list of each node begins, of each kind of list, and the lists one after the other."""


def closed_order(model: TourModel) -> tuple[TourModel, Lists]:
    """The model with all precedences that follow from its own, and the lists of the few from which all follow."""
    nodes = len(model.node)
    needs = _matrix(model, NEEDS)
    if not needs.any():
        return model, (model.begin[:MATES], np.zeros(0, np.int64))
    closed, direct = needs.copy(), needs.copy()
    for node in _sorted(needs):
        given = np.flatnonzero(needs[node])
        if len(given):
            inherited = closed[given].any(axis=0)
            closed[node] |= inherited
            direct[node] &= ~inherited
    mates = _matrix(model, MATES)
    begin, linked = _lists([closed, closed.T, mates], nodes)
    return model._replace(begin=begin, linked=linked), _lists([direct, direct.T], nodes)


def _matrix(model: TourModel, kind: int) -> Bool[np.ndarray, "V V"]:
    """Whether a node, by row, has another in its list."""
    begin = model.begin[kind]
    matrix = np.zeros((len(model.node), len(model.node)), bool)
    rows = np.repeat(np.arange(len(model.node)), np.diff(begin))
    matrix[rows, model.linked[begin[0] : begin[-1]]] = True
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


def _lists(matrices: list[Bool[np.ndarray, "V V"]], nodes: int) -> Lists:
    begin, linked = np.zeros((len(matrices), nodes + 1), np.int64), []
    total = 0
    for kind, matrix in enumerate(matrices):
        rows, columns = np.nonzero(matrix)
        begin[kind] = total + np.append(0, np.cumsum(np.bincount(rows, minlength=nodes)))
        linked.append(columns)
        total += len(columns)
    return begin, np.concatenate(linked)
