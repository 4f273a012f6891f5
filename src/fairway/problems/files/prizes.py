"""Prices of leaving stops out that follow priorities, the way VROOM ranks plans."""

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from fairway.problems.checks import LARGEST
from fairway.problems.files.text import Unreadable


def prizes_of(
    priorities: Sequence[float], cost: Float[np.ndarray, "N N"]
) -> Float[np.ndarray, " N"]:
    """A price for each node, by which the greatest sum of priorities is served, then the most stops, at least cost.

    A node of infinite priority must be served. The price of a stop is more than any tour costs, and a step of priority
    more than all stops together.
    """
    finite = np.where(np.isfinite(cost), cost, 0.0)
    dearest = np.minimum(finite, 2.0 * LARGEST).max(axis=1).sum()  # beyond the largest in any case
    each = 10.0 ** math.ceil(math.log10(dearest + 1.0))
    ranks = [rank for rank in priorities if math.isfinite(rank)]
    step = each * 10.0 ** math.ceil(math.log10(len(ranks) + 1)) if any(ranks) else 0.0
    if each + step * max(ranks, default=0.0) > LARGEST:
        raise Unreadable(
            "priorities and costs are too large to be weighed against each other; choose a larger unit of cost"
        )
    return np.array(
        [each + step * rank if math.isfinite(rank) else math.inf for rank in priorities]
    )
