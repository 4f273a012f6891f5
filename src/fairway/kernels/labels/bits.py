"""Sets of nodes as words of bits: what numba does not bring along."""

from typing import Any

import numpy as np
from llvmlite import ir
from numba.extending import intrinsic

from fairway.kernels.compiling import bare


def _lowest(typing_context: Any, word: Any) -> Any:  # noqa: ANN401 - numba's own types
    def generate(context, builder, signature, arguments):  # noqa: ANN001, ANN202
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return word(word), generate


lowest: Any = intrinsic(_lowest)
"""The place of the lowest bit of a word that is not zero; one instruction."""


@bare
def holds(row: np.ndarray, node: int) -> bool:
    """Whether the set in this row of words has the node."""
    return (row[node >> 6] >> np.uint64(node & 63)) & np.uint64(1) != 0


@bare
def mixed(row: np.ndarray, node: int) -> np.uint64:
    """A hash of a set and a node."""
    value = np.uint64(node) * np.uint64(0x9E3779B97F4A7C15)
    for word in row:
        value ^= word
        value = (value ^ (value >> np.uint64(31))) * np.uint64(0xBF58476D1CE4E5B9)
        value ^= value >> np.uint64(29)
    return value * np.uint64(0x94D049BB133111EB)
