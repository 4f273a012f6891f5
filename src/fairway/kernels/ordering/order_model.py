"""What the search over sets needs to know of an instance."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int, UInt

from fairway.kernels.labels.label_model import LabelModel, packed, unpacked
from fairway.problems.checks import is_integral

NONE = 1 << 40
"""Units of a leg that there is not."""
MOST = 1 << 30
"""Units of a tour at most: payments fit into 32 bits."""


class OrderModel(NamedTuple):
    """Arrays over the labelling model's nodes: row 0 is the start, column 0 the end."""

    node: Int[np.ndarray, " N"]
    """The instance's own numbers."""
    price: Float[np.ndarray, "N N"]
    """What a leg costs; infinite where there is none."""
    units: Int[np.ndarray, "N N"]
    """The same in whole units, rounded down."""
    unit: float
    needs: UInt[np.ndarray, "N W"]
    """The stops that come before the row."""

    def turned(self) -> "OrderModel":
        """The same from the end to the start."""
        return OrderModel(
            self.node,
            np.ascontiguousarray(self.price.T),
            np.ascontiguousarray(self.units.T),
            self.unit,
            packed(unpacked(self.needs).T),
        )


def order_model_of(model: LabelModel, no_way: float) -> OrderModel:
    """The model of an instance whose stops must all be visited, at any time; legs that cost as much are none."""
    allowed, needs = unpacked(model.after), unpacked(model.needs)
    allowed[1:, 0] = needs.sum(axis=0)[1:] == 0
    allowed[0, 1:] &= needs.sum(axis=1)[1:] == 0
    price = np.where(allowed & (model.price < no_way), model.price, np.inf)
    finite = price[np.isfinite(price)]
    largest = float(np.abs(finite).max(initial=0.0))
    unit = len(price) * max(largest, 1e-300) / MOST
    if is_integral(finite) and unit <= 1.0:
        unit = 1.0
    units = np.where(np.isfinite(price), np.floor(np.where(allowed, model.price, 0) / unit), NONE)
    return OrderModel(model.node, price, units.astype(np.int64), unit, model.needs)
