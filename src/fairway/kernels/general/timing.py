"""When a stop is served: in the first window that is still open on arrival."""

import numpy as np

from fairway.kernels.compiling import inner
from fairway.kernels.general.tour_model import DUE, LATE, TourModel


@inner
def start_at(model: TourModel, node: int, arrival: float) -> float:
    """When service starts; infinite where it is too late."""
    for window in range(model.first[node], model.first[node + 1]):
        if arrival <= model.windows[window, 1]:
            return max(arrival, model.windows[window, 0])
    return np.inf


@inner
def latest_start(model: TourModel, node: int, bound: float) -> float:
    """The last moment, not after the bound, at which service may start; minus infinity where there is none."""
    for window in range(model.first[node + 1] - 1, model.first[node] - 1, -1):
        if bound >= model.windows[window, 0]:
            return min(bound, model.windows[window, 1])
    return -np.inf


@inner
def priced(model: TourModel, node: int, start: float) -> float:
    """What the lateness of a start costs."""
    return model.node[node, LATE] * max(start - model.node[node, DUE], 0.0)
