"""The random streams of PyTorch on a CUDA device, computed on any machine.

The published hard TSPTW and TSPDL sets were drawn on a GPU with 68 multiprocessors of 1024 threads. Which
counter a value comes from depends on that geometry, so it is part of the recipe.
"""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32, Int64, UInt32

MULTIPROCESSORS = 68
THREADS = 1024
BLOCK = 256
WIDTH = 4
"""Values that one call of Philox yields."""

MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
LOW_WORD = np.uint64(0xFFFFFFFF)
WORD = np.uint64(32)


def philox(
    counter: np.ndarray, thread: np.ndarray | int, seed: int
) -> tuple[UInt32[np.ndarray, "*S"], ...]:
    """Philox4x32-10 (Salmon et al. 2011) at the counters (counter, 0, thread, 0): four words for each."""
    first, third = np.broadcast_arrays(
        np.asarray(counter, dtype=np.uint64), np.asarray(thread, dtype=np.uint64)
    )
    second = fourth = np.zeros_like(first)
    keys = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        high, low = MULTIPLIERS[0] * first, MULTIPLIERS[1] * third
        first, second, third, fourth = (
            (low >> WORD) ^ second ^ np.uint64(keys[0]),
            low & LOW_WORD,
            (high >> WORD) ^ fourth ^ np.uint64(keys[1]),
            high & LOW_WORD,
        )
        keys = [(key + step) & 0xFFFFFFFF for key, step in zip(keys, KEY_STEPS, strict=True)]
    return tuple(word.astype(np.uint32) for word in (first, second, third, fourth))


@dataclass(slots=True)
class CudaGenerator:
    """A seed and how far into its stream the draws so far have come, as in `torch.cuda`'s default generator."""

    seed: int
    offset: int = 0

    def uniform(self, size: int) -> Float32[np.ndarray, " size"]:
        """`torch.rand(size)`: float32 in [0, 1)."""
        blocks = min(-(-size // BLOCK), MULTIPROCESSORS * (THREADS // BLOCK))
        threads = blocks * BLOCK
        rounds = -(-size // (threads * WIDTH))
        counters = self.offset // WIDTH + np.arange(rounds)[:, None]
        words = np.stack(philox(counters, np.arange(threads), self.seed), axis=1)
        self.offset += WIDTH * rounds
        unit = np.float64(np.float32(2.0**-32))
        # The device multiplies and adds in one rounding, which float64 imitates exactly here.
        values = (words.reshape(-1)[:size].astype(np.float32) * unit + unit / 2).astype(np.float32)
        values[values == 1] = 0
        return values

    def permutations(self, size: int, count: int) -> Int64[np.ndarray, "count size"]:
        """`count` calls of `torch.randperm(size)`: a stable sort by random keys, ties shuffled once more."""
        bits = math.ceil(math.log2(size - (6 * size**2 + 1) / (12 * math.log(0.9))))
        stride = WIDTH + WIDTH * -(-size // WIDTH)
        offsets = self.offset + stride * np.arange(count)
        self.offset += stride * count
        words = philox(offsets[:, None] // WIDTH, np.arange(size), self.seed)[0].astype(np.int64)
        keys = (words % (2**32 - 1) - 2**31) & ((1 << bits) - 1)
        order = np.argsort(keys, axis=1, kind="stable")
        keys = np.take_along_axis(keys, order, axis=1)
        for row in np.flatnonzero((keys[:, 1:] == keys[:, :-1]).any(axis=1)):
            _shuffle_ties(order[row], keys[row], int(offsets[row]) + WIDTH, self.seed)
        return order

    def integers(
        self, low: int, high: int, size: int, calls: int
    ) -> Int64[np.ndarray, "calls size"]:
        """`calls` calls of `torch.randint(low, high, (size,))`, for a size that one block holds."""
        counters = self.offset // WIDTH + np.arange(calls)[:, None]
        self.offset += WIDTH * calls
        words = philox(counters, np.arange(size), self.seed)[0].astype(np.int64)
        return low + words % (high - low)


def _shuffle_ties(
    order: Int64[np.ndarray, " N"], keys: Int64[np.ndarray, " N"], offset: int, seed: int
) -> None:
    """Fisher-Yates within each run of equal keys, in place, by the stream of the thread at the run's first position."""
    edges = np.flatnonzero(np.diff(keys, prepend=keys[0] - 1, append=keys[-1] + 1))
    for first, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        run = order[first:end]
        draws = -(-(len(run) - 1) // WIDTH)
        counters = offset // WIDTH + np.arange(draws)
        words = (
            np.stack(philox(counters, first, seed), axis=1).reshape(-1).tolist() if draws else []
        )
        for last, word in zip(range(len(run) - 1, 0, -1), words, strict=False):
            other = word % (last + 1)
            run[last], run[other] = run[other], run[last]
