"""Numbers by chance inside compiled code, from a state of their own, so that a seed gives one search."""

import numpy as np
from jaxtyping import UInt

from fairway.kernels.compiling import inner

Random = UInt[np.ndarray, " 1"]
"""The state of a generator; never zero."""


def seeded(seed: int) -> Random:
    """A state for each seed; odd multiples of an odd number are never zero."""
    return np.array([(2 * seed + 1) * 0x9E3779B97F4A7C15 % 2**64], np.uint64)


@inner
def uniform(random: Random) -> float:
    """A number from [0, 1): xorshift64*, which is all that a search needs and takes a nanosecond."""
    state = random[0]
    state ^= state >> np.uint64(12)
    state ^= state << np.uint64(25)
    state ^= state >> np.uint64(27)
    random[0] = state
    return float((state * np.uint64(2685821657736338717)) >> np.uint64(11)) * 2.0**-53
