"""Room for labels under any constraints: the labels of a layer by what they have visited, and where they came from."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int, Int32, UInt

from fairway.kernels.compiling import ZERO, bare, inner
from fairway.kernels.general.beginning import COLUMNS
from fairway.kernels.labels.bits import mixed


class Layer(NamedTuple):
    """Room for the labels of a layer, a row each."""

    visited: UInt[np.ndarray, "L W"]
    key: Int32[np.ndarray, " L"]
    """The last stop, and the breaks taken as bits above it; -1 where the label has been dominated."""
    state: Float[np.ndarray, "L S"]
    rest: Float[np.ndarray, " L"]
    """The multipliers of all that is unvisited, see `Bound`."""
    parent: Int32[np.ndarray, " L"]
    chain: Int32[np.ndarray, " L"]
    """The next label of the same stops, breaks and last stop, or -1."""


class History(NamedTuple):
    """Of all labels that were kept, what tours are read back from."""

    parent: Int32[np.ndarray, " H"]
    key: Int32[np.ndarray, " H"]
    begins: Int[np.ndarray, " M"]
    """Where each layer begins."""


def room(labels: int, words: int) -> Layer:
    """Space for so many labels."""
    links = (np.empty(labels, np.int32) for _ in range(2))
    return Layer(
        np.empty((labels, words), np.uint64),
        np.empty(labels, np.int32),
        np.empty((labels, COLUMNS)),
        np.empty(labels),
        *links,
    )


@inner
def slot_of(layer: Layer, label: int, key: int, slots: Int32[np.ndarray, " S"]) -> int:
    """Where the table has this label's set and key, or has room for them."""
    mask = np.uint64(len(slots) - 1)
    slot = mixed(layer.visited[label], key) & mask
    while slots[slot] >= 0:
        head = slots[slot]
        same = layer.key[head] == key
        for word in range(layer.visited.shape[1]):
            same &= layer.visited[head, word] == layer.visited[label, word]
        if same:
            break
        slot = (slot + np.uint64(1)) & mask
    return slot


@bare
def relink(layer: Layer, count: int, slots: Int32[np.ndarray, " S"]) -> None:
    """Fill the table anew."""
    for slot in range(len(slots)):
        slots[slot] = -1
    for label in range(count):
        if layer.key[label] >= 0:
            slot = slot_of(layer, label, layer.key[label], slots)
            layer.chain[label] = slots[slot]
            slots[slot] = label


@bare
def compact(layer: Layer, count: int) -> int:
    """Close up the gaps that dominated labels left; says how many are left."""
    kept = ZERO
    for label in range(count):
        if layer.key[label] < 0:
            continue
        if kept < label:
            for word in range(layer.visited.shape[1]):
                layer.visited[kept, word] = layer.visited[label, word]
            for column in range(COLUMNS):
                layer.state[kept, column] = layer.state[label, column]
            layer.key[kept], layer.rest[kept] = layer.key[label], layer.rest[label]
            layer.parent[kept] = layer.parent[label]
        kept += 1
    return kept
